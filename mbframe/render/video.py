"""Pictures of a film, one after the other, and the files made of them: frames as PNG, MP4 and GIF."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..disk.atomic import folder_of
from ..state import State
from .availability import RenderError
from .film import Film
from .legend import add_legend
from .scene import Scene

Picture = NDArray[np.uint8]

MP4 = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags", "+faststart")
LOSSLESS = ("-c:v", "libx264rgb", "-preset", "ultrafast", "-qp", "0")
# One palette for the whole film; the pattern of the dither stands still, so that what does not move costs nothing.
PALETTE = "palettegen=stats_mode=full"
DITHER = "paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle"


def pictures(film: Film, states: Iterable[State], numbers: Iterable[int] | None = None) -> Iterator[Picture]:
    """Pictures (height, width, 3) of the states, drawn off-screen; `numbers` are those of their frames."""
    frames, size = film.frames, film.size
    options: dict[str, Any] = {"theme": film.theme, "size": size, "smooth": film.smooth, "room": film.room}
    options["coloring"] = film.coloring
    with Scene(film.system, motion=frames, **options) as scene:
        caption = Caption(scene, film)
        if film.coloring is not None:
            add_legend(scene.plotter, film.coloring, scene.theme, size[1])
        for number, state in zip(count() if numbers is None else numbers, states, strict=False):
            film.place(scene.plotter.camera, number)
            scene.show(state)
            caption.show(state.t)
            yield scene.image()


class Caption:
    """The title in the upper and the time in the lower left corner of a picture."""

    def __init__(self, scene: Scene, film: Film) -> None:
        self._digits = film.frames.digits
        height = film.size[1]
        margin, points = height / 36.0, max(7, round(height / 60.0))
        style: dict[str, Any] = {"color": scene.theme.text, "font": "arial", "render": False}
        if film.title:
            place = (margin, height - margin - 1.6 * points)
            scene.plotter.add_text(film.title, position=place, font_size=points, **style).prop.bold = True
        self._time = None
        if film.show_time:
            self._time = scene.plotter.add_text(" ", position=(margin, margin), font_size=points, **style)

    def show(self, t: float) -> None:
        """Write the time."""
        if self._time is not None:
            self._time.input = f"t = {t:.{self._digits}f} s"


def write_png(film: Film, states: Iterable[State], folder: Path, stem: str) -> list[Path]:
    """Write one file per picture, `stem_0000.png` and so on."""
    from PIL import Image

    written = []
    for number, picture in enumerate(pictures(film, states)):
        written.append(folder / f"{stem}_{number:04d}.png")
        Image.fromarray(picture).save(written[-1], compress_level=3)
    return written


def write_mp4(film: Film, states: Iterable[State], target: Path) -> None:
    """H.264, which every player knows."""
    _encode(pictures(film, states), film, MP4, target)


def write_gif(film: Film, states: Iterable[State], target: Path) -> None:
    """A palette is chosen for all pictures together, so they are kept, without loss, until the last one is drawn."""
    with folder_of(target) as folder:
        kept, palette = "pictures.mkv", "palette.png"
        _encode(pictures(film, states), film, LOSSLESS, folder / kept)
        _run(["-i", kept, "-vf", PALETTE, "-frames:v", "1", palette], folder=folder)
        _run(["-i", kept, "-i", palette, "-lavfi", DITHER, "-loop", "0", str(target)], folder=folder)


def ffmpeg() -> str:
    """The program ffmpeg: the one that comes with imageio-ffmpeg, or IMAGEIO_FFMPEG_EXE, or the system's."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        program = shutil.which(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        program = None
    if program is None:
        raise RenderError(
            "videos need the program ffmpeg, which was not found: pip install imageio-ffmpeg, or name the program in "
            "the environment variable IMAGEIO_FFMPEG_EXE; .png, .glb and .html do without"
        )
    return program


def _encode(pictures: Iterable[Picture], film: Film, options: Sequence[str], target: Path) -> None:
    width, height = film.size
    source = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {film.frames.fps:.9g} -i -"
    _run([*source.split(), *options, str(target)], pictures)


def _run(arguments: Sequence[str], pictures: Iterable[Picture] = (), folder: Path | None = None) -> None:
    """Run ffmpeg, which reads the pictures from its standard input; it is ended if anything goes wrong meanwhile."""
    command = [ffmpeg(), "-hide_banner", "-loglevel", "error", "-y", *arguments]
    with tempfile.TemporaryFile() as log:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, cwd=folder) as process:
            pipe = cast(IO[bytes], process.stdin)
            try:
                for picture in pictures:
                    pipe.write(picture.tobytes())
            except BrokenPipeError:
                pass  # it has ended early and says why
            except BaseException:
                process.kill()
                raise
            finally:
                with suppress(BrokenPipeError):
                    pipe.close()
        if process.returncode == 0:
            return
        log.seek(0)
        words = log.read().decode(errors="replace").strip()
    if os.strerror(errno.ENOSPC) in words:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    reason = words.splitlines()[-1] if words else "it gave no reason"
    raise RenderError(f"ffmpeg could not make the video (status {process.returncode}): {reason}")
