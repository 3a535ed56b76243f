"""Elements that a user wrote in plain Python: compiled where they compile, called by Python where they do not.

Derivatives that the user did not give come from the compiled method by complex step if that agrees with `jets` at the
described configuration (complex step is silently wrong through abs, norm, arctan2, max), from `jets` otherwise, and
from extrapolated differences for a method that cannot take `jets`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import jets
from ..constraints.base import BasicConstraint
from ..errors import ModelError
from ..forces.base import ForceElement
from ..functions import NO_ROW, Function
from ..kernels.stages import planar
from ..kernels.stages.planar import spatial_methods
from ..registry import is_ours
from .numbered import users_methods
from .tables import Tables

Array = NDArray[np.float64]
AGREEMENT = 1e-8
OTHER_STATES = 4  # in which a method is called, to see whether it remembers them
PLAIN = (bool, int, float, complex, str, list, tuple, dict, set, np.ndarray, np.generic, type(None))
NO_VALUE = (ValueError, ArithmeticError)
"""What Python raises where a compiled formula has no finite number: `math.sqrt(-1.0)`, `math.exp(1e3)`, `1.0/0.0`."""


def method_of(element: Any, name: str) -> Callable[..., Any]:
    """A method of an element for markers of space; a user's in a planar system is one for markers of the plane."""
    kind: Any = type(element)
    if element.body_j.dimension == 2 and name in users_methods(kind):
        return getattr(spatial_methods(kind, users_methods(kind)), name).__get__(element)
    return getattr(element, name)


class Differentiated:
    """A function of some arrays with its derivatives: exact by `jets`, or by differences if it cannot take them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.exact = True

    def settle(self, arrays: Sequence[Any]) -> None:
        """Find out at a sample whether the function takes jets.

        Writing a jet into an array of floats is a ValueError of numpy, which functions of forces turn into NaN.
        """
        try:
            self.exact = bool(np.isfinite(jets.derivatives(self.function, arrays, order=2)[0]).all())
        except Exception:  # whatever the user's code raises when it is given another array type
            self.exact = False

    def gradient(self, arrays: Sequence[Any]) -> tuple[Array, Array]:
        """Value and gradient."""
        if self.exact:
            return jets.jacobian(self.function, arrays)
        return jets.extrapolated_differences(self.function, arrays)

    def along(self, arrays: Sequence[Any], direction: Sequence[Any]) -> tuple[Array, Array, Array]:
        """Value, gradient, and second derivative along a direction."""
        if not self.exact:
            value, gradient = jets.extrapolated_differences(self.function, arrays)
            return value, gradient, jets.second_difference_along(self.function, arrays, direction)
        value, gradient, hessian = jets.derivatives(self.function, arrays, order=2)
        assert hessian is not None
        u = np.concatenate([np.ravel(d) for d in direction])
        return value, gradient, hessian @ u @ u

    def hessian(self, arrays: Sequence[Any]) -> Array:
        """Second derivatives."""
        if self.exact:
            hessian = jets.derivatives(self.function, arrays, order=2)[2]
            assert hessian is not None
            return hessian

        def flat_gradient(*moved: Any) -> Array:
            return jets.extrapolated_differences(self.function, moved)[1]

        return jets.extrapolated_differences(flat_gradient, arrays)[1]


def configuration(marker: Any) -> list[Array]:
    """The numbers that a residual may depend on."""
    return [marker.position, marker.axes]


def motion(marker: Any) -> list[Array]:
    """The numbers that a wrench may depend on, in the order of `wrench_gradient`."""
    return [marker.position, marker.axes, marker.velocity, marker.angular_velocity]


def motion_by_axes(marker: Any) -> list[Array]:
    """The same with the rates of the axes in place of the angular velocity."""
    return [marker.position, marker.axes, marker.velocity, marker.axes_rate]


def no_turns() -> float:
    """Of an element that counts none."""
    return 0.0


def residual_function(constraint: BasicConstraint, turns: Callable[[], float] = no_turns) -> Callable[..., Any]:
    """The residual as a function of (t, position_i, axes_i, position_j, axes_j); `turns` tells those of its angle."""
    residual = method_of(constraint, "residual")

    def function(t: Any, position_i: Any, axes_i: Any, position_j: Any, axes_j: Any) -> Any:
        i, j = SimpleNamespace(position=position_i, axes=axes_i), SimpleNamespace(position=position_j, axes=axes_j)
        i.turns, j.turns = 0.0, turns()
        return residual(t, i, j)

    return function


def velocity_function(constraint: Any, turns: Callable[[], float] = no_turns) -> Callable[..., Any]:
    """The residual of a nonholonomic constraint as a function of t and the motion of both markers."""
    residual = method_of(constraint, "velocity_residual")

    def function(t: Any, *values: Any) -> Any:
        return residual(t, *moving(values, turns()))

    return function


def rate_function(constraint: Any, turns: Callable[[], float] = no_turns) -> Callable[..., Any]:
    """The residual as a function of t and the positions, axes and their rates: omega = 1/2 sum d_k x d_k'."""
    residual = method_of(constraint, "velocity_residual")

    def function(t: Any, *values: Any) -> Any:
        states = []
        for position, axes, velocity, rate in (values[:4], values[4:]):
            omega = 0.5 * sum(np.cross(axes[:, k], rate[:, k]) for k in range(3))
            states += [position, axes, velocity, omega]
        return residual(t, *moving(states, turns()))

    return function


