"""Example mechanisms: each function returns a system, ready to be simulated."""

from .free_body import free_body
from .heavy_top import heavy_top
from .triple_pendulum import triple_pendulum

__all__ = ["free_body", "heavy_top", "names", "triple_pendulum"]


def names() -> list[str]:
    """The examples, in the order of the gallery."""
    return ["triple_pendulum", "free_body", "heavy_top"]
