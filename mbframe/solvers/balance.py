"""Whether the energy of a run balances: a warning where it does not, for a run that went wrong without an error.

The balance B = E - E(0) - work (`results.Energy`) vanishes in the exact solution. It is taken of each group of bodies
that joints and forces connect, for no energy passes from one to another, and compared with the size S of the energies
that change: the largest of the ranges of the kinetic energy of a body, of the potential energy and of the work of an
element, and of the kinetic energy of what a body moves differently from the start, since it may exchange energy within
itself. Energy that is only there, of a heavy body at rest or of a wheel that spins, hides nothing.

Runs of sensible accuracy stay below S/50, 1 % in the amplitude of a vibration. More is told, unless it was asked for by
a loose tolerance, whose errors add up over a thousand steps, or by an integrator that damps. Beyond S/10, 5 % in the
amplitude, a run is wrong, whatever explains it: reduced, tolerance or damping give another motion. Not told is what is

- below 5e-3 of the kinetic energy of spins: the error of a steady spin, of which nothing changes but by that, in
  coordinates that turn with the body; a steady velocity has none;
- below a part of all energy, 1e-6 or the square of the tolerance: what rests moves by errors of that part, and energy
  about rest is quadratic;
- the energy of speeds below the absolute tolerance, or below rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..equations.equations import Equations
from ..equations.failures import diverged
from ..errors import MbframeError
from ..joints.driven import Drive
from ..parameters import Element
from ..plane import lifted
from ..results import energies_of_bodies, twists_of_bodies, works_of
from .integrators import Integrator
from .stated_energies import misstated
from .time_logic import EQUATIONS, time_logic

Array = NDArray[np.float64]

FINE: Final = 0.02  # share of the energies that change, beyond which a motion is told to be inaccurate
GROSS: Final = 0.1  # the same, to be wrong
ADDED: Final = 1e3  # of a tolerance: what its errors may add up to
STEADY: Final = 5e-3  # share of the kinetic energy of spins below which nothing is told
NOISE: Final = 1e-6  # share of all energy below which nothing is told: a system at rest exchanges rounding errors only
ABSOLUTE: Final = 1e-3  # of a relative tolerance: the absolute one, where none is given
STILL: Final = 1e-15  # m/s, rad/s: who moves slower rests
MAIN: Final = 0.5  # share of the work at fault by which an element is named


@dataclass(frozen=True)
class Course:
    """What the account of one run is made of; potential energies are those that force elements store, (n, groups)."""

    t: Array
    y: Array
    masses: list[tuple[float, Array, Array]]
    potential: Array
    works: dict[str, Array]

    @classmethod
    def of(cls, eq: Equations, t: Array, y: Array, masses: list[tuple[float, Array, Array]] | None = None) -> Course:
        """The course of a run of these equations, while they have its parameters; `masses` if they are at hand."""
        potential, stored = eq.energies(t, y, grouped=True)
        masses = masses or [b.body.mass_properties() for b in eq.tables.bodies]
        return cls(t, y, masses, potential, works_of(eq, y, stored))


@dataclass(frozen=True)
class Energies:
    """Energies of groups of connected bodies at some instants, (groups, n) each.

    Of several runs of the same length with the same equations: the groups of all of them, run after run.
    """

    eq: Equations
    y: Array
    masses: Sequence[Any]
    """Mass, centre and inertia of each body, or of its rows in several runs."""
    kinetic: Array
    potential: Array
    balance: Array
    moving: Array
    """Kinetic energies of bodies, (runs times bodies, n)."""
    works: Array
    """Of elements, (runs times elements, n)."""
    of_bodies: NDArray[np.int64]
    of_works: NDArray[np.int64]
    """Groups of bodies and elements."""

    @classmethod
    def of(cls, eq: Equations, courses: Sequence[Course]) -> Energies:
        """The energies of some runs."""
        tables, first, many = eq.tables, courses[0], len(courses)
        n, gravity = len(first.t), lifted(eq.system.gravity)
        of_bodies, of_works = (_numbered(groups, tables.groups, many) for groups in (tables.groups, tables.work_groups))
        y = first.y
        of_rows: Sequence[Any] = first.masses
        if many > 1:
            y, masses = np.concatenate([course.y for course in courses]), [m for c in courses for m in c.masses]
            of_rows = [_by_row(masses[b :: len(tables.bodies)], n) for b in range(len(tables.bodies))]
        moving, resting = (_by_run(np.array(part), n) for part in energies_of_bodies(eq, of_rows, gravity, y))
        works = _stacked([np.reshape(list(course.works.values()), (-1, n)) for course in courses])
        stored = _stacked([course.potential.T for course in courses])
        kinetic, potential = _added(moving, of_bodies), stored + _added(resting, of_bodies)
        balance = kinetic + potential - _added(works, of_works, len(kinetic))
        balance -= balance[:, :1]
        return cls(eq, y, of_rows, kinetic, potential, balance, moving, works, of_bodies, of_works)

    def surely_balance(self, share: float, noise: float) -> bool:
        """Whether they balance even compared with a part of S and of what is not told: most runs need no more."""
        at_play = np.ptp(self.potential, axis=1)
        np.maximum.at(at_play, self.of_bodies, np.ptp(self.moving, axis=1))
        told = np.maximum(share * at_play, noise * (self.kinetic.max(axis=1) + np.abs(self.potential).max(axis=1)))
        return bool(np.isfinite(told).all() and (np.abs(self.balance).max(axis=1) <= told).all())


@dataclass(frozen=True)
class Account:
    """Energies of groups of connected bodies at some instants of a run, (groups, n) each.

    Of several runs with the same equations: the groups of all of them, run after run.
    """

    eq: Equations
    t: Array
    balance: Array
    at_play: Array
    """S up to each instant."""
    floor: Array
    """What is not told up to each instant."""
    share: float
    """Of the energies at play: how much is told."""
    works: dict[str, Array]
    """By element, (n,)."""

    @classmethod
    def of(cls, courses: Sequence[Course], energies: Energies, share: float, noise: float, slow: float) -> Account:
        """The account of runs with some energies: a share of those at play and a part of all, `noise`, are not told,
        and speeds below `slow` are none.
        """
        eq, e, n = energies.eq, energies, len(courses[0].t)
        masses = [mass for course in courses for mass in course.masses]
        weights = np.array([mass for mass, _, _ in masses])
        inertias = np.array([inertia for _, _, inertia in masses]).trace(axis1=1, axis2=2)
        twists = twists_of_bodies(eq, e.y)
        velocities = _by_run(_velocities_of_centers(eq, e.y, twists, e.masses), n)
        changed, spin = _motions(velocities, _by_run(twists[1], n), weights[:, None], inertias[:, None] / 3.0)
        at_play = _ranges(e.potential)
        for groups, shares in ((e.of_bodies, e.moving), (e.of_bodies, changed), (e.of_works, e.works)):
            _gather(np.maximum, at_play, groups, _ranges(shares))
        weight = float(np.linalg.norm(lifted(eq.system.gravity))) * _added(weights[:, None], e.of_bodies)
        size = _peaks(e.kinetic) + _peaks(np.abs(e.potential)) + weight
        still = 0.5 * slow**2 * _added((weights + inertias)[:, None], e.of_bodies)
        floor = np.maximum(STEADY * _peaks(_added(spin, e.of_bodies)), noise * size)
        return cls(eq, courses[0].t, e.balance, at_play, np.maximum(floor, still), share, courses[0].works)

    @property
    def off(self) -> Array:
        """By how many times what is told each group is out of balance."""
        return np.abs(self.balance).max(axis=1) / np.maximum(self.share * self.at_play, self.floor)[:, -1]

    def worst(self) -> int | None:
        """The group that balances least by what it is compared with; None if all balance."""
        off = self.off
        return int(np.argmax(off)) if off.max() > 1.0 else None

    def first(self, group: int) -> int:
        """The first instant at which a group does not balance."""
        limit = np.maximum(self.share * self.at_play[group], self.floor[group])
        return int(np.argmax(np.abs(self.balance[group]) > limit))

    def bodies(self, group: int) -> str:
        """The bodies of a group in words; "" if there is no other."""
        names = [str(b.body) for b, of in zip(self.eq.tables.bodies, self.eq.tables.groups, strict=True) if of == group]
        if len(self.balance) == 1:
            return ""
        return f" of {names[0]}" + (" and what it is connected with" if len(names) > 1 else "")

    def culprit(self, group: int, begin: int, end: int) -> str:
        """The element of a group that did most of the work between two instants; "" if none stands out."""
        own = [name for name, of in zip(self.works, self.eq.tables.work_groups, strict=True) if of == group]
        work = {name: float(np.abs(np.diff(self.works[name][begin : end + 1])).sum()) for name in own}
        name = max(work, key=work.__getitem__, default="")
        return name if name and work[name] > MAIN * sum(work.values()) else ""


def _numbered(groups: NDArray[np.int64], of_bodies: NDArray[np.int64], many: int) -> NDArray[np.int64]:
    """Numbers of groups in the account of so many runs."""
    if many == 1:
        return groups
    count = int(of_bodies.max(initial=0)) + 1
    return (groups + count * np.arange(many)[:, None]).ravel()


def _by_row(masses: Sequence[tuple[float, Array, Array]], n: int) -> tuple[Array, ...]:
    """Mass, centre of mass and inertia of a body in several runs, for each of their n rows."""
    return tuple(np.repeat(np.array(values), n, axis=0) for values in zip(*masses, strict=True))


def _by_run(courses: Array, n: int) -> Array:
    """What bodies have in the rows of all runs, (bodies, rows, ...), run after run: (runs times bodies, n, ...)."""
    if courses.shape[1] == n:
        return courses
    runs = courses.reshape(len(courses), -1, n, *courses.shape[2:])
    return runs.swapaxes(0, 1).reshape(-1, n, *courses.shape[2:])


def _stacked(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _added(courses: Array, groups: NDArray[np.int64], count: int | None = None) -> Array:
    """Sums by group."""
    total = np.zeros((int(groups.max(initial=0)) + 1 if count is None else count, courses.shape[1]))
    _gather(np.add, total, groups, courses)
    return total


def _gather(combine: np.ufunc, into: Array, groups: NDArray[np.int64], courses: Array) -> None:
    """Combine each row of the courses with the row of its group, all at once where there is one group."""
    if len(into) == 1 and len(courses):
        combine(into, combine.reduce(courses, axis=0), out=into)
    else:
        combine.at(into, groups, courses)


def _peaks(courses: Array) -> Array:
    """The largest value up to each instant."""
    return np.maximum.accumulate(courses, axis=1)


def _ranges(courses: Array) -> Array:
    """How far values are apart up to each instant."""
    return _peaks(courses) + _peaks(-courses)


def _velocities_of_centers(eq: Equations, y: Array, twists: tuple[Array, Array], masses: Sequence[Any]) -> Array:
    """Velocities of the centres of mass, (bodies, rows, 3); of a flexible body that of its undeformed shape."""
    velocity, omega = twists
    away = [k for k, (_, center, _) in enumerate(masses) if np.any(center)]
    if away:
        velocity = velocity.copy()
        for k in away:
            _, rotation = eq.tables.bodies[k].formulation.poses(eq.split(y)[0][:, eq.tables.bodies[k].q_slice])
            arm = (rotation @ np.asarray(masses[k][1])[..., None])[..., 0]
            velocity[k] += np.cross(omega[k], arm)
    return velocity


def _motions(velocity: Array, omega: Array, masses: Array, inertias: Array) -> tuple[Array, Array]:
    """About the kinetic energies of each body of what its motion differs from that at the start, and of its spin."""
    moved = masses * _square(velocity - velocity[:, :1]) + inertias * _square(omega - omega[:, :1])
    return 0.5 * moved, 0.5 * inertias * _square(omega)


def _square(vectors: Array) -> Array:
    return (vectors**2).sum(axis=2)


def remarks(eq: Equations, t: Array, y: Array, integrator: Integrator, held: bool = True) -> list[str]:
    """The warning that the energy of a run does not balance at some of its states; none if it does.

    `held` says whether constraints are corrected at every step, so that they do no work by drifting.
    """
    if len(t) and not (moving := np.isfinite(y[:, : eq.n_q + eq.n_v]).all(axis=1)).all():
        t, y = t[moving], y[moving]
    if len(t) < 2 or not eq.tables.bodies:
        return []
    share, noise, slow = _measured_by(integrator)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # of a motion that goes to infinity
            courses = [Course.of(eq, t, y)]
            energies = Energies.of(eq, courses)
            if energies.surely_balance(share, noise):
                return []
            account = Account.of(courses, energies, share, noise, slow)
    except MbframeError:  # of a user's energy: that of the motion stays unknown, as whoever asks for it is told
        return []
    finite = (np.isfinite(account.balance) & np.isfinite(account.at_play)).all(axis=0)
    if not finite.all():
        k = int(np.argmin(finite))
        eq.update(t[k], *eq.split(y[k]))
        # A motion that diverges leaves no energy a number; then no element is to blame.
        if not diverged(eq) and (blamed := eq.stages.energy_not_finite(float(t[k]))) is not None:
            return [blamed]
        return [f"the energy grows beyond all numbers from t = {t[k]:.6g} s on: {_remedy(integrator, held)}"]
    if (group := account.worst()) is None:
        return []
    balance, first = account.balance[group], account.first(group)
    worst = int(np.argmax(np.abs(balance)))
    name = account.culprit(group, max(first - 1, 0), first)
    where = f"; most of the work was that of {eq.system[name]} then" if name else ""
    what = "appeared" if balance[worst] > 0.0 else "disappeared"
    wrong_by = misstated(eq, t, y) or _jumping(eq, y[0], t, float(t[first]))
    if not wrong_by:
        said = _judged(integrator, float(balance[worst]), float(account.at_play[group, -1]))
        wrong_by = f"{said}: {_remedy(integrator, held)}"
    return [
        f"the energy{account.bodies(group)} does not balance from t = {t[first]:.6g} s on: by t = {t[worst]:.6g} s "
        f"{abs(balance[worst]):.3g} J have {what} that no element gave or took, where the energies of the motion are "
        f"of the size of {account.at_play[group, -1]:.3g} J{where}. {wrong_by}"
    ]


def doubtful(eq: Equations, courses: Sequence[Course], integrator: Integrator) -> list[int]:
    """Which of several runs with the same equations `remarks` may have something to say about."""
    n = max(len(course.t) for course in courses)
    # The last instant is repeated where there are fewer: nothing happens there.
    rows = [np.minimum(np.arange(n), len(course.t) - 1) for course in courses]
    alike = [
        replace(
            course,
            t=course.t[some],
            y=course.y[some],
            potential=course.potential[some],
            works={name: work[some] for name, work in course.works.items()},
        )
        for course, some in zip(courses, rows, strict=True)
    ]
    with np.errstate(all="ignore"):  # of motions that go to infinity, and of those at rest
        off = Account.of(alike, Energies.of(eq, alike), *_measured_by(integrator)).off
    return np.flatnonzero(~(off.reshape(len(courses), -1) <= 1.0).all(axis=1)).tolist()


def _measured_by(integrator: Integrator) -> tuple[float, float, float]:
    """By an integrator: the share of energies at play, the part of all, and the speed below which nothing is told."""
    rtol = float(getattr(integrator, "rtol", 0.0)) if integrator.adaptive else 0.0
    slow = float(getattr(integrator, "atol", None) or ABSOLUTE * rtol) if integrator.adaptive else 0.0
    share = GROSS if integrator.damps else min(max(FINE, ADDED * rtol), GROSS)
    return share, max(NOISE, rtol**2), max(STILL, slow)


def _judged(integrator: Integrator, off: float, size: float) -> str:
    """What it means that energy was lost (below zero) or gained, in a motion with energies of some size."""
    if off < 0.0 and integrator.damps:
        return f"{type(integrator).__name__} damps what its steps do not resolve. If that is to be kept"
    return "The motion is wrong" if abs(off) > GROSS * size else "The motion is inaccurate"


def _jumping(eq: Equations, y: Array, t: Array, end: float) -> str:
    """What to say of what jolts the bodies before the energy is wrong, which no step size helps; else ""."""
    start = float(t[0])
    jolts: list[Element] = [j for j in eq.system.joints if isinstance(j, Drive) and any(j.remarks(start, end))]
    looked = time_logic(eq, y, start, float(t[-1])) if not jolts else ()
    jolts += [element for element, name, found in looked if name in EQUATIONS and np.any(found.jumps <= end)]
    if not jolts:
        return ""
    return f"It takes an infinite force to follow the jump of {jolts[0]}: no tolerance and no step gives its work"


def _remedy(integrator: Integrator, held: bool) -> str:
    if integrator.adaptive:
        todo = "reduce rtol"
    elif integrator.implicit:
        todo = "reduce dt"
    else:
        todo = "reduce dt, or let a tolerance choose the step: DormandPrince(), for stiff elements RadauIIA()"
    drifting = "" if held else ", or let no constraint drift: DirectCorrection()"
    return f"{todo}{drifting}; result.energy.balance shows where"
