"""Ctrl-C while the process waits for something compiled that hears nothing, such as LLVM."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which the background of a shell ignores
from mbframe.cli.stopping import ends_in_compiler

def press(clock, began):
    while time.clock_gettime(clock) < began + 0.2:  # until it is deep in what it waits for
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

waiting = '''
import hashlib
hashlib.pbkdf2_hmac("sha256", b"", b"", int(turns))  # without the lock of the interpreter, deaf to signals
'''
clock = time.pthread_getcpuclockid(threading.get_ident())
threading.Thread(target=press, args=(clock, time.clock_gettime(clock)), daemon=True).start()
try:
    with ends_in_compiler(True):
        exec(compile(waiting, "waiting", "exec"), {"__name__": sys.argv[1], "turns": sys.argv[2]})
except KeyboardInterrupt:
    print("heard")
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def stopped(module: str, turns: int) -> tuple[int, str]:
    """The code and the last words of a process that is told to stop while code of a module waits."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-c", PROGRAM, module, str(turns)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout


@pytest.mark.parametrize("module", ["llvmlite.binding.ffi", "numba.core.compiler"])
def test_the_compiler_does_not_hold_up_the_end(module: str) -> None:
    """It would be heard after hours."""
    code, said = stopped(module, 2**31 - 1)
    assert (code, json.loads(said)["error"]) == (130, "Interrupted")


def test_others_are_waited_for() -> None:
    """They may have written half of something."""
    assert stopped("mbframe.files.result_files", 3_000_000) == (0, "heard\n")
