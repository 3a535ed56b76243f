"""What a user writes wrong: type checkers see each line that has a comment, and no other."""

import mbframe as mb

system = mb.System("a")
bar = system.add(mb.RigidBody("bar", mass=1.0, inertia=(1.0, 1.0, 1.0)))
mb.RigidBody("bar", inertia=(1.0, 1.0, 1.0))  # mass is missing
mb.RigidBody("bar", mass="heavy", inertia=(1.0, 1.0, 1.0))  # no number
mb.RigidBody("bar", mass=1.0, inertia=(1.0, 1.0, 1.0), positon=(0, 0, 0))  # a slip
mb.RigidBody("bar", mass=1.0, inertia=(1.0, 1.0, 1.0), position="here")  # no vector
mb.RigidBdy("bar")  # a slip
mb.SpringDamper("s", system.ground, bar, stifness=1.0)  # a slip
mb.SpringDamper("s", system.ground, stiffness=1.0)  # one body
mb.RevoluteJoint("A", system.ground, "bar", at=(0, 0, 0), axis=(0, 0, 1))  # a name for a body
mb.RevoluteJoint("A", system.ground, bar)  # at is missing
mb.Torque("m", bar, torque=1.0, axes="locl")  # no such choice
mb.DormandPrince(order="eight")  # no number
mb.DormandPrince(tolerance=1e-8)  # it has rtol and atol
mb.System("a", gravty=(0, 0, 0))  # a slip
mb.simulate(system, t_ende=1.0)  # a slip
mb.simulate(system, t_end=1.0).positions(bar)  # a slip
print(bar.masss)  # a slip
mb.register(3)  # no class
