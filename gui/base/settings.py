"""Settings that last from one start to the next: a thin typed layer over QSettings."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths

from .units import DEFAULT, SYSTEMS, DisplayUnits

ORGANIZATION: Final = "mbframe"
APPLICATION: Final = "mbframe"
RECENT: Final = 12
"""Maximum of recent files."""
THEMES: Final = ("system", "light", "dark")


def data_folder() -> Path:
    """Folder of autosaves and crash reports; made if need be and possible."""
    place = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation) or Path.home())
    with suppress(OSError):  # whoever writes there says so
        place.mkdir(parents=True, exist_ok=True)
    return place


class Settings:
    """Recent files, layout, theme, hints; a setting that is missing or damaged has its default."""

    def __init__(self, store: QSettings | None = None) -> None:
        self.store = store if store is not None else QSettings(ORGANIZATION, APPLICATION)

    # ---- Recent files ---------------------------------------------------------------------------------------------

    def recent_files(self) -> list[Path]:
        """The files that were opened or saved last and still exist, latest first."""
        return [place for place in self._recent() if place.is_file()]

    def _recent(self) -> list[Path]:
        return [Path(entry) for entry in self.texts("recent files")]

    def add_recent_file(self, path: Path | str) -> None:
        """Put a file at the top of the list."""
        place = Path(path).absolute()
        kept = [place, *(other for other in self._recent() if other != place)]
        self.store.setValue("recent files", [str(entry) for entry in kept[:RECENT]])

    def remove_recent_file(self, path: Path | str) -> None:
        """Forget a file, such as one that has vanished."""
        place = Path(path).absolute()
        self.store.setValue("recent files", [str(entry) for entry in self._recent() if entry != place])

    def clear_recent_files(self) -> None:
        """Forget all of them."""
        self.store.remove("recent files")

    @property
    def last_folder(self) -> Path:
        """Where the last file dialog ended."""
        found = self.store.value("last folder", "")
        place = Path(str(found)) if found else Path.home()
        return place if place.is_dir() else Path.home()

    @last_folder.setter
    def last_folder(self, folder: Path | str) -> None:
        self.store.setValue("last folder", str(folder))

    # ---- Look -----------------------------------------------------------------------------------------------------

    @property
    def theme(self) -> str:
        """ "system", "light" or "dark"."""
        found = self.store.value("theme", THEMES[0])
        return found if found in THEMES else THEMES[0]

    @theme.setter
    def theme(self, theme: str) -> None:
        if theme not in THEMES:
            raise ValueError(f"there is no theme {theme!r}; known are {', '.join(THEMES)}")
        self.store.setValue("theme", theme)

    def layout(self, name: str) -> QByteArray | None:
        """The stored state of a window ("geometry", "docks"), as Qt's saveState and saveGeometry give it."""
        found = self.store.value(f"layout/{name}")
        return found if isinstance(found, QByteArray) and not found.isEmpty() else None

    def set_layout(self, name: str, state: QByteArray) -> None:
        """Remember the state of a window."""
        self.store.setValue(f"layout/{name}", state)

    def clear_layout(self) -> None:
        """Forget all window states."""
        self.store.remove("layout")

    # ---- Units ----------------------------------------------------------------------------------------------------

    def units(self, path: Path | None = None) -> DisplayUnits:
        """The units a file was shown in last, else those of new documents."""
        found = self.store.value(f"units/{_key(path)}") if path is not None else None
        found = found if found in SYSTEMS else self.store.value("units/default", DEFAULT)
        return DisplayUnits(found if found in SYSTEMS else DEFAULT)

    def set_units(self, units: DisplayUnits, path: Path | None = None) -> None:
        """Remember the units of a file, and for new documents."""
        self.store.setValue("units/default", units.name)
        if path is not None:
            self.store.setValue(f"units/{_key(path)}", units.name)

    # ---- Hints and anything else ----------------------------------------------------------------------------------

    def hint_dismissed(self, name: str) -> bool:
        """Whether the user does not want to see a hint any more."""
        return name in self.texts("dismissed hints")

    def dismiss_hint(self, name: str) -> None:
        """Do not show a hint again."""
        known = self.texts("dismissed hints")
        if name not in known:
            self.store.setValue("dismissed hints", [*known, name])

    def value(self, name: str, default: Any) -> Any:
        """A setting of a panel, of the type of its default."""
        found = self.store.value(f"panels/{name}", default)
        try:
            if isinstance(default, bool):
                return found if isinstance(found, bool) else str(found).lower() == "true"
            return type(default)(found) if default is not None else found
        except (TypeError, ValueError):
            return default

    def set_value(self, name: str, value: Any) -> None:
        """Remember a setting of a panel."""
        self.store.setValue(f"panels/{name}", value)

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        # Qt's text format keeps a list of one entry as the entry itself.
        found: Any = self.store.value(name, [])
        if isinstance(found, str):
            return [found] if found else []
        return [str(entry) for entry in found] if isinstance(found, list | tuple) else []

    def set_texts(self, name: str, entries: list[str]) -> None:
        """Remember a list of texts."""
        if entries:
            self.store.setValue(name, entries)
        else:
            self.store.remove(name)


def _key(path: Path | None) -> str:
    """A path as part of a name of a setting, where slashes would make groups."""
    return str(path).replace("/", "|").replace("\\", "|")
