"""Exact linearization about equilibria and steady motions: roots, modes, stability, state-space matrices."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...bodies.formulations import Formulation
from ...equations.equations import Equations
from ...equations.reuse import borrowed
from ...errors import AnalysisError, ModelError, Problem, check_kinds
from ...results import Result
from ...solvers.starting import refuse_misaligned_joints
from ...state import State
from ...system import System
from ..states.assemble import consistent
from ..states.controllers import refuse_sampled
from ..states.range_warnings import warn_of_bent, warn_of_flexible, warn_of_kinks, warn_of_shapes
from .displacement import displaced
from .energies import ElementMatrices, ModeEnergy, element_matrices, joint_rows, mode_energy
from .inputs import input_signals
from .linear_equations import (
    LinearEquations,
    OperatingPoint,
    TurningFrame,
    collected,
    linear_equations,
    on_bodies,
    turning,
)
from .outputs import output_signals
from .reduction import reduce
from .root_words import report
from .roots import Root, ordered, reduced_roots, residuals, rounding
from .shift_invert import lowest, nearest_roots, sparse_pencil
from .state_space import StateSpace, state_space
from .steadiness import admissible, check_closed, check_constant, check_steady, inexact, until_turned
from .symmetry import symmetries
from .unstable import unstable_roots

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

INEXACT = 1e-6  # part of the equations that a root may leave
FROZEN = (
    "{0!r} is linearized as if the coefficients of t = {1:.6g} s stayed: the roots say how perturbations begin to "
    "change, and nothing about the stability of the motion; use mb.transition or mb.periodic for that"
)
DENSE = 3000  # positions and velocities of all bodies, before constraints, up to which all roots are computed


@dataclass(frozen=True)
class BodyShape:
    """The part of a body in a mode: displacement of its origin (m) and small rotation (rad), complex, along the axes of
    the frame; of a flexible body also the changes of its modal coordinates.
    """

    translation: Complex
    rotation: Complex
    modal: Complex = field(default_factory=lambda: np.zeros(0, complex))


@dataclass(frozen=True)
class Mode:
    """A root and the motion that belongs to it.

    The bodies move by Re(shape exp(eigenvalue t)) about the reference motion; no joint opens and no wheel slips. The
    largest displacement or rotation of the shape is 1, and real. `residual` is what is left of the pencil's equations,
    relative to their terms; `condition` tells how much a relative change of the state matrix can change the root (1 for
    an undamped vibration, infinite for a defective root). `explanation` is empty, or says in words why the root is
    ignorable. `element_states` has the changes of the own states of force elements, by name.
    """

    eigenvalue: complex
    shape: Mapping[str, BodyShape]
    residual: float
    condition: float
    explanation: str = ""
    linearization: Any = field(default=None, repr=False, compare=False)
    element_states: Mapping[str, Complex] = field(default_factory=dict)

    @property
    def ignorable(self) -> bool:
        """Whether the root belongs to a change that nothing resists."""
        return bool(self.explanation)

    @property
    def frequency(self) -> float:
        """|Im|/(2 pi), Hz."""
        return abs(self.eigenvalue.imag) / (2.0 * np.pi)

    @property
    def damping_ratio(self) -> float:
        """-Re/|eigenvalue|: 1 for aperiodic decay, 0 for an undamped vibration, negative for growth, nan for a zero."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size else np.nan

    @property
    def time_constant(self) -> float:
        """-1/Re, s: the time in which the motion decays to 1/e of it; negative for growth, inf if there is neither."""
        return -1.0 / self.eigenvalue.real if self.eigenvalue.real else np.inf

    @cached_property
    def energy(self) -> ModeEnergy:
        """Shares of the elements in the kinetic and potential energy of the mode and in its dissipation, by name."""
        return mode_energy(self.linearization, self, self.linearization.element_matrices)

    @cached_property
    def joints(self) -> dict[str, complex]:
        """Changes of all joint coordinates in the mode, such as "hinge.angle" (rad) and "slider.displacement" (m)."""
        names, rows = self.linearization.joint_rows
        return dict(zip(names, (rows @ self.linearization.motion_of(self)).tolist(), strict=True))

    def state(self, amplitude: float = 0.1, phase: float = 0.0, *, assembled: bool = True) -> State:
        """The reference state displaced along the mode by Re(amplitude exp(i phase) shape), with its velocities.

        `assembled` closes the joints, which a displacement of finite size leaves open by the square of it.
        """
        return self.linearization.displaced(self, amplitude * np.exp(1j * phase), assembled)

    @property
    def period(self) -> float:
        """Duration of a cycle, s; without a frequency four time constants, or 2.5 s if there are none."""
        from .mode_motion import cycle_duration

        return cycle_duration(self)

    def cycle(self, frames: int = 60, amplitude: float = 1.0) -> Result:
        """One cycle as a result with so many equal steps, the joints closed, as `mb.render.export` shows it.

        The size is held: growth and decay are not shown. `amplitude` is relative to one at which the mode is seen well.
        """
        from .mode_motion import cycle

        if frames != int(frames) or frames < 2 or not np.isfinite(amplitude):
            message = f"found {frames!r} and {amplitude!r}; allowed are at least 2 steps and a finite amplitude"
            raise ModelError([Problem("Mode.cycle", "frames, amplitude", message)])
        return cycle(self, int(frames), amplitude)


