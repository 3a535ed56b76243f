"""The command line: what it prints, for people and for scripts, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe import applications
from mbframe.cli import main
from mbframe.cli.models import parsed, strategy
from mbframe.cli.run import instants

BROKEN = {
    "format": "mbframe model",
    "version": 1,
    "name": "broken",
    "elements": [
        {"type": "RigidBody", "name": "bar", "mass": -2.0, "inertai": [1, 1, 1]},
        {"type": "SphericalJiont", "name": "A", "i": "ground", "j": "bar", "at": [0, 0, 0]},
        {"type": "RevoluteJoint", "name": "B", "i": "grund", "j": "bar", "at": [0, 0, 0]},
    ],
}


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A file with settings."""
    file = tmp_path / "model.json"
    mb.save(mb.examples.heavy_top(), file, simulation={"t_end": 0.02, "integrator": mb.DormandPrince(rtol=1e-5)})
    return str(file)


@pytest.fixture
def broken(tmp_path: Path) -> str:
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(BROKEN))
    return str(file)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """Exit code and JSON of a command."""
    code = main([*arguments, "--json"])
    captured = capsys.readouterr()
    assert not captured.err
    return code, json.loads(captured.out)


# ---- run ----


@pytest.mark.parametrize("name", mb.examples.names())
def test_every_example_runs_and_is_checked(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / f"{name}.json")
    assert main(["examples", name, "--output", file, "--quiet"]) == 0
    code, ran = answer(capsys, "run", file, "--t-end", "0.02")
    assert code == 0
    assert (ran["completed"], ran["t"]) == (True, [0.0, 0.02])
    assert ran["violation"]["position"] < 1e-9
    code, checked = answer(capsys, "check", file)
    assert code == 0
    freedom = mb.degrees_of_freedom(getattr(mb.examples, name)())
    assert (checked["freedom"]["count"], checked["freedom"]["redundant"]) == (freedom.count, freedom.redundant)
    assert sum(checked["elements"].values()) == len(getattr(mb.examples, name)()) - 1


