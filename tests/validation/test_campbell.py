"""Campbell diagrams against closed forms, independent finite elements, and a small periodic model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbframe as mb
from mbframe.analysis.linear.linear_equations import TurningFrame
from mbframe.analysis.rotors.campbell import Follower, _diagram
from mbframe.analysis.rotors.turning import exponents
from mbframe.analysis.rotors.whirl import Whirls

from .random_rotors import modes_of, rotor
from .test_rotors import CASES, reference, shaft, with_disks

Z = np.array([0.0, 0.0, 1.0])


# --- a rigid rotor in an elastic bearing: fixed frame -----------------------------------------------------------------

MASS, POLAR, DIAMETRAL = 3.0, 0.08, 0.05
STIFFNESS, DAMPING, TILTING = (4.0e4, 4.0e4), 20.0, 90.0


def jeffcott(speed: float, stiffness: tuple[float, float] = STIFFNESS) -> mb.System:
    """A disk on a hinge in a light housing, which springs and torsional springs hold in its middle."""
    system = mb.System("Jeffcott", gravity=(0, 0, 0))
    housing = system.add(mb.RigidBody("housing", mass=1e-6, inertia=(1e-9, 1e-9, 1e-9)))
    disk = mb.RigidBody("disk", mass=MASS, inertia=(DIAMETRAL, DIAMETRAL, POLAR), angular_velocity=(0, 0, speed))
    system.add(disk)
    system.add(mb.RevoluteJoint("spindle", housing, disk, at=(0, 0, 0), axis=Z))
    bearing = mb.Bushing("bearing", system.ground, housing, at=(0, 0, 0))
    bearing.update(stiffness=np.diag([*stiffness, 1e5, TILTING, TILTING, 1e3]))
    bearing.update(damping=np.diag([DAMPING, DAMPING, 0, 0, 0, 0]))
    system.add(bearing)
    return system


def tilting(speed: float) -> tuple[float, float]:
    """I_d w^2 - I_p W w - k = 0: forward and backward, rad/s."""
    root = np.sqrt(POLAR**2 * speed**2 + 4.0 * DIAMETRAL * TILTING)
    return (POLAR * speed + root) / (2.0 * DIAMETRAL), (root - POLAR * speed) / (2.0 * DIAMETRAL)


def test_a_rigid_rotor_has_the_closed_form():
    speeds = np.linspace(0.0, 220.0, 23)
    diagram = mb.campbell(jeffcott, speeds, multiples=(1.0, 2.0))
    assert not diagram.warnings
    assert diagram.stable.all()
    translation = np.sqrt(STIFFNESS[0] / MASS - (0.5 * DAMPING / MASS) ** 2)
    for k, speed in enumerate(speeds):
        forward, backward = tilting(speed)
        found = 2.0 * np.pi * diagram.frequencies[k]
        for omega, word in ((forward, "forward"), (backward, "backward")):
            n = int(np.nanargmin(np.abs(found - omega)))
            assert found[n] == pytest.approx(omega, rel=1e-6)
            assert diagram.whirl[k, n] == (word if speed else "")
        moved = np.flatnonzero(np.abs(found - translation) < 1e-4 * translation)
        assert len(moved) == 2
        np.testing.assert_allclose(diagram.damping[k, moved], 0.5 * DAMPING / np.sqrt(STIFFNESS[0] * MASS), rtol=1e-5)
    # Each column is one mode throughout: the forward tilt rises, the backward one falls
    for n in range(diagram.frequencies.shape[1]):
        assert np.ptp(np.sign(np.diff(diagram.frequencies[:, n]).round(6))) <= 1.0
    expected = [(translation, 1.0)]  # a thin disk has no forward critical speed of its tilt
    expected += [(0.5 * translation, 2.0), (0.5 * translation, 2.0), *_tilt_criticals(2.0)]
    found = sorted((c.speed, c.multiple) for c in diagram.critical_speeds if c.whirl)
    np.testing.assert_allclose(found, sorted(expected), rtol=1e-6)


def _tilt_criticals(multiple: float) -> list[tuple[float, float]]:
    """w = k W in I_d w^2 -+ I_p W w - k_r = 0."""
    found = []
    for sign in (1.0, -1.0):
        square = DIAMETRAL * multiple**2 - sign * POLAR * multiple
        if square > 0.0:
            found.append((float(np.sqrt(TILTING / square)), multiple))
    return [pair for pair in found if pair[0] <= 220.0]


def test_unlike_stiffnesses_of_a_bearing_make_whirl_to_and_fro():
    diagram = mb.campbell(lambda speed: jeffcott(speed, (4.0e4, 6.0e4)), [20.0, 60.0])
    for stiffness in (4.0e4, 6.0e4):
        omega = np.sqrt(stiffness / MASS - (0.5 * DAMPING / MASS) ** 2) / (2.0 * np.pi)
        n = int(np.nanargmin(np.abs(diagram.frequencies[0] - omega)))
        np.testing.assert_allclose(diagram.frequencies[:, n], omega, rtol=1e-6)
        assert diagram.whirl[:, n].tolist() == ["", ""]


# --- flexible shafts: turning frame -----------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", CASES)
def test_flexible_rotors_are_those_of_finite_elements(case):
    diameter, theory, disks, pinned = CASES[case]
    part = with_disks(shaft(diameter, theory), disks) if disks else shaft(diameter, theory)
    interfaces = sorted({*pinned, *(disk[0] for disk in disks)})
    modes = modes_of(part, "craig_bampton", interfaces)
    model = reference(diameter, theory, disks, pinned)
    slowest = abs(model.whirl(0.0)[0])
    speeds = np.linspace(0.0, 2.2, 6) * slowest
    diagram = mb.campbell(lambda speed: rotor(modes, "node", speed, pinned), speeds)
    assert not diagram.warnings
    for k, speed in enumerate(speeds):
        for omega in model.whirl(speed)[:4]:
            n = int(np.nanargmin(np.abs(2.0 * np.pi * diagram.frequencies[k] - abs(omega))))
            near = np.abs(2.0 * np.pi * diagram.frequencies[k] - abs(omega)) < 2e-4 * abs(omega)
            assert near.any()
            if speed:
                assert ("forward" if omega > 0.0 else "backward") in diagram.whirl[k, near], n
    whirls = [set(column[column != ""]) for column in diagram.whirl.T]
    assert all(len(words) <= 1 for words in whirls)  # a mode of a round rotor never turns its whirl round
    for critical in diagram.critical_speeds:
        assert critical.whirl == "forward"
        assert np.abs(model.whirl(critical.speed) - critical.speed).min() < 2e-4 * critical.speed


# --- a rotor that is not round: turning frame, and Floquet theory -----------------------------------------------------

SOFT, HARD, HEAVY = 3.0e4, 4.2e4, 2.5


def unround(speed: float, held: tuple[float, float] = (0.0, 0.0)) -> mb.System:
    """A mass on two unlike springs that turn with a hub; springs (N/m) may hold it in the fixed frame as well."""
    system = mb.System("unround", gravity=(0, 0, 0))
    spin = (0, 0, speed)
    hub = system.add(mb.RigidBody("hub", mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=spin))
    axle = system.add(mb.RevoluteJoint("axle", system.ground, hub, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("motor", axle, angle=f"{speed!r}*t"))
    block = system.add(mb.RigidBody("block", mass=HEAVY, inertia=(0.1, 0.1, 0.1), angular_velocity=spin))
    system.add(mb.PlanarJoint("plane", hub, block, at=(0, 0, 0), axis=Z))
    bushing = mb.Bushing("shaft", hub, block, at=(0, 0, 0))
    bushing.update(stiffness=np.diag([SOFT, HARD, 0, 0, 0, 1e4]))
    system.add(bushing)
    for name, side, stiffness in (("x", (1.0, 0, 0), held[0]), ("y", (0, 1.0, 0), held[1])):
        if stiffness:  # long springs, stretched by nothing
            spring = mb.SpringDamper(f"spring {name}", system.ground, block, at_i=side, at_j=(0, 0, 0))
            spring.update(stiffness=stiffness, damping=0.0, free_length=1.0)
            system.add(spring)
    return system


def turning_roots(speed: float) -> np.ndarray:
    """Roots in the turning frame: (k1 - m W^2 + m s^2) (k2 - m W^2 + m s^2) + 4 m^2 W^2 s^2 = 0."""
    a, b = (k / HEAVY - speed**2 for k in (SOFT, HARD))
    squares = np.roots([1.0, a + b + 4.0 * speed**2, a * b])
    return np.concatenate([np.sqrt(squares.astype(complex)), -np.sqrt(squares.astype(complex))])


def test_an_unround_rotor_is_unstable_between_its_critical_speeds():
    low, high = np.sqrt(SOFT / HEAVY), np.sqrt(HARD / HEAVY)
    speeds = np.linspace(20.0, 200.0, 19)
    diagram = mb.campbell(unround, speeds)
    np.testing.assert_array_equal(diagram.stable, (speeds < low) | (speeds > high))
    (found,) = diagram.unstable_ranges
    np.testing.assert_allclose(found, (low, high), rtol=1e-6)
    np.testing.assert_allclose([c.speed for c in diagram.critical_speeds], (low, high), rtol=1e-6)
    for k, speed in enumerate(speeds):
        expected = turning_roots(speed)
        seen = {abs(root.imag + turn) for root in expected for turn in (speed, -speed)}
        for omega in 2.0 * np.pi * diagram.frequencies[k]:
            if np.isfinite(omega) and omega < 0.9 * np.sqrt(1e4 / 0.1):  # that of the twist between hub and block
                assert min(abs(omega - other) for other in seen) < 1e-7 * omega
        growth = max(expected.real)
        assert growth > 1.0 if not diagram.stable[k] else growth < 1e-6


def test_both_ends_of_an_unstable_range_are_critical_speeds_though_rounding_hides_their_modes(monkeypatch):
    """Where two roots meet that are zero for who turns along, the upper one of two critical speeds was lost."""
    diagram = mb.campbell(unround, np.linspace(20.0, 200.0, 10))
    ((low, high),) = diagram.unstable_ranges
    rotor = diagram.follower.rotor
    whole = rotor.at

    def without(speed: float, warned: bool = False) -> Whirls:
        seen = whole(speed, warned)
        if speed not in (low, high):
            return seen
        kept = np.abs(seen.frequencies - speed) > 1.0
        whirl = [word for word, there in zip(seen.whirl, kept, strict=True) if there]
        return replace(seen, roots=seen.roots[kept], shapes=seen.shapes[:, kept], whirl=whirl)

    monkeypatch.setattr(rotor, "at", without)
    assert not (np.abs(rotor.at(high).frequencies - high) < 1.0).any()
    found = diagram.critical_speeds
    np.testing.assert_allclose([c.speed for c in found], (low, high), rtol=1e-12)
    assert all(abs(c.damping) < 1e-3 for c in found)


@pytest.mark.parametrize("speed", [60.0, 118.0, 170.0])
def test_floquet_exponents_of_a_turn_are_roots_of_the_turning_frame(speed):
    """With supports that are round both ways lead to the same."""
    system = unround(speed)
    modes, stable = exponents(system, TurningFrame(axis=Z, rate=speed))
    period = 2.0 * np.pi / speed
    expected = np.exp(period * np.array([*turning_roots(speed), *(1j * s * np.sqrt(1e4 / 0.1) for s in (1, -1))]))
    found = np.exp(period * np.array([mode.exponent for mode in modes]))
    for multiplier in found:
        assert np.abs(expected - multiplier).min() < 1e-7 * abs(multiplier)
    assert stable == (max(turning_roots(speed).real) < 1e-6)


@pytest.mark.parametrize("speed", [70.0, 131.0])
def test_unround_rotors_in_unlike_supports_have_floquet_exponents(speed):
    """m r'' + (diag(kx, ky) + R diag(k1, k2) R^T) r = 0, with the springs' ends far away."""
    held = (1.0e4, 2.6e4)

    def matrix(t: float) -> np.ndarray:
        c, s = np.cos(speed * t), np.sin(speed * t)
        R = np.array([[c, -s], [s, c]])
        K = (np.diag(held) + R @ np.diag([SOFT, HARD]) @ R.T) / HEAVY
        return np.block([[np.zeros((2, 2)), np.eye(2)], [-K, np.zeros((2, 2))]])

    period = 2.0 * np.pi / speed
    flow = solve_ivp(
        lambda t, y: (matrix(t) @ y.reshape(4, 4)).ravel(), (0.0, period), np.eye(4).ravel(), rtol=1e-11, atol=1e-12
    ).y[:, -1]
    expected = np.linalg.eigvals(flow.reshape(4, 4))
    diagram = mb.campbell(lambda value: unround(value, held), [speed, speed + 1.0])
    assert diagram.points[0].route == "Floquet"
    assert bool(diagram.stable[0]) == bool(np.abs(expected).max() < 1.0 + 1e-6)
    roots = diagram.points[0].roots
    multipliers = np.exp(period * np.concatenate([roots, roots.conj()]))
    for multiplier in expected:
        assert np.abs(multipliers - multiplier).min() < 1e-6 * abs(multiplier)


