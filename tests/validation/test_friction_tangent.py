"""Friction in implicit integrators, in linearizations and in redundant joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-11, atol=1e-12)}
GRAVITY = 9.81
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def double_pendulum(kind: type[mb.Joint], first: str = "ground") -> mb.System:
    """Two bars, a skew hinge at the ground and a hinge or a guide between them that rub, and a spring."""
    system = mb.System("rubbing")
    place = {"position": (0.3, 0.1, -0.2), "center_of_mass": (0.05, 0.02, -0.03)}
    a = system.add(mb.RigidBody("a", mass=2.0, inertia=(0.1, 0.2, 0.3), **place))
    place = {"position": (0.8, 0.1, -0.5), "center_of_mass": (-0.05, 0.02, 0.03)}
    b = system.add(mb.RigidBody("b", mass=1.0, inertia=(0.1, 0.15, 0.12), **place))
    pair = (system.ground, a) if first == "ground" else (a, system.ground)
    hinge = system.add(mb.RevoluteJoint("hinge", *pair, at=(0, 0, 0), axis=(0.1, 1.0, 0.2)))
    joint = system.add(kind("joint", a, b, at=(0.5, 0.1, -0.3), axis=(0.3, 0.2, 1.0)))
    system.add(mb.Friction("at ground", hinge, coefficient=0.3, radius=0.1, velocity_scale=0.2))
    pin = {"radius": 0.05} if kind is mb.RevoluteJoint else {}
    system.add(mb.Friction("between", joint, coefficient=0.2, velocity_scale=0.3, **pin))
    ends = {"at_i": (1.0, 1.0, 0.0), "at_j": (0.8, 0.1, -0.5)}
    system.add(mb.SpringDamper("spring", system.ground, b, stiffness=30.0, damping=1.0, free_length=0.3, **ends))
    return system


# --- implicit integrators ---------------------------------------------------------------------------------------------


@pytest.mark.boundscheck
@pytest.mark.parametrize("first", ["ground", "body"])
@pytest.mark.parametrize("kind", [mb.RevoluteJoint, mb.TranslationalJoint])
def test_implicit_runs_agree_with_explicit_ones(kind: Any, first: str, formulation: mb.Formulation) -> None:
    system = double_pendulum(kind, first)
    t = np.linspace(0.0, 1.0, 5)
    exact = mb.simulate(system, 1.0, **PRECISE, t_eval=t).position("b")
    found = mb.simulate(system, 1.0, formulation=formulation, integrator=mb.RadauIIA(rtol=1e-8), t_eval=t)
    np.testing.assert_allclose(found.position("b"), exact, rtol=0.0, atol=1e-7)
    assert np.abs(found.energy.balance).max() < 1e-6


def test_bdf_takes_friction() -> None:
    pytest.importorskip("sksundae")
    system, t = double_pendulum(mb.TranslationalJoint), [0.0, 0.5]
    exact = mb.simulate(system, 0.5, **PRECISE, t_eval=t).position("b")
    found = mb.simulate(system, 0.5, integrator=mb.BDF(rtol=1e-7), t_eval=t).position("b")
    np.testing.assert_allclose(found, exact, rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("kind", [mb.RevoluteJoint, mb.TranslationalJoint])
def test_generalized_alpha_keeps_its_order(kind: Any) -> None:
    system, t = double_pendulum(kind), [0.0, 1.0]
    exact = mb.simulate(system, 1.0, **PRECISE, t_eval=t).position("b")
    errors = [
        np.abs(mb.simulate(system, 1.0, dt=dt, integrator=mb.GeneralizedAlpha(), t_eval=t).position("b") - exact).max()
        for dt in (2e-3, 1e-3, 5e-4)
    ]
    assert np.all(np.log2(np.array(errors[:-1]) / errors[1:]) > 1.9)


def test_steps_of_radau_do_not_depend_on_how_sharply_a_joint_sticks() -> None:
    """A block that slides 1 s and sticks, down to creeping by 5e-7 m/s; explicit methods need 0.66 u_0/s steps."""
    steps = {}
    for scale in (1e-3, 1e-4, 1e-5, 1e-6):
        system = mb.examples.sliding_block(0.2, 0.4, 1.0)
        system["friction"].velocity_scale = scale
        result = mb.simulate(system, 2.0, integrator=mb.RadauIIA(), t_eval=[0.0, 2.0])
        creep = scale * np.arctanh(np.tan(0.2) / 0.4)
        assert np.linalg.norm(result.velocity("block")[-1]) == pytest.approx(creep, rel=1e-6)
        steps[scale] = result.info.steps
    assert max(steps.values()) < 1.3 * min(steps.values())


# --- redundant joints -------------------------------------------------------------------------------------------------


def four_bar(rubbing: str) -> mb.System:
    """A parallelogram of three bars and the ground with four hinges along y: six equations depend on the others."""
    system = mb.System("four-bar")
    corners = [np.array(p) for p in ((0.0, 0.0, 0.0), (0.3, 0.0, 1.0), (2.3, 0.0, 1.0), (2.0, 0.0, 0.0))]
    bars = []
    for name, a, b in zip(("left", "top", "right"), corners, corners[1:], strict=False):
        bars.append(system.add(mb.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(a + b) / 2.0)))
    members = [system.ground, *bars, system.ground]
    for k, (one, other, at) in enumerate(zip(members, members[1:], corners, strict=False), 1):
        system.add(mb.RevoluteJoint(f"hinge {k}", one, other, at=at, axis=Y))
    system.add(mb.Friction("pin friction", system[rubbing], coefficient=0.2, radius=0.03))
    return system


def planar_four_bar(rubbing: str) -> mb.System:
    """The same in the plane, where no equation depends on others."""
    system = mb.System("four-bar", dimension=2, gravity=(0.0, -GRAVITY))
    corners = [np.array(p) for p in ((0.0, 0.0), (0.3, 1.0), (2.3, 1.0), (2.0, 0.0))]
    bars = []
    for name, a, b in zip(("left", "top", "right"), corners, corners[1:], strict=False):
        bars.append(system.add(mb.PlanarBody(name, mass=1.0, inertia=0.1, position=(a + b) / 2.0)))
    members = [system.ground, *bars, system.ground]
    for k, (one, other, at) in enumerate(zip(members, members[1:], corners, strict=False), 1):
        system.add(mb.RevoluteJoint(f"hinge {k}", one, other, at=at))
    system.add(mb.Friction("pin friction", system[rubbing], coefficient=0.2, radius=0.03))
    return system


ALL = [mb.DormandPrince(rtol=1e-9, atol=1e-11), mb.RadauIIA(rtol=1e-8), mb.GeneralizedAlpha(), mb.RungeKutta4()]


@pytest.mark.parametrize("integrator", ALL, ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("hinge", ["hinge 1", "hinge 3"])
def test_friction_of_a_spatial_four_bar_is_that_of_the_plane(hinge: str, integrator: mb.Integrator) -> None:
    """The planar load of each hinge is unique, and what hinges carry across the plane is zero when it is shared."""
    dt = None if integrator.adaptive else 5e-4
    t = [0.0, 0.6]
    expected = mb.simulate(planar_four_bar(hinge), 0.6, **PRECISE, t_eval=t).position("top")
    result = mb.simulate(four_bar(hinge), 0.6, dt=dt, integrator=integrator, t_eval=t)
    np.testing.assert_allclose(result.position("top")[:, [0, 2]], expected, rtol=0.0, atol=1e-6)
    (told,) = [w for w in result.info.warnings if w.startswith("Friction 'pin friction'")]
    assert f"RevoluteJoint '{hinge}' has a reaction that is not unique" in told
    assert "least norm" in told


def shaft(offset: float) -> mb.System:
    """A balanced rotor in two hinges on one axis, of which one rubs; its weight acts `offset` beside their middle."""
    system = mb.System("shaft", gravity=(0.0, 0.0, -GRAVITY))
    spin = {"angular_velocity": (0.0, 5.0, 0.0), "position": (0.0, offset, 0.0)}
    rotor = system.add(mb.RigidBody("rotor", mass=3.0, inertia=(0.3, 0.4, 0.3), **spin))
    for name, y in (("left", -0.5), ("right", 0.5)):
        system.add(mb.RevoluteJoint(name, system.ground, rotor, at=(0.0, y, 0.0), axis=Y))
    return system


@pytest.mark.parametrize("integrator", ALL, ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_bearings_share_the_load_that_rubs(offset: float, integrator: mb.Integrator) -> None:
    """I w' = -mu r N with the N that the same shaft shows without friction: half the weight in the middle."""
    system = shaft(offset)
    normal = float(np.linalg.norm(mb.evaluate(system, mb.assemble(system)).reaction("left").force[0]))
    if offset == 0.0:
        assert normal == pytest.approx(1.5 * GRAVITY, rel=1e-9)
    system.add(mb.Friction("rub", system["left"], coefficient=0.3, radius=0.02))
    dt = None if integrator.adaptive else 1e-3
    result = mb.simulate(system, 0.5, dt=dt, integrator=integrator, t_eval=[0.0, 0.5])
    expected = 5.0 - 0.5 * 0.3 * 0.02 * normal / 0.4
    assert result.angular_velocity("rotor")[-1, 1] == pytest.approx(expected, abs=1e-7)


