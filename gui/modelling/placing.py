"""Adding elements in the view: a bar leads from pick to pick, the point under the mouse is shown, Escape ends it."""

from __future__ import annotations

import html
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

import mbframe as mb
from mbframe.proposals import Scale

from ..base.mesh_units import MESH_UNITS
from ..base.names import one_line
from ..document.document import Document
from ..fields.numbers import NumberEdit
from ..solving.tasks import Model
from ..view.tools import ViewTool, facing, paint_label, pixels
from ..view.view import View
from . import bodies, catalogue
from .guide import Guide
from .measuring import Measuring
from .pointing import FLOOR, Pointed, paint_axis, paint_line, paint_snap, pointed, working_normal
from .preview_tasks import PreviewTask
from .snapping import Snap

Array = NDArray[np.float64]

STEPS: Final = {
    "first body": "Click the first body (beside all: the ground)",
    "second body": "Click the second body",
    "body": "Click a body",
    "point": "Click the point",
    "first point": "Click a point of the first body",
    "second point": "Click a point of the second body",
    "joint": "Click a joint",
    "first joint": "Click the first joint",
    "second joint": "Click the second joint",
    "measure": "Click a measure, or choose it in the tree",
}
BODIES: Final = ("first body", "second body", "body")
ELEMENTS: Final = ("joint", "first joint", "second joint", "measure")
"""Steps that pick a body, and those that pick another element."""
TYPED: Final = "typed"
"""Label of a point whose numbers were typed."""
PICKED: Final = {
    "first body": "body_i",
    "second body": "body_j",
    "body": "body_j",
    "first point": "body_i",
    "second point": "body_j",
    "first joint": "first",
    "second joint": "second",
}
"""Under which name it is kept what a step has picked, if not under its own."""
LONGEST: Final = 24
"""Letters of a name that are shown while picking."""
SHORT: Final = {
    "first body": "first body",
    "second body": "second body",
    "body": "body",
    "point": "point",
    "first point": "first point",
    "second point": "second point",
    "joint": "joint",
    "first joint": "first joint",
    "second joint": "second joint",
    "measure": "measure",
    "axis": "axis",
}


