"""Motions as files: videos, pictures, 3D models that move, and pages that play them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .. import __version__
from ..disk.atomic import FilePath, folder_beside, replacing, unwritten, writable
from ..errors import ModelError, Problem
from ..results import Result
from ..state import State
from .availability import check_drawing
from .camera import ANGLE
from .coloring import PALETTE, Coloring, knows_stress
from .film import WHAT_MOVES, Camera, Film
from .frames import Frames
from .gltf import animated
from .html import Signal, code_of, page
from .style import THEMES
from .surroundings import nice_spacing
from .video import Picture, ffmpeg, pictures, write_gif, write_mp4, write_png

GENERATOR = f"mbframe {__version__}"
SMALLEST, LARGEST = 16, 8192  # pixels
PREVIEWED = 120  # frames are looked at for a preview: that is enough to place the camera
MOST_PLACES = 2000  # of a camera that goes along, in a page
SUFFIXES = (".mp4", ".gif", ".png", ".glb", ".html", ".pvd")
SHORTEST, LONGEST = 0.6, 4.0  # s that a cycle of a mode takes
MOST_OF_A_CYCLE = 10_000  # frames
LARGEST_GIF_RATE = 50.0  # a GIF counts hundredths of a second, and viewers slow down what is shown for one of them


class Playable(Protocol):
    """What moves in cycles, such as a mode of a linearization."""

    @property
    def period(self) -> float:
        """Duration of a cycle, s."""

    def cycle(self, frames: int, amplitude: float) -> Result:
        """One cycle in so many steps."""


def export(
    result: Result | Playable,
    path: FilePath,
    *,
    fps: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    speed: float | None = None,
    amplitude: float = 1.0,
    camera: Camera = "iso",
    follow: Any = WHAT_MOVES,
    start: float | None = None,
    end: float | None = None,
    title: str | None = None,
    show_time: bool = True,
    signals: Sequence[Any] = (),
    theme: str = "light",
    smooth: bool = True,
    color: str | None = None,
    color_range: Sequence[float] | None = None,
    progress: bool | Callable[[float], None] = False,
) -> list[Path]:
    """Write the motion of a result or of a mode to a file, in the format of its suffix.

    There are floor((end - start) / speed · fps) + 1 frames. A file appears complete or not at all, also when the export
    is interrupted.

    Parameters
    ----------
    result
        What to show: a result, or a mode of a linearization, of which one cycle is shown that can be repeated.
    path
        `.mp4` (H.264), `.gif`, `.png` (frames `name_0000.png` …), `.glb` (glTF 2.0: bodies with their motion as key
        frames, one per frame), `.html` (one page that plays the motion in a browser, without network access) or `.pvd`
        (for ParaView: a list of the grids `name_0000.vtu` … with elements, displacements by deformation, velocities
        and stresses of all bodies).
    fps
        Frames per second of playing time.
    size
        Width and height of a picture in pixels; without effect on `.glb` and `.html`.
    speed
        Seconds of the result per second of playing time: 0.1 is slow motion. By default 1, and for a mode a power of
        two with which a cycle takes 0.6 to 4 s; it is adapted so that a cycle is a whole number of frames.
    amplitude
        Of a mode: relative to one at which it is seen well.
    camera
        A view ("iso", "front", "back", "right", "left", "top", "bottom"); or two vectors, the direction towards the
        camera and one that is up: from there the motion is seen as large as it can be. Or three vectors: the camera's
        position, the point it looks at, and a direction that is up.
    follow
        What the camera goes along with. By default "what moves": it stands still as long as that fills 40 % of the
        width or height of the picture, and goes along gently otherwise. A body, or its name: the camera moves with its
        centre of mass; one that is given by its position is where it would be with that body as described. None: it
        stands still.
    start, end
        The part of the result that is shown, s; by default all of it.
    title
        Shown in the picture; by default the system's name, "" for none.
    show_time
        Whether the picture shows the instant of the result.
    signals
        What a page plots beside the motion: names of quantities, as in ``result.quantity(name)``, or pairs of a label
        and an array with one row per instant of the result (a column per curve).
    theme
        "light" or "dark".
    smooth
        Whether edges in pictures are drawn without steps, which takes about three times as long.
    color
        "stress": flexible bodies have the colours of von Mises' stress, with a legend, and others are grey. By default
        colours show how far flexible bodies are deformed.
    color_range
        The stresses (Pa) of the first and the last colour; by default zero and the largest that is shown, rounded up.
    progress
        True for a progress bar, or a function that is called with the fraction of the pictures that are drawn. What it
        raises ends the export.

    Returns
    -------
    list of Path
        The files written.
    """
    target = Path(path).expanduser()
    _check(result, target, size, theme)
    if not isinstance(result, Result):
        result, speed = _cycle(result, fps, speed, amplitude)
        if end is None and target.suffix.lower() in (".gif", ".png"):
            end = float(result.t[-2])  # its first picture follows again
    frames = Frames.of(result, fps, 1.0 if speed is None else speed, start, end)
    shown = str(result.system.name) if title is None else title
    suffix = target.suffix.lower()
    if suffix == ".pvd" and color is None and any(map(knows_stress, result.described.bodies)):
        color = "stress"
    told = None if color is None else Coloring.of(result, color, frames.times, color_range)
    view = (size[0], size[1]), camera, theme, smooth, _followed(result, follow), told
    film = Film(frames, shown, show_time, *view)
    if suffix in (".glb", ".html"):
        model = animated(str(result.system.name), frames, film.parts, film.sketch.up, GENERATOR, told is not None)
        plotted = [_signal(result, given) for given in signals]
        with replacing(target) as temporary:
            temporary.write_bytes(model if suffix == ".glb" else _page(film, model, plotted).encode())
        return [target]
    states = _reported(frames, progress)
    if suffix == ".pvd":
        return _write_series(film, states, target)
    _check_pictures(film, suffix)
    if suffix == ".png":
        return _write_frames(film, states, target)
    with replacing(target) as temporary:
        (write_mp4 if suffix == ".mp4" else write_gif)(film, states, temporary)
    return [target]


def suitable_speed(period: float) -> float:
    """Real time, or a power of two that brings a cycle into the range that is pleasant to watch."""
    speed = 1.0
    while period / speed > LONGEST:
        speed *= 2.0
    while period / speed < SHORTEST:
        speed /= 2.0
    return speed


def _cycle(mode: Playable, fps: float, speed: float | None, amplitude: float) -> tuple[Result, float]:
    """A cycle in as many steps as it has frames, and the speed with which these are equal."""
    wanted = suitable_speed(mode.period) if speed is None else speed
    if not all(isinstance(x, Real) and np.isfinite(x) and 0.0 < x < np.inf for x in (fps, wanted)):
        message = f"found {fps!r} and {wanted!r}; allowed are positive numbers; give such as 30 and 1.0"
        raise ModelError([Problem("export", "fps, speed", message)])
    frames = float(np.clip(np.round(mode.period / wanted * fps), 2, MOST_OF_A_CYCLE))
    return mode.cycle(int(frames), amplitude), mode.period * fps / frames


def preview(
    result: Result,
    *,
    size: tuple[int, int] = (320, 180),
    camera: Camera = "iso",
    follow: Any = WHAT_MOVES,
    start: float | None = None,
    end: float | None = None,
    theme: str = "light",
) -> list[Picture]:
    """The first, the middle and the last picture (height, width, 3) of what `export` would write; options as there."""
    _check(result, Path("preview.png"), size, theme)
    first, last = (result.t[0], result.t[-1]) if len(result.t) else (0.0, 0.0)
    lasts = max((last if end is None else end) - (first if start is None else start), 1e-9)
    frames = Frames.of(result, PREVIEWED / lasts, 1.0, start, end)
    film = Film(frames, "", False, (size[0], size[1]), camera, theme, True, _followed(result, follow))
    check_drawing()
    chosen = np.unique(np.array([0, len(frames) // 2, len(frames) - 1]))
    return list(pictures(film, replace(frames, times=frames.times[chosen]), chosen))


def _followed(result: Result, follow: Any) -> str | None:
    """What the camera goes along with, as `Film` takes it."""
    if follow is None or follow == WHAT_MOVES:
        return follow
    name = getattr(follow, "name", follow)
    bodies = [body.name for body in result.described.bodies]
    if name not in bodies:
        allowed = f"a body ({', '.join(bodies[:10])}{', …' if len(bodies) > 10 else ''}), {WHAT_MOVES!r} and None"
        raise ModelError([Problem("export", "follow", f"found {name!r}; allowed are {allowed}; choose one of them")])
    return str(name)


def _write_frames(film: Film, states: Iterable[State], target: Path) -> list[Path]:
    """Frames are drawn in a folder of their own and get their names when the last one is there."""
    place = writable(target.with_name(f"{target.stem}_0000.png")).parent
    try:
        with folder_beside(place / target.name) as folder:
            drawn = write_png(film, states, folder, target.stem)
            for file in drawn:
                os.replace(file, place / file.name)
    except OSError as error:
        raise unwritten(target, error) from error
    return [target.with_name(file.name) for file in drawn]


def _write_series(film: Film, states: Iterable[State], target: Path) -> list[Path]:
    """Grids are written in a folder of their own and get their names when the last one is there; then their list."""
    from .paraview import collection, write_series

    place = writable(target).parent
    try:
        with folder_beside(place / target.name) as folder:
            grids = write_series(film, states, folder, target.stem)
            for file in grids:
                os.replace(file, place / file.name)
    except OSError as error:
        raise unwritten(target, error) from error
    with replacing(target) as temporary:
        temporary.write_text(collection([file.name for file in grids], film.frames.times.tolist()), encoding="utf-8")
    return [target, *(target.with_name(file.name) for file in grids)]


def _page(film: Film, model: bytes, signals: Sequence[Signal]) -> str:
    frames, shot = film.frames, film.shot
    kept = np.unique(np.linspace(0, len(frames) - 1, MOST_PLACES).astype(int)) if not shot.still else np.array([0])
    first, last = float(frames.times[0]), float(frames.times[-1])
    settings = {
        "start": first,
        "speed": frames.speed,
        "fps": frames.fps,
        "digits": frames.digits,
        "duration": float(frames.playing_times[-1]),
        "showTime": film.show_time,
        "bounds": film.bounds.tolist(),
        "up": film.sketch.up.tolist(),
        "camera": {
            "towards": shot.towards.tolist(),
            "up": shot.up.tolist(),
            "angle": ANGLE,
            "aspect": film.size[0] / film.size[1],
            "times": np.round(frames.playing_times[kept], 4).tolist(),
            "focus": shot.centers[kept].tolist(),
            "distance": shot.distances[kept].tolist(),
        },
        "grid": {
            "point": film.floor.point.tolist(),
            "normal": film.floor.normal.tolist(),
            "spacing": nice_spacing(film.room or float(np.linalg.norm(np.ptp(film.bounds, axis=0)))),
            "room": film.room or 0.0,
        },
        "legend": _legend(film.coloring),
        "signals": [signal.within(first, last) for signal in signals],
    }
    return page(
        model, name=film.system.name, title=film.title, theme=film.theme, settings=settings, generator=GENERATOR
    )


def _legend(coloring: Coloring | None) -> dict[str, Any] | None:
    """The legend of a page: title, numbers and colours, from the first to the last."""
    if coloring is None:
        return None
    return {"title": coloring.title, "ticks": coloring.ticks, "colors": [code_of(color) for color in PALETTE]}


def _signal(result: Any, given: Any) -> Signal:
    """A signal by its name, or from a label and an array."""
    if isinstance(given, str):
        quantity = result.quantity(given)
        given = (f"{quantity.label} ({quantity.unit})" if quantity.unit else quantity.label, quantity.values)
    try:
        label, values = given
        curves = np.asarray(values, float)
    except (TypeError, ValueError):
        label, curves = given, np.empty(0)
    if not isinstance(label, str) or curves.ndim not in (1, 2) or len(curves) != len(result.t):
        message = (
            f"found {label!r}; allowed are names of quantities and pairs (label, array) with {len(result.t)} rows, one "
            "for each instant of the result; give such"
        )
        raise ModelError([Problem("export", "signals", message)])
    return Signal(label, result.t, list(curves.reshape(len(curves), -1).T))


def _reported(frames: Frames, progress: bool | Callable[[float], None]) -> Iterator[State]:
    """The states, with a report after each."""
    states: Iterable[State] = frames
    if progress is True:
        from rich.progress import track

        states = track(states, "exporting", total=len(frames), transient=True)
    for number, state in enumerate(states, 1):
        yield state
        if callable(progress):
            progress(number / len(frames))


def _check(result: Any, target: Path, size: Any, theme: Any) -> None:
    """Refuse what cannot be meant, all at once."""
    problems = []
    if not isinstance(result, Result) and not hasattr(result, "cycle"):
        message = f"found {result!r}; allowed is a result, such as that of simulate(...), or a mode; pass one"
        problems.append(Problem("export", "result", message))
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        near = difflib.get_close_matches(suffix, SUFFIXES, n=1, cutoff=0.5)
        meant = f"; did you mean {target.with_suffix(near[0]).name!r}?" if suffix and near else "; choose one of them"
        found = f"the suffix {suffix!r}" if suffix else f"{target.name!r}, which has no suffix"
        problems.append(Problem("export", "path", f"found {found}; allowed are {', '.join(SUFFIXES)}{meant}"))
    try:
        width, height = (int(n) if isinstance(n, Integral) and not isinstance(n, bool) else 0 for n in size)
    except (TypeError, ValueError):
        width = height = 0
    if not all(SMALLEST <= n <= LARGEST for n in (width, height)):
        allowed = f"a width and a height of {SMALLEST} to {LARGEST} pixels"
        problems.append(Problem("export", "size", f"found {size!r}; allowed are {allowed}; give such as (1280, 720)"))
    elif suffix == ".mp4" and (width % 2 or height % 2):
        even = (width + width % 2, height + height % 2)
        problems.append(Problem("export", "size", f"found {size!r}; an .mp4 has even numbers of pixels; give {even}"))
    if theme not in THEMES:
        allowed = " and ".join(map(repr, THEMES))
        problems.append(Problem("export", "theme", f"found {theme!r}; allowed are {allowed}; choose one of them"))
    if problems:
        raise ModelError(problems)


def _check_pictures(film: Film, suffix: str) -> None:
    """Find out before anything is drawn whether it can be drawn and encoded."""
    if suffix == ".gif" and film.frames.fps > LARGEST_GIF_RATE:
        message = f"found {film.frames.fps:g}; a .gif shows at most {LARGEST_GIF_RATE:g} frames per second; give less"
        raise ModelError([Problem("export", "fps", message)])
    check_drawing()
    if suffix != ".png":
        ffmpeg()
