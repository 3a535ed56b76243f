"""Compiled residuals of users, with functions that a plain complex step differentiates wrongly, or not at all.

The rows that the compiled loop fills are compared with central differences of the interpreted method, which share no
code with it, and with `jets` where these take the method.
"""

from __future__ import annotations

import math
from math import hypot
from typing import Any

import numpy as np
import pytest
from numpy.linalg import norm

import mbframe as mb
from mbframe import jets
from mbframe.equations.user import residual_function, velocity_function
from mbframe.kernels.compiler.compile import run_stage


def longest(a):
    """A function of the module, which is compiled along."""
    return max(abs(a[0]), abs(a[1]), abs(a[2]))


def offset(i, j):
    return j.position + 0.3 * j.axes[:, 0] - i.position + 0.55 * i.axes[:, 1] - 0.2 * j.axes[:, 2]


class Norms(mb.BasicConstraint):
    equations = 3

    def residual(self, t, i, j):
        d = offset(i, j)
        return [np.linalg.norm(d) - 1.0, norm(d[:2]), np.linalg.norm(np.outer(d, i.axes[:, 0]))]


class Absolute(mb.BasicConstraint):
    equations = 3

    def residual(self, t, i, j):
        d = offset(i, j)
        return [abs(d[0]) - abs(d[2]), np.abs(d)[1] + np.sum(np.absolute(d)), longest(d) + np.fabs(d[2])]


class Angles(mb.BasicConstraint):
    equations = 2
    turned = mb.parameter(0.4, unit="rad", help="angle")

    def residual(self, t, i, j):
        d = offset(i, j)
        far = np.arctan2(d[1], -d[0]) - self.turned * t  # in the second quadrant
        return [far, np.arctan2(i.axes[:, 1] @ j.axes[:, 0], i.axes[:, 0] @ j.axes[:, 0])]


class Largest(mb.BasicConstraint):
    equations = 4
    bound = mb.parameter(0.25, unit="m", help="bound")

    def residual(self, t, i, j):
        d = offset(i, j)
        return [
            max(d[0], d[1]) + min(d[0], self.bound, d[2]),
            np.maximum(d[0] ** 2, self.bound) - np.minimum(d, self.bound)[2],
            np.max(d) * np.min(d) + max(d),
            np.clip(d[1], -self.bound, 3.0) * d[0],
        ]


class Signs(mb.BasicConstraint):
    equations = 2

    def residual(self, t, i, j):
        d = offset(i, j)
        return [np.sign(d[2]) * d[0] ** 2, np.sign(d) @ j.axes[:, 1]]


class Slices(mb.BasicConstraint):
    equations = 3

    def residual(self, t, i, j):
        d = offset(i, j)
        made = np.zeros(3)
        made[:2] = d[1:]
        made[2] = 2.0 * d[0]
        small = np.array([[d[0], 1.0], [0.0, d[1]]])
        fixed = np.array([0.0, 0.6, 0.8])
        turned = (small @ np.array([1.0, d[2]]))[0] + np.cross(d, np.array([1.0, 2.0, 3.0]))[2]
        return [
            made @ made,
            turned,
            fixed @ d + np.dot(np.ones(3), d) + np.sum(d * np.array([1, 2, 3])) + (np.eye(3) @ d)[1],
        ]


class Mathematics(mb.BasicConstraint):
    equations = 2

    def residual(self, t, i, j):
        d = offset(i, j)
        first = math.sqrt(d[0] ** 2 + 1.0) + math.sin(d[1]) * math.exp(0.1 * d[2]) + math.atan2(d[1], d[0])
        return [first, hypot(d[0], d[2]) + math.fabs(d[2]) + float(d[1]) * math.pi]


class Slip(mb.BasicConstraint):
    equations = 2
    nonholonomic = True

    def velocity_residual(self, t, i, j):
        v = j.velocity - i.velocity
        return [
            np.linalg.norm(v) - abs(v[1]) * max(j.angular_velocity[2], 0.3),
            np.sign(v[0]) * v[0] + np.arctan2(v[1], v[2]),
        ]


def with_constraint(cls: type[mb.BasicConstraint]) -> mb.System:
    system = mb.System("model")
    body = system.add(
        mb.RigidBody(
            "body", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(1.0, 0.4, -0.3), rotation=(0.8, 0.4, 0.4, 0.2)
        )
    )
    system.add(cls("equation", system.ground, body, at=(0.1, 0.2, 0.3)))
    return system


def filled(eq: mb.Equations, t: float) -> Any:
    """The rows of the only type of constraints, filled by its compiled loop at a random motion."""
    assert eq.notices == []
    (stage,) = [stage for stage in eq.stages.evaluation if stage.method in ("residual", "velocity_residual")]
    assert stage.python is None
    eq.stages._sample_motion()
    assert run_stage(stage.address, t, eq.work.address, stage.table.ctypes.data, stage.count) == 0
    return stage.table[0]


