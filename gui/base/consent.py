"""Which files with users' classes may be imported: what a person allowed, by path and content."""

from __future__ import annotations

from typing import Final

from mbframe.plug_ins import Source

from .settings import Settings

KEY: Final = "allowed classes"
MOST: Final = 200


class Consent:
    """What was allowed, in the settings of the application: no model, project or result is written there.

    A file is allowed as it was; with another content it is another file.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def allows(self, source: Source) -> bool:
        """Whether this file may be imported as it is."""
        return _entry(source) in self._settings.texts(KEY)

    def allow(self, source: Source) -> None:
        """Remember that it may, from now on."""
        known = [entry for entry in self._settings.texts(KEY) if entry != _entry(source)]
        self._settings.set_texts(KEY, [_entry(source), *known][:MOST])

    def forget(self) -> None:
        """Allow nothing any more."""
        self._settings.set_texts(KEY, [])


def _entry(source: Source) -> str:
    return f"{source.checksum} {source.name} {source.path}"
