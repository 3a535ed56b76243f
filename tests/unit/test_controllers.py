"""Controllers: what they see, what they give and when, in runs, simulations and files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

import mbframe as mb


class Heun(mb.Integrator):
    """A user's integrator."""

    order = 2

    def step(self, eq, t, q, v, h):  # type: ignore[no-untyped-def]
        a = eq.accelerate(t, q, v)[0]
        q1, v1 = q + h * eq.coordinate_rates(q, v), v + h * a
        b = eq.accelerate(t + h, q1, v1)[0]
        return q + 0.5 * h * eq.coordinate_rates(q, v + v1), v + 0.5 * h * (a + b)


INTEGRATORS = [
    (mb.RungeKutta4(), 0.01, 1e-11),
    (mb.RungeKutta4(), 0.03, 1e-11),  # samples lie within steps
    (mb.AdamsBashforth(order=4), 0.005, 1e-9),
    (mb.GeneralizedAlpha(), 0.01, 1e-9),
    (mb.DormandPrince(rtol=1e-10), None, 1e-11),
    (mb.RadauIIA(rtol=1e-10), None, 1e-9),
    (mb.BDF(rtol=1e-10), None, 1e-7),
    (Heun(), 0.01, 1e-11),
]
NAMES = [f"{type(i).__name__} {dt}" for i, dt, _ in INTEGRATORS]


class Relay(mb.Controller):
    """Switches beyond a threshold."""

    outputs = {"torque": "N m"}  # noqa: RUF012
    threshold = mb.parameter(0.1, unit="rad", help="switches beyond")

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [-np.sign(y[0]) * (abs(y[0]) > self.threshold)]


class Clock(mb.Controller):
    """Gives the time of its last sample, and counts them."""

    outputs = {"time": "s", "count": ""}  # noqa: RUF012
    states = 1

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [t, z[0]]

    def update(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [z[0] + 1.0]


def cart(*controllers: mb.Controller, force: Any = "c.force", x: float = 1.0, dimension: int = 3) -> mb.System:
    """2 kg on a rail along x without gravity, and a measure of its place."""
    system = mb.System("cart", dimension=dimension, gravity=(0.0,) * dimension)
    if dimension == 2:
        body = system.add(mb.PlanarBody("cart", mass=2.0, inertia=1.0, position=(x, 0.0)))
    else:
        body = system.add(mb.RigidBody("cart", mass=2.0, inertia=(1, 1, 1), position=(x, 0, 0)))
    at, axis = (0.0,) * dimension, (1.0, *(0.0,) * (dimension - 1))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=at, axis=axis))
    system.add(mb.Displacement("x", system.ground, body, at_i=at, at_j=(x, *at[1:]), axis=axis))
    for controller in controllers:
        system.add(controller)
    system.add(mb.PointForce("f", body, at=(x, *at[1:]), force=(force, *at[1:])))
    return system


def pendulum(*controllers: mb.Controller, torque: Any = "c.torque", angle: float = 0.0) -> mb.System:
    """A bar of 1 m and 1 kg on a hinge about y, hanging when it is described."""
    system = mb.System("pendulum")
    bar = system.add(mb.RigidBody("bar", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5)))
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    for controller in controllers:
        system.add(controller)
    system.add(mb.Torque("m", bar, torque=(0, torque, 0)))
    return system


