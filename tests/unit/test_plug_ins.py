"""Users' classes from files, modules and installed packages: on the command line and for files that need them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import mbframe as mb
from mbframe import plug_ins, registry
from mbframe.cli import main
from mbframe.plug_ins import Source, import_classes, import_offered, offered

SOURCE = '''
import numpy as np
import mbframe as mb
from {helper} import HALF

print("a word of the module")


class Hook(mb.ForceElement):
    """A spring of length zero."""

    stiffness = mb.parameter(10.0, unit="N/m", minimum=0.0, help="k")

    def wrench(self, t, i, j):
        return self.stiffness * (i.position - j.position), np.zeros(3)


class Heun(mb.Integrator):
    """Two evaluations a step."""

    order = 2

    def step(self, eq, t, q, v, h):
        a, u = eq.accelerate(t, q, v)[0], eq.coordinate_rates(q, v)
        a_end, u_end = eq.accelerate(t + h, q + h * u, v + h * a)[0], eq.coordinate_rates(q + h * u, v + h * a)
        return q + HALF * h * (u + u_end), v + HALF * h * (a + a_end)
'''


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """A file with classes, which imports another one beside it."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "hook_numbers.py").write_text("HALF = 0.5\n")
    file = folder / "hooks.py"
    file.write_text(SOURCE.format(helper="hook_numbers"))
    return file


def saved(file: Path, module: str, **settings: Any) -> str:
    """A model with a force of the class `Hook` of a module, whose name is that of the class in the file."""
    made = import_module(module)
    system = mb.System("hook", gravity=(0, 0, 0))
    ball = system.add(mb.PointMass("ball", mass=2.5))
    system.add(made.Hook("spring", system.ground, ball, at_i=(0, 0, 0), at_j=(0, 0, 0), stiffness=3.0))
    system.add(made.Hook("other", system.ground, ball, at_i=(0, 0, 0), at_j=(0, 0, 0)))
    mb.save(system, file, simulation={"t_end": 0.02, "dt": 0.01} | settings)
    return str(file)


