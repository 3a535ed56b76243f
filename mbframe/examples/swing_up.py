"""A pendulum that is swung up and caught from outside, step by step: ``python -m mbframe.examples.swing_up``.

The program holds a simulation open, reads what sensors would read, and sets a force, 50 times a second: a pump of
energy [AstromFuruta2000] while the pole hangs, and a linear regulator from `mb.linearize` near the top.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mbframe as mb

from .cart_pendulum import POLE_LENGTH, POLE_MASS, cart_pendulum

Array = NDArray[np.float64]

DT, HELD = 1e-3, 20  # s, and for how many steps a force is held
MOST = 25.0  # N
CAUGHT = 0.35  # rad from upright, where the regulator takes over
SEEN = ["rail.displacement", "hinge.angle"]
RATES = [f"{name}_rate" for name in SEEN]
ARM = 0.5 * POLE_LENGTH
INERTIA = POLE_MASS * POLE_LENGTH**2 / 3.0  # about the hinge


def pushed(inverted: bool) -> mb.System:
    """The pendulum on a cart, with the force on the cart as an input."""
    system = cart_pendulum(inverted)
    system.add(mb.Input("drive", unit="N", lower=-MOST, upper=MOST))
    system["push"].force = ("drive", 0, 0)
    return system


def regulator() -> Array:
    """K of the force -K (x, phi, x', phi') that holds the pole upright at the middle of the rail."""
    import scipy.linalg

    lin = mb.linearize(pushed(inverted=True), inputs=["drive"], outputs=[*SEEN, *RATES])
    weight = np.array([[0.02]])
    P = scipy.linalg.solve_continuous_are(lin.A, lin.B, lin.C.T @ lin.C, weight)
    return np.asarray(np.linalg.solve(weight, lin.B.T @ P @ np.linalg.inv(lin.C))[0], float)


def force(seen: Array, K: Array, time: float) -> float:
    """What the program gives for (x, angle from hanging, and their rates)."""
    x, angle, speed, rate = seen
    phi = math.remainder(angle - math.pi, 2.0 * math.pi)  # from upright
    if abs(phi) < CAUGHT and abs(rate) < 3.0:
        wanted = -float(K @ (x, phi, speed, rate))
    elif time < 0.2:
        wanted = 8.0  # something has to begin
    else:
        missing = POLE_MASS * 9.81 * ARM * (1.0 - math.cos(phi)) - 0.5 * INERTIA * rate**2
        wanted = -25.0 * missing * rate * math.cos(phi) - 6.0 * x - 6.0 * speed
    return max(-MOST, min(MOST, wanted))


def swing_up(t_end: float = 10.0, tell: Callable[[str], Any] | None = None) -> mb.Result:
    """The motion from hanging at rest; `tell` gets a line every half second."""
    K = regulator()
    with mb.Simulation(pushed(inverted=False), dt=DT, integrator=mb.RungeKutta4()) as sim:
        for sample in range(round(t_end / (HELD * DT))):
            seen = np.array([sim.quantity(name) for name in (*SEEN, *RATES)])
            sim.inputs["drive"] = force(seen, K, sim.time)
            if tell is not None and sample % 25 == 0:
                turn = math.degrees(math.remainder(seen[1] - math.pi, 2.0 * math.pi))
                tell(f"{sim.time:5.2f} s  {turn:7.1f} deg from upright  {sim.inputs['drive']:6.2f} N")
            sim.step(HELD)
        return sim.result()


if __name__ == "__main__":
    swing_up(tell=print)
