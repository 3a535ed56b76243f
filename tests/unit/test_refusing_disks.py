"""Folders that cannot be written and disks that are full, made by the operating system: a clear error, nothing lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs permissions and limits of Linux")

MODEL = """
    import sys
    import mbframe as mb

    system = mb.System("flight", gravity=(0, 0, -10))
    system.add(mb.PointMass("stone", mass=1.0, velocity=(1, 0, 1)))

    def refused(action, *arguments, **options):
        try:
            action(*arguments, **options)
        except mb.MbframeError as error:
            print(error)
        else:
            print("nothing refused", action)
"""


def child(program: str, *arguments: object, **environment: str) -> list[str]:
    """What a program prints that runs without the right of root to write everywhere."""
    command = [sys.executable, "-c", textwrap.dedent(MODEL) + textwrap.dedent(program), *map(str, arguments)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Everything that writes says so before it computes; the kernels compile where their cache cannot be written."""
    (tmp_path / "model.json").write_text("old")
    tmp_path.chmod(0o500)
    program = """
    folder = sys.argv[1]
    result = mb.simulate(system, 0.1)
    print(f"{result.position('stone')[-1, 2]:.9f}")
    refused(mb.save, system, f"{folder}/model.json")
    refused(mb.simulate, system, 1e9, dt=1e-6, output=f"{folder}/run.h5")
    refused(result.save, f"{folder}/run.h5")
    refused(result.export, f"{folder}/table.csv")
    """
    try:
        number, *messages = child(program, tmp_path, MBFRAME_CACHE_DIR=str(tmp_path / "cache"))
    finally:
        tmp_path.chmod(0o700)
    assert number == f"{0.1 - 5.0 * 0.1**2:.9f}"
    assert len(messages) == 4
    assert all("cannot be written" in message for message in messages), messages
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]
    assert (tmp_path / "model.json").read_text() == "old"


def test_a_disk_that_takes_no_more(tmp_path: Path) -> None:
    program = """
    import resource

    folder = sys.argv[1]
    mb.save(system, f"{folder}/model.json")
    result = mb.simulate(system, 10.0, dt=1e-3)
    larger = mb.System("stones")
    for k in range(20):
        larger.add(mb.PointMass(f"stone {k}", mass=1.0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    refused(mb.save, larger, f"{folder}/model.json")
    refused(result.save, f"{folder}/run.h5")
    refused(result.export, f"{folder}/table.csv")
    print(len(mb.load(f"{folder}/model.json").bodies))
    """
    *messages, bodies = child(program, tmp_path)
    assert len(messages) == 3
    assert all("File too large" in message for message in messages), messages
    assert bodies == "1"  # the old model
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_a_file_that_somebody_cuts_off_ends_the_run(tmp_path: Path) -> None:
    """HDF5 waited forever for what it had written and could not find again."""
    program = """
    import os, threading, time

    def cut(path):
        while not os.path.exists(path):
            time.sleep(0.001)
        os.truncate(path, 1000)

    path = sys.argv[1]
    threading.Thread(target=cut, args=(path,), daemon=True).start()
    refused(mb.simulate, system, 1e9, dt=1e-4, integrator=mb.RungeKutta4(), output=path)
    """
    (message,) = child(program, tmp_path / "run.h5")
    assert "run.h5': could not be written: somebody made it shorter meanwhile; some of its rows are lost" in message
