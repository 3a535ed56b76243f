"""Energies of modes by element against dense matrices by hand, closed forms, and the balance of each mode."""

import numpy as np
import pytest
from scipy import linalg

import mbframe as mb

from . import random_spinning

X, Y, Z = np.eye(3)
GRAVITY = 9.81


def kinds(mode: mb.Mode, kind: str) -> dict[str, float]:
    return {name: getattr(share, kind) for name, share in mode.energy.items()}


def unbalanced(mode: mb.Mode) -> float:
    """What is left of 2 s (kinetic + potential) = - dissipation, relative to its terms."""
    found = mode.energy
    rest = 2.0 * mode.eigenvalue.real * (found.kinetic + found.potential) + found.dissipation
    return abs(rest) / (abs(mode.eigenvalue) * (found.kinetic + abs(found.potential)))


# --- a chain with dampers anywhere: complex modes ---------------------------------------------------------------------

MASSES, STIFFNESSES, DAMPINGS = (1.3, 0.7, 2.1), (90.0, 40.0, 160.0, 25.0), (0.3, 4.0, 0.0, 1.1)


def chain(planar: bool) -> mb.System:
    """Three masses between two walls, each neighbour joined by a spring and, apart from it, by a damper."""
    system = mb.System("chain", dimension=2 if planar else 3, gravity=(0, 0) if planar else (0, 0, 0))
    at = lambda x: (x, 0.0) if planar else (x, 0.0, 0.0)  # noqa: E731
    bodies = []
    for k, mass in enumerate(MASSES, 1):
        if planar:
            body = mb.PlanarBody(f"mass {k}", mass=mass, inertia=0.1, position=at(k))
        else:
            body = mb.RigidBody(f"mass {k}", mass=mass, inertia=(0.1, 0.2, 0.3), position=at(k))
        bodies.append(system.add(body))
        system.add(mb.TranslationalJoint(f"rail {k}", system.ground, body, at=at(k), axis=at(1.0)))
    ends = [system.ground, *bodies, system.ground]
    for k, (stiffness, damping) in enumerate(zip(STIFFNESSES, DAMPINGS, strict=True)):
        pair = {"at_i": at(k), "at_j": at(k + 1), "free_length": 1.0}
        system.add(mb.SpringDamper(f"spring {k}", *ends[k : k + 2], **pair, stiffness=stiffness, damping=0.0))
        system.add(mb.SpringDamper(f"damper {k}", *ends[k : k + 2], **pair, stiffness=0.0, damping=damping))
    return system


@pytest.mark.parametrize("planar", [False, True])
def test_shares_of_a_damped_chain_are_those_of_its_dense_matrices(planar):
    lin = mb.linearize(chain(planar))
    n = len(MASSES)
    stretch = np.vstack([np.eye(n), np.zeros(n)]) - np.vstack([np.zeros(n), np.eye(n)])  # of each spring
    M, K, C = np.diag(MASSES), *(stretch.T @ np.diag(v) @ stretch for v in (STIFFNESSES, DAMPINGS))
    none, one = np.zeros((n, n)), np.eye(n)
    roots, vectors = linalg.eig(np.block([[none, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]]))
    seen = 0
    for mode in lin.modes:
        root, a = min(zip(roots, vectors[:n].T, strict=True), key=lambda pair: abs(pair[0] - mode.eigenvalue))
        assert root == pytest.approx(mode.eigenvalue, abs=1e-10)
        # The motion over a period at a held amplitude, sampled
        phases = np.exp(2j * np.pi * np.arange(64) / 64)
        motion, speed = np.real(np.outer(phases, a)), np.real(np.outer(phases, root * a))
        if abs(root.imag) < 1e-12:
            continue
        seen += 1
        kinetic = np.mean(speed**2 * MASSES, axis=0)
        potential = np.mean((motion @ stretch.T) ** 2 * STIFFNESSES, axis=0)
        lost = np.mean((speed @ stretch.T) ** 2 * DAMPINGS, axis=0)
        for kind, names, values in (
            ("kinetic", [f"mass {k}" for k in (1, 2, 3)], kinetic),
            ("potential", [f"spring {k}" for k in range(4)], potential),
            ("dissipation", [f"damper {k}" for k in range(4)], lost),
        ):
            found = kinds(mode, kind)
            assert sum(found.values()) == pytest.approx(1.0, abs=1e-12)
            np.testing.assert_allclose([found.pop(name) for name in names], values / values.sum(), atol=1e-10)
            np.testing.assert_allclose(list(found.values()), 0.0, atol=1e-14)
        size = max(abs(part.translation).max() for part in mode.shape.values()) / abs(a).max()
        energy = 0.5 * np.array([kinetic.sum(), potential.sum(), 2.0 * lost.sum()]) * size**2
        np.testing.assert_allclose([mode.energy.kinetic, mode.energy.potential, mode.energy.dissipation], energy, 1e-9)
        assert unbalanced(mode) < 1e-12
    assert seen == 6


