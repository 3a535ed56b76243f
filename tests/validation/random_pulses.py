"""Random short loads, and what they must do: a family for tests and for longer studies.

    python tests/validation/random_pulses.py --cases 200 --seed 1

A case is a pulse of some form, a width from 1e-4 of the run on, anywhere in the run, on a mass at rest, a pendulum in
equilibrium or a swinging one, with an adaptive integrator at its default settings. The reference is an integral over
the pulse for the mass, and for the pendulum J theta'' = -m g l sin(theta) + tau(t), integrated from edge to edge of the
pulse by SciPy. Both use plain Python functions of their own for the pulse.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import mbframe as mb

TOLERANCE = 1e-3
FORMS = (
    "nested if",
    "product of comparisons",
    "steps",
    "half-sine",
    "half-sine of max",
    "gauss",
    "tanh",
    "triangle",
    "trapezoid",
    "lines",
    "monotone table",
    "spline table",
    "sech",
    "callable rectangle",
    "callable gauss",
    "callable with breakpoints",
)
MASS, LENGTH, INERTIA, GRAVITY = 2.0, 0.8, 0.5, 9.81


@dataclass(frozen=True)
class Pulse:
    """A load of the given height that comes and goes: as mbframe takes it, and as a Python function with its edges."""

    form: str
    function: Any
    value: Callable[[float], float]
    edges: tuple[float, ...]


def pulse(form: str, a: float, w: float, height: float) -> Pulse:
    """A pulse from a to a + w; smooth ones have most of themselves there."""
    b, m, h = a + w, a + 0.5 * w, height
    s = w / 4.0
    r = w / 8.0
    long = tuple(m + k * s for k in (-24, -12, -8, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12, 24))
    if form in ("nested if", "product of comparisons", "callable rectangle", "callable with breakpoints"):
        value: Callable[[float], float] = lambda t: h if a < t < b else 0.0  # noqa: E731
        function: Any = {
            "nested if": f"if(t > {a!r}, if(t < {b!r}, {h!r}, 0), 0)",
            "product of comparisons": f"{h!r}*(t >= {a!r})*(t <= {b!r})",
            "callable rectangle": value,
            "callable with breakpoints": mb.Function(value, breakpoints=[a, b]),
        }[form]
        return Pulse(form, function, value, (a, b))
    if form == "steps":

        def smooth(t: float, t0: float, t1: float) -> float:
            x = min(max((t - t0) / (t1 - t0), 0.0), 1.0)
            return x * x * (3.0 - 2.0 * x)

        text = f"step(t, {a!r}, 0, {a + r!r}, {h!r}) - step(t, {b - r!r}, 0, {b!r}, {h!r})"
        return Pulse(form, text, lambda t: h * (smooth(t, a, a + r) - smooth(t, b - r, b)), (a, a + r, b - r, b))
    if form in ("half-sine", "half-sine of max"):
        text, inside = f"sin(pi*(t - {a!r})/{w!r})", f"(t > {a!r})*(t < {b!r})"
        function = f"if({inside}, {h!r}*{text}, 0)" if form == "half-sine" else f"{h!r}*max(0, {text})*{inside}"
        return Pulse(form, function, lambda t: h * math.sin(math.pi * (t - a) / w) if a < t < b else 0.0, (a, m, b))
    if form in ("gauss", "callable gauss"):
        value = lambda t: h * math.exp(-0.5 * min(((t - m) / s) ** 2, 1400.0))  # noqa: E731
        return Pulse(form, value if "callable" in form else f"{h!r}*exp(-((t - {m!r})/{s!r})**2/2)", value, long)
    if form == "tanh":
        text = f"{h / 2!r}*(tanh((t - {a!r})/{w / 10!r}) - tanh((t - {b!r})/{w / 10!r}))"
        value = lambda t: 0.5 * h * (math.tanh(10 * (t - a) / w) - math.tanh(10 * (t - b) / w))  # noqa: E731
        return Pulse(form, text, value, long)
    if form == "sech":
        text = f"{h!r}/cosh(min(300, abs((t - {m!r})/{s!r})))"
        return Pulse(form, text, lambda t: h / math.cosh(min(300.0, abs((t - m) / s))), long)
    if form == "triangle":
        value = lambda t: h * max(0.0, 1.0 - abs(t - m) / (w / 2))  # noqa: E731
        return Pulse(form, f"{h!r}*max(0, 1 - abs(t - {m!r})/{w / 2!r})", value, (a, m, b))
    if form == "trapezoid":
        text = f"{h!r}*max(0, min(1, (t - {a!r})/{r!r}, ({b!r} - t)/{r!r}))"
        return Pulse(form, text, lambda t: h * max(0.0, min(1.0, (t - a) / r, (b - t) / r)), (a, a + r, b - r, b))
    x, y = [a - w, a, m, b, b + w], [0.0, 0.0, h, 0.0, 0.0]
    if form == "lines":
        return Pulse(form, mb.Function.piecewise_linear(x, y), lambda t: float(np.interp(t, x, y)), tuple(x))
    from scipy.interpolate import CubicSpline, PchipInterpolator

    if form == "monotone table":
        inner = PchipInterpolator(x, y)
        value = lambda t: float(inner(min(max(t, x[0]), x[-1])))  # noqa: E731
        return Pulse(form, mb.Function.table(x, y), value, tuple(x))
    # Beyond its points a spline goes on along its end tangents: the zeros on both sides let these die out, by 0.27 from
    # point to point. Two zeros leave a slope that, thousands of widths away, drives a pendulum round hundreds of times.
    x = np.linspace(a - 3.0 * w, b + 3.0 * w, 141).tolist()
    y = [h * (1.0 - ((t - m) / (1.4 * w)) ** 2) ** 4 if abs(t - m) < 1.4 * w else 0.0 for t in x]
    spline = CubicSpline(x, y, bc_type="natural")

    def value(t: float) -> float:
        inside = min(max(t, x[0]), x[-1])
        return float(spline(inside) + (t - inside) * spline(inside, 1))

    return Pulse(form, mb.Function.table(x, y, interpolation="spline"), value, tuple(x[::6]))


@dataclass(frozen=True)
class Case:
    """One run."""

    pulse: Pulse
    motion: str
    integrator: mb.Integrator
    t_end: float
    t_eval: Any
    speed: float

    def __str__(self) -> str:
        outputs = "" if self.t_eval is None else f", {len(self.t_eval)} instants"
        first, last = self.pulse.edges[0], self.pulse.edges[-1]
        where = f"{self.pulse.form} in {first:.9g} .. {last:.9g} of {self.t_end:.6g} s"
        return f"{where}, {self.motion}, {self.integrator!r}{outputs}"

    def error(self) -> tuple[float, list[str]]:
        """How far the end is off, as part of what the pulse does; and the warnings of the run."""
        system, body = self.system()
        run = mb.simulate(system, self.t_end, integrator=self.integrator, t_eval=self.t_eval)
        if self.motion == "at rest":
            wanted = self.impulse() / MASS
            return abs(float(run.velocity(body)[-1, 0]) - wanted) / abs(wanted), run.info.warnings
        end, without = self.reference(self.pulse.value), self.reference(lambda t: 0.0)
        rotation = run.rotation(body)[-1].as_matrix()
        angle = math.atan2(rotation[0, 2], rotation[0, 0])
        rate = float(run.angular_velocity(body)[-1, 1])
        turns = round((end[0] - angle) / (2.0 * math.pi))
        off = math.hypot(angle + 2.0 * math.pi * turns - end[0], rate - end[1])
        return off / math.hypot(*(end - without)), run.info.warnings

    def system(self) -> tuple[mb.System, mb.RigidBody]:
        if self.motion == "at rest":
            system = mb.System("mass", gravity=(0, 0, 0))
            body = system.add(mb.RigidBody("body", mass=MASS, inertia=(0.1, 0.2, 0.2)))
            system.add(mb.PointForce("load", body, at=(0, 0, 0), force=(self.pulse.function, 0, 0)))
            return system, body
        system = mb.System("pendulum", gravity=(0, 0, -GRAVITY))
        body = system.add(
            mb.RigidBody(
                "body",
                mass=MASS,
                inertia=(0.4, INERTIA, 0.3),
                position=(0, 0, -LENGTH),
                velocity=(-self.speed * LENGTH, 0, 0),
                angular_velocity=(0, self.speed, 0),
            )
        )
        system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
        system.add(mb.Torque("load", body, torque=(0, self.pulse.function, 0)))
        return system, body

    def spans(self) -> list[tuple[float, float]]:
        """The run, cut at the edges of the pulse."""
        cuts = sorted({0.0, self.t_end, *(t for t in self.pulse.edges if 0.0 < t < self.t_end)})
        return list(pairwise(cuts))

    def impulse(self) -> float:
        x, weights = np.polynomial.legendre.leggauss(40)
        total = 0.0
        for a, b in self.spans():
            values = [self.pulse.value(t) for t in (0.5 * (a + b) + 0.5 * (b - a) * x).tolist()]
            total += 0.5 * (b - a) * float(weights @ values)
        return total

    def reference(self, torque: Callable[[float], float]) -> Any:
        """Angle and rate of the pendulum at the end."""
        inertia, weight = INERTIA + MASS * LENGTH**2, MASS * GRAVITY * LENGTH
        y = np.array([0.0, self.speed])
        for a, b in self.spans():
            # A stage at an edge would see the other side.
            low, high = a + 1e-9 * (b - a), b - 1e-9 * (b - a)

            def rates(t: float, y: Any, low: float = low, high: float = high) -> list[float]:
                return [y[1], (torque(min(max(t, low), high)) - weight * math.sin(y[0])) / inertia]

            y = solve_ivp(rates, (a, b), y, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
        return y


def cases(seed: int, count: int) -> list[Case]:
    """The first `count` cases of a seed: forms, motions and integrators in turn, all else at random."""
    rng = np.random.default_rng(seed)
    methods: list[Callable[[], mb.Integrator]] = [
        mb.DormandPrince,
        lambda: mb.DormandPrince(order=5),
        mb.RadauIIA,
        mb.BDF if importlib.util.find_spec("sksundae") else mb.RadauIIA,
    ]
    found = []
    first = [int(rng.integers(n)) for n in (len(FORMS), 3, 4)]
    for k in range(count):
        form = FORMS[(first[0] + k) % len(FORMS)]
        motion = ("at rest", "in equilibrium", "swinging")[(first[1] + k + k // 48) % 3]
        integrator = methods[(first[2] + k + k // 16) % 4]()
        t_end = float(rng.uniform(2.0, 6.0)) if motion != "at rest" else float(10.0 ** rng.uniform(-1.0, 2.5))
        width = t_end * float(10.0 ** rng.uniform(-4.0, -1.0))
        place = rng.integers(8)
        start = 0.0 if place == 0 else t_end - width if place == 1 else float(rng.uniform(0.0, t_end - width))
        inertia = MASS if motion == "at rest" else INERTIA + MASS * LENGTH**2
        height = float(rng.uniform(0.5, 2.5)) * inertia / width * float(rng.choice([-1.0, 1.0]))
        t_eval = None if rng.integers(2) else np.linspace(0.0, t_end, int(rng.integers(2, 60)))
        # Far from what turns a pendulum over, 5.9 rad/s: beside that any error grows by itself.
        speed = float(rng.uniform(0.5, 2.0)) if motion == "swinging" else 0.0
        found.append(Case(pulse(form, start, width, height), motion, integrator, t_end, t_eval, speed))
    return found


def allowed(case: Case, error: float, warnings: list[str]) -> bool:
    """Whether the pulse was seen; a callable may be warned of instead."""
    warned = any("breakpoints=" in w and "max_step" in w for w in warnings)
    return error <= TOLERANCE or (case.pulse.form.startswith("callable") and warned)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=float, default=TOLERANCE, help="tell all cases with larger errors")
    arguments = parser.parse_args()
    missed, worst = 0, 0.0
    for number, case in enumerate(cases(arguments.seed, arguments.cases)):
        error, warnings = case.error()
        if not allowed(case, error, warnings) or error > arguments.show:
            print(f"{number}: error {error:.2e}: {case}; {warnings}", flush=True)
        if not allowed(case, error, warnings):
            missed += 1
        elif error <= TOLERANCE:
            worst = max(worst, error)
    print(f"seed {arguments.seed}: {arguments.cases} cases, {missed} missed, largest error of the others {worst:.1e}")


if __name__ == "__main__":
    main()
