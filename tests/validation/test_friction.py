"""Friction in joints: sliding, sticking, coasting, and reactions that friction itself changes."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbframe as mb

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-11), "stabilization": mb.DirectCorrection()}
GRAVITY = 9.81
Y = (0.0, 1.0, 0.0)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_block_slides_with_the_known_acceleration(direction: float, formulation: mb.Formulation) -> None:
    """g (sin - mu cos) down the rail, g (sin + mu cos) as long as it moves up; mu cos of the weight is lost."""
    slope, mu, speed, t = 0.5, 0.3, 2.0, np.linspace(0.0, 0.25, 11)
    system = mb.examples.sliding_block(slope, mu, direction * speed)
    result = mb.simulate(system, 0.25, formulation=formulation, **PRECISE, t_eval=t)
    down = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    pull = GRAVITY * (np.sin(slope) - direction * mu * np.cos(slope))
    np.testing.assert_allclose(result.acceleration("block") @ down, pull, rtol=0.0, atol=1e-9)
    travelled = direction * speed * t + pull * t**2 / 2.0
    np.testing.assert_allclose(result.position("block") @ down, travelled, rtol=0.0, atol=1e-9)
    lost = mu * GRAVITY * np.cos(slope) * direction * travelled
    np.testing.assert_allclose(result.energy.total[0] - result.energy.total, lost, rtol=0.0, atol=1e-8)
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    np.testing.assert_allclose(
        result.reaction("rail").force, np.tile(GRAVITY * np.cos(slope) * normal, (11, 1)), rtol=0.0, atol=1e-9
    )


def test_block_sticks_below_the_friction_angle() -> None:
    """It creeps with u_0 atanh(tan(slope) / mu)."""
    slope, mu = 0.2, 0.3
    result = mb.simulate(mb.examples.sliding_block(slope, mu), 1.0, t_eval=[0.0, 0.5, 1.0])
    down = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    creep = 1e-3 * np.arctanh(np.tan(slope) / mu)
    np.testing.assert_allclose(result.velocity("block")[1:] @ down, creep, rtol=1e-4)
    assert 0.0 < result.position("block")[-1] @ down < creep


def test_block_that_slides_comes_to_rest() -> None:
    slope, mu, speed = 0.2, 0.4, 1.0
    stop = speed / (GRAVITY * (mu * np.cos(slope) - np.sin(slope)))
    result = mb.simulate(mb.examples.sliding_block(slope, mu, speed), stop + 0.2, t_eval=[0.0, stop, stop + 0.2])
    down = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    np.testing.assert_allclose(result.position("block")[1:] @ down, speed * stop / 2.0, rtol=0.0, atol=2e-3)
    np.testing.assert_allclose(result.velocity("block")[2] @ down, 0.0, rtol=0.0, atol=1e-3)


def wheel(spin: float, first: str = "ground") -> mb.System:
    """A balanced wheel in a hinge along y; `first` says which body is the first of the joint."""
    system = mb.System("coasting wheel")
    body = system.add(mb.RigidBody("wheel", mass=3.0, inertia=(0.2, 0.4, 0.2), angular_velocity=(0.0, spin, 0.0)))
    pair = (system.ground, body) if first == "ground" else (body, system.ground)
    hinge = system.add(mb.RevoluteJoint("hinge", *pair, at=(0.0, 0.0, 0.0), axis=Y))
    system.add(mb.Friction("friction", hinge, coefficient=0.25, radius=0.05))
    return system


@pytest.mark.parametrize("first", ["ground", "wheel"])
@pytest.mark.parametrize("spin", [4.0, -4.0])
def test_wheel_coasts(spin: float, first: str, formulation: mb.Formulation) -> None:
    """I w' = -mu m g r sign(w)."""
    t = np.linspace(0.0, 3.0, 31)
    result = mb.simulate(wheel(spin, first), 3.0, formulation=formulation, **PRECISE, t_eval=t)
    slowing = 0.25 * 3.0 * GRAVITY * 0.05 / 0.4
    expected = np.sign(spin) * (abs(spin) - slowing * t)
    assert abs(expected[-1]) > 1.0
    np.testing.assert_allclose(result.angular_velocity("wheel")[:, 1], expected, rtol=0.0, atol=1e-9)


def test_wheel_stops() -> None:
    stop = 4.0 / (0.25 * 3.0 * GRAVITY * 0.05 / 0.4)
    result = mb.simulate(wheel(4.0), stop + 0.5, t_eval=[0.0, stop + 0.5])
    assert abs(result.angular_velocity("wheel")[-1, 1]) * 0.05 < 1e-3