def held(gain: np.ndarray, x: np.ndarray, T: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity of 2 kg under u = -gain x held for T, and u, at each sample."""
    states, loads = [x], []
    for _ in range(steps):
        u = float(-gain @ x)
        x = np.array([x[0] + T * x[1] + T * T / 4.0 * u, x[1] + T * u / 2.0])
        states.append(x)
        loads.append(u)
    return np.array(states), np.array(loads)


# --- feedback ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("integrator", "dt", "tolerance"),
    [(mb.RungeKutta4(), 1e-3, 1e-11), (mb.DormandPrince(rtol=1e-10), None, 1e-8), (mb.RadauIIA(), None, 1e-5)],
)
@pytest.mark.parametrize("dimension", [2, 3])
def test_state_feedback_makes_a_spring_and_a_damper(
    integrator: mb.Integrator, dt: float | None, tolerance: float, dimension: int
) -> None:
    """u = -18 x - 4 x' on 2 kg: x = exp(-t) (cos wt + sin(wt)/w), w^2 = 8."""
    system = cart(mb.StateFeedback("c", measures=["x"], gain=[[18.0, 4.0]]), dimension=dimension)
    result = mb.simulate(system, 2.0, dt, integrator=integrator)
    t, w = result.t, np.sqrt(8.0)
    x = np.exp(-t) * (np.cos(w * t) + np.sin(w * t) / w)
    v = np.exp(-t) * (-np.sin(w * t) * (w + 1.0 / w))
    np.testing.assert_allclose(result.quantity("x").values, x, atol=tolerance)
    np.testing.assert_allclose(result.quantity("c.force").values, -18.0 * x - 4.0 * v, atol=40 * tolerance)
    np.testing.assert_allclose(result.quantity("f.force.x").values, result.quantity("c.force").values, atol=1e-13)
    assert result.quantities()["c.force"] == "N"
    assert not result.info.warnings


@pytest.mark.parametrize(("integrator", "dt", "tolerance"), INTEGRATORS, ids=NAMES)
def test_a_sampled_output_is_held_from_sample_to_sample(
    integrator: mb.Integrator, dt: float | None, tolerance: float
) -> None:
    """Between samples the load is constant, so that the exact motion is that of a difference equation."""
    gain, T = np.array([8.0, 3.0]), 0.1
    system = cart(mb.StateFeedback("c", measures=["x"], gain=[gain], sample_time=T))
    result = mb.simulate(system, 1.0, dt, integrator=integrator, t_eval=np.arange(11) * T)
    states, loads = held(gain, np.array([1.0, 0.0]), T, 10)
    np.testing.assert_allclose(result.quantity("x").values, states[:, 0], atol=tolerance)
    np.testing.assert_allclose(result.quantity("c.force").values[:10], loads, atol=30 * tolerance)
    assert not result.info.warnings


def test_the_discrete_regulator_is_that_of_the_riccati_equation() -> None:
    """Its closed loop is x_{k+1} = (A - B K) x_k with the exact sampled A and B."""
    T = 0.05
    A, B = np.array([[1.0, T], [0.0, 1.0]]), np.array([[T * T / 4.0], [T / 2.0]])
    Q, R = np.diag([10.0, 1.0]), np.array([[0.1]])
    P = scipy.linalg.solve_discrete_are(A, B, Q, R)
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    system = cart(mb.StateFeedback("c", measures=["rail.displacement"], gain=K, sample_time=T), x=0.0)
    system["cart"].velocity = (1.0, 0.0, 0.0)
    result = mb.simulate(system, 3.0, dt=0.025)
    x = np.array([0.0, 1.0])
    for k in range(60):
        np.testing.assert_allclose(
            [result.quantity("x").values[2 * k], result.quantity("cart.velocity.x").values[2 * k]], x, atol=1e-12
        )
        x = (A - B @ K) @ x
    # The regulator is the best one: its cost is x0' P x0.
    states = np.column_stack([result.quantity("x").values, result.quantity("cart.velocity.x").values])[:-1:2]
    loads = result.quantity("c.force").values[:-1:2]
    cost = float(np.einsum("ki,ij,kj->", states, Q, states) + R[0, 0] * loads @ loads)
    assert cost + x @ P @ x == pytest.approx(P[1, 1], rel=1e-10)


def test_convergence_between_samples_is_that_of_the_integrator() -> None:
    """A pendulum, which is not linear, under a sampled controller."""
    ends = []
    for dt in (0.02, 0.01, 0.005, 0.0025):
        system = pendulum(
            mb.StateFeedback(
                "c", outputs={"torque": "N m"}, measures=["hinge.angle"], gain=[[6.0, 1.0]], sample_time=0.04
            )
        )
        system["bar"].angular_velocity = (0.0, 3.0, 0.0)
        system["bar"].velocity = (-1.5, 0.0, 0.0)
        ends.append(mb.simulate(system, 0.8, dt).quantity("hinge.angle").values[-1])
    errors = np.abs(np.diff(ends))
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(orders > 3.7)


@pytest.mark.parametrize("T", [0.1, 1.0 / 3.0])
def test_samples_do_not_drift(T: float) -> None:
    count = 1000
    system = cart(Clock("clock", sample_time=T), force="0*clock.time")
    result = mb.simulate(system, count * T, integrator=mb.DormandPrince(max_step=T))
    assert result.quantity("clock.count").values[-1] in (count - 1, count)
    times = np.unique(result.quantity("clock.time").values)
    np.testing.assert_array_equal(times[:count], np.arange(count) * T)


@pytest.mark.full
def test_a_million_samples_do_not_drift() -> None:
    T, count = 0.1, 1_000_000
    system = cart(Clock("clock", sample_time=T), force="0*clock.time")
    result = mb.simulate(system, count * T, dt=T, t_eval=[(count - 0.5) * T])
    assert result.quantity("clock.time").values[-1] == (count - 1) * T
    assert result.quantity("clock.count").values[-1] == count - 1


def test_two_sample_times_share_instants() -> None:
    """0.1 * 3 is a little more than 0.3: that is one instant."""
    system = cart(Clock("fast", sample_time=0.1), Clock("slow", sample_time=0.3), force="0*fast.time + 0*slow.time")
    result = mb.simulate(system, 3.05, integrator=mb.DormandPrince(), t_eval=[0.0, 0.95, 3.05])
    np.testing.assert_array_equal(result.quantity("fast.count").values, [0, 9, 30])
    np.testing.assert_array_equal(result.quantity("slow.count").values, [0, 3, 10])
    assert np.all(result.info.rejected == 0)


def test_limits_bound_size_and_change() -> None:
    system = cart(mb.StateFeedback("c", measures=["x"], gain=[[8.0, 0.0]], sample_time=0.1, limit=3.0, rate_limit=20.0))
    force = mb.simulate(system, 1.0, dt=0.1).quantity("c.force").values
    np.testing.assert_allclose(force[:4], [-2.0, -3.0, -3.0, -3.0])
    assert np.all(np.abs(np.diff(force)) <= 2.0 + 1e-12)
    system = cart(mb.StateFeedback("c", measures=["x"], gain=[[8.0, 0.0]], limit=3.0))
    result = mb.simulate(system, 0.5, dt=0.01)
    np.testing.assert_allclose(result.quantity("x").values, 1.0 - 0.75 * result.t**2, atol=1e-12)


# --- states -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", [mb.RungeKutta4(), mb.RadauIIA(rtol=1e-9), mb.DormandPrince(rtol=1e-10)])
def test_a_linear_controller_is_its_closed_loop(integrator: mb.Integrator) -> None:
    """z' = -5 z + y, u = 30 z - 40 y on 2 kg, against the matrix exponential."""
    one = mb.LinearController("c", measures=["x"], system=([[-5.0]], [[1.0]], [[30.0]], [[-40.0]]), start=[0.2])
    result = mb.simulate(cart(one), 1.0, 1e-3, integrator=integrator)
    loop = np.array([[0.0, 1.0, 0.0], [-20.0, 0.0, 15.0], [1.0, 0.0, -5.0]])
    exact = np.array([scipy.linalg.expm(loop * t) @ [1.0, 0.0, 0.2] for t in result.t])
    np.testing.assert_allclose(result.quantity("x").values, exact[:, 0], atol=1e-7)
    np.testing.assert_allclose(result.element_states("c")[:, 0], exact[:, 2], atol=1e-7)
    np.testing.assert_allclose(result.quantity("c.force").values, 30.0 * exact[:, 2] - 40.0 * exact[:, 0], atol=1e-5)


def test_at_a_sample_the_output_comes_before_the_update() -> None:
    """u_k = C z_k + D y_k, z_{k+1} = A z_k + B y_k, with z_0 at the start."""
    matrices = ([[0.5]], [[1.0]], [[2.0]], [[-8.0]])
    result = mb.simulate(
        cart(mb.LinearController("c", measures=["x"], system=matrices, sample_time=0.1, start=[1.0])), 1.0, dt=0.1
    )
    x, z = np.array([1.0, 0.0]), 1.0
    for k in range(10):
        u = 2.0 * z - 8.0 * x[0]
        assert result.quantity("c.force").values[k] == pytest.approx(u, abs=1e-12)
        z = 0.5 * z + x[0]
        assert result.quantity("c.state.0").values[k] == pytest.approx(z, abs=1e-12)
        x = np.array([x[0] + 0.1 * x[1] + 0.0025 * u, x[1] + 0.05 * u])
        assert result.quantity("x").values[k + 1] == pytest.approx(x[0], abs=1e-12)


def test_systems_of_other_packages_are_taken() -> None:
    lag = scipy.signal.TransferFunction([2.0], [0.5, 1.0])
    one = mb.LinearController("c", measures=["x"], system=lag)
    A, B, C, D = one.system
    assert C @ np.linalg.solve(1j * np.eye(1) - A, B) + D == pytest.approx(2.0 / (0.5j + 1.0))
    discrete = lag.to_ss().to_discrete(0.01, "zoh")
    assert mb.LinearController("c", measures=["x"], system=discrete).sample_time == 0.01
    with pytest.raises(mb.ModelError, match=r"made for 0\.01 s"):
        mb.LinearController("c", measures=["x"], system=discrete, sample_time=0.02)
    control = pytest.importorskip("control")
    assert mb.LinearController("c", measures=["x"], system=control.ss(A, B, C, D)).states == 1


# --- users' classes ---------------------------------------------------------------------------------------------------


def test_a_users_controller_is_compiled_and_sees_in_order() -> None:
    system = pendulum(Relay("c", measures=["hinge.angle"], sample_time=0.02))
    system["bar"].angular_velocity, system["bar"].velocity = (0.0, 2.0, 0.0), (-1.0, 0.0, 0.0)
    result = mb.simulate(system, 1.0, dt=0.01)
    assert not result.info.warnings
    angle, torque = result.quantity("hinge.angle").values, result.quantity("c.torque").values
    sampled = angle[:-1:2]
    np.testing.assert_array_equal(torque[:-1:2], -np.sign(sampled) * (np.abs(sampled) > 0.1))
    np.testing.assert_array_equal(torque[1::2], torque[:-1:2])


def test_python_gives_the_same_and_says_so() -> None:
    class Interpreted(Relay):
        def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
            return [float(str(-np.sign(y[0]) * (abs(y[0]) > self.threshold)))]

    results = []
    for kind in (Relay, Interpreted):
        system = pendulum(kind("c", measures=["hinge.angle"]))
        system["bar"].angular_velocity, system["bar"].velocity = (0.0, 2.0, 0.0), (-1.0, 0.0, 0.0)
        results.append(mb.simulate(system, 0.2, dt=0.01))
    np.testing.assert_array_equal(results[0].q, results[1].q)
    assert not results[0].info.warnings
    assert "Interpreted.output of 'c' is called from Python at each evaluation" in results[1].info.warnings[0]


def test_update_still_assigns_parameters() -> None:
    clock = Clock("clock", sample_time=0.1)
    clock.sample_time = 0.2
    clock.update(limit=3.0)
    assert (clock.sample_time, clock.limit) == (0.2, 3.0)


# --- what is seen -----------------------------------------------------------------------------------------------------


class Mirror(mb.Controller):
    """Gives what it sees, and the rates of that."""

    outputs = {f"{kind}{k}": "" for kind in ("y", "r") for k in range(7)}  # noqa: RUF012

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [*y, *y_rate]


def test_everything_is_seen_as_results_have_it() -> None:
    system = mb.System("universal")
    a = system.add(mb.RigidBody("a", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0, 0, 1), angular_velocity=(0, 0, 9)))
    b = system.add(mb.RigidBody("b", mass=2.0, inertia=(0.3, 0.1, 0.2), position=(0, 0.5, 2)))
    b.update(angular_velocity=(0, 0, 9), velocity=(-4.5, 0, 0))
    system.add(mb.RevoluteJoint("hinge", system.ground, a, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.UniversalJoint("cross", a, b, at=(0, 0, 1.5), axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    system.add(mb.Distance("d", system.ground, b, at_i=(3, 0, 0), at_j=(0, 1, 2)))
    rates = {  # what results call them; they have none for that of a measure
        "d": None,
        "hinge.angle": "hinge.angle_rate",
        "cross.angle_1": "cross.angle_1_rate",
        "cross.angle_2": "cross.angle_2_rate",
        "b.position.y": "b.velocity.y",
    }
    names = [*rates, "b.velocity.z", "b.angular_velocity.x"]
    system.add(Mirror("c", measures=names))
    system.add(mb.PointForce("f", b, at=(0, 0, 2), force=("0*c.y0", 0, 0)))
    result = mb.simulate(system, 2.0, dt=1e-3)

    def value(name: str) -> np.ndarray:
        return result.quantity(name).values

    for k, name in enumerate(names):
        np.testing.assert_allclose(value(f"c.y{k}"), value(name), rtol=1e-9, atol=1e-9, err_msg=name)
        if name not in rates:
            assert np.all(np.isnan(value(f"c.r{k}")))
        elif (rate := rates[name]) is not None:
            assert np.ptp(value(rate)) > 1e-3
            np.testing.assert_allclose(value(f"c.r{k}"), value(rate), rtol=1e-9, atol=1e-9, err_msg=rate)
        else:
            by_differences = np.gradient(value(name), result.t, edge_order=2)[5:-5]
            np.testing.assert_allclose(value(f"c.r{k}")[5:-5], by_differences, rtol=1e-3, atol=2e-3, err_msg=name)
    assert result.quantity("hinge.angle").values[-1] > 2.0 * np.pi  # turns are counted


def test_the_plane_is_seen() -> None:
    system = mb.System("plane", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=1.0, inertia=0.1, position=(0.5, 0.0), angle=0.0))
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0)))
    names = ["bar.angle", "hinge.angle", "bar.angular_velocity", "bar.position.x", "hinge.angle_rate", "bar.velocity.y"]
    system.add(Mirror("c", measures=[*names, "bar.position.y"]))
    system.add(mb.Torque("m", bar, torque="0*c.y0"))
    result = mb.simulate(system, 1.0, dt=1e-3)
    for k, name in enumerate([*names, "bar.position.y"]):
        np.testing.assert_allclose(result.quantity(f"c.y{k}").values, result.quantity(name).values, atol=1e-10)
    np.testing.assert_allclose(
        result.quantity("c.r0").values, result.quantity("bar.angular_velocity").values, atol=1e-10
    )