def moving(values: Sequence[Any], turns: float = 0.0) -> list[SimpleNamespace]:
    """Two marker states from position, axes, velocity and angular velocity of each, and the turns of their angle.

    The numbers are copies, arrays or jets, which a user's method may overwrite.
    """
    names = ("position", "axes", "velocity", "angular_velocity", "turns")
    copied = [1.0 * value for value in values]
    parts = ((*copied[:4], 0.0), (*copied[4:], turns))
    return [SimpleNamespace(**dict(zip(names, part, strict=True))) for part in parts]


def wrench_function(force: ForceElement, t: float, *states: Array, turns: float = 0.0) -> Callable[..., Any]:
    """Force and torque, stacked, as a function of the motion of both markers.

    NaN where the mathematics of Python, such as `math.sqrt`, raise an error: the compiled method gives no number there.
    """
    wrench = method_of(force, "wrench")

    def function(*values: Any) -> Any:
        try:
            push, turn = wrench(t, *moving(values, turns), *(z.copy() for z in states))
        except NO_VALUE:
            return [np.nan] * 6
        return [*push, *turn]

    return function


def own_state_function(force: Any, t: float, turns: float = 0.0) -> Callable[..., Any]:
    """Force, torque and the rates of own states, stacked, as a function of these states and both markers' motion."""

    wrench, state_rate = method_of(force, "wrench"), method_of(force, "state_rate")

    def function(z: Any, *values: Any) -> Any:
        try:
            push, turn = wrench(t, *moving(values, turns), 1.0 * z)
            return [*push, *turn, *state_rate(t, *moving(values, turns), 1.0 * z)]
        except NO_VALUE:
            return [np.nan] * (6 + force.states)

    return function


def uncompiled_function(elements: Sequence[Any]) -> str | None:
    """Why the methods of some elements run in Python though they compile: the first function that rows cannot hold."""
    for element in elements:
        for name, value in element.values().items():
            for function in value if isinstance(value, tuple) else (value,):
                if isinstance(function, Function) and function.row == NO_ROW:
                    what = "a Python callable" if function.kind == "callable" else "a function of several variables"
                    return f"{name} of {element} is {what}"
    return None


class Caller:
    """Something that calls users' methods; `current` is the element whose turn it is."""

    def __init__(self, first: Any) -> None:
        self.current = first


