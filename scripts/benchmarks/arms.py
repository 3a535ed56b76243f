"""Robots: arms of hinges and a floating tree of limbs, how MuJoCo simulates them, and what Pinocchio's recursion costs.

- MuJoCo: its RK4, with constraints, contacts, actuation and sensors switched off.
- Pinocchio has no march of its own: four evaluations of its articulated-body algorithm are what an RK4 step needs at
  least. They are called from Python, which adds some 1 µs to each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from measuring import DT, EXUDYN, EXUDYN_FAST, MUJOCO, OURS, PINOCCHIO, Bench, Row, free_end, link_chain, run, step_cost
from peers import GRAVITY, Run, exudyn_bricard, exudyn_generalized_alpha, mujoco_bricard, mujoco_run, numbers, polygon
from planar_peers import mujoco_planar

import mbframe as mb

AXES = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
LENGTH = 0.3  # m
ROD = (1e-3, 0.0075, 0.0075)  # kg m², of 1 kg and this length
ARMS = (7, 30, 100)


@dataclass(frozen=True)
class Segment:
    """A rod along x on a hinge, or a free body; axes are the global ones at first."""

    parent: int  # -1: the ground
    start: np.ndarray  # of the hinge, global (m)
    axis: tuple[float, float, float] | None  # None: free
    rate: float = 0.0  # rad/s, of the hinge

    @property
    def center(self) -> np.ndarray:
        return self.start if self.axis is None else self.start + np.array([LENGTH / 2, 0.0, 0.0])

    @property
    def mass(self) -> float:
        return 10.0 if self.axis is None else 1.0

    @property
    def inertia(self) -> tuple[float, float, float]:
        return (0.3, 0.25, 0.2) if self.axis is None else ROD


def arm(n: int) -> list[Segment]:
    """n rods in a row, stretched out, on hinges about y and z in turn, from rest."""
    return [Segment(k - 1, np.array([LENGTH * k, 0.0, 0.0]), AXES[k % 2]) for k in range(n)]


def humanoid() -> list[Segment]:
    """A free trunk with four limbs of seven hinges and a neck of two: 30 hinges, each of which turns at first."""
    segments = [Segment(-1, np.zeros(3), None)]
    for place, n in (((0.2, 0.3), 7), ((0.2, -0.3), 7), ((-0.2, 0.2), 7), ((-0.2, -0.2), 7), ((0.0, 0.0), 2)):
        parent, start = 0, np.array([0.2, *place])
        for k in range(n):
            segments.append(Segment(parent, start, AXES[k % 2], rate=0.5 + 0.1 * k))
            parent, start = len(segments) - 1, start + np.array([LENGTH, 0.0, 0.0])
    return segments


def our_system(segments: Sequence[Segment]) -> mb.System:
    system = mb.System("robot", gravity=GRAVITY)
    bodies: list[Any] = []
    spins: list[np.ndarray] = []
    speeds: list[np.ndarray] = []  # of the centres
    for k, s in enumerate(segments):
        spin, speed = np.zeros(3), np.zeros(3)
        if s.axis is not None and s.parent >= 0:
            before = segments[s.parent]
            spin = spins[s.parent] + s.rate * np.array(s.axis)
            speed = speeds[s.parent] + np.cross(spins[s.parent], s.start - before.center)
            speed = speed + np.cross(spin, s.center - s.start)
        spins.append(spin)
        speeds.append(speed)
        body = mb.RigidBody(
            f"segment {k}", mass=s.mass, inertia=s.inertia, position=s.center, velocity=speed, angular_velocity=spin
        )
        bodies.append(system.add(body))
        if s.axis is not None:
            parent = bodies[s.parent] if s.parent >= 0 else system.ground
            system.add(mb.RevoluteJoint(f"hinge {k}", parent, body, at=s.start, axis=s.axis))
    return system


def our_robot(segments: Sequence[Segment], formulation: str, t_end: float, dt: float) -> Run:
    return our_run(our_system(segments), formulation, t_end, dt)


def our_run(system: mb.System, formulation: str, t_end: float, dt: float, tip: tuple[str, float] | None = None) -> Run:
    """With correction; `tip` is a body and a point on its x axis (m), by default the last one's origin."""
    began = time.process_time()
    chosen = getattr(mb, formulation)() if formulation else None
    result = run(system, t_end, mb.RungeKutta4(), dt, formulation=chosen, t_eval=(0.0, t_end))
    cpu = time.process_time() - began
    body, x = tip or (system.bodies[-1].name, 0.0)
    point = (x, 0.0, 0.0)[: system.dimension]
    return Run(cpu, np.append(result.position(body, local_point=point)[-1], 0.0)[:3])


