"""Assembly: gaps are closed and velocities made consistent with the least change."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import mbframe as mb

Array = NDArray[np.float64]


def displaced(system: mb.System, **changes) -> mb.State:
    """The described state with some fields of some bodies replaced: body=dict(field=value)."""
    state = mb.Equations(system).described()
    motions = {
        name.replace(" ", "_"): (name, dataclasses.replace(m, **{k: np.asarray(v, float) for k, v in change.items()}))
        for name, m in state.motions.items()
        for change in [changes.get(name.replace(" ", "_"), {})]
    }
    return mb.State(0.0, dict(motions.values()))


def shaken(system: mb.System, size: float) -> mb.State:
    """The described state with all bodies displaced and turned at random, and random velocities."""
    values = np.random.default_rng(5)
    motions = {}
    for name, m in mb.Equations(system).described().motions.items():
        shift, turn, velocity, omega = values.normal(size=(4, 3))
        rotation = Rotation.from_rotvec(size * turn).as_matrix() @ m.rotation
        motions[name] = dataclasses.replace(
            m, position=m.position + size * shift, rotation=rotation, velocity=velocity, angular_velocity=omega
        )
    return mb.State(0.0, motions)


def violation(system: mb.System, state: mb.State) -> tuple[float, float]:
    eq = mb.Equations(system)
    residual, rate = eq.violation(state.t, eq.coordinates(state))
    return float(np.linalg.norm(residual)), float(np.linalg.norm(rate))


def plate(name: str, mass: float, position, **values) -> mb.RigidBody:
    return mb.RigidBody(name, mass=mass, inertia=mass * np.array([0.3, 0.4, 0.6]), position=position, **values)


def four_bar() -> mb.System:
    """Bars with masses 1, 2 and 8 kg in the plane z = 0; the closing joint D is on the ground."""
    points = [np.array(p, float) for p in [(0, 0, 0), (0.3, 0.9, 0), (2.2, 1.6, 0), (2.5, 0, 0)]]
    system = mb.System("four-bar")
    bodies: list[mb.Body] = [system.ground]
    for k, mass in enumerate((1.0, 2.0, 8.0)):
        along = (points[k + 1] - points[k]) / np.linalg.norm(points[k + 1] - points[k])
        frame = np.column_stack([along, np.cross([0, 0, 1], along), [0, 0, 1]])
        bodies.append(system.add(plate(f"bar {k + 1}", mass, (points[k] + points[k + 1]) / 2, rotation=frame)))
    bodies.append(system.ground)
    for name, i, j, at in zip("ABCD", bodies, bodies[1:], points, strict=False):
        system.add(mb.RevoluteJoint(name, i, j, at=at, axis=(0.0, 0.0, 1.0)))
    return system


def test_a_consistent_state_is_returned_digit_for_digit() -> None:
    system = mb.examples.spatial_slider_crank()
    found = mb.assemble(system)
    assert isinstance(found, mb.State)
    for name, described in mb.Equations(system).described().motions.items():
        for field in ("position", "rotation", "velocity", "angular_velocity"):
            np.testing.assert_array_equal(getattr(found.motions[name], field), getattr(described, field))
    assert found.moved == found.velocity_change == dict.fromkeys(("crank", "rod", "slider"), (0.0, 0.0))
    assert found.residual < 1e-15
    assert str(found).endswith("nothing had to be changed")


@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 4.0), (1e-3, 1e3)])
def test_light_bodies_move_more(masses: tuple[float, float]) -> None:
    """Two bodies held together at their centres: the common centre of mass does not move."""
    system = mb.System("pair")
    one, other = (system.add(plate(name, m, (0.0, 0.0, 0.0))) for name, m in zip(("one", "other"), masses, strict=True))
    system.add(mb.SphericalJoint("joint", one, other, at=(0.0, 0.0, 0.0)))
    found = mb.assemble(system, displaced(system, one={"position": (-0.5, 0, 0)}, other={"position": (0.25, 0, 0)}))
    m, n = masses
    together = (-0.5 * m + 0.25 * n) / (m + n)
    np.testing.assert_allclose(found.position(one), (together, 0, 0), atol=1e-12)
    np.testing.assert_allclose(found.position(other), (together, 0, 0), atol=1e-12)
    assert found.moved["one"] == pytest.approx((0.75 * n / (m + n), 0.0), abs=1e-12)
    assert found.moved["other"] == pytest.approx((0.75 * m / (m + n), 0.0), abs=1e-12)
    assert found.residual <= 1e-12
    assert f"'one' moved by {0.75 * n / (m + n):.3g} m" in str(found)


def test_a_displaced_link_closes_with_the_least_change() -> None:
    """A four-bar whose coupler was pulled away, against a general optimizer over nine planar coordinates."""
    system = four_bar()
    turn = Rotation.from_rotvec([0, 0, 0.4]).as_matrix()
    coupler = mb.Equations(system).described().motions["bar 2"]
    pulled = {"position": coupler.position + np.array([0.3, -0.5, 0]), "rotation": turn @ coupler.rotation}
    start = displaced(system, bar_2=pulled)
    assert violation(system, start)[0] > 0.5
    found = mb.assemble(system, start)
    assert violation(system, found)[0] <= 1e-12

    bars = ["bar 1", "bar 2", "bar 3"]
    masses = np.repeat([1.0, 2.0, 8.0], 3)
    turns, inertias = slice(2, None, 3), 0.6 * np.array([1.0, 2.0, 8.0])
    ends = {
        name: np.linalg.norm(system[j].at - system[i].at) / 2 for name, i, j in zip(bars, "ABC", "BCD", strict=True)
    }

    def planar(state: mb.State) -> Array:
        return np.concatenate([[*state.position(b)[:2], state.rotation(b).as_rotvec()[2]] for b in bars])

    def gaps(x: Array) -> Array:
        last, result = np.zeros(2), []
        for (px, py, angle), half in zip(x.reshape(3, 3), ends.values(), strict=True):
            along = half * np.array([np.cos(angle), np.sin(angle)])
            result.append(np.array([px, py]) - along - last)
            last = np.array([px, py]) + along
        return np.concatenate([*result, last - [2.5, 0.0]])

    x0 = planar(start)

    def change(x: Array) -> float:
        """1/2 m u^2 + I (1 - cos phi): the squares of the particles' displacements, 1/2 int |x - x_0|^2 dm."""
        d = x - x0
        shifts = np.where(np.arange(9) % 3 == 2, 0.0, d)
        return 0.5 * masses @ shifts**2 + inertias @ (1.0 - np.cos(d[turns]))

    def slope(x: Array) -> Array:
        g = masses * (x - x0)
        g[turns] = inertias * np.sin((x - x0)[turns])
        return g

    best = minimize(
        change,
        planar(found),
        jac=slope,
        constraints={"type": "eq", "fun": gaps},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 200},
    )
    assert best.success
    np.testing.assert_allclose(gaps(planar(found)), 0.0, atol=1e-12)
    assert best.fun > 0.05
    assert change(planar(found)) == pytest.approx(best.fun, rel=1e-9)
    np.testing.assert_allclose(planar(found), best.x, atol=1e-5)
    for name in bars:
        x = dict(zip(bars, (planar(found) - x0).reshape(3, 3), strict=True))[name]
        assert found.moved[name] == pytest.approx((np.hypot(*x[:2]), abs(x[2])), abs=1e-12)


