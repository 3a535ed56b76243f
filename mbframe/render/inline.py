"""What `mbframe.show` gives in a notebook: the interactive page of a motion, inside the notebook."""

from __future__ import annotations

import html
import tempfile
from pathlib import Path
from typing import Any, Final

from ..errors import ModelError, Problem
from ..results import Result
from ..system import System
from . import notebook
from .export import export

HEIGHT: Final = 480


class Page:
    """A motion that plays in a notebook; a system as a picture. It keeps all it needs and fetches nothing.

    Parameters
    ----------
    shown
        A `Result`, or a list of results, of which the first is shown; or a `System`.
    """

    def __init__(self, shown: Any) -> None:
        first = shown[0] if isinstance(shown, list | tuple) and shown else shown
        if not isinstance(first, Result | System):
            message = f"found {type(first).__name__}; a notebook shows a System or a Result; %gui qt opens windows"
            raise ModelError([Problem("show", "", message)])
        self._html = notebook.page(first) if isinstance(first, System) else _frame(first)

    def _repr_html_(self) -> str:
        return self._html


def _frame(result: Result) -> str:
    with tempfile.TemporaryDirectory() as folder:
        page = export(result, Path(folder) / "motion.html")[0].read_text(encoding="utf-8")
    style = f"width:100%;height:{HEIGHT}px;border:0"
    return f'<iframe title="motion" sandbox="allow-scripts" style="{style}" srcdoc="{html.escape(page)}"></iframe>'
