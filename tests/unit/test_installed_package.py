"""A package outside of the checkout, installed with pip, that has a class of every kind: it works like the library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "craft"
version = "1.0"

[project.entry-points."mbframe.elements"]
craft = "craft.elements"

[tool.setuptools]
packages = ["craft"]
"""

ELEMENTS = '''
import numpy as np
import mbframe as mb


class Flywheel(mb.Body):
    """A homogeneous disk about its z axis."""

    radius = mb.parameter(kind="number", unit="m", above=0.0, help="of the disk")
    thickness = mb.parameter(0.05, unit="m", above=0.0, help="along z")

    def mass_properties(self):
        mass = 7850.0 * np.pi * self.radius**2 * self.thickness
        across = mass * (3 * self.radius**2 + self.thickness**2) / 12
        return mass, np.zeros(3), np.diag([across, across, mass * self.radius**2 / 2])


class Degrees(mb.PlanarAngle):
    """q = (x, y, angle in degrees)."""

    q_names = [("position.x", "m"), ("position.y", "m"), ("angle", "deg")]

    def coordinates(self, position, rotation, velocity, angular_velocity):
        q, v = super().coordinates(position, rotation, velocity, angular_velocity)
        return q * [1.0, 1.0, 180 / np.pi], v

    def poses(self, q):
        return super().poses(q * [1.0, 1.0, np.pi / 180])

    def angles(self, q):
        return np.radians(q[:, 2])

    @staticmethod
    def prepare(body, q, frame):
        c, s = np.cos(q[2] * np.pi / 180), np.sin(q[2] * np.pi / 180)
        frame[0, 0], frame[0, 1], frame[0, 2] = c, -s, 0.0
        frame[1, 0], frame[1, 1], frame[1, 2] = s, c, 0.0
        frame[2, 0], frame[2, 1], frame[2, 2] = 0.0, 0.0, 1.0

    @staticmethod
    def rates(body, q, v, q_rate):
        q_rate[0], q_rate[1], q_rate[2] = v[0], v[1], v[2] * 180 / np.pi


class OffsetHinge(mb.Joint):
    """A hinge from three conditions."""

    def constraints(self):
        across = [mb.Perpendicular(self.i.z, axis) for axis in (self.j.x, self.j.y)]
        return [mb.Coincident(self.i, self.j), *across]


class Ball(mb.Joint):
    """A ball in a socket."""

    def constraints(self):
        return [mb.Coincident(self.i, self.j)]


class SlowThruster(mb.ForceElement):
    """A force along x that follows its command with a delay: z' = (command - z) / delay."""

    states = 1
    command = mb.parameter(1.0, unit="N", help="force that is asked for")
    delay = mb.parameter(0.5, unit="s", above=0.0, help="time constant")
    outputs = {"thrust": "N"}

    def state_rate(self, t, i, j, z):
        return [(self.command - z[0]) / self.delay]

    def wrench(self, t, i, j, z):
        return z[0] * i.axes[:, 0], np.zeros(3)

    def thrust(self, t, i, j, z):
        return z[0]


class NoDrift(mb.BasicConstraint):
    """The second body's marker does not move along its own y axis, like a skate."""

    equations = 1

    def velocity_residual(self, t, i, j):
        return [j.axes[:, 1] @ j.velocity]


class Height(mb.Measure):
    """How far the second point is above the first, along global z."""

    def value(self, t, i, j):
        return j.position[2] - i.position[2]

    def gradient(self, t, i, j, g):
        g[0, 2], g[0, 14] = -1.0, 1.0


class Heun(mb.Integrator):
    """Two evaluations a step, second order."""

    order = 2

    def step(self, eq, t, q, v, h):
        a, u = eq.accelerate(t, q, v)[0], eq.coordinate_rates(q, v)
        q_end, v_end = q + h * u, v + h * a
        a_end, u_end = eq.accelerate(t + h, q_end, v_end)[0], eq.coordinate_rates(q_end, v_end)
        return q + h / 2 * (u + u_end), v + h / 2 * (a + a_end)


class Dense(mb.Acceleration):
    """The whole system of equations with NumPy."""

    def solve(self, eq, t, q, v):
        e = eq.evaluate(t, q, v)
        n, m = len(e.force), len(e.gamma)
        M, J = e.mass.toarray(), e.jacobian.toarray()
        A = np.block([[M, J.T], [J, np.zeros((m, m))]])
        x = np.linalg.solve(A, np.concatenate([e.force, e.gamma]))
        return x[:n], x[n:]


class Gentle(mb.DirectCorrection):
    """Corrects at every step, as its base does."""

    def correct(self, eq, t, q, v):
        return super().correct(eq, t, q, v)
'''

