"""What joints, basic constraints and forces share: two bodies and a marker on each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .bodies.base import Body
from .errors import Problem
from .markers import Marker
from .parameters import Element, parameter


class Connection(Element):
    """An element between two bodies, called as `Class(name, i, j, ...)`; `self.i`, `self.j` are its markers."""

    body_i = parameter(kind="reference", help="first body")
    body_j = parameter(kind="reference", help="second body")

    def __init__(self, name: str, i: Body, j: Body, **values: Any) -> None:
        super().__init__(name, body_i=i, body_j=j, **values)

    def check(self) -> Iterator[Problem]:
        for field in ("body_i", "body_j"):
            if not isinstance(getattr(self, field), Body):
                found = getattr(self, field)
                yield self.problem(field, f"found {found!r}; allowed is a body; pass the object that you added to the system")
        if self.body_i is self.body_j:
            yield self.problem("body_j", f"connects {self.body_i.name!r} with itself; choose two different bodies")

    @property
    def i(self) -> Marker:
        """Marker on the first body."""
        raise NotImplementedError

    @property
    def j(self) -> Marker:
        """Marker on the second body."""
        raise NotImplementedError


class PointConnection(Connection):
    """A connection at one point and along one axis, both global in the configuration in which the model is described.

    Both markers lie at `at`; both have z = `axis` and a common x.
    """

    at = parameter(kind="point", unit="m", help="global point when described")
    axis = parameter((0.0, 0.0, 1.0), kind="axis", help="global direction when described: z of both markers")

    @property
    def i(self) -> Marker:
        return Marker(self.body_i, at=self.at, axis=self.axis)

    @property
    def j(self) -> Marker:
        return Marker(self.body_j, at=self.at, axis=self.axis)


class TwoPointConnection(Connection):
    """A connection between a point of each body, global in the configuration in which the model is described.

    The markers' axes are parallel to the global axes there. A point that is left out is the body's origin.
    """

    at_i = parameter(None, kind="point", unit="m", help="global point on the first body when described")
    at_j = parameter(None, kind="point", unit="m", help="global point on the second body when described")

    @property
    def i(self) -> Marker:
        return self.body_i.marker(self.at_i)

    @property
    def j(self) -> Marker:
        return self.body_j.marker(self.at_j)
