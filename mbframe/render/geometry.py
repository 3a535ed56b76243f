"""A system as data that can be drawn or written: the one description that pictures and exports share."""

from __future__ import annotations

from typing import Any

from . import force_glyphs, gear_glyphs, joint_glyphs  # noqa: F401 (they register the looks of their classes)
from .bodies import body_parts
from .glyphs import glyph_parts
from .parts import Part, Sketch
from .placement import Poses


def drawing(system: Any, motion: Poses | None = None) -> list[Part]:
    """All parts of a system: its bodies, then its joints and forces.

    `motion` are the poses of a motion that will be shown; with it rails are as long as they need to be. Nothing here
    needs a window or OpenGL; PyVista is imported only to read mesh files.
    """
    sketch = Sketch(system, motion)
    return parts_of(sketch)


def parts_of(sketch: Sketch) -> list[Part]:
    """The parts of a sketch."""
    system = sketch.system
    parts = body_parts(system.ground, sketch)
    for body in system.bodies:
        parts += body_parts(body, sketch)
    for element in sketch.connections:
        parts += glyph_parts(element, sketch)
    return parts
