"""The simulation: from a system and a choice of strategies to a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..bodies.formulations import Formulation
from ..disk.atomic import FilePath
from ..results import Result
from ..state import State
from ..system import System
from .acceleration import Acceleration
from .integrators import Integrator
from .prepare import prepared
from .progress import reporter
from .stabilization import Stabilization


def simulate(
    system: System,
    t_end: float,
    dt: float | None = None,
    *,
    initial: State | None = None,
    formulation: Formulation | None = None,
    acceleration: Acceleration | None = None,
    stabilization: Stabilization | None = None,
    integrator: Integrator | None = None,
    t_eval: ArrayLike | None = None,
    events: Sequence[Any] = (),
    output: FilePath | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Result:
    """Simulate a system from its described state (or `initial`) to the time `t_end`.

    Parameters
    ----------
    system
        What to simulate.
    t_end
        End of the simulation, s. It starts at the time of `initial`, by default 0.
    dt
        Step of a fixed-step integrator; first step tried by an adaptive one, s.
    initial
        State to start from; by default the one in which the model is described.
    formulation
        Coordinates of the rigid bodies, instead of their own choice.
    acceleration, stabilization, integrator
        Strategies. Defaults: `AugmentedFormulation()`, `DirectCorrection(tolerance=1e-10)`, and
        `DormandPrince(rtol=1e-6)`, or `RungeKutta4()` if `dt` is given.
    t_eval
        Increasing instants at which the state is stored (corrected like all others); by default every accepted step.
    events
        Functions f(t, state) whose zeros are looked for; see `Event`.
    output
        HDF5 file to write the states to as they are computed, so that memory stays bounded and a run that is killed
        keeps what it had. The result then reads from that file; a result that is there is replaced.
    progress
        True for a progress bar, or a function that is called with the current time.

    Returns
    -------
    Result
        Also after Ctrl-C, with what was computed until then. A failure raises `SimulationError`, which carries the
        time, the culprit and the partial result.
    """
    ready = prepared(
        "simulate",
        system,
        t_end,
        dt,
        initial=initial,
        formulation=formulation,
        acceleration=acceleration,
        stabilization=stabilization,
        integrator=integrator,
        t_eval=t_eval,
        events=events,
        output=output,
    )
    shown = reporter(progress, ready.start, float(t_end))
    return ready.begin().complete(float(t_end), shown)
