"""Random shafts on one axis with springs, stops, controllers and gears that see their angles over many turns.

The reference takes the angles over turns themselves for coordinates: a few ordinary differential equations by SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import mbframe as mb
from mbframe.measures import angle

END = 1.6
GROUND = -1
# rad, relative to 1 + the largest angle; a turn that is lost shows in any case. Steps of a fixed length h across the
# edge of a stop have errors of (k/I) w h^3, 6e-6 here, several times.
FINE, FIXED, COARSE = 2e-5, 2e-4, 1e-2


class SlowSine(mb.TorsionalSpringDamper):
    """A user's spring, whose law has a period of three turns: m = k sin(theta/3)."""

    def wrench(self, t, i, j):
        theta, a = angle(i, j)
        m = self.stiffness * np.sin(theta / 3.0)
        return (0.0, 0.0, 0.0), (-m * a[0], -m * a[1], -m * a[2])

    def energy(self, t, i, j):
        return 3.0 * self.stiffness * (1.0 - np.cos(angle(i, j)[0] / 3.0))


class Midpoint(mb.Integrator):
    """A user's integrator, which knows q and v only."""

    order = 2

    def step(self, eq: Any, t: float, q: Any, v: Any, h: float) -> Any:
        half_v = v + 0.5 * h * eq.accelerate(t, q, v)[0]
        half_q = q + 0.5 * h * eq.coordinate_rates(q, v)
        return q + h * eq.coordinate_rates(half_q, half_v), v + h * eq.accelerate(t + 0.5 * h, half_q, half_v)[0]


INTEGRATORS: list[tuple[mb.Integrator, float | None, float]] = [
    (mb.RungeKutta4(), 5e-4, FIXED),
    (mb.AdamsBashforth(order=4), 5e-4, COARSE),
    (mb.DormandPrince(order=5, rtol=1e-8), None, FINE),
    (mb.DormandPrince(rtol=1e-9), None, FINE),
    (mb.RadauIIA(rtol=1e-8), None, FINE),
    (mb.GeneralizedAlpha(), 5e-4, COARSE),
    (Midpoint(), 1e-3, COARSE),
    (mb.BDF(rtol=1e-7), None, COARSE),
]


@dataclass
class Shaft:
    inertia: float  # about the axis, with the mass that sits beside it
    mass: float
    arm: np.ndarray
    rate: float


@dataclass
class Reference:
    """I_k theta_k'' = sum of torques, with one gear at most: theta_a = ratio theta_b."""

    axis: np.ndarray
    gravity: np.ndarray
    shafts: list[Shaft] = field(default_factory=list)
    laws: list[tuple[int, int, Callable[..., float]]] = field(default_factory=list)  # torque m(t, x, x', z) against x
    energies: list[tuple[int, int, Callable[[float], float]]] = field(default_factory=list)
    controllers: list[tuple[int, Callable[[float], float]]] = field(default_factory=list)  # z' = w(t) - theta
    gear: float | None = None  # of the first two shafts

    def weight(self, k: int, theta: float) -> tuple[float, float]:
        """Torque of the weight of a shaft about the axis, and its energy."""
        s, n = self.shafts[k], self.axis
        arm = np.cos(theta) * s.arm + np.sin(theta) * np.cross(n, s.arm) + (1.0 - np.cos(theta)) * (n @ s.arm) * n
        return float(n @ np.cross(arm, s.mass * self.gravity)), float(-s.mass * self.gravity @ arm)

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        n = len(self.shafts)
        theta, omega, z = y[:n], y[n : 2 * n], y[2 * n :]
        torque = np.array([self.weight(k, theta[k])[0] for k in range(n)])
        for i, j, law in self.laws:
            x, rate = theta[j] - (theta[i] if i >= 0 else 0.0), omega[j] - (omega[i] if i >= 0 else 0.0)
            m = law(t, x, rate, z)
            torque[j] -= m
            if i >= 0:
                torque[i] += m
        inertia = np.array([s.inertia for s in self.shafts])
        acceleration = torque / inertia
        if self.gear is not None:
            acceleration[1] = (torque[1] + self.gear * torque[0]) / (inertia[1] + self.gear**2 * inertia[0])
            acceleration[0] = self.gear * acceleration[1]
        errors = [w(t) - theta[k] for k, w in self.controllers]
        return np.concatenate([omega, acceleration, errors])

    def start(self) -> np.ndarray:
        rates = [s.rate for s in self.shafts]
        return np.array([*np.zeros(len(rates)), *rates, *np.zeros(len(self.controllers))])

    def solution(self, times: list[float]) -> np.ndarray:
        found = solve_ivp(
            self.rates, (0.0, times[-1]), self.start(), "DOP853", t_eval=times, rtol=1e-11, atol=1e-11, max_step=0.01
        )
        return found.y.T

    def potential(self, y: np.ndarray) -> float:
        total = sum(self.weight(k, y[k])[1] - self.weight(k, 0.0)[1] for k in range(len(self.shafts)))
        for i, j, energy in self.energies:
            total += energy(y[j] - (y[i] if i >= 0 else 0.0))
        return float(total)


