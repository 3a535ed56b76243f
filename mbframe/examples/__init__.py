"""Example mechanisms: each function returns a system, ready to be simulated."""

from .andrews_squeezer import andrews_squeezer
from .bouncing_block import bouncing_block
from .bricard import bricard
from .car_suspension import car_suspension
from .cart_pendulum import cart_pendulum
from .chaplygin_sleigh import chaplygin_sleigh
from .crane_trolley import crane_trolley
from .double_inverted_pendulum import double_inverted_pendulum
from .driven_double_pendulum import driven_double_pendulum
from .five_bar_pendulum import five_bar_pendulum
from .flexible_four_bar import flexible_four_bar
from .flexible_pendulum import flexible_pendulum
from .flexible_slider_crank import flexible_slider_crank
from .flyball_governor import flyball_governor
from .four_bar import four_bar
from .four_bar_marques import four_bar_marques
from .free_body import free_body
from .heavy_top import heavy_top
from .mass_spring_damper_chain import mass_spring_damper_chain
from .mathieu_pendulum import mathieu_pendulum
from .n_four_bar import n_four_bar
from .quick_return import quick_return
from .rolling_disk import rolling_disk
from .rotor_with_disks import rotor_with_disks
from .screw_jack import screw_jack
from .simple_pendulum import simple_pendulum
from .slider_crank import slider_crank
from .sliding_block import sliding_block
from .solid_connecting_rod import solid_connecting_rod
from .spatial_slider_crank import spatial_slider_crank
from .spin_up_beam import spin_up_beam
from .towed_wheel import towed_wheel
from .triple_pendulum import triple_pendulum
from .unsymmetric_rotor import unsymmetric_rotor
from .watt_governor import watt_governor
from .whipple_bicycle import whipple_bicycle

__all__ = [
    "DURATIONS",
    "andrews_squeezer",
    "bouncing_block",
    "bricard",
    "car_suspension",
    "cart_pendulum",
    "chaplygin_sleigh",
    "crane_trolley",
    "double_inverted_pendulum",
    "driven_double_pendulum",
    "five_bar_pendulum",
    "flexible_four_bar",
    "flexible_pendulum",
    "flexible_slider_crank",
    "flyball_governor",
    "four_bar",
    "four_bar_marques",
    "free_body",
    "heavy_top",
    "mass_spring_damper_chain",
    "mathieu_pendulum",
    "n_four_bar",
    "names",
    "quick_return",
    "rolling_disk",
    "rotor_with_disks",
    "screw_jack",
    "simple_pendulum",
    "slider_crank",
    "sliding_block",
    "solid_connecting_rod",
    "spatial_slider_crank",
    "spin_up_beam",
    "towed_wheel",
    "triple_pendulum",
    "unsymmetric_rotor",
    "watt_governor",
    "whipple_bicycle",
]

DURATIONS = {
    "andrews_squeezer": 0.03,
    "car_suspension": 6.0,
    "crane_trolley": 10.0,
    "flexible_four_bar": 0.4,
    "flexible_pendulum": 2.0,
    "flexible_slider_crank": 0.1,
    "flyball_governor": 2.0,
    "mathieu_pendulum": 2.0,
    "rotor_with_disks": 0.8,
    "spin_up_beam": 20.0,
    "unsymmetric_rotor": 0.3,
}
"""Time in s after which an example has shown what it does, where 5 s are not the right one."""


def names() -> list[str]:
    """The examples, in the order of the gallery; `solid_connecting_rod` needs the extra `flexible` and is not in it."""
    return [
        "four_bar",
        "slider_crank",
        "quick_return",
        "double_inverted_pendulum",
        "four_bar_marques",
        "triple_pendulum",
        "five_bar_pendulum",
        "spatial_slider_crank",
        "car_suspension",
        "bricard",
        "flexible_pendulum",
        "flexible_slider_crank",
        "flexible_four_bar",
        "spin_up_beam",
        "crane_trolley",
        "rotor_with_disks",
        "unsymmetric_rotor",
        "mathieu_pendulum",
        "driven_double_pendulum",
        "towed_wheel",
        "rolling_disk",
        "whipple_bicycle",
        "chaplygin_sleigh",
        "cart_pendulum",
        "watt_governor",
        "mass_spring_damper_chain",
        "screw_jack",
        "flyball_governor",
        "bouncing_block",
        "sliding_block",
        "free_body",
        "heavy_top",
        "n_four_bar",
        "andrews_squeezer",
        "simple_pendulum",
    ]
