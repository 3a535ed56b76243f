"""The status bar: what happened last, freedoms and redundancy, the solver, the time."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel, QStatusBar, QWidget

import mbframe as mb

from ..base.names import one_line, unformatted
from ..base.turns import single_shot
from ..document.document import Document
from ..document.messages import Message, ended
from ..playing.live import Live
from ..playing.live_bar import told
from ..solving.tasks import FreedomTask, Model
from ..widgets import icons, theme
from ..widgets.labels import ElidedLabel

PAUSE: Final = 300
"""Milliseconds after the last change before freedoms are counted again."""
SOLVER_TEXTS: Final = {
    "preparing": "Preparing solver… (once)",
    "ready": "Solver ready",
    "busy": "Computing…",
    "broken": "Solver not available",
}
SOLVER_TIPS: Final = {
    "preparing": "Compiled parts of the solver are made for this computer. You can go on meanwhile.",
    "ready": "Runs begin at once.",
    "busy": "The solver works in a process of its own.",
    "broken": "The solver process cannot be started; see Messages.",
}
SIGN: Final = 16
"""Size of the sign before a message, pixels."""
LEVEL_ICONS: Final = {"info": ("info", "accent"), "warning": ("warning", "warning"), "error": ("error", "bad")}


class StatusBar(QStatusBar):
    """Shows the last message, and facts about the model that are computed in the background."""

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status_bar")
        self.document, self.solver = document, solver
        self.setSizeGripEnabled(False)
        self.sign = QLabel(self)
        self.text = ElidedLabel(self)
        self.text.setObjectName("status_message")
        self.freedoms = self._fact("status_freedoms")
        self.solver_state = self._fact("status_solver")
        self.clock = self._fact("status_time")
        self.addWidget(self.sign)
        self.addWidget(self.text, 1)
        for fact in (self.freedoms, self.solver_state, self.clock):
            self.addPermanentWidget(fact)
        self._last: Message | None = None
        self._step: Message | None = None
        """What tells of a step that was undone or done again, and where it has led to: it is over with the next one."""
        self._step_place = -1
        self._job: Any = None
        self._live: Live | None = None
        self._active = False
        self._count_timer = single_shot(self, self._count)
        document.messages.posted.connect(self._show_message)
        document.stepped.connect(self._show_step)
        document.undo_stack.indexChanged.connect(self._leave_step)
        document.replaced.connect(self._forget)
        document.replaced.connect(self._clear_message)
        document.structure_changed.connect(self._forget)
        document.element_changed.connect(self._model_changed)
        document.time_changed.connect(self._show_time)
        document.runs.current_changed.connect(self._show_present_time)
        solver.state_changed.connect(self._show_solver)
        theme.changed().connect(self._show_sign)
        self._show_solver(solver.state)
        self._show_sign()

    def _fact(self, name: str) -> QLabel:
        label = QLabel(self)
        label.setObjectName(name)
        label.setContentsMargins(6, 0, 6, 0)
        return label

    def set_model_shown(self, shown: bool) -> None:
        """On the start page there is no model to tell anything about."""
        self._active = shown
        self.freedoms.setVisible(shown)
        self.clock.setVisible(shown and self.document.runs.current is not None)
        if shown:
            self._model_changed()

    # --- messages -----------------------------------------------------------------------------------------------------

    def _show_step(self, words: str) -> None:
        """What was undone or done again, in the place of a message about it; the list of messages stays short."""
        self._step, self._step_place = Message(ended(words)), -1
        self._show_message(self._step)

    def _leave_step(self, place: int) -> None:
        """A step was taken: that another one had been undone before is not so any more."""
        if self._step_place < 0:  # it is the one that was told just now
            self._step_place = place
        elif self._last is self._step:
            self._clear_message()

    def _show_message(self, message: Message) -> None:
        self._last = message
        first = message.text.strip().splitlines()[0] if message.text.strip() else ""
        self.text.setText(one_line(first))
        self.text.setToolTip(unformatted(message.text))
        self._show_sign()

    def _clear_message(self) -> None:
        self._last = None
        self.text.clear()
        self.text.setToolTip("")
        self._show_sign()

    def _show_sign(self, *_: object) -> None:
        # It has its size also while it is hidden: the first message must not make the bar higher and the view smaller.
        name, color = LEVEL_ICONS[self._last.level if self._last is not None else "info"]
        self.sign.setPixmap(icons.icon(name, color).pixmap(QSize(SIGN, SIGN)))
        self.sign.setVisible(self._last is not None)

    # --- live ---------------------------------------------------------------------------------------------------------

    def follow_live(self, live: Live) -> None:
        """Tell how fast a model runs live, in the place of the solver."""
        self._live = live
        live.changed.connect(self._show_live)
        live.framed.connect(self._show_live)

    def _show_live(self, _: object = None) -> None:
        live = self._live
        assert live is not None
        self._show_time(self.document.time)
        if live.on and live.frame is not None:
            self.solver_state.setText("Live: pauses" if live.paused else f"Live: {told(live.rate)}")
            self.solver_state.setToolTip("Time in the motion per time on the wall")
        else:
            self._show_solver(self.solver.state)

    # --- facts --------------------------------------------------------------------------------------------------------

    def _show_solver(self, state: str) -> None:
        if self._live is not None and self._live.on and self._live.frame is not None:
            return
        self.solver_state.setText(SOLVER_TEXTS.get(state, state))
        self.solver_state.setToolTip(SOLVER_TIPS.get(state, ""))

    def _show_present_time(self, *_: object) -> None:
        self._show_time(self.document.time)

    def _show_time(self, t: float) -> None:
        moving = self.document.runs.current is not None or (self._live is not None and self._live.on)
        self.clock.setVisible(self._active and moving)
        self.clock.setText(f"t = {t:.4f} s")

    def _forget(self) -> None:
        """Another model, or other bodies and joints: what was counted is not so any more."""
        self._job = None
        self.freedoms.setText("Counting freedoms…" if len(self.document.system.bodies) else "No bodies")
        self.freedoms.setToolTip("")
        self._model_changed()

    def _model_changed(self, *_: object) -> None:
        if self._active:
            self._count_timer.start(PAUSE)

    def _count(self) -> None:
        """Ask the solver for freedoms and redundancy."""
        if not len(self.document.system.bodies):
            self.freedoms.setText("No bodies")
            self.freedoms.setToolTip("")
            return
        try:
            task = FreedomTask(Model.of(self.document.system))
        except mb.ModelError as error:
            self._tell_nothing(str(error))
            return
        self._job = self.solver.submit(task)
        # Methods and not functions: Qt disconnects them when the bar is gone before the answer comes.
        self._job.finished.connect(self._show_freedom)
        self._job.failed.connect(self._show_failure)

    def _show_failure(self, failure: Any) -> None:
        if self.sender() is self._job:
            self._tell_nothing(failure.message)

    def _show_freedom(self, freedom: mb.Freedom) -> None:
        if self.sender() is not self._job:
            return
        text = "1 freedom" if freedom.count == 1 else f"{freedom.count} freedoms"
        tip = "The number of independent velocities."
        if freedom.redundant:
            count = freedom.redundant
            text += f" · {count} redundant equation{'' if count == 1 else 's'}"
            tip += f"\nEquations of these joints depend on each other: {', '.join(freedom.joints_involved)}."
            tip += "\nThe motion is unique; reactions of some joints are not."
        self.freedoms.setText(text)
        self.freedoms.setToolTip(tip)

    def _tell_nothing(self, reason: str) -> None:
        self.freedoms.setText("Freedoms unknown")
        self.freedoms.setToolTip(reason)