# --- following --------------------------------------------------------------------------------------------------------


class Families:
    """Modes of blocks of symmetric matrices A + s B: those of one block veer, those of two blocks cross.

    Their motions are along the axis of the rotor, so that they are the same at rest.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.blocks = []
        for size in (2, 3, 3):
            A, B, C = rng.normal(size=(3, size, size))
            self.blocks.append((60.0 + 3.0 * (A + A.T), 4.0 * (B + B.T), 0.6 * (C + C.T)))
        self.rng = np.random.default_rng(seed + 1)

    def at(self, speed: float, warned: bool = False) -> Whirls:
        roots, shapes, self.names = [], [], []
        for b, (A, B, C) in enumerate(self.blocks):
            values, vectors = np.linalg.eigh(A + speed * B + np.sin(3.0 * speed) * C)
            for k, value in enumerate(values):
                whole = np.zeros(3 * 8, complex)
                first = 2 * 8 + [0, 2, 5][b]
                whole[first : first + len(values)] = vectors[:, k] * np.exp(2j * self.rng.uniform(0, 3))
                roots.append(1j * value)
                shapes.append(whole)
                self.names.append((b, k))
        order = self.rng.permutation(len(roots))
        self.names = [self.names[k] for k in order]
        whirl = [""] * len(roots)
        return Whirls(speed, np.array(roots)[order], np.array(shapes)[order].T, whirl, True, 0.0, "fixed")


@pytest.mark.sample(10)
@pytest.mark.parametrize("seed", range(50))
def test_modes_keep_their_identity_through_crossings_and_veerings(seed):
    family = Families(seed)
    points, names = [], []
    for speed in np.linspace(0.0, 4.0, 33):
        points.append(family.at(speed))
        names.append(family.names)
    diagram = _diagram(Follower(family, 8 * len(points)), points, (1.0,))
    assert diagram.frequencies.shape == (33, 8)
    for column in range(8):
        followed = {names[k][own.index(column)] for k, own in enumerate(diagram.columns)}
        assert len(followed) == 1, followed


# --- pictures, input --------------------------------------------------------------------------------------------------


def test_plot_and_words():
    seen: list[tuple[int, int]] = []
    diagram = mb.campbell(jeffcott, [0.0, 80.0, 160.0], progress=lambda done, count: seen.append((done, count)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert "critical speed 115.4" in str(diagram)
    assert "modes at 3 speeds" in repr(diagram)
    for theme in ("light", "dark"):
        assert len(diagram.plot(theme=theme).axes) == 2


@pytest.mark.parametrize(
    ("build", "speeds", "words"),
    [
        (jeffcott, [100.0, 50.0], "rising order"),
        (jeffcott, [100.0], "at least two"),
        (lambda speed: jeffcott(0.5 * speed), [50.0, 100.0], "described as it spins"),
        (lambda speed: speed, [50.0, 100.0], "must return a system"),
        (5, [50.0, 100.0], "function of the speed"),
    ],
)
def test_what_cannot_be_meant_is_refused(build, speeds, words):
    with pytest.raises(mb.ModelError, match=words):
        mb.campbell(build, speeds)
