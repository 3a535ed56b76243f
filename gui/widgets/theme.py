"""Colours, fonts and the style of all widgets: light and dark, switched while the application runs.

`theme.current()` has the colours for what is painted by hand (plots, the view, cards); `theme.changed()` is the signal
to paint it again. Widgets need nothing: palette and style sheet reach all of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from string import Template
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from ..base.places import ASSETS


@dataclass(frozen=True)
class Theme:
    """Colours as "#rrggbb". `series` are those of curves, runs and other things that must be told apart."""

    name: str
    window: str
    """Behind the panels."""
    surface: str
    """Of panels, lists and fields."""
    raised: str
    """Of headers, cards and buttons."""
    hover: str
    border: str
    text: str
    muted: str
    """Of secondary text; at least 4.5 : 1 on every background."""
    accent: str
    """The one colour of what is selected or pressed next."""
    accent_hover: str
    accent_text: str
    """On the accent."""
    accent_soft: str
    """A background tinted with the accent."""
    good: str
    warning: str
    bad: str
    series: tuple[str, ...]

    @property
    def dark(self) -> bool:
        return self.name == "dark"

    def color(self, field: str) -> QColor:
        """One of the colours by the name of its field."""
        return QColor(getattr(self, field))


LIGHT: Final = Theme(
    name="light",
    window="#eef1f5",
    surface="#ffffff",
    raised="#f6f8fa",
    hover="#e8edf3",
    border="#d3dae2",
    text="#1f2933",
    muted="#566472",
    accent="#1f6fc0",
    accent_hover="#185ca2",
    accent_text="#ffffff",
    accent_soft="#dfebf8",
    good="#18794e",
    warning="#9a5b00",
    bad="#c0332b",
    series=("#1f6fc0", "#d98a1e", "#1f8f73", "#c4532f", "#8a5ab0", "#4fa3d1", "#a8951f", "#5b6b82"),
)

DARK: Final = Theme(
    name="dark",
    window="#15191e",
    surface="#1d2228",
    raised="#252b33",
    hover="#2e3640",
    border="#38414c",
    text="#e4e9ee",
    muted="#9aa7b4",
    accent="#5aa6ee",
    accent_hover="#7cbaf3",
    accent_text="#0c1520",
    accent_soft="#22374d",
    good="#4cc38a",
    warning="#e0a33c",
    bad="#f2766b",
    series=("#5aa6ee", "#eeb050", "#45c3a0", "#ee8560", "#b993de", "#8fd0f2", "#d9c653", "#9fb0c8"),
)

SHARES: Final = {"caption_size": 8 / 9, "heading_size": 12 / 9, "title_size": 22 / 9}
"""Sizes of letters in the style sheet, relative to the usual one."""
THEMES: Final = {theme.name: theme for theme in (LIGHT, DARK)}


class _Switch(QObject):
    """The theme in use, and the signal that it changed."""

    changed = Signal(object)
    theme = LIGHT
    styled = False


_switch = _Switch()


def current() -> Theme:
    """The theme in use."""
    return _switch.theme


def changed() -> SignalInstance:
    """Emitted with the new theme after widgets have it."""
    return _switch.changed


def system_theme() -> str:
    """Preference of the desktop."""
    scheme = QGuiApplication.styleHints().colorScheme()
    return "dark" if scheme == Qt.ColorScheme.Dark else "light"


def apply(name: str) -> None:
    """Give all widgets a theme, "light" or "dark"; "system" takes that of the desktop."""
    theme = THEMES[system_theme() if name == "system" else name]
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        raise RuntimeError("a theme needs a QApplication; make one first")
    _switch.theme = theme
    if not _switch.styled:  # setting it again would polish every widget once more
        application.setStyle("Fusion")
        _switch.styled = True
    application.setPalette(palette(theme))
    application.setStyleSheet(style_sheet(theme))
    _switch.changed.emit(theme)


def palette(theme: Theme) -> QPalette:
    """The colours that Qt's own painting uses."""
    roles = QPalette.ColorRole
    found = QPalette()
    for role, color in (
        (roles.Window, theme.window),
        (roles.WindowText, theme.text),
        (roles.Base, theme.surface),
        (roles.AlternateBase, theme.raised),
        (roles.Text, theme.text),
        (roles.PlaceholderText, theme.muted),
        (roles.Button, theme.raised),
        (roles.ButtonText, theme.text),
        (roles.BrightText, theme.bad),
        (roles.Highlight, theme.accent),
        (roles.HighlightedText, theme.accent_text),
        (roles.Link, theme.accent),
        (roles.LinkVisited, theme.accent),
        (roles.ToolTipBase, theme.raised),
        (roles.ToolTipText, theme.text),
        (roles.Light, theme.raised),
        (roles.Midlight, theme.hover),
        (roles.Mid, theme.border),
        (roles.Dark, theme.border),
        (roles.Shadow, theme.border),
        (roles.Accent, theme.accent),
    ):
        found.setColor(role, QColor(color))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        found.setColor(QPalette.ColorGroup.Disabled, role, mixed(theme.text, theme.surface, 0.45))
    return found


def mixed(one: str, other: str, share: float) -> QColor:
    """A colour between two: `share` of the first, the rest of the other."""
    a, b = QColor(one), QColor(other)
    parts = zip((a.red(), a.green(), a.blue()), (b.red(), b.green(), b.blue()), strict=True)
    return QColor(*(round(share * x + (1.0 - share) * y) for x, y in parts))


def style_sheet(theme: Theme) -> str:
    """The style sheet of the application in the colours of a theme; see assets/style.qss."""
    colors = {name: value for name, value in asdict(theme).items() if isinstance(value, str)}
    colors["disabled"] = mixed(theme.text, theme.surface, 0.4).name()
    colors["scroll"] = mixed(theme.muted, theme.surface, 0.45).name()
    colors["icons"] = (ASSETS / "icons").as_posix()
    colors |= {role: f"{size:g}pt" for role, size in font_sizes().items()}
    return Template((ASSETS / "style.qss").read_text(encoding="utf-8")).substitute(colors)


def font_sizes() -> dict[str, float]:
    """Sizes of letters other than the usual one, in points: they follow the font of the desktop."""
    usual = QGuiApplication.font().pointSizeF()
    return {role: round(2.0 * share * (usual if usual > 0.0 else 9.0)) / 2.0 for role, share in SHARES.items()}


def fixed_font() -> QFont:
    """Letters of equal width, for code and columns of numbers, as large as the others."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(max(font.pointSizeF(), QGuiApplication.font().pointSizeF()))
    return font


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21, as the Web Content Accessibility Guidelines 2.2 define it."""

    def luminance(code: str) -> float:
        color = QColor(code)
        shares = (color.redF(), color.greenF(), color.blueF())
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
