"""Linearization: what is refused and why, frames, inputs and outputs, own states of elements."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import mbframe as mb
from mbframe.analysis.linear.linear_equations import TurningFrame
from mbframe.examples.cart_pendulum import CART_MASS, POLE_LENGTH, POLE_MASS
from mbframe.rotations import matrix_from_vector

Array = NDArray[np.float64]
X, Y, Z = np.eye(3)
GRAVITY = 9.81


def pendulum(angle: float = 0.0, **joint: object) -> mb.System:
    """A bar of 2 m and 1.5 kg, hinged at the origin about y, at an angle to the vertical."""
    system = mb.System("pendulum")
    down = np.array([np.sin(angle), 0.0, -np.cos(angle)])
    bar = system.add(mb.RigidBody("bar", mass=1.5, inertia=(0.5, 0.5, 0.01), position=down))
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=Y))
    return system


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_state_without_equilibrium_is_refused_by_body_with_a_remedy() -> None:
    with pytest.raises(mb.AnalysisError, match=r"neither an equilibrium .* 'bar' .* m/s\^2 .*mb\.equilibrium"):
        mb.linearize(pendulum(0.4))


def test_an_open_joint_is_refused() -> None:
    system = pendulum()
    state = mb.assemble(system)
    m = state.motions["bar"]
    moved = mb.State(0.0, {"bar": type(m)(m.position + 0.01 * X, m.rotation, m.velocity, m.angular_velocity)})
    with pytest.raises(mb.AnalysisError, match=r"positions violate .*hinge.* 0\.01 .*mb\.assemble"):
        mb.linearize(system, moved)
    moved = mb.State(0.0, {"bar": type(m)(m.position, m.rotation, m.velocity + 0.3 * Y, m.angular_velocity)})
    with pytest.raises(mb.AnalysisError, match=r"velocities violate .*hinge.* 0\.3"):
        mb.linearize(system, moved)


def test_the_frame_of_a_turn_is_proposed() -> None:
    governor = mb.examples.watt_governor(6.0)
    with pytest.raises(mb.AnalysisError, match=r"pass frame=mb\.TurningFrame\(axis=.*, rate=6\)"):
        mb.linearize(governor)


def test_an_unsymmetric_spinning_body_needs_floquet_theory() -> None:
    """Two bodies on one shaft through a free joint: the slender one's spin makes the coefficients periodic."""
    system = mb.System("unsymmetric rotor", gravity=(0, 0, 0))
    carrier = system.add(mb.RigidBody("carrier", mass=3.0, inertia=(0.4, 0.5, 0.6)))
    rotor = system.add(mb.RigidBody("rotor", mass=1.0, inertia=(0.05, 0.15, 0.2), angular_velocity=(0, 0, 30)))
    system.add(mb.RevoluteJoint("shaft", carrier, rotor, at=(0, 0, 0), axis=Z))
    bearing = system.add(mb.Bushing("bearing", system.ground, carrier, at=(0, 0, 0)))
    bearing.stiffness = (1e3, 1e3, 1e3, 50, 60, 70)
    with pytest.raises(mb.AnalysisError, match=r"change along the motion.*'rotor'.*Floquet"):
        mb.linearize(system)
    rotor.inertia = (0.1, 0.1, 0.2)
    assert mb.linearize(system).stable


def test_velocities_that_are_rounding_do_not_count_as_motion() -> None:
    system = mb.examples.four_bar()
    rest = mb.equilibrium(system)
    nearly = {
        name: replace(m, velocity=np.array([1e-16, -2e-16, 0.0]), angular_velocity=np.array([0.0, 0.0, 3e-16]))
        for name, m in rest.motions.items()
    }
    state = mb.State(0.0, nearly, rest.element_states, rest.dimension)
    assert np.allclose(mb.linearize(system, state).eigenvalues, mb.linearize(system, rest).eigenvalues, atol=1e-9)
    governor = mb.examples.watt_governor()  # all bodies turn with the frame, but for rounding
    assert mb.linearize(governor, mb.steady(governor)).stability == "marginal"


