"""The Whipple bicycle against the benchmark formula, in every formulation, and in nonlinear motion."""

import numpy as np
import pytest
from numpy.typing import NDArray

import mbframe as mb
from mbframe.examples.whipple_bicycle import PARAMETERS

Array = NDArray[np.float64]

FORMULATIONS = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles()]
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837  # m/s, [Meijaard2007]
UNUSUAL = {"trail": 0.03, "steer_axis_tilt": 0.4, "frame_Ixz": 1.1, "front_radius": 0.33, "fork_x": 0.95}


def benchmark(**changed: float) -> tuple[Array, Array, Array, Array]:
    """M, C1, K0, K2 of M q'' + v C1 q' + (g K0 + v^2 K2) q = 0, q = (lean, steer): [Meijaard2007], appendix A."""
    p = PARAMETERS | changed
    w, c, tilt = p["wheel_base"], p["trail"], p["steer_axis_tilt"]
    r_r, m_r, r_f, m_f = p["rear_radius"], p["rear_mass"], p["front_radius"], p["front_mass"]
    x_b, z_b, m_b = p["frame_x"], p["frame_z"], p["frame_mass"]
    x_h, z_h, m_h = p["fork_x"], p["fork_z"], p["fork_mass"]
    sin, cos = np.sin(tilt), np.cos(tilt)
    m_t = m_r + m_b + m_h + m_f
    x_t = (x_b * m_b + x_h * m_h + w * m_f) / m_t
    z_t = (-r_r * m_r + z_b * m_b + z_h * m_h - r_f * m_f) / m_t
    t_xx = p["rear_Ixx"] + p["frame_Ixx"] + p["fork_Ixx"] + p["front_Ixx"]
    t_xx += m_r * r_r**2 + m_b * z_b**2 + m_h * z_h**2 + m_f * r_f**2
    t_xz = p["frame_Ixz"] + p["fork_Ixz"] - m_b * x_b * z_b - m_h * x_h * z_h + m_f * w * r_f
    t_zz = p["rear_Ixx"] + p["frame_Izz"] + p["fork_Izz"] + p["front_Ixx"]
    t_zz += m_b * x_b**2 + m_h * x_h**2 + m_f * w**2
    m_a = m_h + m_f
    x_a, z_a = (x_h * m_h + w * m_f) / m_a, (z_h * m_h - r_f * m_f) / m_a
    a_xx = p["fork_Ixx"] + p["front_Ixx"] + m_h * (z_h - z_a) ** 2 + m_f * (r_f + z_a) ** 2
    a_xz = p["fork_Ixz"] - m_h * (x_h - x_a) * (z_h - z_a) + m_f * (w - x_a) * (r_f + z_a)
    a_zz = p["fork_Izz"] + p["front_Ixx"] + m_h * (x_h - x_a) ** 2 + m_f * (w - x_a) ** 2
    u_a = (x_a - w - c) * cos - z_a * sin
    a_ll = m_a * u_a**2 + a_xx * sin**2 + 2 * a_xz * sin * cos + a_zz * cos**2
    a_lx = -m_a * u_a * z_a + a_xx * sin + a_xz * cos
    a_lz = m_a * u_a * x_a + a_xz * sin + a_zz * cos
    mu = c / w * cos
    s_r, s_f = p["rear_Iyy"] / r_r, p["front_Iyy"] / r_f
    s_t, s_a = s_r + s_f, m_a * u_a + mu * m_t * x_t
    M = np.array([[t_xx, a_lx + mu * t_xz], [a_lx + mu * t_xz, a_ll + 2 * mu * a_lz + mu**2 * t_zz]])
    K0 = np.array([[m_t * z_t, -s_a], [-s_a, -s_a * sin]])
    K2 = np.array([[0.0, (s_t - m_t * z_t) / w * cos], [0.0, (s_a + s_f * sin) / w * cos]])
    coupling = mu * s_t + s_f * cos
    C1 = np.array(
        [
            [0.0, coupling + t_xz / w * cos - mu * m_t * z_t],
            [-coupling, a_lz / w * cos + mu * (s_a + t_zz / w * cos)],
        ]
    )
    return M, C1, p["gravity"] * K0, K2


def benchmark_matrix(speed: float, **changed: float) -> Array:
    M, C1, K0, K2 = benchmark(**changed)
    solved = np.linalg.solve(M, np.hstack([-(K0 + speed**2 * K2), -speed * C1]))
    return np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), solved])


def balance_roots(lin: mb.Linearization) -> Array:
    return np.array([mode.eigenvalue for mode in lin.modes if not mode.ignorable])


