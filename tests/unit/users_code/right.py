"""What a user writes, as type checkers should see it: nothing here is wrong."""

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
from scipy.spatial.transform import Rotation

import mbframe as mb

system = mb.System("pendulum", gravity=(0, 0, -9.81))
bar = system.add(
    mb.RigidBody(
        "bar",
        mass=2.0,
        inertia=(0.053, 2.693, 2.693),
        position=(2, 0, 0),
        center_of_mass=(0, 0, 0),
        rotation=Rotation.identity(),
        velocity=(0, 0, 0),
        angular_velocity=np.zeros(3),
    )
)
assert_type(bar, mb.RigidBody)
pin = system.add(mb.SphericalJoint("A", system.ground, bar, at=(0, 0, 0)))
system.add(
    mb.SpringDamper(
        "spring", system.ground, bar, at_i=(4, 0, 3), at_j=(4, 0, 0), stiffness=200.0, damping=15.0, free_length=2.5
    )
)
system.add(mb.PointForce("f", bar, at=(1, 0, 0), force=("sin(2*t)", 0.0, mb.Function("cos(t)"))))
hinge = system.add(mb.RevoluteJoint("B", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
system.add(mb.Driver("motor", hinge, angle="2*pi*t"))
elements = (system["bar"], system.bodies, system.joints, system.forces)
result = mb.simulate(system, t_end=5.0)
result = mb.simulate(
    system,
    t_end=5.0,
    dt=1e-3,
    formulation=mb.NaturalAbsolute(),
    acceleration=mb.UdwadiaKalaba(),
    stabilization=mb.CoordinatePartitioning(tolerance=1e-9),
    integrator=mb.AdamsBashforth(order=4),
)
result = mb.simulate(
    system,
    t_end=5.0,
    integrator=mb.DormandPrince(order=8, rtol=1e-11, atol=1e-12),
    t_eval=np.linspace(0, 5, 51),
)
assert_type(result, mb.Result)
numbers = (result.t, result.q, result.v, result.multipliers, result.energy.total, result.violation.position)
points = (result.position(bar, local_point=(2, 0, 0)), result.velocity(bar), result.reaction(pin).torque)
steps: int = result.info.steps

plane = mb.System("four-bar", dimension=2, gravity=(0, -9.81))
crank = plane.add(
    mb.PlanarBody(
        "crank",
        mass=1.0,
        inertia=0.3,
        position=(0.5, 0.866),
        angle=np.pi / 3,
        velocity=(0, 0),
        angular_velocity=0.0,
        center_of_mass=(0, 0),
    )
)
plane.add(mb.RevoluteJoint("A", plane.ground, crank, at=(0, 0)))
plane.add(mb.Torque("m", crank, torque=0.5))
angle = mb.simulate(plane, t_end=1.0, dt=1e-3, formulation=mb.PlanarNatural()).angle(crank)

state = mb.assemble(system)
lin = mb.linearize(system)
roots, first = lin.eigenvalues, lin.modes[0].frequency
model: mb.System = mb.examples.four_bar()
freedom = mb.degrees_of_freedom(system).count

part = mb.flexible.beam(
    length=1.0,
    elements=10,
    area=1e-4,
    second_moments=(8e-10, 8e-10),
    torsion=1.6e-9,
    young=2.1e11,
    shear=8.1e10,
    density=7850.0,
)
rod = mb.FlexibleBody("rod", mb.flexible.craig_bampton(part, interfaces=[0, 10], n_modes=4), position=(0, 0, 0))

mb.save(system, "model.json")
system = mb.load("model.json")
result.save("run.h5")
mb.render.export(result, "motion.mp4", fps=30, size=(1280, 720))


class Magnet(mb.ForceElement):
    strength = mb.parameter(1.0, unit="N m^2", minimum=0.0, help="attraction at one metre")

    def wrench(self, t: Any, i: Any, j: Any) -> Any:
        d = i.position - j.position
        return self.strength * d / np.linalg.norm(d) ** 3, np.zeros(3)


class OffsetHinge(mb.Joint):
    def constraints(self) -> list[mb.BasicConstraint]:
        return [
            mb.Coincident(self.i, self.j),
            mb.Perpendicular(self.i.z, self.j.x),
            mb.Perpendicular(self.i.z, self.j.y),
        ]


class Orthogonal(mb.BasicConstraint):
    equations = 1

    def residual(self, t: Any, i: Any, j: Any) -> Any:
        return [i.axes[:, 0] @ j.axes[:, 1]]


assert_type(system.add(Magnet("magnet", system.ground, bar, at_i=(0, 0, 5), at_j=(4, 0, 0), strength=3.0)), Magnet)
system.add(OffsetHinge("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
mb.register(Magnet, OffsetHinge, Orthogonal)
law: Callable[[float], float] = np.sin
system.add(mb.SpringDamper("s", system.ground, bar, force=law))
