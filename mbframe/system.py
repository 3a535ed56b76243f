"""The description of a mechanism: names and parameters, no solver state."""

from __future__ import annotations

import copy
import difflib
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bodies.base import Body, Ground
from .bodies.planar import PlanarGround
from .connections import Connection, Fact
from .constraints.base import BasicConstraint
from .controllers.base import Controller
from .controllers.sight import order, seen_elements, sights
from .display import Displayed
from .errors import ModelError, Problem
from .forces.base import ForceElement
from .joints.base import Joint
from .markers import ANGLE, AXES, POINT, Marker, converted
from .measures import Measure
from .parameters import Element, parameter
from .plane import lifted, rotation_by
from .signals import Input, Signal, named_by, prefixed, refuse_unknown
from .unknown import Unknown

E = TypeVar("E", bound=Element)
_ADDED: Final = (Body, Joint, BasicConstraint, ForceElement, Measure, Signal, Unknown)


@cache
def _references(kind: Any) -> list[str]:
    """The parameters of a class that are other elements."""
    return [name for name, p in kind.parameters().items() if p.kind == "reference"]


def _referred_first(elements: Iterable[Element]) -> list[Element]:
    """Elements behind those that they refer to, otherwise in their order."""
    waiting, found = {id(element): element for element in elements}, list[Element]()

    def settle(element: Element) -> None:
        if waiting.pop(id(element), None) is not None:
            kind: Any = type(element)
            for name in _references(kind):
                if (other := getattr(element, name)) is not None:
                    settle(other)
            found.append(element)

    for element in list(waiting.values()):
        settle(element)
    return found


class _Values(TypedDict, total=False):
    dimension: int
    gravity: Sequence[float] | NDArray[np.float64]


