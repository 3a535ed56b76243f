"""Example mechanisms: each function returns a system, ready to be simulated."""

from .bouncing_block import bouncing_block
from .bricard import bricard
from .car_suspension import car_suspension
from .cart_pendulum import cart_pendulum
from .chaplygin_sleigh import chaplygin_sleigh
from .five_bar_pendulum import five_bar_pendulum
from .flyball_governor import flyball_governor
from .free_body import free_body
from .heavy_top import heavy_top
from .mass_spring_damper_chain import mass_spring_damper_chain
from .rolling_disk import rolling_disk
from .screw_jack import screw_jack
from .sliding_block import sliding_block
from .spatial_slider_crank import spatial_slider_crank
from .triple_pendulum import triple_pendulum
from .watt_governor import watt_governor
from .whipple_bicycle import whipple_bicycle

__all__ = [
    "bouncing_block",
    "bricard",
    "car_suspension",
    "cart_pendulum",
    "chaplygin_sleigh",
    "five_bar_pendulum",
    "flyball_governor",
    "free_body",
    "heavy_top",
    "mass_spring_damper_chain",
    "names",
    "rolling_disk",
    "screw_jack",
    "sliding_block",
    "spatial_slider_crank",
    "triple_pendulum",
    "watt_governor",
    "whipple_bicycle",
]

DURATIONS = {"car_suspension": 6.0, "flyball_governor": 2.0}
"""How long to simulate what is not worth the usual time, s."""


def names() -> list[str]:
    """The examples, in the order of the gallery."""
    return [
        "triple_pendulum",
        "five_bar_pendulum",
        "spatial_slider_crank",
        "car_suspension",
        "bricard",
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
    ]
