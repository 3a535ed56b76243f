"""Formats of exports: what they need, and whether a file can be written where the user wants it.

No widgets here.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mbframe.files.projects import SUFFIX


@dataclass(frozen=True)
class Format:
    """A kind of file.

    `options` names the groups of settings that it has: "run" (which run), "time" (range and speed), "picture" (size,
    camera, look), "rate" (frames per second), "quantities" (which to write).
    """

    key: str
    label: str
    suffix: str
    help: str
    icon: str
    options: tuple[str, ...] = ()

    @property
    def needs_run(self) -> bool:
        return "run" in self.options


FORMATS: Final = (
    Format(
        "mp4",
        "Video",
        ".mp4",
        "A video (H.264) that every player and presentation shows.",
        "video",
        ("run", "time", "rate", "picture"),
    ),
    Format(
        "gif",
        "Animated GIF",
        ".gif",
        "A short animation for pages and mails; it repeats without end.",
        "loop",
        ("run", "time", "rate", "picture"),
    ),
    Format(
        "png",
        "Pictures",
        ".png",
        "One picture per frame, name_0000.png and so on, for your own film.",
        "camera",
        ("run", "time", "rate", "picture"),
    ),
    Format(
        "glb",
        "3D animation",
        ".glb",
        "The moving model (glTF 2.0) for Blender, PowerPoint and 3D viewers.",
        "shape",
        ("run", "time", "rate"),
    ),
    Format(
        "html",
        "Web page",
        ".html",
        "One page that plays the motion in any browser, without a network; turn it with the mouse.",
        "view",
        ("run", "time", "rate", "camera"),
    ),
    Format(
        "csv",
        "Table",
        ".csv",
        "Quantities over time for spreadsheets and scripts, in SI units with all their digits.",
        "table",
        ("run", "quantities"),
    ),
    Format(
        "py",
        "Python script",
        ".py",
        "The model as a readable program that builds it with mbframe.",
        "script",
    ),
    Format(
        "view",
        "Picture of the view",
        ".png",
        "What the view shows now, as it is.",
        "view",
    ),
)

SIZES: Final = {"HD 1280 × 720": (1280, 720), "Full HD 1920 × 1080": (1920, 1080), "4K 3840 × 2160": (3840, 2160)}
SPEEDS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
CAMERAS: Final = ("iso", "front", "back", "right", "left", "top", "bottom")
RATES: Final = {"gif": 20}
"""Frames per second to begin with, where 30 are not right; a GIF shows at most 50."""
FASTEST_GIF: Final = 50


def file_name(title: str, chosen: Format) -> str:
    """A name for a file from the name of a model: letters, digits, dashes."""
    bare = Path(title).stem if title.endswith((".json", SUFFIX)) else title
    stem = re.sub(r"[^\w-]+", "_", bare).strip("_").lower()
    return f"{stem or 'model'}{'_view' if chosen.key == 'view' else ''}{chosen.suffix}"


def with_suffix(path: Path, chosen: Format) -> Path:
    """The file with the suffix of the format; other suffixes that we write are replaced, dots in names are kept."""
    if path.suffix.lower() == chosen.suffix:
        return path
    if path.suffix.lower() in {one.suffix for one in FORMATS}:
        return path.with_suffix(chosen.suffix)
    return path.with_name(path.name + chosen.suffix)


def frame_count(start: float, end: float, rate: float, speed: float) -> int:
    """Number of frames of a film."""
    return math.floor((end - start) / speed * rate + 1e-9) + 1


@dataclass(frozen=True)
class Verdict:
    """Verdict on a place to write to: an empty `problem` means that it can be written."""

    problem: str = ""
    note: str = ""


def judged(text: str, chosen: Format) -> Verdict:
    """Whether a file can be written, as far as that is known before."""
    if not text.strip():
        return Verdict("Choose a file to write to.")
    path = Path(text).expanduser()
    if not path.is_absolute():
        return Verdict("Give the whole path of the file, or choose it with Browse.")
    if path.is_dir():
        return Verdict(f"{path.name!r} is a folder; add the name of a file.")
    target = with_suffix(path, chosen)
    folder = target.parent
    if not folder.is_dir():
        return Verdict(f"There is no folder {str(folder)!r}; create it or choose another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Verdict(f"The folder {str(folder)!r} cannot be written; choose another.")
    first = target.with_name(f"{target.stem}_0000.png") if chosen.key == "png" else target
    if first.exists():
        return Verdict(note=f"{first.name} exists and will be replaced.")
    return Verdict(note=f"Will be written as {target.name}." if target.name != path.name else "")


def spoken(duration: float) -> str:
    """A duration for people: "less than a second", "12 s", "3 min 20 s"."""
    if duration < 1.0:
        return "less than a second"
    seconds = round(duration)
    return f"{seconds} s" if seconds < 90 else f"{seconds // 60} min {seconds % 60} s"


def file_size(paths: list[Path]) -> str:
    """The size of files, in words."""
    size = float(sum(path.stat().st_size for path in paths if path.is_file()))
    for unit in ("bytes", "kB", "MB"):
        if size < 1000.0:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000.0
    return f"{size:.3g} GB"


def keywords(settings: dict[str, Any], chosen: Format) -> dict[str, Any]:
    """Arguments of `mbframe.render.export` from the settings of the dialog that the format has."""
    wanted: dict[str, Any] = {}
    if "time" in chosen.options:
        wanted |= {name: settings[name] for name in ("start", "end", "speed")}
    if "rate" in chosen.options:
        wanted["fps"] = settings["fps"]
    if "picture" in chosen.options:
        width, height = settings["size"]
        if chosen.key == "mp4":  # H.264 has even numbers of pixels
            width, height = width + width % 2, height + height % 2
        wanted |= {"size": (width, height), "smooth": settings["smooth"], "show_time": settings["show_time"]}
        wanted["title"] = settings["title"]
    if "picture" in chosen.options or "camera" in chosen.options:
        wanted |= {name: settings[name] for name in ("camera", "follow", "theme")}
    return wanted
