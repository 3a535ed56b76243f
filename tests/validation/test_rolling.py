"""Rolling disks and spheres, blades: closed forms, energy, and constraints on velocities that a user writes."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad_vec

import mbframe as mb
from mbframe.examples.chaplygin_sleigh import INERTIA, OFFSET
from mbframe.examples.chaplygin_sleigh import MASS as SLEIGH_MASS
from mbframe.examples.rolling_disk import MASS as DISK_MASS
from mbframe.examples.rolling_disk import RADIUS as DISK_RADIUS

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
GRAVITY = 9.81
TEN_SECONDS = np.linspace(0.0, 10.0, 101)
X, Y, Z = np.eye(3)
# The axle is the body's z axis: ZXZ is singular only for a disk that lies flat.
FORMULATIONS = [mb.NewtonEuler(), mb.NaturalAbsolute(), mb.EulerParameters(), mb.EulerAngles("ZXZ")]


def assert_near(found: Array, expected: Array, tolerance: float) -> None:
    np.testing.assert_allclose(found, np.broadcast_to(expected, np.shape(found)), rtol=0.0, atol=tolerance)


def assert_energy_is_kept(result: mb.Result) -> None:
    assert np.ptp(result.energy.total) <= 1e-9 * result.energy.kinetic.max()


# --- disk -------------------------------------------------------------------------------------------------------------


@cache
def rolled(formulation: mb.Formulation) -> mb.Result:
    return mb.simulate(mb.examples.rolling_disk(), 10.0, formulation=formulation, **PRECISE, t_eval=TEN_SECONDS)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_disk_keeps_its_energy_and_does_not_slip(formulation: mb.Formulation) -> None:
    result = rolled(formulation)
    assert_energy_is_kept(result)
    assert result.violation.position.max() <= 1e-12
    assert result.violation.velocity.max() <= 1e-10
    axle = result.rotation("disk").apply(Z)
    up = Z - axle * axle[:, 2:]
    to_ground = -DISK_RADIUS * up / np.linalg.norm(up, axis=1)[:, None]
    touching = result.position("disk") + to_ground
    slip = result.velocity("disk") + np.cross(result.angular_velocity("disk"), to_ground)
    assert_near(touching[:, 2], 0.0, 1e-12)
    assert_near(slip, np.zeros(3), 1e-10)
    assert np.ptp(result.position("disk"), axis=0).min() > 0.01  # it wobbles along a curve


def steady_circle(lean: float, radius: float, crown: float) -> tuple[mb.System, float, mb.RigidBody]:
    """A disk whose centre runs in a circle, leaning inwards, and the rate W of the circle.

    With a = cos(lean) e_r + sin(lean) z the axle, b the direction in the disk up to its centre, s W the spin about the
    axle against the turning frame, no slip asks for s = -(radius + R sin) / (R + crown cos), and the moment of the
    contact force (m g z - m W^2 radius e_r) about the centre for the change W z x L of the angular momentum.
    """
    mass, size = DISK_MASS, DISK_RADIUS
    axial, transverse = mass * size**2 / 2.0, mass * size**2 / 4.0
    sin, cos = np.sin(lean), np.cos(lean)
    spin = -(radius + size * sin) / (size + crown * cos)
    rate = np.sqrt(
        mass
        * GRAVITY
        * size
        * sin
        / (mass * radius * (size * cos + crown) + transverse * sin * cos - axial * (spin + sin) * cos)
    )
    axle = cos * X + sin * Z
    center = radius * X + (size * cos + crown) * Z
    system = mb.System("steady circle")
    wheel = system.add(
        mb.RigidBody(
            "disk",
            mass=mass,
            inertia=(transverse, transverse, axial),
            position=center,
            rotation=np.column_stack([np.cross(Y, axle), Y, axle]),
            velocity=rate * radius * Y,
            angular_velocity=rate * (Z + spin * axle),
        )
    )
    contact = {"at": center, "axis": axle, "radius": size, "crown_radius": crown}
    system.add(mb.RollingDisk("contact", system.ground, wheel, **contact))
    return system, rate, wheel


@pytest.mark.parametrize("crown", [0.0, 0.1])
def test_disk_rolls_in_a_steady_circle(crown: float, formulation: mb.Formulation) -> None:
    radius, t = 2.0, np.linspace(0.0, 3.0, 31)
    system, rate, wheel = steady_circle(0.35, radius, crown)
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    around = np.column_stack([np.cos(rate * t), np.sin(rate * t), 0.0 * t])
    assert_near(result.position("disk"), radius * around + wheel.position[2] * Z, 1e-8)
    assert_near(result.rotation("disk").apply(Z), np.cos(0.35) * around + np.sin(0.35) * Z, 1e-8)
    # An ideal contact exerts no moment; referred to the disk's centre its force has one.
    force = DISK_MASS * (GRAVITY * Z - rate**2 * radius * around)
    arm = DISK_RADIUS * (np.sin(0.35) * around - np.cos(0.35) * Z) - crown * Z
    assert_near(result.reaction("contact").force, force, 1e-7)
    assert_near(result.reaction("contact").torque, np.cross(arm, force), 1e-7)


def test_thin_disk_circles_at_the_known_rate() -> None:
    """W^2 = g tan(lean) / (3/2 radius + R sin(lean) / 4)."""
    _, rate, _ = steady_circle(0.35, 2.0, 0.0)
    assert rate**2 == pytest.approx(GRAVITY * np.tan(0.35) / (3.0 + DISK_RADIUS * np.sin(0.35) / 4.0), rel=1e-14)


# --- sphere -----------------------------------------------------------------------------------------------------------

BALL, MASS = 0.2, 0.7  # m, kg


def ball(position: Array, velocity: Array, angular_velocity: Array) -> mb.RigidBody:
    inertia = np.full(3, 0.4 * MASS * BALL**2)
    return mb.RigidBody(
        "ball", mass=MASS, inertia=inertia, position=position, velocity=velocity, angular_velocity=angular_velocity
    )


def test_ball_on_an_inclined_plane_accelerates_by_five_sevenths(formulation: mb.Formulation) -> None:
    slope, pivoting, t = 0.4, 3.0, np.linspace(0.0, 3.0, 31)
    normal, down = np.array([np.sin(slope), 0.0, np.cos(slope)]), np.array([np.cos(slope), 0.0, -np.sin(slope)])
    start, velocity = BALL * normal + 0.3 * Y, 1.5 * Y - 2.0 * down
    system = mb.System("incline")
    rolling = system.add(ball(start, velocity, np.cross(normal, velocity) / BALL + pivoting * normal))
    system.add(mb.RollingSphere("contact", system.ground, rolling, at=start, normal=normal, radius=BALL))
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    pull = GRAVITY * np.sin(slope)
    expected = start + np.outer(t, velocity) + np.outer(2.5 / 7.0 * pull * t**2, down)
    assert_near(result.position("ball"), expected, 1e-9)
    assert_near(result.angular_velocity("ball") @ normal, pivoting, 1e-9)
    # Friction carries two sevenths of the pull up the slope.
    load = MASS * (GRAVITY * np.cos(slope) * normal - 2.0 / 7.0 * pull * down)
    assert_near(result.reaction("contact").force, load, 1e-9)
    assert_near(result.reaction("contact").torque, np.cross(-BALL * normal, load), 1e-9)
    assert_energy_is_kept(result)


def test_ball_on_a_turntable_runs_in_a_circle(formulation: mb.Formulation) -> None:
    """With 2/7 of the turntable's rate, about a point that the start decides; the table is too heavy to notice."""
    rate, heavy, t = 3.0, 1e9, np.linspace(0.0, 5.0, 51)
    start, velocity = np.array([0.5, 0.1, BALL]), np.array([0.2, -0.6, 0.0])
    slide = rate * np.cross(Z, start) - velocity
    system = mb.System("turntable")
    table = system.add(
        mb.RigidBody("table", mass=1.0, inertia=(heavy, heavy, heavy), angular_velocity=(0.0, 0.0, rate))
    )
    rolling = system.add(ball(start, velocity, -np.cross(Z, slide) / BALL))
    system.add(mb.RevoluteJoint("bearing", system.ground, table, at=(0.0, 0.0, 0.0), axis=Z))
    system.add(mb.RollingSphere("contact", table, rolling, at=start, radius=BALL))
    result = mb.simulate(system, 5.0, formulation=formulation, **PRECISE, t_eval=t)
    slow = 2.0 / 7.0 * rate
    center = start + np.cross(Z, velocity) / slow
    cos, sin = np.cos(slow * t)[:, None], np.sin(slow * t)[:, None]
    expected = center + cos * (start - center) + sin * np.cross(Z, start - center)
    assert_near(result.position("ball"), expected, 1e-7)
    assert_near(result.angular_velocity("table")[:, 2], rate, 1e-7)


