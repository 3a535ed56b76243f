"""Adams-Bashforth: weights, starter, history of corrected states; against the same method written in Python."""

from collections import deque
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval

import mbframe as mb
from mbframe.solvers.integrators.adams_bashforth import adams_weights

# Hairer, Norsett, Wanner, Solving ODE I, section III.1; Lambert, Computational Methods in ODE, 1973.
CLASSICAL = {
    1: [Fraction(1)],
    2: [Fraction(n, 2) for n in (3, -1)],
    3: [Fraction(n, 12) for n in (23, -16, 5)],
    4: [Fraction(n, 24) for n in (55, -59, 37, -9)],
    5: [Fraction(n, 720) for n in (1901, -2774, 2616, -1274, 251)],
    6: [Fraction(n, 1440) for n in (4277, -7923, 9982, -7298, 2877, -475)],
}
ORDERS = sorted(CLASSICAL)


@pytest.mark.parametrize("order", ORDERS)
def test_a_full_step_has_the_classical_weights(order: int) -> None:
    np.testing.assert_allclose(adams_weights(order).sum(axis=1), np.array(CLASSICAL[order], float), rtol=1e-13)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("theta", [0.3, 0.8])
def test_a_part_of_a_step_integrates_polynomials_exactly(order: int, theta: float) -> None:
    """f = t^n sampled at 0, -1, -2, ...: the integral from 0 to theta is theta^(n + 1)/(n + 1)."""
    beta = np.array([polyval(theta, [0.0, *row]) for row in adams_weights(order)])
    for n in range(order):
        assert beta @ (-np.arange(order, dtype=float)) ** n == pytest.approx(theta ** (n + 1) / (n + 1), abs=1e-12)


class PlainAdams(mb.Integrator):
    """The method as in a textbook: derivatives at the states that it is given, which are corrected."""

    order = mb.parameter(4, minimum=1, maximum=6)

    def begin(self, t: float, t_end: float, dt: float | None) -> None:
        super().begin(t, t_end, dt)
        self._rates: deque[np.ndarray] = deque(maxlen=self.order)

    def step(self, eq: mb.Equations, t: float, q: np.ndarray, v: np.ndarray, h: float) -> Any:
        def rates(t: float, y: np.ndarray) -> np.ndarray:
            q, v, _ = eq.split(y)
            return np.concatenate([eq.coordinate_rates(q, v), eq.accelerate(t, q, v)[0]])

        y = np.concatenate([q, v])
        self._rates.appendleft(rates(t, y))
        if len(self._rates) == self.order:
            slope = sum(float(b) * k for b, k in zip(CLASSICAL[self.order], self._rates, strict=True))
        else:
            starter, k = mb.AdamsBashforth(order=self.order).starter, [self._rates[0]]
            for row, c in zip(starter.a[1 : len(starter.b)], starter.c[1:], strict=False):
                k.append(rates(t + c * h, y + h * sum(a * slope for a, slope in zip(row, k, strict=False))))
            slope = sum(b * stage for b, stage in zip(starter.b, k, strict=True))
        return eq.split(y + h * slope)[:2]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("stabilization", [mb.DirectCorrection(), mb.NoStabilization()], ids=str)
def test_steps_agree_with_the_textbook(order: int, stabilization: mb.Stabilization) -> None:
    """A coarse step, so that the correction is large: derivatives of uncorrected states would show."""
    ours, plain = (
        mb.simulate(
            mb.examples.triple_pendulum(),
            0.6,
            dt=0.05,
            formulation=mb.NaturalAbsolute(),
            stabilization=stabilization,
            integrator=kind(order=order),
        )
        for kind in (mb.AdamsBashforth, PlainAdams)
    )
    np.testing.assert_array_equal(ours.t, plain.t)
    np.testing.assert_allclose(ours.q, plain.q, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(ours.v, plain.v, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("order", [3, 6])
def test_the_first_steps_are_those_of_the_starter(order: int) -> None:
    method = mb.AdamsBashforth(order=order)
    starter = type("Starter", (mb.RungeKutta,), {"tableau": method.starter})()
    one, other = (
        mb.simulate(mb.examples.triple_pendulum(), 0.01 * order, dt=0.01, integrator=i) for i in (method, starter)
    )
    np.testing.assert_allclose(one.q[:order], other.q[:order], rtol=0.0, atol=1e-14)
    assert np.abs(one.q[order] - other.q[order]).max() > 1e-14


def test_it_takes_one_evaluation_a_step() -> None:
    """Beside those of the starter: three in each of its three steps, where the first stage is that of the history."""
    result = mb.simulate(
        mb.examples.triple_pendulum(),
        1.0,
        dt=0.01,
        integrator=mb.AdamsBashforth(),
        stabilization=mb.NoStabilization(),
        t_eval=np.linspace(0.1, 1.0, 200),
    )
    assert result.info.steps == 100
    assert result.info.evaluations == 100 + 3 * 3


class Relaxation(mb.ForceElement):
    """An own state, z' = -z, and no force."""

    states = 1

    def initial_states(self):
        return [1.0]

    def wrench(self, t, i, j, z):
        return np.zeros(3), np.zeros(3)

    def state_rate(self, t, i, j, z):
        return [-z[0]]


def test_states_of_elements_are_integrated_as_well() -> None:
    system = mb.examples.free_body()
    system.add(Relaxation("element", system.ground, system.bodies[0]))
    t = np.array([0.0, 0.0123, 0.77, 1.0])
    result = mb.simulate(system, 1.0, dt=0.01, integrator=mb.AdamsBashforth(order=6), t_eval=t)
    np.testing.assert_allclose(result.element_states("element")[:, 0], np.exp(-t), rtol=1e-10)


def test_events_are_found_between_steps() -> None:
    """Free fall is a parabola: exact from order two on."""
    system = mb.System("fall")
    system.add(mb.PointMass("ball", mass=1.0, position=(0.0, 0.0, 1.0)))
    falls = mb.Event(lambda t, state: state.position("ball")[2], terminal=True)
    result = mb.simulate(system, 1.0, dt=0.03, integrator=mb.AdamsBashforth(order=2), events=[falls])
    assert result.t[-1] == pytest.approx(np.sqrt(2.0 / 9.81), abs=1e-12)


def test_bad_orders_and_a_missing_step_are_refused() -> None:
    for order in (0, 7, 2.5):
        with pytest.raises(mb.ModelError, match="order"):
            mb.AdamsBashforth(order=order)
    for order in (4, 6, 9):
        with pytest.raises(mb.ModelError, match="order"):
            mb.DormandPrince(order=order)
    with pytest.raises(mb.ModelError, match="has a fixed step; add dt=1e-3"):
        mb.simulate(mb.examples.triple_pendulum(), 1.0, integrator=mb.AdamsBashforth())
