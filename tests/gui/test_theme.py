"""Themes: colours that can be read, switched while the application runs; icons in their colours."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QProgressBar, QPushButton, QToolButton

from gui.base.places import ASSETS
from gui.widgets import icons, theme


@pytest.fixture(autouse=True)
def light_again(qapp):
    yield
    theme.apply("light")


def test_contrast_is_that_of_the_guidelines():
    assert theme.contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert theme.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert theme.contrast("#123456", "#123456") == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_can_be_read_on_every_background(name):
    look = theme.THEMES[name]
    for background in ("window", "surface", "raised", "hover", "accent_soft"):
        for text in ("text", "muted"):
            assert theme.contrast(getattr(look, text), getattr(look, background)) >= 4.5, (text, background)
    for sign in ("accent", "good", "warning", "bad"):
        assert theme.contrast(getattr(look, sign), look.surface) >= 4.5, sign
    assert theme.contrast(look.accent_text, look.accent) >= 4.5
    for color in look.series:
        assert theme.contrast(color, look.surface) >= 2.4, color


@pytest.mark.parametrize("name", ["light", "dark"])
def test_words_on_a_progress_bar_can_be_read(qtbot, name):
    """They were as dark as elsewhere, on the accent."""
    theme.apply(name)
    bar = QProgressBar()
    qtbot.addWidget(bar)
    bar.resize(360, 24)
    bar.setValue(100)
    bar.setFormat(" ")  # the ground alone
    bar.show()
    qtbot.waitExposed(bar)
    ground = bar.grab().toImage().pixelColor(180, 10).name()
    assert theme.contrast(theme.current().text, ground) >= 4.5


def test_curves_can_be_told_apart():
    for look in theme.THEMES.values():
        assert len(set(look.series)) == len(look.series) >= 8


def test_switching_reaches_palette_style_sheet_and_listeners(qapp):
    told = []
    listener = told.append
    theme.changed().connect(listener)
    theme.apply("dark")
    theme.changed().disconnect(listener)
    assert told == [theme.DARK]
    assert theme.current() is theme.DARK
    assert qapp.palette().color(QPalette.ColorRole.Base) == QColor(theme.DARK.surface)
    assert theme.DARK.accent in qapp.styleSheet()
    assert "$" not in qapp.styleSheet()


def test_the_desktop_may_choose(qapp):
    theme.apply("system")
    assert theme.current().name == theme.system_theme()


@pytest.mark.parametrize(("points", "heading"), [(9.0, 12.0), (13.5, 18.0)])
def test_letters_follow_the_font_of_the_desktop(qapp, monkeypatch, points, heading):
    usual = QFont()
    usual.setPointSizeF(points)
    monkeypatch.setattr(theme.QGuiApplication, "font", lambda: usual)
    assert theme.font_sizes()["heading_size"] == heading
    assert f'QLabel[role="heading"] {{ font-size: {heading:g}pt;' in theme.style_sheet(theme.LIGHT)
    assert theme.fixed_font().pointSizeF() >= points


def test_every_icon_draws_something_in_the_colour_asked_for(qapp):
    for name in icons.names():
        image = icons.pixmap(name, 24, "#ff0000").toImage()
        drawn = [image.pixelColor(x, y) for x in range(24) for y in range(24) if image.pixelColor(x, y).alpha() > 200]
        assert len(drawn) >= 4, name
        if name != "mbframe":
            assert all(color.red() > 200 and color.green() < 60 for color in drawn), name


def test_icons_are_drawn_in_one_style():
    for name in icons.names():
        text = (ASSETS / "icons" / f"{name}.svg").read_text()
        if name != "mbframe":
            assert 'viewBox="0 0 24 24"' in text
            assert "currentColor" in text
            assert "#" not in text, f"{name} has a colour of its own"


def test_icons_change_with_the_theme(qtbot):
    button = QPushButton()
    qtbot.addWidget(button)
    icons.set_icon(button, "stop")

    def middle() -> str:
        return button.icon().pixmap(24, 24).toImage().pixelColor(12, 12).name()

    assert middle() == theme.LIGHT.text
    theme.apply("dark")
    assert middle() == theme.DARK.text


def test_icons_of_deleted_widgets_are_forgotten(qtbot):
    before = len(icons._wearers)
    for _ in range(3):
        button = QToolButton()
        icons.set_icon(button, "run")
        del button
    theme.apply("dark")
    assert len(icons._wearers) <= before


def test_disabled_icons_are_pale(qapp):
    normal = icons.icon("stop").pixmap(24, 24).toImage().pixelColor(12, 12)
    disabled = icons.icon("stop").pixmap(24, 24, icons.QIcon.Mode.Disabled).toImage().pixelColor(12, 12)
    assert disabled.lightness() > normal.lightness()


def test_the_application_has_an_icon(qapp):
    assert not icons.application_icon().pixmap(64, 64).isNull()
