"""Places of what is shipped with the application, in a checkout and when it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final


def _assets() -> Path:
    beside = Path(__file__).resolve().parents[2] / "assets"
    if (beside / "style.qss").is_file():  # a checkout, of which another one may be installed
        return beside
    spec = find_spec("mbframe_assets")
    if spec is not None and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0])
    return beside


ASSETS: Final = _assets()
"""Folder of icons, help pages, pictures and stored results."""


def stored_result(example: str) -> Path | None:
    """The result that is shipped with an example, if there is one."""
    place = ASSETS / "gallery" / f"{example}.h5"
    return place if place.is_file() else None
