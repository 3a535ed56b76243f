"""Where the energy of a mode is: shares of the elements in its kinetic and potential energy and its dissipation."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ...bodies.formulations import NewtonEuler, PlanarAngle
from ...equations.equations import Equations
from ...equations.shares import MOTION, tangent_shares
from ...errors import AnalysisError, ModelError, Problem
from ...joints.coordinates import coordinates_of
from ..states.own_states import places as places_of
from .linear_equations import LinearEquations, OperatingPoint, variations
from .outputs import output_signals

if TYPE_CHECKING:
    from .linearize import Linearization, Mode

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

EXACT: Final = 1e-8
"""Part of a matrix that the sum of its shares may leave."""
ROUNDING: Final = 1e-10
"""Part of all terms that a sum is when there is nothing of its kind in the mode."""


@dataclass(frozen=True)
class EnergyShare:
    """The part of an element in the energies of a mode.

    Attributes
    ----------
    kinetic, potential, dissipation
        Shares; each kind sums to 1 over all elements. Negative where an element gives what the others take: the weight
        of an inverted pendulum has a negative potential energy. nan in a mode without energy of that kind.
    parts
        Of the potential share, by their names. Of a body "stiffness" (elasticity), "gravity" and "motion"
        (centrifugal); of a force "stiffness", by which it changes, "prestress", its value at the state in directions
        that turn with what moves, and "control", by what controllers see. Reactions belong to the loads that cause
        them: a pendulum has its stiffness from gravity, although it is the hinge that holds it.
    """

    kinetic: float
    potential: float
    dissipation: float
    parts: Mapping[str, float]


class ModeEnergy(Mapping[str, EnergyShare]):
    """Energies of a mode by the names of elements: bodies, forces, joints.

    With the motion xi = Re(a exp(i w t)) of the eigenvalue s + i w, averaged over a period while the amplitude a is
    held, the element e has

        kinetic energy    1/4 |s + i w|^2 a* M_e a
        potential energy  1/4 Re a* (K_e a + F_e zeta)
        dissipation       1/2 |s + i w|^2 Re a* R_e a + 1/2 w Im a* (K_e a + F_e zeta)

    where zeta are own states of e, and a wheel that rolls also gives 1/2 Re (velocity)* G^T mu: driven by the motion on
    which the mode is, it feeds or brakes it without any damper. The energy of all changes as exp(2 s t), so that 2 s
    (kinetic + potential) = - dissipation. An aperiodic mode (w = 0) has no period; its real shape stands for a, with
    the same factors. Seen from the frame of the linearization.

    Attributes
    ----------
    kinetic, potential
        Of all elements, J; the largest displacement or rotation of the mode is 1 m or 1 rad.
    dissipation
        W.
    """

    def __init__(self, shares: dict[str, EnergyShare], kinetic: float, potential: float, dissipation: float) -> None:
        self._shares = shares
        self.kinetic, self.potential, self.dissipation = kinetic, potential, dissipation

    def __getitem__(self, name: str) -> EnergyShare:
        if name not in self._shares:
            near = difflib.get_close_matches(str(name), self._shares, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, self._shares))}"
            raise ModelError([Problem("Mode", "energy", f"there is no body, force or joint {name!r}; {meant}")])
        return self._shares[name]

    def __contains__(self, name: object) -> bool:
        return name in self._shares

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    def largest(self, kind: str, least: float = 0.01) -> list[tuple[str, float]]:
        """Elements with the largest shares of a kind ("kinetic", "potential", "dissipation"), down to a least one."""
        found = [(name, float(getattr(share, kind))) for name, share in self._shares.items()]
        return sorted((pair for pair in found if abs(pair[1]) >= least), key=lambda pair: -abs(pair[1]))

    def __repr__(self) -> str:
        words = []
        for kind in ("kinetic", "potential", "dissipation"):
            listed = ", ".join(f"{name} {100.0 * share:.3g} %" for name, share in self.largest(kind))
            words.append(f"{kind}: {listed or 'none'}")
        return f"<ModeEnergy {'; '.join(words)}>"


@dataclass(frozen=True)
class ElementMatrices:
    """What one element adds to K and R of the small motions of all bodies, and by which part; see `TangentShare`."""

    element: str
    part: str
    stiffness: Any
    damping: Any
    own: Array | None = None
    """What it adds to F, by states of controllers."""


def element_matrices(lin: Linearization) -> list[ElementMatrices]:
    """The shares of all loads in K and R of a linearization, which they sum to; sparse.

    Stiffness is the second derivative along small rotations exp(phi~), which is symmetric for each load that has an
    energy.
    """
    eq = _equations(lin)
    point = OperatingPoint.at(eq, lin.state)
    found = tangent_shares(eq, lin.state.t, point.q, point.v, point.z, point.v_rate)
    mass, _ = eq.matrices()
    places, P, P_rate, Z, Z_rate = variations(point, lin.frame, None, False)
    kept = places_of(eq, lin.equations.acting)
    shares = []
    for share in found:
        K, R = share.stiffness @ P + share.damping @ Z, share.damping @ P
        if share.part == MOTION:
            own = np.zeros(eq.n_v)
            own[next(b for b in eq.tables.bodies if b.body.name == share.element).v_slice] = 1.0
            K, R = K + own[:, None] * (mass @ Z_rate), R + own[:, None] * (mass @ (P_rate + Z))
        K = P.T @ K + _commuted(places, P.T @ share.load)
        own_part = None if share.own is None else np.asarray(P.T @ share.own[:, kept], float)
        shares.append(ElementMatrices(share.element, share.part, K.tocsr(), (P.T @ R).tocsr(), own_part))
    for whole, parts in ((lin.stiffness, [s.stiffness for s in shares]), (lin.damping, [s.damping for s in shares])):
        rest = sum(parts[1:], parts[0]) - whole
        if abs(rest).max() > EXACT * max(abs(whole).max(), abs(mass).max()):
            raise AnalysisError(
                f"the energies of elements do not add up to those of the linearization of {lin.system.name!r}: the "
                "system was changed after it was linearized, so linearize it again"
            )
    return shares


def _commuted(places: Mapping[str, slice], load: Array) -> Any:
    """What the second derivative along exp(phi~) has more than the change of a moment m: 1/2 m~ for each body."""
    import scipy.sparse as sparse

    blocks = []
    for place in places.values():
        width = place.stop - place.start
        block = np.zeros((width, width))
        if width >= 6:
            x, y, z = 0.5 * load[place.start + 3 : place.start + 6]
            block[3:6, 3:6] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
        blocks.append(sparse.coo_array(block))
    return sparse.block_diag(blocks, format="csr")


def mode_energy(lin: Linearization, mode: Mode, matrices: list[ElementMatrices]) -> ModeEnergy:
    """The energies of a mode of a linearization with these matrices of its elements."""
    e, root = lin.equations, mode.eigenvalue
    a = lin.motion_of(mode)
    square, rate = abs(root) ** 2, root.imag
    names = [element.name for element in (*lin.system.bodies, *lin.system.joints, *lin.system.forces)]
    kinetic, dissipation = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    potential: dict[str, dict[str, float]] = {name: {} for name in names}
    sizes = np.zeros(3)
    zeta = _own_changes(e, mode)

    def store(name: str, part: str, stiff: complex, damped: float, size: float) -> None:
        potential[name][part] = potential[name].get(part, 0.0) + 0.25 * stiff.real
        dissipation[name] += 0.5 * (damped + rate * stiff.imag)
        sizes[1:] += size, abs(rate) * size

    for name, place in lin.places.items():
        kinetic[name] = 0.25 * float(np.real(a[place].conj() @ (e.mass[place, place] @ a[place])))
    for share in matrices:
        stiff = complex(a.conj() @ (share.stiffness @ a))
        size = float(np.abs(a) @ (abs(share.stiffness) @ np.abs(a)))
        if share.own is not None:
            stiff += complex(a.conj() @ (share.own @ zeta))
            size += float(np.abs(a) @ (np.abs(share.own) @ np.abs(zeta)))
        store(share.element, share.part, stiff, square * float(np.real(a.conj() @ (share.damping @ a))), size)
        sizes[2] += square * float(np.abs(a) @ (abs(share.damping) @ np.abs(a)))
    last = 0
    for name, acting in e.acting.items():
        first, last = last, last + len(acting)
        if name in potential and name in mode.element_states and len(acting):
            force = e.own_force[:, first:last] @ mode.element_states[name][acting]
            store(name, "stiffness", complex(a.conj() @ force), 0.0, float(np.abs(a) @ np.abs(force)))
    for name, power in _slipping(lin, mode, a).items():
        dissipation[name] += power
    whole = sum(kinetic.values())
    total = sum(part for parts in potential.values() for part in parts.values())
    lost = sum(dissipation.values())
    stored = total if abs(total) > 0.25 * ROUNDING * sizes[1] else np.nan
    braked = lost if abs(lost) > 0.5 * ROUNDING * sizes[2] else np.nan
    moved = whole or np.nan
    shares = {
        name: EnergyShare(
            kinetic[name] / moved,
            sum(potential[name].values()) / stored,
            dissipation[name] / braked,
            {part: value / stored for part, value in potential[name].items() if value},
        )
        for name in names
    }
    return ModeEnergy(shares, square * whole, total, lost)


def _own_changes(e: LinearEquations, mode: Mode) -> Complex:
    """zeta of a mode: changes of the own states that act; none in an ignorable one."""
    whole = np.zeros(len(e.own_feedback), complex)
    last = 0
    for name, acting in e.acting.items():
        first, last = last, last + len(acting)
        if name in mode.element_states:
            whole[first:last] = mode.element_states[name][acting]
    return whole


def _slipping(lin: Linearization, mode: Mode, a: Complex) -> dict[str, float]:
    """Power that joints with velocity equations take out of a mode, W: their forces work where G xi' = -W xi."""
    e = lin.equations
    if not e.nonholonomic.shape[0]:
        return {}
    velocity = mode.eigenvalue * a
    zeta = _own_changes(e, mode)
    load = e.mass @ (mode.eigenvalue * velocity) + e.damping @ velocity + e.stiffness @ a + e.own_force @ zeta
    first = e.holonomic.shape[0]
    rows = np.vstack([_dense(e.holonomic), _dense(e.nonholonomic)])
    multipliers = np.linalg.lstsq(rows.T, -load, rcond=1e-12)[0][first:]
    power = 0.5 * np.real((_dense(e.nonholonomic) @ velocity).conj() * multipliers)
    found: dict[str, float] = {}
    for name, part in zip(_velocity_owners(lin), power, strict=True):
        found[name] = found.get(name, 0.0) + float(part)
    return found


def joint_rows(lin: Linearization) -> tuple[list[str], Array]:
    """Names of all joint coordinates, and their changes with the small motions of all bodies, a row each.

    They are how the rates of the coordinates change with the velocities, which is exact and knows no turns.
    """
    named = [
        (f"{joint.name}.{coordinate}", f"{joint.name}.{coordinate}_rate")
        for joint in lin.system.joints
        for coordinate in coordinates_of(joint)
    ]
    if not named:
        return [], np.zeros((0, lin.equations.size))
    point = OperatingPoint.at(_equations(lin), lin.state)
    rows = output_signals(point, lin.frame, lin.equations, [rate for _, rate in named]).rows
    return [name for name, _ in named], rows.velocity


def _equations(lin: Linearization) -> Equations:
    """Equations of the system in coordinates without equations of their own."""
    return Equations(lin.system, NewtonEuler() if lin.system.dimension == 3 else PlanarAngle())


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), float)


def _velocity_owners(lin: Linearization) -> list[str]:
    """The joint behind each velocity equation."""
    eq = _equations(lin)
    return [eq.row_owner(row).name for row in range(eq.tables.n_holonomic, eq.n_rows)]
