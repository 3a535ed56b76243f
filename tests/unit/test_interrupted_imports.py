"""Ctrl-C while VTK is imported: its compiled modules end the interpreter if an import among them fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyvista", reason="the packages for pictures are not installed")
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which the background of a shell ignores
from mbframe.render import availability

def press(event, arguments):
    if event == "import" and arguments[0] == "vtkmodules.vtkCommonTransforms":
        signal.raise_signal(signal.SIGINT)

sys.addaudithook(press)
try:
    availability.{}()
except KeyboardInterrupt:
    print("stopped", "vtkmodules.vtkCommonTransforms" in sys.modules)
"""


@pytest.mark.parametrize("asked", ["pyvista", "why_not"])
def test_ctrl_c_waits_for_the_modules_of_vtk(asked: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-c", PROGRAM.format(asked)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped True\n", "")
