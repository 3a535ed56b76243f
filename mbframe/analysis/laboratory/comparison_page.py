"""A comparison as one HTML page: text, table and drawings in it, nothing to load."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Final

from ...disk.atomic import FilePath, write_text
from ...plots import Plot
from .comparison import COLUMNS, Comparison, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

STYLE: Final = """
:root { color-scheme: light; --ink: #1d2430; --soft: #5d6778; --line: #dfe4ec; --accent: #0072b2; --bad: #b3261e; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f6f9; color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", sans-serif; }
main { max-width: 1560px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { margin: 0 0 4px; font-size: 28px; letter-spacing: -0.01em; }
h2 { margin: 0 0 12px; font-size: 18px; }
p { margin: 0 0 8px; color: var(--soft); max-width: 80ch; }
section { margin-top: 24px; padding: 20px 24px; background: #fff; border: 1px solid var(--line); border-radius: 10px; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 12.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 8px; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { position: sticky; top: 0; background: #fff; color: var(--soft); font-weight: 600; cursor: pointer; }
th:hover { color: var(--accent); }
th.number, td.number { text-align: right; }
tbody tr:hover { background: #f0f6fb; }
td.best { color: var(--accent); font-weight: 600; }
tr.failed td { color: var(--bad); }
td.reason { white-space: normal; min-width: 28ch; }
svg { display: block; width: 100%; max-width: 1080px; height: auto; margin: 0 auto; }
footer { margin-top: 24px; color: var(--soft); font-size: 13px; }
"""

# Sorts by a column when its head is clicked; what has no number goes last.
SCRIPT: Final = """
for (const head of document.querySelectorAll("th")) head.addEventListener("click", () => {
  const body = head.closest("table").tBodies[0], column = head.cellIndex;
  const sign = head.dataset.order === "up" ? -1 : 1;
  head.dataset.order = sign > 0 ? "up" : "down";
  const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const rank = text => text === "" ? Infinity : Number(text);
  const rows = [...body.rows].sort((a, b) => head.classList.contains("number")
    ? (rank(value(a)) - rank(value(b)) || 0) * (isFinite(rank(value(a))) && isFinite(rank(value(b))) ? sign : 1)
    : sign * value(a).localeCompare(value(b)));
  body.append(...rows);
});
"""

POLICY: Final = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
"""Whatever a name in the page may be, a browser fetches nothing."""
LOWER_IS_BETTER: Final = ("error", "energy_drift", "evaluations", "wall_time")


def page(comparison: Comparison, path: FilePath) -> None:
    """Write the page, whole or not at all."""
    table = comparison.table()
    failed = len(comparison.failures())
    count = f"{len(table)} methods over {comparison.t_end:g} s" + (f", {failed} of them failed" if failed else "")
    common = table.common()
    alike = f"All of them: {', '.join(common.values())}." if common else ""
    drawings = [
        ("Work and precision", "Down is more accurate, left is cheaper; a mark for each step size or tolerance."),
        ("Evaluations", "The same over the number of evaluations, which does not depend on the computer."),
        ("Constraint violation", "Euclidean norms of the residuals and of their rates, at the finest step."),
        ("Energy", "Change of the total energy, at the finest step; forces that dissipate or drive change it, too."),
    ]
    pictures: Sequence[Plot] = [
        comparison.plot("work"),
        comparison.plot("work", against="evaluations"),
        comparison.plot("violation"),
        comparison.plot("energy"),
    ]
    parts = [
        f"<h1>{escape(comparison.name)}</h1>",
        f"<p>{escape(count)}. {escape(alike)}</p>",
        *(f"<p>{escape(note)}</p>" for note in comparison.notes),
        _section("Methods", "Click a head to sort. The best of a column is blue.", table_html(table)),
    ]
    if any(outcome.error is not None for outcome in comparison.outcomes):
        for (title, about), picture in zip(drawings, pictures, strict=True):
            parts.append(_section(title, about, svg(picture)))
    parts.append(f"<section><h2>Columns</h2>{_legend(table)}</section>")
    parts.append("<footer>Computed with mbframe.</footer>")
    document = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(comparison.name)}: methods compared</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n{chr(10).join(parts)}\n</main><script>{SCRIPT}</script></body></html>\n"
    )
    write_text(path, document)


def _section(title: str, about: str, content: str) -> str:
    return f"<section><h2>{title}</h2><p>{about}</p>{content}</section>"


def _legend(table: Table) -> str:
    lines = (f"<b>{escape(COLUMNS[name].title)}</b>: {escape(COLUMNS[name].help)}" for name in table.shown())
    return f"<p>{'<br>'.join(lines)}</p>"


def table_html(table: Table) -> str:
    """The table in HTML."""
    names = table.shown()
    best = {
        name: min((row[name] for row in table if row[name] is not None), default=None)
        for name in names
        if name in LOWER_IS_BETTER
    }
    heads = "".join(
        f'<th{_class("number" if COLUMNS[name].format else "")} title="{escape(COLUMNS[name].help)}">'
        f"{escape(COLUMNS[name].title)}</th>"
        for name in names
    )
    lines = []
    for row, cells in zip(table, table.cells(), strict=True):
        entries = []
        for name, cell in zip(names, cells, strict=True):
            value = row[name]
            kinds = ["number"] if COLUMNS[name].format else []
            kinds += ["best"] if value is not None and value == best.get(name) else []
            kinds += ["reason"] if name == "failure" else []
            data = f' data-value="{"" if value is None else value!r}"' if COLUMNS[name].format else ""
            entries.append(f"<td{_class(*kinds)}{data}>{escape(cell)}</td>")
        lines.append(f"<tr{_class('failed' if row['failure'] else '')}>{''.join(entries)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def _class(*names: str) -> str:
    found = " ".join(name for name in names if name)
    return f' class="{found}"' if found else ""


def svg(picture: Plot) -> str:
    """A figure as an element of a page: without the head of a file, and with letters as outlines."""
    content = io.StringIO()
    picture.savefig(content, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = content.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return text.strip()
