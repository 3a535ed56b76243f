"""The flexible body: a floating frame with component modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ModelError, Problem
from ..parameters import Element, parameter
from ..plane import lifted
from ..state import SHAPES, Motion
from .base import Body
from .formulations import FlexibleFormulation, FloatingFrame, Formulation
from .formulations.stiffened_frame import StiffenedFrame
from .node_motion import NodeMotion
from .sliding_axis import SlidingAxis

if TYPE_CHECKING:
    from ..flexible import Modes
    from ..flexible.load_stiffness import LoadStiffness

Array = NDArray[np.float64]

NEAR_AXIS = 1e-6  # of the body's extent: nodes this near to a line are on it
TOO_FAR = 10.0  # of the body's extent: no body that deforms a little is deformed by as much
NEAR = 0.5  # of the first frequency: a rotation this fast lowers the stiffness by a quarter
LOADED = 0.1  # of the stiffness: a deflection that is off by 10 %, a frequency by 5 %; a tenth of buckling or tipping
ALIKE = 0.95  # where it is pressed almost as much as it is pulled, that is told, which may end in buckling
# Slopes, rad, beyond which deflections are off by about 1 %. Linear: a slope a shortens by 1 - cos a = 1 %. With
# stiffening a - sin a is left, a^2/6 of a; over a body whose slope grows along it that is a^2/18 = 1 %.
BENT, BENT_STIFFENED = 0.14, 0.42
NO_PULL = 1e-6  # of what shapes displace nodes by: a shape that brings two of them nearer by less does not
TWISTED_ROUND = 0.8  # rad: a round shaft in linear theory has lost 1 % of its first frequency
COUPLED = 0.02  # of a frequency, by which bending that linear theory does not know changes it
DRAGGED = 0.02  # of an inertia: a frequency is off by 1 %
STEADIED = 0.02  # of the stiffness against twist, likewise
LOST = 0.5  # of the inertia in some motion: deformed twice as much it has none, and a run ends
ENOUGH = 64  # instants whose bending is looked at: those where a bound of it is largest
KEPT = 32  # things made from some modes that are kept as long as these

_made: WeakKeyDictionary[Modes, dict[Any, Any]] = WeakKeyDictionary()
_lock = Lock()


def _largest_turns(slopes: Array) -> Array:
    return np.asarray(np.linalg.norm(slopes, axis=1).max(axis=0, initial=0.0))


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
    in order of frequency) of the vibrations for which the modes were made: those of `clamped_modes` while the node is
    held, all others of the free body. With `geometric_stiffening` (components made of beams or solids, not those given
    as matrices) bending also shortens the body, u = psi eta + 1/2 eta^T g eta: loads along it then do work on
    deflections, so that tension by rotation, weight, acceleration and forces in joints resists bending and pressure
    lets it buckle.
    A body that turns nearly as fast as it bends, or that carries loads near buckling, needs it; without it a run warns
    by rotation, loads and deflection. Loads are looked for in 64 instants spread over the run, and in those of the
    largest accelerations and reactions of up to 1024; where `t_eval` leaves steps out, they are among these, and those
    of the largest deflections and rates are looked at too. With stiffening its frame is that of mean axes, whatever
    `frame` says: poses and rates, described ones and those of states, are of these axes, while modal coordinates mean
    the same in both. A deformed state made in other axes is refused, as it is another motion: see `Motion`.

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
    damping_ratios = parameter(0.0, kind="numbers", minimum=0.0, help="of the modes' vibrations, 1 is critical")
    geometric_stiffening = parameter(False, help="whether bending shortens the body, so that tension resists it")

    def __init__(self, name: str, modes: Modes, **values: Any) -> None:
        Element.__init__(self, name, modes=modes, **values)  # its coordinates are not to be chosen

    def check(self) -> Iterator[Problem]:
        count = self.shapes_in_frame.count
        for field in ("modal_coordinates", "modal_velocities", "damping_ratios"):
            value = getattr(self, field)
            if np.ndim(value) == 1 and len(value) != count:
                yield self.problem(field, f"found {len(value)} numbers; allowed are {count}, one per mode; give these")
        if self.geometric_stiffening and not self.can_stiffen:
            message = (
                "found True; its component was given as matrices (or comes from an old file of a solid), which do not "
                "say how bending shortens it; make it by mb.flexible.beam, frame or solid, or leave the stiffening out"
            )
            yield self.problem("geometric_stiffening", message)

    # --- modes in the frame -------------------------------------------------------------------------------------------

    @property
    def used_modes(self) -> Modes:
        """The modes in which it deforms: all that are given."""
        return self.modes

    @property
    def shapes_in_frame(self) -> Modes:
        """The modes as the floating frame of the equations sees them."""
        if self.geometric_stiffening:
            return self._kept("mean", (), lambda: self.used_modes.relative_to("mean"))
        if self.frame is None and self.modes.reference is not None:
            return self.used_modes
        return self._kept("shapes", (self.frame,), lambda: self.used_modes.relative_to(self.frame or "mean"))

    def formulation_for(self, wanted: Formulation | None) -> FlexibleFormulation:
        ratios = tuple(np.atleast_1d(self.damping_ratios).tolist())
        key = (self.frame, ratios, self.geometric_stiffening)
        return self._kept("formulation", key, lambda: self._floating(ratios))

    def _floating(self, ratios: tuple[float, ...]) -> FlexibleFormulation:
        from ..flexible.integrals import ModalInertia

        kind = StiffenedFrame if self.geometric_stiffening else FloatingFrame
        data = ModalInertia.of(self.shapes_in_frame, ratios, self.geometric_stiffening, self.used_modes)
        return kind(data, self.axes)

    @property
    def axes(self) -> str:
        """Which axes its poses are of, and which shapes its modal coordinates; see `Motion`."""
        reference = self.shapes_in_frame.reference
        words = "mean axes" if reference == "mean" else f"node {reference}"
        stiffened = " with geometric stiffening" if self.geometric_stiffening else ""
        return f"{words}{stiffened}{SHAPES}{self.modes.fingerprint}"

    @property
    def damped(self) -> bool:
        """Whether its vibrations are damped."""
        return bool(np.any(self.damping_ratios))

    def _kept(self, name: str, key: tuple[Any, ...], make: Any) -> Any:
        """What is expensive is made once from the same modes, also for the bodies of other systems, as in a sweep."""
        with _lock:
            kept = _made.setdefault(self.modes, {})
        whole = (type(self), name, *key)
        if whole not in kept:
            made = make()
            with _lock:
                kept[whole] = made
                while len(kept) > KEPT:
                    del kept[next(iter(kept))]
            return made
        return kept[whole]

    @property
    def extent(self) -> float:
        return max(super().extent, float(self.modes.component.extent))

    def attachments(self) -> list[tuple[str, Array]]:
        """Its interfaces first, then all nodes and interface points."""
        part, motion = self.modes.component, self.motion
        places = motion.position + self.deformed_in_axes(motion.modal_coordinates) @ motion.rotation.T
        names = [f"node {k}" for k in range(len(part.nodes))]
        names += [point.name or f"point {len(part.nodes) + k}" for k, point in enumerate(part.interface_points)]
        return [(names[k], places[k]) for k in dict.fromkeys((*self.modes.interfaces, *range(len(places))))]

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
            self.axes,
        )

    def unbounded(self, modal_coordinates: Array) -> str:
        """Why a run cannot go on if a shape displaces the body by far more than its own size; else nothing."""

        def sizes() -> Array:
            return np.linalg.norm(self.shapes_in_frame.translations, axis=1).max(axis=0, initial=0.0)

        moved = np.abs(modal_coordinates) * self._kept("sizes", (self.frame, self.geometric_stiffening), sizes)
        extent = self.modes.component.extent
        if not moved.max(initial=0.0) > TOO_FAR * extent:
            return ""
        remedy = "set geometric_stiffening=True" if not self.geometric_stiffening else "reduce the loads"
        return (
            f"its shape {int(moved.argmax())} displaces it by {moved.max():.3g} m, and it is {extent:.3g} m large: it "
            f"bends without bound, which small deformations cannot describe; {remedy}, or use smaller bodies"
        )

    def rotation_remark(self, local_angular_velocity: Array, motions: Array) -> str:
        """A warning if it turned nearly as fast as it bends in some motions, without stiffening; else nothing.

        `motions` (6 + m, k) are those of frame and shapes that its joints allow, normalized by their kinetic energy.
        Centrifugal loads lower the stiffness against bending in the plane of rotation from omega_1^2 to
        omega_1^2 - omega^2, which tension in the body would more than make up for. What lies on the axis of rotation,
        such as a shaft that spins about itself, is not pulled: speeds w x d count, relative to the largest d.
        """
        omega = local_angular_velocity
        if self.geometric_stiffening or not len(omega) or not motions.shape[1]:
            return ""
        fast = omega[np.unique([*np.abs(omega).argmax(axis=0), np.einsum("ni,ni->n", omega, omega).argmax()])]
        arms = self.modes.component.nodes - self.modes.component.centre_of_mass
        rate = float(np.linalg.norm(np.cross(fast[:, None], arms), axis=2).max() / np.linalg.norm(arms, axis=1).max())
        square = np.linalg.eigvalsh(motions[6:].T @ self.shapes_in_frame.stiffness @ motions[6:])[0]
        lowest = float(np.sqrt(max(square, 0.0)))
        if not rate >= NEAR * lowest:
            return ""
        return (
            f"{self} turns with up to {rate:.4g} rad/s, and its first frequency as its joints hold it is {lowest:.4g} "
            f"rad/s: without geometric stiffening it bends too much, or without bound; {self._remedy}"
        )

    def section_remark(self, local_angular_velocity: Array) -> str:
        """A warning if its beams lack the inertia by which rotation acts on their twist; else nothing.

        Sections that turn at the rate w across their beam resist twist with ρ (Iz - Iy) w² (the propeller moment, which
        helps or hinders), which takes their inertia about both of their axes: Euler-Bernoulli's have none.
        """
        beams, omega, shapes = self.modes.component.beams, local_angular_velocity, self.shapes_in_frame
        if beams is None or beams.rotary.all() or not len(omega):
            return ""
        squares = np.einsum("ni,ni->n", omega, omega)
        fast = np.argsort(squares)[-ENOUGH:]
        across = (squares[fast, None] - (omega[fast] @ beams.axes[:, 0].T) ** 2).max(axis=0)
        unlike = beams.density * np.abs(beams.second_moment_z - beams.second_moment_y)
        moment = np.where(beams.rotary, 0.0, unlike * beams.length * across)
        twist = np.einsum("ei,enim->enm", beams.axes[:, 0], shapes.rotations[beams.edges])
        ends = np.array([[2.0, 1.0], [1.0, 2.0]]) / 6.0  # of the square of what is linear between
        added = np.tensordot(twist, moment[:, None, None] * (ends @ twist), axes=((0, 1), (0, 1)))
        share = float(np.linalg.eigvals(np.linalg.solve(shapes.stiffness, added)).real.max(initial=0.0))
        if not share > STEADIED:
            return ""
        return (
            f"{self} turns with up to {np.sqrt(across.max()):.4g} rad/s, which acts on the twist of its flat sections "
            f"by {100.0 * share:.3g} % of their stiffness, and these have no inertia about their own axes; make its "
            "beams with rotary_inertia=True"
        )

    @property
    def knows_stress(self) -> bool:
        """Whether stresses of its component are known: of solids, and of beams with fibres."""
        part = self.modes.component
        return part.solids is not None or (part.beams is not None and part.beams.has_fibres)

    @property
    def can_stiffen(self) -> bool:
        """Whether geometric stiffening is known for its component."""
        return self.modes.component.knows_elements

    @property
    def _remedy(self) -> str:
        return "set geometric_stiffening=True" if self.can_stiffen else "divide it into smaller bodies"

    def load_stiffness(self, motions: Array, vectors: Array | None = None) -> LoadStiffness:
        """How loads along it change its stiffness in some motions of its frame and its shapes, (6 + m, k).

        `vectors`: in which combinations of these, if other bodies deform with it; see `LoadStiffness`.
        """
        from ..flexible.load_stiffness import LoadStiffness

        together = vectors is not None
        key = (
            self.frame,
            self.geometric_stiffening,
            motions.tobytes(),
            vectors.tobytes() if vectors is not None else b"",
        )
        name = "load stiffness together" if together else "load stiffness"
        return self._kept(name, key, lambda: LoadStiffness(self.shapes_in_frame, motions, vectors))

    def load_remark(self, shares: Array, instants: Array, joined: Sequence[FlexibleBody] = ()) -> str:
        """A warning if linear theory leaves out more of the stiffness against bending than it may; else nothing.

        `shares` are what loads along it that press, those that pull, and loads across it add to its stiffness, relative
        to it, each at some instant. Loads along it change the stiffness of a deformation by as much. Those across it
        couple twist and bending: of deformations with the stiffness 1 and the coupling s, [[1, s], [s, 1]], each keeps
        1 - s^2 where the other follows without a load, so that both are lost at s = 1 as by pressure. Of a beam that
        has bent by then only s^2 (1 - J/I) is lost (Michell; J and I its second moments): see `LoadStiffness`. So one
        limit of what is lost of the stiffness holds for all of them. Of bodies that are `joined` to it, and buckle with
        it as one, the shares are those of all together.
        """
        kinds = (
            ("along it that press it, so that it is softer and may buckle", abs(shares[0]), 1.0),
            ("along it that pull it, so that it is stiffer", abs(shares[1]), ALIKE),
            ("across it that couple twist and bending, so that it may tip sideways", shares[2] ** 2, 1.0),
        )
        t, (what, changed, _) = max(zip(instants, kinds, strict=True), key=lambda one: one[1][1] * one[1][2])
        if not changed >= LOADED:
            return ""
        whole = ", ".join(map(repr, (body.name for body in joined)))
        subject = f"{self}, with {whole} fixed to it," if joined else f"{self}"
        return (
            f"{subject} carries loads {what}: at t = {t:.6g} s by {100.0 * changed:.3g} % of its stiffness "
            f"against bending, which is left out without geometric stiffening; {self._remedy}"
        )

    def tightened_remark(self, t: float, share: float) -> str:
        """A warning if bending pulls it, since joints hold two of its nodes apart, as linear theory does not know."""
        if share < LOADED:
            return ""
        return (
            f"{self} is bent at t = {t:.6g} s while joints keep its nodes from coming nearer to each other: that pulls "
            f"it, which adds {100.0 * share:.3g} % to its stiffness against bending and is left out without geometric "
            f"stiffening; {self._remedy}"
        )

    def coupling_remark(self, t: float, straight: Array, bent: Array) -> str:
        """A warning if what moves along the bent body bends it so that frequencies are others; else nothing.

        `straight` and `bent` are its frequencies by linear theory, and with shapes that become shorter; those of the
        lower half count, since the others are those of a model with too few shapes in any case.
        """
        some = slice(0, -(-len(straight) // 2))
        off = np.abs(straight[some] / np.maximum(bent[some], np.finfo(float).tiny) - 1.0)
        if not np.max(off, initial=0.0) > COUPLED:
            return ""
        worst = int(off.argmax())
        return (
            f"{self} is deformed at t = {t:.6g} s so that what moves along it bends it too, which linear theory "
            f"does not know: a frequency as its joints hold it is about {bent[worst]:.4g} rad/s instead of "
            f"{straight[worst]:.4g} rad/s, and others may be as far off; {self._remedy}"
        )

    def lacking_shapes(self, nodes: Sequence[int]) -> str:
        """What to say if no shape brings two of some nodes nearer to each other, as bending would; else nothing."""
        places, shapes = self.modes.component.positions, self.shapes_in_frame
        moves = {node: shapes.motion_at(node)[:3] for node in sorted(set(nodes))}
        size = np.abs(shapes.translations).max(initial=0.0)
        for first, other in combinations(moves, 2):
            arm = places[other] - places[first]
            pull = arm @ (moves[other] - moves[first])
            if np.abs(pull).max(initial=0.0) < NO_PULL * size * np.linalg.norm(arm):
                return (
                    f"no shape of {self} brings its nodes {first} and {other}, where joints hold it, nearer to each "
                    f"other, so that geometric stiffening would keep it straight: make its modes by craig_bampton with "
                    f"interfaces=[{first}, {other}], or add residual_modes"
                )
        return ""

    def bending_remark(self, t: Array, modal_coordinates: Array) -> str:
        """A warning if it is bent or twisted more than its theory holds for at one of some instants; else nothing."""
        limit = BENT_STIFFENED if self.geometric_stiffening else BENT
        slopes = self._kept("slopes", (self.frame, self.geometric_stiffening), self._slopes)
        some = self._most_bent(modal_coordinates, slopes, limit)
        if not len(some):
            return ""
        found = np.linalg.norm(np.einsum("nik,tk->tni", slopes, modal_coordinates[some]), axis=2)
        if not found.max() > limit:
            return ""
        worst, row = np.unravel_index(int(found.argmax()), found.shape)
        beams = self.modes.component.beams
        word = "bent" if beams is None or row < 2 * len(beams.edges) else "twisted"
        instant, way = t[some[worst]], "divide it into smaller bodies"
        if self.geometric_stiffening:
            why = "what is of third order in the deformation, which is left out, exceeds 1 % there"
        else:
            way = f"set geometric_stiffening=True, or {way}" if self.can_stiffen else way
            theory = "nodes move on straight lines" if word == "bent" else "planes of bending do not turn"
            why = f"linear theory, by which {theory}, is off by more than 1 % there"
        size = f"{found.max():.3g} rad at t = {instant:.6g} s, more than {limit:g} rad"
        return f"{self} is {word} by up to {size}: {why}; {way}"

    def inertia_remark(self, t: float, least: float) -> str:
        """A warning if deformation leaves less than half of its inertia in some motion at an instant; else nothing.

        Inertia is known to second order in the deformation. In the frame of a node a motion of what is near to it alone
        is one of the frame against all shapes, in which large inertias almost cancel: what is left of those, a heavy
        disk that turns a little, can exceed the inertia of that motion.

        What such a motion loses is not its own. Where a disk of the inertia J is turned by e and stands still, turns of
        frame and shapes cancel, but for those of third order in the energy, J e e'^2, which are left out: they count
        against the little inertia i of what moves. So the loss J e / i grows with the deformation; at a half of it that
        may double until none is left, and runs end or grow. The disk itself is off by e, far less than a percent.
        """
        if least > LOST:
            return ""
        return (
            f"{self} is deformed so far at t = {t:.6g} s that its inertia, known to second order in the deformation, "
            f'is {max(least, 0.0):.3g} of that undeformed in some motion, and wrong; set frame="mean"'
        )

    def dragging_remark(self, t: float, share: float) -> str:
        """A warning if its mass moves along it where it turns about its centre of mass, held at a bent end."""
        if share < DRAGGED:
            return ""
        way = "model what is heavy in it, such as a disk, as a rigid body of its own"
        way = f"set geometric_stiffening=True, or {way}" if self.can_stiffen else way
        return (
            f"{self} is bent at t = {t:.6g} s so that its mass moves along it where it turns, since linear theory does "
            f"not let it become shorter: that adds {100.0 * share:.3g} % to its inertia about its centre of mass, and "
            f"lowers frequencies by half as much; {way}"
        )

    def _most_bent(self, modal_coordinates: Array, slopes: Array, limit: float) -> NDArray[np.intp]:
        """Some instants at which a bound of the turns of nodes is largest and above a limit; the largest last."""
        if not modal_coordinates.size or not len(slopes):
            return np.zeros(0, np.intp)
        bounds = np.abs(modal_coordinates) @ _largest_turns(slopes)
        some = np.argpartition(bounds, -ENOUGH)[-ENOUGH:] if len(bounds) > ENOUGH else np.arange(len(bounds))
        some = some[np.argsort(bounds[some])]
        return some[(bounds[some] > limit) & (bounds[some] < np.inf)]

    def deformed_by(self, modal_coordinates: Array) -> tuple[float, float]:
        """How far a small deformation moves its nodes at most (m), and turns them (rad)."""
        shapes = self.shapes_in_frame
        move, turn = (
            float(np.linalg.norm(part @ modal_coordinates, axis=1).max(initial=0.0))
            for part in (shapes.translations, shapes.some_rotations)
        )
        return move, turn

    @property
    def turns(self) -> Array:
        """(m,): by how much each of its shapes bends it or twists it at most, rad."""
        key = (self.frame, self.geometric_stiffening)
        return _largest_turns(self._kept("slopes", key, self._slopes))

    def most_turned(self, modal_coordinates: Array, parts: int) -> NDArray[np.intp]:
        """The instants at which its nodes turn most in each of so many parts of a motion; the largest last."""
        bounds = np.abs(modal_coordinates) @ _largest_turns(self.shapes_in_frame.some_rotations)
        pieces = np.array_split(np.arange(len(bounds)), parts)
        some = np.array([piece[bounds[piece].argmax()] for piece in pieces if len(piece)], np.intp)
        some = some[np.argsort(bounds[some])]
        return some[bounds[some] > 0.0]

    def _slopes(self) -> Array:
        """(n, 3, m): how nodes turn with the modal coordinates; of a large solid some of the nodes are enough.

        Of beams first about axes across them, for both ends of each, then along them: the whole twist from the node of
        the frame (in mean axes from the first node) on. Linear theory knows nothing of these turns, so that a twist
        counts by how unlike the beams are in their two planes of bending: in a thin strip twisted by a the square of
        the second bending frequency falls by about 0.9 a^2, the frequency by 1 % at 0.15 rad. A round shaft has lost
        as much of its first frequency at 0.8 rad. With stiffening, which knows these turns to second order, the third
        frequency of a round shaft has lost 1 % at 0.42 rad.
        """
        shapes, part = self.shapes_in_frame, self.modes.component
        if (beams := part.beams) is not None:
            turns = shapes.rotations[beams.edges]  # (elements, 2, 3, m)
            along = beams.axes[:, 0, None, :, None]
            across = turns - along * np.sum(along * turns, axis=2, keepdims=True)
            first = shapes.reference if isinstance(shapes.reference, int) else int(beams.edges[0, 0])
            turns = turns - shapes.motion_at(first)[3:]
            twist = along * np.sum(along * turns, axis=2, keepdims=True)
            moments = np.sort([beams.second_moment_y, beams.second_moment_z], axis=0)
            unlike = np.maximum(1.0 - moments[0] / moments[1], BENT / TWISTED_ROUND)[:, None, None, None]
            counted = twist if self.geometric_stiffening else unlike * twist
            return np.concatenate([across, counted]).reshape(-1, 3, shapes.count)
        return shapes.some_rotations

    # --- nodes --------------------------------------------------------------------------------------------------------

    def node_at(self, at: ArrayLike) -> int:
        """Number of the node or interface point at a global point of the described configuration.

        A point that is not at one is a `ModelError` with the distance to the nearest.
        """
        part = self.modes.component
        local = self.rotation.T @ (lifted(at) - lifted(self.position))
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
            chosen = self.used_modes
        else:
            chosen = self._kept("chosen", (self.frame,), lambda: self.used_modes.relative_to(self.frame or "mean"))
        return chosen.reference if isinstance(chosen.reference, int) else None

    def deformed_in_axes(self, modal_coordinates: Array) -> Array:
        """`deformed` in the axes in which the body moves: those of its position and rotation in states and results."""
        shapes, part = self.shapes_in_frame, self.modes.component
        points = [shapes.motion_at(k)[:3] for k in range(len(part.nodes), len(part.positions))]
        moves = np.concatenate([shapes.translations, np.reshape(points, (-1, 3, shapes.count))])
        found = part.positions + np.einsum("nik,...k->...ni", moves, modal_coordinates)
        if (curves := self.curves) is not None:
            points = [shapes.curve_at(k)[:3] for k in range(len(part.nodes), len(part.positions))]
            bends = np.concatenate([curves, np.reshape(points, (-1, *curves.shape[1:]))])
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

    def nodes_across(self, point: Array, normal: Array) -> NDArray[np.int64]:
        """Numbers of the nodes and interface points in a plane in body axes."""
        part = self.modes.component
        return np.flatnonzero(np.abs((part.positions - point) @ normal) <= NEAR_AXIS * part.extent)

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
        rates = np.atleast_2d(modal_velocities if len(modal_velocities) else 0.0 * modal_coordinates)
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

    def globalized(self, point: Array, axes: Array) -> tuple[Array, Array]:
        number = self.modes.component.node_at(point)
        if self.modal_coordinates is not None:
            modal = np.atleast_2d(self.modal_coordinates)
            node = NodeMotion.of(self.node_shape(number), modal, 0.0 * modal, 0.0 * modal)
            point, axes = point + node.displacement[0], node.rotation[0] @ axes
        return super().globalized(point, axes)

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
