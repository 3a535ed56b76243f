"""Icons from `assets/icons`, drawn in the colours of the theme.

`set_icon(action_or_button, "run")` keeps the icon in step with the theme; `icon("run")` is one in the present colours.
In the place of a name there may be the glyph of a user's class: a path as SVG has it.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from ..base.places import ASSETS
from . import theme

SIZES = (16, 20, 24, 32, 48)
LEVELS: Final = {"info": ("info", "accent"), "warning": ("warning", "warning"), "error": ("error", "bad")}
"""Icon and colour of a message, by its level."""

GLYPH: Final = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor"
stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"><path d="{}"/></svg>"""
"""The icon of a class that draws its own."""

_wearers: dict[int, tuple[weakref.ref[Any], str, str]] = {}
_cache: dict[tuple[str, str, str], QIcon] = {}


def names() -> list[str]:
    """All icons."""
    return sorted(path.stem for path in (ASSETS / "icons").glob("*.svg"))


def pixmap(name: str, size: int, color: str, ratio: float = 1.0) -> QPixmap:
    """An icon of `size` device-independent pixels in a colour."""
    return _drawn(_renderer(name, color), size, ratio)


def _renderer(name: str, color: str) -> QSvgRenderer:
    is_path = name[:1] in "Mm" and " " in name
    text = GLYPH.format(name) if is_path else (ASSETS / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    return QSvgRenderer(QByteArray(text.replace("currentColor", color).encode()))


def _drawn(renderer: QSvgRenderer, size: int, ratio: float) -> QPixmap:
    picture = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer.render(painter, QRectF(picture.rect()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


def icon(name: str, color: str = "text") -> QIcon:
    """An icon in a colour of the present theme, given by its field; grey where disabled."""
    look = theme.current()
    key = (look.name, name, color)
    if key not in _cache:
        found = QIcon()
        disabled = theme.mixed(look.text, look.surface, 0.28).name()
        ratios = {1.0, *(screen.devicePixelRatio() for screen in QGuiApplication.screens())}
        for mode, shade in ((QIcon.Mode.Normal, getattr(look, color)), (QIcon.Mode.Disabled, disabled)):
            renderer = _renderer(name, shade)
            for size in SIZES:
                for ratio in sorted(ratios):
                    found.addPixmap(_drawn(renderer, size, ratio), mode)
        _cache[key] = found
    return _cache[key]


def dot(color: str, hollow: bool = False) -> QIcon:
    """A mark in a colour, such as that of a run; a ring if it is hollow."""
    picture = QPixmap(28, 28)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = painter.pen()
    pen.setColor(QColor(color))
    pen.setWidth(4)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush if hollow else QColor(color))
    painter.drawEllipse(6, 6, 16, 16)
    painter.end()
    found = QIcon(picture)
    found.addPixmap(picture, QIcon.Mode.Selected)  # Qt would tint it
    return found


def application_icon() -> QIcon:
    """The icon of the application, which has colours of its own."""
    found = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        found.addPixmap(pixmap("mbframe", size, "#000000"))
    return found


def set_icon(wearer: Any, name: str, color: str = "text") -> None:
    """Give an action or a button an icon that changes with the theme."""
    wearer.setIcon(icon(name, color))
    key = id(wearer)
    _wearers[key] = (weakref.ref(wearer, lambda _: _wearers.pop(key, None)), name, color)


def _recolor(_: object) -> None:
    for reference, name, color in list(_wearers.values()):
        wearer = reference()
        if wearer is None:
            continue
        try:
            wearer.setIcon(icon(name, color))
        except RuntimeError:  # Qt has deleted it, Python has not yet
            _wearers.pop(id(wearer), None)


theme.changed().connect(_recolor)
