"""How joints, constraints and forces look: each kind of element has a function that returns its parts.

The functions are registered by class (`joint_glyphs`, `gear_glyphs`, `force_glyphs`). A class without one of its own is
drawn like its base class, so every joint and force has a look, also a user's. To give one a look of its own:

    @glyph_parts.register
    def _(element: Magnet, sketch: Sketch) -> list[Part]: ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..connections import Connection
from .parts import Part, Port, Sketch, unit_vector
from .placement import Between, Fixed
from .style import Color
from .surfaces import Surface, cylinder, joined

Array = NDArray[np.float64]
Support = Callable[[Port, Port, Sketch, float], Part]


@singledispatch
def glyph_parts(element: Any, sketch: Sketch) -> list[Part]:
    """The parts that show an element; none if there is nothing to show."""
    return []


def sides(element: Connection, sketch: Sketch) -> tuple[Port, Port, float]:
    """Both ports of an element and the radius of its pin or ball."""
    i, j = sketch.ports[element.name]
    return i, j, sketch.joint_size(element)


def at_port(port: Port, surface: Surface, color: Color, name: str, axes: Array | None = None) -> Part:
    """A part fixed at a port, with the port's axes or with others given in body axes."""
    element = port.element.name
    placed = Fixed(port.anchor, port.axes if axes is None else axes)
    return Part(f"{element}/{name}", element, surface, placed, color, role=role_of(port.element))


def between(i: Port, j: Port, surface: Surface, color: Color, name: str, stretches: bool = True) -> Part:
    """A part from one port towards another; one that stretches has the length 1 along z."""
    element = i.element.name
    placed = Between(i.anchor, j.anchor, stretches)
    return Part(f"{element}/{name}", element, surface, placed, color, role=role_of(i.element))


def role_of(element: Connection) -> str:
    """What kind of thing an element's parts show."""
    return "force" if hasattr(element, "wrench") else "joint"


def held(element: Connection, sketch: Sketch, support: Support, size: float) -> list[Part]:
    """What carries the side of an element that is on the ground, if one is."""
    i, j = sketch.ports[element.name]
    if i.body is None and j.body is not None:
        return [support(i, j, sketch, size)]
    return [support(j, i, sketch, size)] if j.body is None and i.body is not None else []


def towards_body(port: Port, sketch: Sketch) -> Array:
    """Direction from a port to the middle of its body, in body axes."""
    if port.body is None:
        return -sketch.up
    return unit_vector(sketch.center_of_mass(sketch.system[port.body]) - port.point, port.axes[:, 2])


def distance(i: Port, j: Port, sketch: Sketch) -> float:
    """Between two ports as described, m."""
    return float(np.linalg.norm(sketch.described.point(i.body, i.point) - sketch.described.point(j.body, j.point)))


def motor(r: float) -> Surface:
    """A motor behind a joint whose pin has the radius r."""
    housing = cylinder(1.6 * r, 3.0 * r, 0.2 * r)
    return joined([housing, cylinder(1.0 * r, 0.6 * r, 0.1 * r).moved((0, 0, 1.7 * r))]).moved((0, 0, -3.9 * r))
