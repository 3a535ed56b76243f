"""The flexible body: a floating frame with component modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ModelError, Problem
from ..markers import AxisMarker
from ..parameters import parameter
from ..state import Motion
from .base import Body
from .formulations import FloatingFrame, Formulation
from .formulations.stiffened_frame import StiffenedFrame
from .node_motion import NodeMotion
from .sliding_axis import SlidingAxis

if TYPE_CHECKING:
    from ..flexible import Modes
    from ..markers import Marker

Array = NDArray[np.float64]

NEAR_AXIS = 1e-6  # of the body's extent: nodes this near to a line are on it
TOO_FAR = 10.0  # of the body's extent: no body that deforms a little is deformed by as much
NEAR = 0.5  # of the first frequency: a rotation this fast lowers the stiffness by a quarter


class FlexibleBody(Body):
    """A body that deforms a little, in the shapes of component modes, while it moves at large.

    FlexibleBody("rod", mb.flexible.craig_bampton(part, interfaces=[0, 10], n_modes=4), position=(0, 0, 0)). The axes of
    its finite-element component are the body's axes. Joints and forces attach at its nodes and interface points: `at=`
    is the global point of one in the described configuration.

    `position`, `rotation` and their rates are those of the floating frame. With frame="node" it is attached to the
    node from which the modes are measured (the held one of `clamped_modes`, the first interface, node 0), which does
    not move relative to it; with frame="mean" the shapes carry no momentum (Tisserand's mean axes). Without a choice it
    is as the modes were made: at the node of `clamped_modes`, mean axes for all others. Joints decide what is held; the
    choice of the frame changes the motion only by what is of second order in the deformation.

    Deformations are small: their elastic forces are linear, K eta, and damped by `damping_ratios` (one, or one per mode
    in order of frequency). With `geometric_stiffening` (beams only) bending also shortens the body, u = psi eta + 1/2
    eta^T g eta: loads along it then do work on deflections, so that tension by rotation, weight, acceleration and
    forces in joints resists bending and pressure lets it buckle. A body that turns nearly as fast as it bends, or
    that carries loads near buckling, needs it. Its frame is that of mean axes then, whatever `frame` says; modal
    coordinates and the motion of nodes mean the same in both.

    Whatever formulation the rigid bodies have, a flexible one has `FloatingFrame`: 7 + m coordinates, 6 + m velocities.
    """

    modes = parameter(kind="modes", help="component modes, made by mb.flexible")
    frame = parameter(
        None,
        kind="choice",
        choices=("node", "mean"),
        help="what the floating frame follows; none: as the modes are given",
    )
    modal_coordinates = parameter(None, kind="vector", shape=(None,), help="deformation when described; none: zero")
    modal_velocities = parameter(None, kind="vector", shape=(None,), unit="1/s", help="its rate; none: zero")
    damping_ratios = parameter(0.0, kind="numbers", minimum=0.0, help="of the vibrations of the shapes, 1 is critical")
    geometric_stiffening = parameter(False, help="whether bending shortens the body, so that tension resists it")

    def __init__(self, name: str, modes: Modes, **values: Any) -> None:
        super().__init__(name, modes=modes, **values)

    def check(self) -> Iterator[Problem]:
        count = self.shapes_in_frame.count
        for field in ("modal_coordinates", "modal_velocities", "damping_ratios"):
            value = getattr(self, field)
            if np.ndim(value) == 1 and len(value) != count:
                yield self.problem(field, f"found {len(value)} numbers; allowed are {count}, one per mode; give these")
        if self.geometric_stiffening and self.modes.component.beams is None:
            message = "found True; allowed is False for a component that is not made of beams; leave it out"
            yield self.problem("geometric_stiffening", message)

    # --- modes in the frame -------------------------------------------------------------------------------------------

    @property
    def shapes_in_frame(self) -> Modes:
        """The modes as the floating frame of the equations sees them."""
        if self.geometric_stiffening:
            return self._kept("mean", (self.modes,), lambda: self.modes.relative_to("mean"))
        if self.frame is None and self.modes.reference is not None:
            return self.modes
        return self._kept("shapes", (self.modes, self.frame), lambda: self.modes.relative_to(self.frame or "mean"))

    def formulation_for(self, wanted: Formulation | None) -> FloatingFrame:
        from ..flexible.integrals import ModalInertia

        ratios = tuple(np.atleast_1d(self.damping_ratios).tolist())
        key = (self.modes, self.frame, ratios, self.geometric_stiffening)
        return self._kept(
            "formulation",
            key,
            lambda: (StiffenedFrame if self.geometric_stiffening else FloatingFrame)(
                ModalInertia.of(self.shapes_in_frame, ratios, self.geometric_stiffening)
            ),
        )

    @property
    def damped(self) -> bool:
        """Whether its vibrations are damped."""
        return bool(np.any(self.damping_ratios))

    def _kept(self, name: str, key: Any, make: Any) -> Any:
        """What is expensive is made again only when the parameters that it depends on have changed."""
        kept = self.__dict__.setdefault("_made", {})
        if name not in kept or kept[name][0] != key:
            kept[name] = (key, make())
        return kept[name][1]

    def mass_properties(self) -> tuple[float, Array, Array]:
        """Of the undeformed body."""
        part = self.modes.component
        return part.mass, part.centre_of_mass, part.inertia

    @property
    def motion(self) -> Motion:
        none = np.zeros(self.shapes_in_frame.count)
        return Motion(
            *(self.position, self.rotation, self.velocity, self.angular_velocity),
            none if self.modal_coordinates is None else self.modal_coordinates,
            none if self.modal_velocities is None else self.modal_velocities,
        )

    def held_frequency(self, node: int) -> float:
        """Lowest frequency of its shapes while a node is held, rad/s."""
        from scipy.linalg import eigh

        def lowest() -> float:
            held = self.modes.relative_to("node", node)
            square = eigh(held.stiffness, held.mass, eigvals_only=True, subset_by_index=(0, 0))[0]
            return float(np.sqrt(max(square, 0.0)))

        return self._kept(f"frequency {node}", (self.modes,), lowest)

    def unbounded(self, modal_coordinates: Array) -> str:
        """Why a run cannot go on if a shape displaces the body by far more than its own size; else nothing."""

        def sizes() -> Array:
            return np.linalg.norm(self.shapes_in_frame.translations, axis=1).max(axis=0, initial=0.0)

        moved = np.abs(modal_coordinates) * self._kept("sizes", (self.modes, self.frame), sizes)
        extent = self.modes.component.extent
        if not moved.max(initial=0.0) > TOO_FAR * extent:
            return ""
        remedy = "set geometric_stiffening=True" if not self.geometric_stiffening else "reduce the loads"
        return (
            f"its shape {int(moved.argmax())} displaces it by {moved.max():.3g} m, and it is {extent:.3g} m large: it "
            f"bends without bound, which small deformations cannot describe; {remedy}, or use smaller bodies"
        )

    def remarks(self, markers: Sequence[Marker], local_angular_velocity: Array) -> list[str]:
        """A warning if it turned nearly as fast as it bends, held at one of its markers, without stiffening.

        Centrifugal loads then lower the stiffness against bending in the plane of rotation from omega_1^2 to
        omega_1^2 - omega^2, which tension in the body would more than make up for. What lies on the axis of rotation,
        such as a shaft that spins about itself, is not pulled: speeds w x d count, relative to the largest d.
        """
        omega = local_angular_velocity
        if self.geometric_stiffening or not len(omega):
            return []
        fast = omega[np.unique([*np.abs(omega).argmax(axis=0), np.einsum("ni,ni->n", omega, omega).argmax()])]
        found = 0.0, np.inf
        for node in sorted({self.node_at(marker.at) for marker in markers if not isinstance(marker, AxisMarker)}):
            arms = self.modes.component.nodes - self.modes.component.positions[node]
            speeds = np.linalg.norm(np.cross(fast[:, None], arms), axis=2).max()
            rate, lowest = float(speeds / np.linalg.norm(arms, axis=1).max()), self.held_frequency(node)
            if rate * found[1] >= found[0] * lowest:
                found = rate, lowest
        rate, lowest = found
        if rate < NEAR * lowest:
            return []
        remedy = "set geometric_stiffening=True" if self.modes.component.beams is not None else "use smaller bodies"
        return [
            f"{self} turns with up to {rate:.4g} rad/s, and its first frequency where it is held is {lowest:.4g} "
            f"rad/s: without geometric stiffening it bends too much, or without bound; {remedy}"
        ]

    # --- nodes --------------------------------------------------------------------------------------------------------

    def node_at(self, at: ArrayLike) -> int:
        """Number of the node or interface point at a global point of the described configuration.

        A point that is not at one is a `ModelError` with the distance to the nearest.
        """
        part = self.modes.component
        local = self.rotation.T @ (np.asarray(at, float) - self.position)
        if self.modal_coordinates is not None:
            moved = self.deformed_in_axes(self.modal_coordinates)
            nearest = int(np.argmin(np.linalg.norm(moved - local, axis=1)))
            local = part.positions[nearest] + local - moved[nearest]
        return part.node_at(local)

    def deformed(self, modal_coordinates: Array) -> Array:
        """Nodes and interface points in body axes, (n, 3), for given modal coordinates; for stacks (..., n, 3).

        As `frame` says: seen from its node, also with geometric stiffening, where the body moves in mean axes.
        """
        modal = np.asarray(modal_coordinates, float)
        found, seen_from = self.deformed_in_axes(modal), self._chosen_reference()
        if not self.geometric_stiffening or seen_from is None:
            return found
        flat = modal.reshape(-1, modal.shape[-1])
        node = NodeMotion.of(self.node_shape(seen_from), flat, 0.0 * flat, 0.0 * flat)
        place = self.modes.component.positions[seen_from]
        arms = found.reshape(len(flat), -1, 3) - (place + node.displacement)[:, None]
        return (place + arms @ node.rotation).reshape(found.shape)

    def _chosen_reference(self) -> int | None:
        """The node from which deformations are seen; None in mean axes."""
        if self.frame is None and self.modes.reference is not None:
            chosen = self.modes
        else:
            chosen = self._kept(
                "chosen", (self.modes, self.frame), lambda: self.modes.relative_to(self.frame or "mean")
            )
        return chosen.reference if isinstance(chosen.reference, int) else None

    def deformed_in_axes(self, modal_coordinates: Array) -> Array:
        """`deformed` in the axes in which the body moves: those of its position and rotation in states and results."""
        shapes, part = self.shapes_in_frame, self.modes.component
        points = [shapes.motion_at(k)[:3] for k in range(len(part.nodes), len(part.positions))]
        moves = np.concatenate([shapes.translations, np.reshape(points, (-1, 3, shapes.count))])
        found = part.positions + np.einsum("nik,...k->...ni", moves, modal_coordinates)
        if self.geometric_stiffening:
            bends = np.array([shapes.curve_at(k)[:3] for k in range(len(part.positions))])
            found = found + 0.5 * np.einsum("nikl,...k,...l->...ni", bends, modal_coordinates, modal_coordinates)
        return found

    @property
    def curves(self) -> Array | None:
        """(n, 3, m, m): second derivatives of the nodes' displacements by the modal coordinates; None without any."""
        if not self.geometric_stiffening:
            return None
        shapes, count = self.shapes_in_frame, len(self.modes.component.nodes)
        return shapes.curves.reshape(count, -1, shapes.count, shapes.count)[:, :3]

    def node_shape(self, node: int) -> Array:
        """How a node or interface point moves and turns with the modal coordinates, in body axes.

        (6, m): displacement and rotation; with geometric stiffening (6 + 6 m, m), where row 6 + 6 k + r has the second
        derivatives of r by coordinate k and all others.
        """
        shapes = self.shapes_in_frame
        if not self.geometric_stiffening:
            return shapes.motion_at(node)
        return np.vstack([shapes.motion_at(node), shapes.curve_at(node).swapaxes(0, 1).reshape(-1, shapes.count)])

    def shape_at(self, at: ArrayLike) -> Array:
        """`node_shape` of the node at a global point."""
        return self.node_shape(self.node_at(at))

    def nodes_along(self, point: Array, direction: Array) -> NDArray[np.int64]:
        """Numbers of the nodes and interface points on a line in body axes, in order; of two at one place the last."""
        part = self.modes.component
        arms = part.positions - point
        along = arms @ direction
        near = np.linalg.norm(arms - along[:, None] * direction, axis=1) <= NEAR_AXIS * part.extent
        numbers = np.flatnonzero(near)
        numbers = numbers[np.lexsort((numbers, along[near]))]
        apart = np.diff(along[numbers], append=np.inf) > NEAR_AXIS * part.extent
        return numbers[apart]

    def axis_along(self, at: Array, axes: Array) -> SlidingAxis:
        """The axis through the nodes that lie on a line through `at` along axes[:, 2], where the body is undeformed.

        It is the cubic spline through the nodes, with the slopes by which the first and the last one turn if they have
        rotations of their own: that is how a beam bends under loads at its nodes. Its curvature is continuous, without
        which a sleeve would hit something at every node. If the body is described deformed, `at` is on the bent axis.
        """
        from scipy.interpolate import CubicSpline

        point, directions = super().localized(at, axes)
        part, shapes = self.modes.component, self.shapes_in_frame
        deformation = self.motion.modal_coordinates
        on_line = point
        if deformation.any():
            moved = self.deformed_in_axes(deformation)
            on_line = part.positions[int(np.argmin(np.linalg.norm(moved - point, axis=1)))]
        direction = directions[:, 2]
        numbers = self.nodes_along(on_line, direction)
        if len(numbers) < 2:
            message = (
                f"found {len(numbers)} nodes on the line through {np.round(on_line, 9).tolist()} along "
                f"{np.round(direction, 9).tolist()} (in the axes of {self}); an axis needs at least two: let `at` and "
                "`axis` be those of a row of nodes"
            )
            raise ModelError([self.problem("modes", message)])
        foot = on_line + (point - on_line) @ direction * direction
        knots = (part.positions[numbers] - foot) @ direction
        turn = np.kron(np.eye(2), directions.T)
        motions = np.array([turn @ shapes.motion_at(int(k)) for k in numbers])
        values = motions[:, [0, 1, 5]]
        slopes = CubicSpline(knots, values)(knots, 1)
        if part.freedoms_per_node == 6:
            ends = np.stack([motions[:, 4], -motions[:, 3]], axis=1)[[0, -1]]
            slopes[:, :2] = CubicSpline(knots, values[:, :2], bc_type=((1, ends[0]), (1, ends[1])))(knots, 1)
        axis = SlidingAxis.through(foot, directions, knots, values, slopes)
        gap = float(np.linalg.norm((point - foot) @ directions[:, :2] - axis.bent(0.0, deformation)[0][:2]))
        if gap > NEAR_AXIS * part.extent:
            message = f"the bent axis is {gap:.3g} m away from {np.asarray(at).tolist()}; give a point of it"
            raise ModelError([self.problem("modal_coordinates", message)])
        return axis

    def moving_point(self, point: Array, modal_coordinates: Array, modal_velocities: Array) -> tuple[Array, Array]:
        shape = self.node_shape(self.modes.component.node_at(point))
        if not len(modal_coordinates):
            return point, np.zeros(3)
        rates = np.atleast_2d(modal_velocities)
        node = NodeMotion.of(shape, np.atleast_2d(modal_coordinates), rates, 0.0 * rates)
        return point + node.displacement[0], node.velocity[0]

    def localized(self, at: Array, axes: Array) -> tuple[Array, Array]:
        point, directions = super().localized(at, axes)
        if self.modal_coordinates is None:
            self.node_at(at)
            return point, directions
        modal = np.atleast_2d(self.modal_coordinates)
        node = NodeMotion.of(self.shape_at(at), modal, 0.0 * modal, 0.0 * modal)
        return point - node.displacement[0], node.rotation[0].T @ directions

    @classmethod
    def example(cls) -> FlexibleBody:
        from ..flexible import beam, craig_bampton

        part = beam(
            length=1.0,
            elements=4,
            area=1e-4,
            second_moments=(8e-10, 5e-10),
            torsion=1.6e-9,
            young=2.1e11,
            shear=8.1e10,
            density=7850.0,
        )
        return cls(
            "rod",
            craig_bampton(part, interfaces=[0, 4], n_modes=2),
            position=(0.3, 0.1, -0.2),
            rotation=(0.5, 0.5, -0.5, 0.5),
            velocity=(0.4, -0.3, 0.2),
            angular_velocity=(1.0, -2.0, 0.7),
            damping_ratios=0.01,
        )
