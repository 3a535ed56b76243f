"""Ctrl-C while VTK is imported: its compiled modules end the interpreter if an import among them fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mbframe.render.availability import can_draw

PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which the background of a shell ignores
from mbframe.render import availability

def press(event, arguments):
    if event == "import" and arguments[0] == sys.argv[2]:
        signal.raise_signal(signal.SIGINT)

sys.addaudithook(press)
try:
    getattr(availability, sys.argv[1])()
except KeyboardInterrupt:
    print("stopped", sys.argv[2] in sys.modules)
"""


@pytest.mark.skipif(not can_draw(), reason="pictures cannot be drawn here")
@pytest.mark.parametrize(
    ("asked", "module"),
    [
        ("pyvista", "vtkmodules.vtkCommonTransforms"),
        ("why_not", "vtkmodules.vtkCommonTransforms"),
        ("check_drawing", "vtkmodules.vtkViewsContext2D"),  # which a plotter would import
    ],
)
def test_ctrl_c_waits_for_the_modules_of_vtk(asked: str, module: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-c", PROGRAM, asked, module]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped True\n", "")