def assert_same_roots(found: Array, expected: Array, tolerance: float) -> None:
    """Each root has its own partner."""
    assert len(found) == len(expected)
    left = list(expected)
    for root in found:
        nearest = min(left, key=lambda other: abs(other - root))
        assert abs(nearest - root) <= tolerance * max(1.0, abs(root))
        left.remove(nearest)


def test_the_formula_gives_the_published_roots() -> None:
    published = [-0.77534188219585 + 4.46486771378823j, -0.77534188219585 - 4.46486771378823j]
    published += [-0.32286642900409, -14.07838969279822]
    assert_same_roots(np.linalg.eigvals(benchmark_matrix(5.0)), np.array(published), 1e-12)


@pytest.mark.parametrize("speed", [0.0, 0.3, 1.0, 2.6, WEAVE, 5.0, CAPSIZE, 7.7, 10.0])
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_roots_are_those_of_the_benchmark(speed: float, formulation: mb.Formulation) -> None:
    lin = mb.linearize(mb.examples.whipple_bicycle(speed=speed), formulation=formulation)
    assert_same_roots(balance_roots(lin), np.linalg.eigvals(benchmark_matrix(speed)), 1e-9)
    assert len(lin.eigenvalues) == 10
    assert lin.residuals.max() < 1e-11


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_roots_at_any_speed(formulation: mb.Formulation) -> None:
    """But near 0.684 m/s, where two real roots meet and rounding moves them by its square root."""
    for speed in np.linspace(0.0, 10.0, 101):
        if abs(speed - 0.684) > 0.05:
            lin = mb.linearize(mb.examples.whipple_bicycle(speed=speed), formulation=formulation)
            assert_same_roots(balance_roots(lin), np.linalg.eigvals(benchmark_matrix(speed)), 1e-9)


@pytest.mark.parametrize("speed", [1.0, 6.0])
def test_roots_of_another_bicycle(speed: float) -> None:
    lin = mb.linearize(mb.examples.whipple_bicycle(speed=speed, parameters=UNUSUAL))
    assert_same_roots(balance_roots(lin), np.linalg.eigvals(benchmark_matrix(speed, **UNUSUAL)), 1e-9)


@pytest.mark.parametrize(
    ("speed", "stability"), [(3.0, "unstable"), (4.3, "asymptotic"), (6.02, "asymptotic"), (6.03, "unstable")]
)
def test_stability_between_weave_and_capsize(speed: float, stability: str) -> None:
    lin = mb.linearize(mb.examples.whipple_bicycle(speed=speed))
    assert lin.stability == stability
    assert lin.stable == (stability == "asymptotic")


# --- nonlinear motion -------------------------------------------------------------------------------------------------

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-11, atol=1e-12), "stabilization": mb.DirectCorrection()}


def lean(state: mb.State) -> float:
    """Of the rear wheel, positive to the right (about x, forward) as in the benchmark."""
    return float(np.arcsin(state.motion("rear wheel").rotation[2, 1]))


def leans(result: mb.Result) -> Array:
    return np.arcsin(result.rotation("rear wheel").as_matrix()[:, 2, 1])


def started_with_roll_rate(system: mb.System, rate: float) -> mb.State:
    """All bodies turn about the line on the ground besides: the positions do not change."""
    start = mb.assemble(system)
    motions = {}
    for name, m in start.motions.items():
        roll = np.array([rate, 0.0, 0.0])
        velocity, spin = m.velocity + np.cross(roll, m.position), m.angular_velocity + roll
        motions[name] = type(m)(m.position, m.rotation, velocity, spin)
    return mb.State(0.0, motions)


def test_nonlinear_motion_follows_the_linear_one() -> None:
    """From a roll rate of 0.01 rad/s at 4.6 m/s, where the motion decays."""
    speed, rate, t = 4.6, 0.01, np.linspace(0.0, 5.0, 101)
    system = mb.examples.whipple_bicycle(speed=speed)
    result = mb.simulate(system, 5.0, initial=started_with_roll_rate(system, rate), t_eval=t, **PRECISE)
    values, vectors = np.linalg.eig(benchmark_matrix(speed))
    weights = np.linalg.solve(vectors, np.array([0.0, 0.0, rate, 0.0]))
    expected = ((vectors[0] * weights) @ np.exp(np.outer(values, t))).real
    assert np.abs(leans(result) - expected).max() <= 1e-3 * np.abs(expected).max()
    assert np.ptp(result.energy.total) <= 1e-8 * result.energy.kinetic.max()
    assert result.violation.velocity.max() <= 1e-10