class PythonConstraints(Caller):
    """Fills the rows of a constraint type by calling the user's method."""

    function_of: ClassVar = staticmethod(residual_function)
    numbers: ClassVar = staticmethod(configuration)  # of a marker, on which the function depends besides t
    filled: ClassVar[tuple[str, ...]] = ("value", "drift", "gradient", "curvature")

    def __init__(self, constraints: list[Any], rows: np.recarray, tables: Tables) -> None:
        super().__init__(constraints[0])
        self.constraints, self.rows, self.tables, self.markers = constraints, rows, tables, tables.markers
        turns = [tables.turns_of(row.counter) for row in rows]
        self.functions = [Differentiated(self.function_of(c, n)) for c, n in zip(constraints, turns, strict=True)]

    def settle(self) -> list[str]:
        """Decide how derivatives are taken; returns notices."""
        for constraint, row, function in zip(self.constraints, self.rows, self.functions, strict=True):
            self._refuse_velocities(constraint, function, row)
            function.settle(self.arguments(0.0, self.markers[row.i], self.markers[row.j]))
        return [
            f"{c}: derivatives are taken by differences, because its residual cannot be differentiated exactly; for "
            "what changes within 10 microseconds write it with numpy, or give its gradient and curvature"
            for c, f in zip(self.constraints, self.functions, strict=True)
            if not f.exact
        ]

    def _refuse_velocities(self, constraint: BasicConstraint, function: Differentiated, row: Any) -> None:
        """A residual that asks for a velocity is an error, and belongs into `velocity_residual`."""
        try:
            function.function(*self.arguments(0.0, self.markers[row.i], self.markers[row.j]))
        except AttributeError as error:
            if error.name in ("velocity", "angular_velocity", "axes_rate"):
                message = (
                    f"uses {error.name} of a marker, but an equation of positions has none; give "
                    "velocity_residual(self, t, i, j) in place of residual"
                )
                raise ModelError([constraint.problem("residual", message)]) from error
        except Exception:  # it says so itself when it is needed
            return

    def arguments(self, t: float, i: Any, j: Any) -> list[Any]:
        """What the functions take."""
        return [t, *self.numbers(i), *self.numbers(j)]

    def fill(self, t: float, level: int) -> None:
        """Values, and for level > 0 derivatives, of all rows."""
        for constraint, row, function in zip(self.constraints, self.rows, self.functions, strict=True):
            self.current = constraint
            i, j = self.tables.seen_by(row)
            if level == 0:
                row.value[:] = residuals(constraint, method_of(constraint, "residual")(t, i, j))
                continue
            direction = [1.0, i.velocity, i.axes_rate, j.velocity, j.axes_rate]
            value, gradient, bend = function.along(self.arguments(t, i, j), direction)
            row.value[:] = residuals(constraint, value)
            row.drift[:], row.gradient[:] = gradient[:, 0], gradient[:, 1:]
            row.curvature[:] = bend

    def gradient(self, constraint: BasicConstraint, t: float, i: Any, j: Any) -> Array:
        """Derivatives of one constraint by the numbers of given markers."""
        function = next(f for c, f in zip(self.constraints, self.functions, strict=True) if c is constraint)
        return function.gradient(self.arguments(t, i, j))[1][:, 1:]

    def agree(self, t: float) -> bool:
        """Whether the rows as filled by someone else agree with the exact derivatives."""
        found = self.rows.copy()
        self.fill(t, 1)
        return all(
            np.allclose(found[name], self.rows[name], AGREEMENT, AGREEMENT * (1.0 + np.abs(found[name]).max()))
            for name in self.filled
        )


class PythonVelocityConstraints(PythonConstraints):
    """Fills the rows of a nonholonomic constraint type by calling the user's method."""

    function_of: ClassVar = staticmethod(velocity_function)
    numbers: ClassVar = staticmethod(motion)
    filled: ClassVar[tuple[str, ...]] = ("value", "drift", "gradient")

    def fill(self, t: float, level: int) -> None:
        """Values and derivatives of all rows."""
        if level == 0:
            return
        for constraint, row, function in zip(self.constraints, self.rows, self.functions, strict=True):
            self.current = constraint
            i, j = self.tables.seen_by(row)
            value, gradient = function.gradient(self.arguments(t, i, j))
            row.value[:] = residuals(constraint, value)
            row.drift[:], row.gradient[:] = gradient[:, 0], gradient[:, 1:]


def residuals(constraint: BasicConstraint, value: Any) -> Array:
    """What a user's constraint returned, as real numbers; a wrong number of them is refused."""
    if np.iscomplexobj(value):
        message = f"returned a complex value, {value!r}; allowed are real numbers; look for a root of a negative one"
        raise ModelError([constraint.problem("residual", message)])
    array = np.asarray(value, float)
    if array.shape != (constraint.equations,):
        raise ModelError(
            [
                constraint.problem(
                    "residual",
                    f"returned shape {array.shape}, but the class says equations = {constraint.equations}; return that "
                    "many numbers",
                )
            ]
        )
    return array


