"""Imports beside Qt."""

from __future__ import annotations

from contextlib import suppress


def spare_sources() -> None:
    """Keep PySide from reading the source of every module that is imported after it.

    It looks there for its own name, to know where its switchable features (`__feature__`) would count; nobody switches
    any here. That was a fifth of what is imported for the first picture, and the text of all sources stayed in memory:
    40 MB.
    """
    with suppress(ImportError, AttributeError):  # if it should look in another way one day, it only takes longer
        from shibokensupport import feature

        feature._mod_uses_pyside = lambda module: False