def test_inputs_and_other_controllers_are_seen() -> None:
    first = mb.LinearController("a", measures=["target"], system=([], [], [], [[3.0]]))
    second = mb.LinearController("b", measures=["a.force", "x"], system=([], [], [], [[1.0, -3.0]]), sample_time=0.1)
    system = cart(force=0.0)
    system.remove("f")
    system.add(mb.Input("target", value=2.0))
    system.add(first)
    system.add(second)
    system.add(mb.PointForce("f", system["cart"], force=("b.force", 0, 0)))
    with mb.Simulation(system, dt=0.1) as sim:
        assert sim.quantity("b.force") == 3.0
        sim.inputs["target"] = 1.0
        assert (sim.quantity("a.force"), sim.quantity("b.force")) == (3.0, 3.0)
        sim.step()
        assert sim.quantity("b.force") == pytest.approx(3.0 - 3.0 * sim.quantity("x"))


# --- in simulations ---------------------------------------------------------------------------------------------------


def test_snapshots_and_resets_include_what_is_held() -> None:
    matrices = ([[0.5]], [[1.0]], [[2.0]], [[-8.0]])
    system = cart(mb.LinearController("c", measures=["x"], system=matrices, sample_time=0.1))
    for dt in (1e-2, None):
        with mb.Simulation(system, dt) as sim:
            sim.advance(to=0.55)
            mark = sim.snapshot()
            sim.advance(to=1.0)
            first = sim.result()
            sim.restore(mark)
            sim.advance(to=1.0)
            again = sim.result()
            for name in ("q", "v", "z"):
                np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
            sim.reset()
            sim.advance(to=0.55)
            sim.advance(to=1.0)
            np.testing.assert_array_equal(first.quantity("c.force").values, sim.result().quantity("c.force").values)
            assert list(sim.inputs) == []