class Watched:
    """A marker state that notes whether the turns of the angle are asked for."""

    def __init__(self, marker: Any) -> None:
        self._marker, self.asked = marker, False

    def __getattr__(self, name: str) -> Any:
        self.asked = self.asked or name == "turns"
        return getattr(self._marker, name)


def uncounted(force: ForceElement, i: Any, j: Any) -> str | None:
    """What to say about a user's force that asks for an angle, and does not say whether turns are to be counted."""
    said = any("counts_turns" in vars(cls) for cls in type(force).__mro__ if not is_ours(cls))
    if force.counts_turns or said or force.body_j.dimension == 2:
        return None
    z = [np.array(force.initial_states(), float)] if force.states else []
    seen = Watched(j)
    with suppress(Exception):  # it says so itself when it is needed
        force.wrench(0.0, i, seen, *z)
    if not seen.asked:
        return None
    return (
        f"{force}: its angle jumps from pi to -pi, because {type(force).__name__} does not count turns; let the class "
        "say counts_turns = True, or False if that is meant"
    )


def returned(element: Any, method: str, what: str, value: Any, shape: tuple[int, ...]) -> Array:
    """What a user's method returned, as real numbers of that shape; anything else is a `ModelError` that says so."""
    array = np.asarray(value, object if np.ndim(value) else None)
    if any(isinstance(number, complex | np.complexfloating) for number in array.flat):
        message = f"returned a complex {what}, {value!r}; allowed are real numbers; look for a root of a negative one"
        raise ModelError([element.problem(method, message)])
    if array.shape != shape:
        message = f"returned a {what} of shape {array.shape}; allowed is {shape}; return that many numbers"
        raise ModelError([element.problem(method, message)])
    return array.astype(float)


def wrench_of(force: ForceElement, t: float, i: Any, j: Any, *z: Array) -> tuple[Array, Array]:
    """Force and torque that the interpreted method gives, in space, and refuses if they have the wrong size."""
    planar_method = force.body_j.dimension == 2 and "wrench" in users_methods(type(force))
    markers = (planar.motion(i), planar.motion(j)) if planar_method else (i, j)
    found = force.wrench(t, *markers, *z)
    if not isinstance(found, tuple | list | np.ndarray) or len(found) != 2:
        message = f"returned {found!r}; allowed are a force and a torque; return both"
        raise ModelError([force.problem("wrench", message)])
    push = returned(force, "wrench", "force", found[0], (2,) if planar_method else (3,))
    turn = returned(force, "wrench", "torque", found[1], () if planar_method else (3,))
    return (np.append(push, 0.0), np.array([0.0, 0.0, turn])) if planar_method else (push, turn)


def state_rate_of(force: Any, t: float, i: Any, j: Any, z: Array) -> Array:
    """Rates of own states that the interpreted method gives; a wrong number of them is refused."""
    return returned(force, "state_rate", "state_rate", method_of(force, "state_rate")(t, i, j, z), (force.states,))


def check_shapes(force: ForceElement, i: Any, j: Any) -> None:
    """Refuse a wrench or state rate of the wrong kind or size, or no finite energy, where the model is described.

    A method that raises there is left alone: compiled or not, it says so itself when it is needed.
    """
    z = [np.array(force.initial_states(), float)] if force.states else []
    try:
        wrench_of(force, 0.0, i, j, *z)
        if force.states:
            state_rate_of(force, 0.0, i, j, *z)
        if "energy" in users_methods(type(force)):
            energy = method_of(force, "energy")(0.0, i, j)
            if not np.all(np.isfinite(np.asarray(energy, float))):
                message = (
                    f"returned {energy}, which is not finite, where the model is described; look for a division by "
                    "zero, or a root or logarithm of a negative number"
                )
                raise ModelError([force.problem("energy", message)])
    except ModelError:
        raise
    except Exception:
        return