def test_settings_of_the_file_and_of_the_command(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, ran = answer(capsys, "run", model)
    assert ran["t"] == [0.0, 0.02]
    assert ran["settings"]["integrator"] == "DormandPrince(rtol=1e-05)"
    methods = ["--integrator", "RungeKutta4", "--stabilization", "Baumgarte(alpha=3, beta=2)"]
    _, ran = answer(
        capsys, "run", model, "--t-end", "0.01", "--dt", "1e-3", "--formulation", "NaturalAbsolute", *methods
    )
    assert ran["settings"]["integrator"] == "RungeKutta4()"
    assert ran["settings"]["stabilization"] == "Baumgarte(alpha=3.0, beta=2.0)"
    assert "NaturalAbsolute" in ran["settings"]["formulation"]
    assert (ran["steps"], ran["instants"]) == (10, 11)


def test_results_are_written(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result, table, other = (str(tmp_path / name) for name in ("run.h5", "run.csv", "other.csv"))
    code, ran = answer(capsys, "run", model, "--every", "0.005", "--output", result)
    assert (code, ran["output"], ran["instants"]) == (0, result, 5)
    np.testing.assert_allclose(mb.load_result(result).t, [0.0, 0.005, 0.01, 0.015, 0.02])
    assert main(["export", result, table, "--quantities", "top.position.x", "--quiet"]) == 0
    assert len(Path(table).read_text().splitlines()) >= 6
    assert main(["run", model, "--output", other, "--quiet"]) == 0
    assert "top.position.x" in Path(other).read_text()
    assert main(["export", result, str(tmp_path / "again.py"), "--quiet"]) == 0
    assert 'mb.System("heavy top"' in (tmp_path / "again.py").read_text()
    assert capsys.readouterr().out == ""


def test_output_for_people(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", model]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("heavy top: 0 to 0.02 s in ")
    assert lines[1].startswith("  DormandPrince(rtol=1e-05): ")
    assert main(["check", "bricard"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Bricard mechanism: 5 RigidBody, 6 RevoluteJoint"
    assert lines[1] == "  1 degree of freedom: 30 equations, 29 independent"
    assert "  warning: reactions" in lines[-1]


def test_a_run_that_fails_says_when_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = mb.System("doomed")
    body = system.add(mb.RigidBody("b", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.PointForce("push", body, force=(0, 0, "sqrt(0.05 - t)")))
    file = str(tmp_path / "doomed.json")
    mb.save(system, file)
    assert main(["run", file, "--t-end", "1", "--dt", "0.05"]) == 1
    assert capsys.readouterr().err.startswith("mbframe: t = 0.05 s, PointForce 'push'")
    code, found = answer(capsys, "run", file, "--t-end", "1", "--dt", "0.05")
    assert (code, found["error"]) == (1, "SimulationError")
    assert found["time"] == pytest.approx(0.05)


def test_the_command_line_is_a_module_too() -> None:
    done = subprocess.run([sys.executable, "-m", "mbframe", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"mbframe {mb.__version__}\n")


def test_instants_end_with_the_end() -> None:
    np.testing.assert_allclose(instants(1.0, 0.3), [0.0, 0.3, 0.6, 0.9, 1.0])
    np.testing.assert_allclose(instants(0.3, 0.1), [0.0, 0.1, 0.2, 0.3])
    assert instants(0.3, 0.1)[-1] <= 0.3
    for interval in (0.0, -1.0, 2.0, float("nan"), 1e-12):
        with pytest.raises(mb.ModelError, match="--every"):
            instants(1.0, interval)


# ---- errors ----


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_broken_model_shows_all_its_problems(command: str, broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, broken]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[0] == "mbframe: 5 problems:"
    assert len(lines) == 6
    assert lines[1].startswith(
        "  RigidBody 'bar', $.elements[0].inertai: there is no such parameter; did you mean 'inertia'?"
    )
    code, found = answer(capsys, command, broken)
    assert code == 2
    assert [problem["field"] for problem in found["problems"]] == [
        "$.elements[0].inertai",
        "$.elements[0].mass",
        "$.elements[0].inertia",
        "$.elements[1].type",
        "$.elements[2].i",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "bricrd"], "did you mean 'bricard'?"),
        (["run", "nothing.json"], "there is no such file"),
        (["run", "bricard", "--output", "run.xyz"], ".parquet"),
        (["run", "bricard", "--every", "0"], "--every"),
        (["run", "bricard", "--t-end", "1", "--every", "1e-300"], "from 1e-08 to t_end = 1 s"),
        (["run", "bricard", "--t-end", "1e300"], "allowed are times up to 1e+18 s"),
        (["compare", "bricard", "--repeats", "1000000000000"], "a whole number from 1 to 1000"),
        (["run", "bricard", "--t-end", "-1"], "t_end"),
        (["run", "bricard", "--integrator", "DormandPrice"], "did you mean 'DormandPrince'?"),
        (["run", "bricard", "--integrator", "DormandPrince(rtoll=1)"], "did you mean 'rtol'?"),
        (["run", "bricard", "--integrator", "RungeKutta4"], "dt"),
        (["run", "bricard", "--integrator", "__import__('os')"], "allowed is a name"),
        (["run", "bricard", "--formulation", "EulerAngles(sequence='XXX')"], "allowed are XYX"),
        (["run", "bricard", "--output", "/nowhere/run.h5"], "there is no folder"),
        (["export", "bricard", "film.mp4"], "mbframe run bricard --output run.h5"),
        (["export", "bricard", "film.xyz"], ".mp4"),
        (["export", "nothing.h5", "film.csv"], "nothing.h5"),
        (["examples", "bricard", "--output", "a.txt"], ".json or .py"),
        (["compare", "bricard", "--t-end", "x"], ""),
    ],
)
def test_what_users_get_wrong_is_said_without_a_traceback(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(arguments)
    except SystemExit as stopped:  # argparse
        code = int(str(stopped.code))
    captured = capsys.readouterr()
    assert code == 2
    assert words in captured.err
    assert "Traceback" not in captured.err


def test_a_model_without_settings_needs_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "model.json")
    mb.save(mb.examples.heavy_top(), file)
    assert main(["run", file]) == 2
    assert "--t-end" in capsys.readouterr().err


def test_an_empty_model_has_nothing_to_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "model.json")
    mb.save(mb.System("empty"), file)
    assert main(["check", file]) == 2
    assert "has no bodies" in capsys.readouterr().err


# ---- strategies by name ----


def test_strategies_are_read_not_executed() -> None:
    assert parsed("integrator", " DormandPrince(order=5, rtol=1e-8) ") == {
        "type": "DormandPrince",
        "order": 5,
        "rtol": 1e-8,
    }
    assert parsed("formulation", "EulerAngles(offset=((1, 0), (0, -1)))")["offset"] == [[1, 0], [0, -1]]
    assert repr(strategy("stabilization", "DirectCorrection(tolerance=1e-9, mass_weighted=False)")) == (
        "DirectCorrection(tolerance=1e-09, mass_weighted=False)"
    )


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "A.b",
            "A(1)",
            "A(x=y)",
            "A(x=f())",
            "A(**{'x': 1})",
            "A(x=1)(y=2)",
            "[A]",
            "A; B",
            "A\nB",
            "A(x={1})",
        ),
        *("A(x=__import__('os'))", "(" * 900, "A(x=" + "[" * 300, "A" * 2000, "A(x=1j)", "A(x=b'')", "lambda: A", "\0"),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(mb.ModelError, match="--integrator"):
        parsed("integrator", text)


# ---- examples, export, warmup, gui ----


def test_examples_are_listed_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == mb.examples.names()
    code, found = answer(capsys, "examples")
    assert code == 0
    assert list(found["examples"]) == mb.examples.names()
    assert main(["examples", "heavy-top"]) == 0
    scope: dict[str, Any] = {}
    script = capsys.readouterr().out
    exec(script.replace("mb.simulate(", "dict(system=").replace("system=system", "system=0"), scope)
    assert scope["system"].name == "heavy top"


def test_models_are_exported_with_their_settings(model: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.json"
    assert main(["export", model, str(target), "--quiet"]) == 0
    assert target.read_text() == Path(model).read_text()
    assert main(["export", model, str(tmp_path / "copy.py"), "--quiet"]) == 0
    assert "mb.simulate(system, t_end=0.02" in (tmp_path / "copy.py").read_text()


def test_parts_that_are_not_there_say_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if hasattr(mb, "linearize"):
        monkeypatch.delattr(mb, "linearize")
    monkeypatch.delitem(mb._ORIGIN, "linearize", raising=False)  # type: ignore[attr-defined]
    monkeypatch.setattr(applications, "distributions", list)
    for command in (["eig", "heavy_top"], ["gui"]):
        assert main(command) == 3
        assert capsys.readouterr().err.startswith("mbframe: ")


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("export run.h5 a.mp4", "render"),
        ("export run.h5 a.parquet", "parquet"),
        ("run pendulum --output a.parquet", "parquet"),
    ],
)
def test_files_that_need_packages_which_are_not_here(
    command: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are refused before anything is read or computed."""
    monkeypatch.setattr("mbframe.cli.outcome.find_spec", lambda name: None)
    assert main(command.split()) == 3
    assert f"pip install 'mbframe[{extra}]'" in capsys.readouterr().err


def test_eig_prints_a_verdict_and_roots(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eig", "cart_pendulum"]) == 0
    verdict, headings, first, *_ = capsys.readouterr().out.splitlines()
    assert verdict.startswith("'inverted pendulum on a cart' is unstable. One mode grows; a small disturbance doubles")
    assert verdict.endswith("(4 roots, 2 of them of free motions)")
    assert headings.split("  ")[-1] == "what moves"
    assert first.endswith("pole turns about y")
    code, data = answer(capsys, "eig", "cart_pendulum", "--formulation", "NaturalAbsolute")
    assert code == 0
    assert (data["stability"], data["stable"], data["unstable_count"]) == ("unstable", False, 1)
    assert data["eigenvalues"][-1] == pytest.approx([-data["eigenvalues"][0][0], 0.0], abs=1e-9)
    assert data["modes"][1]["damping_ratio"] is None  # of a zero root


def test_compare_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "lab.html"
    command = ["compare", "simple_pendulum", "--t-end", "0.1", "--dt", "0.01", "--steps", "0.01", "--repeats", "1"]
    command += ["--stabilizations", "NoStabilization", "Baumgarte(alpha=10, beta=10)", "--sort", "error"]
    assert main([*command, "--report", str(page)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "simple pendulum, 0.1 s; as described, AugmentedFormulation, RungeKutta4"
    assert len(printed) == 6
    assert printed[-1] == f"written to {page}"
    assert page.read_text().startswith("<!doctype html>")
    code, data = answer(capsys, *command)
    assert code == 0
    assert {row["stabilization"] for row in data["table"]} == {"NoStabilization", "Baumgarte(alpha=10.0, beta=10.0)"}
    assert data["table"][0]["error"] < data["table"][1]["error"] < 1e-6
    assert main([*command, "--report", "lab.txt"]) == 2
    assert ".html" in capsys.readouterr().err


def test_pictures_go_to_render(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, called = str(tmp_path / "run.h5"), {}
    assert main(["run", model, "--output", result, "--quiet"]) == 0

    def export(result: Any, path: str, **options: Any) -> None:
        called.update(options, path=path, name=result.system.name)

    monkeypatch.setattr(mb, "render", SimpleNamespace(export=export), raising=False)
    assert main(["export", result, "film.mp4", "--fps", "25", "--size", "640x480", "--quiet"]) == 0
    assert called == {"fps": 25.0, "size": (640, 480), "path": "film.mp4", "name": "heavy top"}
    assert main(["export", result, "film.mp4", "--size", "640"]) == 2


def test_gui_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    entry = SimpleNamespace(group="mbframe.applications", name="gui", load=lambda: lambda files: opened.extend(files))
    monkeypatch.setattr(applications, "distributions", lambda: [SimpleNamespace(entry_points=[entry])])
    assert main(["gui", "model.json"]) == 0
    assert opened == ["model.json"]


def test_warmup_names_what_it_compiled(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("mbframe.solvers.warmup.warm_up", lambda: iter(["formulation A", "element B"]))
    code, found = answer(capsys, "warmup")
    assert (code, found["compiled"]) == (0, ["formulation A", "element B"])
    assert main(["warmup"]) == 0
    assert [line.split(" s  ")[1] for line in capsys.readouterr().out.splitlines()] == ["formulation A", "element B"]
    assert main(["warmup", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("run", "eig", "compare", "export", "check", "warmup", "gui", "examples"):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0
        assert command in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "exit codes:" in capsys.readouterr().out


def test_ctrl_c_has_its_own_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mb, "linearize", interrupted, raising=False)
    assert main(["eig", "heavy_top"]) == 130


def test_a_reader_may_leave_early() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mbframe.cli", "examples"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait() == 0


def test_the_module_can_be_called(broken: str) -> None:
    command = [sys.executable, "-m", "mbframe.cli", "check", broken]
    process = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert process.returncode == 2
    assert process.stderr.startswith("mbframe: 5 problems:")


# ---- broken ends: arguments, Ctrl-C, closed and full outputs ----


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["run", "heavy_top", "--t-end", "soon"], ["walk"], [], ["run", "heavy_top", "--json", "--quiet"]],
    ids=" ".join,
)
def test_wrong_arguments_under_json_are_an_object(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out)
    assert found["error"] == "UsageError"
    assert "usage: mbframe" in found["message"]
    assert main(arguments) == 2
    assert "usage: mbframe" in capsys.readouterr().err or "--json" in arguments


def test_ctrl_c_under_json_is_an_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mb, "linearize", interrupted, raising=False)
    code, found = answer(capsys, "eig", "heavy_top")
    assert (code, found) == (130, {"error": "Interrupted", "message": "stopped"})


STOPPED_WHILE_LOADING = """
import sys

class Stopped:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Stopped())
from mbframe.cli import main
sys.exit(main())
"""


def test_ctrl_c_is_heard_while_modules_are_loaded() -> None:
    command = [sys.executable, "-c", STOPPED_WHILE_LOADING, "run", "four_bar", "--json"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert (found.returncode, found.stderr) == (130, "")
    assert json.loads(found.stdout) == {"error": "Interrupted", "message": "stopped"}


STOPPED_BEHIND_THE_LAST_WORD = """
import atexit, os, signal, sys

class Output:
    def __getattr__(self, name):
        return getattr(sys.__stdout__, name)

    def flush(self):
        sys.__stdout__.flush()
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv.pop(1) == "flushing":
    sys.stdout = Output()
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
from mbframe.cli import main
code = main()
os.kill(os.getpid(), signal.SIGINT)
sys.exit(code)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("moment", "code"), [("flushing", 130), ("ending", 0)])
def test_ctrl_c_behind_the_last_word_takes_nothing_back(moment: str, code: int) -> None:
    command = [sys.executable, "-c", STOPPED_BEHIND_THE_LAST_WORD, moment, "examples", "--json"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert (found.returncode, found.stderr) == (code, "")
    assert "examples" in json.loads(found.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
@pytest.mark.parametrize("target", ["m.json", "run.h5", "run.csv"])
def test_files_that_cannot_be_written_have_the_code_of_failures(target: str, tmp_path: Path) -> None:
    program = (
        "import resource, sys; from mbframe.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); sys.exit(main())"
    )
    what = ["export", "four_bar"] if target == "m.json" else ["run", "four_bar", "--t-end", "0.1", "--json", "--output"]
    command = [sys.executable, "-c", program, *what, str(tmp_path / target)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert "File too large" in found.stdout + found.stderr
    assert found.returncode == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
def test_a_stream_without_room_says_once_where_its_rows_are(tmp_path: Path) -> None:
    program = (
        "import resource, sys; from mbframe.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (12_000_000,) * 2); sys.exit(main())"
    )
    arguments = ["run", "simple_pendulum", "--t-end", "5000", "--dt", "1e-2", "--output", str(tmp_path / "run.h5")]
    command = [sys.executable, "-c", program, *arguments, "--integrator", "RungeKutta4"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert found.returncode == 1
    assert found.stderr.count("the rows before") == 1
    assert len(mb.load_result(tmp_path / "run.h5").t) > 0


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_that_is_stopped_keeps_its_rows(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows that were computed, as a result; the table is not there, whole or half."""
    from mbframe.solvers import run

    advance = run.Run._advance

    def until(self: Any, steps: int) -> int:
        if float(self.eq.work["t"]) > 0.1:
            raise KeyboardInterrupt
        return advance(self, min(steps, 20))

    monkeypatch.setattr(run.Run, "_advance", until)
    target = tmp_path / f"run{suffix}"
    code, found = answer(
        capsys,
        "run",
        "heavy_top",
        "--t-end",
        "9",
        "--dt",
        "1e-3",
        "--integrator",
        "RungeKutta4",
        "--output",
        str(target),
    )
    assert code == 130
    assert not found["completed"]
    assert found["output"] == str(tmp_path / "run.partial.h5")
    assert [file.name for file in tmp_path.iterdir()] == ["run.partial.h5"]
    kept = mb.load_result(tmp_path / "run.partial.h5")
    assert 0.1 < kept.t[-1] < 0.2
    assert not kept.info.completed


def test_a_table_that_is_stopped_while_it_is_written_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mb.Result, "export", interrupted)
    assert main(["run", "heavy_top", "--t-end", "0.1", "--output", str(tmp_path / "run.csv")]) == 130
    assert "the rows of the run are in" in capsys.readouterr().err
    assert mb.load_result(tmp_path / "run.partial.h5").t[-1] == 0.1
    assert main(["run", "heavy_top", "--t-end", "0.1", "--output", str(tmp_path / "run.csv"), "--json"]) == 130
    told = json.loads(capsys.readouterr().out)
    assert (told["error"], "run.partial-2.h5" in told["message"]) == ("Interrupted", True)
    monkeypatch.undo()
    assert main(["run", "heavy_top", "--t-end", "0.1", "--output", str(tmp_path / "run.csv"), "--quiet"]) == 0
    # What stopped runs left stays: another one neither takes its name nor removes it.
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.csv", "run.partial-2.h5", "run.partial.h5"]


def test_runs_to_one_table_do_not_share_their_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two at a time: while one waits in the middle, the other begins and ends."""
    first = "import mbframe.cli as c, sys; sys.exit(c.main(sys.argv[1:]))"
    words = ["run", "heavy_top", "--output", str(tmp_path / "run.csv"), "--quiet"]
    both = [
        subprocess.Popen([sys.executable, "-c", first, *words, "--t-end", end], stderr=subprocess.PIPE, text=True)
        for end in ("2", "2.5")
    ]
    told = [process.communicate(timeout=200)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    last = float((tmp_path / "run.csv").read_text().splitlines()[-1].split(",")[0])
    assert last in (2.0, 2.5)
    assert [file.name for file in tmp_path.iterdir()] == ["run.csv"]


def test_a_comparison_that_is_stopped_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mbframe.analysis.laboratory import compare

    run, calls = compare.Experiment._run, []

    def stopped(self: Any, method: Any) -> Any:
        calls.append(method)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return run(self, method)

    monkeypatch.setattr(compare.Experiment, "_run", stopped)
    monkeypatch.setattr(compare, "measured", None)  # no reference is computed after Ctrl-C
    command = ("compare", "simple_pendulum", "--t-end", "0.02", "--dt", "0.01", "--integrators", "RungeKutta4")
    command += ("--repeats", "1")
    code, found = answer(capsys, *command)
    assert code == 130
    assert len(found["table"]) == 2
    assert not found["completed"]
    assert found["notes"] == ["stopped by the user after 2 of 3 methods: there is no reference"]


def test_a_report_that_is_stopped_leaves_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mbframe.analysis.laboratory.comparison.Comparison.report", stop)
    command = ("compare", "simple_pendulum", "--t-end", "0.02", "--dt", "0.01", "--integrators", "RungeKutta4")
    code, found = answer(capsys, *command, "--repeats", "1", "--report", str(tmp_path / "page.html"))
    assert code == 130
    assert len(found["table"]) == 3
    assert not found["completed"]
    assert found["report"] is None
    assert "stopped by the user before" in found["notes"][-1]


CHECKOUT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="streams and devices of POSIX")
@pytest.mark.parametrize(
    ("output", "code"), [("<&- >&-", 0), (">/dev/full", 1), (">/dev/full 2>/dev/full", 1), (">&- 2>&-", 0)]
)
@pytest.mark.parametrize("command", ["examples", "check simple_pendulum --json"])
def test_outputs_that_take_nothing(output: str, code: int, command: str) -> None:
    process = subprocess.run(
        f"{sys.executable} -m mbframe.cli {command} {output}",
        shell=True,
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    assert process.returncode == code
    assert "Traceback" not in process.stderr
    assert "Exception ignored" not in process.stderr
    assert process.stderr.count("\n") == (output == ">/dev/full")


def test_names_cannot_control_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escapes of the terminal in names of a stranger's model are shown, not sent."""
    evil = "a\x1b]0;owned\x07\x9b31m\u202eb"
    system = mb.System(evil, gravity=(0.0, 0.0, 0.0))
    system.add(mb.RigidBody(evil, mass=1.0, inertia=(1.0, 1.0, 1.0)))
    mb.save(system, tmp_path / "evil.json", simulation={"t_end": 0.01})
    for command in (["run"], ["check"], ["eig"]):
        assert main([*command, str(tmp_path / "evil.json")]) == 0
    (tmp_path / "evil.json").write_text((tmp_path / "evil.json").read_text().replace('"mass": 1.0', '"mass": -1.0'))
    assert main(["run", str(tmp_path / "evil.json")]) == 2
    captured = capsys.readouterr()
    assert not set("\x1b\x07\x9b\u202e") & set(captured.out + captured.err)
    assert r"a\x1b]0;owned" in captured.out


def test_headers_of_tables_are_no_formulas(tmp_path: Path) -> None:
    system = mb.System("sheet")
    for name in ("=cmd", "+1", "-1", "@a", "fine", "x\x1by", " =b", "\uff1dc", "d;=e", "f; -g", "h-i;j"):
        system.add(mb.PointMass(name, mass=1.0))
    mb.simulate(system, 0.01, t_eval=[0.0, 0.01]).export(tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().splitlines()[0].split(",")
    assert [name for name in header if name.startswith(("=", "+", "-", "@"))] == []
    assert {"'=cmd.position.x [m]", "'+1.position.x [m]", "'-1.position.x [m]", "'@a.position.x [m]"} <= set(header)
    assert {"fine.position.x [m]", r"x\x1by.position.x [m]", "h-i;j.position.x [m]"} <= set(header)
    assert {"' =b.position.x [m]", "'\uff1dc.position.x [m]"} <= set(header)
    assert {"d;'=e.position.x [m]", "f;' -g.position.x [m]"} <= set(header)  # columns of some languages end with ;


def test_absurd_sizes_are_refused_with_those_that_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyvista")
    mb.simulate(mb.examples.heavy_top(), 0.1).save(tmp_path / "run.h5")
    film = str(tmp_path / "film.mp4")
    assert main(["export", str(tmp_path / "run.h5"), film, "--size", "100000x100000"]) == 2
    assert re.search(r"a height of \d+ to \d+ pixels", capsys.readouterr().err)


def test_whole_numbers_of_thousands_of_digits(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"format": ' + "1" * 5001 + "}")
    with pytest.raises(mb.ModelError, match="a whole number of thousands of digits"):
        mb.load(tmp_path / "model.json")


@pytest.mark.parametrize("fps", ["1e9", "1e300", "1001"])
def test_absurd_frame_rates_are_refused(fps: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run.h5")
    assert main(["run", "simple_pendulum", "--t-end", "0.1", "--output", run, "--quiet"]) == 0
    assert main(["export", run, str(tmp_path / "film.glb"), "--fps", fps]) == 2
    assert "fps" in capsys.readouterr().err
