"""Elements and strategies that a user writes: the classes of the documentation, and what can go wrong in them."""

import math
import traceback

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.special import ellipj, ellipk

import mbframe as mb

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
GRAVITY = np.array([0.0, 0.0, -9.81])


# --- as documented ----------------------------------------------------------------------------------------------------


class Magnet(mb.ForceElement):
    strength = mb.parameter(1.0, unit="N m^2", minimum=0.0, help="attraction at one metre")

    def wrench(self, t, i, j):
        d = i.position - j.position
        return self.strength * d / np.linalg.norm(d) ** 3, np.zeros(3)


class OffsetHinge(mb.Joint):
    def constraints(self):
        return [
            mb.Coincident(self.i, self.j),
            mb.Perpendicular(self.i.z, self.j.x),
            mb.Perpendicular(self.i.z, self.j.y),
        ]


class Orthogonal(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        return [i.axes[:, 0] @ j.axes[:, 1]]


def bar_system(**values: object) -> tuple[mb.System, mb.RigidBody]:
    """The bar of the documentation: 4 m long, from the origin along x."""
    system = mb.System("pendulum", gravity=GRAVITY)
    bar = system.add(
        mb.RigidBody("bar", **({"mass": 2.0, "inertia": (0.053, 2.693, 2.693), "position": (2, 0, 0)} | values))
    )
    return system, bar


def test_the_documented_model_runs(formulation: mb.Formulation) -> None:
    """All of it together; the hinge repeats the equations of the ball joint."""
    system, bar = bar_system()
    system.add(mb.SphericalJoint("A", system.ground, bar, at=(0, 0, 0)))
    spring = {"stiffness": 200.0, "damping": 15.0, "free_length": 2.5}
    system.add(mb.SpringDamper("spring", system.ground, bar, at_i=(4, 0, 3), at_j=(4, 0, 0), **spring))
    system.add(Magnet("magnet", system.ground, bar, at_i=(0, 0, 5), at_j=(4, 0, 0), strength=3.0))
    system.add(OffsetHinge("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    result = mb.simulate(system, t_end=5.0, formulation=formulation)
    assert any("constraints depend" in w for w in result.info.warnings)
    assert not any("Python" in w for w in result.info.warnings), "all of it compiles"
    assert np.abs(result.position(bar)[:, 1]).max() < 1e-8
    # it comes to rest where spring, magnet and weight balance about the hinge
    tip = result.position(bar, (2, 0, 0))[-1]
    pull = np.array([4.0, 0.0, 3.0]) - tip
    length = np.linalg.norm(pull)
    attraction = np.array([0.0, 0.0, 5.0]) - tip
    force = 200.0 * (length - 2.5) * pull / length + 3.0 * attraction / np.linalg.norm(attraction) ** 3
    moment = np.cross(tip, force) + np.cross(tip / 2.0, 2.0 * GRAVITY)
    assert abs(moment[1]) < 0.02
    assert np.abs(result.angular_velocity(bar)[-1]).max() < 1e-3


# --- forces -----------------------------------------------------------------------------------------------------------

MOVING = {
    "rotation": (0.5, 0.5, -0.5, 0.5),
    "center_of_mass": (0.1, -0.2, 0.05),
    "velocity": (0.4, -0.3, 0.2),
    "angular_velocity": (1.0, -2.0, 0.7),
}


def newton_euler(body: mb.RigidBody, force: Array, at: Array) -> tuple[Array, Array]:
    """Accelerations of a free body (origin, rotation) under gravity and a force at a global point, by hand."""
    frame, omega = body.rotation, body.angular_velocity
    arm = frame @ body.center_of_mass
    inertia = frame @ body.inertia @ frame.T
    torque = np.cross(at - body.position - arm, force)
    alpha = np.linalg.solve(inertia, torque - np.cross(omega, inertia @ omega))
    center = force / body.mass + GRAVITY
    return center - np.cross(alpha, arm) - np.cross(omega, np.cross(omega, arm)), alpha


def test_magnet_gives_the_accelerations_of_its_law(formulation: mb.Formulation) -> None:
    system, bar = bar_system(**MOVING)
    source, point = np.array([0.0, 0.0, 5.0]), np.array([3.0, 0.5, -0.5])
    system.add(Magnet("magnet", system.ground, bar, at_i=source, at_j=point, strength=30.0))
    result = mb.evaluate(system, formulation=formulation)
    assert result.info.warnings == []
    d = source - point
    acceleration, alpha = newton_euler(bar, 30.0 * d / np.sqrt(d @ d) ** 3, point)
    np.testing.assert_allclose(result.acceleration(bar)[0], acceleration, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(result.angular_acceleration(bar)[0], alpha, rtol=1e-12, atol=1e-12)


class OwnSpringDamper(mb.ForceElement):
    """The law of the built-in spring-damper, written as a user would."""

    stiffness = mb.parameter(0.0, unit="N/m")
    damping = mb.parameter(0.0, unit="N s/m")
    free_length = mb.parameter(0.0, unit="m")

    def wrench(self, t, i, j):
        d = i.position - j.position
        length = np.linalg.norm(d)
        e = d / length
        rate = np.dot(e, i.velocity - j.velocity)
        return (self.stiffness * (length - self.free_length) + self.damping * rate) * e, np.zeros(3)

    def energy(self, t, i, j):
        return 0.5 * self.stiffness * (np.linalg.norm(i.position - j.position) - self.free_length) ** 2


def test_a_force_equals_the_built_in_one_of_the_same_law(formulation: mb.Formulation) -> None:
    results = []
    for kind in (mb.SpringDamper, OwnSpringDamper):
        system, bar = bar_system(**MOVING)
        law = {"stiffness": 80.0, "damping": 2.0, "free_length": 1.0}
        system.add(kind("spring", system.ground, bar, at_i=(0, 0, 5), at_j=(3.0, 0.5, -0.5), **law))
        results.append(mb.simulate(system, 0.2, dt=0.01, formulation=formulation))
    ours, users = results
    assert users.info.warnings == []
    for quantity in ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"):
        one, other = getattr(users, quantity)("bar"), getattr(ours, quantity)("bar")
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max(), err_msg=quantity)
    np.testing.assert_allclose(users.energy.total, ours.energy.total, rtol=1e-12)


def stiffness_at_rest(system: mb.System, formulation: mb.Formulation) -> Array:
    """-dQ/dr of the only body, from the exact tangent of the equations at v = 0, v' = 0."""
    eq = mb.Equations(system, formulation)
    q, v, _ = eq.split(eq.coordinates(eq.described()))
    tangent = eq.tangent(0.0, q, v, np.zeros(eq.n_v), np.zeros(eq.n_rows))
    return tangent.stiffness.toarray()[:3, :3]


def test_derivatives_of_the_magnet_are_right_despite_the_norm(formulation: mb.Formulation) -> None:
    """With d = r_i - r_j and e = d/|d|: -dQ/dr_j = d(s d/|d|^3)/dd = s (1 - 3 e e^T)/|d|^3."""
    system, bar = bar_system()
    system.add(Magnet("magnet", system.ground, bar, at_i=(0.5, 1.0, 3.0), strength=3.0))
    d = np.array([0.5, 1.0, 3.0]) - [2.0, 0.0, 0.0]
    length = np.sqrt(d @ d)
    expected = 3.0 * (np.eye(3) - 3.0 * np.outer(d, d) / length**2) / length**3
    np.testing.assert_allclose(stiffness_at_rest(system, formulation), expected, rtol=0.0, atol=1e-12)


class CubicSpring(mb.SpringDamper):
    """A built-in element with another law: what the base class knew about the old one must not be used."""

    def wrench(self, t, i, j):
        d = i.position - j.position
        return self.stiffness * (d @ d) * d, np.zeros(3)

    def energy(self, t, i, j):
        d = i.position - j.position
        return 0.25 * self.stiffness * (d @ d) ** 2


def test_derivatives_follow_an_overridden_law(formulation: mb.Formulation) -> None:
    """F = k |d|^2 d has the derivative k (|d|^2 + 2 d d^T)."""
    system, bar = bar_system()
    system.add(CubicSpring("spring", system.ground, bar, at_i=(0.5, 1.0, 3.0), stiffness=3.0))
    d = np.array([0.5, 1.0, 3.0]) - [2.0, 0.0, 0.0]
    expected = 3.0 * (d @ d * np.eye(3) + 2.0 * np.outer(d, d))
    np.testing.assert_allclose(stiffness_at_rest(system, formulation), expected, rtol=0.0, atol=1e-10)


class Gravitation(mb.ForceElement):
    """Attraction with its potential."""

    strength = mb.parameter(1.0)

    def wrench(self, t, i, j):
        d = i.position - j.position
        return self.strength * d / np.linalg.norm(d) ** 3, np.zeros(3)

    def energy(self, t, i, j):
        return -self.strength / np.linalg.norm(i.position - j.position)


def test_attraction_makes_a_kepler_orbit(formulation: mb.Formulation) -> None:
    """Period 2 pi sqrt(a^3 / mu) with 1/a = 2/r - v^2/mu; after it the body is back, and energy was kept."""
    system = mb.System("orbit", gravity=(0.0, 0.0, 0.0))
    planet = system.add(mb.RigidBody("planet", mass=0.5, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(0, 1.2, 0.3)))
    system.add(Gravitation("sun", system.ground, planet, strength=0.5))
    axis = 1.0 / (2.0 - (1.2**2 + 0.3**2))
    period = 2.0 * np.pi * axis**1.5
    result = mb.simulate(system, period, formulation=formulation, **PRECISE)
    np.testing.assert_allclose(result.position(planet)[-1], [1.0, 0.0, 0.0], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.energy.total, -0.5 / (2.0 * axis), rtol=1e-10)


class Couple(mb.ForceElement):
    """A torque about an axis of the second body, against its rotation: uses axes and angular velocities."""

    drag = mb.parameter(0.5, unit="N m s")

    def wrench(self, t, i, j):
        axis = j.axes[:, 2]
        return np.zeros(3), -self.drag * (axis @ (j.angular_velocity - i.angular_velocity)) * axis


def test_torque_of_a_user_force(formulation: mb.Formulation) -> None:
    """Spin about a principal axis decays as exp(-c t / I)."""
    system, bar = bar_system(angular_velocity=(0, 0, 3.0))
    system.add(Couple("drag", system.ground, bar))
    t = np.linspace(0.0, 4.0, 9)
    result = mb.simulate(system, 4.0, formulation=formulation, **PRECISE, t_eval=t)
    assert result.info.warnings == []
    expected = 3.0 * np.exp(-0.5 / 2.693 * t)
    np.testing.assert_allclose(result.angular_velocity(bar)[:, 2], expected, rtol=1e-10)


KNOTS = np.linspace(0.0, 12.0, 200)
PULL = CubicSpline(KNOTS, 3.0 * np.exp(-KNOTS / 4.0))


class TabledPull(mb.ForceElement):
    """A law that cannot be compiled: a spline of SciPy."""

    def wrench(self, t, i, j):
        d = i.position - j.position
        length = np.linalg.norm(d)
        return float(PULL(length)) * d / length, np.zeros(3)


SETTINGS = {"gain": 3.0, "range": 4.0}


class SettingsPull(mb.ForceElement):
    """Another: looks into a dictionary."""

    def wrench(self, t, i, j):
        d = i.position - j.position
        length = np.linalg.norm(d)
        return SETTINGS["gain"] * np.exp(-length / SETTINGS["range"]) * d / length, np.zeros(3)


class CompiledPull(mb.ForceElement):
    """The same law, compiled."""

    def wrench(self, t, i, j):
        d = i.position - j.position
        length = np.linalg.norm(d)
        return 3.0 * np.exp(-length / 4.0) * d / length, np.zeros(3)


def pulled(kind: type[mb.ForceElement], formulation: mb.Formulation | None = None) -> mb.Result:
    system, bar = bar_system(**MOVING)
    system.add(kind("pull", system.ground, bar, at_i=(0, 0, 5), at_j=(3.0, 0.5, -0.5)))
    return mb.simulate(system, 0.5, dt=0.01, formulation=formulation)


@pytest.mark.parametrize(("kind", "tolerance"), [(SettingsPull, 1e-12), (TabledPull, 1e-6)])
def test_what_does_not_compile_is_called_with_a_notice(
    formulation: mb.Formulation, kind: type[mb.ForceElement], tolerance: float
) -> None:
    compiled, called = pulled(CompiledPull, formulation), pulled(kind, formulation)
    assert compiled.info.warnings == []
    assert len(called.info.warnings) == 1
    assert f"{kind.__name__}.wrench is called from Python" in called.info.warnings[0]
    np.testing.assert_allclose(called.position("bar"), compiled.position("bar"), rtol=0.0, atol=tolerance)
    np.testing.assert_allclose(called.acceleration("bar"), compiled.acceleration("bar"), rtol=0.0, atol=100 * tolerance)


class SwitchedPush(mb.ForceElement):
    """A constant push whose law reads parameters of every simple kind."""

    direction = mb.parameter((1.0, 0.0, 0.0), unit="1")
    times = mb.parameter(2)
    active = mb.parameter(True)
    sense = mb.parameter("along", choices=("along", "against"))
    bonus = mb.parameter(None, kind="number", unit="N")

    def wrench(self, t, i, j):
        size = 1.0 * self.times if self.active else 0.0
        if self.sense == "against":
            size = -size
        if self.bonus is not None:
            size = size + self.bonus
        return size * self.direction, np.zeros(3)


@pytest.mark.parametrize(
    ("values", "push"),
    [
        ({}, (2.0, 0.0, 0.0)),
        ({"active": False}, (0.0, 0.0, 0.0)),
        ({"sense": "against"}, (-2.0, 0.0, 0.0)),
        ({"bonus": 0.5, "direction": (0.0, 1.0, 0.0)}, (0.0, 2.5, 0.0)),
    ],
    ids=["plain", "flag", "choice", "optional"],
)
def test_every_kind_of_parameter_means_the_same_in_a_compiled_method(values: dict, push: tuple[float, ...]) -> None:
    system, bar = bar_system()
    system.add(SwitchedPush("push", system.ground, bar, **values))
    acceleration = mb.evaluate(system).acceleration(bar)[0]
    np.testing.assert_allclose(acceleration, np.array(push) / bar.mass + GRAVITY, rtol=0.0, atol=1e-14)


class InPlace(mb.ForceElement):
    """Computes in the array that it was given."""

    def wrench(self, t, i, j):
        d = i.position
        d -= j.position
        return d, np.zeros(3)


def test_a_method_cannot_spoil_the_markers() -> None:
    """F = r_i - r_j, twice at the same state: whatever the method did to its arguments, the force is the same."""
    system, bar = bar_system()
    system.add(InPlace("pull", system.ground, bar, at_i=(0.0, 3.0, 0.0)))
    eq = mb.Equations(system)
    q, v, _ = eq.split(eq.coordinates(eq.described()))
    expected = np.array([-2.0, 3.0, 0.0]) / bar.mass + GRAVITY
    for _ in range(2):
        np.testing.assert_allclose(eq.accelerate(0.0, q, v)[0][:3], expected, rtol=0.0, atol=1e-14)


class Plain(mb.ForceElement):
    """Numbers and whole numbers in tuples, as one writes them."""

    def wrench(self, t, i, j):
        return (3.0 - t, 0, 1), (0, 0, 0)


def test_whole_numbers_in_a_wrench_compile() -> None:
    system, bar = bar_system()
    system.add(Plain("push", system.ground, bar))
    result = mb.evaluate(system)
    np.testing.assert_allclose(result.acceleration(bar)[0], np.array([3.0, 0.0, 1.0]) / bar.mass + GRAVITY, rtol=1e-14)
    assert result.info.warnings == []


def test_several_elements_of_a_type_have_their_own_parameters(formulation: mb.Formulation) -> None:
    system, bar = bar_system(**MOVING)
    source, points = np.array([0.0, 0.0, 5.0]), np.array([[3.0, 0.5, -0.5], [1.0, 0.0, 0.0]])
    for k, point in enumerate(points):
        system.add(Magnet(f"magnet {k}", system.ground, bar, at_i=source, at_j=point, strength=10.0 * (k + 1)))
    result = mb.evaluate(system, formulation=formulation)
    total = np.zeros(3)
    for k, point in enumerate(points):
        d = source - point
        total += 10.0 * (k + 1) * d / np.linalg.norm(d) ** 3
    acceleration = result.acceleration(bar, bar.center_of_mass)[0]
    np.testing.assert_allclose(acceleration, total / bar.mass + GRAVITY, rtol=1e-12, atol=1e-12)


# --- constraints ------------------------------------------------------------------------------------------------------


def test_offset_hinge_swings_as_a_pendulum(formulation: mb.Formulation) -> None:
    """Released horizontally: sin(angle/2) = k sn(K - w t), k = sin(pi/4), angle from the lowest position."""
    system, bar = bar_system()
    system.add(OffsetHinge("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    t = np.linspace(0.0, 5.0, 26)
    result = mb.simulate(system, 5.0, formulation=formulation, **PRECISE, t_eval=t)
    assert result.info.warnings == []
    frequency = np.sqrt(2.0 * 9.81 * 2.0 / (2.693 + 2.0 * 4.0))
    angle = 2.0 * np.arcsin(np.sqrt(0.5) * ellipj(ellipk(0.5) - frequency * t, 0.5)[0])
    expected = 2.0 * np.column_stack([np.sin(angle), np.zeros_like(t), -np.cos(angle)])
    np.testing.assert_allclose(result.position(bar), expected, rtol=0.0, atol=1e-9)


class CrossJoint(mb.Joint):
    """A universal joint from built-in constraints; `Orthogonal` is the same with derivatives left to us."""

    def constraints(self):
        return [mb.Coincident(self.i, self.j), mb.Perpendicular(self.i.x, self.j.y)]


class OwnCrossJoint(mb.Joint):
    def constraints(self):
        return [mb.Coincident(self.i, self.j), Orthogonal(self.i, self.j)]


def crossed(*joints: mb.Joint | mb.BasicConstraint | type) -> mb.System:
    system, bar = bar_system(velocity=(0, 0, -4), angular_velocity=(1.5, 2.0, 0.0))
    for k, joint in enumerate(joints):
        system.add(joint(f"joint {k}", system.ground, bar, at=(0, 0, 0)))
    return system


def test_orthogonal_equals_the_built_in_constraint(formulation: mb.Formulation) -> None:
    """As an element of its own and inside a joint: motion, reactions, violations."""
    t = np.linspace(0.0, 2.0, 11)
    ours, alone, inside = (
        mb.simulate(crossed(*joints), 2.0, formulation=formulation, **PRECISE, t_eval=t)
        for joints in ((CrossJoint,), (mb.SphericalJoint, Orthogonal), (OwnCrossJoint,))
    )
    for result in (alone, inside):
        assert result.info.warnings == [], "it compiles"
        np.testing.assert_allclose(result.position("bar"), ours.position("bar"), rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(result.acceleration("bar"), ours.acceleration("bar"), rtol=0.0, atol=1e-7)
        assert result.violation.position.max() <= 1e-12
        assert result.violation.velocity.max() <= 1e-11
        assert np.ptp(result.energy.total) <= 1e-9 * result.energy.kinetic.max()
    torque = ours.reaction("joint 0").torque
    assert np.linalg.norm(torque, axis=1).max() > 0.5
    np.testing.assert_allclose(alone.reaction("joint 1").torque, torque, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(inside.reaction("joint 0").torque, torque, rtol=0.0, atol=1e-7)
    # the moment acts along the common normal of both axes
    normal = np.cross([1.0, 0.0, 0.0], ours.rotation("bar").apply([0.0, 1.0, 0.0]))
    np.testing.assert_allclose(np.cross(torque, normal), 0.0, atol=1e-7)


class Rod(mb.BasicConstraint):
    """A massless rod: fixed distance, written with a norm, through which a complex step sees wrong derivatives."""

    equations = 1
    length = mb.parameter(1.0, unit="m", above=0.0)

    def residual(self, t, i, j):
        return [np.linalg.norm(j.position - i.position) - self.length]


class SquaredRod(mb.BasicConstraint):
    """The same without a root: compiled."""

    equations = 1
    length = mb.parameter(1.0, unit="m", above=0.0)

    def residual(self, t, i, j):
        d = j.position - i.position
        return [(d @ d - self.length**2) / (2.0 * self.length)]


class RodJoint(mb.Joint):
    """A rod from `anchor` on the first body to the joint's point on the second."""

    anchor = mb.parameter((0.0, 0.0, 0.0), kind="point", unit="m")
    constraint: type[mb.BasicConstraint] = Rod

    def constraints(self):
        length = float(np.linalg.norm(self.at - self.anchor))
        return [self.constraint(self.body_i.marker(self.anchor), self.j, length=length)]


class SquaredRodJoint(RodJoint):
    constraint = SquaredRod


@pytest.mark.parametrize("joint", [RodJoint, SquaredRodJoint])
def test_fixed_distance_swings_as_a_mathematical_pendulum(formulation: mb.Formulation, joint: type[RodJoint]) -> None:
    """The rod pulls at the centre of mass, so the body does not turn; tension m (v^2/l + g cos(angle))."""
    angle0, length = 1.0, 1.5
    place = length * np.array([np.sin(angle0), 0.0, -np.cos(angle0)])
    system, bar = bar_system(position=place)
    system.add(joint("rod", system.ground, bar, at=place))
    t = np.linspace(0.0, 1.0, 11)
    methods = PRECISE | {"integrator": mb.DormandPrince(rtol=1e-11)}
    result = mb.simulate(system, 1.0, formulation=formulation, **methods, t_eval=t)
    assert result.info.warnings == []
    frequency, k = np.sqrt(9.81 / length), np.sin(angle0 / 2.0)
    sn, cn, _, _ = ellipj(ellipk(k * k) - frequency * t, k * k)
    angle, rate = 2.0 * np.arcsin(k * sn), -2.0 * k * frequency * cn
    inward = np.column_stack([-np.sin(angle), np.zeros_like(t), np.cos(angle)])
    np.testing.assert_allclose(result.position(bar), -length * inward, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.angular_velocity(bar), 0.0, atol=1e-9)
    tension = 2.0 * (length * rate**2 + 9.81 * np.cos(angle))
    reaction = result.reaction("rod")
    np.testing.assert_allclose(reaction.force, tension[:, None] * inward, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(reaction.torque, 0.0, atol=1e-7)


class Shaker(mb.BasicConstraint):
    """Moves the second marker up and down: a constraint that depends on time."""

    equations = 3
    amplitude = mb.parameter(0.1, unit="m")
    rate = mb.parameter(3.0, unit="rad/s")

    def residual(self, t, i, j):
        d = j.position - i.position
        return [d[0], d[1], d[2] - self.amplitude * np.sin(self.rate * t)]


def test_constraint_that_depends_on_time(formulation: mb.Formulation) -> None:
    """z = a sin(w t); the shaker carries m (g + z''), and the initial velocity a w is what the constraint asks for."""
    system, bar = bar_system(velocity=(0, 0, 0.3))
    system.add(Shaker("shaker", system.ground, bar, at=(2, 0, 0)))
    t = np.linspace(0.0, 2.0, 21)
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, t_eval=t)
    assert result.info.warnings == []
    motion = 0.1 * np.sin(3.0 * t)
    np.testing.assert_allclose(result.position(bar)[:, 2], motion, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(result.acceleration(bar)[:, 2], -9.0 * motion, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.reaction("shaker").force[:, 2], 2.0 * (9.81 - 9.0 * motion), rtol=0.0, atol=1e-8)


class MathShaker(Shaker):
    """The same with a function of `math`: it takes real numbers only, and so is differentiated by differences."""

    def residual(self, t, i, j):
        d = j.position - i.position
        return [d[0], d[1], d[2] - self.amplitude * math.sin(self.rate * t)]


@pytest.mark.parametrize("kind", [Shaker, MathShaker])
@pytest.mark.parametrize("rate", [20.0, 200.0, 100.0 * np.pi, 128.0 * np.pi, 1000.0, 1e4, 1e5])
def test_fast_motions_are_differentiated_twice(kind: type[Shaker], rate: float) -> None:
    """z'' = -a w^2 sin(w t) at any w: also where real steps of 10 ms or 1/4 s fall on the same phase again."""
    system, bar = bar_system(velocity=(0, 0, 1.0))
    system.add(kind("shaker", system.ground, bar, at=(2, 0, 0), amplitude=1.0 / rate, rate=rate))
    steps = {"integrator": mb.DormandPrince(rtol=1e-9, max_step=0.3 / rate)}
    result = mb.simulate(system, 3.0 / rate, **steps)
    expected = -rate * np.sin(rate * result.t)
    np.testing.assert_allclose(result.acceleration(bar)[:, 2], expected, rtol=0.0, atol=1e-8 * rate)
    assert not any("balance" in warning for warning in result.info.warnings)


# --- errors -----------------------------------------------------------------------------------------------------------


class Fuse(mb.ForceElement):
    """Fails at some time; compiled."""

    limit = mb.parameter(0.25, unit="s")

    def wrench(self, t, i, j):
        if t > self.limit:
            raise ValueError("the fuse has blown")
        return np.zeros(3), np.zeros(3)


class CalledFuse(mb.ForceElement):
    """The same, called from Python because of the dictionary."""

    limit = mb.parameter(0.25, unit="s")

    def wrench(self, t, i, j):
        if t > self.limit:
            raise ValueError("the fuse has blown" if SETTINGS else "")
        return np.zeros(3), np.zeros(3)


class Stop(mb.BasicConstraint):
    """A compiled constraint that fails where the body has moved too far down."""

    equations = 1

    def residual(self, t, i, j):
        if j.position[2] < -0.3:
            raise ValueError("the fuse has blown")
        return [j.position[0] - i.position[0]]


class CalledStop(mb.BasicConstraint):
    equations = 1

    def residual(self, t, i, j):
        if j.position[2] < -0.3:
            raise ValueError("the fuse has blown" if SETTINGS else "")
        return [j.position[0] - i.position[0]]


@pytest.mark.parametrize("kind", [Fuse, CalledFuse, Stop, CalledStop])
@pytest.mark.parametrize(
    "method", [{"dt": 0.01}, {"integrator": mb.DormandPrince(rtol=1e-6)}], ids=["fixed", "adaptive"]
)
def test_exception_in_a_method_is_shown_with_the_element(kind: type, method: dict) -> None:
    system, bar = bar_system()
    at = {"at": (2, 0, 0)} if issubclass(kind, mb.BasicConstraint) else {}
    system.add(kind("F1", system.ground, bar, **at))
    with pytest.raises(mb.SimulationError, match=f"{kind.__name__} 'F1'.*the fuse has blown") as caught:
        mb.simulate(system, 1.0, **method)
    cause = caught.value.__cause__
    assert isinstance(cause, ValueError)
    frames = traceback.extract_tb(cause.__traceback__)
    assert any(f.filename == __file__ and "raise ValueError" in (f.line or "") for f in frames)
    # blown at 0.25 s, or after a free fall of 0.3 m: 0.2473 s; what lies before is kept, one step at most is lost
    partial = caught.value.result
    assert 0.1 < partial.t[-1] <= 0.25
    assert partial.t[-1] <= caught.value.time
    assert not partial.info.completed
    np.testing.assert_allclose(partial.position(bar)[:, 2], -0.5 * 9.81 * partial.t**2, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("kind", [Fuse, CalledFuse])
def test_error_names_the_one_that_failed(kind: type[mb.ForceElement]) -> None:
    system, bar = bar_system()
    for name, limit in (("strong", 9.0), ("weak", 0.25), ("spare", 9.0)):
        system.add(kind(name, system.ground, bar, limit=limit))
    with pytest.raises(mb.SimulationError) as caught:
        mb.simulate(system, 1.0, dt=0.01)
    assert "weak" in str(caught.value)
    assert "strong" not in str(caught.value)
    assert "spare" not in str(caught.value)


class Leaky(Fuse):
    """Its potential fails, compiled: after the run, when the energies are asked for."""

    limit = mb.parameter(9.0, unit="s")

    def energy(self, t, i, j):
        if t > 0.05:
            raise ValueError("no energy left")
        return 0.0


def test_exception_in_a_potential_is_shown() -> None:
    system, bar = bar_system()
    system.add(Leaky("leak", system.ground, bar))
    result = mb.simulate(system, 0.1, dt=0.01)
    with pytest.raises(mb.SimulationError, match=r"Leaky 'leak'.*no energy left"):
        _ = result.energy


class DifferentiatedStop(mb.Coincident):
    """A constraint that gives its derivatives (here inherited together with the residual's own part), and fails."""

    def residual(self, t, i, j):
        if t > 0.25:
            raise ValueError("the fuse has blown")
        return (j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2])

    def gradient(self, t, i, j, g):
        for r in range(3):
            g[r, r] = -1.0
            g[r, 12 + r] = 1.0


def test_exception_in_a_constraint_with_derivatives_is_shown() -> None:
    system, bar = bar_system()
    system.add(DifferentiatedStop("stop", system.ground, bar, at=(2, 0, 0)))
    with pytest.raises(mb.SimulationError, match=r"DifferentiatedStop 'stop'.*the fuse has blown"):
        mb.simulate(system, 1.0, dt=0.01)


class Careless(mb.ForceElement):
    """Returns something of the wrong shape."""

    def wrench(self, t, i, j):
        return np.zeros(2), np.zeros(3)


class Forgetful(mb.ForceElement):
    """Returns the force only."""

    def wrench(self, t, i, j):
        return np.zeros(3)


class TwoForOne(mb.BasicConstraint):
    """Says one equation and returns two."""

    equations = 1

    def residual(self, t, i, j):
        return [i.axes[:, 0] @ j.axes[:, 1], i.axes[:, 0] @ j.axes[:, 2]]


class NotWritten(mb.ForceElement):
    """Has no law at all."""


class NoResidual(mb.BasicConstraint):
    equations = 1


@pytest.mark.parametrize("kind", [Careless, Forgetful, TwoForOne, NotWritten, NoResidual])
def test_wrong_return_values_are_errors_that_name_the_element(kind: type) -> None:
    system, bar = bar_system()
    at = {"at": (2, 0, 0)} if issubclass(kind, mb.BasicConstraint) else {}
    system.add(kind("mine", system.ground, bar, **at))
    with pytest.raises(mb.MbframeError, match=kind.__name__):
        mb.simulate(system, 0.1, dt=0.01)


def test_force_that_is_not_a_number_is_named() -> None:
    """A magnet on its own place divides by zero."""
    system, bar = bar_system()
    system.add(Magnet("magnet", system.ground, bar, at_i=(2, 0, 0), at_j=(2, 0, 0)))
    with pytest.raises(mb.SimulationError, match=r"Magnet 'magnet': wrench gives .* not finite"):
        mb.simulate(system, 0.1, dt=0.01)


# --- own states -------------------------------------------------------------------------------------------------------


class LowPassActuator(mb.ForceElement):
    """A force along x that follows its command with a delay of first order: z' = (command - z)/delay."""

    states = 1
    command = mb.parameter(6.0, unit="N")
    delay = mb.parameter(0.3, unit="s", above=0.0)
    start = mb.parameter(0.0, unit="N")

    def initial_states(self):
        return [self.start]

    def state_rate(self, t, i, j, z):
        return ((self.command - z[0]) / self.delay,)

    def wrench(self, t, i, j, z):
        return (z[0], 0.0, 0.0), (0.0, 0.0, 0.0)


class CalledActuator(LowPassActuator):
    """The same with a law that cannot be compiled."""

    def state_rate(self, t, i, j, z):
        return [(self.command - z[0]) / self.delay for _ in SETTINGS][:1]


@pytest.mark.parametrize("kind", [LowPassActuator, CalledActuator])
def test_element_with_its_own_states(formulation: mb.Formulation, kind: type[LowPassActuator]) -> None:
    """z = F + (z0 - F) exp(-t/T); x'' = z/m integrated twice. Two actuators, so that each has its own state."""
    system, bar = bar_system()
    one = system.add(kind("one", system.ground, bar))
    two = system.add(kind("two", system.ground, bar, command=-1.0, delay=0.1, start=2.0))
    t = np.linspace(0.0, 1.0, 11)
    methods = PRECISE | {"integrator": mb.DormandPrince(rtol=1e-11)}
    result = mb.simulate(system, 1.0, formulation=formulation, **methods, t_eval=t)
    assert len(result.info.warnings) == (0 if kind is LowPassActuator else 1)
    x = np.full_like(t, 2.0)
    for element in (one, two):
        command, delay, difference = element.command, element.delay, element.start - element.command
        decay = np.exp(-t / delay)
        np.testing.assert_allclose(
            result.element_states(element)[:, 0], command + difference * decay, rtol=0.0, atol=1e-9
        )
        x += (0.5 * command * t**2 + difference * delay * (t - delay * (1.0 - decay))) / 2.0
    np.testing.assert_allclose(result.position(bar)[:, 0], x, rtol=0.0, atol=1e-9)
    later = mb.simulate(system, 2.0, initial=result.state(-1), formulation=formulation, **methods)
    np.testing.assert_allclose(
        later.element_states("one")[-1], 6.0 - 6.0 * np.exp(-2.0 / 0.3), rtol=0.0, atol=1e-9, err_msg="continued"
    )


# --- strategies -------------------------------------------------------------------------------------------------------


class SymplecticEuler(mb.Integrator):
    order = 1

    def step(self, eq, t, q, v, h):
        v = v + h * eq.accelerate(t, q, v)[0]
        return q + h * eq.coordinate_rates(q, v), v


class DenseAugmented(mb.Acceleration):
    """[M J^T; J 0] [v'; lambda] = [Q; gamma] by numpy."""

    def solve(self, eq, t, q, v):
        e = eq.evaluate(t, q, v)
        mass, jacobian = e.mass.toarray(), e.jacobian.toarray()
        rows = len(jacobian)
        matrix = np.block([[mass, jacobian.T], [jacobian, np.zeros((rows, rows))]])
        solution = np.linalg.solve(matrix, np.concatenate([e.force, e.gamma]))
        return solution[: len(mass)], solution[len(mass) :]


class Renormalize(mb.Stabilization):
    """One Gauss-Newton step for positions, one projection for velocities, both unweighted."""

    def correct(self, eq, t, q, v):
        for _ in range(3):
            e = eq.evaluate(t, q, v)
            change = -np.linalg.pinv(e.jacobian.toarray()) @ e.residual
            q = q + eq.coordinate_rates(q, change)
        e = eq.evaluate(t, q, v)
        return q, v - np.linalg.pinv(e.jacobian.toarray()) @ e.constraint_rate


called: list[str] = []


class Delegating(mb.Stabilization):
    """Hands its work to a strategy of the library."""

    def correct(self, eq, t, q, v):
        called.append("correct")
        return mb.DirectCorrection().correct(eq, t, q, v)


class Extended(mb.DirectCorrection):
    """Calls the class above it."""

    def correct(self, eq, t, q, v):
        called.append("correct")
        return super().correct(eq, t, q, v)


class Observed(mb.AugmentedFormulation):
    def solve(self, eq, t, q, v):
        called.append("solve")
        return super().solve(eq, t, q, v)


@pytest.mark.parametrize("stabilization", [Delegating(), Extended()], ids=repr)
def test_strategies_that_call_others_stay_in_use(stabilization: mb.Stabilization) -> None:
    called.clear()
    settings = {"dt": 1e-3, "integrator": mb.RungeKutta4()}
    users = mb.simulate(hinged_bar(), 0.02, stabilization=stabilization, acceleration=Observed(), **settings)
    assert called.count("correct") == 20
    assert called.count("solve") == 80
    ours = mb.simulate(hinged_bar(), 0.02, stabilization=mb.DirectCorrection(), **settings)
    np.testing.assert_allclose(users.position("bar"), ours.position("bar"), rtol=0.0, atol=1e-14)


def hinged_bar() -> mb.System:
    system, bar = bar_system()
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    return system


def test_user_integrator(formulation: mb.Formulation) -> None:
    """First order: halving the step halves the error; and the stored instants are the steps."""
    exact = mb.simulate(hinged_bar(), 0.5, **PRECISE).position("bar")[-1]
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        result = mb.simulate(hinged_bar(), 0.5, dt=dt, formulation=formulation, integrator=SymplecticEuler())
        np.testing.assert_allclose(np.diff(result.t), dt, rtol=1e-9)
        assert result.t[-1] == 0.5
        assert result.violation.position.max() <= 1e-10
        errors.append(np.linalg.norm(result.position("bar")[-1] - exact))
    ratios = np.array(errors[:-1]) / errors[1:]
    assert np.all(np.abs(ratios - 2.0) < 0.1), ratios


def test_user_integrator_is_interpolated(formulation: mb.Formulation) -> None:
    """Instants between its steps come from cubic interpolation, corrected like all others."""
    t = np.linspace(0.0, 0.5, 8)
    result = mb.simulate(hinged_bar(), 0.5, dt=2e-3, formulation=formulation, integrator=SymplecticEuler(), t_eval=t)
    exact = mb.simulate(hinged_bar(), 0.5, **PRECISE, t_eval=t)
    np.testing.assert_array_equal(result.t, t)
    np.testing.assert_allclose(result.position("bar"), exact.position("bar"), rtol=0.0, atol=0.01)
    assert result.violation.position.max() <= 1e-10


def test_user_acceleration(formulation: mb.Formulation) -> None:
    ours, users = (
        mb.simulate(
            hinged_bar(), 0.3, dt=0.01, formulation=formulation, acceleration=a, stabilization=mb.DirectCorrection()
        )
        for a in (mb.AugmentedFormulation(), DenseAugmented())
    )
    np.testing.assert_allclose(users.position("bar"), ours.position("bar"), rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(users.multipliers, ours.multipliers, rtol=0.0, atol=1e-9)


def test_user_stabilization(formulation: mb.Formulation) -> None:
    exact = mb.simulate(hinged_bar(), 0.5, **PRECISE).position("bar")[-1]
    result = mb.simulate(hinged_bar(), 0.5, dt=0.01, formulation=formulation, stabilization=Renormalize())
    assert result.violation.position.max() <= 1e-12
    assert result.violation.velocity.max() <= 1e-11
    np.testing.assert_allclose(result.position("bar")[-1], exact, rtol=0.0, atol=1e-7)


def test_all_three_strategies_together(formulation: mb.Formulation) -> None:
    result = mb.simulate(
        hinged_bar(),
        0.1,
        dt=1e-3,
        formulation=formulation,
        integrator=SymplecticEuler(),
        acceleration=DenseAugmented(),
        stabilization=Renormalize(),
    )
    exact = mb.simulate(hinged_bar(), 0.1, **PRECISE).position("bar")[-1]
    np.testing.assert_allclose(result.position("bar")[-1], exact, rtol=0.0, atol=2e-3)
    assert result.violation.position.max() <= 1e-12


def test_exception_in_a_strategy_is_shown() -> None:
    class Broken(mb.Integrator):
        def step(self, eq, t, q, v, h):
            if t > 0.05:
                raise ZeroDivisionError("no step")
            return q + h * eq.coordinate_rates(q, v), v

    with pytest.raises(mb.SimulationError, match=r"Broken\.step.*no step") as caught:
        mb.simulate(hinged_bar(), 0.1, dt=0.01, integrator=Broken())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.result.t[-1] == pytest.approx(0.06)


# --- bodies -----------------------------------------------------------------------------------------------------------


class SolidSphere(mb.Body):
    """A body that computes its mass properties from other parameters."""

    radius = mb.parameter(0.1, unit="m", above=0.0)
    density = mb.parameter(7850.0, unit="kg/m^3", above=0.0)

    def mass_properties(self):
        mass = self.density * 4.0 / 3.0 * np.pi * self.radius**3
        return mass, np.zeros(3), 0.4 * mass * self.radius**2 * np.eye(3)


def test_user_body(formulation: mb.Formulation) -> None:
    """A ball on a hinge: m (l^2 + 0.4 r^2) angle'' = -m g l sin(angle), against SciPy."""
    system = mb.System("ball")
    ball = system.add(SolidSphere("ball", radius=0.2, position=(0.5, 0, 0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, ball, at=(0, 0, 0), axis=(0, 1, 0)))
    result = mb.simulate(system, 1.0, formulation=formulation, **PRECISE)
    ratio = 9.81 * 0.5 / (0.25 + 0.4 * 0.04)
    exact = solve_ivp(
        lambda t, y: [y[1], -ratio * np.sin(y[0])], (0.0, 1.0), [np.pi / 2.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12
    ).y[0, -1]
    expected = 0.5 * np.array([np.sin(exact), 0.0, -np.cos(exact)])
    np.testing.assert_allclose(result.position(ball)[-1], expected, rtol=0.0, atol=1e-9)
