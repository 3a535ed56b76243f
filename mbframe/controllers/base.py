"""The base class of controllers, and how to write one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np

from ..errors import Problem
from ..parameters import parameter
from ..signals import Signal

_IDENTIFIER = re.compile(r"[A-Za-z]\w*", re.ASCII)

METHODS: Final = {"update": "next_states"}
"""Names by which methods are kept, where they are other ones: every element has an `update` of its own."""


class Controller(Signal):
    """What sees measures and sets named outputs, which expressions of forces, torques and setpoints name.

    To write your own, say what its outputs are called and give `output`:

        class Relay(mb.Controller):
            outputs = {"torque": "N m"}
            threshold = mb.parameter(0.1, unit="rad", help="switches beyond")

            def output(self, t, y, y_rate, z):
                return [-np.sign(y[0]) * (abs(y[0]) > self.threshold)]

        system.add(Relay("relay", measures=[angle], sample_time=0.02))
        system.add(mb.Torque("motor", body, torque=(0, 0, "relay.torque")))

    `y` and `y_rate` are what it sees and the rates of that, in order: measures, coordinates of joints
    ("hinge.angle"), motions of bodies ("cart.position.x", "cart.velocity.x", "bar.angular_velocity.z"), inputs, and
    outputs of other controllers. The rate of a held number is zero; those of velocities and of outputs that are not
    held are not known before the motion is, and are nan.

    A controller with own states sets `states` to their number, and gets them as `z`; `initial_states(self)` are
    their start (zeros by default). Without a sample time `state_rate(self, t, y, y_rate, z)` returns z'. With one,
    `update(self, t, y, y_rate, z)` returns the next z: the first sample is taken at the start of a run, at each
    `output` comes before `update`, and what it gives is held until the next.

    Methods are compiled unchanged if they can be, and called by Python otherwise.
    """

    symbol = "controller"
    outputs: Any = MappingProxyType({})
    states: Any = 0
    feedthrough: Any = True  # False: the outputs do not depend on what is seen at the same instant
    planar: ClassVar[bool] = True

    measures = parameter((), kind="seen", help="what it sees: measures, or names such as 'hinge.angle'")
    sample_time = parameter(
        None, kind="number", unit="s", above=0.0, help="from one sample to the next; by default it acts all the time"
    )
    limit = parameter(None, kind="numbers", unit="as outputs", minimum=0.0, help="largest size of each output")
    rate_limit = parameter(
        None,
        kind="numbers",
        unit="as outputs/s",
        above=0.0,
        help="fastest change of each output from sample to sample",
    )

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if not isinstance(self.outputs, Mapping) or not self.outputs:
            message = f'found {self.outputs!r}; allowed are names and units of outputs; give some: {{"force": "N"}}'
            yield self.problem("outputs", message)
            return
        for name in self.outputs:
            if not _IDENTIFIER.fullmatch(str(name)):
                yield self.problem(
                    "outputs",
                    f"found {name!r}; expressions name it, so give letters, digits and underscores, a letter first",
                )
        for field in ("limit", "rate_limit"):
            if np.ndim(given := getattr(self, field)) == 1 and len(given) != len(self.outputs):
                message = f"found {len(given)} numbers; allowed is one, or one for each of {len(self.outputs)} outputs"
                yield self.problem(field, message)
        if self.rate_limit is not None and self.sample_time is None:
            yield self.problem(
                "rate_limit", "limits changes from sample to sample, but there is no sample time; add sample_time=0.01"
            )
        wanted = "update" if self.sample_time is not None else "state_rate"
        if self.states and not self.gives(wanted):
            what, kind = ("the next z", "with") if wanted == "update" else ("z'", "without")
            call = f"{wanted}(self, t, y, y_rate, z) -> {what}"
            yield self.problem(wanted, f"is not defined, but it has states; {kind} a sample time write {call}")

    def follow(self, old: str, new: str) -> None:
        """What it sees has got another name."""
        meant = [name == old or name.startswith(f"{old}.") for name in self.measures]
        pairs = zip(self.measures, meant, strict=True)
        vars(self)["measures"] = tuple(new + name[len(old) :] if changed else name for name, changed in pairs)

    @classmethod
    def proposed(cls, measures: Sequence[str], outputs: Mapping[str, str]) -> dict[str, Any]:
        """Values that a new one begins with, for what it sees and sets: its outputs are zero where that is possible."""
        return {"measures": tuple(measures)} | ({"outputs": dict(outputs)} if "outputs" in cls.parameters() else {})

    def fitted(self, measures: Sequence[str], outputs: Mapping[str, str]) -> dict[str, Any]:
        """Values with which it sees and sets something else: what belongs to the names that stay is kept."""
        return self.proposed(measures, outputs)

    def gives(self, method: str) -> bool:
        """Whether its class has a method of its own, or one that does the same."""
        name = METHODS.get(method, method)
        return getattr(type(self), name) is not getattr(Controller, name)

    @property
    def signals(self) -> dict[str, str]:
        return {f"{self.name}.{name}": unit for name, unit in self.outputs.items()}

    def initial_states(self) -> list[float]:
        """Own states at the start."""
        return [0.0] * self.states

    def output(self, t, y, y_rate, z):
        """Its outputs, in order."""
        raise NotImplementedError(f"{type(self).__name__} does not define output(self, t, y, y_rate, z)")

    def state_rate(self, t, y, y_rate, z):
        """z', without a sample time."""
        raise NotImplementedError(f"{type(self).__name__} does not define state_rate(self, t, y, y_rate, z)")

    def next_states(self, t, y, y_rate, z):
        """The next z, with a sample time: what a class gives as `update`."""
        raise NotImplementedError(f"{type(self).__name__} does not define update(self, t, y, y_rate, z)")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if (given := vars(cls).get("update")) is not None:
            cls.next_states = given  # type: ignore[method-assign]
            cls.update = Controller.update  # type: ignore[method-assign]

    def update(self, *seen: Any, **values: Any) -> Any:
        """Assign several parameters at once, as of every element; of t, y, y_rate and z, the next z."""
        return self.next_states(*seen) if seen else super().update(**values)

    def largest(self) -> np.ndarray:
        """The largest size of each output."""
        return np.broadcast_to(np.inf if self.limit is None else self.limit, len(self.outputs)).astype(float)

    def steps(self) -> np.ndarray:
        """By how much each output may change from one sample to the next."""
        most = np.inf if self.rate_limit is None or self.sample_time is None else self.rate_limit * self.sample_time
        return np.broadcast_to(most, len(self.outputs)).astype(float)