@dataclass
class Case:
    system: mb.System
    reference: Reference
    formulation: mb.Formulation | None
    integrator: mb.Integrator
    dt: float | None
    tolerance: float
    label: str


def case(seed: int, number: int) -> Case:
    rng = np.random.default_rng([seed, number])
    integrator, dt, tolerance = INTEGRATORS[number % len(INTEGRATORS)]
    planar = bool(rng.random() < 0.3)
    axis = np.array([0.0, 0.0, 1.0]) if planar else rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    gravity = np.array([0.0, -9.81, 0.0] if planar else [0.0, 0.0, -9.81])
    reference = Reference(axis, gravity)
    system = mb.System("shafts", dimension=2 if planar else 3)
    place: dict[str, Any] = {"at": (0, 0)} if planar else {"at": (0, 0, 0), "axis": axis}
    n = int(rng.integers(1, 4))
    gear = float(rng.choice([-2.0, -0.5, 0.4, 3.0])) if n > 1 and rng.random() < 0.5 else None
    spins = rng.uniform(-25.0, 25.0, n)
    if gear is not None:
        spins[:2] = np.array([gear, 1.0]) * spins[1] / max(1.0, abs(gear))
    bodies = []
    for k in range(n):
        mass, across = float(rng.uniform(0.5, 2.0)), rng.normal(size=3)
        arm = np.cross(axis, across) * (0.0 if rng.random() < 0.5 else 0.05)
        spin = float(spins[k])
        moment = float(rng.uniform(0.2, 1.0))
        turning = np.cross(spin * axis, arm)  # velocity of the body's origin, which is at its centre of mass
        if planar:
            body: Any = mb.PlanarBody(f"shaft {k}", mass=mass, inertia=moment, position=arm[:2])
            body.update(velocity=turning[:2], angular_velocity=spin)
        else:
            body = mb.RigidBody(f"shaft {k}", mass=mass, inertia=(moment,) * 3, position=arm)
            body.update(velocity=turning, angular_velocity=spin * axis)
        bodies.append(system.add(body))
        system.add(mb.RevoluteJoint(f"hinge {k}", system.ground, body, **place))
        reference.shafts.append(Shaft(moment + mass * float(arm @ arm), mass, arm, spin))
    if gear is not None:
        system.add(mb.GearJoint("gear", system["hinge 0"], system["hinge 1"], ratio=gear))
        reference.gear = gear
    for k in range(int(rng.integers(1, 4))):
        j = int(rng.integers(n))
        i = int(rng.integers(-1, j)) if j else GROUND
        ends = (system.ground if i < 0 else bodies[i], bodies[j])
        add_element(rng, f"element {k}", ends, (i, j), place, system, reference, integrator)
    system.add(mb.Angle("angle", system.ground, bodies[-1], **({} if planar else {"axis": axis})))
    choices: list[mb.Formulation | None] = [None]
    choices += [mb.PlanarNatural(), mb.PlanarEulerParameters()] if planar else [mb.EulerParameters()]
    formulation = choices[int(rng.integers(len(choices)))]
    names = ", ".join(type(force).__name__ for force in system.forces)
    label = f"{type(integrator).__name__}, {formulation}, {n} shafts, gear {gear}, {names}"
    return Case(system, reference, formulation, integrator, dt, tolerance, label)


