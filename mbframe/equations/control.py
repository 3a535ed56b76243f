"""Controllers in the equations: what they see, the stages that evaluate them, and when they take samples."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..controllers.base import METHODS
from ..controllers.sight import Sight
from ..errors import ModelError, SimulationError
from ..kernels import bindings
from ..kernels.compiler.compile import PythonStage
from ..kernels.stages import controllers as kernels
from ..kernels.workspace import DYNAMICS, MARKER, POSITION
from ..registry import is_ours
from .numbered import NumberedController
from .rows import rows_of
from .tables import Tables
from .user import Caller, returned, uncompiled_function
from .workspace import Record, Workspace

Array = NDArray[np.float64]
UNKNOWN_RATE: Final = ", or for a rate among what it sees that is not known before the motion is"


class Seen:
    """Where the value and the rate of everything are that controllers see; nan where a rate is not known."""

    def __init__(self, tables: Tables, work: Workspace, outputs: dict[str, int]) -> None:
        self.tables, self.work, self.outputs = tables, work, outputs
        self.measured = {name: np.full(2, np.nan) for name, one in tables.seen.items() if one.ends is not None}
        self._unknown, self._zero = np.array([np.nan]), np.zeros(1)

    def addresses(self, seen: Sight) -> tuple[int, int]:
        """Of its value and of its rate."""
        unknown = self._unknown.ctypes.data
        if seen.signal:
            if seen.signal in self.outputs:
                return self.outputs[seen.signal], unknown
            places = self.tables.inputs | self.tables.held
            return self.work.z[places[seen.signal] :].ctypes.data, self._zero.ctypes.data
        if seen.motion is not None:
            marker, vector, component = seen.motion
            place = self.tables.place(marker)
            first = self.tables.markers[place : place + 1].ctypes.data + 8 * component
            fields: Any = MARKER.fields
            rate = first + fields["velocity"][1] if vector == "position" else unknown
            return first + fields[vector][1], rate
        value = self.measured[seen.name].ctypes.data
        return (value + 8, unknown) if seen.rate else (value, value + 8)

    def stages(self) -> Iterator[Any]:
        """What evaluates measures and coordinates, a stage for each type."""
        from .stages import BoundStage

        groups: dict[Any, list[Sight]] = {}
        for seen in self.tables.seen.values():
            if (between := seen.measure or seen.term) is not None:
                groups.setdefault(type(between), []).append(seen)
        for kind, members in groups.items():
            elements: list[Any] = [seen.measure or seen.term for seen in members]
            links = []
            for seen, element in zip(members, elements, strict=True):
                i, j = self.tables.place(element.i), self.tables.place(element.j)
                counter = self.tables.sight_counters.get(seen.name, 0)
                links.append({"i": i, "j": j, "counter": counter, "seen": self.measured[seen.name].ctypes.data})
            rows = rows_of(kind, kernels.SEEN_FIELDS, elements, links, self.tables.system.dimension)
            stage = bindings.seen_stage(kind, is_ours(kind), rows.dtype, members[0].term is not None)
            if bindings.refusal(stage) is None:
                yield BoundStage(stage.address, rows, len(rows), elements, "value")
            else:
                caller = Caller(elements[0])
                python = PythonStage(self._reader(members, elements, rows, caller))
                yield BoundStage(python.address, None, 0, elements, "value", python, caller)

    def _reader(
        self, members: list[Sight], elements: list[Any], rows: Any, caller: Caller
    ) -> Callable[[float, int], None]:
        """Values and rates of users' measures, by their own methods."""

        def read(t: float, n: int) -> None:
            if self.work["level"] == POSITION:
                return
            for seen, caller.current, row in zip(members, elements, rows, strict=True):
                self.measured[seen.name][:] = measured(caller.current, t, *self.tables.seen_by(row))

        return read


def measured(measure: Any, t: float, i: Any, j: Any) -> tuple[float, float]:
    """A measure and its rate for states of its markers."""
    g = np.zeros((1, 24))
    measure.gradient(t, i, j, g)
    rate = g[0] @ np.concatenate([i.velocity, i.axes_rate.ravel(), j.velocity, j.axes_rate.ravel()])
    return float(measure.value(t, i, j)), float(rate)


