"""Batches of runs: each is the run that `simulate` makes, to the last bit, whatever ran before it in its thread."""

import copy
import signal
import subprocess
import sys

import numpy as np
import pytest

import mbframe as mb


def quantities_of(system, names, **arguments):
    result = mb.simulate(system, **arguments)
    return result, [result.quantity(name).values for name in names]


def with_values(system, values):
    twin = copy.deepcopy(system)
    for name, value in values.items():
        element, _, field = name.rpartition(".")
        setattr(twin if element == twin.name else twin[element], field, value)
    return twin


def assert_same_runs(system, parameters, names, **arguments):
    runs = mb.batch(system, parameters, quantities=names, **arguments)
    arguments.pop("threads", None)
    initial = arguments.pop("initial", None)
    for k in range(len(runs)):
        start = initial[k] if isinstance(initial, list) else initial
        twin = with_values(system, {name: values[k] for name, values in parameters.items()})
        result, expected = quantities_of(twin, names, initial=start, **arguments)
        np.testing.assert_array_equal(runs.t, result.t)
        for name, values in zip(names, expected, strict=True):
            np.testing.assert_array_equal(runs[name][k], values, err_msg=f"run {k}, {name}")
        assert runs.warnings.get(k, []) == list(dict.fromkeys(result.info.warnings))
    return runs


FOUR_BAR = ["bar 3.angle", "spring.tension", "energy.total", "energy.balance", "A.reaction.force.x", "bar 2.position"]


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_are_those_of_simulate_to_the_last_bit(threads):
    system = mb.examples.four_bar()
    parameters = {"spring.stiffness": [100.0, 250.0, 80.0, 300.0], "bar 1.mass": [1.0, 2.0, 3.0, 0.5]}
    assert_same_runs(system, parameters, FOUR_BAR, t_end=0.2, dt=1e-3, threads=threads)


@pytest.mark.parametrize(
    "integrator", [mb.DormandPrince(), mb.RadauIIA(), mb.BDF()], ids=lambda integrator: type(integrator).__name__
)
def test_adaptive_steps_keep_the_instants_asked_for(integrator):
    system = mb.examples.four_bar()
    parameters = {"spring.damping": [0.0, 5.0, 1.0]}
    t = np.linspace(0.0, 0.3, 7)
    assert_same_runs(system, parameters, FOUR_BAR, t_end=0.3, t_eval=t, integrator=integrator, threads=2)


@pytest.mark.parametrize("method", [mb.AdamsBashforth(order=4), mb.GeneralizedAlpha()], ids=str)
def test_histories_of_fixed_steps_begin_anew(method):
    system = mb.examples.four_bar()
    parameters = {"bar 2.inertia": [0.1, 0.2, 0.4]}
    names = ["bar 3.angle", "bar 1.angular_velocity"]
    assert_same_runs(system, parameters, names, t_end=0.1, dt=1e-3, integrator=method, threads=1)


def test_strategies_that_are_scaled_at_the_first_state():
    system = mb.examples.triple_pendulum()
    bar = system.bodies[0].name
    chosen = {"acceleration": mb.Penalty(), "stabilization": mb.MassOrthogonalProjection()}
    parameters = {f"{bar}.mass": [1.0, 40.0, 7.0]}
    assert_same_runs(system, parameters, [f"{bar}.position.x"], t_end=0.05, dt=1e-3, threads=1, **chosen)


