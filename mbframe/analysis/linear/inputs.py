"""Inputs of linear equations: loads on bodies, and motions of drivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError, Problem
from ...forces.loads import PointForce, Torque
from ...joints.driven import Drive
from ...measures import Measure
from ...signals import Input
from ..states.own_states import acting_states
from ..states.own_states import places as places_of
from .linear_equations import OperatingPoint, TurningFrame, variations, width
from .signals import load_row, marker_state, measure_row

Array = NDArray[np.float64]

STEP: Final = 0.02  # of an input, or of its value if that is larger
LEVELS: Final = 3  # of steps, each half of the one before


@dataclass(frozen=True)
class Inputs:
    """Named inputs: loads f = loads^T input on the small motions, or drivers.

    A driver adds w to its function of time, so that its equation becomes J xi = driven w; its input is the acceleration
    w''.
    """

    names: list[str]
    loads: Array  # a row each, zero for a driver
    driven: dict[int, tuple[int, float]]  # of drivers, by number: which holonomic equation, and its coefficient
    own: Array  # rates of the own states that count, a row for each input


def input_signals(point: OperatingPoint, places: Mapping[str, slice], inputs: Sequence[Any]) -> Inputs:
    """The inputs of elements.

    The load of a measure is the force along it (or the torque about it) that does work with it: on both bodies. A
    `PointForce` or `Torque` has three inputs, its components. A driver has one for each of its functions.
    """
    system, state = point.eq.system, point.state
    names: list[str] = []
    rows: list[Array] = []
    own: dict[int, Array] = {}
    driven: dict[int, tuple[int, float]] = {}
    for given in inputs:
        element = system[given] if isinstance(given, str) else given
        if isinstance(element, Input):
            load, rates = _by_input(point, element.name)
            own[len(names)] = rates
            names.append(element.name)
            rows.append(variations(point, TurningFrame())[1].T @ load)
        elif isinstance(element, Measure):
            names.append(element.name)
            rows.append(measure_row(element, state, places))
        elif isinstance(element, PointForce | Torque):
            end = marker_state(element.j, state)
            axes = end.axes if element.axes == "body" else element.i.axes
            for letter, direction in zip("xyz", axes.T, strict=True):
                names.append(f"{element.name} {letter}")
                none = np.zeros(3)
                force, torque = (direction, none) if isinstance(element, PointForce) else (none, direction)
                modal = end.shape.T @ np.concatenate([force, torque])
                rows.append(load_row(places, {element.body_j.name: (force, torque + np.cross(end.arm, force), modal)}))
        elif isinstance(element, Drive):
            functions = element.functions()
            for function, equation in zip(functions, _equations(point, element), strict=True):
                driven[len(names)] = equation
                names.append(f"{element.name}{f' {function}' if len(functions) > 1 else ''} acceleration")
                rows.append(np.zeros(width(places)))
        else:
            message = (
                f"found {given!r}; allowed are inputs, measures, PointForce, Torque and driver elements, or their "
                "names; pass one of these"
            )
            raise ModelError([Problem("linearize", "inputs", message)])
    kept = places_of(point.eq, acting_states(point.eq, state.t))
    rates_of_own = np.zeros((len(rows), len(kept)))
    for number, rates in own.items():
        rates_of_own[number] = rates[kept]
    return Inputs(names, np.array(rows).reshape(len(rows), width(places)), driven, rates_of_own)


def _by_input(point: OperatingPoint, name: str) -> tuple[Array, Array]:
    """Derivatives of the forces Q and of the rates of own states with respect to an input.

    Differences of halved steps, extrapolated to step zero: exact up to rounding where the input acts linearly.
    """
    eq, place = point.eq, point.eq.tables.inputs[name]
    step = STEP * max(1.0, abs(float(point.z[place])))
    levels: list[Array] = []
    for _ in range(LEVELS):
        sides = []
        for h in (step, -step):
            z = point.z.copy()
            z[place] += h
            sides.append(np.concatenate([eq.evaluate(point.state.t, point.q, point.v, z).force, eq.work.z_rate]))
        row = [(sides[0] - sides[1]) / (2.0 * step)]
        for k, older in enumerate(levels):
            row.append(row[k] + (row[k] - older) / (4.0 ** (k + 1) - 1.0))
        levels, step = row, 0.5 * step
    eq.evaluate(point.state.t, point.q, point.v, point.z)
    return levels[-1][: eq.n_v], levels[-1][eq.n_v :]


def _equations(point: OperatingPoint, driver: Drive) -> list[tuple[int, float]]:
    """Number among `LinearEquations.holonomic`, and coefficient, of each equation of a driver."""
    numbers = np.cumsum(point.joint_rows) - 1  # intrinsic equations are left out there
    first: dict[int, Any] = {}  # the term with the function, which stands before others of its equation
    for c in point.eq.tables.constraints:
        if c.owner_name == driver.name:
            first.setdefault(c.row, c.constraint)
    return [(int(numbers[row]), float(term.coefficient)) for row, term in first.items()]
