"""Virtual displays for tests that run at the same time."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess


def open_own_display() -> None:
    """Start a virtual display that ends with this process and open windows there; keep the present one without Xvfb."""
    if not shutil.which("Xvfb"):
        return
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1400x900x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    atexit.register(server.terminate)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        os.environ["DISPLAY"] = f":{pipe.readline().strip()}"