def test_a_load_that_changes_with_time_is_noticed() -> None:
    system = pendulum()
    system.add(mb.PointForce("shaker", system["bar"], force=("5*sin(2*pi*t)", 0, 0)))
    with pytest.raises(mb.AnalysisError, match="neither an equilibrium"):
        mb.linearize(system)


def test_wrong_arguments_are_named() -> None:
    system = pendulum()
    for arguments, match in [
        ({"state": "here"}, "state"),
        ({"frame": (0, 0, 1)}, "frame"),
        ({"inputs": ["hinge"]}, "inputs"),
        ({"outputs": [("colour", "bar")]}, "outputs"),
        ({"n_modes": 0}, "n_modes"),
    ]:
        with pytest.raises(mb.ModelError, match=f"linearize, {match}"):
            mb.linearize(system, **arguments)
    with pytest.raises(mb.AnalysisError, match="n_modes"):
        _ = mb.linearize(system, n_modes=1).A


# --- frames -----------------------------------------------------------------------------------------------------------


def test_turning_frame_carries_points_along() -> None:
    """The path is the integral of the turned velocity, here by a fine midpoint rule."""
    frame, velocity = TurningFrame(axis=(1.0, 2.0, -0.5), rate=1.7), np.array([0.3, -1.0, 2.0])
    steps, duration = 4000, 0.9
    instants = (np.arange(steps) + 0.5) * duration / steps
    expected = sum(frame.turned(t) @ velocity for t in instants) * duration / steps
    np.testing.assert_allclose(frame.path(velocity, duration), expected, rtol=1e-7)
    np.testing.assert_allclose(TurningFrame(rate=0.0).path(velocity, 2.0), 2.0 * velocity, rtol=1e-15)
    np.testing.assert_allclose(frame.turned(0.4), matrix_from_vector(0.4 * frame.angular_velocity), atol=1e-15)


# --- inputs and outputs -----------------------------------------------------------------------------------------------


def cart_matrices() -> tuple[Array, Array]:
    """Of M (x, theta)'' = K (x, theta) + (force, 0), theta positive towards +x."""
    half, inertia = 0.5 * POLE_LENGTH, POLE_MASS * POLE_LENGTH**2 / 3.0
    M = np.array([[CART_MASS + POLE_MASS, POLE_MASS * half], [POLE_MASS * half, inertia]])
    return M, np.diag([0.0, POLE_MASS * GRAVITY * half])


def test_frequency_response_of_the_cart() -> None:
    system = mb.examples.cart_pendulum()
    lin = mb.linearize(
        system,
        inputs=["push", "angle"],
        outputs=["position", "angle", ("rate", "angle"), ("acceleration", "cart"), ("velocity", "pole", (0, 0, 0.6))],
    )
    assert lin.inputs == ["push x", "push y", "push z", "angle"]
    assert lin.outputs[3:6] == ["cart acceleration x", "cart acceleration y", "cart acceleration z"]
    M, K = cart_matrices()
    frequencies = np.array([0.2, 1.0, 3.0])
    found = lin.frequency_response(frequencies)
    for k, s in enumerate(2j * np.pi * frequencies):
        by_force, by_torque = np.linalg.solve(s**2 * M - K, np.eye(2)).T
        for column, expected in ((0, by_force), (3, by_torque)):
            x, theta = expected
            tip = s * (x + POLE_LENGTH * theta)
            rows = found[k, [0, 1, 2, 3, 6], column]
            np.testing.assert_allclose(rows, [x, theta, s * theta, s**2 * x, tip], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[:, :, 1:3], 0.0, atol=1e-12)  # the rail takes up forces across it


def test_state_space_objects_of_other_packages() -> None:
    system = mb.examples.cart_pendulum()
    lin = mb.linearize(system, inputs=["push"], outputs=["position", "angle"])
    space = lin.to_scipy()
    np.testing.assert_array_equal(space.A, lin.A)
    assert space.D.shape == (2, 3)
    control = pytest.importorskip("control")
    named = lin.to_control()
    assert isinstance(named, control.StateSpace)
    assert named.input_labels == ["push x", "push y", "push z"]
    assert named.output_labels == ["position", "angle"]


