"""One declared parameter of a system as the variable of sweeps, root loci and critical values."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError, check_kinds
from ..parameters import Element, Parameter
from ..state import State
from ..system import System
from .linear_equations import TurningFrame
from .linearize import Linearization, linearize

KINDS = ("number", "angle", "vector", "point", "axis", "free vector", "matrix", "inertia")


def numeric_parameter(system: System, element: Element | str, parameter: str) -> tuple[Element, Parameter]:
    """The element of a system, or the system itself, and its parameter, which must hold numbers."""
    check_kinds("numeric parameter", system=(system, System))
    name = element if isinstance(element, str) else element.name
    found: Element = system if name == system.name and name not in system else system[name]
    declared = found.parameters().get(parameter)
    if declared is None or declared.kind not in KINDS or getattr(found, parameter) is None:
        allowed = [key for key, p in found.parameters().items() if p.kind in KINDS and getattr(found, key) is not None]
        message = f"found {parameter!r}; allowed are the numbers and vectors that it has: {', '.join(allowed)}"
        raise ModelError([found.problem(parameter, message)])
    return found, declared


@dataclass(frozen=True)
class Variation:
    """Makes copies of a system in which one parameter has another value: see `vary`."""

    system: System
    element: str
    parameter: str
    index: int | tuple[int, ...] | None
    state: State | Callable[[System], State] | None
    frame: TurningFrame | None

    def __call__(self, value: Any) -> System | Linearization:
        twin = copy.deepcopy(self.system)
        found, declared = numeric_parameter(twin, self.element, self.parameter)
        new = value
        if self.index is not None:
            new = np.array(getattr(found, self.parameter), float)
            new[self.index] = value
            if declared.kind == "inertia" and isinstance(self.index, tuple):
                new[self.index[::-1]] = value
        found.update(**{self.parameter: new})
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
    found, _ = numeric_parameter(system, element, parameter)
    value = np.array(getattr(found, parameter), float)
    try:
        wrong = index is not None and np.ndim(value[index]) != 0
    except (IndexError, TypeError):
        wrong = True
    if wrong:
        message = f"found the index {index!r}; allowed is one of a component, its shape is {value.shape}"
        raise ModelError([found.problem(parameter, message)])
    return Variation(copy.deepcopy(system), found.name, parameter, index, state, frame)