def test_simulate_and_simulation_are_the_same_run() -> None:
    system = cart(mb.StateFeedback("c", measures=["x"], gain=[[8.0, 1.0]], sample_time=0.05))
    whole = mb.simulate(system, 1.0, dt=0.01)
    with mb.Simulation(system, dt=0.01) as sim:
        for _ in range(100):
            sim.step()
        np.testing.assert_array_equal(sim.result().q, whole.q)
        np.testing.assert_array_equal(sim.result().quantity("c.force").values, whole.quantity("c.force").values)


def test_a_state_carries_states_and_held_outputs() -> None:
    matrices = ([[0.5]], [[1.0]], [[2.0]], [[-8.0]])
    for time in (0.1, None):
        system = cart(mb.LinearController("c", measures=["x"], system=matrices, sample_time=time))
        whole = mb.simulate(system, 1.0, dt=0.01)
        half = mb.simulate(system, 0.55, dt=0.01)
        state = half.state(-1)
        rest = mb.simulate(system, 1.0, dt=0.01, initial=state)
        if time is None:
            np.testing.assert_allclose(rest.quantity("x").values[-1], whole.quantity("x").values[-1], atol=1e-12)
        assert state.element_states["c" if time is None else "c.state.0"] == half.quantity("c.state.0").values[-1]


