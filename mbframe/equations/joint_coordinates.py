"""Joint coordinates of a spanning tree: what `kernels.tree` works on.

The equations of the bodies stay as they are and keep the states; this is a second workspace in which steps are taken.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..bodies.formulations import NewtonEuler, PlanarAngle
from ..kernels import bindings
from ..kernels.linear_algebra import factorization
from ..kernels.tree import stages
from ..kernels.tree.layout import CARRIED, CUT, MOVING, NODE, PAIR, PIECE, PLACED, STEP, TOUCHED, TREE
from ..kernels.workspace import FACTOR
from .equations import Equations, Strategy
from .numbered import NumberedConstraint
from .spanning_tree import SIZES, Branch, spanning_tree
from .stages import BoundStage
from .structure import Block, analyze
from .tables import Tables
from .workspace import Record, Workspace, factor_record

Array = NDArray[np.float64]
KNOWN: Final = (NewtonEuler, PlanarAngle)
"""Coordinates of bodies that the recursion reads and writes."""
MISFIT: Final = 1e-6
"""A joint whose bodies are farther from where its coordinates put them, in m or rad, stands in a way that these do not
know, such as with opposite axes; it then cuts a loop."""


@dataclass
class _Node:
    """Where a body's node is: its number, and its point and axes (rows) in those of the body."""

    number: int
    point: Array
    axes: Array