# --- blades -----------------------------------------------------------------------------------------------------------


def side_slip(result: mb.Result, body: str, normal: Array = Z) -> Array:
    """Velocity of the body's origin across its x axis, in the plane."""
    along = result.rotation(body).apply(X)
    return np.sum(np.cross(normal, along) * result.velocity(body), axis=1)


def test_chaplygin_sleigh(formulation: mb.Formulation) -> None:
    """w = w_0 / cosh(k t), u = c w_0 tanh(k t), and the heading 2 (w_0 / k) atan(tanh(k t / 2))."""
    spin, t = 3.0, TEN_SECONDS
    result = mb.simulate(mb.examples.chaplygin_sleigh(spin), 10.0, formulation=formulation, **PRECISE, t_eval=t)
    c = np.sqrt(INERTIA / SLEIGH_MASS + OFFSET**2)
    k = OFFSET * spin / c

    def heading(t: float | Array) -> Array:
        return 2.0 * spin / k * np.arctan(np.tanh(k * t / 2.0))

    def velocity(t: float) -> Array:
        return c * spin * np.tanh(k * t) * np.array([np.cos(heading(t)), np.sin(heading(t)), 0.0])

    ahead = result.rotation("sleigh").apply(X)
    assert_near(result.angular_velocity("sleigh"), np.outer(spin / np.cosh(k * t), Z), 1e-8)
    assert_near(ahead, np.column_stack([np.cos(heading(t)), np.sin(heading(t)), 0.0 * t]), 1e-8)
    assert_near(result.velocity("sleigh"), np.array([velocity(s) for s in t]), 1e-8)
    assert_near(result.position("sleigh")[-1], quad_vec(velocity, 0.0, 10.0, epsabs=1e-12)[0], 1e-8)
    assert_energy_is_kept(result)
    assert_near(side_slip(result, "sleigh"), 0.0, 1e-10)
    assert result.violation.velocity.max() <= 1e-10