@pytest.mark.parametrize("cls", [Norms, Absolute, Angles, Largest, Signs, Slices, Mathematics])
def test_compiled_derivatives_are_those_of_the_residual(cls: type[mb.BasicConstraint]) -> None:
    system = with_constraint(cls)
    eq = mb.Equations(system)
    row = filled(eq, 0.3)
    i, j = eq.tables.markers[row.i], eq.tables.markers[row.j]
    function = residual_function(system["equation"])
    arguments = [0.3, i.position, i.axes, j.position, j.axes]
    value, gradient = jets.extrapolated_differences(function, arguments)
    np.testing.assert_allclose(row.value, value, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(row.drift, gradient[:, 0], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(row.gradient, gradient[:, 1:], rtol=0.0, atol=1e-9)
    along = [1.0, i.velocity, i.axes_rate, j.velocity, j.axes_rate]
    bend = jets.second_difference_along(function, arguments, along, scale=0.1)
    np.testing.assert_allclose(row.curvature, bend, rtol=1e-5, atol=1e-6)
    if cls not in (Absolute, Mathematics, Slices):  # which jets do not take
        value, gradient, hessian = jets.derivatives(function, arguments)
        u = np.concatenate([np.ravel(part) for part in along])
        np.testing.assert_allclose(row.gradient, gradient[:, 1:], rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(row.curvature, hessian @ u @ u, rtol=1e-8, atol=1e-8)


def test_compiled_derivatives_of_velocities() -> None:
    system = with_constraint(Slip)
    eq = mb.Equations(system)
    row = filled(eq, 0.3)
    i, j = eq.tables.markers[row.i], eq.tables.markers[row.j]
    numbers = [number for m in (i, j) for number in (m.position, m.axes, m.velocity, m.angular_velocity)]
    value, gradient = jets.jacobian(velocity_function(system["equation"]), [0.3, *numbers])
    np.testing.assert_allclose(row.value, value, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(row.gradient, gradient[:, 1:], rtol=0.0, atol=1e-12)


class InPlane(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        return [np.linalg.norm(j.position - i.position) - 2.0]


class Rod(mb.DistanceJoint):
    def constraints(self):
        return [InPlane(self.i, self.j)]


def test_a_rod_in_the_plane_swings_as_a_distance_joint() -> None:
    def swinging(joint: type[mb.DistanceJoint]) -> mb.Result:
        system = mb.System("pendulum", dimension=2, gravity=(0.0, -9.81))
        ball = system.add(mb.PlanarBody("ball", mass=1.0, inertia=0.1, position=(2.0, 0.0)))
        system.add(joint("rod", system.ground, ball, at_i=(0.0, 0.0), at_j=(2.0, 0.0)))
        return mb.simulate(system, 0.5, dt=1e-3)

    own, ours = swinging(Rod), swinging(mb.DistanceJoint)
    assert own.info.warnings == []
    np.testing.assert_allclose(own.position("ball"), ours.position("ball"), rtol=0.0, atol=1e-9)


class Compares(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        d = offset(i, j)
        return [d[0] if d[0] > 0.0 else -d[0]]  # here


class KeepsALaw(mb.ForceElement):
    def __init__(self, *arguments: Any, **values: Any) -> None:
        super().__init__(*arguments, **values)
        self.law = 2.0

    def wrench(self, t, i, j):
        return self.law * i.axes[:, 0], np.zeros(3)


SETTINGS: dict[str, float] = {"stiffness": 2.0}


class ReadsSettings(mb.ForceElement):
    def wrench(self, t, i, j):
        return SETTINGS["stiffness"] * i.axes[:, 0], np.zeros(3)  # here


class AtItsKink(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        return [abs(j.position[0] - i.position[0]) + j.position[1]]


@pytest.mark.parametrize(
    ("cls", "said"),
    [
        (
            Compares,
            "Compares.residual is called from Python, about 1 ms a time: .*compares what is differentiated; max, min",
        ),
        (
            KeepsALaw,
            "KeepsALaw.wrench is called from Python, about 0.1 ms a time: .*law, which is no parameter; make it",
        ),
        (ReadsSettings, "ReadsSettings.wrench is called from Python, about 0.1 ms a time: .*SETTINGS"),
        (AtItsKink, "AtItsKink.residual is called from Python, about 1 ms a time: .*derivatives jump.*give gradient"),
    ],
)
def test_what_stays_in_python_is_told_in_a_sentence(cls: type[Any], said: str) -> None:
    system = with_constraint(Norms)
    system.remove(system["equation"])
    points = {"at": (0.1, 0.2, 0.3)} if issubclass(cls, mb.BasicConstraint) else {"at_i": (0, 0, 0), "at_j": (1, 0, 0)}
    system.add(cls("own", system.ground, system["body"], **points))
    notices = [notice for notice in mb.Equations(system).notices if "from Python" in notice]
    assert len(notices) == 1
    import re

    assert re.search(said, notices[0]), notices[0]
    assert notices[0].isprintable()
    assert len(notices[0]) < 330
    assert not any(word in notices[0] for word in ("numba", "TypingError", "Traceback", "nopython", "Lowering"))
    if cls in (Compares, ReadsSettings):
        assert "of test_users_derivatives.py" in notices[0]