# --- gravity, prestress, motion ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", [0.0, 0.3, 0.7])
def test_weight_of_an_inverted_pendulum_against_its_spring(origin):
    """m l^2 a'' = (m g l - k) a: wherever the origin of the body is, gravity has -m g l and the spring k."""
    mass, length, stiffness = 1.7, 0.7, 30.0
    system = mb.System("pole", gravity=(0, 0, -GRAVITY))
    offset = (0, 0, length - origin)
    inertia = np.diag([1e-3] * 3)
    pole = mb.RigidBody("pole", mass=mass, inertia=inertia, position=(0, 0, origin), center_of_mass=offset)
    system.add(pole)
    system.add(mb.RevoluteJoint("hinge", system.ground, pole, at=(0, 0, 0), axis=Y))
    spring = mb.TorsionalSpringDamper("spring", system.ground, pole, at=(0, 0, 0), axis=Y, stiffness=stiffness)
    system.add(spring)
    mode = mb.linearize(system).modes[-1]
    weight, found = mass * GRAVITY * length, mode.energy
    assert found["spring"].potential == pytest.approx(stiffness / (stiffness - weight), rel=1e-12)
    assert found["pole"].potential == pytest.approx(-weight / (stiffness - weight), rel=1e-12)
    assert found["pole"].parts == {"gravity": pytest.approx(found["pole"].potential)}
    assert found["spring"].parts == {"stiffness": pytest.approx(found["spring"].potential)}
    assert np.isnan(found["spring"].dissipation)
    turned = mode.shape["pole"].rotation @ Y
    assert mode.joints == {"hinge.angle": pytest.approx(turned)}


def test_a_taut_string_has_its_stiffness_from_prestress_across_and_from_springs_along():
    tension, length, stiffness = 50.0, 0.8, 300.0
    system = mb.System("string", gravity=(0, 0, 0))
    bead = system.add(mb.PointMass("bead", mass=0.2, position=(0, 0, 0)))
    for name, side in (("left", -1.0), ("right", 1.0)):
        spring = mb.SpringDamper(name, system.ground, bead, at_i=(side * length, 0, 0), at_j=(0, 0, 0))
        spring.update(stiffness=stiffness, damping=0.0, free_length=length - tension / stiffness)
        system.add(spring)
    for mode in mb.linearize(system).modes:
        along = abs(mode.shape["bead"].translation @ X) > 0.5
        expected = {"stiffness" if along else "prestress": 0.5}
        for name in ("left", "right"):
            parts = {part: share for part, share in mode.energy[name].parts.items() if abs(share) > 1e-12}
            assert parts == {part: pytest.approx(share) for part, share in expected.items()}
        size = 2.0 * (stiffness if along else tension / length)
        assert mode.energy.potential == pytest.approx(0.25 * size, rel=1e-12)