def test_pendulum_whose_friction_changes_its_reaction(formulation: mb.Formulation) -> None:
    """A = I + m l^2: A phi'' = -m g l sin(phi) - mu r N tanh(r phi' / u_0) with N^2 = m^2 ((g cos(phi) + l phi'^2)^2 +
    (g sin(phi) + l phi'')^2), so that N depends on phi'' and phi'' on N.
    """
    mass, length, inertia, mu, radius, scale = 2.0, 0.6, 0.1, 0.4, 0.2, 0.3
    start, t = 1.2, np.linspace(0.0, 3.0, 31)
    pivot = inertia + mass * length**2

    def rates(t: float, y: np.ndarray) -> list[float]:
        phi, rate = y
        drive, rub = -mass * GRAVITY * length * np.sin(phi), mu * radius * np.tanh(radius * rate / scale)
        acceleration = drive / pivot
        for _ in range(60):
            across = GRAVITY * np.sin(phi) + length * acceleration
            normal = mass * np.hypot(GRAVITY * np.cos(phi) + length * rate**2, across)
            acceleration = (drive - rub * normal) / pivot
        return [rate, acceleration]

    expected = solve_ivp(rates, (0.0, 3.0), [start, 0.0], method="DOP853", rtol=1e-11, atol=1e-12, t_eval=t).y
    system = mb.System("rubbing pendulum")
    position = length * np.array([-np.sin(start), 0.0, -np.cos(start)])
    bob = system.add(mb.RigidBody("bob", mass=mass, inertia=(inertia, inertia, inertia), position=position))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, bob, at=(0.0, 0.0, 0.0), axis=Y))
    system.add(mb.Friction("friction", hinge, coefficient=mu, radius=radius, velocity_scale=scale))
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    np.testing.assert_allclose(result.angular_velocity("bob")[:, 1], expected[1], rtol=0.0, atol=1e-8)
    x, _, z = result.position("bob").T
    np.testing.assert_allclose(np.arctan2(-x, -z), expected[0], rtol=0.0, atol=1e-8)
    assert np.all(np.diff(result.energy.total) < 0.0)


@pytest.mark.parametrize("kind", [mb.SphericalJoint, mb.CylindricalJoint])
def test_friction_asks_for_a_joint_that_it_knows(kind: type[mb.Joint]) -> None:
    system = mb.System("refused")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    joint = system.add(kind("joint", system.ground, body, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    with pytest.raises(mb.ModelError, match=r"Friction 'friction', joint: .* RevoluteJoint or a TranslationalJoint"):
        mb.Friction("friction", joint)


def test_friction_in_a_hinge_asks_for_the_radius_of_its_pin() -> None:
    system = mb.System("refused")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    with pytest.raises(mb.ModelError, match="Friction 'friction', radius"):
        system.add(mb.Friction("friction", hinge))


@pytest.mark.parametrize(("beside", "told"), [(0.0, False), (0.5, True)])
def test_moments_that_do_not_rub_are_told(beside: float, told: bool) -> None:
    """A door of 2 kg, whose weight acts 0.5 m beside its pin of 10 mm, and a carriage beside its guide."""
    door = mb.System("door")
    leaf = door.add(mb.RigidBody("leaf", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(beside, 0, 0)))
    hinge = door.add(mb.RevoluteJoint("hinge", door.ground, leaf, at=(0, 0, 0), axis=(0, 0, 1)))
    door.add(mb.Friction("rub", hinge, coefficient=0.2, radius=0.01))
    door.add(mb.PointForce("draught", leaf, at=(beside, 0, 0), force=(0, 1, 0)))
    rail = mb.System("rail", dimension=2, gravity=(0, -9.81))
    carriage = rail.add(mb.PlanarBody("carriage", mass=2.0, inertia=0.1, position=(0, 0), velocity=(1, 0)))
    guide = rail.add(mb.TranslationalJoint("guide", rail.ground, carriage, at=(beside, 0), axis=(1, 0)))
    rail.add(mb.Friction("rub", guide, coefficient=0.2))
    for system in (door, rail):
        found = [w for w in mb.simulate(system, 0.1).info.warnings if w.startswith("Friction 'rub': ")]
        assert len(found) == told
        assert all("moments of up to 9.81 N m" in w and "multiply coefficient" in w for w in found)
