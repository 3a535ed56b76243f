"""Imports beside Qt."""

from __future__ import annotations

import sys
from typing import Any


def spare_sources() -> None:
    """Keep PySide from reading the source of every module that is imported after it.

    It looks there for its own name, to know where its switchable features (`__feature__`) would count; nobody switches
    any here. That was a fifth of what is imported for the first picture, and the text of all sources stayed in memory:
    40 MB. Should it look in another way one day, things only take longer.
    """
    feature: Any = sys.modules.get("shibokensupport.feature")
    if feature is not None:
        feature._mod_uses_pyside = lambda module: False  # noqa: SLF001 (there is no switch for it)