def test_centrifugal_stiffness_belongs_to_the_motion_of_the_body():
    """A mass on a radial spring that turns: k - m w^2 (k - m w^2 + 4 m w^2 with its spin free is not asked here)."""
    mass, stiffness, rate, radius = 1.5, 800.0, 11.0, 0.6
    stretched = mass * rate**2 * radius / stiffness
    system = mb.System("slider", gravity=(0, 0, 0))
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(1.0, 1.0, 1.0), angular_velocity=(0, 0, rate)))
    motor = system.add(mb.RevoluteJoint("motor", system.ground, arm, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("speed", motor, angle=f"{rate}*t"))
    slider = mb.RigidBody("slider", mass=mass, inertia=(0.1, 0.1, 0.1), position=(radius, 0, 0))
    slider.update(velocity=(0, rate * radius, 0), angular_velocity=(0, 0, rate))
    system.add(slider)
    system.add(mb.TranslationalJoint("guide", arm, slider, at=(radius, 0, 0), axis=X))
    spring = mb.SpringDamper("spring", arm, slider, at_i=(0, 0, 0), at_j=(radius, 0, 0), stiffness=stiffness)
    spring.update(damping=0.0, free_length=radius - stretched)
    system.add(spring)
    mode = mb.linearize(system, frame=mb.TurningFrame(rate=rate)).modes[-1]
    whole = stiffness - mass * rate**2
    assert abs(mode.eigenvalue) == pytest.approx(np.sqrt(whole / mass), rel=1e-10)
    assert mode.energy["spring"].potential == pytest.approx(stiffness / whole, rel=1e-10)
    assert mode.energy["slider"].parts["motion"] == pytest.approx(-mass * rate**2 / whole, rel=1e-10)


def test_loads_with_an_energy_have_symmetric_matrices_and_dissipate_nothing():
    """A body on a ball joint between stretched springs: each share is symmetric on its own, not only their sum."""
    rng = np.random.default_rng(4)
    system = mb.System("held", gravity=(0, 0, -GRAVITY))
    bodies = [system.ground]
    for k in range(2):
        body = mb.RigidBody(f"body {k}", mass=2.0, inertia=(0.2, 0.3, 0.4), position=(0.4 * k + 0.2, 0.1, 0.05))
        bodies.append(system.add(body))
        system.add(mb.SphericalJoint(f"ball {k}", *bodies[-2:], at=(0.4 * k, 0, 0)))
        for n in range(4):
            ends = {"at_i": rng.uniform(-1, 1, 3), "at_j": body.position + 0.1 * rng.uniform(-1, 1, 3)}
            spring = mb.SpringDamper(f"spring {k}{n}", system.ground, body, **ends, stiffness=200.0)
            spring.update(damping=0.0, free_length=0.1)
            system.add(spring)
    lin = mb.linearize(system, mb.equilibrium(system))
    rows = np.asarray(lin.equations.holonomic)
    basis = linalg.null_space(rows)
    for share in lin.element_matrices:
        K = basis.T @ (share.stiffness @ basis)
        np.testing.assert_allclose(K, K.T, atol=1e-11 * np.abs(lin.stiffness).max(), err_msg=share.element)
    total = sum(share.stiffness.toarray() for share in lin.element_matrices)
    np.testing.assert_allclose(total, lin.stiffness, atol=1e-12 * np.abs(lin.stiffness).max())


# --- the balance of each mode: rolling, spinning, flexible, driven, users' own ----------------------------------------


class Magnet(mb.ForceElement):
    """A user's own force, with a loss."""

    strength = mb.parameter(1.0, unit="N m^2", help="attraction at one metre")

    def wrench(self, t, i, j):
        d = i.position - j.position
        u = i.velocity - j.velocity
        return self.strength * d / np.linalg.norm(d) ** 3 + 0.3 * u, np.zeros(3)


def with_magnet() -> mb.Linearization:
    system = mb.System("magnet", gravity=(0, 0, -GRAVITY))
    bar = system.add(mb.RigidBody("bar", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5)))
    system.add(mb.SphericalJoint("ball", system.ground, bar, at=(0, 0, 0)))
    system.add(Magnet("magnet", system.ground, bar, at_i=(0.2, 0.3, -2), at_j=(0, 0, -1), strength=0.4))
    return mb.linearize(system, mb.equilibrium(system))


def with_controller() -> mb.Linearization:
    """An own state that stores and feeds: the integral of a controller."""
    system = mb.System("held pole", gravity=(0, 0, -GRAVITY))
    pole = system.add(mb.RigidBody("pole", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, 0.5)))
    system.add(mb.RevoluteJoint("hinge", system.ground, pole, at=(0, 0, 0), axis=Y))
    control = mb.PIDActuator("control", system.ground, pole, at=(0, 0, 0), axis=Y)
    control.update(proportional=40.0, integral=25.0, derivative=0.8)
    system.add(control)
    return mb.linearize(system)