def bicycle_with_torque(torque: float) -> mb.System:
    """A rider holds a constant torque at the handlebars."""
    system = mb.examples.whipple_bicycle(speed=5.0)
    steering = system["steering"]
    rider = mb.TorsionalSpringDamper("rider", system["frame"], system["fork"], at=steering.at, axis=steering.axis)
    rider.torque = str(torque)
    system.add(rider)
    return system


def rear_speed(state: mb.State) -> float:
    return float(np.linalg.norm(state.velocity("rear wheel")))


def test_steady_turn_is_found_and_kept() -> None:
    system = bicycle_with_torque(0.05)
    turn = mb.steady(system, given=[(rear_speed, 5.0)])
    assert rear_speed(turn) == pytest.approx(5.0, abs=1e-10)
    assert abs(lean(turn)) > 0.03
    lin = mb.linearize(system, turn)
    assert lin.stability == "asymptotic"
    assert len(lin.eigenvalues) == 10
    result = mb.simulate(system, 20.0, initial=turn, t_eval=np.linspace(0.0, 20.0, 41), **PRECISE)
    assert np.abs(leans(result) - lean(turn)).max() <= 1e-6
    assert np.abs(result.angular_velocity("frame")[:, 2] - turn.frame.rate).max() <= 1e-6


def test_hands_free_turns_begin_at_the_capsize_speed() -> None:
    """Where straight running loses its stability by a zero root, steady turns branch off ([Meijaard2007])."""
    system = mb.examples.whipple_bicycle(speed=CAPSIZE)
    turn = mb.steady(system, given=[(lean, 1e-3)])
    assert rear_speed(turn) == pytest.approx(CAPSIZE, abs=1e-4)
    assert abs(turn.frame.rate) > 1e-4


def test_modes_move_all_bodies_within_the_constraints() -> None:
    system = mb.examples.whipple_bicycle(speed=5.0)
    lin = mb.linearize(system)
    weave = next(mode for mode in lin.modes if mode.eigenvalue.imag > 0)
    assert weave.frequency == pytest.approx(4.46486771378823 / (2 * np.pi))
    assert weave.condition < 10.0
    eq = mb.Equations(system)
    for phase in (0.0, 1.0):
        displaced = weave.state(1e-4, phase, assembled=False)
        assert all(np.abs(part).max() <= 1e-6 for part in eq.violation(0.0, eq.coordinates(displaced)))
        closed = weave.state(0.1, phase)
        assert all(np.abs(part).max() <= 1e-10 for part in eq.violation(0.0, eq.coordinates(closed)))


def test_ignorable_roots_are_explained() -> None:
    lin = mb.linearize(mb.examples.whipple_bicycle(speed=5.0))
    words = [group.explanation for group in lin.ignorable]
    assert [word.split(":")[0] for word in words] == ["path", "path", "heading", "spin", "spin", "speed"]
    assert sum("wheel" in word for word in words) == 2
    assert "heading" in str(lin)


def test_pencil_has_the_finite_roots() -> None:
    """2 n - 2 m_h - m_nh = 10 finite roots with n = 24, m_h = 17, m_nh = 4; the others are infinite."""
    from scipy.linalg import eigvals

    lin = mb.linearize(mb.examples.whipple_bicycle(speed=5.0))
    E, A = lin.pencil
    assert E.shape == (2 * 24 + 17 + 4,) * 2
    roots = eigvals(A.toarray(), E.toarray())
    finite = roots[np.abs(roots) < 1e3]
    for root in balance_roots(lin):
        assert np.abs(finite - root).min() <= 1e-6


def test_weave_and_capsize_speeds() -> None:
    """Where the real part of the oscillating pair, and the slow real root, pass through zero."""
    from scipy.optimize import brentq

    def weave(speed: float) -> float:
        roots = balance_roots(mb.linearize(mb.examples.whipple_bicycle(speed=speed)))
        return float(max(root.real for root in roots if root.imag > 0))

    def capsize(speed: float) -> float:
        roots = balance_roots(mb.linearize(mb.examples.whipple_bicycle(speed=speed)))
        return float(max(root.real for root in roots if root.imag == 0))

    assert brentq(weave, 4.2, 4.4, xtol=1e-13) == pytest.approx(WEAVE, abs=1e-9)
    assert brentq(capsize, 5.9, 6.1, xtol=1e-13) == pytest.approx(CAPSIZE, abs=1e-9)