def our_windows(n: int, formulation: str, t_end: float, dt: float) -> Run:
    return our_run(mb.examples.n_four_bar(n=n), formulation, t_end, dt)


def our_bricard(formulation: str, t_end: float, dt: float) -> Run:
    return our_run(mb.examples.bricard(), formulation, t_end, dt, ("rod 3", 0.5))


def our_chain(n: int, formulation: str, t_end: float, dt: float) -> Run:
    links = polygon(n)
    return our_run(link_chain(links), formulation, t_end, dt, free_end(links))


def mujoco_robot(segments: Sequence[Segment], t_end: float, dt: float) -> Run:
    speeds: list[float] = []

    def described(k: int) -> str:
        s = segments[k]
        before = segments[s.parent] if s.parent >= 0 else None
        base = np.zeros(3) if before is None else before.start
        joint = "<freejoint/>" if s.axis is None else f'<joint type="hinge" axis="{numbers(*s.axis)}"/>'
        speeds.extend([0.0] * 6 if s.axis is None else [s.rate])
        tip = f'<site name="tip" pos="{numbers(*(s.center - s.start))}"/>' if k == len(segments) - 1 else ""
        inside = "".join(described(j) for j, other in enumerate(segments) if other.parent == k)
        return (
            f'<body pos="{numbers(*(s.start - base))}">{joint}<inertial pos="{numbers(*(s.center - s.start))}"'
            f' mass="{numbers(s.mass)}" diaginertia="{numbers(*s.inertia)}"/>{tip}{inside}</body>'
        )

    bodies = described(0)
    return mujoco_run(
        f'<mujoco><option integrator="RK4" timestep="{numbers(dt)}" gravity="{numbers(*GRAVITY)}">'
        '<flag constraint="disable" contact="disable" actuation="disable" sensor="disable"/></option>'
        f"<worldbody>{bodies}</worldbody></mujoco>",
        round(t_end / dt),
        speeds,
    )


def pinocchio_evaluations(segments: Sequence[Segment], steps: int) -> float:
    """CPU seconds of four evaluations of the articulated-body algorithm for each of so many steps."""
    import pinocchio

    model = pinocchio.Model()
    numbers_of = [0]
    for k, s in enumerate(segments):
        parent = numbers_of[s.parent + 1]
        base = np.zeros(3) if s.parent < 0 else segments[s.parent].start
        kind = pinocchio.JointModelFreeFlyer() if s.axis is None else pinocchio.JointModelRevoluteUnaligned(*s.axis)
        number = model.addJoint(parent, kind, pinocchio.SE3(np.eye(3), s.start - base), f"joint {k}")
        inertia = pinocchio.Inertia(s.mass, s.center - s.start, np.diag(s.inertia))
        model.appendBodyToJoint(number, inertia, pinocchio.SE3.Identity())
        numbers_of.append(number)
    data, q = model.createData(), pinocchio.neutral(model)
    v = tau = np.zeros(model.nv)
    began = time.process_time()
    for _ in range(4 * steps):
        pinocchio.aba(model, data, q, v, tau)
    return time.process_time() - began