@dataclass(frozen=True)
class Ignorable:
    """Roots that say nothing about stability, and why."""

    roots: tuple[complex, ...]
    explanation: str

    def __str__(self) -> str:
        return f"{', '.join(f'{root:.6g}' for root in self.roots)}: {self.explanation}"


def linearize(
    system: System,
    state: State | None = None,
    frame: TurningFrame | None = None,
    inputs: Sequence[Any] = (),
    outputs: Sequence[Any] = (),
    formulation: Formulation | None = None,
    n_modes: int | None = None,
    *,
    frozen: bool = False,
) -> Linearization:
    """Linearize a system about an equilibrium or a steady motion.

    Exact derivatives of the constrained equations of motion, taken along small motions of the bodies, give M xi'' + R
    xi' + K xi + J^T dlambda + G^T dmu = 0 with J xi = 0 (holonomic) and G xi' + W xi = 0 (nonholonomic); constraints
    are then eliminated by null spaces. [PappalardoLettieriGuida2020], eqs. 21-28, is the case of an equilibrium.

    Parameters
    ----------
    system
        What to linearize.
    state
        Where: an equilibrium, a straight steady motion, or a steady turn; by default the state in which the model is
        described.
    frame
        The frame in which a steady turn stands still, such as `mb.TurningFrame(axis=(0, 0, 1), rate=0.5)`; a state
        found by `mb.steady` brings its own.
    inputs
        Elements, or their names: an `Input`; and, acting as inputs beside what they do already, a `PointForce` or
        `Torque` (three inputs, its components), a measure (the force along it, or torque about it, on both bodies), a
        driver. The input of a driver is the second derivative w'' of a change w(t) of its function of time, one for
        each function: w and w' become states, because position, velocity and acceleration of a driver cannot be chosen
        apart. The response to w itself is s^2 times that to w''.
    outputs
        What is observed: a measure or its name; ("rate", measure); a vector of a body as in a `Result`, such as
        ("velocity", body) or ("acceleration", body, local_point); or any quantity of a `Result` by its name, such as
        "pin.reaction.force.x", "spring.force" or "energy.total". Vectors have components along the axes of the frame.
        Derivatives are exact for motions, measures, and for how reactions follow from loads and accelerations; how else
        a quantity depends on the state is found by differences of order eight (`analysis.linear.outputs`).
    formulation
        Coordinates of the rigid bodies, instead of their own choice; the results do not depend on them.
    n_modes
        Only that many modes, those with the roots of least size, beside ignorable ones; there is no state space then.
        Where bodies have more than 1,500 positions they come from sparse matrices. Ignorable are then zero roots (or
        +-i Omega in a turning frame) whose motions are displacements or turns of the whole or spins of round bodies;
        they are not split off before, so that they scatter a little; where more than 256 roots would be needed to get
        past them a warning says so. Condition numbers of roots are not computed but taken to be 1e4. Whether another
        root grows is found by `unstable_count`.
    frozen
        True to linearize at an instant of any motion, as if the coefficients stayed what they are there. The roots then
        tell how perturbations begin to change, and nothing about the stability of the motion, which a warning says;
        that is what `mb.transition` and `mb.periodic` are for.

    Returns
    -------
    Linearization
        An `AnalysisError` says, body by body, why a state has no linearization with constant coefficients.
    """
    check_kinds(
        "linearize",
        system=(system, System),
        state=(state, State),
        frame=(frame, TurningFrame),
        formulation=(formulation, Formulation),
    )
    seen_from = frame or getattr(state, "frame", None) or TurningFrame()
    with borrowed(system, formulation) as eq:
        refuse_sampled(eq)
        chosen = state.checked(system.bodies) if state is not None else eq.described()
        return _linearized(system, eq, chosen, seen_from, inputs, outputs, n_modes, frozen)


