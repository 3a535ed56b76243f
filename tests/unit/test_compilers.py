"""Which compiler makes the stages, and what becomes of a numba that mbframe's own compiler does not know."""

from __future__ import annotations

import builtins
import logging
import os
import subprocess
import sys

import pytest

import mbframe as mb
from mbframe.kernels.compiler import backend, compile, documented, notices, pipeline


@pytest.fixture
def said(monkeypatch, caplog):
    """What was said, as in a new session."""
    monkeypatch.setattr(notices, "_said", set())
    caplog.set_level(logging.WARNING, logger="mbframe")
    return caplog


@pytest.mark.parametrize("version", ["0.65.1", "0.66.0", "0.67.0", "0.68.1", "0.68.2rc1"])
def test_the_own_compiler_is_taken_with_versions_that_it_was_tried_with(said, version):
    assert backend.chosen("", version) == ("own", pipeline)
    assert not said.messages


@pytest.mark.parametrize("version", ["0.64.0", "0.69.0", "0.70.0dev0+12.g1234", "1.0"])
def test_other_versions_run_on_the_documented_interface_with_one_notice(said, version):
    for _ in range(2):
        assert backend.chosen("", version) == ("numba", documented)
    (message,) = said.messages
    assert f"numba {version}" in message
    assert "the same results" in message
    assert backend.chosen("own", version) == ("own", pipeline)


def test_a_compiler_that_cannot_be_imported_is_replaced_with_one_notice(said, monkeypatch):
    usual = builtins.__import__

    def moved(name, *arguments):
        if name == "numba.core.caching":
            raise ModuleNotFoundError("No module named 'numba.core.caching'")
        return usual(name, *arguments)

    monkeypatch.delitem(sys.modules, pipeline.__name__)
    monkeypatch.delattr(sys.modules["mbframe.kernels.compiler"], "pipeline")
    monkeypatch.setattr(builtins, "__import__", moved)
    for _ in range(2):
        assert backend.chosen("", "0.68.1") == ("numba", documented)
    (message,) = said.messages
    assert "numba.core.caching" in message
    with pytest.raises(ModuleNotFoundError):
        backend.chosen("own", "0.68.1")


def test_the_environment_chooses(said):
    assert backend.chosen("numba", "0.68.1") == ("numba", documented)
    assert not said.messages
    with pytest.raises(ImportError, match=r"MBFRAME_COMPILER is 'fast'; allowed are 'own' and 'numba'"):
        backend.chosen("fast", "0.68.1")


def test_code_of_the_two_compilers_is_kept_apart(monkeypatch):
    package = compile.Path(compile.__file__).resolve().parents[2]
    keys = set()
    for name in ("own", "numba"):
        monkeypatch.setattr(compile, "COMPILER", name)
        keys.add(compile.source_hash(package))
    assert len(keys) == 2


def small(t, work, data, n):
    """A stage that compiles in a moment."""
    return n + 1


def test_a_cache_that_cannot_be_used_costs_a_notice(said, monkeypatch):
    """numba's own cache raises what the disk does, or the reader of a damaged file."""
    usual = documented.cfunc

    def full(*arguments, cache, **options):
        if cache:
            raise OSError("No space left on device")
        return usual(*arguments, **options)

    monkeypatch.setattr(documented, "cfunc", full)
    for _ in range(2):
        stage = documented.compiled_stage(small, compile.SIGNATURE, kept=True)
        assert compile.run_stage(stage.address, 0.0, 0, 0, 41) == 42
    (message,) = said.messages
    assert "No space left" in message


class Pull(mb.ForceElement):
    """A user's force, compiled at its first use."""

    stiffness: float = mb.parameter(default=10.0, unit="N/m")

    def wrench(self, t, i, j):
        x, y, z = i.position - j.position
        return (self.stiffness * x, self.stiffness * y, self.stiffness * z), (0.0, 0.0, 0.0)


def numbers() -> str:
    """What runs by an explicit and an implicit integrator give, to the last bit."""
    system = mb.examples.triple_pendulum()
    system.add(Pull("pull", system.ground, system.bodies[-1]))
    runs: list[dict] = [{}, {"dt": 1e-3, "integrator": mb.GeneralizedAlpha()}]
    results = [mb.simulate(system, 0.3, **options) for options in runs]
    return " ".join(values.tobytes().hex() for r in results for values in (r.t, r.q, r.v, r.multipliers))


@pytest.mark.skipif(backend.COMPILER == "own", reason="scripts/test runs it with the documented interface")
def test_both_compilers_give_the_same_bits():
    program = f"import runpy; print(runpy.run_path({__file__!r})['numbers']())"
    environment = os.environ | {backend.CHOICE: "own"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == numbers()
