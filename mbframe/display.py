"""How objects show themselves in notebooks.

What they show is made above them (`mbframe.render.notebook`), so they only ask here; the package names the module that
answers, and it is imported when a notebook displays the first object.
"""

from __future__ import annotations

import html
import importlib
import logging
from typing import Any, ClassVar


class Displayed:
    """Base of what a notebook displays as a page: IPython calls `_repr_html_`."""

    presenter: ClassVar[str | None] = None  # module with a function `page(shown) -> str`

    def _repr_html_(self) -> str:
        """HTML with a picture and a table; the plain text where it cannot be made, because a display never fails."""
        try:
            if Displayed.presenter is not None:
                return str(importlib.import_module(Displayed.presenter).page(self))
        except Exception:
            logging.getLogger(__name__).debug("no page for %s", type(self).__name__, exc_info=True)
        return f"<pre>{html.escape(repr(self))}</pre>"


def show_with(module: str) -> None:
    """Let a module make the pages of all objects."""
    Displayed.presenter = module


def escaped(value: Any) -> str:
    """A value as text that HTML takes literally."""
    return html.escape(str(value))