SLOPE, SPIN = 0.3, 1.7


def knife_edge(blade: type[mb.Joint] | None = None) -> mb.System:
    """A body that spins on a blade below its centre of mass, started at rest down an inclined plane."""
    down = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])
    normal = np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])
    system = mb.System("knife edge")
    body = system.add(
        mb.RigidBody(
            "skate",
            mass=MASS,
            inertia=(0.02, 0.03, 0.04),
            rotation=np.column_stack([down, Y, normal]),
            angular_velocity=SPIN * normal,
        )
    )
    system.add(mb.PlanarJoint("ice", system.ground, body, at=(0.0, 0.0, 0.0), axis=normal))
    place = {"at": (0.0, 0.0, 0.0), "axis": down, "normal": normal}
    system.add((blade or mb.KnifeEdge)("blade", system.ground, body, **place))
    return system


def test_knife_edge_on_an_inclined_plane_draws_a_cycloid(formulation: mb.Formulation) -> None:
    """x = k sin^2(w t), y = k (w t - sin(2 w t) / 2), k = g sin(slope) / (2 w^2): it does not go down on the average
    (Neimark and Fufaev, Dynamics of Nonholonomic Systems, 1972).
    """
    t = TEN_SECONDS
    result = mb.simulate(knife_edge(), 10.0, formulation=formulation, **PRECISE, t_eval=t)
    down, normal = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)]), np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])
    turned = SPIN * t
    k = GRAVITY * np.sin(SLOPE) / (2.0 * SPIN**2)
    expected = np.outer(k * np.sin(turned) ** 2, down) + np.outer(k * (turned - np.sin(2.0 * turned) / 2.0), Y)
    assert_near(result.position("skate"), expected, 1e-8)
    assert_near(result.angular_velocity("skate"), SPIN * normal, 1e-8)
    # Half of what the blade bears holds against the pull, the other half bends the path.
    across = np.outer(np.cos(turned), Y) - np.outer(np.sin(turned), down)
    load = (2.0 * MASS * GRAVITY * np.sin(SLOPE) * np.sin(turned))[:, None] * across
    assert_near(result.reaction("blade").force, load, 1e-8)
    assert_energy_is_kept(result)
    assert_near(side_slip(result, "skate", normal), 0.0, 1e-10)


