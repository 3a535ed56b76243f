"""Joints whose place is told either globally, where the model is described, or on each body in its own axes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bodies.base import Ground
from ..errors import Problem
from ..markers import LocalMarker, Marker
from ..parameters import REQUIRED, Parameter, parameter
from ..plane import NORMAL, is_normal, lifted
from .base import Joint

ALONG: Final = 1e-3
"""Sine of the angle to the body's x axis below which an axis counts as lying along it."""

OWN: Final = ("at_i", "at_j", "axis_i", "axis_j", "second_i", "second_j")

JOINT_AXIS: Final = parameter(
    kind="axis",
    planar=NORMAL,
    unless="local",
    help="global direction when described: z of both markers; left out in the plane, its normal",
)
"""The `axis` of joints about or along one: needed in space, unless each body has its own."""


_SECOND: Final = (
    "direction on the {} body, in its axes, whose part across the axis is x of the marker; its x axis by default"
)
SECOND_I: Final = parameter(None, kind="axis", help=_SECOND.format("first"))
SECOND_J: Final = parameter(None, kind="axis", help=_SECOND.format("second"))
"""The second directions of local joints in which x matters: it is held, or tells an angle."""


def local_axes(axis: ArrayLike, dimension: int = 3, second: ArrayLike | None = None) -> NDArray[np.float64]:
    """Axes (columns) of a marker with z along an axis of its body.

    x is the `second` direction made normal to z, by default the x axis of the body; of an axis along x the y axis. Of
    an axis in the plane of a planar body it is the normal.
    """
    given = lifted(axis)
    z = given / np.abs(given).max()
    z = z / math.sqrt(z @ z)
    if dimension == 2 and not is_normal(axis):
        x = np.array([0.0, 0.0, 1.0])
    elif second is not None:
        x = lifted(second) - (lifted(second) @ z) * z
    else:
        x = np.eye(3)[0] - z[0] * z
        if x @ x < ALONG**2:
            x = np.eye(3)[1] - z[1] * z
    x = x / math.sqrt(x @ x)
    y = np.array([z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]])
    return np.array([x, y, z]).T + 0.0


def _same(a: Any, b: Any) -> bool:
    return b is not REQUIRED and bool(np.array_equal(a, b))


