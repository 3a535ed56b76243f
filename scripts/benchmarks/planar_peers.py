"""Planar mechanisms of bars and hinges, and how MuJoCo and Exudyn simulate them at their best.

- MuJoCo: a tree of hinges, one per bar; hinges that close loops are points held together, as stiffly as the step
  permits. Its RK4 integrator.
- Exudyn: its planar rigid bodies and planar revolute joints, its default integrator (generalized alpha, implicit).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from peers import Run, exudyn_planar_run, mujoco_run, numbers

import mbframe as mb


@dataclass(frozen=True)
class Hinge:
    """Bars (None: the ground) joined at a point (m)."""

    first: mb.PlanarBody | None
    second: mb.PlanarBody
    at: np.ndarray


@dataclass(frozen=True)
class Mechanism:
    """Bars and hinges; hinges of the tree first reach a bar, the others close loops."""

    gravity: np.ndarray
    bars: list[mb.PlanarBody]
    tree: list[Hinge]
    closures: list[Hinge]


def mechanism(name: str, **values: Any) -> Mechanism:
    """An example as plain data; the place of its last bar's origin is what runs are compared by."""
    system = getattr(mb.examples, name)(**values)
    hinges = [
        Hinge(None if joint.body_i is system.ground else joint.body_i, joint.body_j, joint.at)
        for joint in system.joints
    ]
    reached: set[str] = set()
    tree, closures = [], []
    waiting = list(hinges)
    while waiting:
        hinge = next(h for h in waiting if h.first is None or h.first.name in reached)
        waiting.remove(hinge)
        if hinge.second.name in reached:
            closures.append(hinge)
        else:
            reached.add(hinge.second.name)
            tree.append(hinge)
    return Mechanism(system.gravity, system.bodies, tree, closures)


def mujoco_planar(name: str, values: dict[str, Any], t_end: float, dt: float) -> Run:
    model = mechanism(name, **values)
    below: dict[str | None, list[Hinge]] = {}
    for hinge in model.tree:
        below.setdefault(hinge.first.name if hinge.first else None, []).append(hinge)
    speeds: list[float] = []

    def described(hinge: Hinge, origin: np.ndarray) -> str:
        bar = hinge.second
        speeds.append(bar.angular_velocity - (hinge.first.angular_velocity if hinge.first else 0.0))
        inside = "".join(described(h, hinge.at) for h in below.get(bar.name, ()))
        tip = f'<site name="tip" pos="{numbers(*bar.position - hinge.at, 0)}"/>' if bar is model.bars[-1] else ""
        return (
            f'<body name="{bar.name}" pos="{numbers(*hinge.at - origin, 0)}"><joint type="hinge" axis="0 0 1"/>'
            f'<inertial pos="{numbers(*bar.position - hinge.at, 0)}" mass="{numbers(bar.mass)}"'
            f' diaginertia="{numbers(*[bar.inertia] * 3)}"/>{tip}{inside}</body>'
        )

    bodies = "".join(described(hinge, np.zeros(2)) for hinge in below[None])
    pivots = {hinge.second.name: hinge.at for hinge in model.tree}
    stiffness = f'solref="{numbers(2 * dt, 1)}" solimp="0.9999 0.9999 0.001"'
    held = "".join(
        f'<connect body1="{h.second.name}" {f"""body2="{h.first.name}" """ if h.first else ""}'
        f'anchor="{numbers(*h.at - pivots[h.second.name], 0)}" {stiffness}/>'
        for h in model.closures
    )
    return mujoco_run(
        f'<mujoco><option integrator="RK4" timestep="{numbers(dt)}" gravity="{numbers(*model.gravity, 0)}">'
        '<flag contact="disable" limit="disable" frictionloss="disable" actuation="disable" sensor="disable"'
        ' island="disable" warmstart="disable"/></option>'
        f"<worldbody>{bodies}</worldbody><equality>{held}</equality></mujoco>",
        round(t_end / dt),
        speeds,
    )


def exudyn_planar(name: str, values: dict[str, Any], t_end: float, dt: float) -> Run:
    import exudyn
    from exudyn.itemInterface import (
        LoadMassProportional,
        MarkerBodyMass,
        MarkerBodyRigid,
        NodeRigidBody2D,
        ObjectGround,
        ObjectJointRevolute2D,
        ObjectRigidBody2D,
    )

    model = mechanism(name, **values)
    system = exudyn.SystemContainer().AddSystem()
    ground = system.AddObject(ObjectGround())
    numbered = {}
    for bar in model.bars:
        node = system.AddNode(
            NodeRigidBody2D(
                referenceCoordinates=[*bar.position, bar.angle],
                initialVelocities=[*bar.velocity, bar.angular_velocity],
            )
        )
        body = system.AddObject(ObjectRigidBody2D(physicsMass=bar.mass, physicsInertia=bar.inertia, nodeNumber=node))
        weight = system.AddMarker(MarkerBodyMass(bodyNumber=body))
        system.AddLoad(LoadMassProportional(markerNumber=weight, loadVector=[*model.gravity, 0.0]))
        numbered[bar.name] = body
    for hinge in [*model.tree, *model.closures]:
        markers = []
        for held in (hinge.first, hinge.second):
            local, body = hinge.at, ground
            if held is not None:
                local, body = (held.rotation.T[:2, :2] @ (hinge.at - held.position)), numbered[held.name]
            markers.append(system.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=[*local, 0.0])))
        system.AddObject(ObjectJointRevolute2D(markerNumbers=markers))
    return exudyn_planar_run(system, numbered[model.bars[-1].name], t_end, dt, dense=len(model.bars) < 10)


def our_planar(name: str, values: dict[str, Any], t_end: float, dt: float) -> Run:
    import time

    system = getattr(mb.examples, name)(**values)
    began = time.process_time()
    result = mb.simulate(system, t_end, dt=dt, integrator=mb.RungeKutta4(), t_eval=(0.0, t_end))
    cpu = time.process_time() - began
    return Run(cpu, np.append(result.position(system.bodies[-1])[-1], 0.0))