def as_described(system: System, frame: TurningFrame, warned: bool) -> Linearization:
    """`linearize` about the described state; if the user has been `warned`, warnings need not be worked out again."""
    with borrowed(system) as eq:
        refuse_sampled(eq)
        return _linearized(system, eq, eq.described(), frame, (), (), None, False, warned)


def _linearized(
    system: System,
    eq: Equations,
    chosen: State,
    frame: TurningFrame,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    n_modes: int | None,
    frozen: bool,
    warned: bool = False,
) -> Linearization:
    """The linearization of a system with these equations about a state."""
    y = eq.coordinates(chosen)
    check_closed(eq, chosen, y)
    refuse_misaligned_joints(eq, chosen.t, y)
    point = OperatingPoint.at(eq, chosen, y)
    if frozen:
        warnings.warn(FROZEN.format(system.name, chosen.t), stacklevel=3)
    else:
        check_steady(point, frame)
    if not warned:
        warn_of_flexible(eq, chosen, 3)
        warn_of_bent(eq, chosen, 3)
        warn_of_shapes(eq, chosen, 3)
        warn_of_kinks(eq, 3)
    if n_modes is not None:
        if n_modes < 1 or len(inputs) or len(outputs):
            message = (
                f"found {n_modes}; allowed is a positive number, and neither inputs nor outputs; leave one of them out"
            )
            raise ModelError([Problem("linearize", "n_modes", message)])
        sparse = linear_equations(point, frame, dense=False)
        if 2 * sparse.size > DENSE:
            return _partial(system, point, frame, sparse, n_modes, frozen)
    equations = linear_equations(point, frame)
    basis = admissible(equations)
    if not frozen:
        check_constant(point, frame, equations, basis)
    reduction = reduce(equations, basis)
    inexactness = inexact(point, frame)
    roots = reduced_roots(equations, reduction, symmetries(point, frame, equations, reduction, inexactness))
    _check_roots(equations, roots)
    if n_modes is not None:
        return Linearization(system, chosen, frame, equations, ordered(lowest(roots, n_modes)), None, roots)
    space = state_space(
        reduction,
        equations,
        input_signals(point, equations.places, inputs),
        output_signals(point, frame, equations, outputs),
    )
    return Linearization(system, chosen, frame, equations, roots, space, roots)


