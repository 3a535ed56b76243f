"""How many roots of large systems grow, by signs of pivots, against all roots: random chains of pendulums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.analysis.linear import linearize as module


def chain(rng: np.random.Generator, bodies: int, *, masses: float, stiffnesses: float) -> mb.System:
    """Pendulums in a row, hanging or standing; some hinges have springs, some are described twice.

    `masses` and `stiffnesses` are the powers of ten over which these differ.
    """
    planar, sign = bool(rng.integers(2)), rng.choice([-1.0, 1.0])
    up = np.eye(2)[1] if planar else np.eye(3)[2]
    system = mb.System("chain", gravity=-9.81 * up, dimension=len(up))
    springs, doubled, damped = rng.choice([0.0, 0.5, 1.0]), rng.choice([0.0, 0.2]), rng.choice([0.0, 0.01])
    axes = [(1, 0, 0), (0, 1, 0)] if rng.integers(2) else [(1, 0, 0)]
    last: Any = system.ground
    place = np.zeros(len(up))
    for k in range(bodies):
        length, mass = rng.uniform(0.05, 0.2), 10.0 ** rng.uniform(-masses / 2, masses / 2)
        center, inertia = place + 0.5 * sign * length * up, mass * length**2 / 12
        given: dict[str, Any] = {"at": place.copy()}
        if planar:
            body: Any = mb.PlanarBody(f"body {k}", mass=mass, inertia=inertia, position=center)
        else:
            body = mb.RigidBody(f"body {k}", mass=mass, inertia=(inertia, inertia, 0.1 * inertia), position=center)
            given["axis"] = axes[k % len(axes)]
        system.add(body)
        system.add(mb.RevoluteJoint(f"hinge {k}", last, body, **given))
        if not planar and rng.random() < doubled:
            system.add(mb.SphericalJoint(f"ball {k}", last, body, at=place))
        if rng.random() < springs:
            stiffness = 10.0 ** rng.uniform(1 - stiffnesses / 2, 1 + stiffnesses / 2)
            spring = mb.TorsionalSpringDamper(f"spring {k}", last, body, stiffness=stiffness, **given)
            spring.update(damping=damped * stiffness)
            system.add(spring)
        last, place = body, place + sign * length * up
    return system


@pytest.mark.sample
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("masses", "stiffnesses"), [(0, 0), (0, 4), (3, 2), (6, 4), (0, 8)])
def test_signs_of_pivots_count_as_all_roots_do(
    monkeypatch: pytest.MonkeyPatch, masses: float, stiffnesses: float, seed: int
) -> None:
    """The same number, or none where stiffnesses are too near to zero by what the others are."""
    system = chain(np.random.default_rng([seed, masses, stiffnesses]), 15, masses=masses, stiffnesses=stiffnesses)
    expected = mb.linearize(system).unstable_count
    monkeypatch.setattr(module, "DENSE", 10)
    found = mb.linearize(system, n_modes=2).unstable_count
    assert found == expected or (found is None and max(masses, stiffnesses) > 4)


@pytest.mark.parametrize("stiffness", [100.0, -0.01])
def test_a_light_part_leaves_the_signs_of_soft_ones_known(monkeypatch: pytest.MonkeyPatch, stiffness: float) -> None:
    """Masses in a row on springs and dampers, the last one very light: by it the chain as a whole is soft."""
    system = mb.System("row", gravity=(0, 0, 0))
    last: Any = system.ground
    for k in range(60):
        place = (k + 1.0, 0.0, 0.0)
        mass = system.add(mb.PointMass(f"mass {k}", mass=1e-6 if k == 59 else 1.0, position=place))
        system.add(mb.PointOnLineJoint(f"line {k}", system.ground, mass, at=place, axis=(1, 0, 0)))
        law = f"{100.0 if k else stiffness}*x"
        spring = mb.SpringDamper(f"spring {k}", last, mass, force=law, damping=0.02, free_length=1.0)
        spring.update(at_i=(float(k), 0, 0), at_j=place)
        system.add(spring)
        last = mass
    expected = mb.linearize(system).unstable_count
    monkeypatch.setattr(module, "DENSE", 10)
    assert mb.linearize(system, n_modes=2).unstable_count == expected == (stiffness < 0.0)


class Feeding(mb.ForceElement):
    """Feeds energy in by the velocity."""

    def wrench(self, t, i, j):
        return np.array([0.05 * j.velocity[0], 0.0, 0.0]), np.zeros(3)


def test_words_tell_of_growing_roots_that_were_not_asked_for() -> None:
    """The slowest of 20 masses grow slowly, the last and light one quickly."""
    system = mb.System("chain", gravity=(0, 0, 0))
    before: mb.Body = system.ground
    for k in range(20):
        mass = system.add(mb.PointMass(f"b{k}", mass=1e-3 if k == 19 else 1.0, position=(k + 1.0, 0, 0)))
        system.add(mb.PointOnLineJoint(f"l{k}", system.ground, mass, at=(k + 1.0, 0, 0), axis=(1, 0, 0)))
        points = {"at_i": (float(k), 0, 0), "at_j": (k + 1.0, 0, 0)}
        system.add(mb.SpringDamper(f"s{k}", before, mass, **points, stiffness=100.0, damping=0.02, free_length=1.0))
        before = mass
    system.add(Feeding("feeding", system.ground, before, at_i=(0, 0, 0), at_j=(20.0, 0, 0)))
    lin = mb.linearize(system, n_modes=2)
    assert lin.unstable_count == 8
    assert "8 roots grow, 4 of them among those that were computed" in str(lin)
    assert "or sooner" in str(lin)