def particles(body: mb.RigidBody) -> tuple[float, Array]:
    """Six equal masses, by local position, that move like the body: m c and second moments about c agree."""
    mass, center, inertia = body.mass_properties()
    moments, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    arms = np.sqrt(3.0 * moments / mass) * axes
    return mass / 6.0, np.concatenate([center + arms.T, center - arms.T])


def particle_change(system: mb.System, start: mb.State, end: mb.State) -> float:
    """1/2 sum m |x - x_0|^2."""
    total = 0.0
    for body in system.bodies:
        mass, points = particles(body)
        moved = [end.position(body, p) - start.position(body, p) for p in points]
        total += 0.5 * mass * np.sum(np.square(moved))
    return total


@pytest.mark.parametrize("example", ["bricard", "spatial_slider_crank", "triple_pendulum", "five_bar_pendulum"])
def test_no_motion_of_the_mechanism_makes_the_change_smaller(example: str) -> None:
    """The change as a sum over particles is stationary along every freedom that is left."""
    system = getattr(mb.examples, example)()
    start = shaken(system, 0.05)
    found = mb.assemble(system, start)
    assert max(violation(system, found)) <= 1e-11
    eq = mb.Equations(system)
    q, _, _ = eq.split(eq.coordinates(found))
    e = eq.evaluate(0.0, q, np.zeros(eq.n_v))
    _, values, right = np.linalg.svd(e.jacobian.toarray())
    free = right[int(np.sum(values > 1e-9)) :]
    assert len(free) == mb.degrees_of_freedom(system, found).count
    scale = np.sqrt(2.0 * particle_change(system, start, found))
    assert scale > 0.03
    for v in free:
        h = 1e-5
        around = [eq.state(0.0, np.concatenate([eq.displaced(q, s * h * v), v])) for s in (-1, 1)]
        slope = (particle_change(system, start, around[1]) - particle_change(system, start, around[0])) / (2 * h)
        assert abs(slope) <= 1e-5 * scale * np.sqrt(v @ e.mass @ v)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.3, 2.0])