STUDIES = '''
import mbframe as mb
from craft.elements import Ball, Flywheel, Height, NoDrift, OffsetHinge, SlowThruster


def workshop(delay=0.5):
    """A system with every class of elements."""
    system = mb.System("workshop")
    wheel = system.add(Flywheel("wheel", radius=0.3, position=(0.4, 0.0, 0.0)))
    system.add(OffsetHinge("hinge", system.ground, wheel, at=(0, 0, 0), axis=(0, 1, 0)))
    bob = system.add(mb.RigidBody("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.4, 0.0, -1.0)))
    system.add(Ball("ball", wheel, bob, at=(0.4, 0, 0)))
    probe = system.add(mb.PointMass("probe", mass=2.0, position=(5, 0, 0)))
    system.add(SlowThruster("thruster", system.ground, probe, delay=delay))
    skate = system.add(mb.RigidBody("skate", mass=1.0, inertia=(1, 1, 1), position=(0, 3, 0), velocity=(1, 0, 0)))
    system.add(mb.PlanarJoint("ice", system.ground, skate, at=(0, 3, 0), axis=(0, 0, 1)))
    system.add(NoDrift("blade", system.ground, skate, at=(0, 3, 0)))
    system.add(Height("height", system.ground, bob))
    return system


def hanging(radius):
    """A wheel that hangs."""
    system = mb.System("hanging")
    wheel = system.add(Flywheel("wheel", radius=float(radius), position=(0.0, 0.0, -1.0)))
    system.add(OffsetHinge("hinge", system.ground, wheel, at=(0, 0, 0), axis=(0, 1, 0)))
    return system


def roots(system):
    """Its eigenvalues."""
    return mb.linearize(system).eigenvalues
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package was installed into."""
    source = tmp_path_factory.mktemp("source")
    (source / "craft").mkdir()
    (source / "craft" / "__init__.py").write_text("")
    (source / "craft" / "elements.py").write_text(ELEMENTS)
    (source / "craft" / "studies.py").write_text(STUDIES)
    (source / "pyproject.toml").write_text(PROJECT)
    target = tmp_path_factory.mktemp("site")
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *flags, "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip cannot install here: {done.stderr[-300:]}")
    return target


@pytest.fixture
def python(site: Path, tmp_path: Path) -> Any:
    """Runs a program, or a module with arguments, in a process that has the package."""

    def run(*arguments: str, code: int = 0) -> str:
        environment = {**os.environ, "PYTHONPATH": str(site)}
        words = ["-c", dedent(arguments[0])] if "\n" in arguments[0] else list(arguments)
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == code, done.stderr[-3000:]
        return done.stdout

    return run


def test_models_travel_and_run_with_every_class(python: Any, tmp_path: Path) -> None:
    python("""
        import mbframe as mb
        from craft.elements import Dense, Gentle, Heun
        from craft.studies import workshop
        settings = {"t_end": 0.2, "dt": 0.01, "integrator": Heun(), "acceleration": Dense(), "stabilization": Gentle()}
        mb.save(workshop(), "workshop.json", simulation=settings)
        open("workshop.py", "w").write(mb.to_python(workshop(), simulation=settings))
    """)
    told = python("""
        import sys
        import numpy as np
        import mbframe as mb
        assert "craft" not in sys.modules
        system, settings = mb.load("workshop.json"), mb.load_settings("workshop.json")
        assert system.unknown == [] and type(system["wheel"]).__module__ == "craft.elements"
        result = mb.simulate(system, output="run.h5", **settings)
        usual = mb.simulate(system, 0.2, dt=0.01, integrator=mb.RungeKutta4())
        assert np.allclose(result.position("bob"), usual.position("bob"), atol=1e-3)
        exact = 1 - np.exp(-result.t / 0.5)
        assert np.allclose(result.quantity("thruster.thrust").values, exact, atol=1e-4)
        assert np.allclose(result.quantity("height").values, result.position("bob")[:, 2], atol=1e-12)
        assert np.abs(result.violation.position).max() < 1e-9
        again = mb.load_result("run.h5")
        assert np.array_equal(again.q, result.q) and again.energy.total.shape == result.t.shape
        program = {}
        exec(open("workshop.py").read(), program)
        assert np.array_equal(program["result"].q, result.q)
        text = mb.to_python(system)
        assert "from craft.elements import Ball" in text
        print("fine")
    """)
    assert told.strip() == "fine"
    # Where the package is not installed, the same files open and play.
    plain = """
import numpy as np, mbframe as mb
system = mb.load("workshop.json")
assert {one.name for one in system.unknown} == {"wheel", "hinge", "ball", "thruster", "blade", "height"}
mb.save(system, "again.json")
assert mb.load_result("run.h5").quantity("bob.position.z").values[0] == -1.0
"""
    done = subprocess.run([sys.executable, "-c", plain], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((tmp_path / name).read_text())["elements"] for name in ("workshop.json", "again.json"))
    assert first == second


@pytest.mark.full
def test_commands_know_its_classes_and_methods(python: Any, tmp_path: Path) -> None:
    python("""
        import mbframe as mb
        from craft.studies import hanging, workshop
        mb.save(workshop(), "workshop.json")
        mb.save(hanging(0.3), "hanging.json")
    """)
    methods = ["--integrator", "Heun", "--acceleration", "Dense", "--stabilization", "Gentle"]
    ran = json.loads(
        python("-m", "mbframe", "run", "workshop.json", "--t-end", "0.05", "--dt", "0.01", *methods, "--json")
    )
    assert (ran["settings"]["integrator"], ran["settings"]["acceleration"]) == ("Heun()", "Dense()")
    checked = json.loads(python("-m", "mbframe", "check", "workshop.json", "--json"))
    assert checked["elements"]["Flywheel"] == 1
    assert checked["freedom"]["count"] == 1 + 3 + 3 + 2
    roots = json.loads(python("-m", "mbframe", "eig", "hanging.json", "--json"))
    assert roots["eigenvalues"][-1][1] == pytest.approx((9.81 / (1 + 0.3**2 / 4 + 0.05**2 / 12)) ** 0.5, rel=1e-9)
    python("-m", "mbframe", "export", "workshop.json", "workshop.py")
    assert "from craft.elements import Flywheel" in (tmp_path / "workshop.py").read_text()
    options = ["--integrators", "Heun", "--accelerations", "Dense", "AugmentedFormulation", "--steps", "0.01"]
    command = ["compare", "hanging.json", "--t-end", "0.05", "--repeats", "1", *options, "--processes", "--json"]
    table = json.loads(python("-m", "mbframe", *command))["table"]
    assert [row["failure"] for row in table] == ["", ""]


@pytest.mark.full
def test_sweeps_on_processes_and_its_formulation(python: Any) -> None:
    told = python("""
        import numpy as np
        import mbframe as mb
        from craft.elements import Degrees
        from craft.studies import hanging, roots
        if __name__ == "__main__":
            found = mb.sweep(hanging, [0.2, 0.4], roots, executor="processes")
            exact = [(9.81 / (1 + r**2 / 4 + 0.05**2 / 12)) ** 0.5 for r in (0.2, 0.4)]
            assert np.allclose([max(one.imag) for one in found], exact, rtol=1e-9)
            plane = mb.System("swing", dimension=2, gravity=(0, -9.81))
            bar = plane.add(mb.PlanarBody("bar", mass=1.0, inertia=0.3, position=(1, 0), formulation=Degrees()))
            plane.add(mb.RevoluteJoint("A", plane.ground, bar, at=(0, 0)))
            mb.save(plane, "swing.json")
            again = mb.load("swing.json")
            assert type(again["bar"].formulation) is Degrees
            usual = mb.simulate(plane, 0.2, dt=1e-2, formulation=mb.PlanarAngle())
            other = mb.simulate(again, 0.2, dt=1e-2)
            assert np.allclose(other.q[:, 2], np.degrees(usual.angle(bar)), atol=1e-7)
            print("fine")
    """)
    assert told.strip() == "fine"


WINDOW = """
import os
import sys
import time

sys.path.insert(0, CHECKOUT)
import mbframe as mb


def until(app, holds, what):
    end = time.monotonic() + 300.0
    while not holds():
        assert time.monotonic() < end, (what, [message.text for message in app.document.messages])
        app.qt.processEvents()
        time.sleep(0.005)


if __name__ == "__main__":
    from gui.app.application import Application

    app = Application(["workshop.json"], warm=False)
    app.open()
    document = app.document
    until(app, lambda: len(document.system.bodies) == 4, "the model")
    window = app.window
    assert document.system.unknown == []
    names = ("Flywheel", "OffsetHinge", "Ball", "SlowThruster", "NoDrift", "Height")
    until(app, lambda: all(f"add_craft.elements.{name}" in window.actions_ for name in names), "the menu")
    chosen = document.runs.settings
    methods = [chosen.integrator, chosen.acceleration, chosen.stabilization]
    assert [type(one).__name__ for one in methods] == ["Heun", "Dense", "Gentle"], methods
    window.runner.start()
    until(app, lambda: document.runs.current is not None and document.runs.current.complete, "the run")
    result = document.runs.current.result
    assert result.quantity("thruster.thrust").values[-1] > 0.2
    document.remove(document.system["thruster"])
    document.undo()
    assert type(document.system["thruster"]).__module__ == "craft.elements"
    if os.environ.get("DISPLAY"):
        viewer = mb.show(mb.load("workshop.json"), block=False)
        viewer.wait(0.2)
        viewer.close()
    from gui.app import editing

    def given_back(arguments):
        edited = editing.Editing(arguments[1])
        edited.open(document)
        edited.give_back(document)
        return ""

    editing._run, editing.hindrance = given_back, lambda: ""
    made = editing.edit(mb.load("workshop.json"))
    assert type(made["wheel"]).__module__ == "craft.elements"
    app.solver.close()
    print("fine", flush=True)
    os._exit(0)
"""


@pytest.mark.full
def test_the_application_runs_and_edits_it(python: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PySide6")
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.delenv("DISPLAY", raising=False)
    for kind in ("CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    python("""
        import mbframe as mb
        from craft.elements import Dense, Gentle, Heun
        from craft.studies import workshop
        settings = {"t_end": 0.2, "dt": 0.01, "integrator": Heun(), "acceleration": Dense(), "stabilization": Gentle()}
        mb.save(workshop(), "workshop.json", simulation=settings)
    """)
    (tmp_path / "window.py").write_text(WINDOW.replace("CHECKOUT", repr(str(Path(__file__).parents[2]))))
    assert python("window.py").strip() == "fine"
