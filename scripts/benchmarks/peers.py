"""The models of the benchmark as plain data, and how MuJoCo and Exudyn simulate them.

Each peer runs as its own users would run it at its best: constraints, contacts and files that the model does not need
are switched off, only the march is timed (not the construction of the model), and it runs in compiled code throughout.

- MuJoCo: ball joints (minimal coordinates), its RK4 integrator.
- Exudyn, pendulum: a kinematic tree, because its explicit integrators take no constraint equations; each ball joint is
  three revolute joints, which are all that trees have. Of the six sequences of axes, y, x, z is the most accurate here.
- Exudyn, chain: rigid bodies in Euler parameters with spherical joints, its default integrator (generalized alpha,
  implicit) and its sparse linear solver: a tree of 1,000 links would have a dense mass matrix.
- MuJoCo, Bricard mechanism: a tree of five hinges; two points on the sixth hinge's axis are held, as stiffly as the
  step permits. Such constraints alone make a linear problem, for which islands and a warm start are only a cost.
- Exudyn, Bricard mechanism: as the chain, with six revolute joints; of its linear solvers only `EigenDense` copes with
  the redundant equation.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from mbframe.examples.bricard import AXES, CORNERS, LENGTH, MASS, WIDTH

GRAVITY = (0.0, 0.0, -9.81)
PEERS = {"mujoco": "mujoco", "exudyn": "exudyn", "pin": "pinocchio"}
"""Packages of the other programs, and what is imported of them."""
WRONG = {"mujoco": ("4.0.0", "its sparse Cholesky factorization is wrong, as its release 4.0.1 says")}
"""A release that must not be compared with, and why."""


@dataclass(frozen=True)
class Link:
    """A bar along its local x axis between two joints; from rest, turned by `angle` about the vertical."""

    mass: float  # kg
    inertia: tuple[float, float, float]  # kg m², about the centre, body axes
    half_length: float  # m
    angle: float  # rad

    @property
    def direction(self) -> np.ndarray:
        return np.array([np.cos(self.angle), np.sin(self.angle), 0.0])

    @property
    def rotation(self) -> np.ndarray:
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


PENDULUM = (
    Link(2.0, (0.053, 2.693, 2.693), 2.0, 0.0),
    Link(3.0, (0.080, 4.040, 4.040), 2.0, np.pi / 2),
    Link(4.0, (0.107, 5.387, 5.387), 2.0, 0.0),
)


def polygon(n: int) -> tuple[Link, ...]:
    """A chain of n slender rods of 1 m and 1 kg laid out as a regular polygon: its ends meet, so it can be closed."""
    return tuple(Link(1.0, (1e-3, 1 / 12, 1 / 12), 0.5, 2 * np.pi * k / n) for k in range(n))


def joints(links: Sequence[Link]) -> Iterator[tuple[Link, np.ndarray]]:
    """Each link with the point at which it hangs on the one before, global (m)."""
    start = np.zeros(3)
    for link in links:
        yield link, start
        start = start + 2 * link.half_length * link.direction


@dataclass(frozen=True)
class Rod:
    """A rod of the Bricard mechanism, with the hinge at its start; its body axes are the global ones at first."""

    start: np.ndarray  # m, global
    along: np.ndarray  # m, from its start to its end
    axis: np.ndarray

    @property
    def inertia(self) -> np.ndarray:
        """Principal moments about the centre (kg m²): rods lie along one of the axes."""
        return np.where(self.along != 0.0, MASS * WIDTH**2 / 6, MASS * (LENGTH**2 + WIDTH**2) / 12)


BRICARD_GRAVITY = (0.0, -9.81, 0.0)
BRICARD_RODS = [
    Rod(LENGTH * np.array(start, float), LENGTH * np.subtract(end, start, dtype=float), np.array(axis, float))
    for start, end, axis in zip(CORNERS, CORNERS[1:], AXES, strict=False)
]
BRICARD_TIP = BRICARD_RODS[2]  # the tip of a run is this one's end
BRICARD_CLOSURE, BRICARD_CLOSURE_AXIS = LENGTH * np.array(CORNERS[5], float), np.array(AXES[5], float)


@dataclass(frozen=True)
class Run:
    """One simulation: CPU seconds, and the tip at its end (global, m), which is the last link's free end in a chain."""

    cpu: float
    tip: np.ndarray


def missing_peers() -> list[str]:
    return [name for name, module in PEERS.items() if find_spec(module) is None]


def wrong_peers() -> list[str]:
    """Installed releases that must not be compared with, and why."""
    return [
        f"{name} {release}: {why}"
        for name, (release, why) in WRONG.items()
        if find_spec(PEERS[name]) is not None and version(name) == release
    ]


def numbers(*values: float) -> str:
    """As MuJoCo reads them."""
    return " ".join(repr(float(value)) for value in values)