def test_what_decides_on_the_structure_costs_more_and_is_as_right():
    system = mb.System("pendulum")
    bar = system.add(mb.RigidBody("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0)))
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.SpringDamper("s", system.ground, bar, at_i=(2, 0, 2), at_j=(1, 0, 0), stiffness=9.0, free_length=1.0))
    parameters = {
        "s.at_i": [(2, 0, 2), (2, 0, 1), (1, 0, 2)],
        "bar.center_of_mass": [(0, 0, 0), (0.1, 0, 0), (0, 0.2, 0)],
        "pendulum.gravity": [(0, 0, -9.81), (0, 0, 0), (1, 0, -3)],
    }
    assert_same_runs(system, parameters, ["bar.position", "s.length", "energy.total"], t_end=0.2, dt=1e-3)


def test_functions_are_looked_at_for_each_run():
    system = mb.System("cart")
    cart = system.add(mb.RigidBody("cart", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.TranslationalJoint("rail", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mb.PointForce("blow", cart, at=(0, 0, 0), force=("0", 0, 0)))
    starts = [1.0, 7.3, 3.0, 9.99]
    force = [(f"if(t>{t0}, if(t<{t0 + 0.004}, 100, 0), 0)", 0, 0) for t0 in starts]
    runs = assert_same_runs(system, {"blow.force": force}, ["cart.velocity.x"], t_end=10.0, t_eval=[0.0, 10.0])
    np.testing.assert_allclose(runs["cart.velocity.x"][:, -1], 0.4, rtol=1e-6)


def test_drivers_begin_with_their_own_velocities():
    system = mb.examples.slider_crank()
    driver = system.add(mb.Driver("motor", system["A"], angle="t"))
    parameters = {f"{driver.name}.angle": ["2*t", "0.5*t + sin(t)", "-3*t"]}
    body = system.bodies[-1].name
    assert_same_runs(system, parameters, [f"{body}.position", f"{body}.velocity"], t_end=0.2, dt=1e-3, threads=1)


def test_runs_from_states():
    system = mb.examples.four_bar()
    states = [mb.simulate(system, t, dt=1e-3).state(-1) for t in (0.1, 0.2, 0.05)]
    begun = [mb.State(0.0, state.motions, state.element_states, state.dimension) for state in states]
    assert_same_runs(system, {}, FOUR_BAR, t_end=0.1, dt=1e-3, initial=begun)
    stiffness = {"spring.stiffness": [10.0, 100.0, 1000.0]}
    assert_same_runs(system, stiffness, FOUR_BAR, t_end=0.1, dt=1e-3, initial=begun)
    assert_same_runs(system, stiffness, FOUR_BAR, t_end=0.1, dt=1e-3, initial=begun[0])


def test_elements_with_own_states_and_users_classes():
    class Lag(mb.ForceElement):
        states = 1
        rate = mb.parameter(2.0)

        def wrench(self, t, i, j, z):
            return np.array([z[0], 0.0, 0.0]), np.zeros(3)

        def state_rate(self, t, i, j, z):
            return [self.rate * (j.position[0] - z[0])]

    system = mb.System("lagging", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0)))
    system.add(Lag("lag", system.ground, body, at_i=(0, 0, 0), at_j=(1, 0, 0)))
    parameters = {"lag.rate": [1.0, 2.0, 0.5], "body.mass": [1.0, 1.0, 2.0]}
    assert_same_runs(system, parameters, ["body.position.x", "lag.state.0"], t_end=0.2, dt=1e-3)


def test_flexible_bodies_in_a_batch():
    system = mb.examples.flexible_pendulum()
    parameters = {f"{system.name}.gravity": [(0, 0, -9.81), (0, 0, -1.0)]}
    body = system.bodies[0].name
    assert_same_runs(system, parameters, [f"{body}.position", "energy.total"], t_end=0.02, dt=1e-3)


def test_a_run_that_fails_leaves_nan_and_its_reason_and_disturbs_no_other():
    system = mb.System("falling")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.PointForce("push", body, at=(0, 0, 0), force=("1", 0, 0)))
    force = [("1", 0, 0), ("1/(0.1 - t)**2 + log(0.05 - t)", 0, 0), ("2", 0, 0)]
    runs = mb.batch(system, {"push.force": force}, t_end=0.2, dt=1e-3, quantities=["body.velocity.x"], threads=1)
    assert list(runs.failures) == [1]
    assert "push" in runs.failures[1]
    velocity = runs["body.velocity.x"]
    np.testing.assert_allclose(velocity[[0, 2], -1], [0.2, 0.4], rtol=1e-12)
    assert np.isfinite(velocity[1, 10])
    assert np.isnan(velocity[1, -1])
    runs = mb.batch(system, {"body.mass": [1.0, -1.0]}, t_end=0.1, dt=1e-3, quantities=["body.velocity.x"])
    assert list(runs.failures) == [1]
    assert "mass" in runs.failures[1]
    assert np.isnan(runs["body.velocity.x"][1]).all()


