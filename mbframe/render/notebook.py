"""Pages that a notebook shows for systems and results: a picture where one can be drawn, and a table."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..connections import Connection
from ..display import escaped
from ..results import Result
from ..system import System
from .availability import can_draw

SIZE = (640, 400)
ROWS = 12  # of a table; the rest is counted
TRAILS = 6  # bodies whose paths are drawn, at most

Rows = Iterable[tuple[str, ...]]


def page(shown: System | Result) -> str:
    """HTML for a system or a result."""
    if isinstance(shown, Result):
        return _page(f"Result of “{shown.system.name}”", lambda: _last_picture(shown), _result_rows(shown), ("", ""))
    rows = _system_rows(shown)
    summary = f"gravity {_vector(shown.gravity)} m/s²"
    return _page(f"System “{shown.name}”", lambda: _described_picture(shown), rows, ("name", "class", "", ""), summary)


def _page(
    title: str,
    draw: Callable[[], NDArray[np.uint8]],
    rows: Rows,
    header: tuple[str, ...],
    summary: str = "",
) -> str:
    parts = [f"<div><b>{escaped(title)}</b>"]
    if summary:
        parts.append(f" <span style='opacity:0.7'>{escaped(summary)}</span>")
    if picture := _image(draw):
        parts.append(f"<br>{picture}")
    parts.append(_table(list(rows), header))
    return "".join(parts) + "</div>"


def _image(draw: Callable[[], NDArray[np.uint8]]) -> str:
    """An image tag; empty if nothing can be drawn, because the table is worth showing without it."""
    if not can_draw():
        return ""
    try:
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(draw()).save(buffer, "PNG", optimize=True)
    except Exception:
        logging.getLogger(__name__).warning("the picture could not be drawn", exc_info=True)
        return ""
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    style = f"max-width:{SIZE[0]}px;border-radius:6px;margin:4px 0"
    return f"<img alt='picture' style='{style}' src='data:image/png;base64,{data}'>"


def _described_picture(system: System) -> NDArray[np.uint8]:
    from .scene import Scene

    with Scene(system, size=SIZE) as scene:
        return scene.image()


def _last_picture(result: Result) -> NDArray[np.uint8]:
    """The last instant, with the paths of the centres of mass."""
    from .scene import Scene

    with Scene(result.system, motion=result, size=SIZE) as scene:
        if len(result.t):
            scene.show(result.state(len(result.t) - 1))
            for body in islice(result.system.bodies, TRAILS):
                scene.trail(body, result.position(body, local_point=getattr(body, "center_of_mass", None)))
        return scene.image()


def _system_rows(system: System) -> Rows:
    for body in system.bodies:
        yield body.name, type(body).__name__, f"{body.mass_properties()[0]:g} kg", f"at {_vector(body.position)} m"
    for element in system:
        if isinstance(element, Connection):
            yield element.name, type(element).__name__, f"{element.body_i.name} – {element.body_j.name}", ""


def _result_rows(result: Result) -> Rows:
    info = result.info
    span = f"{result.t[0]:g} … {result.t[-1]:g} s" if len(result.t) else "none"
    yield "time", f"{span}, {len(result.t)} instants"
    yield "steps", f"{info.steps} ({info.rejected} rejected), {info.evaluations} evaluations, {info.wall_time:.3g} s"
    yield from ((name, str(value)) for name, value in info.settings.items() if value is not None)
    if len(result.t):
        energy = result.energy.total
        yield "violation", f"{result.violation.position.max():.1e} at most"
        yield "energy", f"{energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end"
    if not info.completed:
        yield "ended", "before its end time"
    for warning in info.warnings:
        yield "warning", warning


def _table(rows: list[tuple[str, ...]], header: tuple[str, ...]) -> str:
    left = "style='text-align:left'"
    cells = "".join(f"<th {left}>{escaped(text)}</th>" for text in header)
    lines = [f"<tr>{cells}</tr>"] if any(header) else []
    for row in rows[:ROWS]:
        lines.append("<tr>" + "".join(f"<td {left}>{escaped(text)}</td>" for text in row) + "</tr>")
    if len(rows) > ROWS:
        lines.append(f"<tr><td {left} colspan='{len(header)}'>… {len(rows) - ROWS} more</td></tr>")
    return f"<table>{''.join(lines)}</table>"


def _vector(value: Any) -> str:
    return "(" + ", ".join(f"{x:.6g}" for x in np.asarray(value, float)) + ")"
