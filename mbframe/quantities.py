"""The quantities of a result by name: "bar.position.x", "A.reaction.force.z", "energy.total", "spring.length".

A name is the element, what is asked of it, and a component; without the component it is the whole vector. All names
come from one table, so that plots, tables, the command line and lists to choose from agree.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .abilities import working
from .errors import ModelError, Problem
from .joints.coordinates import RATES, UNITS, coordinates_of
from .over_time import signals_of
from .unknown import refuse_unknown_classes

if TYPE_CHECKING:
    from .results import Result
    from .system import System

Array = NDArray[np.float64]

VECTOR = ("x", "y", "z", "magnitude")
PLANAR = ("x", "y", "magnitude")
ABOUT_NORMAL = ("angular_velocity", "angular_acceleration", "torque", "angular")  # numbers in the plane
QUATERNION = ("0", "1", "2", "3")
MOTION = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s^2",
    "angular_velocity": "rad/s",
    "angular_acceleration": "rad/s^2",
}
LOAD = {"force": "N", "torque": "N m"}
SCALARS = {
    "energy": {"kinetic": "J", "potential": "J", "total": "J", "balance": "J"},
    "violation": {"position": "m", "velocity": "m/s"},
}
MOMENTUM = {"linear": "N s", "angular": "N m s"}
OF_POINTS = ("position", "velocity", "acceleration")
POINT = re.compile(r"(?P<body>.+)\.point\((?P<point>[^()]*)\)\.(?P<kind>\w+)(?:\.(?P<component>\w+))?")

SECTION = re.compile(r"(?P<body>.+)\.section\((?P<x>[^()]*)\)\.(?P<kind>\w+)(?:\.(?P<component>\w+))?")
OF_SECTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "axial": ("N", ()),
    "shear": ("N", ("y", "z")),
    "torsion": ("N m", ()),
    "bending": ("N m", ("y", "z")),
}


@dataclass(frozen=True)
class Quantity:
    """Values over the instants of a result, with the unit and the parts of the name.

    A vector has a column for each of its `columns`, which are called "x", "y", "z" or numbered.
    """

    name: str
    values: Array
    unit: str
    element: str
    kind: str
    component: str = ""
    columns: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name in words."""
        return " ".join(part for part in (self.element, self.kind_in_words, self.component) if part)

    @property
    def kind_in_words(self) -> str:
        return self.kind.replace("_", " ").replace(".", " ")

    def components(self) -> list[Quantity]:
        """The components of a vector; a scalar itself."""
        if not self.columns:
            return [self]
        return [
            Quantity(f"{self.name}.{c}", values, self.unit, self.element, self.kind, c)
            for c, values in zip(self.columns, self.values.T, strict=True)
        ]


@dataclass(frozen=True)
class Entry:
    """How a quantity is computed: an array with a column per component (`magnitude` apart), or without components."""

    element: str
    kind: str
    unit: str
    compute: Callable[[], Array]
    components: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return ".".join(part for part in (self.element, self.kind) if part)


class Catalogue:
    """All quantities of a result. A name may contain dots; the longest entry that fits is meant."""

    def __init__(self, entries: Iterable[Entry], stored: Mapping[str, str]) -> None:
        found = list(entries)
        time = [entry for entry in found if not entry.element]  # which a measure called "t" does not replace
        self._entries = {entry.name: entry for entry in [*found, *time]}
        self._stored = stored

    def units(self) -> dict[str, str]:
        """Names of all scalar quantities and their units."""
        found: dict[str, str] = {}
        for name, entry in self._entries.items():
            found |= dict.fromkeys([f"{name}.{c}" for c in entry.components] or [name], entry.unit)
        return found | {name: unit for name, unit in self._stored.items() if name not in found}

    def find(self, name: str) -> tuple[Entry, str]:
        """The entry and the component that a name means; a wrong name is a `ModelError` with the nearest one."""
        if name in self._entries:
            return self._entries[name], ""
        base, _, component = name.rpartition(".")
        entry = self._entries.get(base)
        if entry is not None and component in entry.components:
            return entry, component
        raise ModelError([Problem("Result", f"quantity {name!r}", self._remedy(name))])

    def _remedy(self, name: str) -> str:
        known = [*self.units(), *self._entries]
        if near := difflib.get_close_matches(name, known, n=3, cutoff=0.6):
            return f"there is none of this name; did you mean {' or '.join(map(repr, near))}?"
        return f"there is none of this name; result.quantities() lists all {len(known)}"