def add_element(
    rng: np.random.Generator,
    name: str,
    ends: tuple[Any, Any],
    at: tuple[int, int],
    place: dict[str, Any],
    system: mb.System,
    reference: Reference,
    integrator: mb.Integrator,
) -> None:
    kind = int(rng.integers(4))
    if kind == 0:
        k, c, free = float(rng.uniform(2.0, 30.0)), float(rng.uniform(0.0, 0.3)), float(rng.uniform(-12.0, 12.0))
        cubic = float(rng.uniform(0.0, 0.02))
        spring = mb.TorsionalSpringDamper(name, *ends, **place, stiffness=k, damping=c, free_angle=free)
        spring.update(torque=f"{cubic!r}*x**3")
        system.add(spring)
        reference.laws.append((*at, lambda t, x, v, z: k * (x - free) + c * v + cubic * (x - free) ** 3))
        reference.energies.append((*at, lambda x: 0.5 * k * (x - free) ** 2 + 0.25 * cubic * (x - free) ** 4))
    elif kind == 1:
        p, i, d = (float(rng.uniform(*span)) for span in ((10.0, 40.0), (0.0, 10.0), (1.0, 5.0)))
        speed, swing = float(rng.uniform(-15.0, 15.0)), float(rng.uniform(-2.0, 2.0))
        motor = mb.PIDActuator(name, system.ground, ends[1], **place, proportional=p, integral=i, derivative=d)
        motor.update(setpoint=f"{speed!r}*t + {swing!r}*sin(3*t)")
        system.add(motor)
        number = len(reference.controllers)
        reference.controllers.append((at[1], lambda t: speed * t + swing * np.sin(3.0 * t)))
        reference.laws.append(
            (
                GROUND,
                at[1],
                lambda t, x, v, z: (
                    -p * (speed * t + swing * np.sin(3.0 * t) - x)
                    - i * z[number]
                    - d * (speed + 3.0 * swing * np.cos(3.0 * t) - v)
                ),
            )
        )
    elif kind == 2:
        lower, upper = float(rng.uniform(-9.0, -0.5)), float(rng.uniform(0.5, 9.0))
        k = float(rng.uniform(200.0, 1000.0))
        system.add(mb.AngleLimit(name, *ends, **place, lower=lower, upper=upper, stiffness=k))
        depth = lambda x: x - upper if x > upper else (x - lower if x < lower else 0.0)  # noqa: E731
        reference.laws.append((*at, lambda t, x, v, z: k * depth(x)))
        reference.energies.append((*at, lambda x: 0.5 * k * depth(x) ** 2))
    else:
        k = float(rng.uniform(2.0, 30.0))
        # A user's method in the plane sees its vectors, and its tangent takes Python: the same by a function of x.
        if system.dimension == 2 or isinstance(integrator, mb.GeneralizedAlpha):
            system.add(mb.TorsionalSpringDamper(name, *ends, **place, torque=f"{k!r}*sin(x/3)"))
        else:
            system.add(SlowSine(name, *ends, **place, stiffness=k))
        reference.laws.append((*at, lambda t, x, v, z: k * np.sin(x / 3.0)))
        reference.energies.append((*at, lambda x: 3.0 * k * (1.0 - np.cos(x / 3.0))))


def problems_of(seed: int, number: int) -> list[str]:
    """What is not as in the reference: angles in one run and in one that is continued, and the energy of springs."""
    c = case(seed, number)
    n, last = len(c.reference.shafts), f"shaft {len(c.reference.shafts) - 1}"
    expected = c.reference.solution([0.5 * END, END])
    whole = {"dt": c.dt, "integrator": c.integrator, "formulation": c.formulation}
    result = mb.simulate(c.system, END, **whole)
    found = []

    def compare(what: str, value: float, wanted: float, scale: float) -> None:
        if not abs(value - wanted) <= c.tolerance * (1.0 + scale):
            found.append(f"{what} is {value:.9g} instead of {wanted:.9g} ({c.label})")

    far = float(np.abs(expected[:, :n]).max())
    y = expected[-1]
    compare("the angle", result.measure("angle")[-1], y[n - 1], far)
    energy = c.reference.potential(y) - c.reference.potential(c.reference.start())
    size = sum(s.inertia * s.rate**2 for s in c.reference.shafts) + abs(energy)
    compare("the change of energy", float(np.diff(result.energy.potential[[0, -1]])[0]), energy, far * size)
    half = mb.simulate(c.system, 0.5 * END, **whole, t_eval=[0.0, 0.5 * END])
    compare("the angle half way", half.state(-1).angle("angle"), expected[0, n - 1], far)
    rest = mb.simulate(c.system, END, **whole, initial=half.state(-1), t_eval=[END])
    compare("the continued angle", rest.measure("angle")[-1], y[n - 1], far)
    compare("the rate", _spin(rest, last, c), y[2 * n - 1], 10.0 * far)
    return found


def _spin(result: mb.Result, body: str, c: Case) -> float:
    spin = result.angular_velocity(body)[-1]
    return float(spin) if np.ndim(spin) == 0 else float(c.reference.axis @ spin)