def mujoco_rk4(links: Sequence[Link], t_end: float, dt: float) -> Run:
    opened, before = "", None
    for link in links:
        turn = link.angle - (before.angle if before else 0.0)
        opened += (
            f'<body pos="{numbers(2 * before.half_length if before else 0.0, 0.0, 0.0)}"'
            f' quat="{numbers(np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2))}"><joint type="ball"/>'
            f'<inertial pos="{numbers(link.half_length, 0, 0)}" mass="{numbers(link.mass)}"'
            f' diaginertia="{numbers(*link.inertia)}"/>'
        )
        before = link
    tip = f'<site name="tip" pos="{numbers(2 * links[-1].half_length, 0, 0)}"/>'
    return mujoco_run(
        f'<mujoco><option integrator="RK4" timestep="{numbers(dt)}" gravity="{numbers(*GRAVITY)}">'
        '<flag constraint="disable" contact="disable" actuation="disable" sensor="disable"/></option>'
        f"<worldbody>{opened}{tip}{'</body>' * len(links)}</worldbody></mujoco>",
        round(t_end / dt),
    )


def mujoco_bricard(t_end: float, dt: float) -> Run:
    opened, before = "", np.zeros(3)
    for rod in BRICARD_RODS:
        name = ' name="last"' if rod is BRICARD_RODS[-1] else ""
        opened += (
            f'<body{name} pos="{numbers(*rod.start - before)}"><joint type="hinge" axis="{numbers(*rod.axis)}"/>'
            f'<inertial pos="{numbers(*rod.along / 2)}" mass="{numbers(MASS)}" diaginertia="{numbers(*rod.inertia)}"/>'
        )
        if rod is BRICARD_TIP:
            opened += f'<site name="tip" pos="{numbers(*rod.along)}"/>'
        before = rod.start
    held = (BRICARD_CLOSURE - before, BRICARD_CLOSURE - before + LENGTH * BRICARD_CLOSURE_AXIS)
    stiffness = f'solref="{numbers(2 * dt, 1)}" solimp="0.9999 0.9999 0.001"'
    closure = "".join(f'<connect body1="last" anchor="{numbers(*point)}" {stiffness}/>' for point in held)
    return mujoco_run(
        f'<mujoco><option integrator="RK4" timestep="{numbers(dt)}" gravity="{numbers(*BRICARD_GRAVITY)}"'
        ' jacobian="dense"><flag contact="disable" limit="disable" frictionloss="disable" actuation="disable"'
        ' sensor="disable" island="disable" warmstart="disable"/></option>'
        f"<worldbody>{opened}{'</body>' * len(BRICARD_RODS)}</worldbody><equality>{closure}</equality></mujoco>",
        round(t_end / dt),
    )


def mujoco_run(description: str, steps: int, speeds: Sequence[float] | None = None) -> Run:
    """`speeds`: initial velocities of the joints, by default zero."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(description)
    data = mujoco.MjData(model)
    if speeds is not None:
        data.qvel[:] = speeds
    began = time.process_time()
    mujoco.mj_step(model, data, nstep=steps)
    cpu = time.process_time() - began
    mujoco.mj_kinematics(model, data)
    return Run(cpu, data.site("tip").xpos.copy())


def choose_exudyn_build(fast: bool) -> None:
    """Load Exudyn's regular build or the one without range checks: once per process, it cannot be changed later."""
    os.environ["EXUDYN_MODULE"] = "fast" if fast else ""
    with contextlib.redirect_stdout(io.StringIO()):  # it announces its build
        import exudyn  # noqa: F401


def exudyn_rk4(links: Sequence[Link], t_end: float, dt: float) -> Run:
    import exudyn

    settings = _exudyn_settings(t_end, dt)
    settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
    return _exudyn_run(*_exudyn_tree(links), settings, exudyn.DynamicSolverType.RK44)


def exudyn_dopri5(links: Sequence[Link], t_end: float, tolerance: float) -> Run:
    import exudyn

    settings = _exudyn_settings(t_end, dt=min(0.1, t_end))  # for adaptive integrators the largest step
    settings.timeIntegration.automaticStepSize = True
    settings.timeIntegration.relativeTolerance = tolerance
    settings.timeIntegration.absoluteTolerance = tolerance
    settings.timeIntegration.initialStepSize = min(1e-3, t_end)
    settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
    return _exudyn_run(*_exudyn_tree(links), settings, exudyn.DynamicSolverType.DOPRI5)


def exudyn_generalized_alpha(links: Sequence[Link], t_end: float, dt: float) -> Run:
    import exudyn

    settings = _exudyn_settings(t_end, dt)
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    return _exudyn_run(*_exudyn_bodies(links), settings, exudyn.DynamicSolverType.GeneralizedAlpha)


def exudyn_bricard(t_end: float, dt: float) -> Run:
    import exudyn

    settings = _exudyn_settings(t_end, dt)
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
    settings.linearSolver.ignoreSingularJacobian = True
    return _exudyn_run(*_exudyn_hinged_ring(), settings, exudyn.DynamicSolverType.GeneralizedAlpha)


