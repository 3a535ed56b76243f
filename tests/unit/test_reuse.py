"""Linearizations that share equations are those of new equations, digit for digit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.equations import reuse
from mbframe.equations.equations import Equations

ANALYSIS: Any = import_module("mbframe.analysis.linear.linearize")


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    for kept in (reuse._seen, reuse._resting):
        kept.clear()
    yield
    for kept in (reuse._seen, reuse._resting):
        kept.clear()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[mb.System]:
    """The systems for which equations were made."""
    found: list[mb.System] = []

    def counted(system: mb.System, formulation: Any = None) -> Equations:
        found.append(system)
        return Equations(system, formulation)

    monkeypatch.setattr(reuse, "Equations", counted)
    return found


def numbers(lin: Any) -> list[np.ndarray]:
    """All that a linearization tells, as arrays."""
    e = lin.equations
    parts = [getattr(e, name) for name in vars(e) if name != "places"]
    shapes = [np.concatenate([s.translation, s.rotation, s.modal]) for m in lin.modes for s in m.shape.values()]
    return [*parts, lin.eigenvalues, lin.residuals, lin.conditions, lin.A, lin.B, lin.C, lin.D, *shapes]


def alone(system: mb.System, *args: Any, **options: Any) -> Any:
    """The linearization with new equations."""

    @contextmanager
    def anew(system: mb.System, formulation: Any = None) -> Iterator[Equations]:
        yield Equations(system, formulation)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ANALYSIS, "borrowed", anew)
        return mb.linearize(system, *args, **options)


def assert_same(found: Any, expected: Any) -> None:
    assert [m.explanation for m in found.modes] == [m.explanation for m in expected.modes]
    assert found.stability == expected.stability
    for a, b in zip(numbers(found), numbers(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def bicycle(**parameters: float) -> mb.System:
    return mb.examples.whipple_bicycle(parameters.pop("speed", 5.0), parameters)


def oscillator(stiffness: float = 40.0, at: float = 0.0, center: float = 0.0) -> mb.System:
    """A plate on a hinge with a spring and a damper; `at` shifts the spring, `center` the centre of mass."""
    system = mb.System("oscillator")
    plate = system.add(
        mb.RigidBody("plate", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(0, 0, -1), center_of_mass=(0, 0, center))
    )
    system.add(mb.RevoluteJoint("hinge", system.ground, plate, at=(0, 0, 0), axis=(0, 1, 0)))
    ends = {"at_i": (1.5, 0, -1 + at), "at_j": (0.0, 0, -1 + at)}
    system.add(
        mb.SpringDamper("spring", system.ground, plate, stiffness=stiffness, damping=0.7, free_length=1.5, **ends)
    )
    return system


def plane_pendulum(mass: float = 1.0, spin: float = 0.0) -> mb.System:
    system = mb.System("pendulum", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=mass, inertia=0.2, position=(0, -0.5), angular_velocity=spin))
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0)))
    return system


def heavy(gravity: float) -> mb.System:
    system = bicycle()
    system.gravity = (0, 0, -gravity)
    return system


CASES: dict[str, tuple[Callable[[float], mb.System], list[float], bool]] = {
    # what is built, for which values, and whether equations can be shared
    "speed": (lambda v: bicycle(speed=v), [0.0, 2.0, 5.0, 8.0], True),
    "mass": (lambda m: bicycle(frame_mass=m), [60.0, 70.0, 85.0, 100.0], True),
    "inertia": (lambda i: bicycle(frame_Izz=i), [2.6, 2.7, 2.8, 2.9], True),
    "gravity": (heavy, [9.0, 9.5, 9.81, 1.6], True),
    "stiffness": (oscillator, [40.0, 50.0, 60.0, 5.0], True),
    "mass in the plane": (plane_pendulum, [1.0, 2.0, 3.0, 4.0], True),
    "trail": (lambda c: bicycle(trail=c), [0.06, 0.07, 0.08, 0.09], False),
    "steer axis": (lambda tilt: bicycle(steer_axis_tilt=tilt), [0.0, 0.1, 0.2, 0.0], False),
    "wheel": (lambda r: bicycle(rear_radius=r), [0.3, 0.31, 0.32, 0.33], False),
}


@pytest.mark.parametrize("case", CASES)
def test_one_system_after_the_other(case: str, made: list[mb.System]) -> None:
    build, values, shared = CASES[case]
    found = [mb.linearize(build(value)) for value in values]
    assert len(made) == (2 if shared else len(values))  # the first is not kept
    for lin, value in zip(found, values, strict=True):
        assert_same(lin, alone(build(value)))


@pytest.mark.parametrize("formulation", [None, mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles()])
def test_in_every_formulation(formulation: Any, made: list[mb.System]) -> None:
    for speed in (3.0, 4.0, 5.0, 6.0):
        system = bicycle(speed=speed)
        assert_same(mb.linearize(system, formulation=formulation), alone(system, formulation=formulation))
    assert len(made) == 2


def test_systems_in_turns(made: list[mb.System]) -> None:
    builds = [lambda k: bicycle(speed=4.0 + k), lambda k: oscillator(40.0 + k), lambda k: plane_pendulum(1.0 + k)]
    for k in range(4):
        for build in builds:
            assert_same(mb.linearize(build(k)), alone(build(k)))
    assert len(made) == 2 * len(builds)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (partial(oscillator, center=0.0), partial(oscillator, center=0.1)),  # entries of the mass matrix
        (partial(bicycle, frame_Ixz=0.0), partial(bicycle, frame_Ixz=2.4)),
        (partial(oscillator, at=0.0), partial(oscillator, at=0.2)),  # a marker more
        (partial(bicycle, steer_axis_tilt=0.0), partial(bicycle, steer_axis_tilt=0.3)),
    ],
    ids=["centre of mass", "product of inertia", "place of a spring", "axis"],
)
def test_other_entries_are_noticed(first: Callable[[], mb.System], second: Callable[[], mb.System]) -> None:
    for build in (first, first, second, second, first, second):
        assert_same(mb.linearize(build()), alone(build()))


def test_what_constraints_read_is_noticed(made: list[mb.System]) -> None:
    """A crown changes what the rolling contact reads of its markers, and with it entries of the Jacobian."""

    def disk(crown: float) -> mb.System:
        system = mb.examples.rolling_disk()
        for joint in system.joints:
            if isinstance(joint, mb.RollingDisk):
                joint.update(crown_radius=crown, radius=joint.radius - crown)
        return system

    state = mb.steady(disk(0.0))
    made.clear()
    for crown in (0.0, 0.0, 0.0, 1e-9):
        assert_same(mb.linearize(disk(crown), state), alone(disk(crown), state))
    assert len(made) == 3


class Pull(mb.PointForce):
    """A user's force that looks at more than its parameters."""

    strength = 1.0

    def wrench(self, t: float, i: Any, j: Any) -> Any:
        return -Pull.strength * j.position, np.zeros(3)


