"""A flexible connecting rod in a slider-crank, ours and Exudyn's, for `bench.py`.

The rod is the solid of 525 nodes of `mb.examples.solid_connecting_rod` with 14 modes, the same in both; the crank
starts at 400 rad/s and runs freely. Exudyn has `ObjectFFRFreducedOrder` with its compiled functions, generalized alpha,
modified Newton and its dense solver. Its joints hold the ring of 20 nodes in the middle of each eye: all 60 of a bore
take twice the time, and a few are not enough for it.
"""

from __future__ import annotations

import contextlib
import io
import time
from functools import cache
from typing import Any, cast

import numpy as np
from peers import Run

import mbframe as mb

FLEXIBLE_DT = 1e-5  # s
N_MODES = 8  # beside the six static ones


@cache
def solid_rod() -> mb.System:
    """The mechanism without motor and damping."""
    system = mb.examples.solid_connecting_rod(n_modes=N_MODES)
    system.remove(system["motor"])
    system["rod"].damping_ratios = 0.0
    return system


@cache
def beam_rod(elements: int, stiffening: bool) -> mb.System:
    return mb.examples.flexible_slider_crank(n_modes=N_MODES, elements=elements, stiffening=stiffening)


def solid_block() -> mb.System:
    """A block of 33 x 7 x 7 hexahedra that swings on a hinge."""
    counts = np.array([33, 7, 7])
    grid = np.indices(tuple(counts + 1)).reshape(3, -1).T
    numbers = np.arange(len(grid)).reshape(counts + 1)
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
    cells = np.array([numbers[tuple((np.array(cell) + corners).T)] for cell in np.ndindex(*counts)])
    points = grid * np.array([1.0, 0.1, 0.1]) / counts
    part = mb.flexible.solid((points, cells), young=2e9, poisson=0.3, density=1000.0, order=1)
    part = part.with_interface(np.flatnonzero(points[:, 0] == 0.0), (0.0, 0.05, 0.05), "end")
    system = mb.System("block", gravity=(0.0, 0.0, -9.81))
    block = system.add(mb.FlexibleBody("block", mb.flexible.clamped_modes(part, node="end", n_modes=4)))
    system.add(mb.RevoluteJoint("hinge", system.ground, block, at=(0.0, 0.05, 0.05), axis=(0.0, 1.0, 0.0)))
    return system


def _ours(system: mb.System, body: str, t_end: float) -> Run:
    began = time.process_time()
    result = mb.simulate(system, t_end, dt=FLEXIBLE_DT, integrator=mb.RungeKutta4(), t_eval=(0.0, t_end))
    return Run(time.process_time() - began, result.position(body)[-1])


def our_solid_rod(t_end: float) -> Run:
    return _ours(solid_rod(), "piston", t_end)


def our_beam_rod(t_end: float, elements: int, stiffening: bool = False) -> Run:
    return _ours(beam_rod(elements, stiffening), "slider", t_end)


def pendulum(planar: bool) -> mb.System:
    """A flexible bar on a hinge: in the plane, or in space with the same shapes, which stay in the plane."""
    section = mb.flexible.rectangle(0.02, 0.01)
    part = mb.flexible.beam(length=1.0, elements=10, young=2.1e11, shear=8.1e10, density=7850.0, **section)
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 10], n_modes=8)
    flat = mb.PlanarFlexibleBody("bar", modes)
    system = mb.System("pendulum", dimension=2 if planar else 3, gravity=(0.0, -9.81) if planar else (0.0, -9.81, 0.0))
    bar = system.add(flat if planar else mb.FlexibleBody("bar", flat.used_modes))
    place: Any = (0.0, 0.0) if planar else (0.0, 0.0, 0.0)
    axis: dict[str, Any] = {} if planar else {"axis": (0.0, 0.0, 1.0)}
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=place, **axis))
    return system


def our_pendulum(t_end: float, planar: bool) -> Run:
    run = _ours(pendulum(planar), "bar", t_end)
    return Run(run.cpu, run.tip[:2])


def exudyn_solid_rod(t_end: float) -> Run:
    import exudyn

    with contextlib.redirect_stdout(io.StringIO()):
        system, tip = _exudyn_model()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.endTime = t_end
    settings.timeIntegration.numberOfSteps = round(t_end / FLEXIBLE_DT)
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EXUdense
    began = time.process_time()
    system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
    return Run(time.process_time() - began, np.array(system.GetSensorValues(tip)))


def _exudyn_model() -> tuple[Any, int]:
    import exudyn
    from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
    from exudyn.itemInterface import (
        GenericJoint,
        MarkerBodyRigid,
        MarkerSuperElementRigid,
        ObjectGround,
        SensorBody,
    )
    from exudyn.utilities import RigidBodyInertia
    from scipy import sparse

    ours = solid_rod()
    rod, crank, piston = (cast(Any, ours[name]) for name in ("rod", "crank", "piston"))
    part, modes = rod.modes.component, rod.modes
    fem = FEMinterface()
    fem.nodes = {"Position": np.array(part.nodes)}
    fem.massMatrix, fem.stiffnessMatrix = (sparse.csr_matrix(m) for m in (part.mass_matrix, part.stiffness_matrix))
    fem.coordinatesPerNodePosition = 3
    fem.modeBasis = {"matrix": np.array(modes.shapes), "type": "NormalModes"}
    fem.surface = fem.elements = []
    system = exudyn.SystemContainer().AddSystem()
    gravity = list(ours.gravity)
    flexible = ObjectFFRFreducedOrderInterface(fem).AddObjectFFRFreducedOrder(
        system,
        positionRef=list(rod.position),
        initialVelocity=list(rod.velocity),
        rotationMatrixRef=np.eye(3),
        initialAngularVelocity=list(rod.angular_velocity),
        gravity=gravity,
    )["oFFRFreducedOrder"]
    ground = system.AddObject(ObjectGround())
    bodies = [
        system.CreateRigidBody(
            inertia=RigidBodyInertia(body.mass, np.diag(np.diag(body.inertia))),
            referencePosition=list(body.position),
            initialAngularVelocity=list(body.angular_velocity),
            gravity=gravity,
        )
        for body in (crank, piston)
    ]

    def at(body: Any, point: Any) -> int:
        return system.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=list(point)))

    eyes = []
    for point in part.interface_points:
        ring = point.nodes[np.abs(part.nodes[point.nodes][:, 2]) < 1e-9]
        eyes.append(
            system.AddMarker(
                MarkerSuperElementRigid(
                    bodyNumber=flexible,
                    meshNodeNumbers=ring.tolist(),
                    weightingFactors=[1.0 / len(ring)] * len(ring),
                    offset=(point.position - part.nodes[ring].mean(axis=0)).tolist(),
                )
            )
        )
    pin = rod.position
    for pair, held in (
        ((at(ground, (0, 0, 0)), at(bodies[0], (0, 0, 0))), [1, 1, 1, 1, 1, 0]),
        ((at(bodies[0], pin), eyes[0]), [1, 1, 1, 0, 0, 0]),
        ((eyes[1], at(bodies[1], (0, 0, 0))), [1, 1, 1, 1, 0, 0]),
        ((at(ground, piston.position), at(bodies[1], (0, 0, 0))), [0, 1, 1, 1, 1, 1]),
    ):
        system.AddObject(GenericJoint(markerNumbers=list(pair), constrainedAxes=held))
    position = exudyn.OutputVariableType.Position
    tip = system.AddSensor(SensorBody(bodyNumber=bodies[1], outputVariableType=position, writeToFile=False))
    system.Assemble()
    return system, tip
