"""What is installed: `gui` and `assets` become `mbframe_gui` and `mbframe_assets`, and nothing else is needed.

The sdist is built from a clean copy, the wheel from the sdist, and it is installed and used outside the checkout.
"""

import ast
import configparser
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import mbframe as mb

CHECKOUT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "mbframe", "gui", "assets")
IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@localhost")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
FOLDERS = {"mbframe": "mbframe", "gui": "mbframe_gui", "assets": "mbframe_assets"}


def run(*command: str | Path, cwd: Path) -> str:
    """Run Python with the given arguments and return what it prints; a failure shows its output."""
    process = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=cwd)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout.strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with an sdist, and the wheel made from it: without network, from a clean copy that is tagged v9.8.7."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(CHECKOUT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(CHECKOUT / name, source)
    for command in ("init --quiet", "add --all", "commit --quiet --message=all", "tag v9.8.7"):
        subprocess.run(["git", *IDENTITY, *command.split()], cwd=source, check=True)
    run("-m", "build", "--no-isolation", "--outdir", folder, source, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (wheel,) = built.glob("mbframe-*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bin` of a new environment with the wheel in it, and the dependencies of this one, but not its mbframe."""
    folder = tmp_path_factory.mktemp("installed")
    run("-m", "venv", "--without-pip", folder, cwd=folder)
    (site,) = folder.glob("lib/python*/site-packages")
    run("-m", "pip", "--python", folder, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))  # .pth files there are not read
    return folder / "bin"


def test_the_tag_is_the_version(built: Path) -> None:
    names = {path.name for path in built.iterdir() if path.is_file()}
    assert names == {"mbframe-9.8.7.tar.gz", "mbframe-9.8.7-py3-none-any.whl"}


def test_wheel_has_exactly_our_top_level_names(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.partition("/")[0] for name in archive.namelist()}
    metadata = {name for name in top if name.endswith(".dist-info")}
    assert len(metadata) == 1
    assert top - metadata == set(FOLDERS.values())


def test_wheel_has_every_module(wheel: Path) -> None:
    expected = {
        f"{package}/{path.relative_to(CHECKOUT / folder).as_posix()}"
        for folder, package in FOLDERS.items()
        for path in (CHECKOUT / folder).rglob("*.py")
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.endswith(".py")}
    assert packed == expected


def test_wheel_has_every_asset(wheel: Path) -> None:
    assets = (path for path in (CHECKOUT / "assets").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    expected = {f"mbframe_assets/{path.relative_to(CHECKOUT / 'assets').as_posix()}" for path in assets}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("mbframe_assets/")}
    assert packed == expected
    assert "mbframe_assets/viewer/three.min.js" in packed


def test_wheel_makes_the_application_known(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
        entries = archive.read(name).decode()
    known = entries.partition("[mbframe.applications]\n")[2].partition("\n\n")[0].split("\n")
    gui, edit, show = (f"mbframe_gui.app.{place}" for place in ("application:main", "editing:edit", "showing:show"))
    assert [line for line in known if line] == [f"edit = {edit}", f"gui = {gui}", f"show = {show}"]


def outside(installed: Path, *command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the installation, where there is no checkout."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", *DISPLAYS)}
    return subprocess.run(
        [installed / command[0], *command[1:]], cwd=folder, env=kept | environment, capture_output=True, text=True
    )


@pytest.mark.full
@pytest.mark.parametrize("package", FOLDERS.values())
def test_the_wheel_is_what_is_imported(installed: Path, tmp_path: Path, package: str) -> None:
    done = outside(installed, "python", "-c", f"import {package}; print({package}.__file__)", folder=tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(installed.parent), done.stderr


@pytest.mark.full
def test_the_command_line_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    assert outside(installed, "mbframe", "--version", folder=tmp_path).stdout == "mbframe 9.8.7\n"
    run = ("mbframe", "run", "simple_pendulum", "--t-end", "0.1", "--output", "run.h5")
    done = outside(installed, *run, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "written to run.h5" in done.stdout
    assert outside(installed, "mbframe", "examples", "flexible_pendulum", folder=tmp_path).returncode == 0


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_the_application_says_that_there_is_no_display(installed: Path, tmp_path: Path) -> None:
    done = outside(installed, "mbframe", "gui", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("There is no display")


START = """
import sys
from PySide6.QtCore import QTimer
from mbframe_gui.app.application import Application

application = Application(sys.argv[1:], warm=False)
application.open()
application.window.first_painted.connect(lambda: QTimer.singleShot(200, lambda: application.qt.exit(7)))
code = application.qt.exec()
print("shown:", application.document.system.name)
application.close()
sys.exit(code)
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="needs Qt's off-screen platform")
def test_the_application_opens_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    if not mb.render.can_draw():
        pytest.skip("nothing can be drawn here")
    mb.save(mb.examples.four_bar(), tmp_path / "model.json")
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    done = outside(installed, "python", "-c", START, "model.json", folder=tmp_path, QT_QPA_PLATFORM="offscreen", **home)
    assert done.returncode == 7, done.stderr
    assert done.stdout == "shown: four-bar linkage\n"


@pytest.mark.full
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="has no desktop entries")
def test_the_desktop_entry_starts_this_installation(installed: Path, tmp_path: Path) -> None:
    data = tmp_path / "data $HOME"
    command = ("mbframe", "gui", "--install-desktop-entry")
    done = outside(installed, *command, folder=tmp_path, XDG_DATA_HOME=str(data))
    assert done.returncode == 0, done.stderr
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read(data / "applications" / "mbframe.desktop")
    values = entry["Desktop Entry"]
    assert shlex.split(values["Exec"]) == [str(installed / "python"), "-m", "mbframe_gui", "%F"]
    assert (data / "icons" / "hicolor" / "scalable" / "apps" / f"{values['Icon']}.svg").is_file()
    assert {"Type", "Name", "Comment", "Terminal", "Categories"} <= set(values)


@pytest.mark.parametrize(("folder", "package"), FOLDERS.items())
def test_editable_installation_maps_the_folders(folder: str, package: str, tmp_path: Path) -> None:
    file = Path(run("-c", f"import {package}; print({package}.__file__)", cwd=tmp_path))
    assert file == CHECKOUT / folder / "__init__.py"


@pytest.mark.parametrize("folder", ["gui", "assets"])
def test_short_folder_names_are_not_importable_outside_the_checkout(folder: str, tmp_path: Path) -> None:
    program = f"import importlib.util; print(importlib.util.find_spec({folder!r}))"
    assert run("-c", program, cwd=tmp_path) == "None"


def spawns(call: ast.Call) -> bool:
    return [ast.unparse(argument) for argument in call.args] == ["'spawn'"]


POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_NAMES = {"fork", "forkpty", "geteuid", "getuid", "killpg", "mkfifo", "setsid", "SIGKILL", "SIGHUP", "SIGALRM"}


@pytest.mark.parametrize("folder", ["mbframe", "gui"])
def test_nothing_is_used_that_only_posix_has(folder: str) -> None:
    """Names that other systems lack, places that they do not have, and processes that are forked.

    What is imported where an ImportError is caught may be missing.
    """
    found = []
    for path in sorted((CHECKOUT / folder).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        optional = {
            id(inner)
            for node in nodes
            if isinstance(node, ast.Try) and any(h.type and ast.unparse(h.type) == "ImportError" for h in node.handlers)
            for statement in node.body
            for inner in ast.walk(statement)
        }
        for node in nodes:
            if id(node) in optional:
                continue
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if (
                {module.partition(".")[0] for module in modules} & POSIX_MODULES
                or (isinstance(node, ast.Attribute) and node.attr in POSIX_NAMES)
                or text.startswith(("/tmp", "/proc", "/dev/", "/usr", "/etc"))
                or (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("get_context") and not spawns(node))
            ):
                found.append(f"{path.relative_to(CHECKOUT)}:{node.lineno}")
    assert found == []