def with_controllers(states: bool) -> mb.Linearization:
    """Signals of controllers that a torque names, with an own state or without."""
    system = mb.System("controlled pole", gravity=(0, 0, -GRAVITY))
    pole = system.add(mb.RigidBody("pole", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, 0.5)))
    system.add(mb.RevoluteJoint("hinge", system.ground, pole, at=(0, 0, 0), axis=Y))
    angle = system.add(mb.Angle("angle", system.ground, pole, axis=Y))
    outputs = {"torque": "N m"}
    if states:
        matrices = ([[-5.0]], [[1.0]], [[60.0]], [[-60.0]])
        system.add(mb.LinearController("control", outputs=outputs, measures=[angle], system=matrices))
    else:
        system.add(mb.StateFeedback("control", outputs=outputs, measures=[angle], gain=[[40.0, 3.0]]))
    system.add(mb.Torque("torque", pole, torque=(0, "control.torque", 0)))
    return mb.linearize(system)


def test_a_torque_of_state_feedback_is_a_spring_and_a_damper():
    """u = -k a - c a': J a'' + c a' + (k - m g l) a = 0."""
    weight = GRAVITY * 0.5
    for mode in with_controllers(False).modes:
        assert mode.energy["torque"].potential == pytest.approx(40.0 / (40.0 - weight), rel=1e-10)
        assert mode.energy["pole"].potential == pytest.approx(-weight / (40.0 - weight), rel=1e-10)
        assert mode.energy["torque"].dissipation == pytest.approx(1.0, rel=1e-10)
        assert set(mode.energy["torque"].parts) == {"control"}


