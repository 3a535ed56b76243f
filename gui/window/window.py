"""The main window: start page, view and panels around it, menus, toolbar and status bar.

The window is visible before anything heavy is imported: panels come when the event loop runs, and the view with VTK,
which a thread imports meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QByteArray, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QMainWindow,
    QMenu,
    QMessageBox,
    QSizePolicy,
    QStackedWidget,
    QToolBar,
    QToolButton,
    QWidget,
)

import mbframe as mb

from ..base.names import one_line, unformatted
from ..base.settings import Settings
from ..base.showcase import exhibit, exhibits
from ..base.units import SYSTEMS, DisplayUnits
from ..document.document import Document
from ..document.track import Track
from ..fields import commit_focused
from ..modelling.workbench import Modelling
from ..playing.live import Live
from ..playing.playback import Player
from ..playing.timeline import Timeline
from ..solving.runner import Runner
from ..start.gallery import Gallery
from ..view.options import ViewOptions
from ..view.view import View
from ..widgets import theme
from ..widgets.actions import Actions
from ..widgets.arranging import stack
from ..widgets.field_keys import FieldKeys, typed_undo
from ..widgets.hint import Hint
from ..widgets.icons import application_icon, set_icon
from . import looks
from .docks import Docks
from .files import Files, dropped_file
from .live_parts import LiveParts
from .menus import entries
from .model_menu import add_own
from .own_classes import OwnClasses
from .panels import Panels
from .scripts import Scripts
from .status import StatusBar

FIRST_HINT: Final = "Space pauses it. Drag turns the view, the wheel zooms, a click selects. Run computes it anew."
LATEST_START: Final = 500
"""Milliseconds after which all that takes longer begins, painted or not."""
LATEST_PANELS: Final = 1500
"""Milliseconds that panels wait at most for what draws: the picture of a model that is opened at once comes first."""
MOST_NOTICES: Final = 12
"""Lines about what was left out of a file that are shown at once."""
SECOND_HINT: Final = "Your first run. Keep what you have:"


class MainWindow(QMainWindow):
    """Shows a document. `document`, `solver` and `settings` are made by the application.

    `give_back` hands the system to a program that waits for it: then leaving asks nothing.
    """

    first_painted = Signal()
    """The window is seen for the first time."""
    panels_ready = Signal()
    _drawing_imported = Signal()

    def __init__(
        self, document: Document, solver: Any, settings: Settings, give_back: Callable[[], object] | None = None
    ) -> None:
        super().__init__()
        self.give_back = give_back
        self.setObjectName("main_window")
        self.document, self.solver, self.settings = document, solver, settings
        theme.apply(settings.theme)
        self.setWindowIcon(application_icon())
        self.setAcceptDrops(True)
        self.setDockOptions(QMainWindow.DockOption.AnimatedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        self.player = Player(document, self)
        self.runner = Runner(document, solver, self)
        self.files = Files(document, settings, self, self.show_model, self._tell_failure)
        self.own_classes = OwnClasses(self)
        self.scripts = Scripts(self)
        self.gallery = Gallery(settings, self)
        self.view = View(document, self.player, solver, self)
        self.options = ViewOptions(document, self.view)
        self.live = Live(document, solver, self)
        self.live_parts = LiveParts(self)
        self.modelling = Modelling(document, solver, self.view, self.live)
        self.timeline = Timeline(document, self.player, self)
        self.hint = Hint(self.view, settings)
        self.hint.came_or_went.connect(self.view.cover_changed)
        self.pages = self._pages()
        self.setCentralWidget(self.pages)
        self.status = StatusBar(document, solver, self)
        self.setStatusBar(self.status)
        self.panels = Panels(self)
        self.docks = Docks(self, settings)
        self.actions_ = Actions(entries(self), self)
        self.menus = self.actions_.fill(self.menuBar())
        self._recent_menu = self._add_recent_menu()
        self._panels_menu = self._add_panels_menu()
        self.toolbar = self._toolbar()
        self._own_run = False
        self._connect()
        self._restore_layout()
        self.show_gallery()
        self._begun = False
        QTimer.singleShot(LATEST_START, self._begin)  # if it is opened as an icon, it is not painted

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._begun:
            QTimer.singleShot(0, self._begin)

    def _begin(self) -> None:
        """The window is seen: what takes longer can begin."""
        if not self._begun:
            self._begun = True
            self._stay_on_screen()
            self.first_painted.emit()
            self._drawing_imported.connect(self.view.prepare)
            self._drawing_imported.connect(self.gallery.draw_motions)
            self._drawing_imported.connect(self._follow_picture)
            self._importing = threading.Thread(target=self._import_drawing, name="import of VTK", daemon=True)
            self._importing.start()
            QTimer.singleShot(LATEST_PANELS, self._make_late_panels)

    def _follow_picture(self) -> None:
        """What draws is there: make the panels, after the picture of a model that was opened at once."""
        if self.model_shown and self.view.canvas is not None:
            self.view.first_shown.connect(self._make_panels)
        else:
            self._make_panels()

    def _make_late_panels(self) -> None:
        """What draws takes long to come: panels do not wait for it any longer, but for a picture that is waited for."""
        if self.model_shown and self._importing.is_alive():
            QTimer.singleShot(LATEST_PANELS, self._make_late_panels)
        else:
            self._make_panels()

    def _make_panels(self) -> None:
        if not self.panels:
            self.panels.make(self._panels_made)

    # --- building -----------------------------------------------------------------------------------------------------

    def _pages(self) -> QStackedWidget:
        pages = QStackedWidget(self)
        pages.setObjectName("pages")
        pages.addWidget(self.gallery)
        pages.addWidget(stack(QWidget(self), self.view, self.timeline, self.live_parts.bar, growing=self.view))
        return pages

    def _panels_made(self) -> None:
        self._connect_panels()
        self.panels_ready.emit()

    def _connect_panels(self) -> None:
        """Requests of panels go to those who can fulfil them; all else panels learn from the document."""
        tree, plots = self.panels["model"], self.panels["plots"]
        plots.time_requested.connect(self.player.seek)
        plots.peaked.connect(self.player.pause)
        self.panels["run"].method_requested.connect(self.choose_method)
        tree.confirm_delete = self.modelling.confirm_delete
        tree.menu_extensions.append(self.modelling.extend_menu)
        self.view.options_changed.connect(lambda: tree.mark_hidden(self.view.hidden))
        for asked, plot in ((tree.plot_requested, plots.add), (tree.quantities_requested, plots.plot_element)):
            asked.connect(lambda _: self.show_tab("plots"))
            asked.connect(plot)
        self.view.stress.plot_requested.connect(lambda _: self.show_tab("plots"))
        self.view.stress.plot_requested.connect(plots.add)
        tree.follow_requested.connect(lambda body: self.view.follow(body.name if body is not None else None))
        tree.trail_requested.connect(lambda body: self.view.set_trail(body.name, body.name not in self.view.trails))

    def _import_drawing(self) -> None:
        """Import beside the event loop what the view needs, and what reading results needs.

        The canvas itself is made in the window's thread.
        """
        mb.render.prepare()
        with suppress(RuntimeError):  # the window is gone already
            self._drawing_imported.emit()
        with suppress(mb.MbframeError, OSError):
            Track(mb.load_result(exhibits()[0].result)).sampled(2)

    # --- menus and toolbar --------------------------------------------------------------------------------------------

    def _add_recent_menu(self) -> QMenu:
        menu = QMenu("Open &recent", self)
        menu.setObjectName("recent_menu")
        self.menus["&File"].insertMenu(self.actions_["save"], menu)
        menu.aboutToShow.connect(self._fill_recent)
        return menu

    def _add_panels_menu(self) -> QMenu:
        menu = QMenu("&Panels", self)
        menu.setObjectName("panels_menu")
        for dock in self.docks.docks.values():
            menu.addAction(dock.toggleViewAction())
        self.menus["&View"].insertMenu(self.actions_["reset_layout"], menu)
        return menu

    def _fill_recent(self) -> None:
        self._recent_menu.clear()
        files = self.settings.recent_files()
        for path in files:
            self._recent_menu.addAction(str(path), partial(self.files.open, path))
        if files:
            self._recent_menu.addSeparator()
            self._recent_menu.addAction("Forget these files", self._forget_recent)
        else:
            self._recent_menu.addAction("No recent files").setEnabled(False)

    def _forget_recent(self) -> None:
        self.settings.clear_recent_files()
        self.gallery.refresh()

    def _toolbar(self) -> QToolBar:
        bar = QToolBar("Toolbar", self)
        bar.setObjectName("toolbar")
        bar.setMovable(False)
        bar.setIconSize(QSize(20, 20))
        bar.toggleViewAction().setEnabled(False)
        self.addToolBar(bar)
        for name in ("gallery", "open", "save", "", "undo", "redo", ""):
            bar.addAction(self.actions_[name]) if name else bar.addSeparator()
        self.add_button = self.modelling.add_button(self.menus["&Model/&Add"], bar)
        bar.addWidget(self.add_button)
        for name in ("pull", "assemble", ""):
            bar.addAction(self.actions_[name]) if name else bar.addSeparator()
        self.run_button = QToolButton(bar)
        self.run_button.setObjectName("toolbar_run")
        self.run_button.setProperty("primary", True)
        self.run_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.run_button.setText("Run")
        self.run_button.setToolTip("Compute the motion (F5)")
        self.run_button.clicked.connect(self._run_or_cancel)
        set_icon(self.run_button, "run", "accent_text")
        bar.addWidget(self.run_button)
        self._widen_for(self.run_button, "Cancel", "Run")
        self.live_parts.add_button(bar)
        for name in ("play", "", "fit", "labels", "trail", "follow", "arrows_velocity"):
            bar.addAction(self.actions_[name]) if name else bar.addSeparator()
        bar.addSeparator()
        for name in ("plots", "stability", "", "export"):
            bar.addAction(self.actions_[name]) if name else bar.addSeparator()
        gap = QWidget(bar)
        gap.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar.addWidget(gap)
        self.theme_button = QToolButton(bar)
        self.theme_button.setObjectName("toolbar_theme")
        self.theme_button.setToolTip("Light or dark")
        self.theme_button.setAccessibleName("Light or dark")
        self.theme_button.clicked.connect(self.switch_theme)
        set_icon(self.theme_button, "theme")
        bar.addWidget(self.theme_button)
        bar.addAction(self.actions_["help"])
        if self.give_back is not None:
            bar.addAction(self.actions_["return"])
            button: Any = bar.widgetForAction(self.actions_["return"])
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for rest in bar.findChildren(QToolButton, "qt_toolbar_ext_button"):
            rest.setToolTip("What has no room here")
            set_icon(rest, "chevron_right")
        return bar

    @staticmethod
    def _widen_for(button: QToolButton, *texts: str) -> None:
        """Make a button wide enough for all its texts (it keeps the last), so that its neighbours stay in place."""
        button.ensurePolished()
        widths = []
        for text in texts:
            button.setText(text)
            widths.append(button.sizeHint().width())
        button.setMinimumWidth(max(widths))

    def _connect(self) -> None:
        gallery, document = self.gallery, self.document
        gallery.example_chosen.connect(self._play_example)
        gallery.file_chosen.connect(self.files.open)
        gallery.new_chosen.connect(self.files.new)
        gallery.open_chosen.connect(self.files.open_with_dialog)
        document.replaced.connect(self._on_replaced)
        self.files.read.connect(self.own_classes.look)
        self.files.program_chosen.connect(self.scripts.open)
        self.own_classes.changed.connect(partial(add_own, self))
        document.looks = partial(looks.looks, self)
        document.left_out.connect(self._tell_left_out)
        document.looks_restored.connect(partial(looks.restore, self))
        document.title_changed.connect(self._show_title)
        document.units_changed.connect(self._show_units)
        document.selection_changed.connect(lambda _: self._show_options())
        document.runs.current_changed.connect(lambda _: self.show_what_can_be_done())
        stack = document.undo_stack
        for signal in (stack.canUndoChanged, stack.canRedoChanged, stack.undoTextChanged, stack.redoTextChanged):
            signal.connect(lambda _: self.show_what_can_be_done())
        self.view.options_changed.connect(self._show_options)
        self.modelling.changed.connect(self._show_options)
        self.modelling.changed.connect(self._make_room_for_typing)
        self.player.playing_changed.connect(self._show_playing)
        self.live_parts.follow()
        self.runner.started.connect(self._on_run_started)
        self.runner.playable.connect(self.player.play)
        self.runner.ended.connect(self._on_run_ended)
        self.timeline.loop_button.toggled.connect(self.actions_["loop"].setChecked)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            FieldKeys(application, self)
        self.actions_["loop"].setChecked(self.player.loop)
        self.actions_["shadows"].setChecked(True)
        self._show_theme()
        self._show_units()
        self.show_what_can_be_done()
        self._show_options()
        self._show_title()

    # --- pages --------------------------------------------------------------------------------------------------------

    def show_gallery(self) -> None:
        """Show the start page."""
        self.player.pause()
        self.live.pause()
        self.gallery.refresh()
        self.pages.setCurrentIndex(0)
        self.docks.hide()
        self._set_model_shown(False)

    def show_model(self) -> None:
        """Show the view and the panels around it."""
        if self.pages.currentIndex() == 1:
            return
        self.pages.setCurrentIndex(1)
        self.docks.show()
        self._set_model_shown(True)
        self.view.setFocus()

    def _set_model_shown(self, shown: bool) -> None:
        self.actions_.set_model_shown(shown)
        self.status.set_model_shown(shown)
        self.run_button.setEnabled(shown)
        self.add_button.setEnabled(shown)
        self._panels_menu.setEnabled(shown)
        self.show_what_can_be_done()
        self._show_options()
        self._show_title()

    @property
    def model_shown(self) -> bool:
        """Whether a model is shown, and not the start page."""
        return self.pages.currentIndex() == 1

    def open_example(self, name: str) -> None:
        """Open an example from the gallery, with the path of its most telling body."""
        if not self.files.open_example(name):
            return
        if (shown := exhibit(name)) is not None:
            if shown.trail:
                self.view.set_trail(shown.trail, True, shown.trail_point)
            if shown.follow:
                self.view.follow(shown.follow)
            if shown.speed:
                self.player.set_speed(shown.speed)
            self.view.camera.first_view = shown.view
        self.hint.offer("first steps", FIRST_HINT)

    def _play_example(self, name: str) -> None:
        """Open an example that was chosen on the start page, and play its motion at once."""
        self.open_example(name)
        if self.model_shown:
            self.player.play()

    def show_tab(self, name: str) -> None:
        """Bring a panel of the lower tabs to the front."""
        if name in self.panels:
            self.docks.bring_to_front(self.panels[name])

    def _make_room_for_typing(self) -> None:
        """Numbers of a point are typed where hints lie."""
        if self.modelling.placing.active:
            self.hint.hide()

    def _on_replaced(self) -> None:
        self._own_run = False
        self.hint.hide()
        self.show_model()

    # --- running ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Compute the motion with the chosen settings."""
        if self.model_shown and not self.runner.running:
            self.live.stop()
            self.runner.start()

    def _run_or_cancel(self) -> None:
        self.runner.cancel() if self.runner.running else self.run()

    def choose_method(self) -> None:
        """Choose every strategy by hand."""
        import_module("..dialogs.method", __package__).MethodDialog(self.document, self).open()

    def _on_run_started(self) -> None:
        self.run_button.setText("Cancel")
        set_icon(self.run_button, "stop", "accent_text")
        self.show_what_can_be_done()

    def _on_run_ended(self, run: Any) -> None:
        self.run_button.setText("Run")
        set_icon(self.run_button, "run", "accent_text")
        self.show_what_can_be_done()
        if run is not None and run.complete and not self._own_run:
            self._own_run = True
            self.hint.offer(
                "keep it",
                SECOND_HINT,
                [("Save a copy", self.files.save_as), ("Export video", self.show_export)],
            )

    # --- dialogs ------------------------------------------------------------------------------------------------------

    def show_export(self) -> None:
        """Open the dialog that writes files; nothing plays behind it."""
        self.player.pause()
        dialog = import_module("..dialogs.export.dialog", __package__).ExportDialog(
            self.document, self.solver, self.view, self, self.settings
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def save_picture(self) -> None:
        """Write what the view shows to a file."""
        from PySide6.QtWidgets import QFileDialog

        start = self.settings.last_folder / "view.png"
        name, _ = QFileDialog.getSaveFileName(self, "Save picture", str(start), "Pictures (*.png)")
        if not name:
            return
        path = Path(name) if Path(name).suffix else Path(name).with_suffix(".png")
        if self.view.picture().save(str(path)):
            self.document.messages.post(f"Picture saved as {path}.")
        else:
            self._tell_failure(f"{path} could not be written; choose another folder.")

    def show_help(self) -> None:
        """Open the help."""
        module = import_module("..dialogs.help", __package__)
        if self._help is None:
            self._help = module.HelpWindow(self)
        self._help.open_for(QApplication.focusWidget())

    _help: Any = None

    def show_shortcuts(self) -> None:
        """List all keys."""
        module = import_module("..dialogs.shortcuts", __package__)
        dialog = module.ShortcutList(list(self.actions_.shortcuts()), self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_about(self) -> None:
        """Say what this is."""
        box = QMessageBox(self)
        box.setObjectName("about_dialog")
        box.setWindowTitle("About mbframe")
        box.setIconPixmap(application_icon().pixmap(QSize(64, 64)))
        box.setText(f"<b>mbframe</b> {mb.__version__}")
        box.setInformativeText(
            "Multibody dynamics: describe a mechanism, simulate it, see whether it is stable.\nMIT licence."
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _tell_failure(self, text: str) -> None:
        """A failure that the user must not miss: a message, and a bar in the window."""
        self.document.messages.post(text, "error")
        box = QMessageBox(self)
        box.setObjectName("failure_dialog")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("mbframe")
        box.setText(unformatted(text))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _tell_left_out(self, notices: list[str]) -> None:
        """What an imported file says and the model does not: to be read once, and kept in the messages."""
        box = QMessageBox(self)
        box.setObjectName("left_out_dialog")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setIcon(QMessageBox.Icon.Information)
        box.setWindowTitle("Imported")
        count = "One thing" if len(notices) == 1 else f"{len(notices)} things"
        box.setText(f"{count} in the file could not be taken over.")
        shown = notices[:MOST_NOTICES]
        more = [f"and {len(notices) - len(shown)} more, in the messages."] if len(notices) > len(shown) else []
        box.setInformativeText("\n".join(f"• {line}" for line in (*shown, *more)))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    # --- editing ------------------------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Take back what was done last: letters that are being typed, else a change of the model."""
        focus: Any = self.focusWidget()
        focus.undo() if typed_undo(focus) else self.document.undo()

    def redo(self) -> None:
        """Do again what was taken back."""
        focus: Any = self.focusWidget()
        focus.redo() if typed_undo(focus, redo=True) else self.document.redo()

    def _editable(self) -> Any:
        """What is selected, if it can be deleted or duplicated."""
        chosen, system = self.document.selection, self.document.system
        return None if chosen is None or chosen is system or chosen is system.ground else chosen

    def duplicate_selected(self) -> None:
        """Add a copy of what is selected."""
        if (chosen := self._editable()) is not None:
            self.document.duplicate(chosen)

    def rename_selected(self) -> None:
        """Let the name of what is selected be typed in the tree."""
        if (chosen := self._editable()) is not None and "model" in self.panels:
            self.panels["model"].rename(chosen)

    def delete_selected(self) -> None:
        """Delete what is selected, with what depends on it."""
        if (chosen := self._editable()) is not None and self.modelling.confirm_delete(chosen):
            self.document.remove(chosen)

    # --- the view -----------------------------------------------------------------------------------------------------

    def set_loop(self, on: bool) -> None:
        """Begin again at the end of a run, or stop there."""
        self.player.loop = on
        self.timeline.loop_button.setChecked(on)

    # --- what actions show --------------------------------------------------------------------------------------------

    def _show_options(self) -> None:
        self.options.show(self.actions_)
        self.actions_.check("pull", self.modelling.pull.on)
        chosen = self.document.selection
        self.actions_.check("transparent", chosen is not None and chosen.name in self.view.transparent)
        self.modelling.enable(self.actions_, self.model_shown)
        for action in ("duplicate", "delete"):
            self.actions_[action].setEnabled(self.model_shown and self._editable() is not None)

    def show_what_can_be_done(self) -> None:
        """Enable what there is to undo, to run and to play."""
        stack = self.document.undo_stack
        for name, able, text in (
            ("undo", stack.canUndo(), stack.undoText()),
            ("redo", stack.canRedo(), stack.redoText()),
        ):
            action = self.actions_[name]
            action.setEnabled(self.model_shown and able)
            action.setText(f"&{name.capitalize()} {text}".strip())
        self.actions_["cancel"].setEnabled(self.runner.running)
        self.actions_["run"].setEnabled(self.model_shown and not self.runner.running)
        for name in ("play", "step_forward", "step_back", "rewind"):
            self.actions_[name].setEnabled(self.model_shown and (self.player.can_play or self.live.on))
        self.actions_["live"].setEnabled(self.model_shown and not self.runner.running)
        self.live_parts.button.setEnabled(self.model_shown and not self.runner.running)

    def _show_playing(self, playing: bool) -> None:
        set_icon(self.actions_["play"], "pause" if playing else "play")

    def _show_title(self) -> None:
        name = one_line(self.document.title).replace("[*]", "[*][*]")  # doubled, it is no place for a mark
        self.setWindowTitle(f"{name}[*] – mbframe" if self.model_shown else "mbframe")
        self.setWindowModified(self.model_shown and self.document.unsaved)

    # --- theme and units ----------------------------------------------------------------------------------------------

    def choose_theme(self, name: str, on: bool = True) -> None:
        """Use a theme and remember it: "system", "light" or "dark"."""
        if on:
            self.settings.theme = name
            theme.apply(name)
        self._show_theme()

    def switch_theme(self) -> None:
        """From light to dark, or back."""
        self.choose_theme("light" if theme.current().dark else "dark", True)

    def _show_theme(self) -> None:
        for name in ("system", "light", "dark"):
            self.actions_.check(f"theme_{name}", self.settings.theme == name)

    def choose_units(self, name: str, on: bool = True) -> None:
        """Show numbers in these units, and remember it for the document."""
        if on:
            self.document.units = DisplayUnits(name)
            self.settings.set_units(self.document.units, self.document.path)
        self._show_units()

    def _show_units(self) -> None:
        for name in SYSTEMS:
            self.actions_.check(f"units_{name}", self.document.units.name == name)

    # --- layout -------------------------------------------------------------------------------------------------------

    def _restore_layout(self) -> None:
        geometry = self.settings.layout("geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            available = self.screen().availableGeometry().size()
            self.resize(min(1400, available.width()), min(900, available.height()))

    def _stay_on_screen(self) -> None:
        """Title bar and border, which the desktop adds to a window when it shows it, need room as well."""
        beyond = self.frameGeometry().size() - self.screen().availableGeometry().size()
        if not self.isMaximized() and not self.isFullScreen():
            self.resize(self.size() - beyond.expandedTo(QSize(0, 0)))

    def reset_layout(self) -> None:
        """Put all panels back to where they were at first."""
        self.docks.reset()

    def _remember_layout(self) -> None:
        self.docks.remember()
        self.settings.set_layout("geometry", QByteArray(self.saveGeometry()))

    # --- events -------------------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_file(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            QTimer.singleShot(0, lambda: self.files.open(path))

    def _may_close(self) -> bool:
        """Give the system back to Python, or ask about changes."""
        if self.give_back is None:
            return self.files.may_leave()
        commit_focused()
        try:
            self.give_back()
        except (mb.MbframeError, OSError) as error:
            self._tell_failure(f"The model cannot go back to Python: {error}")
            return False
        return True

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._may_close():
            event.ignore()
            return
        self._remember_layout()
        self.player.pause()
        self.runner.cancel()
        self.live.forget()
        self.view.close_canvas()
        event.accept()