# --- linearization ----------------------------------------------------------------------------------------------------


def bob(spin: float = 0.0) -> mb.System:
    system = mb.System("bob")
    body = system.add(mb.RigidBody("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, -0.6)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=Y))
    system.add(mb.Friction("rub", hinge, coefficient=0.01, radius=0.1, velocity_scale=0.2))
    return system


def test_friction_at_rest_is_a_damper(formulation: mb.Formulation) -> None:
    """A phi'' + (mu N r^2/u_0) phi' + m g l phi = 0, with N = m g; its dissipation is all of the mode's."""
    lin = mb.linearize(bob(), formulation=formulation)
    slope = 0.01 * 2.0 * GRAVITY * 0.1**2 / 0.2
    expected = np.roots([0.1 + 2.0 * 0.36, slope, 2.0 * GRAVITY * 0.6])
    np.testing.assert_allclose(np.sort_complex(lin.eigenvalues), np.sort_complex(expected), rtol=1e-9)


def test_friction_has_its_share_of_the_energy_of_a_mode() -> None:
    assert mb.linearize(bob()).modes[0].energy["rub"].dissipation == pytest.approx(1.0)


def test_an_equilibrium_is_found_with_friction() -> None:
    system = bob()
    state = mb.equilibrium(system, mb.assemble(system, joints={"hinge": 0.4}))
    np.testing.assert_allclose(state.position("bob"), (0.0, 0.0, -0.6), atol=1e-9)


def test_friction_of_a_steady_turn(formulation: mb.Formulation) -> None:
    """N = m e w^2 presses the pin: A dw' = -d(mu r m e w^2 tanh(r w/u_0))/dw dw."""
    mass, beside, rate, mu, radius, scale = 2.0, 0.3, 3.0, 0.3, 0.1, 0.2
    system = mb.System("turn", gravity=(0.0, 0.0, -GRAVITY))
    motion = {"velocity": (0.0, beside * rate, 0.0), "angular_velocity": (0.0, 0.0, rate)}
    arm = system.add(mb.RigidBody("arm", mass=mass, inertia=(0.1, 0.1, 0.1), position=(beside, 0, 0), **motion))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=Z))
    system.add(mb.Friction("rub", hinge, coefficient=mu, radius=radius, velocity_scale=scale))
    s = np.tanh(radius * rate / scale)
    system.add(mb.Torque("drive", arm, torque=(0.0, 0.0, mu * radius * mass * beside * rate**2 * s)))
    frame = mb.TurningFrame(axis=Z, rate=rate)
    found = mb.linearize(system, frame=frame, formulation=formulation).eigenvalues
    slope = 2.0 * rate * s + rate**2 * (1.0 - s * s) * radius / scale
    root = -mu * radius * mass * beside * slope / (0.1 + mass * beside**2)
    np.testing.assert_allclose(np.sort(found.real), [root, 0.0], atol=1e-9)