def blade() -> mb.Linearization:
    part = mb.flexible.beam(
        length=1.0,
        elements=6,
        area=1e-4,
        second_moments=(8e-10, 8e-9),
        torsion=1.6e-9,
        young=2.1e11,
        shear=8.1e10,
        density=7850.0,
    )
    modes = mb.flexible.clamped_modes(part, node=0, n_modes=4)
    system = mb.System("blade", gravity=(0, 0, 0))
    body = mb.FlexibleBody("blade", modes, angular_velocity=(0, 0, 5.0), geometric_stiffening=True)
    body.damping_ratios = 0.01
    system.add(body)
    motor = system.add(mb.RevoluteJoint("motor", system.ground, body, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("speed", motor, angle="5*t"))
    return mb.linearize(system, mb.steady(system, rate=5.0))


CASES = {
    "bicycle": lambda: mb.linearize(mb.examples.whipple_bicycle(speed=4.6)),
    "governor": lambda: _steady(mb.examples.watt_governor()),
    "disk": lambda: _steady(mb.examples.rolling_disk()),
    "suspension": lambda: _at_rest(mb.examples.car_suspension()),
    "pendulum": lambda: _at_rest(mb.examples.flexible_pendulum()),
    "magnet": with_magnet,
    "controller": with_controller,
    "state feedback": lambda: with_controllers(False),
    "lead": lambda: with_controllers(True),
    "blade": blade,
}


def _steady(system: mb.System) -> mb.Linearization:
    return mb.linearize(system, mb.steady(system))


def _at_rest(system: mb.System) -> mb.Linearization:
    return mb.linearize(system, mb.equilibrium(system))


@pytest.mark.parametrize("name", CASES)
def test_energy_of_a_mode_changes_by_what_its_elements_dissipate(name):
    lin = CASES[name]()
    balanced = 0
    for mode in lin.modes:
        if not mode.ignorable:
            assert unbalanced(mode) < 1e-9
            balanced += 1
    assert balanced >= 2


@pytest.mark.sample(10)
@pytest.mark.parametrize("number", range(40))
def test_energies_of_random_spinning_systems(number):
    found = random_spinning.case(7, number)
    lin = mb.linearize(random_spinning.built(found, number), frame=found.frame)
    for mode in lin.modes:
        if not mode.ignorable and abs(mode.eigenvalue) > 1e-3 and mode.condition < 1e4:
            assert unbalanced(mode) < 1e-8
        for kind in ("kinetic", "potential", "dissipation"):
            total = sum(kinds(mode, kind).values())
            assert np.isnan(total) or total == pytest.approx(1.0, abs=1e-6)


# --- joints, other linearizations, what goes wrong --------------------------------------------------------------------


def test_joint_coordinates_of_a_mode_are_differences_of_its_turns():
    lin = _at_rest(mb.examples.double_inverted_pendulum())
    joints = [joint for joint in lin.system.joints if isinstance(joint, mb.RevoluteJoint)]
    assert joints
    for mode in lin.modes:
        for joint in joints:
            turns = [mode.shape[b.name].rotation if b.name in mode.shape else 0 for b in (joint.body_i, joint.body_j)]
            relative = complex((turns[1] - turns[0]) @ Z)
            assert abs(mode.joints[f"{joint.name}.angle"]) == pytest.approx(abs(relative), abs=1e-10)


def test_mac_of_two_masses_is_the_cosine_of_their_shapes():
    """Two equal masses between walls; the middle spring gets stiffer on one side by e."""

    def pair(left: float) -> tuple[mb.Linearization, np.ndarray]:
        system = mb.System("pair", gravity=(0, 0, 0))
        bodies = [system.ground]
        for k in (1, 2):
            body = system.add(mb.PointMass(f"mass {k}", mass=1.0, position=(k, 0, 0)))
            system.add(mb.PointOnLineJoint(f"rail {k}", system.ground, body, at=(k, 0, 0), axis=X))
            bodies.append(body)
        bodies.append(system.ground)
        for k, stiffness in enumerate((left, 10.0, 100.0)):
            spring = mb.SpringDamper(f"s{k}", bodies[k], bodies[k + 1], at_i=(k, 0, 0), at_j=(k + 1, 0, 0))
            spring.update(stiffness=stiffness, damping=0.0, free_length=1.0)
            system.add(spring)
        return mb.linearize(system), np.linalg.eigh([[left + 10.0, -10.0], [-10.0, 110.0]])[1]

    (first, a), (second, b) = pair(100.0), pair(115.0)
    order = [np.argsort([mode.frequency for mode in lin.modes]) for lin in (first, second)]
    found = first.mac(second)[np.ix_(order[0], order[1])]
    np.testing.assert_allclose(found, np.repeat(np.repeat((a.T @ b) ** 2, 2, axis=0), 2, axis=1), atol=1e-12)
    with pytest.raises(mb.ModelError, match="same bodies"):
        first.mac(mb.linearize(chain(False)))


def test_energies_of_some_modes_from_sparse_matrices(monkeypatch):
    from mbframe.analysis.linear import linearize as module

    system = mb.examples.mass_spring_damper_chain(6)
    whole = mb.linearize(system)
    monkeypatch.setattr(module, "DENSE", 10)
    some = mb.linearize(system, n_modes=4)
    assert not isinstance(some.stiffness, np.ndarray)
    for mode in some.modes:
        twin = min(whole.modes, key=lambda other: abs(other.eigenvalue - mode.eigenvalue))
        for name, share in mode.energy.items():
            assert share.potential == pytest.approx(twin.energy[name].potential, abs=1e-8)
            assert share.dissipation == pytest.approx(twin.energy[name].dissipation, abs=1e-8)
        assert some.mac(some).shape == (len(some.modes), len(some.modes))


def test_a_system_that_was_changed_is_told():
    system = chain(False)
    lin = mb.linearize(system)
    system["spring 1"].stiffness = 80.0
    with pytest.raises(mb.AnalysisError, match="changed after it was linearized"):
        lin.modes[0].energy["spring 1"]


def test_names_that_are_not_there():
    mode = mb.linearize(chain(False)).modes[0]
    with pytest.raises(mb.ModelError, match="did you mean 'spring 1'"):
        mode.energy["sprin 1"]
    assert "sprin 1" not in mode.energy
    assert len(mode.energy) == 3 + 3 + 8
    assert "spring" in repr(mode.energy)
