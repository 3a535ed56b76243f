"""What is installed has the right names: the folders `gui` and `assets` become `mbframe_gui` and `mbframe_assets`."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "mbframe", "gui", "assets")
FOLDERS = {"mbframe": "mbframe", "gui": "mbframe_gui", "assets": "mbframe_assets"}


def run(*command: str | Path, cwd: Path) -> str:
    """Run Python with the given arguments and return what it prints; a failure shows its output."""
    process = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=cwd)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built without network from a clean copy: leftovers in the checkout's `build` would get into it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(CHECKOUT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(CHECKOUT / name, source)
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", folder, source, cwd=folder)
    (wheel,) = folder.glob("mbframe-*.whl")
    return wheel


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
    assert "[mbframe.applications]\ngui = mbframe_gui.application:main" in entries


def test_wheel_installs_and_imports_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    run("-m", "pip", "install", "--no-deps", "--no-index", "--target", target, wheel, cwd=tmp_path)
    program = f"""
import sys
sys.path.insert(0, {str(target)!r})
# the editable installation's finder would answer before the path is searched
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
import mbframe, mbframe_gui, mbframe_assets
print(mbframe.__file__, mbframe_gui.__file__, mbframe_assets.__file__, sep="\\n")
"""
    files = [Path(line) for line in run("-c", program, cwd=tmp_path).splitlines()]
    assert files == [target / package / "__init__.py" for package in FOLDERS.values()]


@pytest.mark.parametrize(("folder", "package"), FOLDERS.items())
def test_editable_installation_maps_the_folders(folder: str, package: str, tmp_path: Path) -> None:
    file = Path(run("-c", f"import {package}; print({package}.__file__)", cwd=tmp_path))
    assert file == CHECKOUT / folder / "__init__.py"


@pytest.mark.parametrize("folder", ["gui", "assets"])
def test_short_folder_names_are_not_importable_outside_the_checkout(folder: str, tmp_path: Path) -> None:
    program = f"import importlib.util; print(importlib.util.find_spec({folder!r}))"
    assert run("-c", program, cwd=tmp_path) == "None"