class Control:
    """The controllers of some equations: rows, stages and samples.

    `evaluation` comes before what names the outputs, `rates` are those of the states; `sampling` has two for each
    controller with a sample time, of which the second may do nothing.
    """

    def __init__(self, tables: Tables, work: Workspace) -> None:
        self.tables, self.work = tables, work
        self.notices: list[str] = []
        self.evaluation: list[Any] = []
        self.rates: list[Any] = []
        self.sampling: list[Any] = []
        self._kept: list[Any] = []
        self._sources: dict[str, list[ctypes.c_double]] = {}
        self.outputs = {c.name: self._outputs(c) for c in tables.controllers}
        addresses = {
            signal: self.outputs[c.name][k:].ctypes.data
            for c in tables.controllers
            if not c.sampled
            for k, signal in enumerate(c.controller.signals)
        }
        self.seen = Seen(tables, work, addresses)
        self.evaluation += self.seen.stages()
        self.rows = {c.name: self._row(c) for c in tables.controllers}
        for c in tables.controllers:
            self._stages(c)
        self.sampled = [c for c in tables.controllers if c.sampled]
        self.sampler = Record(kernels.SAMPLER)
        self._taken = np.zeros(len(self.sampled), kernels.SAMPLED)

    def _outputs(self, c: NumberedController) -> Array:
        """Where its outputs are."""
        if c.sampled:
            return self.work.z[c.held : c.held + len(c.controller.outputs)]
        return np.zeros(len(c.controller.outputs))

    def address(self, signal: str) -> int:
        """Where the value of a signal is."""
        if signal in self.seen.outputs:
            return self.seen.outputs[signal]
        return self.work.z[(self.tables.inputs | self.tables.held)[signal] :].ctypes.data

    def value(self, signal: str) -> float:
        """The value of a signal now."""
        return float(ctypes.c_double.from_address(self.address(signal)).value)

    def _row(self, c: NumberedController) -> Any:
        """The row of a controller, with what it points to."""
        one = self.tables.fed_controllers[c.name]
        n = len(c.sights)
        found = [self.seen.addresses(seen) for seen in c.sights]
        sources = np.array([value for value, _ in found] + [rate for _, rate in found], np.int64)
        self._sources[c.name] = [ctypes.c_double.from_address(int(place)) for place in sources]
        y, changes = np.zeros(2 * n), np.zeros(one.states)
        limits, steps = one.largest(), one.steps()
        self._kept += [one, sources, y, changes, limits, steps]
        link = {"n_y": n, "n_z": one.states, "n_out": len(one.outputs), "z": c.z, "sampled": int(c.sampled)}
        pointers = {"sources": sources, "y": y, "changes": changes, "limits": limits, "steps": steps}
        link |= {name: array.ctypes.data for name, array in pointers.items()}
        link["out"] = self.outputs[c.name].ctypes.data
        own = list(kernels.CONTROLLER_FIELDS)
        if hasattr(one, "fill_output"):
            own.append(("at", "i8"))
            link["at"] = one.at
        return rows_of(type(one), own, [one], [link], self.tables.system.dimension)

    def seen_by(self, c: NumberedController) -> tuple[Array, Array, Array]:
        """What a controller sees now, the rates of that, and its states."""
        n = len(c.sights)
        y = np.array([source.value for source in self._sources[c.name]])
        return y[:n], y[n:], self.work.z[c.states].copy() if c.controller.states else np.zeros(0)

    # --- stages -------------------------------------------------------------------------------------------------------

    def _stages(self, c: NumberedController) -> None:
        """What evaluates a controller, or lets it take samples."""
        one, row = self.tables.fed_controllers[c.name], self.rows[c.name]
        kind = type(one)
        if not is_ours(kind):
            self._check(c)
        change = "update" if c.sampled else "state_rate"
        methods = ["output"] + ([change] if one.states else [])
        made = [bindings.controller_stage(kind, is_ours(kind), row.dtype, method) for method in methods]
        reasons = [uncompiled_function([one]), *(bindings.refusal(stage) for stage in made)]
        reason = next((reason for reason in reasons if reason is not None), None)
        bound = [
            self._compiled(stage, row, one, method) if reason is None else self._python(c, method)
            for stage, method in zip(made, methods, strict=True)
        ]
        if reason is not None:
            what = "at each sample" if c.sampled else "at each evaluation"
            self.notices.append(
                f"{kind.__name__}.{' and '.join(methods)} of {one.name!r} is called from Python {what}: {reason}"
            )
        if c.sampled:
            self.sampling += bound if len(bound) == 2 else [*bound, None]
        else:
            self.evaluation.append(bound[0])
            self.rates += bound[1:]

    @staticmethod
    def _compiled(stage: Any, row: Any, one: Any, method: str) -> Any:
        from .stages import BoundStage

        return BoundStage(stage.address, row, 1, [one], method)

    def _python(self, c: NumberedController, method: str) -> Any:
        from .stages import BoundStage

        one, caller, work = self.tables.fed_controllers[c.name], Caller(c.controller), self.work
        out, z_to = self.outputs[c.name], work.z if c.sampled else work.z_rate
        limits, steps = one.largest(), one.steps()

        def call(t: float, n: int) -> None:
            caller.current = c.controller
            if work["level"] == POSITION or (method == "state_rate" and work["level"] < DYNAMICS):
                return
            found = called(one, method, t, *self.seen_by(c))
            if method != "output":
                z_to[c.states] = found
                return
            found = np.clip(found, -limits, limits)
            out[:] = np.clip(found, out - steps, out + steps) if c.sampled else found

        python = PythonStage(call)
        return BoundStage(python.address, None, 0, [c.controller], method, python, caller)

    def _check(self, c: NumberedController) -> None:
        """Refuse outputs or states of the wrong number where the model is described; what raises says so itself."""
        one = self.tables.fed_controllers[c.name]
        start = one.initial_states()
        if np.shape(start) != (one.states,):
            message = f"gives {np.size(start)} numbers; allowed are {one.states}, as its class says; return these"
            raise ModelError([c.controller.problem("initial_states", message)])
        y = np.zeros(len(c.sights))
        change = "update" if c.sampled else "state_rate"
        for method in ["output"] + ([change] if one.states else []):
            try:
                called(one, method, 0.0, y, y.copy(), np.array(start, float))
            except ModelError:
                raise
            except Exception:
                return

    def repeated(self, one: Any, method: str, t: float) -> Exception | None:
        """What the interpreted method of a controller raises where the compiled one failed."""
        c = next(c for c in self.tables.controllers if c.name == one.name)
        try:
            called(one, method, t, *self.seen_by(c))
        except Exception as error:
            return error
        return None

    # --- samples ------------------------------------------------------------------------------------------------------

    def prepare(self, first: int, sample: int) -> None:
        """Write the record of the sampler; `first` is the number of the first of its stages."""
        self.work["sample"], self.work["sampler"] = sample, self.sampler
        self.sampler["n"], self.sampler["rows"], self.sampler["first"] = len(self.sampled), self._taken, first
        for k, c in enumerate(self.sampled):
            output, update = self.sampling[2 * k : 2 * k + 2]
            row = self._taken[k]
            row["output"], row["update"] = output.address, update.address if update is not None else 0
            row["row"], row["period"] = self.rows[c.name].ctypes.data, c.controller.sample_time

    def begin(self, t: float) -> None:
        """Let the next sample be the first one, at t."""
        self.sampler["start"] = t
        self._taken["taken"] = 0.0
        self.work["next_sample"] = t if self.sampled else np.inf

    def not_finite(self, k: int, t: float) -> SimulationError:
        """The error of the k-th sampled controller, which gave no numbers."""
        c = self.sampled[k]
        given = [*self.outputs[c.name], *(self.work.z[c.states] if c.controller.states else [])]
        seen = ", ".join(f"{x:.6g}" for x in np.concatenate(self.seen_by(c)[:2]))
        values = ", ".join(f"{x:.6g}" for x in given)
        unknown = UNKNOWN_RATE if "nan" in seen else ""
        message = (
            f"gives what is not finite ({values}) for what it sees and the rates of that ({seen}); look for a "
            f"division by zero, or a loop that is not stable{unknown}"
        )
        return SimulationError(message, time=t, culprit=str(c.controller))

    def without_value(self, t: float) -> SimulationError | None:
        """The error of the first controller that acts all the time and gives no finite numbers where all is finite."""
        for c in self.tables.controllers:
            y, y_rate, z = self.seen_by(c)
            if c.sampled or not np.all(np.isfinite(y)) or not np.all(np.isfinite(z)):
                continue
            one = self.tables.fed_controllers[c.name]
            for method in ["output"] + (["state_rate"] if one.states else []):
                try:
                    with np.errstate(all="ignore"):
                        found = called(one, method, t, y, y_rate, z)
                except Exception:
                    continue
                if not np.all(np.isfinite(found)):
                    values = ", ".join(f"{x:.6g}" for x in found)
                    message = f"{method} gives numbers that are not finite ({values}); look for a division by zero"
                    message += "" if np.all(np.isfinite(y_rate)) else UNKNOWN_RATE
                    return SimulationError(message, time=t, culprit=str(c.controller))
        return None


def called(one: Any, method: str, t: float, y: Array, y_rate: Array, z: Array) -> Array:
    """What the interpreted method of a controller gives; a wrong number of values is a `ModelError`."""
    found = getattr(one, METHODS.get(method, method))(t, y.copy(), y_rate.copy(), z.copy())
    count = len(one.outputs) if method == "output" else one.states
    return returned(one, method, method, found, (count,))
