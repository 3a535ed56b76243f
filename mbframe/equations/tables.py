"""From the described system to numbered coordinates, rows and tables.

Numbering: coordinates and velocities body by body in the order of the system; constraint rows joint by joint, then
the intrinsic rows of the bodies, so that a joint's multipliers stand in the same columns in every formulation. Matrix
entries: the mass blocks, then the blocks of the constraint Jacobian.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..abilities import functions_of, has_derivatives, is_conservative, may_drive
from ..bodies.formulations import Formulation, NewtonEuler, Relative
from ..connections import Connection
from ..constraints.axis import AxisConstraint
from ..constraints.base import BasicConstraint
from ..constraints.relations import MeasureRelation, MeasureTerm
from ..controllers.base import Controller
from ..controllers.sight import Sight, order, sights
from ..errors import ModelError
from ..joints.base import Joint
from ..kernels.layout import PLACE
from ..kernels.stages.planar import spatial_methods
from ..kernels.stages.user import constraint_fields, velocity_fields
from ..kernels.tangent.axes import AXIS_FIELDS
from ..kernels.workspace import COUNTER, LINK_FIELDS, MARKER, MOST_EQUATIONS, REACTIVE_FIELDS
from ..markers import Marker
from ..measures import Measure
from ..plane import lifted
from ..registry import is_ours
from ..signals import named_by, with_signals
from ..system import System
from ..unknown import UnknownFormulation
from .axes import axis_fields
from .followers import COUNTED, Follower, Work, described_angle
from .numbered import (
    NumberedBody,
    NumberedConstraint,
    NumberedController,
    NumberedForce,
    Stateful,
    Table,
    users_methods,
)
from .rows import reaction_link, rows_of

Array = NDArray[np.float64]
BODY_FIELDS = [
    ("q", "i8"),
    ("v", "i8"),
    ("row", "i8"),  # first intrinsic row
    ("mass_block", "i8"),
    ("row_block", "i8"),
    ("marker", "i8"),
    ("n_markers", "i8"),
    ("tangent_block", "i8"),
    ("work_at", "i8"),  # where in z the follower of the work of its damping is; -1: none is kept
]


ALL_AXES = 7  # of a marker, a bit each
ANGLE_OF = ", equation "  # between a joint and the number of the equation of one of its angles


class Tables:
    """The numbered system. Reads the description once; nothing here changes afterwards.

    With `works` the work of all that is not in the energy has places in z.
    """

    def __init__(self, system: System, formulation: Formulation | None, works: bool = False) -> None:
        self.system = system
        self.planar = system.dimension == 2
        self.gravity = lifted(system.gravity)
        self.relative = isinstance(formulation, Relative)
        if formulation is not None:
            formulation = formulation.of_bodies(system.dimension)
        if formulation is not None and formulation.dimension != system.dimension:
            kind = "planar, such as PlanarAngle()" if self.planar else "spatial, such as NewtonEuler()"
            message = f"found {formulation!r}; allowed in system {system.name!r} is one that is {kind}"
            raise ModelError([system.problem("formulation", message)])
        self.bodies: list[NumberedBody] = []
        n_q = n_v = 0
        for body in system.bodies:
            chosen = body.formulation_for(formulation) or NewtonEuler()
            if isinstance(chosen, Relative):
                self.relative, chosen = True, chosen.of_bodies(system.dimension)
            if isinstance(chosen, UnknownFormulation):
                raise ModelError([body.problem("formulation", f"cannot be computed: {chosen.reason}")])
            self.bodies.append(NumberedBody(body, chosen, n_q, n_v))
            n_q, n_v = n_q + chosen.n_q, n_v + chosen.n_v
        self.n_q, self.n_v = n_q, n_v
        self.n_scratch = max((3 * b.formulation.n_frame for b in self.bodies), default=0)
        self.index = {numbered.body.name: k for k, numbered in enumerate(self.bodies)}
        self._number_links()
        self.works: list[Work] = []
        self.drives: list[tuple[int, int, int]] = []  # first row, number of rows, and place in z of the work
        if works:
            self._number_works()
        self.keeps_works = works or next(self._working(), None) is None
        self._number_entries()
        self.kept_arrays: list[Array] = []  # what the rows of markers and constraints on flexible bodies point to
        self.markers = self._marker_table()
        self.body_tables = list(self._body_tables())

    # --- numbering ---------------------------------------------------------------------------------------------------

    def _refuse_strangers(self) -> None:
        """Elements between bodies that the system does not have are errors."""
        for link in (*self.system.joints, *self.system.forces):
            for side in ("body_i", "body_j"):
                body = getattr(link, side)
                if body is not self.system.ground and self.index.get(body.name) is None:
                    message = f"found {body}, which is not in system {self.system.name!r}; add it with system.add(...)"
                    raise ModelError([link.problem(side, message)])

    def _number_links(self) -> None:
        self._refuse_strangers()
        # Where reactions refer to: second body, local point and shape of the node of each joint, as described now.
        self.joint_points: dict[str, tuple[int, Array, Array | None]] = {}
        for joint in self.system.joints:
            marker, number = joint.j, self.index.get(joint.j.body.name, -1)
            _check_places(joint, [joint.i, marker])
            bends = number >= 0 and self.bodies[number].formulation.n_modes > 0
            shape = marker.node_shape if bends else None
            self.joint_points[joint.name] = (number, marker.local_point, shape)
        constraints: list[tuple[Joint | BasicConstraint, BasicConstraint]] = []
        shared: dict[int, MeasureTerm] = {}  # the terms of a relation use the row of its first one
        for joint in self.system.joints:
            for part in joint.constraints() if isinstance(joint, Joint) else [joint]:
                if isinstance(part, MeasureRelation):
                    shared |= {id(term): part.terms[0] for term in part.terms[1:]}
                    constraints += [(joint, term) for term in part.terms]
                elif (kept := part.in_plane() if self.planar else part) is not None:
                    constraints.append((joint, kept))
        self.angles: list[Measure] = [m for m in self.system.measures if m.counts_turns]
        self.controllers = [NumberedController(c, c.name, sights(self.system, c)) for c in order(self.system)]
        self.seen = {seen.name: seen for c in self.controllers for seen in c.sights}
        owners: list[Connection] = [*(part for _, part in constraints), *self.system.forces, *self.angles]
        pairs = [(owner.i, owner.j) for owner in owners]
        for owner, pair in zip(owners, pairs, strict=True):
            _check_places(owner, pair)
        seen = [marker for one in self.seen.values() for marker in _markers_of(one)]
        self._places = self._place_markers([*(marker for pair in pairs for marker in pair), *seen])
        numbers = [(self.place(i), self.place(j)) for i, j in pairs]

        self.constraints: list[NumberedConstraint] = []
        for (owner, part), (i, j) in zip(constraints, numbers, strict=False):
            if not 0 < part.equations <= MOST_EQUATIONS:
                message = f"found {part.equations}; allowed are 1 to {MOST_EQUATIONS}; split the constraint"
                raise ModelError([part.problem("equations", message)])
            self.constraints.append(NumberedConstraint(part, owner, owner.name, 0, i, j))
        self._number_rows(shared)
        # Signals that programs read, where these have the value, and whether a controller runs them.
        self.fed: list[tuple[str, Array, int, bool]] = []
        self.forces: list[NumberedForce] = []
        z = 0
        for force, (i, j) in zip(self.system.forces, numbers[len(constraints) :], strict=False):
            self.forces.append(NumberedForce(self._fed(force.as_evaluated), force.name, i, j, z))
            z += self.forces[-1].force.states
        self.fed_controllers = {c.name: self._fed(c.controller) for c in self.controllers}
        for c in self.controllers:
            if not c.sampled:
                c.z, z = z, z + c.controller.states
        self.n_z = z
        self._follow_angles(numbers[len(constraints) + len(self.forces) :])

    def _number_rows(self, shared: Mapping[int, MeasureTerm]) -> None:
        """Rows of holonomic constraints, then those of formulations, then nonholonomic ones."""
        row = 0
        first_rows: dict[int, int] = {}
        for c in self.constraints:
            if id(c.constraint) in shared:
                c.row = first_rows[id(shared[id(c.constraint)])]
            elif not c.constraint.nonholonomic:
                c.row = first_rows[id(c.constraint)] = row
                row += c.constraint.equations
        for numbered in self.bodies:
            numbered.row = row
            row += numbered.formulation.n_intrinsic
        self.n_holonomic = row
        for c in self.constraints:
            if c.constraint.nonholonomic:
                c.row = row
                row += c.constraint.equations
        self.n_rows = row

    def _follow_angles(self, of_measures: Sequence[tuple[int, int]]) -> None:
        """Followers and counters of angles over turns; of the measures among them the markers are given."""
        self.followers: list[Follower] = []
        self.counters = np.zeros(1, COUNTER).view(np.recarray)  # the first row belongs to no angle
        for c in self.constraints:
            if c.constraint.counts_turns:
                label = f"{ANGLE_OF}{c.row}, angle {self.n_z}"
                start = c.constraint.start if isinstance(c.constraint, MeasureTerm) else described_angle(c.constraint)
                c.counter = self._count(c.i, c.j, self.follow(c.owner, c.owner_name, label, "rad", start))
        for f in self.forces:
            if f.force.counts_turns:
                follower = self.follow(f.force, f.name, COUNTED, "rad", described_angle(f.force))
                f.counter = self._count(f.i, f.j, follower)
        self.measured: dict[str, int] = {}  # the counters of angles among the measures, by name
        for measure, (i, j) in zip(self.angles, of_measures, strict=True):
            follower = self.follow(measure, measure.name, COUNTED, "rad", described_angle(measure), np.nan)
            self.measured[measure.name] = self._count(i, j, follower)
        self.sight_counters = {name: self._count_seen(one) for name, one in self.seen.items() if one.counts_turns}
        self.inputs: dict[str, int] = {}  # where in z each input is, by name
        for one in self.system.inputs:
            self.inputs[one.name] = self.follow(one, one.name, "", one.unit, one.value).z
        self.held: dict[str, int] = {}  # and each output that is held
        for controller in self.controllers:
            if controller.sampled:
                self._hold(controller)

    def _count_seen(self, seen: Sight) -> int:
        """The counter of an angle that controllers see; a measure has one already."""
        if seen.measure is not None and seen.measure.name in self.measured:
            return self.measured[seen.measure.name]
        angle: Any = seen.measure or seen.term
        owner, _, label = seen.name.partition(".")
        follower = self.follow(angle, owner, f".{label}{COUNTED}", "rad", described_angle(angle), np.nan)
        return self._count(self.place(angle.i), self.place(angle.j), follower)

    def _hold(self, c: NumberedController) -> None:
        """Places for the outputs and states that a controller holds between samples."""
        one = c.controller
        held = [self.follow(one, c.name, f".{name}", unit, 0.0, held=True).z for name, unit in one.outputs.items()]
        start = one.initial_states()
        states = [self.follow(one, c.name, f".state.{k}", "", x, held=True).z for k, x in enumerate(start)]
        c.held, c.z = held[0], states[0] if states else held[0]
        self.held |= {f"{c.name}.{name}": place for name, place in zip(one.outputs, held, strict=True)}

    def _count(self, i: int, j: int, follower: Follower) -> int:
        """A new counter for the turns of the angle between two markers; its number."""
        row = np.array([(i, j, follower.z, 0.0)], COUNTER)
        self.counters = np.append(self.counters, row).view(np.recarray)
        return len(self.counters) - 1

    def follow(
        self,
        owner: Any,
        owner_name: str,
        label: str,
        unit: str,
        start: float,
        unknown: float | None = None,
        held: bool = False,
    ) -> Follower:
        """A new follower, the last in z; what does not have it takes its start for it, or `unknown`."""
        known = start if unknown is None else unknown
        follower = Follower(owner, owner_name, label, unit, self.n_z, start, known, held)
        self.followers.append(follower)
        self.n_z += 1
        return follower

    @property
    def n_followers(self) -> int:
        return len(self.followers) + len(self.works)

    def _working(self) -> Iterator[NumberedForce | NumberedConstraint | NumberedBody]:
        """All that does work which is not in the energy, or may."""
        yield from (f for f in self.forces if not is_conservative(f.force))
        yield from (c for c in self.constraints if may_drive(c.constraint))
        yield from (b for b in self.bodies if b.formulation.dissipates)

    def _number_works(self) -> None:
        """A place in z for the work of each element that does some which is not in the energy."""
        driving: dict[str, int] = {}
        for one in self._working():
            if isinstance(one, NumberedForce):
                one.work_at = self._work_of(one.force, one.name)
            elif isinstance(one, NumberedBody):
                one.work_at = self._work_of(one.body, one.body.name)
            else:
                if one.owner_name not in driving:
                    driving[one.owner_name] = self._work_of(one.owner, one.owner_name)
                self.drives.append((one.row, one.constraint.equations, driving[one.owner_name]))

    def _work_of(self, owner: Any, owner_name: str) -> int:
        self.works.append(Work(owner, owner_name, self.n_z))
        self.n_z += 1
        return self.n_z - 1

    @property
    def acting(self) -> bool:
        """Whether there are controllers that act all the time."""
        return any(not c.sampled for c in self.controllers)

    @property
    def stateful(self) -> list[Stateful]:
        """All elements with own states, in the order of z."""
        found = [Stateful(f.force, f.name, f.states) for f in self.forces if f.force.states]
        acting = [c for c in self.controllers if c.controller.states and not c.sampled]
        return found + [Stateful(c.controller, c.name, c.states) for c in acting]

    def own_states(self, numbered: bool = False) -> Iterator[tuple[str, slice, Sequence[float]]]:
        """Name, place in z and start of the own states of elements and of followers.

        Elements are called as they are now, or as they were when they were `numbered`. The angles of a joint have the
        numbers of its equations.
        """
        for one in self.stateful:
            yield one.name if numbered else one.element.name, one.states, one.element.initial_states()
        for follower in self.followers:
            owner = follower.owner_name if numbered or not follower.named else follower.owner.name
            yield f"{owner}{follower.label}", follower.place, [follower.start]

    def own_states_in(self, given: Mapping[str, Any]) -> Iterator[tuple[slice, Any]]:
        """Place in z and value of the own states of elements, from those of a state by name; what it lacks starts anew.

        Numbers of equations change with what else is in a system: the angles of a joint are known by their order.
        A follower that is not known (nan) starts anew too.
        """
        for place, value, start in self._own_states_in(given):
            known = place.start < self.n_z - self.n_followers or np.all(np.isfinite(value))
            yield place, value if known else start

    def come_to_rest(self) -> None:
        """Give twins the parameters with which an equilibrium is looked for: it does not depend on them."""
        for table in self.force_tables:
            for row, f in zip(table.rows, table.elements, strict=True):
                for name, value in f.force.at_rest.items():
                    row[name] = vars(f.force)[name] = value

    def uncounted(self, given: Mapping[str, Any]) -> list[Any]:
        """Elements whose angle may have turned more often than a state, given by its own states by name, can tell."""
        owners = {
            follower.z: follower.owner
            for follower in self.followers
            if follower.unit == "rad" and follower.label and not follower.held
        }
        return [
            owners[place.start]
            for place, value, start in self._own_states_in(given)
            if place.start in owners and (value is start or not np.all(np.isfinite(value)))
        ]

    def _own_states_in(self, given: Mapping[str, Any]) -> Iterator[tuple[slice, Any, Sequence[float]]]:
        angles: dict[str, list[Any]] = defaultdict(list)  # of joints, the first one last
        for name in reversed(list(given)):
            owner, found, _ = name.rpartition(ANGLE_OF)
            if found:
                angles[owner].append(given[name])
        for name, place, start in self.own_states():
            owner, found, _ = name.rpartition(ANGLE_OF)
            if found:
                yield place, angles[owner].pop() if angles[owner] else start, start
            else:
                yield place, given.get(name, start), start

    def seen_by(self, row: Any) -> tuple[Any, Any]:
        """The states of both markers of an element, as its methods are to see them, from the row of the element."""
        i, j = self.markers[row.i].copy(), self.markers[row.j].copy()
        j.turns = self.counters.turns[row.counter]
        return i, j

    def kernels(self, kind: type) -> type:
        """The class whose methods are compiled; a user's methods of the plane are turned into methods of space."""
        users = users_methods(kind) if self.planar else frozenset()
        return spatial_methods(kind, users) if users else kind

    def turns_of(self, counter: int) -> Callable[[], float]:
        """Tells the full turns of an angle at the last evaluation."""
        return lambda: float(self.counters.turns[counter])

    def place(self, marker: Marker) -> int:
        """Number of a marker that belongs to an element."""
        return self._places[_key(marker)]

    def _place_markers(self, markers: Iterable[Marker]) -> dict[Hashable, int]:
        """Number the distinct markers: those of the ground first, then body by body."""
        by_body: dict[str, dict[Hashable, Marker]] = defaultdict(dict)
        for marker in markers:
            if marker.body.name not in self.index and marker.body is not self.system.ground:
                raise ModelError(
                    f"a marker lies on body {marker.body.name!r}, which is not in system {self.system.name!r}"
                )
            by_body[marker.body.name].setdefault(_key(marker), marker)
        places: dict[Hashable, int] = {}
        self.ground_markers = list(by_body[self.system.ground.name].values())
        for key in by_body[self.system.ground.name]:
            places[key] = len(places)
        for numbered in self.bodies:
            numbered.first_marker = len(places)
            numbered.markers = list(by_body[numbered.body.name].values())
            for key in by_body[numbered.body.name]:
                places[key] = len(places)
        return places

    def _number_entries(self) -> None:
        offset = 0
        for body in self.bodies:
            body.mass_block = offset
            offset += body.formulation.n_v**2
        self.n_mass_entries = offset
        for body in self.bodies:
            body.row_block = offset
            offset += body.formulation.n_intrinsic * body.formulation.n_v
        owner = self.marker_bodies()
        for c in self.constraints:
            sizes = [self.bodies[owner[m]].formulation.n_v if owner[m] >= 0 else 0 for m in (c.i, c.j)]
            c.block_i = offset
            c.block_j = offset + c.constraint.equations * sizes[0]
            offset += c.constraint.equations * sum(sizes)
        self.n_entries = offset

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """A number for each body, the same for bodies that joints and forces connect, be it through others."""
        owner = self.marker_bodies()
        group = list(range(len(self.bodies)))
        first: dict[int, int] = {}  # a body of each constraint row: relations have several terms in one

        def found(body: int) -> int:
            while group[body] != body:
                group[body] = body = group[group[body]]
            return body

        def connect(a: int, b: int) -> None:
            if a >= 0 and b >= 0:
                group[found(a)] = found(b)

        for f in self.forces:
            connect(owner[f.i], owner[f.j])
        for c in self.constraints:
            connect(owner[c.i], owner[c.j])
            body = max(owner[c.i], owner[c.j])
            connect(first.setdefault(c.row, body), body)
        return np.unique([found(body) for body in range(len(group))], return_inverse=True)[1].astype(np.int64)

    @cached_property
    def work_groups(self) -> NDArray[np.int64]:
        """The number in `groups` of the bodies on which each of `works` is done; 0 where these are the ground alone."""
        owner = self.marker_bodies()
        bodies = {f.name: max(owner[f.i], owner[f.j]) for f in self.forces}
        bodies |= {c.owner_name: max(owner[c.i], owner[c.j]) for c in self.constraints} | self.index
        numbers = np.array([bodies[work.owner_name] for work in self.works], np.int64)
        return np.maximum(np.append(self.groups, -1)[numbers], 0)

    def marker_bodies(self) -> list[int]:
        """Number of the body of each marker; -1 for the ground."""
        owner = [-1] * len(self.ground_markers)
        for k, body in enumerate(self.bodies):
            owner += [k] * len(body.markers)
        return owner

    # --- tables ------------------------------------------------------------------------------------------------------

    def _marker_table(self) -> np.recarray:
        total = len(self.ground_markers) + sum(len(b.markers) for b in self.bodies)
        table = np.zeros(total, MARKER)
        table["body"] = -1
        points, frames = table["point"], table["frame"]
        for k, marker in enumerate(self.ground_markers):
            table["position"][k], table["axes"][k] = marker.at, marker.axes
            points[k], frames[k] = marker.at, marker.axes
        offset = 0
        for number, numbered in enumerate(self.bodies):
            n_v = numbered.formulation.n_v
            own = slice(numbered.first_marker, numbered.first_marker + len(numbered.markers))
            table["body"][own], table["n"][own], table["v"][own] = number, n_v, numbered.v
            for k, marker in enumerate(numbered.markers, numbered.first_marker):
                points[k], frames[k] = marker.local_point, marker.local_axes
                table["jacobian"][k] = offset
                if (shape := numbered.formulation.marker_shape(marker)) is not None:
                    table["node_shape"][k] = self.address_of(shape)
                offset += PLACE * n_v
        oriented = table["oriented"]
        for c in self.constraints:
            c.parts_i, c.parts_j = self._parts(c)
            oriented[c.i] |= c.parts_i >> 1
            oriented[c.j] |= c.parts_j >> 1
        for f in self.forces:
            oriented[[f.i, f.j]] |= ALL_AXES if f.force.uses_axes else 0
        for marker in (marker for one in self.seen.values() for marker in _markers_of(one)):
            oriented[self.place(marker)] |= ALL_AXES
        for counter in self.counters[1:]:
            oriented[[counter.i, counter.j]] |= ALL_AXES
        # Rounding of the local frames would show as couplings that are not there.
        for values in (points, frames):
            sizes = np.abs(values)
            values[sizes < 1e-15 * sizes.max(initial=1.0)] = 0.0
        self.n_jacobians = offset
        return table.view(np.recarray)

    def address_of(self, array: Array) -> int:
        """Where the numbers of an array are, from now on."""
        self.kept_arrays.append(np.ascontiguousarray(array, float))
        return self.kept_arrays[-1].ctypes.data

    def _parts(self, numbered: NumberedConstraint) -> tuple[int, int]:
        """What a constraint reads of its two markers, a bit each: point, axes x, y, z."""
        constraint = numbered.constraint
        if not constraint.uses_axes:
            return 1, 1
        kind = type(constraint)
        # What a function of time multiplies may be zero just now.
        if not is_ours(kind) or not has_derivatives(kind) or constraint.nonholonomic or functions_of([constraint]):
            return 1 | ALL_AXES << 1, 1 | ALL_AXES << 1
        return numbered.parts

    def _body_tables(self) -> Iterable[Table]:
        groups: dict[Formulation, list[NumberedBody]] = defaultdict(list)
        for numbered in self.bodies:
            groups[numbered.formulation].append(numbered)
        for formulation, members in groups.items():
            dtype = np.dtype(BODY_FIELDS + formulation.fields, align=True)
            rows = np.zeros(len(members), dtype)
            columns = {name: rows[name] for name in rows.dtype.names or ()}
            for k, b in enumerate(members):
                values = formulation.row(b.body, self.gravity) | {
                    "q": b.q,
                    "v": b.v,
                    "row": b.row,
                    "mass_block": b.mass_block,
                    "row_block": b.row_block,
                    "marker": b.first_marker,
                    "n_markers": len(b.markers),
                    "work_at": b.work_at,
                }
                for name, value in values.items():
                    columns[name][k] = value
            yield Table(type(formulation), rows.view(np.recarray), members)

    # Rows with functions name the compiled stage that runs these. Who wants positions only, as the window that shows a
    # result, never asks for such rows and so never loads it.
    @cached_property
    def constraint_tables(self) -> list[Table]:
        """A table for each type of constraint."""
        return list(self._constraint_tables())

    @cached_property
    def force_tables(self) -> list[Table]:
        """A table for each type of force."""
        return list(self._force_tables())

    def _constraint_tables(self) -> Iterable[Table]:
        groups: dict[Any, list[NumberedConstraint]] = defaultdict(list)
        for numbered in self.constraints:
            groups[type(numbered.constraint)].append(numbered)
        for kind, members in groups.items():
            simple = is_ours(kind) and has_derivatives(kind)
            fields = velocity_fields if kind.nonholonomic else constraint_fields
            on_axis = issubclass(kind, AxisConstraint)
            given = AXIS_FIELDS if on_axis else LINK_FIELDS
            own = given if simple else fields(members[0].constraint.equations)
            links = [
                {"i": c.i, "j": c.j, "row": c.row, "block_i": c.block_i, "block_j": c.block_j, "counter": c.counter}
                | {"parts_i": c.parts_i, "parts_j": c.parts_j}
                | (axis_fields(self, c) if on_axis else {})
                for c in members
            ]
            elements = [c.constraint for c in members]
            rows = rows_of(kind, own, elements, links, self.system.dimension, [c.row_values for c in members])
            for c, row in zip(members, rows, strict=True):
                c.record = row
            yield Table(kind, rows, members, functions_of(elements))

    def _force_tables(self) -> Iterable[Table]:
        groups: dict[Any, list[NumberedForce]] = defaultdict(list)
        for numbered in self.forces:
            groups[type(numbered.force)].append(numbered)
        for kind, members in groups.items():
            elements = [f.force for f in members]
            if kind.reactive:
                links = [{"i": f.i, "j": f.j, "work_at": f.work_at} | reaction_link(self, f.force) for f in members]
                yield Table(kind, rows_of(kind, REACTIVE_FIELDS, elements, links, self.system.dimension), members)
                continue
            links = [{"i": f.i, "j": f.j, "z": f.z, "counter": f.counter, "work_at": f.work_at} for f in members]
            yield Table(
                kind,
                rows_of(kind, LINK_FIELDS, elements, links, self.system.dimension),
                members,
                functions_of(elements),
            )

    def _fed(self, force: Any) -> Any:
        """A force as it is evaluated: if it names signals, a twin whose programs get their values; itself otherwise."""
        if not (fields := named_by(force)):
            return force
        values = dict.fromkeys(self.system.signals, 0.0)
        twin = with_signals(force, values | {one.name: one.value for one in self.system.inputs})
        for parameter in fields:
            bound, described = getattr(twin, parameter), getattr(force, parameter)
            pairs = zip(bound, described, strict=True) if isinstance(bound, tuple) else [(bound, described)]
            for function, origin in pairs:
                first = len(function.program.constants) - len(origin.signals)
                constants, early = function.program.constants, isinstance(force, Controller)
                self.fed += [(name, constants, first + k, early) for k, name in enumerate(origin.signals)]
        return twin

    def gives_derivatives(self, kind: type) -> bool:
        """Whether the derivatives that a constraint class gives can be used: a user's are not those of the plane."""
        return has_derivatives(kind) and not (self.planar and users_methods(kind))


def _markers_of(seen: Sight) -> list[Marker]:
    """The markers whose motion is seen."""
    return [seen.motion[0]] if seen.motion is not None else list(seen.ends or ())


def _check_places(owner: Connection, markers: Iterable[Marker]) -> None:
    """A marker on a flexible body that lies at none of its nodes is an error of the element that it belongs to."""
    for marker in markers:
        try:
            _ = marker.local_point
        except ModelError as error:
            raise ModelError([owner.problem("at", f"{marker.body}: {p.message}") for p in error.problems]) from None


def _key(marker: Marker) -> Hashable:
    return (type(marker), marker.body.name, marker.at.tobytes(), marker.axes.tobytes())