def test_a_run_whose_energy_does_not_balance_is_told_and_only_it():
    system = mb.System("swing")
    bar = system.add(mb.RigidBody("bar", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(1, 0, 0)))
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    gravity = [(0, 0, -0.1)] * 2 + [(0, 0, -60.0)] + [(0, 0, -0.1)] * 2
    runs = mb.batch(system, {"swing.gravity": gravity}, t_end=20.0, dt=0.2, quantities=["bar.position"], threads=1)
    assert list(runs.warnings) == [2]
    assert "energy" in "".join(runs.warnings[2])
    system.gravity = (0, 0, -9.81)
    inertia = [(20.0, 20.0, 20.0)] * 3 + [(1e-5, 1e-5, 1e-5)] + [(20.0, 20.0, 20.0)] * 40
    center = [(0, 0, 0)] * 3 + [(-0.9, 0, 0)] + [(0, 0, 0)] * 40
    parameters = {"bar.inertia": inertia, "bar.center_of_mass": center}
    runs = mb.batch(system, parameters, t_end=20.0, dt=0.05, quantities=["bar.position"], threads=1)
    assert list(runs.warnings) == [3]
    assert "energy" in "".join(runs.warnings[3])


def test_components_and_progress():
    system = mb.examples.four_bar()
    told = []
    runs = mb.batch(
        system,
        {"bar 1.center_of_mass[0]": [0.0, 0.1], "bar 1.mass": np.array([1.0, 2.0])},
        t_end=0.05,
        dt=1e-2,
        quantities=["bar 1.angle"],
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 2), (2, 2)]
    center = (0.1, system["bar 1"].center_of_mass[1])
    twin = with_values(system, {"bar 1.center_of_mass": center, "bar 1.mass": 2.0})
    np.testing.assert_array_equal(
        runs["bar 1.angle"][1], mb.simulate(twin, 0.05, dt=1e-2).quantity("bar 1.angle").values
    )
    assert runs.units == {"bar 1.angle": "rad"}
    assert "2 runs" in repr(runs)
    assert system["bar 1"].mass == mb.examples.four_bar()["bar 1"].mass


WRONG = [
    ({"parameters": {"spring.stifness": [1.0]}}, "stifness"),
    ({"parameters": {"sprig.stiffness": [1.0]}}, "sprig"),
    ({"parameters": {"stiffness": [1.0]}}, "spring.stiffness"),
    ({"parameters": {"spring.stiffness": 1.0}}, "list of values"),
    ({"parameters": {"spring.stiffness": [1.0], "bar 1.mass": [1.0, 2.0]}}, "2 of bar 1.mass"),
    ({"parameters": {}}, "no values at all"),
    ({"parameters": {"bar 1.center_of_mass[7]": [1.0]}}, "component"),
    ({"quantities": ["bar 9.angle"]}, "bar 9"),
    ({"quantities": "bar 1.angle"}, "list of names"),
    ({"quantities": []}, "list of names"),
    ({"dt": None}, "t_eval"),
    ({"t_end": None}, "t_end"),
    ({"threads": 0}, "threads"),
    ({"initial": [1, 2]}, "states"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG)
def test_wrong_arguments_are_named(wrong, said):
    arguments = {
        "parameters": {"spring.stiffness": [1.0, 2.0]},
        "quantities": ["bar 1.angle"],
        "t_end": 0.1,
        "dt": 1e-2,
    }
    with pytest.raises(mb.ModelError, match=said):
        mb.batch(mb.examples.four_bar(), **{**arguments, **wrong})


LONG = """
import signal
import threading
import numpy as np
import mbframe as mb

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background does not inherit
values = {"spring.stiffness": np.full(5000, 10.0)}
before = threading.active_count()

def told(done, total):
    if done == 1:
        print("begun", flush=True)

try:
    mb.batch(mb.examples.four_bar(), values, 1.0, 1e-3, quantities=["bar 1.angle"], progress=told)
except KeyboardInterrupt:
    print("ended with", threading.active_count() - before, "threads more", flush=True)
"""


def test_ctrl_c_ends_a_batch_and_its_threads():
    program = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "begun\n"
    program.send_signal(signal.SIGINT)
    told, _ = program.communicate(timeout=120)
    assert told == "ended with 0 threads more\n"
    assert program.returncode == 0