def _rows(bench: Bench, name: str, segments: Sequence[Segment], limit: float, steps: int) -> Iterator[Row]:
    ours = bench.processes[OURS]
    contenders = {
        OURS: partial(ours, partial(our_robot, segments, "Relative", dt=DT)),
        "NewtonEuler": partial(ours, partial(our_robot, segments, "NewtonEuler", dt=DT)),
    }
    if MUJOCO in bench.processes:
        contenders[MUJOCO] = partial(bench.processes[MUJOCO], partial(mujoco_robot, segments, dt=DT))
    figures, note = step_cost(contenders, steps, bench.repeats)
    for other, figure in figures.items():
        if other != OURS:
            yield Row(name, figures[OURS], "µs", other, figure, limit if other == MUJOCO else None, note)
    if PINOCCHIO in bench.processes:
        process = bench.processes[PINOCCHIO]
        theirs = min(process(pinocchio_evaluations, segments, steps) for _ in range(bench.repeats)) / steps * 1e6
        yield Row(name, figures[OURS], "µs", "Pinocchio, 4 evaluations", theirs)


def robots(bench: Bench) -> Iterator[Row]:
    """RK4 step of arms of 7, 30 and 100 hinges and of a floating tree of 30, in joint coordinates."""
    for n in ARMS:
        yield from _rows(bench, f"arm of {n} hinges, Relative, RK4 step", arm(n), 0.6, max(200, 20_000 // n))
    yield from _rows(bench, "free trunk with 30 hinges, Relative, RK4 step", humanoid(), 0.8, 700)


def joint_coordinates(bench: Bench) -> Iterator[Row]:
    """RK4 step in joint coordinates of loops and of chains of balls, beside the coordinates of the bodies."""
    ours = bench.processes[OURS]
    cases: list[tuple[str, Any, dict[str, Any], dict[str, float], int]] = [
        (
            "Bricard mechanism",
            our_bricard,
            {MUJOCO: mujoco_bricard, EXUDYN: exudyn_bricard, EXUDYN_FAST: exudyn_bricard},
            {MUJOCO: 0.6},
            2000,
        ),
        (
            "row of 40 four-bar mechanisms",
            partial(our_windows, 40),
            {MUJOCO: partial(mujoco_planar, "n_four_bar", {"n": 40})},
            {MUJOCO: 0.3},
            500,
        ),
        (
            "chain of 1,000 balls",
            partial(our_chain, 1000),
            {
                EXUDYN: partial(exudyn_generalized_alpha, polygon(1000)),
                EXUDYN_FAST: partial(exudyn_generalized_alpha, polygon(1000)),
            },
            {EXUDYN: 0.2, EXUDYN_FAST: 0.2},
            bench.large_steps,
        ),
    ]
    for name, mine, theirs, limits, steps in cases:
        contenders = {
            OURS: partial(ours, partial(mine, "Relative", dt=DT)),
            "as described": partial(ours, partial(mine, "", dt=DT)),
        }
        contenders |= {
            peer: partial(bench.processes[peer], partial(method, dt=DT))
            for peer, method in theirs.items()
            if peer in bench.processes
        }
        repeats = bench.large_repeats if steps == bench.large_steps else bench.repeats
        figures, note = step_cost(contenders, steps, repeats)
        for other, figure in figures.items():
            if other != OURS:
                yield Row(f"{name}, Relative, RK4 step", figures[OURS], "µs", other, figure, limits.get(other), note)
    costs = {}
    for n, steps in ((10, 2000), (1000, bench.large_steps), (10_000, bench.large_steps)):
        contender = {OURS: partial(ours, partial(our_chain, n, "Relative", dt=DT))}
        costs[n] = step_cost(contender, steps, bench.large_repeats)[0][OURS] / n
    for n in (1000, 10_000):
        yield Row(f"chain of {n:,} balls, Relative, per body", costs[n], "µs", "ours, 10 balls", costs[10], 1.3)
