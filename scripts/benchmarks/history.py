"""Figures of the benchmark over commits: a line of JSON per run of the bench, and a picture of all ratios."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measuring import Row

ROOT = Path(__file__).resolve().parents[2]
PER_PANEL = 8  # lines that can still be told apart


def commit() -> str:
    """The commit that is measured; a plus says that files were changed since."""
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "unknown"


def add(file: Path, rows: Sequence[Row], machine: Mapping[str, str]) -> None:
    """Append a run."""
    entry = {
        "commit": commit(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": dict(machine),
        "rows": [{**asdict(row), "ratio": row.ratio} for row in rows],
    }
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(entry, ensure_ascii=False) + "\n")


def ratios(file: Path) -> tuple[list[str], dict[str, dict[int, float]]]:
    """The commits in order, and of each comparison its ratio by the number of the entry."""
    entries: list[dict[str, Any]] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for k, entry in enumerate(entries):
        for row in entry["rows"]:
            if row["ratio"] is not None and row["ratio"] > 0.0:
                found[f"{row['name']} / {row['versus']}"][k] = row["ratio"]
    return [entry["commit"] for entry in entries], dict(found)


def draw(file: Path) -> Path:
    """A picture beside the file: ratios over the entries, a panel for some comparisons each."""
    from matplotlib.figure import Figure

    commits, found = ratios(file)
    names = sorted(found)
    panels = [names[k : k + PER_PANEL] for k in range(0, len(names), PER_PANEL)] or [[]]
    figure = Figure(figsize=(11.0, 3.2 * len(panels)), layout="constrained")
    for axes, shown in zip(figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels, strict=True):
        for name in shown:
            axes.plot(list(found[name]), list(found[name].values()), marker="o", label=name)
        axes.axhline(1.0, color="0.7", linewidth=0.8)
        axes.set_yscale("log")
        axes.set_ylabel("ratio")
        axes.set_xticks(range(len(commits)), commits, rotation=30, fontsize=7)
        if shown:
            axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    picture = file.with_suffix(".svg")
    figure.savefig(picture)
    return picture