def check_memory(force: ForceElement, i: Any, j: Any) -> list[str]:
    """Refuse a wrench or state rate that depends on earlier calls; returns notices about one that only keeps a record.

    Steps are tried and thrown away, stages lie ahead of each other, and derivatives are taken by more calls: what a
    method remembers of calls has nothing to do with what happened. It is called where the model is described, then in
    other states, and there again; the element is left as it was.
    """
    start = [np.array(force.initial_states(), float)] if force.states else []
    random = np.random.default_rng(2)
    kept = dict(vars(force))
    before = _record(kept)
    notices = []
    try:
        for name, call in (("wrench", wrench_of), ("state_rate", state_rate_of))[: 2 if force.states else 1]:
            if name not in users_methods(type(force)):
                continue

            def here(call: Callable[..., Any] = call) -> Array:
                return np.ravel(call(force, 0.0, i.copy(), j.copy(), *(z.copy() for z in start)))

            first, at_first = here(), _record(vars(force))
            for k in range(OTHER_STATES):
                others = [_elsewhere(marker, random) for marker in (i, j)]
                with suppress(Exception):  # in a state that it was not made for
                    call(force, 0.1 * (k + 1), *others, *(z + random.normal(size=z.shape) for z in start))
            again = here()
            if not np.array_equal(first, again, equal_nan=True):
                message = (
                    f"gives {_listed(again)} where it gave {_listed(first)} at the same instant in the same state, so "
                    "it depends on earlier calls, which are those of steps that are tried; let it remember in own "
                    "states (states, state_rate), and use no random numbers"
                )
                raise ModelError([force.problem(name, message)])
            now = _record(vars(force))
            changed = [a for a, value in now.items() if value != at_first.get(a) or _replaced(before, a, value)]
            if changed:
                notices.append(
                    f"{force}: {name} changes self.{changed[0]}, also in steps that are tried and thrown away; if the "
                    "force is to depend on it, let it remember in own states (states, state_rate) instead"
                )
    except ModelError:
        raise
    except Exception:  # it says so itself when it is needed
        return []
    finally:
        now = _record(vars(force))
        vars(force).clear()
        vars(force).update({a: v if now.get(a) == before.get(a) else pickle.loads(before[a]) for a, v in kept.items()})
    return notices


def _record(values: dict[str, Any]) -> dict[str, bytes]:
    """Attributes as they are now; those that are no plain data are left out."""
    found = {}
    for name, value in values.items():
        if isinstance(value, PLAIN):
            with suppress(Exception):
                found[name] = pickle.dumps(value)
    return found


def _replaced(before: dict[str, bytes], name: str, value: bytes) -> bool:
    """Whether an attribute had a value already, and has another one; what is made at the first call is no memory."""
    return name in before and before[name] not in (value, pickle.dumps(None))


def _elsewhere(marker: Any, random: np.random.Generator) -> Any:
    """A marker in another place and motion."""
    other = marker.copy()
    for name in ("position", "velocity", "angular_velocity"):
        other[name] = other[name] + random.normal(size=3)
    return other


def _listed(numbers: Array) -> str:
    return "(" + ", ".join(f"{number:.6g}" for number in numbers) + ")"


class PythonForces(Caller):
    """Fills force and torque of all rows of a force type by calling the user's method."""

    def __init__(
        self,
        forces: Sequence[ForceElement],
        rows: np.recarray,
        out: np.recarray,
        tables: Tables,
        z: Array,
        z_rate: Array,
    ) -> None:
        super().__init__(forces[0])
        self.forces, self.rows, self.out, self.tables = forces, rows, out, tables
        self.z, self.z_rate = z, z_rate

    def fill(self, t: float) -> None:
        """Force and torque of all rows, and the rates of own states."""
        for force, row, out in zip(self.forces, self.rows, self.out, strict=True):
            self.current = force
            i, j = self.tables.seen_by(row)
            if force.states:
                own = slice(row.z, row.z + force.states)
                self.z_rate[own] = state_rate_of(force, t, i, j, self.z[own].copy())
                i, j = self.tables.seen_by(row)  # again, as the first method may have changed what it was given
                out.force[:], out.torque[:] = wrench_of(force, t, i, j, self.z[own].copy())
            else:
                out.force[:], out.torque[:] = wrench_of(force, t, i, j)