@pytest.fixture
def model(hooks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model that needs the classes; they are not known any more."""
    with monkeypatch.context() as meanwhile:
        meanwhile.syspath_prepend(str(hooks.parent))
        file = saved(tmp_path / "model.json", "hooks")
    for name in ("hooks", "hook_numbers"):
        del sys.modules[name]
    return file


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


# ---- --classes ----


def test_commands_take_classes_from_a_file(
    model: str, hooks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--classes", str(hooks)]
    code, checked = answer(capsys, "check", model, *given)
    assert (code, checked["elements"]) == (0, {"PointMass": 1, "Hook": 2})
    output = str(tmp_path / "run.h5")
    code, ran = answer(capsys, "run", model, *given, "--integrator", "Heun", "--output", output)
    assert (code, ran["settings"]["integrator"]) == (0, "Heun()")
    assert mb.load_result(output).system["spring"].stiffness == 3.0  # its classes are registered
    script = tmp_path / "model.py"
    assert answer(capsys, "export", model, str(script), *given)[0] == 0
    assert "from hooks import Hook" in script.read_text()
    assert answer(capsys, "export", output, str(tmp_path / "t.csv"), "--quantities", "ball.position.x", *given)[0] == 0
    assert answer(capsys, "explain", model, *given)[0] == 0
    assert answer(capsys, "eig", model, *given)[0] == 0


def test_a_comparison_in_processes_finds_the_classes(model: str, hooks: Path) -> None:
    hooks.write_text(hooks.read_text().replace("print(", "str("))  # other processes have outputs of their own
    arguments = ["compare", model, "--classes", str(hooks), "--integrators", "Heun", "RungeKutta4"]
    more = ["--steps", "0.01", "--repeats", "1", "--processes", "--json"]
    done = subprocess.run([sys.executable, "-m", "mbframe", *arguments, *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["table"]
    assert [row["failure"] for row in table] == ["", ""]
    assert {row["integrator"] for row in table} == {"Heun", "RungeKutta4"}


def test_modules_are_given_by_name(
    model: str, hooks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(hooks.parent))
    code, checked = answer(capsys, "check", model, "--classes", "hooks")
    assert (code, checked["elements"]["Hook"]) == (0, 2)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nowhere.py", None, "there is no such file; check the path"),
        ("empty.py", "x = 1\n", "has no classes of elements, shapes or strategies; write one"),
        ("loaded.py", "k = 1\nk = k / 0\n", r"line 2 of loaded.py, k = k / 0: ZeroDivisionError: division by zero"),
        ("wrong.py", "k = 1\ndef f(:\n", r"line 2 of wrong.py, def f\(:: SyntaxError"),
        ("leaving.py", "import sys\n\nsys.exit(0)\n", r"line 3 of leaving.py, sys.exit\(0\): SystemExit: 0"),
        ("lacking.py", "import not_there_at_all\n", r"line 1 of lacking.py.*No module named 'not_there_at_all'"),
        ("json.py", "x = 1\n", "has the name of another module, json .*rename your file"),
        ("my-parts.py", "x = 1\n", "rename it to letters, digits and _"),
        ("taken.py", "import mbframe as mb\nclass Mesh(mb.RigidBody): pass\n", "Mesh: found the name of mbframe"),
        ("no_module_here", None, "there is no such module here; a file is given with its path"),
        ("os.path/../x", None, "there is no such file"),
        ("a..b", None, "found no name of a module"),
    ],
)
def test_classes_that_cannot_be_had_are_told(
    name: str, content: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    given = str(tmp_path / name) if name.endswith(".py") else name
    code, found = answer(capsys, "check", "four_bar", "--classes", given)
    assert (code, found["error"], len(found["problems"])) == (2, "ModelError", 1)
    with pytest.raises(mb.ModelError, match=message):
        import_classes(given)


# ---- Files without their classes ----


def test_a_file_says_once_where_its_classes_came_from(model: str) -> None:
    assert json.loads(Path(model).read_text())["classes"] == {"hooks.Hook": {"module": "hooks", "file": "hooks.py"}}
    system = mb.load(model)
    assert [(one.name, one.type) for one in system.unknown] == [("spring", "hooks.Hook"), ("other", "hooks.Hook")]
    with pytest.raises(mb.ModelError) as caught:
        mb.simulate(system, 0.01)
    (problem,) = caught.value.problems
    assert problem.element == "hooks.Hook 'spring', hooks.Hook 'other'"
    assert "a class of a user from the file hooks.py; hand it over" in problem.message
    assert "--classes hooks.py, classes=[...] or mb.register" in problem.message


def test_a_class_of_a_program_is_named_by_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same file is a program when it makes the model, and a module when it gives the classes."""
    file = tmp_path / "swing.py"
    body = (
        'if __name__ == "__main__":\n    s = mb.System("s")\n    s.add(Bob("b", mass=1.0))\n    mb.save(s, "s.json")\n'
    )
    file.write_text(f"import mbframe as mb\n\n\nclass Bob(mb.PointMass):\n    pass\n\n\n{body}")
    subprocess.run([sys.executable, str(file)], cwd=tmp_path, check=True)
    content = json.loads((tmp_path / "s.json").read_text())
    assert content["classes"] == {"swing.Bob": {"module": "swing", "file": "swing.py"}}
    assert answer(capsys, "check", str(tmp_path / "s.json"), "--classes", str(file))[0] == 0
    content["elements"][0]["type"] = "__main__.Bob"  # as a notebook writes it
    (tmp_path / "s.json").write_text(json.dumps(content))
    assert answer(capsys, "check", str(tmp_path / "s.json"), "--classes", str(file))[0] == 0


@pytest.mark.parametrize(
    "name",
    [
        "trap.Hook",
        "trap.inner.Hook",
        "trap:Hook.x",
        "/etc/trap.py",
        "../trap.Hook",
        "trap.py.Hook",
        "__main__.os",
        ".Hook",
    ],
)
def test_nothing_is_imported_because_a_file_says_so(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trap.py").write_text("raise SystemError('was imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    origin = {"module": "trap", "file": "trap.py"}
    for element in (
        {"type": name, "name": "x"},
        {"type": "RigidBody", "name": "x", "mass": 1, "inertia": [1, 1, 1], "formulation": name},
        {"type": "RigidBody", "name": "x", "mass": 1, "inertia": [1, 1, 1], "shapes": [{"type": name}]},
    ):
        content = {"format": "mbframe model", "version": 2, "name": "m", "elements": [element]}
        content |= {"classes": {name: origin}, "simulation": {"integrator": name}}
        (tmp_path / "m.json").write_text(json.dumps(content))
        before = set(sys.modules)
        system = mb.load(tmp_path / "m.json")
        if not element.get("shapes"):
            with pytest.raises(mb.ModelError, match="hand it over if you trust it"):
                mb.Equations(system)
        with pytest.raises(mb.ModelError, match="hand it over if you trust it"):
            mb.load_settings(tmp_path / "m.json")
        mb.save(system, tmp_path / "again.json")
        assert "trap" not in set(sys.modules) - before


@pytest.mark.parametrize("origin", [3, {"a": 3}, {"a": {"module": 3}}, {"a": {"path": "x"}}])
def test_wrong_origins_are_a_problem_of_the_file(origin: Any, tmp_path: Path) -> None:
    content = {"format": "mbframe model", "version": 2, "name": "m", "elements": [], "classes": origin}
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(mb.ModelError, match=r"\$\.classes"):
        mb.load(tmp_path / "m.json")


# ---- Installed packages ----


def installed(folder: Path, package: str, points: str, **files: str) -> None:
    """A package with a dist-info folder, as pip leaves it."""
    (folder / package).mkdir(parents=True)
    for name, text in {"__init__": "", **files}.items():
        (folder / package / f"{name}.py").write_text(text)
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[mbframe.elements]\n{points}\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packages that offer classes, of which one is broken, and one whose entries are no modules."""
    folder = tmp_path / "site"
    hooks = SOURCE.format(helper="hookpack.numbers")
    elements = "from .hooks import Hook, Heun\n"
    installed(folder, "hookpack", "hooks = hookpack.elements", hooks=hooks, numbers="HALF = 0.5\n", elements=elements)
    installed(folder, "sadpack", "sad = sadpack.elements", elements="\nsad = 1 / 0\n")
    installed(folder, "oddpack", "odd = 1 2 3 !\n../x = /etc/passwd")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_offers_are_listed_without_importing(packages: Path) -> None:
    """Metadata that cannot be read offer nothing; numba, which reads all when it compiles first, fails with them."""
    installed(packages, "badpack", "=\nnothing")
    assert {"hookpack", "sadpack"} <= {name for name, _ in offered()}
    assert not {"hookpack", "sadpack"} & set(sys.modules)


def test_files_and_commands_find_classes_of_installed_packages(
    packages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path / "model.json", "hookpack.hooks")
    for name in [name for name in sys.modules if name.startswith("hookpack")]:
        del sys.modules[name]
    mb.load_settings(file)
    assert "hookpack" not in sys.modules  # nothing there needed it
    assert type(mb.load(file)["spring"]).__module__ == "hookpack.hooks"
    assert "sadpack" not in sys.modules
    registry._registered.clear()
    capsys.readouterr()
    assert answer(capsys, "check", file)[1]["elements"]["Hook"] == 2
    registry._registered.clear()
    code = main(["run", "four_bar", "--t-end", "0.01", "--dt", "0.001", "--integrator", "Heun", "--json"])
    told = capsys.readouterr()
    assert (code, json.loads(told.out)["settings"]["integrator"]) == (0, "Heun()")
    assert "installed package 'sadpack': entry point 'sad' could not be imported: line 2 of elements.py" in told.err


def test_a_broken_package_is_named_where_its_class_is_needed(packages: Path, tmp_path: Path) -> None:
    content = {"format": "mbframe model", "version": 2, "name": "m"}
    content |= {"elements": [{"type": "sadpack.elements.Magnet", "name": "x"}]}
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(mb.ModelError, match=r"'sadpack'.*line 2 of elements.py, sad = 1 / 0: ZeroDivisionError.*mend"):
        mb.simulate(mb.load(tmp_path / "m.json"), 1.0)
    assert import_offered("hookpack") == []


def test_a_file_does_not_choose_what_is_imported_of_a_package(packages: Path, tmp_path: Path) -> None:
    """Only what the entry point names is imported, whatever module of the package a file names."""
    (packages / "hookpack" / "trap.py").write_text("raise SystemError('was imported')\n")
    content = {"format": "mbframe model", "version": 2, "name": "m"}
    content |= {"elements": [{"type": "hookpack.trap.Magnet", "name": "x"}]}
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(mb.ModelError, match="a class of a user; hand it over"):
        mb.simulate(mb.load(tmp_path / "m.json"), 1.0)
    assert "hookpack.trap" not in sys.modules


BEGUN = ("import gui.app.application", "import sys; from mbframe.cli import main; sys.argv[1:] = ['schema']; main()")


@pytest.mark.parametrize("begin", BEGUN)
def test_started_processes_import_nothing_from_the_folder_of_a_model(begin: str, tmp_path: Path) -> None:
    """A spawned process of Python looks for `multiprocessing` in the present folder first."""
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "multiprocessing.py").write_text("open('trace', 'w').write('imported')\n")
    program = tmp_path / "program.py"
    program.write_text(
        f"""
if __name__ == "__main__":
    {begin}
    import multiprocessing

    process = multiprocessing.get_context("spawn").Process(target=print)
    process.start()
    process.join()
    assert process.exitcode == 0
"""
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path / "sent", env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "sent" / "trace").exists()


# ---- Files as they were when somebody agreed ----


ONCE = """
import mbframe as mb
import numpy as np


class Pull(mb.ForceElement):
    size = mb.parameter(1.0, unit="N", help="F")

    def wrench(self, t, i, j):
        return np.array([{factor} * self.size, 0.0, 0.0]), np.zeros(3)
"""


def test_exactly_what_was_looked_at_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plug_ins, "_loaded", {})
    file = tmp_path / "pulls.py"
    file.write_text(ONCE.format(factor=2))
    seen = Source.of(str(file))
    assert "pulls" not in sys.modules  # it was only read
    file.write_text(ONCE.format(factor=3))
    with pytest.raises(mb.ModelError, match="is another file than the one that was allowed"):
        seen.load()
    assert "pulls" not in sys.modules
    now = seen.now()
    (pull,) = now.load()
    assert (pull.__module__, str(tmp_path) in sys.path) == ("pulls", False)
    assert now.load() == [pull]

    def acceleration() -> float:
        kind: Any = registry.registered(mb.ForceElement)["pulls.Pull"]
        system = mb.System("m", gravity=(0, 0, 0))
        ball = system.add(mb.PointMass("ball", mass=1.0))
        system.add(kind("pull", system.ground, ball))
        return float(mb.evaluate(system).acceleration("ball")[0, 0])

    assert acceleration() == 3.0
    stamp = file.stat()
    file.write_text(ONCE.format(factor=4))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # as long and as old: bytecode would be that of before
    (again,) = now.now().load()
    assert again is not pull
    assert acceleration() == 4.0


def test_a_module_that_cannot_be_imported_leaves_the_former(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plug_ins, "_loaded", {})
    file = tmp_path / "pushes.py"
    file.write_text(ONCE.format(factor=2))
    source = Source.of(str(file))
    (kind,) = source.load()
    file.write_text("import mbframe as mb\nx = 1 / 0\n")
    with pytest.raises(mb.ModelError, match=r"line 2 of pushes.py, x = 1 / 0"):
        source.now().load()
    assert sys.modules["pushes"].Pull is kind
    assert registry.registered(mb.ForceElement)["pushes.Pull"] is kind


def test_modules_are_found_without_importing_their_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "quiet"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemError('was imported')\n")
    (package / "elements.py").write_text(ONCE.format(factor=1))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert Source.of("quiet.elements").path == str(package / "elements.py")
    assert "quiet" not in sys.modules
    with pytest.raises(mb.ModelError, match="there is no such module here"):
        Source.of("quiet.nothing")