class PlacedJoint(Joint):
    """Base of the joints that are told by `at` and `axis`, both global, or by a point and an axis on each body.

        RevoluteJoint("elbow", upper, lower, local=True, at_i=(0.5, 0, 0), at_j=(-0.5, 0, 0), axis_i=(0, 1, 0),
                      axis_j=(0, 1, 0))

    With `local=True` the points and axes are in the axes of the bodies, from their origins, and stay there wherever
    these are described. So the joint may be described open; what is left of it is closed where a run begins. Each
    marker has z along its axis; its x is the body's x axis made normal to z, or the y axis if z lies along x (on a
    planar body, of an axis in the plane, the normal). Where another direction is meant, as that which a `FixedJoint`
    holds when a part is welded on aslant, `second_i` and `second_j` tell it. The angle of the joint is zero where the
    two x coincide, its displacement where the two points do, whatever the described poses are.
    """

    needs_axes: ClassVar[str]  # the bodies on which its axis matters: "", "i" or "ij"
    own_axes: ClassVar[tuple[str, ...]] = ("axis_i", "axis_j")  # those that have a meaning only if it is local

    at = parameter(kind="point", unit="m", unless="local", help="global point when described; left out if local")
    local = parameter(False, help="whether it is told by a point and an axis on each body, in that body's axes")
    at_i = parameter(None, kind="point", unit="m", help="point on the first body in its axes, if the joint is local")
    at_j = parameter(None, kind="point", unit="m", help="point on the second body in its axes, if the joint is local")
    axis_i = parameter(None, kind="axis", help="axis on the first body in its axes, if the joint is local")
    axis_j = parameter(None, kind="axis", help="axis on the second body in its axes, if the joint is local")

    @property
    def is_local(self) -> bool:
        return bool(self.local)

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        yield from self._check_local() if self.local else self._check_global()

    def _check_global(self) -> Iterator[Problem]:
        for field in ("at_i", "at_j", *self.own_axes, "second_i", "second_j"):
            if getattr(self, field, None) is not None:
                yield self.problem(field, "is told in the axes of a body; add local=True and leave out at= and axis=")
        known = type(self).parameters()
        for field in ("at", "axis") if self.needs_axes and self.own_axes else ("at",):
            if field in known and getattr(self, field) is None:
                p = known[field].of(self.dimension_with({}))
                yield self.problem(field, f"found nothing; allowed is {p.allowed()}; add {field}=... to the call")

    def _check_local(self) -> Iterator[Problem]:
        beside = "has no meaning beside local=True; give {0}_i and {0}_j in the axes of the bodies"
        if self.at is not None:
            yield self.problem("at", beside.format("at"))
        p = type(self).parameters().get("axis")
        if p is not None and self.axis is not None and not _same(self.axis, p.of(self.dimension_with({})).default):
            yield self.problem("axis", beside.format("axis"))
        if not np.array_equal(self.frame, np.eye(3)) and not any(self._on_ground(side) for side in "ij"):
            yield self.problem("frame", "has no meaning beside local=True, but for the ground; leave it out")
        in_plane = self.dimension_with({}) == 2
        for side in "ij":
            if getattr(self, f"at_{side}") is None:
                yield self._missing(f"at_{side}")
            axis = getattr(self, f"axis_{side}")
            if axis is None and side in self.needs_axes and not (in_plane and self.planar_axis == "normal"):
                yield self._missing(f"axis_{side}")
            elif in_plane and axis is not None and is_normal(axis) != (self.planar_axis != "in plane"):
                wanted = "two components" if self.planar_axis == "in plane" else "the normal: leave it out"
                yield self.problem(f"axis_{side}", f"found {axis}; allowed in a planar system is {wanted}")
            yield from self._check_second(side, in_plane)

    def _check_second(self, side: str, in_plane: bool) -> Iterator[Problem]:
        """What is wrong with a second direction."""
        field, second = f"second_{side}", getattr(self, f"second_{side}", None)
        if second is None:
            return
        if in_plane and (self.planar_axis == "in plane" or is_normal(second)):
            wanted = "nothing, since the axis tells all" if self.planar_axis == "in plane" else "two components"
            yield self.problem(field, f"found {second}; allowed in a planar system is {wanted}")
            return
        axis = getattr(self, f"axis_{side}")
        z, x = lifted(NORMAL if axis is None else axis), lifted(second)
        if np.linalg.norm(np.cross(z, x)) < ALONG * np.linalg.norm(z) * np.linalg.norm(x):
            yield self.problem(field, f"found {second}, which lies along the axis; give a direction across it")

    def _on_ground(self, side: str) -> bool:
        return isinstance(getattr(self, f"body_{side}"), Ground)

    def goes_with_bodies(self, p: Parameter) -> bool:
        sides = p.name[-1] if p.name in OWN else "ij" if p.name == "frame" else ""
        return self.is_local and p.is_placed and not any(map(self._on_ground, sides))

    def _missing(self, field: str) -> Problem:
        p = type(self).parameters()[field].of(self.dimension_with({}))
        return self.problem(field, f"found nothing; a local joint needs {p.allowed()}; add {field}=... to the call")

    def local_marker(self, side: str) -> Marker:
        """The marker of a local joint on its first ("i") or second ("j") body."""
        body, point, axis = (getattr(self, f"{name}_{side}") for name in ("body", "at", "axis"))
        z = lifted(NORMAL if axis is None else axis)
        # The ground of a sub-assembly that was turned keeps its own axes in `frame`.
        own = self.frame if self._on_ground(side) else np.eye(3)
        second = getattr(self, f"second_{side}", None)
        x = None if second is None else own.T @ lifted(second)
        return LocalMarker(body, lifted(point), own @ local_axes(own.T @ z, body.dimension, x))

    @property
    def i(self) -> Marker:
        return self.local_marker("i") if self.local else super().i

    @property
    def j(self) -> Marker:
        return self.local_marker("j") if self.local else super().j
