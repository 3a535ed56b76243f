"""What elements give at all instants of a result: wrenches and outputs of forces, values of measures.

The motion of both markers comes from the stored states, for all instants at once. Then the methods of a force element
are run by a compiled stage, those of measures and of few instants by Python, with the same values to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .joints.coordinates import UNITS, coordinate
from .kernels.layout import PLACES
from .measures import Measure, angle, angle_rate
from .registry import is_ours
from .signals import named_by, with_signals
from .state import nearest_turn

if TYPE_CHECKING:
    from .equations.tables import Tables
    from .results import Result

Array = NDArray[np.float64]

FEW = 500
"""Instants for which Python has called a method before its stage is read from the cache."""
AT_ONCE = 4096
"""Instants whose markers are handed to a stage together, 1 kB each."""
DOUBTFUL = 1.0
"""rad in an interval by which an angle may differ from what the rates at its ends tell."""
SEEN = ("position", "axes", "velocity", "angular_velocity", "axes_rate", "turns")


@dataclass
class MarkerMotion:
    """What measures and forces see of a marker, a row per instant."""

    position: Array
    axes: Array
    velocity: Array
    angular_velocity: Array
    turns: Array

    @cached_property
    def axes_rate(self) -> Array:
        return np.cross(self.angular_velocity[:, :, None], self.axes, axis=1)

    def instants(self) -> Iterator[SimpleNamespace]:
        """The marker instant by instant, as methods see it."""
        columns = [getattr(self, name) for name in SEEN]
        return (SimpleNamespace(**dict(zip(SEEN, values, strict=True))) for values in zip(*columns, strict=True))

    def at_once(self) -> SimpleNamespace:
        """All instants at once, for formulas without cases: each number is an array."""
        return SimpleNamespace(**{name: np.moveaxis(getattr(self, name), 0, -1) for name in SEEN})


def ends(result: Result, element: Any) -> tuple[MarkerMotion, MarkerMotion]:
    """The motion of both markers of an element, with the turns of its angle if it counts them."""
    i, j = result.marker_motion(element.i), result.marker_motion(element.j)
    if element.counts_turns and len(result):
        markers = i.at_once(), j.at_once()
        angles = angle(*markers)[0]
        followed = _followed(result, element)
        if followed is None:  # an element that was not in the run
            followed = unwrapped(result.t, angles, angle_rate(*markers))
        j.turns = np.round((followed - angles) / (2.0 * np.pi))
    return i, j


def _followed(result: Result, element: Any) -> Array | None:
    """The follower of the angle of an element of the run; None where it has none, or a file does not have it."""
    tables = result.states.tables
    counters = {f.name: f.counter for f in tables.forces if f.counter} | tables.measured
    if (counter := counters.get(element.name)) is None:
        return None
    z = int(tables.counters[counter].z)
    followed = result.states.part("z", slice(z, z + 1))[:, 0]
    return followed if np.all(np.isfinite(followed)) else None


def measured(result: Result, measure: Measure) -> Array:
    """A measure at every instant; what is in rad and not counted in the run is counted by its rates."""
    i, j = ends(result, measure)
    values = np.array([measure.value(*sample) for sample in zip(result.t, i.instants(), j.instants(), strict=True)])
    if measure.unit != "rad" or measure.counts_turns:
        return values
    rates = np.zeros(len(values))
    for k, (t, a, b) in enumerate(zip(result.t, i.instants(), j.instants(), strict=True)):
        g = np.zeros((1, PLACES))
        measure.gradient(t, a, b, g)
        rates[k] = g[0] @ np.concatenate([a.velocity, a.axes_rate.ravel(), b.velocity, b.axes_rate.ravel()])
    return unwrapped(result.t, values, rates)


def joint_coordinate(result: Result, joint: Any, name: str) -> tuple[Array, Array]:
    """A coordinate of a joint, zero where it is described, and its rate; turns are counted by the rates."""
    i, j = result.marker_motion(joint.i), result.marker_motion(joint.j)
    samples = zip(i.instants(), j.instants(), strict=True)
    still = {"velocity": np.zeros(3), "angular_velocity": np.zeros(3), "turns": 0.0}
    described = (SimpleNamespace(position=m.at, axes=np.asarray(m.axes), **still) for m in (joint.i, joint.j))
    found = np.array([coordinate(name, a, b) for a, b in samples]).reshape(-1, 2)
    start = 0.0 if joint.is_local else coordinate(name, *described)[0]
    values, rates = found[:, 0] - start, found[:, 1]
    if UNITS[name] == "rad" and len(values):
        values = nearest_turn(unwrapped(result.t, values, rates), 0.0)
        expected = 0.5 * np.diff(result.t) * (rates[1:] + rates[:-1])
        doubtful = np.abs(np.diff(values) - expected) > DOUBTFUL
        note = (
            f"{joint}: turns of its {name} are doubtful, since between stored instants it changes otherwise than its "
            "rates there tell; store more of them (t_eval), or add an mb.Angle, which is counted in the run"
        )
        begun = result.t[0] if result.info.start is None else result.info.start[0]
        lost = (
            f"{joint}: its {name} begins within half a turn of zero, since the state from which the run went on at "
            f"t = {begun:.6g} s does not tell turns of joints; an mb.Angle between its bodies keeps them"
        )
        for said, text in ((doubtful.any(), note), (abs(rates[0]) * begun > np.pi, lost)):
            if said and text not in result.info.warnings:
                result.info.warnings.append(text)
    return values, rates


def wrench(result: Result, element: Any) -> tuple[Array, Array]:
    """Force and torque of a force element, (n, 3) each."""
    out = np.zeros((len(result), 6))
    if element.reactive:
        reaction = np.zeros((len(result), 3))
        reaction[:, : result.dimension] = result.reaction(element.joint).force
        _fill(result, element, "reactive_wrench", reaction, out)
    else:
        _fill(result, element, "wrench", _own_states(result, element), out)
    return out[:, :3], out[:, 3:]


def output(result: Result, element: Any, name: str) -> Array:
    """One of the `outputs` of a force element, (n,)."""
    out = np.zeros(len(result))
    _fill(result, element, name, _own_states(result, element), out)
    return out


def _own_states(result: Result, element: Any) -> Array:
    return result.element_states(element) if element.states else np.zeros((len(result), 0))


def _fill(result: Result, element: Any, method: str, given: Array, out: Array) -> None:
    """Run a method at all instants; `given`, (n, any number), is what it takes besides t and both markers."""
    i, j = ends(result, element)
    named, row = named_by(element), _row(result, element)
    element = element.as_evaluated
    if not named and len(result) > FEW and _by_stage(result, element, row, method, (i, j), given, out):
        return
    from .equations.user import method_of

    call, further = method_of(element, method), given if given.shape[1] else None
    signals = signals_of(result) if named else {}
    for k, sample in enumerate(zip(result.t, i.instants(), j.instants(), strict=True)):
        if named:
            call = method_of(with_signals(element, {name: values[k] for name, values in signals.items()}), method)
        found = call(*sample) if further is None else call(*sample, further[k])
        out[k] = np.concatenate(found) if out.ndim == 2 else found


def signals_of(result: Result) -> dict[str, Array]:
    """The values of inputs and of the outputs of controllers at every instant."""
    tables = result.states.tables
    z = result.states.part("z")
    found = {name: z[:, place] for name, place in tables.inputs.items()}
    if tables.controllers:
        found |= result.states.equations.outputs(result.t, result.states.whole())
    return found


def _by_stage(
    result: Result,
    element: Any,
    row: Any,
    method: str,
    markers: tuple[MarkerMotion, MarkerMotion],
    given: Array,
    out: Array,
) -> bool:
    """Run a method by a compiled stage; False if there is none, or if the method raised in it."""
    from .equations.user import uncompiled_function
    from .equations.workspace import Record
    from .kernels import bindings
    from .kernels.compiler.compile import run_stage
    from .kernels.stages.over_time import INSTANTS
    from .kernels.workspace import MARKER, OK, WORK

    if row is None or uncompiled_function([element]):
        return False
    kernels = result.states.tables.kernels(type(element)) if method == "wrench" else type(element)
    stage = bindings.stage_over_time(kernels, method, is_ours(type(element)), row.dtype, given.shape[1])
    if bindings.refusal(stage):
        return False
    work, data = Record(WORK), Record(INSTANTS)
    data["row"] = row
    for first in range(0, len(out), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        data["n"], data["times"] = len(out[part]), np.array(result.t[part])
        data["given"], data["out"] = np.ascontiguousarray(given[part]), out[part]
        for name, marker in zip("ij", markers, strict=True):
            rows = np.zeros(len(out[part]), MARKER)
            for field in SEEN:
                rows[field] = getattr(marker, field)[part]
            data[name] = rows
        if run_stage(stage.address, 0.0, work.address, data.address, 0) != OK:
            return False
    return True


def _row(result: Result, element: Any) -> Any:
    """The row of a force element of the run, (1,); None for any other."""
    tables: Tables = result.states.tables
    if element.name not in result.described or result.described[element.name] is not element:
        return None
    for table in tables.force_tables:
        for k, f in enumerate(table.elements):
            if f.name == element.name:
                return np.asarray(table.rows[k : k + 1])
    return None


def unwrapped(t: Array, angles: Array, rates: Array) -> Array:
    """Angles over turns: the rates at both ends of an interval tell the number of turns in it."""
    expected = 0.5 * np.diff(t) * (rates[1:] + rates[:-1])
    turns = np.round((expected - np.diff(angles)) / (2.0 * np.pi))
    return angles + 2.0 * np.pi * np.concatenate([[0.0], np.cumsum(turns)])
