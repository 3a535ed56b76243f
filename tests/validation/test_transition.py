"""Transition matrices: against the motion of displaced states, closed forms and constant coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import mbframe as mb

ACCURATE = mb.DormandPrince(order=8, rtol=1e-12, atol=1e-13)


def accurate(system: mb.System, t_end: float, start: mb.State | None = None) -> mb.Result:
    return mb.simulate(system, t_end, initial=start, t_eval=np.linspace(0.0, t_end, 7), integrator=ACCURATE)


def small_difference(a: mb.State, b: mb.State) -> np.ndarray:
    """Displacements and small rotations of all bodies from state b to state a, (bodies, 6)."""
    rows = []
    for name, m in a.motions.items():
        other = b.motions[name]
        turn = Rotation.from_matrix(m.rotation @ other.rotation.T).as_rotvec()
        rows.append([*(m.position - other.position), *turn])
    return np.array(rows)


def grown(flow: mb.Flow, y: np.ndarray, amplitude: float) -> np.ndarray:
    """What becomes of a perturbation, by central differences of the nonlinear motion, per amplitude."""
    end = float(flow.t[-1])
    sides = []
    for sign in (1.0, -1.0):
        start = flow.perturbed(y, sign * amplitude)
        sides.append(accurate(flow.motion.system, end, start).state(-1))
    return small_difference(*sides) / (2.0 * amplitude)


def predicted(flow: mb.Flow, y: np.ndarray) -> np.ndarray:
    last = flow.bases[-1]
    xi = last.motion @ flow.matrix[-1] @ y
    return np.array([xi[place][:6] for place in last.equations.places.values()])


@pytest.mark.parametrize(
    ("build", "duration", "amplitude"),
    [
        (mb.examples.triple_pendulum, 1.0, 1e-4),
        (mb.examples.four_bar, 1.0, 1e-4),
        (mb.examples.whipple_bicycle, 1.0, 1e-4),
        (mb.examples.chaplygin_sleigh, 1.0, 1e-4),
        (mb.examples.bricard, 1.0, 1e-4),
        (mb.examples.five_bar_pendulum, 0.5, 1e-4),
        (mb.examples.flexible_pendulum, 0.02, 1e-6),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_it_tells_what_becomes_of_displaced_states(build, duration, amplitude):
    system = build()
    flow = mb.transition(system, accurate(system, duration))
    for y in np.random.default_rng(7).normal(size=(2, flow.size)):
        y /= np.linalg.norm(y)
        expected = grown(flow, y, amplitude)
        np.testing.assert_allclose(predicted(flow, y), expected, atol=2e-7 * max(1.0, np.abs(expected).max()))


def test_a_bicycle_that_falls():
    system = mb.examples.whipple_bicycle(speed=2.0)
    mode = max((m for m in mb.linearize(system).modes if not m.ignorable), key=lambda m: m.eigenvalue.real)
    run = accurate(system, 1.5, mode.state(0.05))
    flow = mb.transition(system, run)
    assert np.ptp([np.linalg.norm(a) for a in flow.A]) > 0.1  # not steady
    y = np.random.default_rng(3).normal(size=flow.size)
    y /= np.linalg.norm(y)
    expected = grown(flow, y, 1e-5)
    np.testing.assert_allclose(predicted(flow, y), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "formulation", [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles()]
)
def test_constant_coefficients_give_the_exponential(formulation):
    system = mb.examples.whipple_bicycle(speed=5.0)
    lin = mb.linearize(system, formulation=formulation)
    flow = mb.transition(system, accurate(system, 1.0), formulation=formulation)
    np.testing.assert_allclose(flow.A, np.broadcast_to(flow.A[0], flow.A.shape), atol=1e-9 * np.abs(lin.A).max())
    np.testing.assert_allclose(flow.matrix[-1], expm(flow.A[0]), atol=1e-9 * np.abs(expm(lin.A)).max())
    counted = [m.eigenvalue for m in lin.modes if not m.ignorable]
    multipliers = np.linalg.eigvals(flow.matrix[-1])
    roots = np.linalg.eigvals(flow.A[0])
    for root in counted:  # beside six in a Jordan block, which makes eigenvalues less exact than matrices
        assert np.abs(multipliers - np.exp(root)).min() < 1e-7
        assert np.abs(roots - root).min() < 1e-6 * abs(root)


def test_the_matrix_obeys_its_equation_and_the_volume_follows_the_trace():
    system = mb.examples.triple_pendulum()
    run = mb.simulate(system, 0.6, t_eval=np.linspace(0.0, 0.6, 601), integrator=ACCURATE)
    flow = mb.transition(system, run)
    h = run.t[1] - run.t[0]
    rate = (8.0 * (flow.matrix[3:-1] - flow.matrix[1:-3]) - (flow.matrix[4:] - flow.matrix[:-4])) / (12.0 * h)
    np.testing.assert_allclose(rate, (flow.A @ flow.matrix)[2:-2], atol=1e-6 * np.abs(rate).max())
    # Liouville: what is holonomic and conservative keeps the volume.
    assert abs(np.linalg.det(flow.matrix[-1]) - 1.0) < 1e-9
    assert abs(flow.exponents.sum()) < 1e-9


def hill(omega: float, depth: float, length: float = 1.0, g: float = 9.81) -> np.ndarray:
    """The transition matrix of a small pendulum whose pivot moves along depth cos(omega t), over a period."""

    def rate(t, y):
        stiffness = (g - depth * omega**2 * np.cos(omega * t)) / length
        return [y[1], -stiffness * y[0], y[3], -stiffness * y[2]]

    ends = solve_ivp(rate, (0.0, 2.0 * np.pi / omega), [1.0, 0.0, 0.0, 1.0], rtol=1e-12, atol=1e-13).y[:, -1]
    return np.array([[ends[0], ends[2]], [ends[1], ends[3]]])


@pytest.mark.parametrize("upright", [False, True])
def test_a_pendulum_on_a_driven_pivot(upright):
    omega, depth, sign = 8.0, 0.1, 1.0 if upright else -1.0
    system = mb.System("Mathieu", dimension=2, gravity=(0, -9.81))
    slider = system.add(mb.PlanarBody("slider", mass=1.0, inertia=0.1))
    bob = system.add(mb.PlanarBody("bob", mass=1.0, inertia=1e-9, position=(0, sign)))
    rail = system.add(mb.TranslationalJoint("rail", system.ground, slider, at=(0, 0), axis=(0, 1)))
    system.add(mb.RevoluteJoint("pin", slider, bob, at=(0, 0)))
    system.add(mb.Driver("drive", rail, displacement=f"{depth}*(cos({omega}*t) - 1)"))
    period = 2.0 * np.pi / omega
    flow = mb.transition(system, mb.simulate(system, period))
    found = np.sort_complex(np.linalg.eigvals(flow.matrix[-1]))
    expected = np.sort_complex(np.linalg.eigvals(hill(omega, -sign * depth, g=-sign * 9.81)))
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_jumps_of_functions_of_time_are_between_windows():
    """A spring that is switched on: x'' = 0, then x'' = -k x, glued at the switch."""
    system = mb.System("switched", gravity=(0, 0, 0))
    mass = system.add(mb.PointMass("mass", mass=1.0, position=(1, 0, 0)))
    system.add(mb.PointOnLineJoint("rail", system.ground, mass, at=(1, 0, 0), axis=(1, 0, 0)))

    class Switched(mb.ForceElement):
        stiffness = mb.parameter("if(t > 0.7, 25, 0)", kind="function", unit="N/m")

        def wrench(self, t, i, j):
            return -self.stiffness(t) * (j.position - i.position), np.zeros(3)

    system.add(Switched("spring", system.ground, mass, at_i=(0, 0, 0), at_j=(1, 0, 0)))
    flow = mb.transition(system, mb.simulate(system, 1.5, t_eval=[0.0, 0.7, 1.5]))
    w, tau = 5.0, 0.8
    free = np.array([[1.0, 0.7], [0.0, 1.0]])
    sprung = np.array([[np.cos(w * tau), np.sin(w * tau) / w], [-w * np.sin(w * tau), np.cos(w * tau)]])
    np.testing.assert_allclose(np.abs(flow.matrix[-1]), np.abs(sprung @ free), atol=1e-9)


def test_own_states_grow_along():
    system = mb.System("controlled", gravity=(0, 0, 0))
    mass = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1, 1, 1)))
    system.add(mb.TranslationalJoint("rail", system.ground, mass, at=(0, 0, 0), axis=(1, 0, 0)))
    actuator = mb.PIDActuator("actuator", system.ground, mass, at=(0, 0, 0), axis=(1, 0, 0), quantity="displacement")
    actuator.update(proportional=8.0, integral=3.0, derivative=2.0, setpoint="sin(t)")
    system.add(actuator)
    run = accurate(system, 2.0)
    flow = mb.transition(system, run)
    # 2 x'' = -8 x - 3 z - 2 x', z' = x for changes of a linear system, whatever the motion is.
    A = np.array([[0.0, 1.0, 0.0], [-4.0, -1.0, -1.5], [1.0, 0.0, 0.0]])
    found, expected = (np.sort_complex(np.linalg.eigvals(m)) for m in (flow.matrix[-1], expm(2.0 * A)))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_what_is_driven_has_no_perturbations():
    system = mb.System("driven")
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.Driver("motor", hinge, angle="sin(t)"))
    flow = mb.transition(system, mb.simulate(system, 0.5))
    assert flow.matrix.shape == (len(flow.t), 0, 0)
    assert not len(flow.exponents)


def test_a_kink_in_the_state_is_told():
    system = mb.System("drop")
    ball = system.add(mb.RigidBody("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.3)))
    system.add(
        mb.SpherePlaneContact("floor", system.ground, ball, at=(0, 0, 0.3), radius=0.1, stiffness=1e4, exponent=1.0)
    )
    with pytest.warns(UserWarning, match=r"'drop'.* jump or have a kink at t = 0\.20"):
        mb.transition(system, mb.simulate(system, 0.3))


def test_a_run_that_is_not_accurate_is_told():
    system = mb.examples.triple_pendulum()
    run = mb.simulate(system, 1.0, dt=0.1, integrator=mb.RungeKutta4())
    with pytest.warns(UserWarning, match="differs from its accurate repetition"):
        mb.transition(system, run)


def test_bad_arguments():
    system = mb.examples.triple_pendulum()
    flow = mb.transition(system, mb.simulate(system, 0.1))
    with pytest.raises(mb.ModelError, match="allowed are 18 finite numbers"):
        flow.perturbed(np.ones(3))
    with pytest.raises(mb.ModelError, match="two at least"):
        mb.transition(system, mb.simulate(system, 0.1, t_eval=[0.1]))
    with pytest.raises(mb.ModelError):
        mb.transition(system, "run")  # type: ignore[arg-type]


def test_a_frozen_linearization_is_that_of_the_instant():
    system = mb.examples.four_bar()
    run = accurate(system, 0.5)
    with pytest.raises(mb.AnalysisError, match="neither an equilibrium"):
        mb.linearize(system, run.state(3))
    with pytest.warns(UserWarning, match="nothing about the stability of the motion"):
        lin = mb.linearize(system, run.state(3), frozen=True)
    assert lin.A.shape == (2, 2)


class Switched(mb.ForceElement):
    """A push of 20 N beyond a place."""

    def wrench(self, t, i, j):
        return np.array([20.0 if j.position[0] > 0.5 else 0.0, 0.0, 0.0]), np.zeros(3)


def test_a_load_that_jumps_at_a_place_is_told():
    system = mb.System("switched", gravity=(0, 0, 0))
    mass = system.add(mb.PointMass("mass", mass=1.0, velocity=(1, 0, 0)))
    system.add(Switched("push", system.ground, mass, at_i=(0, 0, 0), at_j=(0, 0, 0)))
    with pytest.warns(UserWarning, match=r"'switched'.* jump or have a kink at t = 0\.5"):
        mb.transition(system, mb.simulate(system, 0.9))


def bouncing(**law) -> mb.System:
    """A ball with a spin of its own that falls on a rough floor."""
    system = mb.System("bouncing")
    ball = system.add(mb.RigidBody("ball", mass=1.0, inertia=(0.004,) * 3, position=(0, 0, 0.15), velocity=(0.3, 0, 0)))
    rough = {"friction": 0.3, "slip_speed": 0.05}
    system.add(
        mb.SpherePlaneContact("floor", system.ground, ball, at=(0, 0, 0.15), radius=0.1, stiffness=1e4, **rough, **law)
    )
    return system


def test_impacts_are_gone_through_and_what_is_left_out_of_sensed_ones_is_told():
    """Forces of contacts do not jump, so their variations are exact; a sensed speed of impacts does."""
    system = bouncing(restitution=0.8, impact_speed=1.0)
    with pytest.warns(UserWarning, match=r"'floor' begins or ceases to act") as told:
        flow = mb.transition(system, accurate(system, 0.2))
    assert "senses" not in str(told[0].message)
    y = np.random.default_rng(1).normal(size=flow.size)
    expected = grown(flow, y, 1e-5)
    assert np.abs(expected).max() > 5.0  # it was thrown back
    np.testing.assert_allclose(predicted(flow, y), expected, atol=1e-7 * np.abs(expected).max())
    system = bouncing(restitution=0.8)
    with pytest.warns(UserWarning, match=r"SpherePlaneContact 'floor' senses the speed .* impact_speed="):
        mb.transition(system, accurate(system, 0.2))


def test_a_damped_stop_is_passed():
    """Damping sets in where the stop is touched: force and coefficients jump, and the windows go on behind it."""
    system = mb.System("stop", gravity=(0, 0, 0))
    mass = system.add(mb.RigidBody("mass", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0)))
    system.add(mb.TranslationalJoint("rail", system.ground, mass, at=(0, 0, 0), axis=(1, 0, 0)))
    stopped = {"at": (0, 0, 0), "axis": (1, 0, 0), "lower": -1.0, "upper": 0.5}
    system.add(mb.DisplacementLimit("stop", system.ground, mass, **stopped, stiffness=50.0, damping=5.0))
    with pytest.warns(UserWarning, match=r"jump or have a kink at t = 0\.5"):
        flow = mb.transition(system, mb.simulate(system, 0.9))
    assert np.isfinite(flow.matrix).all()


def controlled(sample_time: float | None) -> mb.System:
    """2 x'' = 2 z - 5 x, z' = x - 3 z."""
    system = mb.System("controlled", gravity=(0, 0, 0))
    mass = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1, 1, 1), velocity=(0.5, 0, 0)))
    system.add(mb.TranslationalJoint("rail", system.ground, mass, at=(0, 0, 0), axis=(1, 0, 0)))
    law = {"outputs": {"force": "N"}, "system": ([[-3.0]], [[1.0]], [[2.0]], [[-5.0]]), "sample_time": sample_time}
    system.add(mb.LinearController("c", measures=["rail.displacement"], **law))
    system.add(mb.PointForce("push", mass, at=(0, 0, 0), force=("c.force", 0, 0)))
    return system


def test_controllers_are_part_of_the_variations_and_sampled_ones_are_refused():
    system = controlled(None)
    flow = mb.transition(system, accurate(system, 1.0))
    A = np.array([[0.0, 1.0, 0.0], [-2.5, 0.0, 1.0], [1.0, 0.0, -3.0]])
    found, expected = (np.sort_complex(np.linalg.eigvals(m)) for m in (flow.matrix[-1], expm(A)))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    system = controlled(0.01)
    for call in (
        lambda: mb.transition(system, mb.simulate(system, 0.1)),
        lambda: mb.periodic(system, mb.assemble(system), 1.0),
    ):
        with pytest.raises(mb.AnalysisError, match="LinearController 'c' acts at samples"):
            call()
