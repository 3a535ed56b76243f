"""The flexible body in the plane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, Problem
from ..plane import about_normal, lifted
from ..state import Motion
from .flexible import FlexibleBody
from .formulations import FlexibleFormulation, PlanarFloatingFrame
from .planar import InPlane

if TYPE_CHECKING:
    from ..flexible import Modes
    from ..flexible.in_plane import InPlaneModes

Array = NDArray[np.float64]

TILTED = 1e-6  # of a node's shape: parts out of the plane that are rounding


class PlanarFlexibleBody(InPlane, FlexibleBody):
    """A body in the plane that deforms a little, in the shapes of component modes, while it moves at large.

    PlanarFlexibleBody("rod", mb.flexible.craig_bampton(part, interfaces=[0, 8], n_modes=4), position=(0, 0), angle=0).
    Its component lies in the plane z = 0 of its axes, or is the same above and below: beams and frames with a principal
    axis of their sections normal to it, solids and matrices that are their own mirror image. Of the modes those are
    used that stay in the plane, and `left_out` tells the numbers of the others; `modal_coordinates`,
    `modal_velocities` and a list of `damping_ratios` have one number for each that is used.

    All else is as for `FlexibleBody`, whose motion in the plane it has with 3 + m instead of 7 + m coordinates: joints
    and forces attach at nodes, `frame` and `geometric_stiffening` mean the same, and stresses and section forces are
    those of the component in space.
    """

    def check(self) -> Iterator[Problem]:
        try:
            self.used_modes  # noqa: B018  what cannot stay in the plane is told here
        except ModelError as error:
            for problem in error.problems:
                yield self.problem("modes", problem.message)
            return
        yield from super().check()

    # --- modes in the plane -------------------------------------------------------------------------------------------

    @property
    def used_modes(self) -> Modes:
        """The modes in which it deforms: those that stay in the plane."""
        return self._in_plane.modes

    @property
    def left_out(self) -> tuple[int, ...]:
        """Numbers of the given modes that leave the plane."""
        return self._in_plane.left_out

    @property
    def _in_plane(self) -> InPlaneModes:
        from ..flexible.in_plane import InPlaneModes

        return InPlaneModes.of(self.modes)

    def _floating(self, ratios: tuple[float, ...]) -> FlexibleFormulation:
        from ..flexible.in_plane import PlanarInertia

        data = PlanarInertia.of(self.shapes_in_frame, ratios, self.geometric_stiffening, self.used_modes)
        return PlanarFloatingFrame(data, self.axes, self.geometric_stiffening)

    def node_shape(self, node: int) -> Array:
        """As for `FlexibleBody`; what would leave the plane is zero."""
        shape = super().node_shape(node)
        rows = shape.reshape(-1, 6, shape.shape[1])
        if np.abs(rows[:, 2:5]).max(initial=0.0) > TILTED * np.abs(rows).max(initial=0.0):
            message = (
                f"its place {node} is held by nodes that are not the same above and below the plane, so that it leaves "
                "the plane; attach elsewhere, or give interface points sets of nodes that are"
            )
            raise ModelError([self.problem("modes", message)])
        return shape

    # --- as described -------------------------------------------------------------------------------------------------

    @property
    def motion(self) -> Motion:
        none = np.zeros(self.shapes_in_frame.count)
        return Motion(
            lifted(self.position),
            self.rotation,
            lifted(self.velocity),
            about_normal(self.angular_velocity),
            none if self.modal_coordinates is None else self.modal_coordinates,
            none if self.modal_velocities is None else self.modal_velocities,
            self.axes,
        )

    def facts(self) -> list[tuple[str, Sequence[float], str]]:
        left = self.left_out
        return [*super().facts(), ("Modes left out", list(left), "")] if left else super().facts()

    @classmethod
    def example(cls) -> PlanarFlexibleBody:
        from ..flexible import craig_bampton

        spatial: Any = FlexibleBody.example().modes
        return cls(
            "rod",
            craig_bampton(spatial.component, interfaces=[0, 4], n_modes=2),
            position=(0.3, 0.1),
            angle=0.7,
            velocity=(0.4, -0.3),
            angular_velocity=-2.0,
            damping_ratios=0.01,
        )
