"""How fast roots move with a parameter of an element."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError, Problem
from ...parameters import Element
from ...state import State
from ...system import System
from ..linear.linear_equations import TurningFrame
from ..linear.linearize import Linearization, linearize
from ..linear.spectrum import Spectrum, partners
from .number import numeric_parameter

if TYPE_CHECKING:
    from ...plots.style import Plot

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

STEP = 1e-3  # of the parameter, relative to its size
LEAST_STEP = 1e-4  # of a parameter that is zero
# Steps and weights of differences of the fourth order: on both sides, and on one where there is a bound.
CENTRAL = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
FORWARD = {0: -25 / 12, 1: 4.0, 2: -3.0, 3: 4 / 3, 4: -1 / 4}
BACKWARD = {-step: -weight for step, weight in FORWARD.items()}


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives of the roots with respect to a parameter p of an element.

    Attributes
    ----------
    name
        Of the parameter, such as "frame.mass".
    value
        Of the parameter.
    eigenvalues
        The roots, in the order of `Linearization.eigenvalues`.
    derivatives
        d(eigenvalue)/dp, 1/s per unit of the parameter: (roots, *shape of the parameter). Those of an inertia are with
        respect to the elements of the tensor, of which both I_ij and I_ji change. 0 for ignorable roots, nan for
        defective ones, which have no derivative.
    """

    name: str
    value: Any
    eigenvalues: Complex
    derivatives: Complex

    @property
    def relative(self) -> Complex:
        """p d(eigenvalue)/dp, 1/s: what a change of the parameter by 1 % does to a root, a hundred times."""
        return np.asarray(self.derivatives * np.asarray(self.value), complex)

    def plot(self, *, title: str | None = None, theme: str = "light") -> Plot:
        """The roots in the complex plane, with arrows in the directions in which they move as the parameter grows."""
        from ...plots.stability import sensitivity_plot

        return sensitivity_plot(self, title, theme)


def sensitivity(
    system: System,
    element: Element | str,
    parameter: str,
    state: State | Callable[[System], State] | None = None,
    frame: TurningFrame | None = None,
    step: float | None = None,
) -> Sensitivity:
    """Differentiate the roots of a system with respect to a declared parameter of any of its elements.

    By differences of the fourth order of the roots, which are recognized by their modes: errors are near 1e-9 of the
    derivative for well-conditioned roots. The system itself is not changed.

    Parameters
    ----------
    system
        What to linearize; as `element` it stands for its own parameters, such as gravity.
    element, parameter
        Whose parameter, and its name: `mb.sensitivity(bicycle, "frame", "mass")`.
    state
        Where to linearize, as in `mb.linearize`. If it depends on the parameter (an equilibrium that shifts, a steady
        turn), give the function that finds it, such as `lambda system: mb.steady(system, ...)`.
    frame
        The frame of a steady turn.
    step
        Of the differences, in the unit of the parameter; by default 1e-3 of its size.
    """
    twin = copy.deepcopy(system)
    varied, declared = numeric_parameter(twin, element, parameter)

    def linearized() -> Linearization:
        return linearize(twin, state(twin) if callable(state) else state, frame)

    here = linearized()
    value = np.array(getattr(varied, parameter), float)
    base = Spectrum.of(here)
    kept = [k for k, mode in enumerate(here.modes) if not mode.ignorable]
    derivatives = np.zeros((len(here.modes), *value.shape), complex)
    chosen = step or STEP * float(np.abs(value).max()) or LEAST_STEP
    for place in np.ndindex(value.shape):
        if declared.kind == "inertia" and place[0] > place[1]:
            derivatives[(slice(None), *place)] = derivatives[(slice(None), *place[::-1])]
            continue
        direction = np.zeros(value.shape)
        direction[place] = chosen
        if declared.kind == "inertia":
            direction[place[::-1]] = chosen
        for k, slope in zip(kept, _slopes(varied, parameter, value, direction, linearized, base), strict=True):
            derivatives[(k, *place)] = slope / chosen
    derivatives[~np.isfinite(here.conditions) & [not mode.ignorable for mode in here.modes]] = complex(np.nan, np.nan)
    return Sensitivity(f"{varied.name}.{parameter}", value[()], here.eigenvalues, derivatives)


def _slopes(
    varied: Element,
    parameter: str,
    value: Array,
    direction: Array,
    linearized: Callable[[], Linearization],
    base: Spectrum,
) -> Complex:
    """Derivatives of the roots along a direction of the parameter."""
    refused: ModelError | None = None
    for stencil in (CENTRAL, FORWARD, BACKWARD):
        slopes = np.zeros(len(base.roots), complex)
        try:
            for steps, weight in stencil.items():
                varied.update(**{parameter: value + steps * direction})
                there = Spectrum.of(linearized())
                for i, j in partners(base, there):
                    slopes[i] += weight * there.roots[j]
            return slopes
        except ModelError as error:  # a bound of the parameter: look to the other side
            refused = refused or error
        finally:
            varied.update(**{parameter: value})
    raise refused or ModelError([Problem(str(varied), parameter, "cannot be varied")])
