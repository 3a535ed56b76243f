"""Example mechanisms: each function returns a system, ready to be simulated."""

from .bouncing_block import bouncing_block
from .bricard import bricard
from .cart_pendulum import cart_pendulum
from .chaplygin_sleigh import chaplygin_sleigh
from .five_bar_pendulum import five_bar_pendulum
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
    "cart_pendulum",
    "chaplygin_sleigh",
    "five_bar_pendulum",
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


def names() -> list[str]:
    """The examples, in the order of the gallery."""
    return [
        "triple_pendulum",
        "five_bar_pendulum",
        "spatial_slider_crank",
        "bricard",
        "rolling_disk",
        "whipple_bicycle",
        "chaplygin_sleigh",
        "cart_pendulum",
        "watt_governor",
        "mass_spring_damper_chain",
        "screw_jack",
        "bouncing_block",
        "sliding_block",
        "free_body",
        "heavy_top",
    ]