# --- files and systems ------------------------------------------------------------------------------------------------


def test_files_scripts_pickles_and_result_files(tmp_path: Path) -> None:
    system = cart(
        mb.StateFeedback("c", outputs={"force": "kN"}, measures=["x"], gain=[[8.0, 1.0]], sample_time=0.1, limit=5)
    )
    system.add(mb.LinearController("d", measures=["c.force", "x"], system=([[-1.0]], [[1, 0]], [[2.0]], [[0, 0.5]])))
    wanted = mb.simulate(system, 1.0, dt=0.05)
    mb.save(system, tmp_path / "cart.json")
    scope: dict[str, Any] = {}
    exec(mb.to_python(system), scope)
    for other in (mb.load(tmp_path / "cart.json"), scope["system"], pickle.loads(pickle.dumps(system))):
        assert repr(other["c"]) == repr(system["c"])
        np.testing.assert_array_equal(mb.simulate(other, 1.0, dt=0.05).q, wanted.q)
    mb.simulate(system, 1.0, dt=0.05, output=tmp_path / "run.h5")
    stored = mb.load_result(tmp_path / "run.h5")
    for name in ("c.force", "d.force", "d.state.0"):
        np.testing.assert_array_equal(stored.quantity(name).values, wanted.quantity(name).values)
    assert stored.quantities()["c.force"] == "kN"


