"""Roots against the nonlinear motion: disturb a steady motion along a mode, and see how the disturbance grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError, ModelError, Problem, check_kinds
from ...results import Result
from ...solvers.integrators import DormandPrince
from ...solvers.simulate import simulate
from ...state import State
from ...system import System
from .linear_equations import TurningFrame, collected
from .linearize import Linearization, Mode, linearize
from .steadiness import advanced

if TYPE_CHECKING:
    from ...plots.style import Plot

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SAMPLES = 201
FOLDS = 3.0  # time constants, or
TURNS = 5.0  # periods: for how long a disturbance is watched, whichever is shorter


@dataclass(frozen=True)
class PerturbedMotion:
    """A simulation that starts beside a steady motion, displaced along a mode.

    Attributes
    ----------
    eigenvalue
        The root of the mode.
    measured
        The root by the simulation: the growth rate of the disturbance, and its angular frequency as imaginary part.
    t, amplitude
        Instants, and the (complex) amplitude of the mode in the motion.
    result
        The simulation.
    """

    eigenvalue: complex
    measured: complex
    t: Array
    amplitude: Complex
    result: Result

    @property
    def error(self) -> float:
        """|measured - eigenvalue|, relative to the size of the root."""
        return abs(self.measured - self.eigenvalue) / abs(self.eigenvalue)

    def plot(self, *, title: str | None = None, theme: str = "light") -> Plot:
        """The amplitude over time beside what the root predicts."""
        from ...plots.stability import perturbation_plot

        return perturbation_plot(self, title, theme)


def perturb_and_simulate(
    system: System,
    mode: Mode | None = None,
    *,
    state: State | None = None,
    frame: TurningFrame | None = None,
    amplitude: float = 1e-4,
    t_end: float | None = None,
    **options: Any,
) -> PerturbedMotion:
    """Displace a steady motion along a mode, simulate the nonlinear equations, and measure growth rate and frequency.

    Parameters
    ----------
    system
        What moves.
    mode
        One of the `modes` of its linearization; by default the one that grows fastest, or decays most slowly.
    state, frame
        The equilibrium or steady motion, as in `mb.linearize`, if no mode is given.
    amplitude
        Largest displacement (m) or rotation (rad) at the start. The difference between root and measurement is of its
        order or smaller, and can be told from the errors of the simulation if it is not too small.
    t_end
        For how long, s; by default three time constants of the mode, or five periods if these are shorter.
    **options
        For `mb.simulate`; its tolerances are by default much smaller than the disturbance.
    """
    check_kinds("perturb_and_simulate", system=(system, System), mode=(mode, Mode))
    if mode is None:
        counted = [m for m in linearize(system, state, frame).modes if not m.ignorable]
        if not counted:
            raise AnalysisError("all roots are ignorable: there is no mode along which the motion could be disturbed")
        mode = max(counted, key=lambda m: (m.eigenvalue.real, m.eigenvalue.imag))
    elif mode.ignorable or not mode.eigenvalue:
        message = f"found the root {mode.eigenvalue:.6g} ({mode.explanation}); choose one that grows, decays or swings"
        raise ModelError([Problem("perturb_and_simulate", "mode", message)])
    lin: Linearization = mode.linearization
    root = mode.eigenvalue
    if t_end is None:
        spans = [FOLDS / abs(root.real)] if root.real else []
        spans += [2.0 * np.pi * TURNS / abs(root.imag)] if root.imag else []
        t_end = min(spans)
    t = np.linspace(0.0, t_end, SAMPLES)
    start = mode.state(amplitude)
    options = {"integrator": DormandPrince(rtol=1e-11, atol=1e-7 * amplitude)} | options
    result = simulate(system, t_end, initial=start, t_eval=start.t + t, **options)
    amplitudes = np.array([_amplitude(lin, mode, result.state(k), t[k]) for k in range(SAMPLES)])
    logarithm = np.log(np.abs(amplitudes)) + 1j * np.unwrap(np.angle(amplitudes))
    measured = complex(np.polyfit(t, logarithm, 1)[0])
    return PerturbedMotion(root, measured, t, amplitudes, result)


def _amplitude(lin: Linearization, mode: Mode, state: State, elapsed: float) -> complex:
    """The complex c with which Re(c shape), Re(c root shape) comes nearest to the small motion and its velocity.

    Changes that nothing resists are fitted besides: a disturbance leaves some of them behind, by the square of its
    size.
    """
    rate = abs(mode.eigenvalue)
    shape = lin.motion_of(mode)
    column = np.concatenate([rate * shape, mode.eigenvalue * shape])
    columns = [column.real, -column.imag] if mode.eigenvalue.imag else [column.real]
    n = len(columns)
    for other in lin.modes:
        if other.ignorable:
            free = lin.motion_of(other)
            parts = [free.real, free.imag] if np.any(free.imag) else [free.real]
            columns += [np.concatenate(pair) for x in parts for pair in ((rate * x, 0.0 * x), (0.0 * x, x))]
    motion, velocity = small_motion(lin, state, elapsed)
    found = np.linalg.lstsq(np.array(columns).T, np.concatenate([rate * motion, velocity]), rcond=None)[0]
    return complex(*found[:n])


def small_motion(lin: Linearization, state: State, elapsed: float) -> tuple[Array, Array]:
    """xi and xi' of a state against the reference motion some time after the linearization, in the frame's axes."""
    from scipy.spatial.transform import Rotation

    reference = advanced(lin.state, lin.frame, elapsed)
    R, spin = lin.frame.turned(elapsed), lin.frame.angular_velocity
    motions, velocities = {}, {}
    for name, m in state.motions.items():
        r = reference.motions[name]
        dr, phi = m.position - r.position, Rotation.from_matrix(m.rotation @ r.rotation.T).as_rotvec()
        # dA = phi x A, so that w = w_0 + phi' + phi x w_0
        dr_rate = m.velocity - r.velocity - np.cross(spin, dr)
        phi_rate = m.angular_velocity - r.angular_velocity - np.cross(phi, r.angular_velocity) - np.cross(spin, phi)
        motions[name] = R.T @ dr, R.T @ phi, m.modal_coordinates - r.modal_coordinates
        velocities[name] = R.T @ dr_rate, R.T @ phi_rate, m.modal_velocities - r.modal_velocities
    return collected(lin.places, motions), collected(lin.places, velocities)