def test_closes_from_far(size: float) -> None:
    for system in (mb.examples.bricard(), mb.examples.triple_pendulum()):
        start = shaken(system, size)
        found = mb.assemble(system, start)
        assert found.residual <= 1e-12
        assert violation(system, found)[1] <= 1e-11
        farthest = max(distance for distance, _ in found.moved.values())
        assert 0.1 * size < farthest < 10.0 * size


def test_formulations_agree() -> None:
    system = mb.examples.bricard()
    start = shaken(system, 0.05)
    one, other = (mb.assemble(system, start, formulation=f) for f in (None, mb.NaturalAbsolute()))
    for name in one.motions:
        np.testing.assert_allclose(one.position(name), other.position(name), atol=1e-6)
        np.testing.assert_allclose(one.velocity(name), other.velocity(name), atol=1e-5)


def test_caught_bodies_are_nudged() -> None:
    """A bar points away from where its rod could reach it: by symmetry no small turn brings it nearer."""
    system = mb.System("caught")
    bar = system.add(plate("bar", 1.0, (-0.5, 0.0, 0.0)))
    system.add(mb.SphericalJoint("pin", system.ground, bar, at=(0.0, 0.0, 0.0)))
    tip = bar.marker((-1.0, 0.0, 0.0))
    hook = system.ground.marker((2.0, 0.0, 0.0))

    class Rod(mb.Joint):
        def constraints(self) -> list[mb.BasicConstraint]:
            return [mb.FixedDistance(hook, tip, distance=1.5)]

    system.add(Rod("rod", system.ground, bar, at=(0.0, 0.0, 0.0)))
    found = mb.assemble(system)
    x, *across = found.position(bar, (-0.5, 0.0, 0.0))
    assert x == pytest.approx((1.0 + 4.0 - 1.5**2) / 4.0, abs=1e-10)  # law of cosines
    assert np.hypot(x, np.linalg.norm(across)) == pytest.approx(1.0, abs=1e-10)


def test_fixed_bodies_stay() -> None:
    """With the crank held, the rest goes back to where it was closed, and takes part in the crank's motion."""
    system = four_bar()
    described = mb.Equations(system).described().motions
    spin = np.array([0.0, 0.0, 0.7])
    crank = {"velocity": np.cross(spin, described["bar 1"].position), "angular_velocity": spin}
    start = displaced(system, bar_1=crank, bar_2={"position": described["bar 2"].position + np.array([0.2, -0.1, 0.0])})
    for fixed in ("bar 1", ["bar 1"], [system["bar 1"], system.ground]):
        found = mb.assemble(system, start, fixed)
        for field in ("position", "rotation", "velocity", "angular_velocity"):
            np.testing.assert_array_equal(
                getattr(found.motions["bar 1"], field), getattr(start.motions["bar 1"], field)
            )
        assert found.moved["bar 1"] == found.velocity_change["bar 1"] == (0.0, 0.0)
        assert found.moved["bar 2"] == pytest.approx((np.hypot(0.2, 0.1), 0.0), abs=1e-10)
        assert violation(system, found) == pytest.approx((0.0, 0.0), abs=1e-11)
        pin = described["bar 2"].rotation.T @ (system["B"].at - described["bar 2"].position)
        np.testing.assert_allclose(found.velocity("bar 2", pin), np.cross(spin, system["B"].at), atol=1e-10)
    loose = mb.assemble(system, start)
    assert loose.moved["bar 1"][0] > 0.01


def test_velocities_are_projected() -> None:
    """Two bodies that meet: the momentum is kept, as in an impact without rebound."""
    system = mb.System("impact")
    one, other = system.add(plate("one", 1.0, (0, 0, 0))), system.add(plate("other", 3.0, (0, 0, 0)))
    system.add(mb.FixedJoint("joint", one, other, at=(0, 0, 0)))
    start = displaced(system, one={"velocity": (4.0, 0, 0), "angular_velocity": (0, 0, 2.0)})
    found = mb.assemble(system, start)
    for body in (one, other):
        np.testing.assert_allclose(found.velocity(body), (1.0, 0, 0), atol=1e-12)
        np.testing.assert_allclose(found.angular_velocity(body), (0, 0, 0.5), atol=1e-12)
    assert found.moved == {"one": (0.0, 0.0), "other": (0.0, 0.0)}
    assert found.velocity_change["one"] == pytest.approx((3.0, 1.5))
    held = mb.assemble(system, start, fixed=[one])
    np.testing.assert_allclose(held.velocity(other), (4.0, 0, 0), atol=1e-12)
    np.testing.assert_allclose(held.angular_velocity(other), (0, 0, 2.0), atol=1e-12)


