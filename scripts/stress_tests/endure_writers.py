"""Everything that mbframe writes, and what may happen to it meanwhile: a table of writers by hazards.

A writer puts one of two variants (0, 1) under a name and can tell which one is there. Whatever happens, that is the old
one or the new one, whole; nothing else is left once somebody has written there again; and what is refused is refused in
words. A stream is the exception: what is there is the beginning of its run.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

import mbframe as mb
from mbframe.files import projects
from mbframe.files.model import document as model_document

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the application, which installs under another name
READY: Final = multiprocessing.get_context("forkserver")  # has imported what writers need, and starts in no time
READY.set_forkserver_preload(["mbframe", "mbframe.files.result_files", "mbframe.render.export", "h5py", "pyvista"])
PATIENCE: Final = 120.0  # s, after which a process hangs
DT: Final = 2e-4
PAGE: Final = 4096  # bytes: what disks of memory count in
YEAR: Final = 3.2e7  # s
NO_ROOM: Final = re.compile(
    "No space left|File too large|Qt could not write|status -25"
)  # -25: of ffmpeg, by its limit


@dataclass(frozen=True)
class Writer:
    """One kind of file.

    write(path, variant) writes it; read(path) tells what is there and raises if that is not whole. `seconds` is about
    how long writing takes, `rests` are patterns of files that others (Qt) leave beside it.
    """

    name: str
    file: str
    write: Callable[[Path, int], None]
    read: Callable[[Path], Any]
    seconds: float = 0.05
    rests: tuple[str, ...] = ()


# ---- What is written ----------------------------------------------------------------------------------------------


@cache
def models() -> tuple[mb.System, mb.System]:
    return mb.examples.spatial_slider_crank(), mb.examples.n_four_bar(n=20)


@cache
def results() -> tuple[mb.Result, mb.Result]:
    """Two runs, which one process computes for all (`prepare`)."""
    folder = Path(os.environ["ENDURE_RESULTS"])
    first, second = (mb.load_result(folder / f"{k}.h5") for k in (0, 1))
    return first, second


@cache
def prepare() -> None:
    """Compute the runs, as files for all processes that start afterwards."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for k, t_end in enumerate((0.5, 1.0)):
        mb.simulate(mb.examples.spatial_slider_crank(), t_end, dt=1e-3).save(Path(folder, f"{k}.h5"))
    os.environ["ENDURE_RESULTS"] = folder


def write_project(path: Path, variant: int) -> None:
    runs = [projects.StoredRun(Path(os.environ["ENDURE_RESULTS"], f"{k}.h5"), {"name": f"{k}"}) for k in (0, 1)]
    projects.save(projects.Project(model_document(models()[variant]), runs[: variant + 1]), path)


def read_project(path: Path) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        runs = projects.read(path, folder).runs
        return [read_result(run.file) for run in runs], content(path)


def write_picture(path: Path, variant: int) -> None:
    end = 0.04 * (variant + 1)
    mb.render.export(results()[variant], path, fps=25.0, size=(64, 48), end=end, smooth=False)


def write_component(path: Path, variant: int) -> None:
    from mbframe.flexible.storage import write_npz

    write_npz(path, {"numbers": np.random.default_rng(variant).random(20_000 * (variant + 1))})


def read_component(path: Path) -> Any:
    from mbframe.flexible.storage import read_npz

    return digest(np.asarray(read_npz(path)["numbers"]).tobytes())


def write_settings(path: Path, variant: int) -> None:
    settings = settings_at(path)
    settings.theme = ("light", "dark")[variant]
    for k in range(200):
        settings.set_value(f"choice {k}", f"{variant}" * 40)
    settings.store.sync()
    if settings.store.status() != settings.store.Status.NoError:
        raise OSError(errno.EIO, "Qt could not write the settings")


def read_settings(path: Path) -> Any:
    settings = settings_at(path)
    found = {settings.value(f"choice {k}", "")[:1] for k in range(200)}
    if len(found) != 1:
        raise ValueError(f"settings of several times: {found}")
    return settings.theme, *found