class System(Displayed, Element):
    """A mechanism: bodies, joints and forces by unique names.

    Parameters
    ----------
    name
        Name of the system.
    dimension
        3, or 2 for a planar system: its bodies are of the class `PlanarBody`, its vectors have two components, and
        what is about the normal (angles, angular velocities, torques) are numbers.
    gravity
        Acceleration of gravity, global, m/s^2.
    """

    dimension = parameter(3, minimum=2, maximum=3, help="3: spatial, 2: planar")
    symbol = "system"
    gravity = parameter(
        (0.0, 0.0, -9.81),
        kind="free vector",
        unit="m/s^2",
        planar=(0.0, -9.81),
        help="acceleration of gravity, global",
    )

    def __init__(self, name: str = "system", **values: Unpack[_Values]) -> None:
        super().__init__(name, **values)
        self._elements: dict[str, Element] = {}
        self.ground: Body = Ground("ground") if self.dimension == 3 else PlanarGround("ground")
        self._adopt(self.ground)

    def dimension_with(self, values: Mapping[str, Any]) -> int:
        found = values.get("dimension", self.__dict__.get("dimension", 3))
        return 2 if found == 2 else 3

    def check(self) -> Iterator[Problem]:
        ground = self.__dict__.get("ground")
        if ground is not None and ground.dimension != self.dimension:
            yield self.problem("dimension", f"found {self.dimension}; a system keeps its dimension; make a new one")

    def facts(self) -> list[Fact]:
        """Numbers that follow from its elements: label, values, unit."""
        drivers = sum(joint.symbol == "driver" for joint in self.joints)
        counts = [("Bodies", len(self.bodies)), ("Joints", len(self.joints) - drivers)]
        counts += [("Drivers", drivers)] if drivers else []
        mass = sum(body.mass_properties()[0] for body in self.bodies)
        return [("Total mass", [mass], "kg"), *((label, [count], "") for label, count in counts)]

    def add(self, element: E) -> E:
        """Add a body, joint, constraint or force, and return it."""
        if not isinstance(element, _ADDED):
            remedy = "include(...) takes systems" if isinstance(element, System) else "pass an object of such a class"
            allowed = "bodies, joints, constraints, forces, measures, inputs and controllers"
            message = f"found {element!r}; only {allowed} can be added; {remedy}"
            raise ModelError([self.problem("", message)])
        if self._elements.get(element.name) is element:
            raise ModelError([element.problem("", f"is in system {self.name!r} already; add it once")])
        self._check_free(element, element.name)
        if isinstance(element, Body) and element.dimension != self.dimension:
            kinds = {2: "planar: use a PlanarBody", 3: "spatial: use a RigidBody, or System(..., dimension=2)"}
            raise ModelError(
                [element.problem("", f"cannot be in system {self.name!r}, which is {kinds[self.dimension]}")]
            )
        if isinstance(element, Connection):
            kind: Any = type(element)
            outside = [
                element.problem(field, f"found {found}, {self._remedy(found)}")
                for field in _references(kind)
                if (found := getattr(element, field)) is not None and self._elements.get(found.name) is not found
            ]
            if outside:
                raise ModelError(outside)
            if element.body_i is None and element.body_j is self.ground:
                element.body_i = self.ground  # which its check refuses, with the reason
            elif element.body_i is None:  # the other side of a load on one body, which has the dimension of this system
                vars(element)["body_i"] = self.ground
                element._notify("body_i", None, self.ground)
        if named_by(element):
            refuse_unknown(element, self.known_to(element))
        if isinstance(element, Controller):
            sights(self, element)
        self._adopt(element)
        return element

    def known_to(self, element: Element) -> dict[str, str]:
        """The signals that the functions of an element may name: those of controllers, inputs only."""
        if isinstance(element, Controller):
            return {name: unit for one in self.inputs for name, unit in one.signals.items()}
        return self.signals

    def _remedy(self, stranger: Element) -> str:
        """What to do about an element that a connection refers to and that is not in this system."""
        remedy = "add it first with system.add(...)"
        if stranger.name in self:
            remedy = f"it has another of that name: pass system[{stranger.name!r}]"
        return f"which is not in system {self.name!r}; {remedy}"

    def _adopt(self, element: Element) -> None:
        self._elements[element.name] = element
        self._watch(element)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for element in self:
            self._watch(element)

    def __copy__(self) -> System:
        """A whole system: elements that two of them share would change in both."""
        return copy.deepcopy(self)

    def _watch(self, element: Element) -> None:
        """Be told of another name; an element does not keep its system in memory."""
        reference = weakref.ref(self)

        def renamed(element: Element, field: str, old: str, new: str) -> None:
            if (system := reference()) is not None:
                system._renamed(element, field, old, new)

        element.observe(renamed)

    def _check_free(self, element: Element, name: str, remedy: str = "choose another name") -> None:
        taken = self._elements.get(name)
        if taken is not None:
            message = f"found {name!r}, which is taken by {taken} in system {self.name!r}; {remedy}"
            raise ModelError([element.problem("name", message)])

    def _renamed(self, element: Element, field: str, old: Any, new: Any) -> None:
        if field != "name" and self._elements.get(element.name) is element:
            self._refuse_signals(element, field, old)
            self._refuse_unseen(element, field, old)
        if field != "name" or old == new or self._elements.get(old) is not element:
            return
        element._name = old  # a name that is taken leaves the element as it was
        self._check_free(element, new)
        if isinstance(element, Signal) and (users := self._naming(element)):
            message = (
                f"found {new!r}, but {', '.join(map(str, users))} would name what is not there; change these first"
            )
            raise ModelError([element.problem("name", message)])
        attached = self._follow_unknown(element, old, new)
        element._name = new
        for other in attached:
            other.rename_joined(old, new)
        self._elements = {e.name: e for e in self._elements.values()}
        for controller in self.controllers:  # which know what they see by name
            controller.follow(old, new)

    def _follow_unknown(self, element: Element, old: str, new: str) -> list[Unknown]:
        """What of an unknown class is attached to an element with a new name; what may mean it otherwise refuses."""
        signal = isinstance(element, Signal | Unknown)
        meaning = [e for e in self.unknown if e is not element and e.mentions(old, signal)]
        if meaning:
            message = (
                f"found {new!r}, but {', '.join(map(str, meaning))}, of an unknown class, may mean {old!r}; "
                "give its class first, or keep the name"
            )
            raise ModelError([element.problem("name", message)])
        return [e for e in self.unknown if old in e.joined]

    def _refuse_signals(self, element: Element, field: str, old: Any) -> None:
        """Refuse an assignment by which an element would name a signal that is not there, and undo it."""
        if not named_by(element):
            return
        try:
            refuse_unknown(element, self.known_to(element), field)
        except ModelError:
            vars(element)[field] = old
            raise

    def _refuse_unseen(self, element: Element, field: str, old: Any) -> None:
        """Refuse what would let a controller see what is not there, or itself, and undo it."""
        if not isinstance(element, Controller) or (field == "measures" and element.measures == old):
            return
        try:
            sights(self, element)
            order(self)
        except ModelError:
            vars(element)[field] = old
            raise

    def _naming(self, signal: Signal) -> list[Element]:
        """The elements whose functions name a value of this one."""
        own = signal.signals
        return [e for e in self if any(name in own for names in named_by(e).values() for name in names)]

    def remove(self, element: Element | str) -> None:
        """Remove an element that no other depends on."""
        found = self[element] if isinstance(element, str) else element
        if found not in self:
            raise ModelError([self.problem("", f"{found} is not in this system; pass one of its elements or a name")])
        users = [other.name for other in self._users(found)]
        if found is self.ground:
            raise ModelError([found.problem("", "cannot be removed; every system has its ground")])
        if users:
            message = f"cannot be removed; remove first what is attached: {', '.join(users)}"
            raise ModelError([found.problem("", message)])
        del self._elements[found.name]

    def _users(self, element: Element) -> list[Element]:
        signal = isinstance(element, Signal | Unknown)
        named = [e for e in self.unknown if element.name in e.joined or e.mentions(element.name, signal)]
        seeing = [c for c in self.controllers if any(e is element for e in seen_elements(self, c))]
        others = [e for e in (*seeing, *named) if e is not element]
        if isinstance(element, Signal):
            return [*self._naming(element), *others]
        attached = [c for c in self if isinstance(c, Connection) and any(v is element for v in c.values().values())]
        return [*attached, *others]

    def dependents(self, element: Element) -> list[Element]:
        """The elements that cannot be without this one: what refers to it, and what refers to that, nearest first."""
        found: dict[str, Element] = {}
        waiting = [element]
        while waiting:
            for user in self._users(waiting.pop(0)):
                if user.name not in found:
                    found[user.name] = user
                    waiting.append(user)
        return list(found.values())

    def reorder(self, names: Iterable[str]) -> None:
        """Put the elements in the order of these names, which is that of tables, files and lists."""
        order = list(names)
        if sorted(order) != sorted(self._elements):
            raise ModelError(
                [self.problem("reorder", "found other names; allowed are those of all elements, each once")]
            )
        self._elements = {name: self._elements[name] for name in order}

    def __getitem__(self, name: str) -> Element:
        try:
            return self._elements[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self._elements, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise ModelError([self.problem("", f"there is no element {name!r}{meant}")]) from None

    def __contains__(self, element: object) -> bool:
        """Whether an element, or one of that name, is in the system."""
        return element in self._elements if isinstance(element, str) else any(element is e for e in self)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._elements.values())

    def __len__(self) -> int:
        return len(self._elements)

    @property
    def bodies(self) -> list[Body]:
        """The moving bodies, in the order in which they were added (the ground is `system.ground`)."""
        return [e for e in self if isinstance(e, Body) and e is not self.ground]

    @property
    def joints(self) -> list[Joint | BasicConstraint]:
        """The joints and the basic constraints that were added by themselves."""
        return [e for e in self if isinstance(e, Joint | BasicConstraint)]

    @property
    def forces(self) -> list[ForceElement]:
        """The force elements (gravity apart)."""
        return [e for e in self if isinstance(e, ForceElement)]

    @property
    def measures(self) -> list[Measure]:
        """The measures."""
        return [e for e in self if isinstance(e, Measure)]

    @property
    def inputs(self) -> list[Input]:
        """The inputs."""
        return [e for e in self if isinstance(e, Input)]

    @property
    def controllers(self) -> list[Controller]:
        """The controllers."""
        return [e for e in self if isinstance(e, Controller)]

    @property
    def unknown(self) -> list[Unknown]:
        """The elements of a file whose classes are not known: kept and saved as they are, but not computed."""
        return [e for e in self if isinstance(e, Unknown)]

    @property
    def signals(self) -> dict[str, str]:
        """The names by which expressions call what comes from outside, with units."""
        return {name: unit for e in self if isinstance(e, Signal) for name, unit in e.signals.items()}

    def as_described(self) -> System:
        """A copy for reading that keeps today's values and names; its elements refer to each other."""
        twin = System.__new__(System)
        twin.__dict__.update(self.__getstate__())
        copies: dict[int, Any] = {id(element): copy.copy(element) for element in self}
        twin._elements = {element.name: element for element in copies.values()}
        twin.ground = twin[self.ground.name]  # type: ignore[assignment]
        for element in copies.values():
            values = vars(element)
            kind: Any = type(element)
            for name in _references(kind):
                values[name] = copies.get(id(values[name]), values[name])
            if isinstance(element, BasicConstraint) and element.given_markers:
                i, j = element.given_markers
                element.attach(*(type(m).placed(copies[id(m.body)], m.at, m.axes) for m in (i, j)))
        return twin

    def include(
        self,
        assembly: System,
        prefix: str,
        position: ArrayLike | None = None,
        rotation: object = None,
    ) -> dict[str, Element]:
        """Add copies of all elements of another system, named `prefix + name` and moved as one rigid whole.

        The other system is turned by `rotation` about its origin, which then comes to `position`. What is attached to
        its ground is attached to this one's; its gravity is not taken over. In the plane `rotation` is an angle.
        Returns the copies by their old names.
        """
        if not isinstance(assembly, System):
            raise ModelError([self.problem("include", f"found {assembly!r}; allowed is a system to copy from")])
        if assembly.dimension != self.dimension:
            message = f"found a system of dimension {assembly.dimension}; allowed is one of dimension {self.dimension}"
            raise ModelError([self.problem("include", message)])
        if assembly.unknown:
            message = f"has {', '.join(map(str, assembly.unknown))}, of unknown classes, which cannot be moved"
            raise ModelError([assembly.problem("", f"{message}; give the classes when it is loaded")])
        if not isinstance(prefix, str):
            raise ModelError([self.problem("include, prefix", f"found {prefix!r}; allowed is a text; give one")])
        origin = np.zeros(self.dimension) if position is None else position
        shift = lifted(converted(POINT, origin, str(self), "include, position", self.dimension))
        turn = np.eye(3) if rotation is None else self._turn(rotation)
        elements = [element for element in assembly if element is not assembly.ground]
        for element in elements:
            self._check_free(element, prefix + element.name, "choose another prefix")
        copies: dict[str, Element] = {assembly.ground.name: self.ground}
        added = dict.fromkeys(prefix + element.name for element in elements)
        ordered = _referred_first(elements)
        for element in ordered:
            twin = copy.copy(element)
            twin.name = prefix + element.name
            vars(twin).update(prefixed(element, prefix))
            twin.update(
                **{
                    key: copies[value.name] if p.kind == "reference" else p.moved(value, turn, shift)
                    for key, p in type(element).parameters().items()
                    if (value := getattr(twin, key)) is not None
                    and not (isinstance(element, Connection) and element.goes_with_bodies(p))
                }
            )
            if isinstance(element, BasicConstraint) and isinstance(twin, BasicConstraint) and element.given_markers:
                ends = [(copies[m.body.name], turn @ m.at + shift, turn @ m.axes) for m in element.given_markers]
                i, j = (Marker.placed(body, at, axes) for body, at, axes in ends if isinstance(body, Body))
                twin.attach(i, j)
            copies[element.name] = twin
        for element in ordered:
            self.add(copies[element.name])
        self.reorder([*(name for name in self._elements if name not in added), *added])
        return copies

    def _turn(self, rotation: Any) -> NDArray[np.float64]:
        """The matrix of a rotation, or of an angle in the plane."""
        if self.dimension == 3:
            return converted(AXES, rotation, str(self), "include, rotation")
        return rotation_by(float(converted(ANGLE, rotation, str(self), "include, rotation")))