def test_a_spinning_disk_starts_to_roll() -> None:
    """Least change of kinetic energy: I (w - w_0) + R m (R w) = 0."""
    mass, inertia, radius, spin = 2.0, 0.3, 0.5, 4.0
    system = mb.System("disk")
    disk = system.add(mb.RigidBody("disk", mass=mass, inertia=(0.2, inertia, 0.2), position=(0, 0, radius)))
    system.add(mb.RollingDisk("contact", system.ground, disk, at=disk.position, axis=(0, 1, 0), radius=radius))
    found = mb.assemble(system, displaced(system, disk={"angular_velocity": (0, spin, 0)}))
    rolling = inertia * spin / (inertia + mass * radius**2)
    np.testing.assert_allclose(found.angular_velocity(disk), (0, rolling, 0), atol=1e-12)
    np.testing.assert_allclose(found.velocity(disk), (radius * rolling, 0, 0), atol=1e-12)


def test_a_lifted_disk_comes_down() -> None:
    system = mb.System("disk")
    disk = system.add(mb.RigidBody("disk", mass=1.0, inertia=(0.2, 0.3, 0.2), position=(0, 0, 0.7)))
    system.add(mb.RollingDisk("contact", system.ground, disk, at=disk.position, axis=(0, 1, 0), radius=0.5))
    found = mb.assemble(system)
    np.testing.assert_allclose(found.position(disk), (0, 0, 0.5), atol=1e-12)
    assert found.moved["disk"] == pytest.approx((0.2, 0.0), abs=1e-12)


class Bridge(mb.Joint):
    """Joins the point `at` of the first body to a point one unit of `axis` away on the second."""

    def constraints(self) -> list[mb.BasicConstraint]:
        return [mb.Coincident(self.body_i.marker(self.at), self.body_j.marker(self.at + self.axis))]


def too_short() -> mb.System:
    """Two bars of one metre on pivots that are five metres apart."""
    system = mb.System("too short")
    one, other = system.add(plate("one", 1.0, (0.5, 0, 0))), system.add(plate("other", 1.0, (4.5, 0, 0)))
    system.add(mb.SphericalJoint("A", system.ground, one, at=(0, 0, 0)))
    system.add(mb.SphericalJoint("B", system.ground, other, at=(5, 0, 0)))
    system.add(Bridge("C", one, other, at=(1, 0, 0), axis=(3, 0, 0)))
    return system


def test_what_cannot_close_is_named() -> None:
    with pytest.raises(mb.AnalysisError, match=r"Bridge 'C' cannot be closed: a gap of \d"):
        mb.assemble(too_short())
    with pytest.raises(mb.AnalysisError, match=r"Bridge 'C' .* gap of 3 .* stays open, fixed are 'one', 'other'"):
        mb.assemble(too_short(), fixed=["one", "other"])
    longer = too_short()
    longer.remove("B")
    found = mb.assemble(longer)
    np.testing.assert_allclose(found.position("one", (0.5, 0, 0)), found.position("other", (-0.5, 0, 0)), atol=1e-12)


def test_contradicting_velocities_are_named() -> None:
    system = four_bar()
    start = displaced(system, bar_1={"velocity": (1.0, 0.0, 0.0)})
    with pytest.raises(mb.AnalysisError, match=r"RevoluteJoint 'A' cannot keep .* rate of 1 "):
        mb.assemble(system, start, fixed=["bar 1"])


def test_unknown_bodies_are_refused() -> None:
    with pytest.raises(mb.ModelError, match="did you mean 'bar 1'"):
        mb.assemble(four_bar(), fixed=["bar1", "bar 2"])


def test_a_run_starts_from_the_assembly() -> None:
    system = mb.examples.bricard()
    found = mb.assemble(system, dataclasses.replace(shaken(system, 0.1), t=2.5))
    assert found.t == 2.5
    result = mb.simulate(system, 2.6, initial=found)
    assert not [w for w in result.info.warnings if "initial" in w]
    np.testing.assert_allclose(result.position("rod 3")[0], found.position("rod 3"), atol=1e-15)