def settings_at(path: Path) -> Any:
    from PySide6.QtCore import QSettings

    from gui.base.settings import Settings

    return Settings(QSettings(str(path), QSettings.Format.IniFormat))


def write_recovery(path: Path, variant: int) -> None:
    from gui.document.autosave import Autosave
    from gui.document.document import Document
    from gui.document.sessions import Session

    qt()
    document = Document()
    messages: list[str] = []
    autosave = Autosave(document, path.parent.parent, delay_ms=10**6)
    document.session = autosave.session = Session(path.parent, path.stem)
    autosave.failed.connect(messages.append)
    document.open_system(models()[variant], changed=True)
    autosave.save_now()
    autosave.close(keep=True)
    qt().processEvents()
    if messages:
        raise OSError(errno.EIO, messages[0])


def read_recovery(path: Path) -> Any:
    from gui.document.autosave import leftovers
    from gui.document.document import Document

    qt()
    (found,) = leftovers(path.parent.parent)
    if found.fault:
        raise ValueError(found.fault)
    document = Document()
    found.restore(document)
    return digest(document.model_text().encode())


@cache
def qt() -> Any:
    os.environ |= {"QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": "default.warning=false"}
    from PySide6.QtCore import QCoreApplication

    return QCoreApplication.instance() or QCoreApplication([])


def first_stage(t, work, data, n):  # type: ignore[no-untyped-def]
    return n + 1


def second_stage(t, work, data, n):  # type: ignore[no-untyped-def]
    return n + 2


def write_kernels(path: Path, variant: int) -> None:
    """Compile a stage into the cache in this folder."""
    from mbframe.kernels.compiler import compile as kernels

    kernels.cache_directory.cache_clear()
    os.environ["MBFRAME_CACHE_DIR"] = str(path)
    found = kernels.run_stage(kernels.Stage((first_stage, second_stage)[variant]).address, 0.0, 0, 0, 40)
    if found != 41 + variant:
        raise ValueError(f"a stage gives {found}")


def read_kernels(path: Path) -> Any:
    """What is in the cache is used or compiled anew: both stages are right."""
    write_kernels(path, 0)
    write_kernels(path, 1)
    return "usable"


def content(path: Path) -> str:
    return digest(path.read_bytes())


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_model(path: Path) -> Any:
    return len(mb.load(path).bodies), content(path)


def read_result(path: Path) -> Any:
    result = mb.load_result(path)
    return result.info.completed, len(result.t), digest(result.q.tobytes())


def read_table(path: Path) -> Any:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    return table.shape, digest(b"".join(np.asarray(column).tobytes() for column in table.columns))