def test_users_classes_get_their_own(made: list[mb.System]) -> None:
    def build() -> mb.System:
        system = mb.System("pulled")
        ball = system.add(mb.RigidBody("ball", mass=1.0, inertia=(0.1, 0.1, 0.1)))
        system.gravity = (0, 0, 0)
        system.add(Pull("pull", ball, at=(0, 0, 0), force=(0, 0, 0)))
        return system

    for _ in range(3):
        lin = mb.linearize(build())
        np.testing.assert_allclose(sorted(lin.eigenvalues.imag)[-3:], 1.0, atol=1e-9)
    assert len(made) == 3


def test_results_do_not_disturb_each_other() -> None:
    found = [mb.linearize(bicycle(speed=v)) for v in (3.0, 4.0)]
    kept = [mb.linearize(bicycle(speed=5.0)), *found]
    before = [[np.copy(part) for part in numbers(lin)] for lin in kept]
    for v in (6.0, 7.0):
        mb.linearize(bicycle(speed=v, frame_mass=10.0 * v))
    for lin, parts in zip(kept, before, strict=True):
        for a, b in zip(numbers(lin), parts, strict=True):
            np.testing.assert_array_equal(a, b)


def test_modes_that_are_asked_for_later() -> None:
    """Shapes and residuals are found when they are asked for; the equations serve another system by then."""
    system = bicycle(speed=4.5)
    early = [mb.linearize(system) for _ in range(3)][-1]
    mb.linearize(bicycle(speed=9.0, frame_mass=50.0))
    assert_same(early, alone(bicycle(speed=4.5)))
    assert early.system is system


def test_a_system_that_is_changed_afterwards() -> None:
    system = bicycle()
    for _ in range(3):
        mb.linearize(system)
    frame: Any = system["frame"]
    frame.update(mass=50.0, velocity=(3.0, 0, 0))
    assert_same(mb.linearize(bicycle()), alone(bicycle()))
    frame.velocity = (5.0, 0, 0)
    assert_same(mb.linearize(system), alone(bicycle(frame_mass=50.0)))


def test_after_a_refusal() -> None:
    """A state that was refused leaves nothing behind."""
    unsteady = bicycle()
    unsteady["frame"].update(mass=84.0)
    wheel: Any = unsteady["front wheel"]
    for k in range(4):
        if k % 2:
            wheel.angular_velocity = (0.0, 5.0 / 0.35 + 1.0, 0.0)
            with pytest.raises(mb.AnalysisError, match="violate"):
                mb.linearize(unsteady)
            wheel.angular_velocity = (0.0, 5.0 / 0.35, 0.0)
        assert_same(mb.linearize(bicycle()), alone(bicycle()))


def test_dependent_constraints_are_found_anew() -> None:
    """Which of several dependent equations is left out is remembered from one evaluation to the next."""

    def build(kind: float) -> mb.System:
        system = mb.examples.n_four_bar(2)
        system.bodies[0].update(mass=system.bodies[0].mass + kind)
        return system

    for k in (0.0, 0.1, 0.2, 0.0):
        state = mb.equilibrium(build(k))
        assert_same(mb.linearize(build(k), state), alone(build(k), state))


def test_inputs_and_outputs() -> None:
    for stiffness in (40.0, 50.0, 60.0):
        system = oscillator(stiffness)
        load = system.add(mb.PointForce("load", system["plate"], at=(0, 0, -1), force=(0, 0, 0)))
        options = {"inputs": [load], "outputs": [("velocity", "plate"), "spring.force", "hinge.reaction.force"]}
        assert_same(mb.linearize(system, **options), alone(system, **options))


def test_in_several_threads() -> None:
    speeds = np.linspace(0.0, 10.0, 41).tolist()
    with ThreadPoolExecutor(4) as pool:
        there = mb.root_locus(mb.examples.whipple_bicycle, speeds, pool)
    here = mb.root_locus(mb.examples.whipple_bicycle, speeds)
    np.testing.assert_array_equal(there.eigenvalues, here.eigenvalues)
    assert len(reuse._resting) <= reuse.KEPT


def test_large_numbers_of_kinds_are_forgotten() -> None:
    for k in range(2 * reuse.SEEN):
        system = plane_pendulum()
        system.name = f"pendulum {k}"
        for _ in range(2):
            mb.linearize(system)
    assert len(reuse._seen) == reuse.SEEN
    assert len(reuse._resting) == reuse.KEPT
