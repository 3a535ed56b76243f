"""The spatial mechanisms of [MarquesSoutoFlores2017]: five-bar pendulum and slider-crank."""

import numpy as np

import mbframe as mb

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-11, atol=1e-12), "stabilization": mb.DirectCorrection()}

# Table 4: position, Euler parameters, velocity, angular velocity, as printed
TABLE_4 = {
    "crank": [0, 0, 0.05, 1, 0, 0, 0, -0.3142, 0, 0, 0, -6.2832, 0],
    "rod": [0, 0.0735, -0.0250, 0.8680, -0.4966, 0, 0, -0.3142, 0, 0, 0, -2.5133, 0],
    "slider": [0, 0.1470, -0.1500, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
}


def test_slider_crank_starts_as_tabulated() -> None:
    state = mb.assemble(mb.examples.spatial_slider_crank())
    assert state.residual <= 1e-12
    for name, expected in TABLE_4.items():
        parts = [
            state.position(name),
            state.rotation(name).as_quat(scalar_first=True),
            state.velocity(name),
            state.angular_velocity(name),
        ]
        np.testing.assert_allclose(np.concatenate(parts), expected, rtol=0.0, atol=5.1e-5)
        assert max(state.moved[name] + state.velocity_change[name]) <= 1e-14


def test_slider_crank_counts_as_stated(formulation: mb.Formulation) -> None:
    freedom = mb.degrees_of_freedom(mb.examples.spatial_slider_crank(), formulation=formulation)
    assert (freedom.count, freedom.equations, freedom.redundant) == (1, 17, 0)


def test_slider_follows_the_crank(formulation: mb.Formulation) -> None:
    """The rod spans from the pin to the slider: y^2 = L^2 - x_pin^2 - (z_pin - z_slider)^2; the energy is kept."""
    system = mb.examples.spatial_slider_crank()
    result = mb.simulate(system, 5.0, formulation=formulation, **PRECISE, t_eval=np.linspace(0.0, 5.0, 251))
    pin = result.position("crank", (0.0, 0.0, 0.05))
    np.testing.assert_allclose(np.linalg.norm(pin, axis=1), 0.1, rtol=0.0, atol=1e-11)
    y = np.sqrt(0.29**2 - pin[:, 0] ** 2 - (pin[:, 2] + 0.15) ** 2)
    np.testing.assert_allclose(
        result.position("slider"), np.column_stack([0 * y, y, 0 * y - 0.15]), rtol=0.0, atol=1e-10
    )
    assert np.ptp(y) > 0.1
    assert np.ptp(result.energy.total) <= 1e-9 * result.energy.kinetic.max()


def test_five_bar_pendulum(formulation: mb.Formulation) -> None:
    """Five freedoms, 25 equations; energy is kept; the vertical through the pivot is nobody's axis, so nothing else."""
    system = mb.examples.five_bar_pendulum()
    freedom = mb.degrees_of_freedom(system, formulation=formulation)
    assert (freedom.count, freedom.equations, freedom.redundant) == (5, 25, 0)
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=np.linspace(0.0, 3.0, 31))
    assert result.energy.kinetic.max() > 30.0
    assert np.ptp(result.energy.total) <= 1e-8 * result.energy.kinetic.max()
    assert result.violation.position.max() <= 1e-11
    # The first hinge is along y and lies in the ground.
    np.testing.assert_allclose(result.position("rod 1")[:, 1], 0.0, atol=1e-11)


def test_five_bar_pendulum_starts_to_fall() -> None:
    """At rest every hinge is free of moment about its axis: the wrench of gravity and inertia beyond it has none."""
    system = mb.examples.five_bar_pendulum()
    at_rest = mb.evaluate(system)
    for k in range(1, 6):
        hinge = system[f"hinge {k}"]
        moment = np.zeros(3)
        for number in range(k, 6):
            rod = system[f"rod {number}"]
            inertia = rod.rotation @ rod.inertia @ rod.rotation.T
            force = rod.mass * (system.gravity - at_rest.acceleration(rod)[0])
            moment += np.cross(rod.position - hinge.at, force) - inertia @ at_rest.angular_acceleration(rod)[0]
        assert abs(moment @ hinge.axis) <= 1e-11
    assert np.linalg.norm(at_rest.acceleration("rod 5")[0]) > 1.0