CART, BOB, REACH, INERTIA, MU, SCALE, SPEED, HELD = 3.0, 2.0, 0.6, 0.1, 0.3, 2.0, 1.0, 0.7


def crane() -> mb.System:
    """A cart that rubs on its rail as it is pushed along, and a bob that a spring holds aslant."""
    system = mb.System("crane")
    forward = {"velocity": (SPEED, 0.0, 0.0)}
    cart = system.add(mb.RigidBody("cart", mass=CART, inertia=(0.1, 0.1, 0.1), **forward))
    rail = system.add(mb.TranslationalJoint("rail", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
    place = REACH * np.array([np.sin(HELD), 0.0, -np.cos(HELD)])
    weight = system.add(mb.RigidBody("weight", mass=BOB, inertia=(0.1, INERTIA, 0.1), position=place, **forward))
    system.add(mb.RevoluteJoint("hinge", cart, weight, at=(0, 0, 0), axis=Y))
    # Torque of the spring on the weight about y: it turns by -phi as phi grows, and is held where it is described.
    held = BOB * GRAVITY * REACH * np.sin(HELD)
    spring = {"stiffness": 40.0, "free_angle": held / 40.0}
    system.add(mb.TorsionalSpringDamper("spring", cart, weight, at=(0, 0, 0), axis=(0, -1, 0), **spring))
    system.add(mb.Friction("rub", rail, coefficient=MU, velocity_scale=SCALE))
    push = MU * (CART + BOB) * GRAVITY * np.tanh(SPEED / SCALE)
    system.add(mb.PointForce("push", cart, at=(0, 0, 0), force=(push, 0.0, 0.0)))
    return system


def crane_residual(x: Any) -> Any:
    """Lagrange's equations of the crane for (phi, x', phi', x'', phi''), phi from the vertical.

    N is the weight of both and what the bob needs to be moved up.
    """
    phi, speed, rate, a, alpha = x
    up = REACH * (np.sin(phi) * alpha + np.cos(phi) * rate**2)
    normal = (CART + BOB) * GRAVITY + BOB * up
    push = MU * (CART + BOB) * GRAVITY * np.tanh(SPEED / SCALE)
    along = (CART + BOB) * a + BOB * REACH * (np.cos(phi) * alpha - np.sin(phi) * rate**2)
    spring = BOB * GRAVITY * REACH * np.sin(HELD) - 40.0 * (phi - HELD)
    turn = (INERTIA + BOB * REACH**2) * alpha + BOB * REACH * (np.cos(phi) * a + GRAVITY * np.sin(phi)) - spring
    return np.array([along + MU * normal * np.tanh(speed / SCALE) - push, turn])


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=repr)
def test_reactions_that_follow_accelerations_are_linearized(formulation: mb.Formulation) -> None:
    """The load of the rail rises with phi'' to first order, and so does the friction: M is not symmetric then."""
    point = np.array([HELD, SPEED, 0.0, 0.0, 0.0])
    assert np.abs(crane_residual(point)).max() < 1e-12
    steps = 1e-30j * np.eye(5)
    slopes = np.array([crane_residual(point + step).imag / 1e-30 for step in steps]).T
    inertia = slopes[:, 3:]
    assert abs(inertia[0, 1] - inertia[1, 0]) > 0.05
    by_phi, by_rates = (-np.linalg.solve(inertia, part) for part in (slopes[:, :1], slopes[:, 1:3]))
    A = np.zeros((4, 4))  # of (x, phi, x', phi')
    A[:2, 2:], A[2:, 1:2], A[2:, 2:] = np.eye(2), by_phi, by_rates
    expected = np.sort_complex(np.linalg.eigvals(A))
    dense = mb.linearize(crane(), formulation=formulation)
    np.testing.assert_allclose(np.sort_complex(dense.eigenvalues), expected, atol=1e-7)
    for mode in mb.linearize(crane(), formulation=formulation, n_modes=2).modes:
        assert np.abs(expected - mode.eigenvalue).min() < 1e-7
    with pytest.raises(mb.AnalysisError, match="Friction 'rub': while a joint slides"):
        _ = dense.modes[0].energy


def test_a_steady_turn_of_redundant_bearings_is_refused() -> None:
    system = shaft(0.0)
    rub = {"coefficient": 0.3, "radius": 0.02, "velocity_scale": 1.0}
    system.add(mb.Friction("rub", system["left"], **rub))
    drag = 0.3 * 0.02 * 1.5 * GRAVITY * np.tanh(0.1)
    system.add(mb.Torque("drive", system["rotor"], torque=(0.0, drag, 0.0)))
    with pytest.raises(mb.AnalysisError, match=r"Friction 'rub': while a joint slides .* depend on each other"):
        mb.linearize(system)


def test_variations_along_a_motion_are_refused_by_name() -> None:
    system = bob()
    with pytest.raises(mb.AnalysisError, match="Friction 'rub': variations along a motion"):
        mb.transition(system, mb.simulate(system, 0.1))
