"""What joints, basic constraints and forces share: two bodies and a marker on each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bodies.base import Body
from .errors import Problem
from .markers import Marker
from .parameters import REQUIRED, Element, Parameter, parameter
from .plane import NORMAL, is_normal, lifted, lowered
from .proposals import Scale, rounded
from .rotations import frame_with_axis

NEEDED_AXIS: Final = parameter(
    kind="axis",
    planar=NORMAL,
    help="global direction when described: z of both markers; left out in the plane, its normal",
)
"""The `axis` of joints and forces about or along one: no direction can be assumed in space."""


Fact = tuple[str, Sequence[float], str]


class Connection(Element):
    """An element between two bodies, called as `Class(name, i, j, ...)`; `self.i`, `self.j` are its markers."""

    uses_axes: ClassVar[bool] = True  # False lets markers that only such elements share leave out their axes
    planar: ClassVar[bool] = True  # whether it has a meaning in a planar system
    axis: Any = None
    counts_turns: Any = False  # True: the angle between its markers (`measures.angle`) is counted over turns
    planar_axis: ClassVar[str] = ""  # "normal": its axis is the normal of a planar system; "in plane": it lies in it
    symbol: ClassVar[str] = "force"  # in lists: "joint", "driver", "constraint", "force", "spring" or "measure"
    is_local: Any = False  # True: its points and axes are in the axes of the bodies, and do not move with the model
    counts_from_description: ClassVar[bool] = False  # True: what it measures is zero where it is described

    body_i = parameter(kind="reference", help="first body")
    body_j = parameter(kind="reference", help="second body")
    # A sub-assembly that is turned takes its frame along, so that its markers' axes turn with it.
    frame = parameter(
        np.eye(3), kind="rotation", help="global axes when described, from which the markers' axes derive"
    )

    def __init__(self, name: str, i: Body, j: Body, **values: Any) -> None:
        super().__init__(name, body_i=i, body_j=j, **values)

    def check(self) -> Iterator[Problem]:
        i, j = self.body_i, self.body_j
        both = isinstance(i, Body) and isinstance(j, Body)
        for field, found in () if both else (("body_i", i), ("body_j", j)):
            if not isinstance(found, Body) and not (found is None and self.parameters()[field].optional):
                message = f"found {found!r}; allowed is a body; pass the object that you added to the system"
                yield self.problem(field, message)
        if self.dimension_with({}) == 2:
            yield from self._check_in_plane()
        if both and i.dimension != j.dimension:
            yield self.problem("body_j", f"connects {i} with {j}: one is planar, one spatial")
        if i is j:
            yield self.problem("body_j", f"connects {i.name!r} with itself; choose two different bodies")

    def _check_in_plane(self) -> Iterator[Problem]:
        if not self.planar:
            yield self.problem("", "has no meaning in a planar system; use a joint or force of the plane")
        given = self.axis is not None and not self.is_local
        if self.planar_axis == "normal" and given and not is_normal(self.axis):
            yield self.problem("axis", f"found {self.axis}; in a planar system it is the normal; leave it out")
        if self.planar_axis == "in plane" and given and is_normal(self.axis):
            yield self.problem(
                "axis", "found the normal; allowed are two components in a planar system: add axis=(x, y)"
            )

    def dimension_with(self, values: Mapping[str, Any]) -> int:
        for field in ("body_i", "body_j"):
            body = values.get(field, self.__dict__.get(field))
            if isinstance(body, Body):
                return body.dimension
        return 3

    @property
    def i(self) -> Marker:
        """Marker on the first body."""
        raise NotImplementedError

    @property
    def j(self) -> Marker:
        """Marker on the second body."""
        raise NotImplementedError

    def goes_with_bodies(self, p: Parameter) -> bool:
        """Whether a parameter is in the axes of a body that moves, and so stays as it is when the whole model moves."""
        return False

    def implied(self) -> dict[str, Any]:
        """Values that were left out and follow from where the model is described: `describe` gives them then.

        None stands for a value that has to go.
        """
        return {}

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        """Values of parameters with which a new one begins in a model of a scale.

        `picked` is what was chosen for it, by parameter: bodies or other elements, global points (`at`, `at_i`, `at_j`)
        and a direction (`axis`), with three components each.
        """
        values: dict[str, Any] = {}
        for name, p in cls.parameters().items():
            if name in picked and p.is_placed:
                values[name] = lowered(np.asarray(picked[name], float), scale.dimension)
            elif name == "stiffness" and (stiffness := scale.stiffness(p.unit)) is not None:
                values[name] = stiffness
            elif name in ("radius", "radius_i", "radius_j") and p.default is REQUIRED:
                body = picked.get("body_i" if p.on == "i" else "body_j")
                values[name] = max(getattr(body, "radii", ()), default=rounded(0.1 * scale.length))
            elif p.kind == "number" and p.default is REQUIRED and not p.unless:
                values[name] = scale.number(p)
        return values

    def facts(self) -> list[Fact]:
        """Numbers that follow from the parameters and help to judge them: label, values, unit."""
        return []

    def marker(self, body: Body, at: ArrayLike, axis: ArrayLike) -> Marker:
        """A marker of this connection on a body: its z axis is `axis`, its x axis follows from `frame`."""
        return Marker(body, at=at, axes=self.axes_along(axis))

    def axes_along(self, axis: ArrayLike) -> NDArray[np.float64]:
        """The axes (columns) of a marker of this connection whose z axis is `axis`."""
        return _axes(self.frame.tobytes(), lifted(axis).tobytes())


@lru_cache(maxsize=1024)
def _axes(frame: bytes, axis: bytes) -> NDArray[np.float64]:
    """Axes of markers: those of a joint share them, and so do joints along parallel axes."""
    given = np.frombuffer(frame).reshape(3, 3)
    axes = given @ frame_with_axis(given.T @ np.frombuffer(axis))
    axes.setflags(write=False)
    return axes


class PointConnection(Connection):
    """A connection at one point and along one axis, both global in the configuration in which the model is described.

    Both markers lie at `at`; both have z = `axis` and a common x.
    """

    at = parameter(kind="point", unit="m", help="global point when described")
    axis = parameter((0.0, 0.0, 1.0), kind="axis", help="global direction when described: z of both markers")

    @property
    def i(self) -> Marker:
        return Marker.placed(self.body_i, self.at, self.axes_along(self.axis))

    @property
    def j(self) -> Marker:
        return Marker.placed(self.body_j, self.at, self.axes_along(self.axis))


class TwoPointConnection(Connection):
    """A connection between a point of each body, global in the configuration in which the model is described.

    The markers' axes are those of `frame`, by default the global axes. A point that is left out is the body's origin.
    """

    frame = Connection.frame.lying_on("i")
    at_i = parameter(None, kind="point", unit="m", help="global point on the first body when described")
    at_j = parameter(None, kind="point", unit="m", help="global point on the second body when described")

    @property
    def point_i(self) -> NDArray[np.float64]:
        """Global point on the first body when described."""
        return self.body_i.position if self.at_i is None else self.at_i

    @property
    def point_j(self) -> NDArray[np.float64]:
        """Global point on the second body when described."""
        return self.body_j.position if self.at_j is None else self.at_j

    @property
    def i(self) -> Marker:
        return Marker.placed(self.body_i, self.point_i, self.frame)

    @property
    def j(self) -> Marker:
        return Marker.placed(self.body_j, self.point_j, self.frame)