# --- constraints on velocities that a user writes ---------------------------------------------------------------------


class Gripping(mb.BasicConstraint):
    """No slip of a disk of radius 0.5 m, in vectors."""

    equations = 2

    def velocity_residual(self, t, i, j):
        n, a = i.axes[:, 2], j.axes[:, 2]
        k = a @ n
        e = -0.5 * (n - k * a) / np.sqrt(1.0 - k * k)
        u = j.velocity + np.cross(j.angular_velocity, e)
        return [np.cross(a, n) @ u, (a - k * n) @ u]


class GrippingDisk(mb.RollingDisk):
    def constraints(self):
        return [mb.DiskOnPlane(self.i, self.j, radius=self.radius), Gripping(self.i, self.j)]


class Sideways(mb.BasicConstraint):
    """A blade, not linear in the velocities: the same constraint, multiplied by what never vanishes."""

    equations = 1

    def velocity_residual(self, t, i, j):
        return [np.cross(i.axes[:, 2], j.axes[:, 2]) @ j.velocity * (1.0 + j.velocity @ j.velocity)]


class Blade(mb.KnifeEdge):
    def constraints(self):
        return [Sideways(self.i, self.j)]


def assert_same(found: mb.Result, expected: mb.Result, body: str, joint: str) -> None:
    assert_near(found.position(body), expected.position(body), 1e-9)
    assert_near(found.rotation(body).as_matrix(), expected.rotation(body).as_matrix(), 1e-9)
    assert_near(found.reaction(joint).force, expected.reaction(joint).force, 1e-8)
    assert_near(found.reaction(joint).torque, expected.reaction(joint).torque, 1e-8)


def test_own_rolling_is_the_built_in_one(formulation: mb.Formulation) -> None:
    system, builtin = mb.examples.rolling_disk(), mb.examples.rolling_disk()
    contact = system["contact"]
    own = {"at": contact.at, "axis": contact.axis, "radius": contact.radius}
    system = mb.System("own")
    body = builtin["disk"]
    values = {name: getattr(body, name) for name in ("mass", "inertia", "position", "rotation", "velocity")}
    wheel = system.add(mb.RigidBody("disk", **values, angular_velocity=body.angular_velocity))
    system.add(GrippingDisk("contact", system.ground, wheel, **own))
    t = np.linspace(0.0, 2.0, 21)
    runs = [mb.simulate(s, 2.0, formulation=formulation, **PRECISE, t_eval=t) for s in (system, builtin)]
    assert_same(*runs, "disk", "contact")