def test_what_is_seen_is_followed_kept_and_included() -> None:
    system = cart(mb.StateFeedback("c", measures=["x"], gain=[[8.0, 1.0]]))
    system["x"].name = "place"
    assert system["c"].measures == ("place",)
    with pytest.raises(mb.ModelError, match="remove first what is attached: c"):
        system.remove("place")
    with pytest.raises(mb.ModelError, match="would name what is not there"):
        system["c"].name = "other"
    whole = mb.System("whole", gravity=(0, 0, 0))
    whole.include(system, "left_")
    assert whole["left_c"].measures == ("left_place",)
    np.testing.assert_allclose(mb.simulate(whole, 1.0, dt=0.1).q, mb.simulate(system, 1.0, dt=0.1).q)


# --- bad input --------------------------------------------------------------------------------------------------------


def test_wrong_descriptions_are_refused() -> None:
    for make, message in (
        (lambda: mb.StateFeedback("c", measures=["x"], gain=[[1.0]]), "allowed are 1 x 2, a row for each output"),
        (lambda: mb.StateFeedback("2c", measures=["x"], gain=[[1.0, 0]]), "letters, digits and underscores"),
        (lambda: mb.StateFeedback("c", outputs={"f x": "N"}, measures=["x"], gain=[[1.0, 0]]), "found 'f x'"),
        (lambda: mb.StateFeedback("c", measures=["x"], gain=[[1.0, 0]], sample_time=0.0), "sample_time"),
        (lambda: mb.StateFeedback("c", measures=["x"], gain=[[1.0, 0]], rate_limit=1.0), "there is no sample time"),
        (lambda: mb.StateFeedback("c", measures=["x"], gain=[[1.0, 0]], limit=(1, 2)), "one for each of 1 outputs"),
        (lambda: mb.LinearController("c", measures=["x"], system=([[1.0]], [[1.0]], [[1.0]])), "found 3 entries"),
        (lambda: mb.LinearController("c", measures=["x"], system=([[1]], [[1, 2]], [[1]], [[0]])), "found B of 1 x 2"),
        (lambda: mb.LinearController("c", measures=["x", "y"], system=([[1]], [[1]], [[1]], [[0]])), "of 1 inputs"),
        (lambda: Clock("c"), "without a sample time write state_rate"),
    ):
        with pytest.raises(mb.ModelError, match=message):
            make()