def _exudyn_settings(t_end: float, dt: float) -> Any:
    import exudyn

    settings = exudyn.SimulationSettings()
    settings.timeIntegration.endTime = t_end
    settings.timeIntegration.numberOfSteps = round(t_end / dt)
    settings.timeIntegration.automaticStepSize = False
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    return settings


def _exudyn_tree(links: Sequence[Link]) -> tuple[Any, int]:
    import exudyn
    from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree, SensorKinematicTree

    types, turns, offsets, masses, centres, inertias = [], [], [], [], [], []
    nothing, unturned = np.zeros(3), np.eye(3)
    angle, length = 0.0, 0.0
    for link in links:
        turn = Link(0.0, link.inertia, 0.0, link.angle - angle).rotation
        types += [exudyn.JointType.RevoluteY, exudyn.JointType.RevoluteX, exudyn.JointType.RevoluteZ]
        turns += [turn, unturned, unturned]
        offsets += [np.array([length, 0.0, 0.0]), nothing, nothing]
        masses += [0.0, 0.0, link.mass]
        centres += [nothing, nothing, np.array([link.half_length, 0.0, 0.0])]
        inertias += [np.zeros((3, 3)), np.zeros((3, 3)), np.diag(link.inertia)]
        angle, length = link.angle, 2 * link.half_length
    n = len(types)
    system = exudyn.SystemContainer().AddSystem()
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * n,
            initialCoordinates=[0.0] * n,
            initialCoordinates_t=[0.0] * n,
            numberOfODE2Coordinates=n,
        )
    )
    tree = system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=types,
            linkParents=list(range(-1, n - 1)),
            jointTransformations=exudyn.Matrix3DList(turns),
            jointOffsets=exudyn.Vector3DList(offsets),
            linkInertiasCOM=exudyn.Matrix3DList(inertias),
            linkCOMs=exudyn.Vector3DList(centres),
            linkMasses=masses,
            gravity=list(GRAVITY),
        )
    )
    tip = system.AddSensor(
        SensorKinematicTree(
            objectNumber=tree,
            linkNumber=n - 1,
            localPosition=[length, 0.0, 0.0],
            writeToFile=False,
            outputVariableType=exudyn.OutputVariableType.Position,
        )
    )
    return system, tip


def _exudyn_bodies(links: Sequence[Link]) -> tuple[Any, int]:
    import exudyn
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    system = exudyn.SystemContainer().AddSystem()
    body = system.CreateGround()
    for link, start in joints(links):
        before = body
        body = system.CreateRigidBody(
            referencePosition=start + link.half_length * link.direction,
            referenceRotationMatrix=link.rotation,
            inertia=RigidBodyInertia(mass=link.mass, inertiaTensor=np.diag(link.inertia)),
            gravity=list(GRAVITY),
        )
        system.CreateSphericalJoint(itemNumbers=[before, body], position=start)
    return system, _exudyn_position(system, body, np.array([links[-1].half_length, 0.0, 0.0]))


def _exudyn_hinged_ring() -> tuple[Any, int]:
    import exudyn
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    system = exudyn.SystemContainer().AddSystem()
    ground = body = system.CreateGround()
    for rod in BRICARD_RODS:
        before = body
        body = system.CreateRigidBody(
            referencePosition=rod.start + rod.along / 2,
            inertia=RigidBodyInertia(mass=MASS, inertiaTensor=np.diag(rod.inertia)),
            gravity=list(BRICARD_GRAVITY),
        )
        system.CreateRevoluteJoint(itemNumbers=[before, body], position=rod.start, axis=rod.axis)
        if rod is BRICARD_TIP:
            tip = _exudyn_position(system, body, rod.along / 2)
    system.CreateRevoluteJoint(itemNumbers=[body, ground], position=BRICARD_CLOSURE, axis=BRICARD_CLOSURE_AXIS)
    return system, tip


def _exudyn_position(system: Any, body: Any, point: np.ndarray) -> int:
    """A sensor for where a body's point is."""
    import exudyn
    from exudyn.itemInterface import SensorBody

    return system.AddSensor(
        SensorBody(
            bodyNumber=body,
            localPosition=list(point),
            writeToFile=False,
            outputVariableType=exudyn.OutputVariableType.Position,
        )
    )


def exudyn_planar_run(system: Any, body: Any, t_end: float, dt: float, dense: bool) -> Run:
    """Of planar bodies with joints."""
    import exudyn

    settings = _exudyn_settings(t_end, dt)
    solvers = exudyn.LinearSolverType
    settings.linearSolver.solverType = solvers.EXUdense if dense else solvers.EigenSparse
    return _exudyn_run(
        system, _exudyn_position(system, body, np.zeros(3)), settings, exudyn.DynamicSolverType.GeneralizedAlpha
    )


def _exudyn_run(system: Any, tip: int, settings: Any, integrator: Any) -> Run:
    system.Assemble()
    began = time.process_time()
    system.SolveDynamic(settings, solverType=integrator)
    cpu = time.process_time() - began
    return Run(cpu, np.array(system.GetSensorValues(tip)))