def test_own_blade_that_is_not_linear_in_the_velocities_is_the_built_in_one(formulation: mb.Formulation) -> None:
    t = np.linspace(0.0, 2.0, 21)
    runs = [
        mb.simulate(knife_edge(blade), 2.0, formulation=formulation, **PRECISE, t_eval=t)
        for blade in (Blade, mb.KnifeEdge)
    ]
    assert_same(*runs, "skate", "blade")


class ConstantSpeed(mb.BasicConstraint):
    """|v| = c, which is not linear in the velocities. Its ideal reaction acts along the velocity."""

    equations = 1
    speed = mb.parameter(1.0, unit="m/s", help="c")

    def velocity_residual(self, t, i, j):
        return [(j.velocity @ j.velocity - self.speed**2) / (2.0 * self.speed)]


def test_point_that_keeps_its_speed_turns_down() -> None:
    """With phi the angle of the velocity from the vertical downwards: tan(phi / 2) = tan(phi_0 / 2) exp(-g t / c)."""
    c, start, t = 4.0, 2.8, np.linspace(0.0, 2.0, 21)
    system = mb.System("constant speed")
    point = system.add(mb.PointMass("point", mass=MASS, velocity=(c * np.sin(start), 0.0, -c * np.cos(start))))
    system.add(ConstantSpeed("governor", system.ground, point, at=(0.0, 0.0, 0.0), speed=c))
    result = mb.simulate(system, 2.0, **PRECISE, t_eval=t)
    phi = 2.0 * np.arctan(np.tan(start / 2.0) * np.exp(-GRAVITY * t / c))
    ahead = np.column_stack([np.sin(phi), 0.0 * t, -np.cos(phi)])
    assert_near(result.velocity("point"), c * ahead, 1e-9)
    path = c**2 / GRAVITY * np.column_stack([start - phi, 0.0 * t, np.log(np.sin(phi) / np.sin(start))])
    assert_near(result.position("point"), path, 1e-9)
    assert_near(result.reaction("governor").force, (-MASS * GRAVITY * np.cos(phi))[:, None] * ahead, 1e-8)
    assert result.violation.velocity.max() <= 1e-10


@pytest.mark.parametrize("integrator", [mb.DormandPrince(), mb.RadauIIA(), mb.RadauIIA(rtol=1e-9)], ids=repr)
@pytest.mark.parametrize("angle", ["sin(2*t)**2", "5*t + 0.5*sin(4*t)"])
def test_a_driven_wheel_rolls_as_far_as_it_turns(integrator: mb.Integrator, angle: str) -> None:
    """No freedom is left, but the way follows from velocities: x = r (angle - angle(0))."""
    radius = 0.3
    system = mb.System("carriage")
    frame = system.add(mb.RigidBody("frame", mass=5.0, inertia=(1, 1, 1), position=(0, 0, radius)))
    disk = system.add(mb.RigidBody("disk", mass=1.0, inertia=(0.02, 0.04, 0.02), position=(0, 0, radius)))
    system.add(mb.TranslationalJoint("track", system.ground, frame, at=(0, 0, radius), axis=(1, 0, 0)))
    axle = system.add(mb.RevoluteJoint("axle", frame, disk, at=(0, 0, radius), axis=(0, 1, 0)))
    system.add(mb.RollingDisk("roll", system.ground, disk, at=(0, 0, radius), axis=(0, 1, 0), radius=radius))
    system.add(mb.Driver("drive", axle, angle=angle))
    result = mb.simulate(system, 3.0, integrator=integrator)
    way = radius * mb.Function(angle)(3.0)
    assert result.position(frame)[-1, 0] == pytest.approx(way, abs=2.0 * integrator.rtol)