def test_what_is_not_there_cannot_be_seen() -> None:
    system = cart(force=0.0)
    for name in ("y", "rail.angle", "cart.position", "cart.position.w", "cart.acceleration.x", "ground.position.x"):
        with pytest.raises(mb.ModelError, match=f"there is no '{name}' that it could see"):
            system.add(mb.StateFeedback("c", measures=[name], gain=[[1.0, 0.0]]))
    with pytest.raises(mb.ModelError, match=r"names 'lqr[.]force', but there is t alone"):
        system["f"].force = ("lqr.force", 0, 0)


def test_algebraic_loops_are_named() -> None:
    gain = ([], [], [], [[1.0, 1.0]])
    system = cart(force=0.0)
    a = system.add(mb.LinearController("a", measures=["x", "x"], system=gain))
    system.add(mb.LinearController("b", measures=["x", "a.force"], system=gain))
    with pytest.raises(mb.ModelError, match="'a' sees 'b' sees 'a'"):
        a.measures = ["x", "b.force"]
    assert a.measures == ("x", "x")
    a.update(system=([[-1.0]], [[1.0, 1.0]], [[1.0]], [[0.0, 0.0]]))
    a.measures = ["x", "b.force"]  # a state breaks the loop
    mb.simulate(system, 0.1, dt=0.01)


def test_controllers_that_give_no_numbers_are_named_and_the_result_is_kept() -> None:
    class Root(Relay):
        def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
            return [np.sqrt(0.55 - t)]

    class Wrong(Relay):
        def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
            return [1.0, 2.0]

    class Raising(Relay):
        def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
            if t > 0.55:
                raise RuntimeError("too late")
            return [0.0]

    for time in (0.1, None):
        with pytest.raises(mb.SimulationError, match=r"Root 'c'.*not finite") as caught, np.errstate(all="ignore"):
            mb.simulate(pendulum(Root("c", measures=["hinge.angle"], sample_time=time)), 1.0, dt=0.02)
        assert caught.value.result is not None
        assert caught.value.result.t[-1] == pytest.approx(0.6 if time else 0.54, abs=0.021)
        with pytest.raises(mb.SimulationError, match=r"Raising 'c'.*RuntimeError: too late"):
            mb.simulate(pendulum(Raising("c", measures=["hinge.angle"], sample_time=time)), 1.0, dt=0.02)
    with pytest.raises(mb.ModelError, match=r"returned a output of shape \(2,\); allowed is \(1,\)"):
        mb.simulate(pendulum(Wrong("c", measures=["hinge.angle"])), 1.0, dt=0.02)
    blind = mb.StateFeedback("c", outputs={"torque": "N m"}, measures=["hinge.angle_rate"], gain=[[0.0, 1.0]])
    with pytest.raises(mb.SimulationError, match=r"'c'.*a rate .* that is not known before the motion is"):
        mb.simulate(pendulum(blind), 1.0, dt=0.02)
