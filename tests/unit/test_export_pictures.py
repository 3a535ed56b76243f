"""Videos, GIFs and frames, read back; and what happens where they cannot be made or finished."""

import os
import re
import resource
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mbframe as mb
from mbframe.render import availability

pytest.importorskip("pyvista")
imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
Image = pytest.importorskip("PIL.Image")

drawing = pytest.mark.skipif(not availability.can_draw(), reason=str(availability.why_not()))
VIDEOS = ("motion.mp4", "motion.gif", "motion.png")
SMALL = {"size": (160, 90), "fps": 10.0, "smooth": False}


@pytest.fixture(scope="module")
def result() -> mb.Result:
    return mb.simulate(mb.examples.triple_pendulum(), 10.0)


def read(path: Path) -> tuple[tuple[int, int], int, np.ndarray, np.ndarray]:
    """Size and number of the pictures of a video, the first and the last of them, as ffmpeg decodes them."""
    program = imageio_ffmpeg.get_ffmpeg_exe()
    about = subprocess.run([program, "-i", path], capture_output=True, text=True).stderr
    width, height = map(int, re.search(r"Video: .*? (\d{2,5})x(\d{2,5})", about).groups())
    command = [program, "-loglevel", "error", "-i", path, "-f", "rawvideo", "-fps_mode", "passthrough"]
    count, first, last = 0, b"", b""
    with subprocess.Popen([*command, "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE) as process:
        while picture := process.stdout.read(width * height * 3):
            first, last, count = first or picture, picture, count + 1
    return (width, height), count, *(np.frombuffer(p, np.uint8).reshape(height, width, 3) for p in (first, last))


def image(path: Path) -> np.ndarray:
    with Image.open(path) as opened:
        return np.asarray(opened)


def changed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two pictures differ visibly."""
    return np.abs(a.astype(int) - b).max(axis=2) > 40


@drawing
def test_mp4_has_the_frames_and_the_size_asked_for(result, tmp_path):
    fractions: list[float] = []
    (path,) = mb.render.export(
        result, tmp_path / "motion.mp4", fps=30, size=(1280, 720), end=59 / 30, smooth=False, progress=fractions.append
    )
    size, count, first, last = read(path)
    assert (size, count) == ((1280, 720), 60)
    np.testing.assert_allclose(fractions, np.arange(1, 61) / 60)
    assert changed(first, last).mean() > 0.002  # the mechanism moves
    assert os.listdir(tmp_path) == ["motion.mp4"]


@drawing
def test_gif_is_small(result, tmp_path):
    (path,) = mb.render.export(result, tmp_path / "motion.gif", fps=20, size=(640, 360), end=99 / 20, smooth=False)
    size, count, first, last = read(path)
    assert (size, count) == ((640, 360), 100)
    assert path.stat().st_size <= 3_000_000
    assert changed(first, last).mean() > 0.002
    assert os.listdir(tmp_path) == ["motion.gif"]


@drawing
def test_png_frames(result, tmp_path):
    written = mb.render.export(result, tmp_path / "motion.png", **SMALL, start=1.0, end=1.5)
    assert [path.name for path in written] == [f"motion_{k:04d}.png" for k in range(6)]
    assert sorted(os.listdir(tmp_path)) == [path.name for path in written]
    assert {image(path).shape for path in written} == {(90, 160, 3)}


@drawing
def test_title_and_time_are_written_in_the_corners(result, tmp_path):
    def picture(name: str, **options) -> np.ndarray:
        (path,) = mb.render.export(result, tmp_path / name, size=(640, 360), end=0.0, smooth=False, **options)
        return image(path)

    plain = picture("plain.png", title="", show_time=False)
    titled = np.argwhere(changed(picture("titled.png", title="Swing", show_time=False), plain))
    timed = np.argwhere(changed(picture("timed.png", title="", show_time=True), plain))
    assert len(titled) > 30
    assert titled[:, 0].max() < 60  # rows from above
    assert titled[:, 1].max() < 200
    assert len(timed) > 30
    assert timed[:, 0].min() > 300
    assert timed[:, 1].max() < 200


@drawing
def test_views_and_themes(result, tmp_path):
    def picture(**options) -> np.ndarray:
        (path,) = mb.render.export(
            result, tmp_path / "view.png", **SMALL, end=0.0, show_time=False, title="", **options
        )
        return image(path).astype(int)

    light, dark, front = picture(), picture(theme="dark"), picture(camera="front")
    given = picture(camera=((2.0, -30.0, 0.0), (2.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    assert light.mean() > 180
    assert dark.mean() < 70
    assert changed(light, front).mean() > 0.005
    assert changed(given, light).mean() > 0.005


@drawing
@pytest.mark.parametrize("name", VIDEOS)
def test_an_interrupted_export_leaves_nothing_new(result, tmp_path, name):
    old = tmp_path / ("motion_0000.png" if name.endswith("png") else name)
    old.write_bytes(b"old")

    def interrupt(fraction: float) -> None:
        if fraction > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mb.render.export(result, tmp_path / name, **SMALL, end=1.0, progress=interrupt)
    assert os.listdir(tmp_path) == [old.name]
    assert old.read_bytes() == b"old"


@drawing
@pytest.mark.parametrize("name", [*VIDEOS, "motion.glb", "motion.html"])
def test_a_full_target_leaves_nothing(result, tmp_path, name):
    """Files may not grow beyond 2 kB: the same as a full disk, but harmless."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        with pytest.raises(mb.MbframeError, match=r"could not (be written|make the video)"):
            mb.render.export(result, tmp_path / name, **SMALL, end=1.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", [*VIDEOS, "motion.glb", "motion.html"])
def test_a_missing_folder_is_refused(result, tmp_path, name):
    with pytest.raises(mb.ModelError, match="there is no folder"):
        mb.render.export(result, tmp_path / "missing" / name, **SMALL)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("motion.mp5", r"found the suffix '\.mp5'; allowed are \.mp4, .*did you mean 'motion\.mp4'"),
        ("motion.gltf", r"did you mean 'motion\.gl"),
        ("motion.htm", r"did you mean 'motion\.html'"),
        ("motion.xyz", r"allowed are \.mp4, \.gif, \.png, \.glb, \.html, \.pvd; choose one"),
        ("motion", "which has no suffix"),
    ],
)
def test_an_unknown_suffix_names_the_nearest(result, tmp_path, name, words):
    with pytest.raises(mb.ModelError, match=words):
        mb.render.export(result, tmp_path / name)
    assert not os.listdir(tmp_path)


@drawing
@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("motion.mp4", {"size": (641, 360)}, r"even numbers of pixels; give \(642, 360\)"),
        ("motion.mp4", {"size": (0, 360)}, "16 to 8192 pixels"),
        ("motion.png", {"size": 640}, "16 to 8192 pixels"),
        ("motion.gif", {"fps": 60}, "at most 50 frames"),
        ("motion.mp4", {"theme": "pink"}, "'light' and 'dark'"),
        ("motion.mp4", {"camera": "sideways"}, "'front'"),
        ("motion.mp4", {"camera": ((0, 0, 1), (0, 0, 0), (0, 0, 1))}, "not along the line of sight"),
        ("motion.mp4", {"camera": (1, 2)}, "two vectors .* or three"),
        ("motion.mp4", {"start": 5.0, "end": 4.0}, "no frames"),
        ("motion.mp4", {"size": (641, 360), "theme": "pink"}, r"(?s)even numbers.*'light' and 'dark'"),
    ],
)
def test_senseless_wishes_are_refused_before_anything_is_written(result, tmp_path, name, options, words):
    with pytest.raises(mb.ModelError, match=words):
        mb.render.export(result, tmp_path / name, **options)
    assert not os.listdir(tmp_path)


def test_a_system_is_not_a_result(tmp_path):
    with pytest.raises(mb.ModelError, match="allowed is a result"):
        mb.render.export(mb.examples.triple_pendulum(), tmp_path / "motion.glb")


@drawing
@pytest.mark.parametrize("name", ["motion.mp4", "motion.gif"])
def test_without_ffmpeg_it_says_how_to_get_it(result, tmp_path, name, monkeypatch):
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "nothing"))
    with pytest.raises(mb.render.RenderError, match="pip install imageio-ffmpeg"):
        mb.render.export(result, tmp_path / name, **SMALL)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", VIDEOS)
def test_without_opengl_it_says_so_and_the_other_formats_work(result, tmp_path, name, monkeypatch):
    monkeypatch.setattr(availability, "missing_libraries", lambda: ["libEGL.so.1"])
    availability.why_not.cache_clear()
    try:
        with pytest.raises(mb.render.RenderError, match=r"libEGL\.so\.1.*apt-get install"):
            mb.render.export(result, tmp_path / name, **SMALL)
        assert not os.listdir(tmp_path)
        mb.render.export(result, tmp_path / "motion.glb")
        mb.render.export(result, tmp_path / "motion.html")
    finally:
        availability.why_not.cache_clear()
