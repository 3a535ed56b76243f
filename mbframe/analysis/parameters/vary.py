"""One declared parameter of a system as the variable of sweeps, root loci and critical values."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ModelError
from ...parameters import Element
from ...state import State
from ...system import System
from ..linear.linear_equations import TurningFrame
from ..linear.linearize import Linearization, linearize
from .number import Number, numeric_parameter


@dataclass(frozen=True)
class Variation:
    """Makes copies of a system in which one parameter has another value: see `vary`."""

    system: System
    number: Number
    state: State | Callable[[System], State] | None
    frame: TurningFrame | None

    def __call__(self, value: Any) -> System | Linearization:
        twin = self.number.applied(copy.deepcopy(self.system), value)
        if self.state is None and self.frame is None:
            return twin
        return linearize(twin, self.state(twin) if callable(self.state) else self.state, self.frame)


def vary(
    system: System,
    element: Element | str,
    parameter: str,
    index: int | tuple[int, ...] | None = None,
    *,
    state: State | Callable[[System], State] | None = None,
    frame: TurningFrame | None = None,
) -> Variation:
    """A function of one declared parameter of a system, for `mb.root_locus`, `mb.critical_values` and `mb.sweep`.

    `mb.root_locus(mb.vary(bicycle, "frame", "mass"), np.linspace(60, 110, 51))`. Each call makes a copy of the system
    as it was when `vary` was called; the system itself is not changed.

    Parameters
    ----------
    system
        Where the parameter belongs; as `element` it stands for its own parameters, such as gravity.
    element, parameter
        Whose parameter, and its name.
    index
        Which component of a vector or matrix; without it the whole parameter is replaced. Of an inertia (i, j) changes
        both elements of the tensor.
    state, frame
        Where to linearize, as in `mb.linearize`; without them the system is returned, which is then linearized about
        the state in which it is described. If the state depends on the parameter give the function that finds it, such
        as `mb.equilibrium`.
    """
    owner, _ = numeric_parameter(system, element, parameter)
    value = np.array(getattr(owner, parameter), float)
    try:
        wrong = index is not None and np.ndim(value[index]) != 0
    except (IndexError, TypeError):
        wrong = True
    if wrong:
        message = f"found the index {index!r}; allowed is one of a component, its shape is {value.shape}"
        raise ModelError([owner.problem(parameter, message)])
    number = Number(None if owner is system else owner.name, parameter, index)
    return Variation(copy.deepcopy(system), number, state, frame)