class Placing(ViewTool):
    """Picks what a new element needs, one click after the other, and adds it."""

    changed = Signal()
    added = Signal(object)
    flexible_placed = Signal(object, object)
    """The preset of a flexible body, and the points and the normal of the plane that were chosen for it."""

    def __init__(self, document: Document, solver: Any, view: View, guide: Guide) -> None:
        super().__init__(view)
        self.document, self.solver, self.guide = document, solver, guide
        self.measuring = Measuring(view)
        self.measuring.entered.connect(self._enter)
        self.measuring.changed.connect(self._follow_numbers)
        self.measuring.cancelled.connect(self.cancel)
        self.kind: catalogue.Kind | None = None
        self.preset: bodies.Preset | None = None
        self.stock = bodies.Stock()
        self.picked: dict[str, Any] = {}
        self.points: list[Array] = []
        self.axis: Array | None = None
        self._step = 0
        self._pointed: Pointed | None = None
        self._mouse: QPointF | None = None
        self._last_snap: Snap | None = None
        self._job: Any = None
        self._asked: Any = None
        self._taking = False
        self._normal = np.array([0.0, 0.0, 1.0])
        self._standing = False
        self._by_numbers = False
        document.replaced.connect(self._forget_model)
        document.selection_changed.connect(self._on_selected)

    @property
    def active(self) -> bool:
        return self.kind is not None or self.preset is not None

    @property
    def system(self) -> mb.System:
        return self.document.system

    # --- beginning and end --------------------------------------------------------------------------------------------

    def begin(self, kind: catalogue.Kind) -> None:
        """Add a joint, force, driver or measure."""
        self._reset()
        self.kind = kind
        self._show_described()
        self._tell()
        self._clear_of_bars()
        self.changed.emit()

    def begin_body(self, preset: bodies.Preset, path: str = "") -> None:
        """Add a body; `path` is the file of a mesh, whose unit is asked for. `ModelError` if it cannot be read."""
        size = self.stock.take_mesh(path) if path else 0.0
        self._reset()
        self.preset = preset
        self._show_described()
        self._tell()
        if preset.sized:
            first = [self._mesh_units(size)] if path else self._size(preset.name)
            self.guide.set_buttons([*first, self._materials()])
        self._clear_of_bars()
        self.changed.emit()

    def _clear_of_bars(self) -> None:
        """What is there was seen as a whole: it still is beside the bars, where one has to click."""
        if len(self.system.bodies):
            self.view.camera.resized()

    def cancel(self) -> None:
        """Leave everything as it was."""
        if self.active:
            self._reset()
            self.guide.end()
            self.view.update()
            self.changed.emit()

    def _forget_model(self) -> None:
        """Another model may be of another size."""
        self.cancel()
        self.stock.sizes.clear()

    def _reset(self) -> None:
        self.kind = self.preset = None
        self.picked, self.points, self.axis = {}, [], None
        self._step, self._pointed, self._last_snap, self._job, self._asked = 0, None, None, None, None
        self._by_numbers, self._mouse = False, None
        self.guide.set_buttons([])
        self.measuring.end()
        self.view.setCursor(Qt.CursorShape.ArrowCursor)

    def _show_described(self) -> None:
        """What is built is the model as it is described, not an instant of a run."""
        self.document.animation_owner = None
        self.view.setCursor(Qt.CursorShape.CrossCursor)
        self.view.setFocus()
        if self.document.runs.current is not None:
            self.view.camera.hold()
            self.document.runs.choose(None)
            self.view.rebuild_now()

    def _materials(self) -> QComboBox:
        choice = QComboBox(self.guide)
        choice.setObjectName("material")
        choice.setToolTip("Mass and inertia follow from the shape and this density")
        for name, density in bodies.MATERIALS.items():
            choice.addItem(f"{name}, {density:g} kg/m³", name)
        choice.setCurrentIndex(choice.findData(self.stock.material))
        choice.currentIndexChanged.connect(lambda _: setattr(self.stock, "material", choice.currentData()))
        return choice

    def _size(self, preset: str) -> list[QWidget]:
        """Width and height of links, the largest dimension of other bodies: chosen once, kept for the next ones."""
        word, tip = bodies.SIZES[preset]
        edit = NumberEdit("m", self.document.units, self.guide)
        edit.setObjectName("section" if preset == "link" else "size")
        edit.setFixedWidth(64)
        edit.setPlaceholderText("fitting")
        edit.setToolTip(f"{tip}; it is kept for the next one")
        edit.set_value(self.stock.sizes.get(preset))

        def take(*_: object) -> None:
            try:
                value = edit.read()
                if value is not None and not value > 0.0:
                    raise ValueError(f"the {word.lower()} must be above 0")
            except ValueError as error:
                self.guide.set_fact(str(error))
                return
            self.stock.sizes[preset] = value
            self.guide.set_fact("")

        edit.typed.connect(take)
        edit.confirmed.connect(lambda _: self.view.setFocus())
        return [QLabel(f"{word}, {self.document.units.label('m')}", self.guide), edit]

    def _mesh_units(self, size: float) -> QComboBox:
        """In which unit a mesh file is, which it does not say; each with the size that the body has then."""
        choice = QComboBox(self.guide)
        choice.setObjectName("mesh_unit")
        choice.setToolTip("A mesh file has numbers without a unit: choose the one it was drawn in")
        for unit, metres in MESH_UNITS.items():
            choice.addItem(f"File in {unit}: {size * metres:.3g} m long", unit)
        choice.setCurrentIndex(choice.findData(self.stock.mesh_unit))
        choice.currentIndexChanged.connect(lambda _: setattr(self.stock, "mesh_unit", choice.currentData()))
        return choice

    # --- picking ------------------------------------------------------------------------------------------------------

    @property
    def pick(self) -> str:
        """What is picked next: one of `STEPS`, "axis", or "place" of a body."""
        if self.preset is not None:
            return "place"
        assert self.kind is not None
        return self.kind.picks[self._step] if self._step < len(self.kind.picks) else "axis"

    def _bodies(self) -> list[mb.Body] | None:
        """Those whose points count."""
        if self.pick == "point":
            return [body for key in ("body_i", "body_j") if (body := self.picked.get(key)) is not None]
        if self.pick == "second point":  # where bodies meet, a point of the first one is not meant
            return [body for body in (*self.system.bodies, self.system.ground) if body is not self.picked["body_i"]]
        return None

    def hover(self, event: QMouseEvent) -> None:
        if not self.active or self.view.scene is None or self.pick == "axis":
            return
        through = self.points[-1] if self.points else self.picked.get("at_i")
        self._mouse = event.position()
        self._pointed = pointed(self.view, self.system, event.position(), self._bodies(), through)
        self._follow_numbers()
        if self.pick in ("point", "second point") and self._pointed.snap is not None:
            self._preview(self._pointed.snap)
        self.view.update()

    def click(self, event: QMouseEvent) -> bool:
        if not self.active or self.view.scene is None:
            return False
        self.hover(event)
        if self.pick == "axis":
            self.finish()
        elif self._pointed is not None and self._follow_numbers(meant=True):
            self._take(self._pointed)
        return True

    def _measure(self) -> None:
        """Let the next point be typed, where a point is what comes next."""
        if self.pick not in ("place", "point"):
            self.measuring.end()
            return
        normal = self._normal if self.points else working_normal(self.view, self.system)
        start = self.points[-1] if self.points else None
        self.measuring.begin(self.document.units, self.system.dimension, start, normal)

    def _follow_numbers(self, *, meant: bool = False) -> bool:
        """What is typed holds, all else is where the mouse is; whether there is such a point.

        If not it is said why, but of a text that is being typed only when it is `meant`.
        """
        if not self.measuring.isVisible():
            return True
        snap = self._pointed.snap if self._pointed is not None else None
        free = snap.point if snap is not None else (self.points[-1] if self.points else np.zeros(3))
        if self.measuring.typed:
            try:
                point = self.measuring.point(free)
            except ValueError as error:
                self.guide.set_fact(str(error) if meant or self.measuring.finished else "")
                return False
            if snap is None or not np.array_equal(point, snap.point):
                element = self._pointed.element if self._pointed is not None else None
                self._pointed = Pointed(element, Snap(point, TYPED, None))
            self.guide.set_fact("")
        self.measuring.follow(free)
        self.view.update()
        return True

    def _enter(self) -> None:
        """The numbers are meant."""
        if self._follow_numbers(meant=True) and self._pointed is not None and self._pointed.snap is not None:
            self._take(self._pointed)

    def _take(self, found: Pointed) -> None:
        """Take what was clicked for the present step."""
        pick = self.pick
        if pick == "place":
            if found.snap is not None:
                self._take_place(found.snap)
        elif pick in ELEMENTS:
            self._take_element(found.element)
        elif pick in BODIES:
            self._take_body(found.element)
        elif found.snap is not None:
            self._take_point(found.snap, found.element)

    def _take_place(self, snap: Snap) -> None:
        assert self.preset is not None
        if not self.points:
            self._normal = working_normal(self.view, self.system)
            self._standing = snap.label == FLOOR
        self._by_numbers |= snap.label == TYPED
        self.points.append(snap.point)
        self._step += 1
        if len(self.points) == len(self.preset.steps):
            self._hand_over() if self.preset.flexible else self._add_body()
        else:
            self._tell()

    def _body_of(self, element: Any) -> mb.Body:
        """The body that a click on an element means; beside all, the ground."""
        return element if isinstance(element, mb.Body) else _carrier(element) or self.system.ground

    def _meant(self) -> Any:
        """What a click would take where an element is picked; None where it would take none."""
        if self._pointed is None:
            return None
        if self.pick in BODIES:  # beside a thin body there is the ground
            return self._body_of(self._pointed.element)
        return self._pointed.element if self._wanted(self._pointed.element) else None

    def _wanted(self, element: Any) -> bool:
        """Whether an element is of the kind that is picked: a measure, or a joint."""
        return getattr(element, "symbol", "") == ("measure" if self.pick == "measure" else "joint")

    def _take_body(self, element: Any) -> None:
        body = self._body_of(element)
        other = self.picked.get("body_i")
        if other is not None and body is other:
            self._complain(f"{body.name} is the first body already; click another one.")
        elif self.pick == "body" and body is self.system.ground:
            self._complain("The ground does not move; click a body.")
        else:
            self.picked["body_i" if self.pick == "first body" else "body_j"] = body
            self._next()

    def _take_point(self, snap: Snap, element: Any) -> None:
        self._last_snap = snap
        if self.pick == "point":
            self.picked["at"] = snap.point
        else:
            first = self.pick == "first point"
            body = self.system[snap.body] if snap.body is not None and snap.body != self.system.ground.name else None
            body = body or (element if isinstance(element, mb.Body) else self.system.ground)
            if not first and body is self.picked["body_i"]:
                self._complain(f"The point is on {body.name} too; click a point of another body.")
                return
            self.picked["body_i" if first else "body_j"] = body
            self.picked["at_i" if first else "at_j"] = snap.point
        self._next()

    def _take_element(self, element: Any) -> None:
        if not self._wanted(element):
            kind = "measure" if self.pick == "measure" else "joint"
            self._complain(f"That is no {kind}; click one, or choose it in the tree.")
            return
        key = {"first joint": "first", "second joint": "second"}.get(self.pick, self.pick)
        self.picked[key] = element
        self._next()

    def _on_selected(self, element: Any) -> None:
        """The tree is another way to pick bodies, joints and measures."""
        if self.active and not self._taking and element is not None and element is not self.system:
            # The tree is still inside its own change; what is added fills it anew.
            QTimer.singleShot(0, self, partial(self._take_selected, element))

    def _take_selected(self, element: Any) -> None:
        if not self.active or element is not self.document.selection:  # it is gone by now
            return
        if self.pick in BODIES and isinstance(element, mb.Body):
            self._take_body(element)
        elif self.pick in ELEMENTS:
            self._take_element(element)

    def _next(self) -> None:
        assert self.kind is not None
        self._step += 1
        if self._step < len(self.kind.picks):
            self._tell()
        elif self.kind.needs_axis(self.system.dimension):
            self._propose_axis()
        else:
            self.finish()

    def _complain(self, text: str) -> None:
        """Say where one looks why a click is not taken; afterwards nobody has to know."""
        self.guide.set_fact(text)

    # --- the axis -----------------------------------------------------------------------------------------------------

    def axes(self) -> list[tuple[str, Array]]:
        """Directions to choose from, the proposed one first."""
        planar = self.system.dimension == 2
        choices = [("x", np.eye(3)[0]), ("y", np.eye(3)[1])] + ([] if planar else [("z", np.eye(3)[2])])
        towards = facing(self.view)
        if not planar:
            choices.sort(key=lambda choice: -abs(float(choice[1] @ towards)))
        snap = self._last_snap
        if snap is not None and snap.axis is not None and (not planar or abs(snap.axis[2]) < 1e-6):
            same = [label for label, axis in choices if abs(abs(float(axis @ snap.axis)) - 1.0) < 1e-9]
            if same:
                choices.sort(key=lambda choice: choice[0] != same[0])
            else:
                choices.insert(0, (snap.label, snap.axis))
        if {"at_i", "at_j"} <= self.picked.keys():
            between = self.picked["at_j"] - self.picked["at_i"]
            if np.any(between):
                choices.insert(0, ("between the points", between / np.linalg.norm(between)))
        if not planar:
            choices.append(("towards the viewer", towards))
        return choices

    def _propose_axis(self) -> None:
        choices = self.axes()
        self.axis = choices[0][1]
        choice = QComboBox(self.guide)
        choice.setObjectName("axis_choice")
        choice.setToolTip("Direction of the axis")
        for label, axis in choices:
            choice.addItem(f"Axis: {label}", axis.tolist())
        choice.currentIndexChanged.connect(lambda k: self._choose_axis(np.array(choice.itemData(k))))
        add = QPushButton("Add", self.guide)
        add.setObjectName("add_element")
        add.setProperty("primary", True)
        add.setToolTip("Add it (Enter, or a click into the view)")
        add.setAutoDefault(True)
        add.setDefault(True)
        add.clicked.connect(self.finish)
        self._tell()
        self.guide.set_buttons([choice, add])
        add.setFocus()
        self._preview(self._last_snap)
        self.view.update()

    def _choose_axis(self, axis: Array) -> None:
        self.axis = axis
        self._preview(self._last_snap)
        self.view.update()

    # --- adding -------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Add what was picked: one step to undo."""
        kind = self.kind
        if kind is None:
            return
        scale = Scale.of(self.system)
        try:
            references, values = catalogue.called(kind, self.picked, scale, self.axis)
            element = kind.cls(self.document.free_name(kind.label.lower()), *references, **values)
            self._add(element)
        except mb.ModelError as error:
            self.document.messages.post_error(error)
            self.guide.set_fact(str(error).splitlines()[0])
            self._step = len(kind.picks)

    def _hand_over(self) -> None:
        """The places of a flexible body are known; all else is described in a dialog."""
        preset, points, normal = self.preset, self.points, self._normal
        self.cancel()
        self.flexible_placed.emit(preset, (points, normal))

    def _add_body(self) -> None:
        preset = self.preset
        assert preset is not None
        name = self.document.free_name(preset.body_name)
        try:
            made = bodies.made(
                preset, name, self.points, self.system, self.stock, self._normal, standing=self._standing
            )
            self._add(made)
            if preset.name == "mesh":
                self.document.messages.post(
                    f"{name}: the numbers of {self.stock.path} are taken as {self.stock.mesh_unit}."
                )
        except (mb.MbframeError, OSError) as error:
            self.document.messages.post(f"The body cannot be made: {error}", "error")
            self.points, self._step = [], 0
            self._tell()

    def _add(self, element: Any) -> None:
        # Things are placed where one looks, with room around them for the next; what is typed, and a mesh, may be
        # anywhere and have any size, and a block at the edge of the view may reach beyond it.
        if self._by_numbers or self._leaves_view(element):
            self.view.camera.see_all()
        elif len(self.system.bodies) or self.preset is None or self.preset.name != "mesh":
            self.view.camera.hold()
        self._taking = True
        try:
            self.document.add(element)
        finally:
            self._taking = False
        self._reset()
        self.guide.end()
        self.changed.emit()
        self.added.emit(element)

    def _leaves_view(self, element: Any) -> bool:
        """Whether a new body would not be seen as a whole."""
        from mbframe.render.parts import shape_corners
        from mbframe.render.placement import Poses

        if self.preset is None or self.view.camera.by_hand or not len(self.system.bodies):
            return False
        poses = Poses.of_bodies([element])
        corners = [poses.point(element.name, corner) for corner in shape_corners(element)]
        return any(spot is None or not self.view.rect().contains(spot.toPoint()) for spot in pixels(self.view, corners))

    # --- what is told and shown ---------------------------------------------------------------------------------------

    def _tell(self) -> None:
        self._measure()
        self.guide.set_buttons([]) if self.preset is None else None
        if self.preset is not None:
            self.guide.tell(self.preset.icon, list(self.preset.steps), self._step)
            return
        assert self.kind is not None
        steps = list(self.kind.picks)
        if self.kind.needs_axis(self.system.dimension):
            steps.append("axis")
        shown = [
            STEPS.get(step, "Axis: click into the view, or Add")
            if k == self._step
            else self._taken(step)
            if k < self._step
            else SHORT[step]
            for k, step in enumerate(steps)
        ]
        self.guide.tell(self.kind.icon, shown, self._step)

    def _taken(self, step: str) -> str:
        """What was picked in a step, by its name."""
        taken = self.picked.get(PICKED.get(step, step))
        if (name := getattr(taken, "name", None)) is None:
            return SHORT[step]
        words = one_line(name)
        return html.escape(words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…")

    def _preview(self, snap: Snap | None) -> None:
        """Ask which freedoms would be left; only joints and drivers take any."""
        if self.kind is None or self.kind.group not in ("Joints", "Drivers"):
            return
        picked = dict(self.picked)
        if snap is not None and self.pick == "point":
            picked["at"] = snap.point
        elif snap is not None and self.pick == "second point":
            body = self.system[snap.body] if snap.body else self.system.ground
            picked |= {"at_j": snap.point, "body_j": body}
        asked = (
            self.kind.name,
            tuple(np.round(np.ravel(picked.get("at", 0.0)), 6)),
            None if self.axis is None else tuple(self.axis),
        )
        if asked == self._asked:
            return
        self._asked = asked
        axis = (
            self.axis if self.axis is not None else (snap.axis if snap is not None and snap.axis is not None else None)
        )
        if axis is None:
            axis = np.array([1.0, 0.0, 0.0]) if self.system.dimension == 2 else facing(self.view)
        try:
            scale = Scale.of(self.system)
            references, values = catalogue.called(self.kind, picked, scale, axis)
            task = PreviewTask(Model.of(self.system), self.kind.cls, tuple(r.name for r in references), values)
        except (mb.ModelError, KeyError):
            return
        self._job = self.solver.submit(task)
        self._job.finished.connect(self._show_freedom)

    def _show_freedom(self, freedom: Any) -> None:
        if self.sender() is not self._job or not self.active:
            return
        left = "1 freedom" if freedom.count == 1 else f"{freedom.count} freedoms"
        text = f"remaining: {left}"
        if freedom.redundant:
            text += f", {freedom.redundant} redundant equation{'' if freedom.redundant == 1 else 's'}"
        self.guide.set_fact(text)

    def paint(self, painter: QPainter) -> None:
        if not self.active or self.view.scene is None:
            return
        length = 0.25 * Scale.of(self.system).length
        snap = self._pointed.snap if self._pointed is not None else None
        if self.pick == "axis" and self.axis is not None:
            ends = [self.picked.get(key) for key in ("at", "at_j", "at_i")]
            point = next((end for end in ends if end is not None), None)
            if point is not None:
                paint_axis(self.view, painter, point, self.axis, length)
            return
        if self.pick in BODIES + ELEMENTS:
            if self._mouse is not None and (meant := self._meant()) is not None:
                paint_label(painter, self._mouse + QPointF(14.0, -10.0), one_line(meant.name))
            return
        if snap is None:
            return
        begin = self.points[-1] if self.points else self.picked.get("at_i")
        if begin is not None:
            paint_line(self.view, painter, begin, snap.point)
        if (
            self.pick == "point"
            and snap.axis is not None
            and self.kind is not None
            and self.kind.needs_axis(self.system.dimension)
        ):
            paint_axis(self.view, painter, snap.point, snap.axis, length)
        paint_snap(self.view, painter, snap)


def _carrier(element: Any) -> mb.Body | None:
    """The body of a joint or force that was clicked in the place of the body below it."""
    return getattr(element, "body_j", None)