def catalogue(result: Result) -> Catalogue:
    """The quantities of a result. Where its model cannot be built again, those that are stored."""
    stored = result.states.stored_units()
    try:
        result.states.tables  # noqa: B018 (refuses a model that does not fit)
        refuse_unknown_classes(result.described)
        entries = list(_entries(result.described, result))
    except ModelError:
        if not stored:
            raise
        entries = [Entry("", "t", "s", lambda: result.t)]
    return Catalogue(entries, stored)


def units_of(system: System) -> dict[str, str]:
    """Names and units of the quantities that a result of this system will have; takes no time, computes nothing."""
    return Catalogue(_entries(system, None), {}).units()


def select(result: Result, names: Sequence[str], known: Catalogue | None = None) -> list[Quantity]:
    """The named quantities; what is stored is read, what is not is computed, each vector once.

    `known` are those of the result, if they are at hand.
    """
    computed: dict[str, Array] = {}
    chosen = []
    for name in names:
        if not isinstance(name, str):
            message = f"found {name!r}; allowed are names such as 'bar.position.x'; pass such a text"
            raise ModelError([Problem("Result", "quantity", message)])
        if (found := result.states.stored(name)) is not None:
            values, unit = found
            chosen.append(Quantity(name, values, unit, *_parts(name)))
        elif (of_point := _point(result, name)) is not None:
            chosen.append(of_point)
        elif (of_section := _section(result, name)) is not None:
            chosen.append(of_section)
        else:
            known = known or catalogue(result)
            entry, component = known.find(name)
            if entry.name not in computed:
                computed[entry.name] = entry.compute()
            values, columns = _component(computed[entry.name], entry.components, component)
            chosen.append(Quantity(name, values, entry.unit, entry.element, entry.kind, component, columns))
    return chosen


def _component(values: Array, components: tuple[str, ...], component: str) -> tuple[Array, tuple[str, ...]]:
    """A component, or all columns with their names."""
    if component == "magnitude":
        return np.linalg.norm(values, axis=1), ()
    if component:
        return values[:, components.index(component)], ()
    return values, tuple(c for c in components if c != "magnitude")


def _parts(name: str) -> tuple[str, str, str]:
    """Element, kind and component of a stored name."""
    base, _, last = name.rpartition(".")
    if base and (last in VECTOR or last.isdigit()):
        element, _, kind = base.rpartition(".")
        return element, kind, last
    return base, last, ""


def _point(result: Result, name: str) -> Quantity | None:
    """A quantity of a point in body axes: "bar.point(2, 0, 0).position.x"."""
    if (match := POINT.fullmatch(name)) is None:
        return None
    kind, component = match["kind"], match["component"] or ""
    try:
        point = [float(number) for number in match["point"].split(",")]
    except ValueError:
        point = []
    components = components_of(kind, result.dimension)
    if len(point) != result.dimension or kind not in OF_POINTS or (component and component not in components):
        place = ", ".join(components[:-1])
        message = f"allowed is 'body.point({place}).kind.component' with kind {', '.join(OF_POINTS)} and {place} in m"
        raise ModelError([Problem("Result", f"quantity {name!r}", message)])
    values, columns = _component(getattr(result, kind)(match["body"], point), components, component)
    element = f"{match['body']} point({', '.join(f'{number:g}' for number in point)})"
    return Quantity(name, values, MOTION[kind], element, kind, component, columns)


def _section(result: Result, name: str) -> Quantity | None:
    """What a section of a beam carries: "rod.section(0.5).bending.y", with the way along it in m."""
    if (match := SECTION.fullmatch(name)) is None:
        return None
    kind, component = match["kind"], match["component"] or ""
    unit, components = OF_SECTIONS.get(kind, ("", ()))
    try:
        x = float(match["x"])
    except ValueError:
        unit = ""
    if not unit or (component and component not in components):
        kinds = "axial, shear.y, shear.z, torsion, bending.y, bending.z"
        message = f"allowed is 'body.section(x).kind' with x in m and kind {kinds}"
        raise ModelError([Problem("Result", f"quantity {name!r}", message)])
    values, columns = _component(getattr(result.section_forces(match["body"], x), kind), components, component)
    return Quantity(name, values, unit, f"{match['body']} section({x:g})", kind, component, columns)


def components_of(kind: str, dimension: int) -> tuple[str, ...]:
    """What the components of a vector are called in a system of that dimension; none for a number."""
    if dimension == 3:
        return VECTOR
    return () if kind in ABOUT_NORMAL else PLANAR


