"""The application in the menu of the desktop: an entry and an icon for this user, as freedesktop.org describes them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mbframe.disk.atomic import write_text

from ..base.places import ASSETS


def install() -> list[Path]:
    """Write the entry, which starts the application with this interpreter, and the icon; returns the files.

    They go to `$XDG_DATA_HOME`, or `~/.local/share` if it is not set; a `ModelError` says what could not be written.
    """
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    entry = (ASSETS / "desktop" / "mbframe.desktop").read_text(encoding="utf-8")
    icon = (ASSETS / "icons" / "mbframe.svg").read_text(encoding="utf-8")
    texts = {
        data / "applications" / "mbframe.desktop": entry.replace("Exec=mbframe gui", f"Exec={command()}"),
        data / "icons" / "hicolor" / "scalable" / "apps" / "mbframe.svg": icon,
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return list(texts)


def command() -> str:
    """Command that starts the application, whatever is on the PATH; quoted as desktop entries want it."""
    quoted = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in sys.executable)
    return f'"{quoted}" -m mbframe_gui'.replace("\\", "\\\\").replace("%", "%%")