def _partial(
    system: System, point: OperatingPoint, frame: TurningFrame, equations: LinearEquations, n_modes: int, frozen: bool
) -> Linearization:
    """Some modes from sparse matrices."""
    if not frozen and until_turned(point.eq, point.state, frame) > 0.0:
        dense = linear_equations(point, frame)
        check_constant(point, frame, dense, admissible(dense))
    roots = nearest_roots(point, frame, equations, n_modes)
    return Linearization(system, point.state, frame, equations, roots, None, None)


def _check_roots(equations: LinearEquations, roots: list[Root]) -> None:
    """Refuse roots that are none: what a pair leaves of the equations as they were before any reduction tells."""
    own = [root for root in roots if root.residual is None]
    left = float(residuals(equations, own).max(initial=0.0))
    if not left < INEXACT:
        raise AnalysisError(
            f"the roots are not exact: they leave {left:.1e} of the equations, where rounding would leave 1e-14: "
            "masses, stiffnesses or lengths of very different size are the usual reason, bring them nearer together"
        )


def _counts(root: Root) -> bool:
    """Whether a root says something about stability."""
    return not root.explanation


class Linearization:
    """The linear equations about a state: see `linearize`.

    Attributes
    ----------
    eigenvalues
        All finite roots, ignorable ones included, sorted by real, then imaginary part.
    modes
        One `Mode` for each root, in the same order.
    ignorable
        Roots that say nothing about stability, with the reason in words.
    stability
        "asymptotic", "marginal" or "unstable"; ignorable roots do not count. Of a large system of which only some roots
        were computed, a sentence that begins with "not determined" where these do not tell.
    stable
        Whether no root has a positive real part beyond rounding, ignorable ones apart; None if that is not known.
    unstable_count
        Number of roots with a positive real part, those that were not computed included; None if it is not known.
    mass, damping, stiffness
        M, R and K of the small motions xi of all bodies, before the constraints: for each body at `places` the
        displacement of its origin and its small rotation, along the axes of the frame. The same in every formulation.
    A, B, C, D
        y' = A y + B inputs, outputs = C y + D inputs, for independent states y; see `StateSpace`. With drivers as
        inputs A has two more roots at zero for each, which `eigenvalues` do not contain.
    inputs, outputs
        Names of the inputs and outputs.
    """

    def __init__(
        self,
        system: System,
        state: State,
        frame: TurningFrame,
        equations: LinearEquations,
        roots: list[Root],
        space: StateSpace | None,
        everything: list[Root] | None,
    ) -> None:
        self.system, self.state, self.frame = system, state, frame
        self.equations, self.places = equations, equations.places
        self.mass, self.damping, self.stiffness = equations.mass, equations.damping, equations.stiffness
        self._space = space
        having: tuple[Any, ...] = (*system.forces, *system.controllers)
        self._own = [(element.name, element.states) for element in having if element.states]
        self.roots = roots
        self._everything = everything  # all roots, if they were computed
        self.rounding = np.array([rounding(root) for root in roots])
        self.eigenvalues: Complex = np.array([root.value for root in roots], complex)

    @cached_property
    def modes(self) -> list[Mode]:
        """One `Mode` for each root."""
        found = zip(self.roots, self.residuals.tolist(), strict=True)
        return [
            Mode(root.value, self._shape(root), residual, root.condition, root.explanation, self, self._changes(root))
            for root, residual in found
        ]

    def _shape(self, root: Root) -> dict[str, BodyShape]:
        """The motion of each body."""
        return {name: BodyShape(*parts) for name, parts in on_bodies(self.places, root.shape).items()}

    def _changes(self, root: Root) -> dict[str, Complex]:
        """The changes of the own states of each force element; none of those that an ignorable root leaves alone."""
        found: dict[str, Complex] = {}
        if not len(root.own):
            return found
        last = 0
        for name, states in self._own:
            acting = self.equations.acting[name]
            first, last = last, last + len(acting)
            found[name] = np.zeros(states, complex)
            found[name][acting] = root.own_shape[first:last]
        return found

    # --- stability ---------------------------------------------------------------------------------------------------

    @cached_property
    def ignorable(self) -> list[Ignorable]:
        """Ignorable roots and why they are."""
        groups: dict[str, list[complex]] = {}
        for root in self.roots:
            if root.explanation:
                groups.setdefault(root.explanation, []).append(root.value)
        return [Ignorable(tuple(roots), words) for words, roots in groups.items()]

    @property
    def complete(self) -> bool:
        """Whether `eigenvalues` are all roots, and not only some that were asked for."""
        return self._everything is not None and len(self._everything) == len(self.roots)

    @cached_property
    def unstable_count(self) -> int | None:
        """Number of roots with a positive real part beyond rounding, ignorable ones apart; None if it is not known.

        Of large systems, of which only some roots are computed, it is found when it is first asked for: by the signs
        of pivots where M, R and K are symmetric and nothing feeds energy in.
        """
        if self._everything is not None:
            return sum(_counts(root) and root.value.real > rounding(root) for root in self._everything)
        seen = sum(_counts(root) and root.value.real > rounding(root) for root in self.roots)
        found = unstable_roots(self.equations, sum(not root.value for root in self.roots))
        return found if found is not None and found >= seen else None

    @property
    def known_unstable_count(self) -> int | None:
        """`unstable_count` if it costs nothing: where all roots were computed, or it was asked for before."""
        found = self._everything is not None or "unstable_count" in vars(self)
        return self.unstable_count if found else None

    @cached_property
    def stability(self) -> str:
        """ "asymptotic", "marginal" or "unstable"; or why that is not determined."""
        known = self.roots if self._everything is None else self._everything
        counted = [root for root in known if _counts(root)]
        if any(root.value.real > rounding(root) for root in counted):
            return "unstable"
        decaying = bool(counted) and all(root.value.real < -rounding(root) for root in counted)
        if self._everything is None:
            if self.unstable_count is None:
                return f"not determined: only {len(self.roots)} roots were computed"
            if self.unstable_count:
                return "unstable"
            if decaying:
                return f"not determined: no root grows, but only {len(self.roots)} roots were computed"
        return "asymptotic" if decaying else "marginal"

    @property
    def stable(self) -> bool | None:
        """Whether no root has a positive real part beyond rounding, ignorable ones apart; None if it is not known."""
        if self.stability.startswith("not determined"):
            return True if self.unstable_count == 0 else None
        return self.stability != "unstable"

    @cached_property
    def residuals(self) -> Array:
        """What each root leaves of the pencil's equations, relative to their terms."""
        return residuals(self.equations, self.roots)

    @property
    def conditions(self) -> Array:
        """Condition numbers of the roots."""
        return np.array([root.condition for root in self.roots])

    @cached_property
    def pencil(self) -> tuple[Any, Any]:
        """(E, A), sparse, with E z' = A z for z = (xi, xi', zeta, lambda, mu): the equations before any reduction.

        Beside the finite roots it has infinite ones, three for each independent holonomic equation and two for each
        nonholonomic one. zeta are own states of force elements.
        """
        return sparse_pencil(self.equations)

    # --- inputs and outputs ------------------------------------------------------------------------------------------

    @property
    def space(self) -> StateSpace:
        """The state space; an error if only some modes were asked for."""
        if self._space is None:
            raise AnalysisError("there is no state space when only some modes are asked for; leave n_modes out")
        return self._space

    @property
    def A(self) -> Array:
        """State matrix of the independent states."""
        return self.space.A

    @property
    def B(self) -> Array:
        """How inputs act on the rates of the states."""
        return self.space.B

    @property
    def C(self) -> Array:
        """How outputs follow from the states."""
        return self.space.C

    @property
    def D(self) -> Array:
        """How outputs follow from the inputs at once."""
        return self.space.D

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return self.space.inputs

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return self.space.outputs

    def frequency_response(self, frequencies: ArrayLike) -> Complex:
        """C (i w - A)^-1 B + D at frequencies w/(2 pi) in Hz: (frequencies, outputs, inputs)."""
        points = 2j * np.pi * np.atleast_1d(np.asarray(frequencies, float))
        solved = np.linalg.solve(points[:, None, None] * np.eye(len(self.A)) - self.A, self.B.astype(complex))
        return np.asarray(self.C @ solved + self.D, complex)

    def to_scipy(self) -> Any:
        """The state space as a `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """The state space as a `control.StateSpace` with named inputs and outputs (needs python-control)."""
        try:
            import control
        except ImportError:
            raise AnalysisError("python-control is not installed: pip install control") from None
        return control.ss(self.A, self.B, self.C, self.D, inputs=self.inputs, outputs=self.outputs)

    # --- modes in parts ----------------------------------------------------------------------------------------------

    @cached_property
    def element_matrices(self) -> list[ElementMatrices]:
        """What each element adds to `stiffness` and `damping`, which they sum to; see `Mode.energy`."""
        return element_matrices(self)

    @cached_property
    def joint_rows(self) -> tuple[list[str], Array]:
        """Names of all joint coordinates, and a row for each: how it changes with the small motions of all bodies."""
        return joint_rows(self)

    def mac(self, other: Linearization) -> Array:
        """How much each mode (row) looks like each of another linearization (column): modal assurance criterion.

        |a* M b|^2 / (a* M a  b* M b) of their shapes with the mean M of both mass matrices, from 0 to 1. The other one
        has the same bodies, perhaps at another state or with other parameters.
        """
        check_kinds("Linearization.mac", other=(other, Linearization))
        if other.places != self.places:
            message = "found other bodies; allowed is a linearization of a system with the same bodies in their order"
            raise ModelError([Problem("Linearization.mac", "other", message)])
        mass = 0.5 * (self.mass + other.mass)
        a, b = (np.array([root.shape for root in lin.roots]).reshape(-1, mass.shape[0]).T for lin in (self, other))
        own = [np.real(np.sum(x.conj() * (mass @ x), axis=0)) for x in (a, b)]
        return np.asarray(np.abs(a.conj().T @ mass @ b) ** 2 / np.outer(*own), float)

    # --- modes as states ---------------------------------------------------------------------------------------------

    def motion_of(self, mode: Mode) -> Complex:
        """xi of a mode: the shapes of all bodies in one vector."""
        parts = mode.shape.items()
        real = {name: (s.translation.real, s.rotation.real, s.modal.real) for name, s in parts}
        imaginary = {name: (s.translation.imag, s.rotation.imag, s.modal.imag) for name, s in parts}
        return collected(self.places, real) + 1j * collected(self.places, imaginary)

    def displaced(self, mode: Mode, amplitude: complex, assembled: bool = True) -> State:
        """The reference state displaced along a mode by Re(amplitude shape); see `Mode.state`."""
        for name, part in mode.shape.items():
            if (turn := float(np.linalg.norm((amplitude * part.rotation).real))) > np.pi:
                message = (
                    f"turns {name!r} by {turn:.3g} rad, more than half a turn, which no small motion does; reduce it"
                )
                raise ModelError([Problem("mode", "amplitude", message)])
        shape = self.motion_of(mode)
        rate = mode.eigenvalue * shape + turning(self.places, self.frame) @ shape
        own = [change[self.equations.acting[name]] for name, change in mode.element_states.items()]
        changes = np.concatenate([np.zeros(0, complex), *own])
        moved = displaced(
            self.state,
            self.equations,
            (amplitude * shape).real,
            (amplitude * rate).real,
            (amplitude * changes).real,
            self.system,
        )
        return consistent(self.system, moved) if assembled else moved

    def __repr__(self) -> str:
        return f"<Linearization of {self.system.name!r}: {len(self.eigenvalues)} roots, {self.stability}>"

    def __str__(self) -> str:
        return report(self)