def test_outputs_in_a_turning_frame_are_derivatives_of_each_other() -> None:
    """Velocity is s times position, seen from axes that turn: s + Omega x."""
    rate = 6.0
    system = mb.examples.watt_governor(rate)
    point = (0.1, 0.2, -0.1)
    kinds = [(kind, "left ball", point) for kind in ("position", "velocity", "acceleration")]
    spins = [(kind, "left ball") for kind in ("rotation", "angular_velocity", "angular_acceleration")]
    load = mb.PointForce("gust", system["right ball"], force=(0, 0, 0))
    system.add(load)
    lin = mb.linearize(system, frame=mb.TurningFrame(axis=Z, rate=rate), inputs=[load], outputs=kinds + spins)
    frequency = 0.8
    found = lin.frequency_response(frequency)[0].reshape(6, 3, 3)
    turn = 2j * np.pi * frequency * np.eye(3) + rate * np.array([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(found[1], turn @ found[0], atol=1e-10)
    np.testing.assert_allclose(found[2], turn @ found[1], atol=1e-9)
    spin = np.cross(found[3], rate * Z, axis=0)  # phi x w
    np.testing.assert_allclose(found[4], turn @ found[3] + spin, atol=1e-10)
    np.testing.assert_allclose(found[5], turn @ found[4], atol=1e-9)


# --- own states -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute()], ids=repr)
def test_controller_with_an_own_state(formulation: mb.Formulation) -> None:
    """I theta'' + D theta' + (P + m g l) theta = I_gain z, z' = -theta."""
    system = pendulum()
    motor = mb.PIDActuator("motor", system.ground, system["bar"], at=(0, 0, 0), axis=Y)
    motor.update(proportional=6.0, integral=4.0, derivative=2.5)
    system.add(motor)
    lin = mb.linearize(system, formulation=formulation)
    expected = np.roots([0.5 + 1.5, 2.5, 6.0 + 1.5 * GRAVITY, 4.0])
    np.testing.assert_allclose(np.sort_complex(lin.eigenvalues), np.sort_complex(expected), atol=1e-10)
    assert lin.residuals.max() < 1e-13
    assert lin.stability == "asymptotic"


def test_a_mode_turns_nothing_by_more_than_half_a_turn() -> None:
    """Which of its turns an angle is in would be lost."""
    system = mb.System("wheel", dimension=2, gravity=(0, 0))
    wheel = system.add(mb.PlanarBody("wheel", mass=1.0, inertia=2.0))
    system.add(mb.RevoluteJoint("axle", system.ground, wheel, at=(0, 0)))
    system.add(mb.TorsionalSpringDamper("spring", system.ground, wheel, at=(0, 0), stiffness=1.0, damping=0.3))
    system.add(mb.Angle("turned", system.ground, wheel))
    mode = mb.linearize(system).modes[0]
    assert mb.evaluate(system, mode.state(3.0)).quantity("turned").values[0] == pytest.approx(3.0)
    with pytest.raises(mb.ModelError, match=r"mode, amplitude: turns 'wheel' by 4 rad"):
        mode.state(4.0)


@pytest.mark.parametrize("n_modes", [None, 2])
def test_modes_displace_own_states_too(n_modes: int | None) -> None:
    """The slow root belongs to the integral part: displaced along it alone, the angle falls as exp(root t)."""
    system = pendulum()
    motor = mb.PIDActuator("motor", system.ground, system["bar"], at=(0, 0, 0), axis=Y)
    motor.update(proportional=6.0, integral=4.0, derivative=2.5)
    system.add(motor)
    modes = mb.linearize(system, n_modes=n_modes).modes
    slow = next(mode for mode in modes if not mode.frequency)
    turn, push = slow.shape["bar"].rotation[1], slow.element_states["motor"][0]
    assert push * slow.eigenvalue == pytest.approx(-turn)  # z' = -theta
    result = mb.simulate(
        system, 2.0, initial=slow.state(1e-4), t_eval=[0.0, 2.0], integrator=mb.DormandPrince(rtol=1e-10)
    )
    x = result.position("bar")[:, 0]
    assert x[1] / x[0] == pytest.approx(np.exp(2.0 * slow.eigenvalue.real), rel=1e-3)


class Lagging(mb.ForceElement):
    """A torque that follows the angle late: z' = (theta - z)/T, M = -k z."""

    stiffness = mb.parameter(3.0, unit="N m")
    lag = mb.parameter(0.2, unit="s")
    states = 1

    def wrench(self, t, i, j, z):
        return np.zeros(2), -self.stiffness * z[0]

    def state_rate(self, t, i, j, z):
        return [(np.arctan2(j.axes[1, 0], j.axes[0, 0]) - z[0]) / self.lag]


def test_a_users_own_states_in_the_plane() -> None:
    """I theta'' = -k z, T z' = theta - z: I T s^3 + I s^2 + k = 0."""
    inertia = 0.5
    plane = mb.System("plane", dimension=2, gravity=(0, 0))
    wheel = plane.add(mb.PlanarBody("wheel", mass=1.0, inertia=inertia))
    plane.add(mb.RevoluteJoint("axle", plane.ground, wheel, at=(0, 0)))
    plane.add(Lagging("lagging", plane.ground, wheel, at_i=(0, 0), at_j=(0, 0)))
    lin = mb.linearize(plane)
    expected = np.roots([inertia * 0.2, inertia, 0.0, 3.0])
    np.testing.assert_allclose(np.sort_complex(lin.eigenvalues), np.sort_complex(expected), atol=1e-10)


def test_a_formulation_without_tangent_is_refused_by_name() -> None:
    """`NewtonEuler` as a user may write it, without derivatives for the tangent."""
    kept = {k: v for k, v in vars(mb.NewtonEuler).items() if not k.endswith("_tangent") and k != "variation"}
    own = type("Own", (mb.Formulation,), kept | {"__module__": __name__})()
    system = pendulum()
    with pytest.raises(mb.ModelError, match=r"Own, inertia_tangent: not defined.*place_tangent, load_tangent"):
        mb.linearize(system, formulation=own)
    for integrator in (mb.RadauIIA(), mb.GeneralizedAlpha()):
        with pytest.raises(mb.ModelError, match="Own, inertia_tangent"):
            mb.simulate(system, 0.1, 0.01, integrator=integrator, formulation=own)
    with pytest.raises(mb.ModelError, match="Own, variation: not defined"):
        own.variation(np.zeros((1, 7)), np.zeros((1, 6)), np.zeros((1, 6)))


# --- large systems ----------------------------------------------------------------------------------------------------


def test_lowest_modes_are_those_of_the_full_analysis() -> None:
    system = mb.examples.mass_spring_damper_chain(8, damping=0.2)
    full, some = mb.linearize(system), mb.linearize(system, n_modes=3)
    lowest = full.eigenvalues[np.argsort(np.abs(full.eigenvalues))[:6]]
    np.testing.assert_allclose(np.sort_complex(some.eigenvalues), np.sort_complex(lowest), atol=1e-9)
    assert some.residuals.max() < 1e-13
    free = mb.linearize(mb.examples.cart_pendulum(False), n_modes=1)
    assert [mode.ignorable for mode in free.modes].count(True) == 2
    assert free.eigenvalues.imag.max() == pytest.approx(
        mb.linearize(mb.examples.cart_pendulum(False)).eigenvalues.imag.max()
    )


def test_more_modes_than_there_are_invent_no_roots() -> None:
    bicycle = mb.examples.whipple_bicycle(speed=5.0)
    full = mb.linearize(bicycle)
    for n_modes in (1, 4, 8, 20):
        some = mb.linearize(bicycle, n_modes=n_modes)
        assert some.stability == "asymptotic"
        assert some.unstable_count == 0
        assert np.abs(some.eigenvalues[:, None] - full.eigenvalues).min(axis=1).max() == 0.0
    np.testing.assert_array_equal(some.eigenvalues, full.eigenvalues)
    assert some.complete


def test_a_root_that_was_not_asked_for_counts() -> None:
    """A cart with its pendulum upright, beside a slow oscillator: its mode is the lowest."""
    system = mb.examples.cart_pendulum(True)
    slow = system.add(mb.RigidBody("slow", mass=1.0, inertia=(1, 1, 1), position=(0, 5, 0)))
    system.add(mb.TranslationalJoint("rail of slow", system.ground, slow, at=(0, 5, 0), axis=(1, 0, 0)))
    spring = mb.SpringDamper("slow spring", system.ground, slow, at_i=(-1, 5, 0), at_j=(0, 5, 0))
    spring.update(stiffness=1.0, damping=0.5, free_length=1.0)
    system.add(spring)
    lin = mb.linearize(system, n_modes=1)
    assert all(root.real < 0.0 for root in lin.eigenvalues if abs(root) > 1e-9)
    assert (lin.stability, lin.stable, lin.unstable_count) == ("unstable", False, 1)
    assert not lin.complete
    for analysis in (lambda b: mb.critical_values(b, (1.0, 2.0), points=2), lambda b: mb.stability_map(b, [1], [1])):
        with pytest.raises(mb.MbframeError, match="leave n_modes out"):
            analysis(lambda *_: mb.linearize(system, n_modes=1))


@pytest.fixture
def always_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbframe.analysis.linear.linearize.DENSE", 0)


@pytest.mark.usefixtures("always_sparse")
def test_growing_roots_of_a_large_system_are_counted_by_inertia() -> None:
    assert mb.linearize(mb.examples.cart_pendulum(True), n_modes=1).unstable_count == 1
    assert mb.linearize(mb.examples.cart_pendulum(False), n_modes=1).unstable_count == 0
    damped = mb.linearize(mb.examples.mass_spring_damper_chain(8, damping=0.2), n_modes=20)
    assert damped.unstable_count == 0
    assert len(damped.eigenvalues) == 16
    # neither symmetric nor without rolling, and no other way to count: then nothing is claimed
    bicycle = mb.linearize(mb.examples.whipple_bicycle(speed=5.0), n_modes=2)
    assert bicycle.unstable_count is None
    assert bicycle.stable is None
    assert bicycle.stability == f"not determined: only {len(bicycle.eigenvalues)} roots were computed"


@pytest.mark.usefixtures("always_sparse")
@pytest.mark.parametrize("n_modes", [1, 4, 8])
def test_sparse_roots_are_roots_and_the_same_every_time(n_modes: int) -> None:
    bicycle = mb.examples.whipple_bicycle(speed=5.0)
    all_roots = mb.linearize(bicycle).eigenvalues
    first, second = (mb.linearize(bicycle, n_modes=n_modes).eigenvalues for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first[:, None] - all_roots).min(axis=1).max() < 1e-4  # zeros scatter
    with pytest.raises(mb.ModelError, match="ask for fewer"):
        mb.linearize(bicycle, n_modes=1000)


@pytest.mark.usefixtures("always_sparse")
def test_zero_roots_among_the_lowest_are_explained() -> None:
    cart = mb.linearize(mb.examples.cart_pendulum(False), n_modes=1)
    assert {group.explanation for group in cart.ignorable} == {"path: displacement of the whole along x"}
    disk = mb.System("rotor", gravity=(0, 0, 0))
    rotor = disk.add(mb.RigidBody("rotor", mass=1.0, inertia=(0.2, 0.2, 0.3), center_of_mass=(0, 0, 0.4)))
    disk.add(mb.RevoluteJoint("bearing", disk.ground, rotor, at=(0, 0, 0), axis=Z))
    disk.add(mb.RigidBody("bob", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0)))
    disk.add(mb.FixedJoint("clamp", disk.ground, disk["bob"], at=(1, 0, 0)))
    assert all("spin: turn of 'rotor'" in group.explanation for group in mb.linearize(disk, n_modes=1).ignorable)


@pytest.mark.usefixtures("always_sparse")
def test_zero_root_at_a_critical_value_is_not_ignorable() -> None:
    """A bar in balance at any angle about its horizontal hinge: nothing is symmetric, though its stiffness is zero."""
    system = pendulum()
    bar = system["bar"]
    bar.update(center_of_mass=-bar.rotation.T @ bar.position)  # its weight has no moment about the hinge
    lin = mb.linearize(system, n_modes=1)
    np.testing.assert_allclose(lin.eigenvalues, 0.0, atol=1e-6)
    assert not lin.ignorable


@pytest.mark.usefixtures("always_sparse")
def test_carried_displacements_are_recognized_in_a_turning_frame() -> None:
    system = mb.System("free pair", gravity=(0, 0, 0))
    for name, side in (("left", -1.0), ("right", 1.0)):
        system.add(
            mb.RigidBody(name, mass=1.0, inertia=(0.1, 0.2, 0.25), position=(side, 0, 0), velocity=(0, 3 * side, 0))
        )
        system[name].angular_velocity = (0, 0, 3.0)  # type: ignore[attr-defined]
    system.add(mb.FixedJoint("bar", system["left"], system["right"], at=(0, 0, 0)))
    lin = mb.linearize(system, frame=mb.TurningFrame(axis=Z, rate=3.0), n_modes=6)
    carried = [group for group in lin.ignorable if "turns against the frame" in group.explanation]
    assert sorted(np.unique(np.round([root.imag for group in carried for root in group.roots], 9))) == [-3.0, 3.0]


def test_redundant_constraints_do_no_harm() -> None:
    """A bar on two hinges with the same axis: five equations depend on the others."""
    system = pendulum()
    system.add(mb.RevoluteJoint("second hinge", system.ground, system["bar"], at=(0, 1, 0), axis=Y))
    expected = np.sqrt(1.5 * GRAVITY / 2.0)
    np.testing.assert_allclose(np.sort(mb.linearize(system).eigenvalues.imag), [-expected, expected], rtol=1e-10)
    np.testing.assert_allclose(
        np.sort(mb.linearize(system, n_modes=1).eigenvalues.imag), [-expected, expected], rtol=1e-8
    )


class Pumped(mb.ForceElement):
    """A spring whose stiffness swings: at twice its frequency it drives a vibration up (Mathieu's equation)."""

    def wrench(self, t, i, j):
        return -100.0 * (1.0 + 0.5 * np.sin(20.0 * t)) * (j.position - i.position), np.zeros(3)


def test_time_in_a_method_of_a_users_force_is_seen() -> None:
    system = mb.System("pumped", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    system.add(Pumped("spring", system.ground, body, at_i=(0, 0, 0), at_j=(0, 0, 0)))
    with pytest.raises(mb.AnalysisError, match="change along the motion"):
        mb.linearize(system)


@pytest.mark.usefixtures("always_sparse")
def test_modes_are_found_beside_many_ignorable_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six free wheels have twelve roots at zero, more than are looked for at first; w^2 = k/m of masses on springs."""
    system = mb.System("wheels and masses", gravity=(0, 0, 0))
    for k in range(6):
        wheel = system.add(mb.RigidBody(f"wheel {k}", mass=1.0, inertia=(0.2, 0.2, 0.3), position=(0, k, 0)))
        system.add(mb.RevoluteJoint(f"bearing {k}", system.ground, wheel, at=(0, k, 0), axis=Z))
    for k in range(3):
        mass = system.add(mb.RigidBody(f"mass {k}", mass=1.0, inertia=(1, 1, 1), position=(2, k, 0)))
        system.add(mb.TranslationalJoint(f"rail {k}", system.ground, mass, at=(2, k, 0), axis=X))
        system.add(
            mb.SpringDamper(
                f"spring {k}", system.ground, mass, at_i=(1, k, 0), at_j=(2, k, 0), stiffness=4.0 + k, free_length=1.0
            )
        )
    lin = mb.linearize(system, n_modes=2)
    swinging = sorted(root.imag for root in lin.eigenvalues if abs(root) > 1e-3)
    np.testing.assert_allclose(swinging, [-np.sqrt(5.0), -2.0, 2.0, np.sqrt(5.0)], rtol=1e-7)
    monkeypatch.setattr("mbframe.analysis.linear.shift_invert.MOST", 8)
    with pytest.warns(UserWarning, match=r"linearize, n_modes: of the 8 roots .* are ignorable, so that 0 modes"):
        mb.linearize(system, n_modes=2)


def damped_by(value: float) -> mb.System:
    """A mass whose damping is ((value - 0.51)^2 - 0.002^2) N s/m."""
    system = mb.System("damped", gravity=(0, 0, 0))
    mass = system.add(mb.PointMass("mass", mass=1.0, position=(1, 0, 0)))
    system.add(mb.PointOnLineJoint("rail", system.ground, mass, at=(1, 0, 0), axis=(1, 0, 0)))
    damping = (value - 0.51) ** 2 - 0.002**2
    spring = mb.SpringDamper("s", system.ground, mass, at_i=(0, 0, 0), at_j=(1, 0, 0), stiffness=40.0)
    spring.damping_force = f"{damping!r}*v"
    system.add(spring)
    return system


def test_critical_values_near_to_each_other_are_told_apart() -> None:
    """Unstable for 0.004 of an interval of 1, a sixteenth of a sixteenth, between two points of the first search."""
    found = mb.critical_values(damped_by, (0.0, 1.0), points=3)
    assert [c.value for c in found] == pytest.approx([0.508, 0.512], abs=1e-9)
    assert [c.direction for c in found] == ["becomes unstable", "becomes stable"]


class FillsAnArray(mb.ForceElement):
    """A spring along x that writes its force into an array of floats, which cannot hold derivatives."""

    stiffness = mb.parameter(7.0, unit="N/m", help="force at one metre")

    def wrench(self, t, i, j):
        force = np.zeros(3)
        force[0] = -self.stiffness * (j.position[0] - i.position[0])
        return force, np.zeros(3)


def test_a_force_that_fills_an_array_of_floats_has_a_tangent() -> None:
    """Its derivatives come from differences; NaN came back, and other things were blamed for it."""
    system = mb.System("slider", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    system.add(FillsAnArray("spring", system.ground, body, at_i=(0.0, 0.0, 0.0), at_j=(0.0, 0.0, 0.0)))
    assert np.allclose(mb.linearize(system).eigenvalues, [-1j * np.sqrt(7.0), 1j * np.sqrt(7.0)], atol=1e-7)
    assert mb.equilibrium(system).kind == "minimum"
    body.velocity = (1.0, 0.0, 0.0)
    swung = mb.simulate(system, 1.0, integrator=mb.RadauIIA(rtol=1e-8, atol=1e-10))
    assert abs(swung.velocity(body)[-1, 0] - np.cos(np.sqrt(7.0))) < 1e-5


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("7*sign(x)*abs(x)", r"its slope is 7 just below 0 and 7 just above"),
        ("if(x > 0, 7*x, 70*x)", r"slope is 70 just below 0 and 7 just above"),
        ("3*sign(x)", "its value jumps there, from -3"),
        ("7*x + 1e5*x**3", None),
        ("7*abs(x + 2)", None),
    ],
)
def test_a_law_that_switches_where_it_is_linearized_is_named(law: str, said: str | None) -> None:
    """The roots hold on one side only, or on none."""
    system = mb.System("slider", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    system.add(mb.SpringDamper("spring", system.ground, body, at_i=(-1.0, 0.0, 0.0), at_j=(0.0, 0.0, 0.0), force=law))
    if said is None and "abs" in law:
        system.add(mb.PointForce("hold", body, force=(14.0, 0.0, 0.0)))
    expected = pytest.warns(UserWarning, match=f"SpringDamper.*spring.*force: .*{said}") if said else nullcontext()
    with expected:
        mb.linearize(system)


def test_a_setpoint_that_changes_with_the_time_is_named() -> None:
    """The state of an equilibrium does not stay one: to look for it again is no remedy."""
    system = pendulum()
    law = {"quantity": "angle", "proportional": 3.0, "integral": 0.0, "derivative": 0.5, "setpoint": "0.4*t"}
    bar = next(body for body in system.bodies if body.name != "ground")
    system.add(mb.PIDActuator("servo", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0), **law))
    with pytest.raises(mb.AnalysisError, match=r"setpoint of PIDActuator 'servo' changes with the time"):
        mb.linearize(system, mb.equilibrium(system))
