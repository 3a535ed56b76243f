"""Whether the energy of a run balances: a warning where it does not, for a run that went wrong without an error.

The balance B = E - E(0) - work (`results.Energy`) vanishes in the exact solution. It is compared with the size S of the
energies at play, which are those that change: the largest of the ranges of the kinetic energy of a body, of the
potential energy and of the work of an element, and a small part of the kinetic energy, which a body may exchange within
itself. A body that moves at constant speed, however fast, does not hide what happens beside it. Runs of sensible
accuracy stay below S/50; beyond S/10 a run is wrong. A tolerance that allows a relative error r in each of n steps
allows 2 n r S, because the kinetic energy is quadratic; a quarter of S is wrong in any case. Integrators that damp what
their steps do not resolve may lose a quarter of S; to gain is not in their nature either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..equations.equations import Equations
from ..equations.failures import diverged
from ..errors import MbframeError
from ..joints.driven import Drive
from ..plane import lifted
from ..results import Energy, energies_by_body
from .integrators import Integrator
from .stated_energies import misstated

Array = NDArray[np.float64]

GROSS: Final = 0.1  # share of the energies at play
LOST: Final = 0.25  # the same for what an integrator loses by its numerical damping
CONSTANT: Final = 0.05  # share of the kinetic energy that is at play in any case
NOISE: Final = 1e-6  # share of all energy below which nothing is told: a system at rest exchanges rounding errors only
NOTHING: Final = 1e-100  # J: the far tail of a load on a body at rest
MAIN: Final = 0.5  # share of the work at fault by which an element is named


@dataclass(frozen=True)
class Account:
    """Energies at some instants of a run, and what they are to be compared with."""

    t: Array
    energy: Energy
    kinetic: list[Array]
    """By body."""
    weight: float
    """Energy that all bodies need to be lifted by a metre, J."""

    @classmethod
    def of(cls, eq: Equations, t: Array, y: Array) -> Account:
        gravity = lifted(eq.system.gravity)
        masses = [b.body.mass_properties() for b in eq.tables.bodies]
        weight = float(np.linalg.norm(gravity)) * sum(mass for mass, _, _ in masses)
        with np.errstate(over="ignore", invalid="ignore"):  # of a motion that goes to infinity
            return cls(t, *energies_by_body(eq, masses, gravity, t, y), weight)

    def at_play(self, end: int | None = None) -> float:
        """S up to an instant."""
        e = self.energy
        ranges = [float(np.ptp(course[:end])) for course in (e.potential, *self.kinetic, *e.work.values())]
        return max(CONSTANT * float(e.kinetic[:end].max()), *ranges)

    def size(self) -> float:
        """All energy that there is, at rest too."""
        e = self.energy
        return float(np.abs(e.kinetic).max() + np.abs(e.potential).max()) + self.weight

    def culprit(self, begin: int, end: int) -> str:
        """The element that did most of the work between two instants; "" if none stands out."""
        work = {name: float(np.abs(np.diff(w[begin : end + 1])).sum()) for name, w in self.energy.work.items()}
        name = max(work, key=work.__getitem__, default="")
        return name if name and work[name] > MAIN * sum(work.values()) else ""


def remarks(eq: Equations, t: Array, y: Array, integrator: Integrator, steps: int, held: bool = True) -> list[str]:
    """The warning that the energy of a run does not balance at some of its states; none if it does.

    `held` says whether constraints are corrected at every step, so that they do no work by drifting.
    """
    moving = np.isfinite(y[:, : eq.n_q + eq.n_v]).all(axis=1) if len(t) else np.zeros(0, bool)
    t, y = t[moving], y[moving]
    if len(t) < 2:
        return []
    try:
        account = Account.of(eq, t, y)
    except MbframeError:  # of a user's energy: that of the motion stays unknown, as whoever asks for it is told
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        balance, at_play = account.energy.balance, account.at_play()
    if not np.isfinite(balance).all() or not at_play < np.inf:
        k = int(np.argmin(np.isfinite(balance)))
        eq.evaluate(t[k], *eq.split(y[k]))
        # A motion that diverges leaves no energy a number; then no element is to blame.
        if not diverged(eq) and (blamed := eq.stages.energy_not_finite(float(t[k]))) is not None:
            return [blamed]
        return [f"the energy grows beyond all numbers from t = {t[k]:.6g} s on: {_remedy(integrator, held)}"]
    rtol = float(getattr(integrator, "rtol", 0.0)) if integrator.adaptive else 0.0
    share = min(max(GROSS, 2.0 * rtol * steps), LOST)
    lost = max(share, LOST) if integrator.damps else share
    floor = max(NOISE, rtol) * account.size()

    def wrong(scale: float, values: Array) -> NDArray[np.bool_]:
        return (values > max(share * scale, floor)) | (values < -max(lost * scale, floor))

    if at_play < NOTHING or not wrong(at_play, balance).any():
        return []
    early = [bool(wrong(account.at_play(k + 1), balance[k : k + 1])[0]) for k in range(len(t))]
    first, worst = early.index(True), int(np.argmax(np.abs(balance)))
    name = account.culprit(max(first - 1, 0), first)
    where = f"; most of the work was that of {eq.system[name]} then" if name else ""
    what = "appeared" if balance[worst] > 0.0 else "disappeared"
    wrong_by = misstated(eq, t, y) or _jumping(eq, t[0], t[first])
    wrong_by = wrong_by or f"The motion is wrong: {_remedy(integrator, held)}"
    return [
        f"the energy does not balance from t = {t[first]:.6g} s on: by t = {t[worst]:.6g} s "
        f"{abs(balance[worst]):.3g} J have {what} that no element gave or took, where the energies of the motion are "
        f"of the size of {at_play:.3g} J{where}. {wrong_by}"
    ]


def _jumping(eq: Equations, start: float, end: float) -> str:
    """What to say of a driver that jolts the bodies before the energy is wrong, which no step size helps; else ""."""
    for drive in eq.system.joints:
        if isinstance(drive, Drive) and any(drive.remarks(float(start), float(end))):
            return f"It takes an infinite force to follow the jump of {drive}: no tolerance and no step gives its work"
    return ""


def _remedy(integrator: Integrator, held: bool) -> str:
    if integrator.adaptive:
        todo = "reduce rtol"
    elif integrator.implicit:
        todo = "reduce dt"
    else:
        todo = "reduce dt, or let a tolerance choose the step: DormandPrince(), for stiff elements RadauIIA()"
    drifting = "" if held else ", or let no constraint drift: DirectCorrection()"
    return f"{todo}{drifting}; result.energy.balance shows where"
