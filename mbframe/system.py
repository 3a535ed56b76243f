"""The description of a mechanism: names and parameters, no solver state."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bodies.base import Body, Ground
from .connections import Connection
from .constraints.base import BasicConstraint
from .errors import ModelError
from .forces.base import ForceElement
from .joints.base import Joint
from .parameters import Element, parameter

E = TypeVar("E", bound=Element)


class System(Element):
    """A mechanism: bodies, joints and forces by unique names.

    Parameters
    ----------
    name
        Name of the system.
    gravity
        Acceleration of gravity, global, m/s^2.
    dimension
        3 (planar systems are not available yet).
    """

    gravity = parameter((0.0, 0.0, -9.81), kind="vector", unit="m/s^2", help="acceleration of gravity, global")
    dimension = parameter(3, minimum=3, maximum=3, help="3: spatial")

    def __init__(self, name: str = "system", **values) -> None:
        super().__init__(name, **values)
        self._elements: dict[str, Element] = {}
        self.ground = Ground("ground")
        self._adopt(self.ground)

    def add(self, element: E) -> E:
        """Add a body, joint, constraint or force, and return it."""
        if not isinstance(element, Body | Joint | BasicConstraint | ForceElement):
            raise ModelError(
                f"System {self.name!r}: found {element!r}; only bodies, joints, constraints and forces can be added"
            )
        if element.name in self._elements:
            taken = self._elements[element.name]
            message = f"found {element.name!r}, which {taken} in system {self.name!r} has already; choose another name"
            raise ModelError([element.problem("name", message)])
        if isinstance(element, Connection):
            outside = [
                element.problem(
                    field,
                    f"found body {body.name!r}, which is not in system {self.name!r}; add it first with system.add(...)",
                )
                for field, body in (("body_i", element.body_i), ("body_j", element.body_j))
                if self._elements.get(body.name) is not body
            ]
            if outside:
                raise ModelError(outside)
        self._adopt(element)
        return element

    def _adopt(self, element: Element) -> None:
        self._elements[element.name] = element
        element.observe(self._renamed)

    def _renamed(self, element: Element, field: str, old: object, new: object) -> None:
        if field != "name" or self._elements.get(str(old)) is not element:
            return
        if new in self._elements:
            element._name = str(old)
            message = f"found {new!r}, which is taken in system {self.name!r}; choose another name"
            raise ModelError([element.problem("name", message)])
        self._elements = {e.name: e for e in self._elements.values()}

    def remove(self, element: Element | str) -> None:
        """Remove an element that no other depends on."""
        found = self[element] if isinstance(element, str) else self[element.name]
        users = [c.name for c in self if isinstance(c, Connection) and found in (c.body_i, c.body_j)]
        if found is self.ground or users:
            reason = "every system has it" if found is self.ground else f"remove first what is attached: {', '.join(users)}"
            raise ModelError([found.problem("", f"cannot be removed; {reason}")])
        del self._elements[found.name]

    def __getitem__(self, name: str) -> Element:
        try:
            return self._elements[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self._elements, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise ModelError(f"System {self.name!r}: there is no element {name!r}{meant}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._elements

    def __iter__(self) -> Iterator[Element]:
        return iter(self._elements.values())

    def __len__(self) -> int:
        return len(self._elements)

    @property
    def bodies(self) -> list[Body]:
        """The moving bodies, in the order in which they were added (the ground is `system.ground`)."""
        return [e for e in self if isinstance(e, Body) and e is not self.ground]

    @property
    def joints(self) -> list[Joint | BasicConstraint]:
        """The joints and the basic constraints that were added by themselves."""
        return [e for e in self if isinstance(e, Joint | BasicConstraint)]

    @property
    def forces(self) -> list[ForceElement]:
        """The force elements (gravity apart)."""
        return [e for e in self if isinstance(e, ForceElement)]

    def include(
        self,
        assembly: System,
        prefix: str,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: object = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    ) -> dict[str, Element]:
        """Add copies of all elements of another system, named `prefix + name` and moved as one rigid whole.

        What is attached to the other system's ground is attached to this one's. Returns the copies by their old names.
        """
        turn = Body.rotation.convert(rotation)
        shift: NDArray[np.float64] = Body.position.convert(position)
        copies: dict[str, Element] = {assembly.ground.name: self.ground}
        for element in assembly:
            if element is assembly.ground:
                continue
            twin = copy.copy(element)
            twin.__setstate__(copy.copy(element.__getstate__()))
            twin.name = prefix + element.name
            twin.update(
                **{
                    key: copies[value.name] if p.kind == "reference" else p.moved(value, turn, shift)
                    for key, p in element.parameters().items()
                    if (value := getattr(element, key)) is not None
                }
            )
            copies[element.name] = self.add(twin)
        return copies