def read_film(path: Path) -> Any:
    """Number of pictures, all of them decoded."""
    from mbframe.render.video import ffmpeg

    command = [ffmpeg(), "-v", "error", "-xerror", "-i", str(path), "-f", "framemd5", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return sum(not line.startswith("#") for line in done.stdout.splitlines())


def write_stream(path: Path, variant: int) -> None:
    mb.simulate(mb.examples.spatial_slider_crank(), (0.5, 1.0)[variant], dt=DT, output=path)


WRITERS: Final = {
    writer.name: writer
    for writer in (
        Writer("model", "model.json", lambda path, k: mb.save(models()[k], path), read_model),
        Writer("project", "work.mbproject", write_project, read_project, 0.1),
        Writer("result", "run.h5", lambda path, k: results()[k].save(path), read_result, 0.1),
        Writer("stream", "run.h5", write_stream, read_result, 0.5),
        Writer("csv", "table.csv", lambda path, k: results()[k].export(path), content, 0.1),
        Writer("parquet", "table.parquet", lambda path, k: results()[k].export(path), read_table, 0.1),
        Writer("npz", "part.npz", write_component, read_component, 0.1),
        Writer("mp4", "film.mp4", write_picture, read_film, 1.0),
        Writer("gif", "film.gif", write_picture, read_film, 1.0),
        Writer("glb", "film.glb", write_picture, content, 0.2),
        Writer("html", "film.html", write_picture, content, 0.2),
        Writer("settings", "mbframe.conf", write_settings, read_settings, 0.1, ("mbframe.conf.*",)),
        Writer("recovery", "recovery/0123456789ab.json", write_recovery, read_recovery, 0.1, ("recovery/*.lock",)),
        Writer("cache", "kernels", write_kernels, read_kernels, 0.5),
    )
}


# ---- Processes ----------------------------------------------------------------------------------------------------


def started(work: Callable[..., None], *arguments: Any) -> Any:
    process = READY.Process(target=work, args=arguments)
    process.start()
    return process


def write_forever(name: str, path: str, ready: Any) -> None:
    """Replace a file again and again."""
    variant = 1
    while True:
        WRITERS[name].write(Path(path), variant)
        ready.set()
        variant = 1 - variant


def stream_forever(name: str, path: str, ready: Any) -> None:
    """A long run that is written as it is computed."""
    mb.simulate(mb.examples.spatial_slider_crank(), 1e6, dt=DT, output=path, progress=lambda t: ready.set())


def killed(work: Callable[..., None], arguments: tuple[Any, ...], longest: float, rng: random.Random) -> float:
    """Let a process work, and kill it at a random moment after it has begun; returns that moment."""
    ready = READY.Event()
    process = started(work, *arguments, ready)
    if not ready.wait(300.0):
        raise SystemExit("the process that is to be killed does not begin")
    time.sleep(rng.uniform(0.0, longest))
    moment = time.time()
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    return moment


def attempt(name: str, path: str, variant: int, report: Any, limit: int = 0, seed: int | None = None) -> None:
    """Write once and report: None if it was written, else the words with which it was refused."""
    if limit:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if seed is not None:
        jump_about(random.Random(seed))
    try:
        WRITERS[name].write(Path(path), variant)
        words = None
    except (mb.MbframeError, OSError) as error:
        words = f"{type(error).__name__}: {error}"
    report.put(words)


def jump_about(rng: random.Random) -> None:
    """A clock that jumps by years, forth and back, whenever it is looked at."""
    real, real_ns = time.time, time.time_ns
    time.time = lambda: real() + rng.uniform(-YEAR, YEAR)
    time.time_ns = lambda: real_ns() + int(1e9 * rng.uniform(-YEAR, YEAR))


def attempted(place: Place, variant: int, limit: int = 0, seed: int | None = None) -> tuple[Any, Any]:
    """A process that writes once, and where it reports."""
    report = READY.SimpleQueue()
    return started(attempt, place.writer.name, str(place.path), variant, report, limit, seed), report


def outcome(process: Any, report: Any) -> str | None:
    """What a process reported; a `ValueError` if it crashed or hangs."""
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
        raise ValueError("the writing process hangs")
    if process.exitcode != 0:
        raise ValueError(f"the writing process ended with {process.exitcode}")
    return report.get()


class Place:
    """A name under which a writer has put variant 0, and what may be found there."""

    def __init__(self, writer: Writer, folder: Path, known: list[Any] | None = None) -> None:
        self.writer, self.folder = writer, folder
        self.path = folder / writer.file
        self.path.parent.mkdir(exist_ok=True)
        self.known: list[Any] = known or []
        if known is None:
            for variant in (1, 0):
                writer.write(self.path, variant)
                self.known.insert(0, writer.read(self.path))

    def check(self, *variants: int) -> None:
        """A `ValueError` if something else is there than one of these variants, whole."""
        try:
            found = self.writer.read(self.path)
        except Exception as error:
            raise ValueError(f"it cannot be read: {type(error).__name__}: {error}") from error
        if found not in [self.known[variant] for variant in variants]:
            raise ValueError(f"it is none of the variants {variants}: {str(found)[:60]}")

    def check_rests(self) -> None:
        """A `ValueError` if something else is there after one more writing."""
        if self.path.is_dir():  # a cache, which waits an hour
            for found in self.path.rglob("*.tmp.*"):
                os.utime(found, (0.0, 0.0))
        self.writer.write(self.path, 0)
        if self.path.is_dir():
            rests = [found.name for found in self.path.rglob("*.tmp.*")]
        else:
            expected = {self.path, self.path.parent}
            expected |= {found for rest in self.writer.rests for found in self.folder.glob(rest)}
            rests = [found.name for found in self.folder.rglob("*") if found not in expected]
        if rests:
            raise ValueError(f"beside it stays {', '.join(sorted(rests)[:3])}")


# ---- Hazards: each gives what is wrong, case by case ---------------------------------------------------------------


def kill(writer: Writer, count: int, rng: random.Random) -> Iterator[str]:
    """The writing process is killed."""
    if writer.name == "stream":
        yield from kill_streams(count, rng)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Place(writer, Path(folder))
        for k in range(count):
            if place.path.is_dir():
                shutil.rmtree(place.path)
            killed(write_forever, (writer.name, str(place.path)), 3.0 * writer.seconds, rng)
            yield from told(f"kill {k}", lambda: place.check(0, 1))
        yield from told("at last", place.check_rests)


def kill_streams(count: int, rng: random.Random) -> Iterator[str]:
    """What is kept is the beginning of the run, and the next one takes the name."""
    whole, longest = mb.simulate(mb.examples.spatial_slider_crank(), 20.0, dt=DT), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        for k in range(count):
            killed(stream_forever, ("stream", str(path)), 1.5, rng)
            try:
                part = mb.load_result(path)
                rows = min(len(part.t), len(whole.t))
                if part.info.completed or not np.array_equal(part.q[:rows], whole.q[:rows]):
                    yield f"kill {k}: the result is not the beginning of the run"
                longest = max(longest, len(part.t))
            except mb.MbframeError as error:
                yield f"kill {k}: {error}"
        if rests := [found.name for found in Path(folder).iterdir() if found != path]:
            yield f"beside it stays {rests[0]}"
    print(f"    the longest of the killed runs kept {longest:,} instants")


def told(what: str, check: Callable[[], Any]) -> Iterator[str]:
    try:
        check()
    except ValueError as error:
        yield f"{what}: {error}"


@contextmanager
def small_disk(size: float) -> Iterator[Path | None]:
    """A disk of some bytes; None where none can be made."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["-t", "tmpfs", "-o", f"size={max(PAGE, int(size))}", "tmpfs", folder]
        mounted = (
            bool(shutil.which("mount")) and subprocess.run(["mount", *options], capture_output=True).returncode == 0
        )
        try:
            yield Path(folder) if mounted else None
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", folder], check=True)


def fill_disk(writer: Writer, count: int, rng: random.Random) -> Iterator[str]:
    """The disk is full, or a limit for the size of files is reached, somewhere in the new file."""
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        usual = Place(writer, Path(folder))
        old = taken(usual.folder)
        writer.write(usual.path, 1)
        new = taken(usual.folder)
        for k in range(count):
            with small_disk(old + rng.uniform(0.0, 1.5) * new) as disk:
                full = disk is not None and rng.random() < 0.8
                place = Place(writer, disk, usual.known) if full and disk is not None else usual
                limit = 0 if full else int(rng.uniform(0.05, 1.1) * new) + 1
                try:
                    writer.write(place.path, 0)
                except (mb.MbframeError, OSError):
                    continue  # not even the old one fits
                refused += yield from told_of(f"disk {k}", place, limit)
        yield from told("at last", usual.check_rests)
    print(f"    {writer.name}: {refused} of {count} were refused")


def told_of(what: str, place: Place, limit: int) -> Generator[str, None, bool]:
    """Replace variant 0 where there may be no room; returns whether that was refused."""
    try:
        words = outcome(*attempted(place, 1, limit=limit))
        if words and not NO_ROOM.search(words):
            raise ValueError(f"it was refused for another reason: {words}")
        if place.writer.name == "stream" and words:
            judge_refused_stream(place, words)
        else:
            place.check(0 if words else 1)
    except ValueError as error:
        yield f"{what}: {error}"
        return True
    return bool(words)


def judge_refused_stream(place: Place, words: str) -> None:
    """A stream for which there is no room leaves the old file, or all rows of which it says that they are there."""
    try:
        part = mb.load_result(place.path)
    except mb.MbframeError as error:
        raise ValueError(f"refused ({words}), and the file is lost: {error}") from error
    if part.info.completed:
        place.check(0)  # it was refused before its first row
        return
    whole = mb.simulate(mb.examples.spatial_slider_crank(), 1.0, dt=DT)
    if not np.array_equal(part.q, whole.q[: len(part)]):
        raise ValueError(f"refused ({words}), and the rows are not those of the run")


def taken(folder: Path) -> int:
    """Bytes of all files below a folder, in pages."""
    return sum(PAGE * -(-found.stat().st_size // PAGE) for found in folder.rglob("*") if found.is_file())


def write_together(writer: Writer, count: int, rng: random.Random) -> Iterator[str]:
    """Two processes write under one name, at about the same time."""
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Place(writer, Path(folder))
        for k in range(count):
            if rng.random() < 0.3 and not place.path.is_dir():
                place.path.unlink()  # the first to take the name
            pair = []
            for variant in (0, 1):
                pair.append(attempted(place, variant))
                time.sleep(rng.uniform(0.0, 0.3 * writer.seconds))
            try:
                words = [outcome(*one) for one in pair]
                refused += sum(map(bool, words))
                place.check(*(variant for variant in (0, 1) if words[variant] is None))
                if any(words) and writer.name != "stream":
                    raise ValueError(f"one was refused: {words}")
            except ValueError as error:
                yield f"pair {k}: {error}"
        yield from told("at last", place.check_rests)
    if refused:
        print(f"    {writer.name}: {refused} of {2 * count} were refused, since the other one was being written")


def turn_clock(writer: Writer, count: int, rng: random.Random) -> Iterator[str]:
    """The clock jumps by years while a file is written, and files beside it are from the past or the future."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(writer, Path(folder))
        for k in range(count):
            stem, suffix = place.path.stem, place.path.suffix
            left = place.path.with_name(f".{stem}-{rng.getrandbits(48):012x}{suffix}")
            if not place.path.is_dir() and writer.name != "settings":  # Qt writes these, under names of its own
                left.write_bytes(b"half")
            for found in place.folder.rglob("*"):
                moment = time.time() + rng.uniform(-YEAR, YEAR)
                os.utime(found, (moment, moment))
            try:
                words = outcome(*attempted(place, k % 2, seed=rng.getrandbits(32)))
                if words:
                    raise ValueError(f"it was refused: {words}")
                place.check(k % 2)
                if left.exists():
                    raise ValueError("what a killed process left is still there")
            except ValueError as error:
                yield f"jump {k}: {error}"
        yield from told("at last", place.check_rests)


HAZARDS: Final = {"kills": kill, "disk": fill_disk, "writers": write_together, "clock": turn_clock}


def endured(hazard: str, count: int, seed: int, names: Sequence[str] = ()) -> tuple[int, list[str]]:
    """Every writer, or those named, `count` times: how many cases there were, and what is wrong, writer by writer."""
    chosen, wrong = names or list(WRITERS), []
    prepare()
    for name in chosen:
        began = time.perf_counter()
        found = list(HAZARDS[hazard](WRITERS[name], count, random.Random(f"{hazard} {name} {seed}")))
        spent = time.perf_counter() - began
        print(f"    {hazard:<8} {name:<9} {count:>5} tried, {len(found)} wrong ({spent:.0f} s)", flush=True)
        wrong += [f"{name}, {line}" for line in found]
    return count * len(chosen), wrong
