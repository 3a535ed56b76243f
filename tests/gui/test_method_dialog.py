"""The method dialog: all strategies, their parameters, refused combinations, and the equivalent call."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

import mbframe as mb
from gui.dialogs.method import MethodDialog, python_call
from gui.document.document import Document
from gui.document.runs import RunSettings
from gui.document.strategies import strategies
from gui.panels.run.panel import RunControls

from .hands import type_into


@pytest.fixture
def dialog(qtbot):
    def make(settings=None, system=None):
        document = Document(system or mb.examples.simple_pendulum())
        if settings is not None:
            document.runs.settings = settings
        dialog = MethodDialog(document)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(dialog)
        dialog.show()
        return dialog

    return make


def choose(dialog, role, cls):
    combo = dialog.boxes[role].combo
    combo.setCurrentIndex(combo.findData(cls))


EXPECTED = {
    "formulation": {mb.EulerAngles, mb.EulerParameters, mb.NaturalAbsolute, mb.NewtonEuler},
    "acceleration": {
        mb.AugmentedFormulation,
        mb.AugmentedLagrangian,
        mb.Penalty,
        mb.ProjectionMatrix,
        mb.UdwadiaKalaba,
    },
    "stabilization": {
        mb.Baumgarte,
        mb.CoordinatePartitioning,
        mb.DirectCorrection,
        mb.MassOrthogonalProjection,
        mb.NoStabilization,
    },
    "integrator": {
        mb.AdamsBashforth,
        mb.DormandPrince,
        mb.GeneralizedAlpha,
        mb.RadauIIA,
        mb.RungeKutta4,
    },
}


@pytest.mark.parametrize("role", EXPECTED)
def test_every_strategy_is_offered(role):
    assert EXPECTED[role] <= set(strategies(role))


def test_planar_systems_have_planar_coordinates():
    found = set(strategies("formulation", 2))
    assert {mb.PlanarAngle, mb.PlanarEulerParameters, mb.PlanarNatural} <= found
    assert mb.NewtonEuler not in found


def test_a_users_own_strategy_is_offered():
    class SymplecticEuler(mb.Integrator):
        """Of order one."""

        def step(self, eq, t, q, v, h):
            v = v + h * eq.accelerate(t, q, v)[0]
            return q + h * eq.coordinate_rates(q, v), v

    assert SymplecticEuler in strategies("integrator")


@pytest.mark.parametrize("role", EXPECTED)
def test_every_strategy_can_be_chosen_with_its_parameters(dialog, role):
    shown = dialog()
    box = shown.boxes[role]
    for k in range(1, box.combo.count()):
        box.combo.setCurrentIndex(k)
        cls = box.cls
        declared = list(cls.parameters()) if hasattr(cls, "parameters") else []
        assert [name for name in box.fields if name in declared] == declared
        assert type(box.strategy()) is cls


def test_parameters_are_typed_and_checked(dialog, qtbot):
    shown = dialog()
    choose(shown, "stabilization", mb.Baumgarte)
    fields = shown.boxes["stabilization"].fields
    type_into(qtbot, fields["alpha"].edit, "20")
    assert shown.boxes["stabilization"].strategy().alpha == 20.0
    for text in ("-1", "many", "nan", ""):
        type_into(qtbot, fields["alpha"].edit, text)
        assert not shown.use.isEnabled()
        assert shown.findChild(QLabel, "problem_stabilization_alpha").isVisible()
    qtbot.keyClick(fields["alpha"].edit, Qt.Key.Key_Escape)
    assert shown.use.isEnabled()
    assert shown.boxes["stabilization"].strategy().alpha == 20.0


def test_refused_combinations_are_said_in_the_words_of_the_error(dialog):
    shown = dialog()
    choose(shown, "integrator", mb.RadauIIA)
    choose(shown, "acceleration", mb.Penalty)
    with pytest.raises(mb.ModelError) as refused:
        mb.simulate(mb.examples.simple_pendulum(), 1.0, integrator=mb.RadauIIA(), acceleration=mb.Penalty())
    (problem,) = refused.value.problems
    said = shown.boxes["acceleration"].problem
    assert said.isVisible()
    assert said.text().lower().rstrip(".") == problem.message.lower()
    assert not shown.use.isEnabled()
    choose(shown, "acceleration", None)
    assert shown.use.isEnabled()
    assert not said.isVisible()
    choose(shown, "stabilization", mb.Baumgarte)
    assert "DirectCorrection" in shown.boxes["stabilization"].problem.text()


def test_a_fixed_step_is_asked_for(dialog, qtbot):
    shown = dialog()
    choose(shown, "integrator", mb.RungeKutta4)
    assert not shown.use.isEnabled()
    assert "fixed step" in shown.problems["dt"].text()
    type_into(qtbot, shown.dt.edit, "0")
    assert "above 0" in shown.problems["dt"].text()
    type_into(qtbot, shown.dt.edit, "1e-3")
    assert shown.use.isEnabled()
    assert shown.settings().dt == 1e-3


def test_the_python_call_does_what_the_settings_do(dialog, qtbot):
    """The text is run, and compared with the run of the settings: the same states."""
    shown = dialog(RunSettings("custom", 0.5, dt=0.01, integrator=mb.RungeKutta4(), acceleration=mb.UdwadiaKalaba()))
    code = shown.code.toPlainText()
    names = {"mb": mb, "system": mb.examples.simple_pendulum()}
    exec(code, names)
    assert names["result"].info.settings["integrator"] == "RungeKutta4()"
    assert names["result"].info.settings["acceleration"] == "UdwadiaKalaba()"
    assert names["result"].t[-1] == 0.5
    qtbot.mouseClick(shown.copy, Qt.MouseButton.LeftButton)
    from PySide6.QtGui import QGuiApplication

    assert QGuiApplication.clipboard().text() == code


def test_the_call_shows_changed_parameters_only():
    text = python_call(RunSettings("custom", 2.0, integrator=mb.DormandPrince(rtol=1e-9), every=0.5))
    assert "integrator=mb.DormandPrince(rtol=1e-09)" in text
    assert "t_eval=np.linspace(0.0, 2.0, 5)" in text


def test_accepting_changes_the_settings_and_cancelling_does_not(dialog, qtbot):
    shown = dialog(system=mb.examples.heavy_top())
    choose(shown, "formulation", mb.EulerAngles)
    shown.boxes["formulation"].fields["sequence"].combo.setCurrentText("ZXZ")
    shown.reject()
    assert shown.document.runs.settings.preset == "fast"
    shown = dialog(RunSettings("fast", math.pi), mb.examples.heavy_top())
    choose(shown, "formulation", mb.EulerAngles)
    shown.boxes["formulation"].fields["sequence"].combo.setCurrentText("ZYX")
    qtbot.mouseClick(shown.findChild(QPushButton, "use_method"), Qt.MouseButton.LeftButton)
    settings = shown.document.runs.settings
    assert (settings.preset, settings.t_end) == ("custom", math.pi)
    assert settings.formulation == mb.EulerAngles("ZYX")
    assert isinstance(settings.integrator, mb.DormandPrince), "it starts from the preset in use"


def test_settings_are_shown_again(dialog):
    given = RunSettings("custom", 1.0, dt=0.02, stabilization=mb.Baumgarte(alpha=7.0), integrator=mb.RungeKutta4())
    shown = dialog(given)
    assert shown.boxes["stabilization"].fields["alpha"].value == 7.0
    assert repr(shown.settings()) == repr(given)


def test_the_button_asks_for_it(qtbot, solver):
    controls = RunControls(Document(mb.examples.simple_pendulum()), solver)
    qtbot.addWidget(controls)
    controls.show()
    with qtbot.waitSignal(controls.method_requested):
        qtbot.mouseClick(controls.method, Qt.MouseButton.LeftButton)
    assert not controls.method.isChecked(), "asking is not choosing"