def _entries(system: System, result: Any) -> Iterator[Entry]:
    """All quantities of a result of this system. Without a result they have names only."""
    dimension = system.dimension

    def asked(method: str, *arguments: Any) -> Callable[[], Array]:
        return lambda: getattr(result, method)(*arguments)

    yield Entry("", "t", "s", lambda: result.t)
    for described in system.bodies:
        body = described.name
        for kind, unit in MOTION.items():
            yield Entry(body, kind, unit, asked(kind, body), components_of(kind, dimension))
        if modes := len(described.motion.modal_coordinates):
            numbers = tuple(map(str, range(modes)))
            yield Entry(body, "modal_coordinate", "", asked("modal", body), numbers)
            yield Entry(body, "modal_velocity", "1/s", asked("modal_velocity", body), numbers)
            if getattr(described, "knows_stress", False):
                yield Entry(body, "stress.max", "Pa", partial(_largest_stress, result, body))
        if dimension == 2:
            yield Entry(body, "angle", "rad", asked("angle", body))
        else:
            yield Entry(body, "quaternion", "", partial(continuous_quaternions, result, body), QUATERNION)
    yield from _of_joints(system, result)
    for force in system.forces:
        for kind, unit in LOAD.items():
            compute = partial(_wrench, result, force.name, kind)
            yield Entry(force.name, kind, unit, compute, components_of(kind, dimension))
        for kind, unit in force.outputs.items():
            yield Entry(force.name, kind, unit, asked("output", force.name, kind))
        if states := force.as_evaluated.states:
            numbers = tuple(map(str, range(states)))
            yield Entry(force.name, "state", "", asked("element_states", force.name), numbers)
    kept = result is None or result.states.tables.keeps_works
    works = working(system) if result is None else (work.owner_name for work in result.states.tables.works)
    for name in works:
        yield Entry(name, "work", "J", partial(_work, result, name))
    for measure in system.measures:
        yield Entry(measure.name, "", measure.unit, asked("measure", measure.name))
    yield from _of_signals(system, result)
    for group, kinds in SCALARS.items():
        for kind, unit in kinds.items():
            if kept or kind != "balance":
                yield Entry(group, kind, unit, partial(_whole, result, group, kind))
    for kind, unit in MOMENTUM.items():
        yield Entry("momentum", kind, unit, partial(_whole, result, "momentum", kind), components_of(kind, dimension))


def _of_signals(system: System, result: Any) -> Iterator[Entry]:
    """Inputs, and the outputs and states of controllers."""
    for one in system.inputs:
        yield Entry(one.name, "", one.unit, partial(_input, result, one.name))
    for controller in system.controllers:
        for name, unit in controller.outputs.items():
            yield Entry(controller.name, name, unit, partial(_given, result, f"{controller.name}.{name}"))
        if controller.states:
            numbers = tuple(map(str, range(controller.states)))
            yield Entry(controller.name, "state", "", partial(_own_states, result, controller.name), numbers)


def _own_states(result: Result, element: str) -> Array:
    return result.element_states(element)


def _of_joints(system: System, result: Any) -> Iterator[Entry]:
    """Reactions and coordinates of the joints."""
    for joint in system.joints:
        for kind, unit in LOAD.items():
            compute = partial(_reaction, result, joint.name, kind)
            yield Entry(joint.name, f"reaction.{kind}", unit, compute, components_of(kind, system.dimension))
        for name in coordinates_of(joint):
            value, rate = (partial(_coordinate, result, joint.name, name, part) for part in (0, 1))
            yield Entry(joint.name, name, UNITS[name], value)
            yield Entry(joint.name, f"{name}_rate", RATES[UNITS[name]], rate)


def _largest_stress(result: Result, body: str) -> Array:
    from .stresses import largest_stresses

    return largest_stresses(result, body)[0]


def _reaction(result: Result, joint: str, kind: str) -> Array:
    return getattr(result.reaction(joint), kind)


def _coordinate(result: Result, joint: str, name: str, part: int) -> Array:
    return result.joint_coordinate(joint, name)[part]


def _wrench(result: Result, force: str, kind: str) -> Array:
    return result.wrench(force)[list(LOAD).index(kind)]


def _work(result: Result, element: str) -> Array:
    return result.energy.work[element]


def _input(result: Result, name: str) -> Array:
    place = result.states.tables.inputs[name]
    return result.states.part("z", slice(place, place + 1))[:, 0]


def _given(result: Result, signal: str) -> Array:
    held = result.states.tables.held
    if signal in held:
        return result.states.part("z", slice(held[signal], held[signal] + 1))[:, 0]
    return signals_of(result)[signal]


def _whole(result: Result, group: str, kind: str) -> Array:
    return getattr(getattr(result, group), kind)


def continuous_quaternions(result: Result, body: Any) -> Array:
    """Scalar-first unit quaternions whose sign does not jump from one instant to the next."""
    quaternions = result.rotation(body).as_quat(scalar_first=True)
    turned = np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0.0
    quaternions[1:][np.cumsum(turned) % 2 == 1] *= -1.0
    return quaternions