class JointCoordinates:
    """The joint coordinates of a system at a state, as equations to integrate.

    `n_q`, `n_v` and `n_z` are their numbers, `work` their workspace and `record` what belongs to both.
    """

    def __init__(self, eq: Equations, y: Array) -> None:
        self.eq = eq
        refused: set[str] = set()
        while True:
            self.branches = spanning_tree(eq.tables, refused)
            self._build(y)
            if not (open_ones := self._open(y)):
                eq.when_changed = self.weigh
                return
            refused |= open_ones

    def _build(self, y: Array) -> None:
        tables = self.eq.tables
        joints = {branch.joint.name for branch in self.branches if branch.joint is not None}
        self.cut = [c for c in tables.constraints if c.owner_name not in joints]
        self.n_z = tables.n_z
        self.record = Record(TREE)
        self._number_nodes()
        rows = self._number_cuts()
        n_holonomic = int(np.sum(rows < tables.n_holonomic))
        sizes = self.n_q, self.n_v, self.n_z, tables.n_followers, len(rows), n_holonomic, self.n_entries
        self.work = work = Workspace(*sizes, tables.markers, 0)
        work.row_sizes[:] = self.eq.work.row_sizes[rows[: len(work.row_sizes)]]
        work["counters"], work["n_counters"] = tables.counters, len(tables.counters)
        work["factor"] = self._factors()
        work["tree"], self.record["reduced"], self.record["bodies"] = self.record.address, work, self.eq.work.address
        work["evaluate"], work["accelerate"] = stages.evaluate_joints.address, stages.accelerate_joints.address
        work["factorize"], work["solve"] = stages.factorize_joints.address, stages.solve_joints.address
        work["eliminate"] = factorization.eliminate.address
        work["moves"], work["n_moves"] = np.array([stages.move_joints.address]), 1
        work["tables"] = work["counts"] = np.zeros(1, np.int64)
        work.z[:] = self.eq.split(y)[2]
        self._choose_stages(joints)
        record, n = self.record, self.eq.n_q + self.eq.n_v
        record["factorize_rows"], record["corrects"] = factorization.factorize.address, 1
        record["noted"], record["kept"] = np.full(n, np.nan), np.full(n, np.nan)
        record["kept_joints"], record["combined"] = np.zeros(self.n_q + self.n_v), np.zeros(self.n_v)

    # --- nodes -------------------------------------------------------------------------------------------------------

    def _number_nodes(self) -> None:
        tables = self.eq.tables
        count = 1 + sum(len(branch.pieces) for branch in self.branches)
        nodes, moving = np.zeros(count, NODE), np.zeros(count, MOVING)
        self.nodes, self.moving = nodes, moving
        moving["axes"] = np.eye(3)
        self.carried = np.zeros(len(self.branches), CARRIED)
        self.node_of: dict[int, _Node] = {-1: _Node(0, np.zeros(3), np.eye(3))}
        self.n_q = self.n_v = 0
        k = 1
        for row, branch in zip(self.carried, self.branches, strict=True):
            b, parent = tables.bodies[branch.body], self.node_of[branch.parent]
            own = self._frame(branch, branch.on_body)
            base = self._frame(branch, branch.on_parent) if branch.joint is not None else (np.zeros(3), np.eye(3))
            row["first"], row["q"], row["v"], row["n_v"] = k, b.q, b.v, b.formulation.n_v
            before, turn, offset = parent.number, parent.axes @ base[1], parent.axes @ (base[0] - parent.point)
            for kind, axes in branch.pieces:
                node = nodes[k]
                node["parent"], node["kind"], node["q"], node["v"] = before, kind, self.n_q, self.n_v
                node["turn"], node["offset"] = turn @ axes, offset
                self.n_q, self.n_v = self.n_q + SIZES[kind][0], self.n_v + SIZES[kind][1]
                before, turn, offset, k = k, np.eye(3), np.zeros(3), k + 1
            point, axes = own[0], own[1].T
            row["node"], row["axes"], row["point"] = k - 1, axes, -axes @ point
            self.node_of[branch.body] = _Node(k - 1, point, axes)
        self.record["nodes"], self.record["moving"], self.record["n_nodes"] = nodes, moving, count
        self.record["carried"], self.record["n_carried"] = self.carried, len(self.carried)
        self.weigh()

    def _frame(self, branch: Branch, marker: int) -> tuple[Array, Array]:
        """Point and axes (columns) of a marker on its body; those of a free body are its centre of mass and axes."""
        if branch.joint is None:
            return np.array(self.eq.tables.bodies[branch.body].body.mass_properties()[1], float), np.eye(3)
        markers = self.eq.tables.markers
        return markers["point"][marker].copy(), markers["frame"][marker].copy()

    def weigh(self) -> None:
        """Take over mass properties and gravity."""
        tables = self.eq.tables
        self.record.view("gravity")[0] = tables.gravity
        for branch in self.branches:
            place = self.node_of[branch.body]
            mass, center, inertia = tables.bodies[branch.body].body.mass_properties()
            arm = place.axes @ (center - place.point)
            about = place.axes @ inertia @ place.axes.T + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
            node = self.nodes[place.number]
            node["mass"], node["moment"], node["inertia"] = mass, mass * arm, about[np.triu_indices(3)]

    # --- cuts --------------------------------------------------------------------------------------------------------

    def _number_cuts(self) -> NDArray[np.int64]:
        """Rows of the equations of the bodies that cut loops; fills the tables of cuts."""
        tables = self.eq.tables
        owner = tables.marker_bodies()
        groups: dict[int, list[NumberedConstraint]] = defaultdict(list)
        for c in self.cut:
            groups[c.row].append(c)
        index = {branch.body: k for k, branch in enumerate(self.branches)}
        cuts: list[tuple[int, ...]] = []
        touched: list[tuple[int, int, int]] = []
        steps: list[tuple[int, int, int]] = []
        rows: list[int] = []
        paths: list[dict[int, int]] = []  # of each cut: where the freedoms of its nodes are in its rows
        values = longest = 0
        for row in sorted(groups):
            parts = groups[row]
            n = parts[0].constraint.equations
            touches = [(owner[m], e) for c in parts for m, e in ((c.i, c.block_i), (c.j, c.block_j)) if owner[m] >= 0]
            path = sorted({node for body, _ in touches for node in self._way(body)}, reverse=True)
            number = {node: k for k, node in enumerate(path)}
            at, width = {}, 0
            for node in path:
                at[node], width = width, width + SIZES[int(self.nodes[node]["kind"])][1]
            first_touch, first_step = len(touched), len(steps)
            touched += [(index[body], entries, number[self.node_of[body].number]) for body, entries in touches]
            steps += [(node, number.get(int(self.nodes[node]["parent"]), -1), at[node]) for node in path]
            cuts.append((len(rows), n, first_touch, len(touches), first_step, len(path), values, width))
            paths.append(at)
            rows += range(row, row + n)
            values, longest = values + n * width, max(longest, len(path))
        record = self.record
        record["rows"] = np.array(rows, np.int64)
        record["cuts"], record["n_cuts"] = np.array(cuts, CUT), len(cuts)
        record["touched"], record["n_touched"] = np.array(touched, TOUCHED), len(touched)
        record["path"], record["n_path"] = np.array(steps, STEP), len(steps)
        record["values"], record["n_values"] = np.zeros(max(values, 1)), values
        record["loads"] = np.zeros((max(longest, 1), 6))
        self._number_pairs(np.array(cuts, CUT), paths)
        return np.array(rows, np.int64)

    def _way(self, body: int) -> list[int]:
        """Nodes from a body to the ground."""
        node, way = self.node_of[body].number, []
        while node > 0:
            way.append(node)
            node = int(self.nodes[node]["parent"])
        return way

    def _number_pairs(self, cuts: NDArray[Any], paths: list[dict[int, int]]) -> None:
        """Blocks of J M^-1 J^T that can differ from zero, with the pieces of the rows whose products they are."""
        passing: dict[int, list[int]] = defaultdict(list)
        for k, at in enumerate(paths):
            for node in at:
                passing[node].append(k)
        meeting = {(a, b) for through in passing.values() for a in through for b in through if b <= a}
        pairs: list[tuple[int, ...]] = []
        pieces: list[tuple[int, int, int]] = []
        self.n_entries = self.products = 0
        self._entry_rows: list[int] = []
        self._entry_columns: list[int] = []
        self._entry_sources: list[int] = []
        for a, b in sorted(meeting):
            first = len(pieces)
            for node in sorted(set(paths[a]) & set(paths[b]), reverse=True):
                i, j, n = paths[a][node], paths[b][node], SIZES[int(self.nodes[node]["kind"])][1]
                begin, beside, count = pieces[-1] if len(pieces) > first else (-1, -1, 0)
                if n and (begin + count, beside + count) == (i, j):
                    pieces[-1] = (begin, beside, count + n)
                elif n:
                    pieces.append((i, j, n))
            pairs.append((a, b, self.n_entries, first, len(pieces) - first))
            n_a, n_b = int(cuts[a]["n"]), int(cuts[b]["n"])
            self.products += n_a * n_b * sum(piece[2] for piece in pieces[first:])
            for e in range(n_a):
                for f in range(e + 1 if a == b else n_b):
                    self._entry_rows.append(int(cuts[a]["row"]) + e)
                    self._entry_columns.append(int(cuts[b]["row"]) + f)
                    self._entry_sources.append(self.n_entries + e * n_b + f)
            self.n_entries += n_a * n_b
        self.record["pairs"], self.record["n_pairs"] = np.array(pairs, PAIR), len(pairs)
        self.record["pieces"], self.record["n_pieces"] = np.array(pieces, PIECE), len(pieces)
        self._blocks = [Block(int(cut["row"]), int(cut["n"])) for cut in cuts]

    def _factors(self) -> Record:
        """The factorization of J M^-1 J^T."""
        if not self._blocks:
            none = Record(FACTOR)
            none["valid"] = -1
            return none
        parts = (self._entry_rows, self._entry_columns, self._entry_sources)
        rows, columns, source = (np.array(part, np.int64) for part in parts)
        structure = analyze(self._blocks, rows, columns, source, 0)
        self.products += structure.multiplications
        factors = factor_record(structure)
        factors["sizes"] = np.zeros(structure.n)
        return factors

    # --- what bodies feel --------------------------------------------------------------------------------------------

    def _choose_stages(self, joints: set[str]) -> None:
        """The stages of the equations of the bodies without those that the recursion replaces."""
        tables, evaluation = self.eq.tables, self.eq.stages.evaluation
        own = {id(c.constraint) for c in tables.constraints if c.owner_name in joints}
        kept: list[tuple[int, int, int, int]] = []
        for k, stage in enumerate(evaluation[len(tables.body_tables) :], len(tables.body_tables)):
            of_tree = [id(element) in own for element in stage.elements]
            if not any(of_tree):
                kept.append((stage.address, _table(stage), stage.count, k))
            elif not all(of_tree):
                kept += [(stage.address, *part, k) for part in _runs(stage, of_tree)]
        if kept:
            kept[:0] = self._placing(tables)
        record = self.record
        names = ("stages", "tables", "counts", "origins")
        for name, column in zip(names, np.array(kept, np.int64).reshape(-1, 4).T, strict=True):
            record[name] = np.ascontiguousarray(column)
        record["n_stages"] = len(kept)

    def _placing(self, tables: Tables) -> list[tuple[int, int, int, int]]:
        """Stages that place the markers which the others look at."""
        looked_at = {m for c in self.cut for m in (c.i, c.j)} | {m for f in tables.forces for m in (f.i, f.j)}
        looked_at |= {int(m) for row in tables.counters[1:] for m in (row.i, row.j)}
        if tables.seen:
            looked_at = set(range(len(tables.markers)))
        self._placed: list[NDArray[Any]] = []
        found = []
        for number, table in enumerate(tables.body_tables):
            rows = []
            for k, b in enumerate(table.elements):
                mine = range(b.first_marker, b.first_marker + len(b.markers))
                needed = np.array([m for m in mine if m in looked_at], np.int64)
                if len(needed):
                    self._placed.append(needed)
                    rows.append((table.rows[k : k + 1].ctypes.data, needed.ctypes.data, len(needed)))
            if rows:
                placed = np.array(rows, PLACED)
                self._placed.append(placed)
                stage = bindings.needed_markers_stage(table.type, table.rows.dtype)
                found.append((stage.address, placed.ctypes.data, len(placed), number))
        return found

    # --- joints that are not where their coordinates can put them ----------------------------------------------------

    def _open(self, y: Array) -> set[str]:
        """Joints of the tree that no coordinates put where they are at a state."""
        eq = self.eq
        eq.set_state(*eq.split(y))
        eq.run(stages.settle_joints.address, 0.0, self.record.address)
        there = eq.state(0.0, eq.work.y)
        eq.set_state(*eq.split(y))
        here, found = eq.state(0.0, y), set()
        for branch in self.branches:
            body = eq.tables.bodies[branch.body].body
            a, b = here.motion(body), there.motion(body)
            apart = max(np.abs(a.position - b.position).max(), np.abs(a.rotation - b.rotation).max())
            if apart > MISFIT * max(1.0, eq.size):
                if branch.joint is not None:
                    found.add(branch.joint.name)
                break  # what hangs on it is moved along
        return found

    # --- strategies --------------------------------------------------------------------------------------------------

    def strategy(self, role: str, label: str = "", feedback: tuple[float, float] = (0.0, 0.0)) -> Strategy:
        """The stage of the march of the bodies that does something in joint coordinates: step, correct, interpolate."""
        stage = {
            "step": stages.step_joints,
            "correct": stages.correct_joints,
            "interpolate": stages.interpolate_joints,
        }[role]
        return Strategy(stage.address, self.record, label=label, feedback=feedback)

    def use(self, role: str, strategy: Strategy) -> None:
        """Let steps, corrections or interpolation in joint coordinates be made by a strategy."""
        self.record[role] = strategy.address
        self.record[f"{role}_data"] = strategy.data if strategy.data is not None else 0


def unsuited(tables: Tables) -> str:
    """Why the bodies of a system have no joint coordinates, in words; empty if they have."""
    for b in tables.bodies:
        if type(b.formulation) not in KNOWN:
            return f"{b.body} has the coordinates {b.formulation!r}, which the recursion does not know"
    return ""


def _table(stage: BoundStage) -> int:
    return 0 if stage.table is None else int(stage.table.ctypes.data)


def _runs(stage: BoundStage, left_out: list[bool]) -> list[tuple[int, int]]:
    """Address and number of consecutive rows of a table that are not left out."""
    assert stage.table is not None
    assert len(stage.table) == len(left_out)
    found: list[tuple[int, int]] = []
    begin = None
    for k, out in enumerate([*left_out, True]):
        if not out and begin is None:
            begin = k
        elif out and begin is not None:
            found.append((int(stage.table[begin : begin + 1].ctypes.data), k - begin))
            begin = None
    return found
