"""Pictures of mechanisms and their motion, without a window: `mb.render.Scene`, `mb.render.export`.

Geometry is data (`drawing`), a `Scene` draws it with PyVista, exports write it. Names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_PLACES = {
    "availability": ["RenderError", "can_draw"],
    "export": ["export"],
    "geometry": ["drawing"],
    "parts": ["Part"],
    "placement": ["Poses"],
    "scene": ["Scene", "picture"],
}
_ORIGIN = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [*sorted(_ORIGIN)]


def __getattr__(name: str) -> Any:
    if name not in _ORIGIN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_ORIGIN[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:
    from .scene import Scene as Scene
