"""Linearizations of flexible bodies against the motion itself: small disturbances of a state, simulated.

A mode says that a disturbance s grows or turns as Re(s exp(λ t)). Half the difference of two motions, disturbed to both
sides, is that to third order in the disturbance, whatever the code of the tangents does.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb

LENGTH, AREA, MOMENT, YOUNG, DENSITY = 1.0, 1e-4, 8e-10, 2.1e11, 7850.0
RIGIDITY, LINE = YOUNG * MOMENT, DENSITY * AREA
UNIT = np.sqrt(RIGIDITY / LINE) / LENGTH**2
EULER = np.pi**2 * RIGIDITY / LENGTH**2
X, Y, Z = np.eye(3)
PART = mb.flexible.beam(
    length=LENGTH,
    elements=4,
    area=AREA,
    second_moments=(MOMENT, 1.3 * MOMENT),
    torsion=2 * MOMENT,
    young=YOUNG,
    shear=8.1e10,
    density=DENSITY,
)
MODES = mb.flexible.clamped_modes(PART, node=0, n_modes=4)
EXACT = mb.DormandPrince(order=8, rtol=1e-12, atol=1e-14)


def loaded(stiffening: bool, frame: str) -> mb.System:
    """A damped cantilever, pressed and bent by a force at its end: to half of buckling, or to a twentieth of it."""
    system = mb.System("column", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", MODES, frame=frame, geometric_stiffening=stiffening, damping_ratios=0.01))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    share = 0.5 if stiffening else 0.05
    force = -share * EULER / 4 * X + 0.05 * RIGIDITY / LENGTH**2 * Y
    system.add(mb.PointForce("load", rod, at=LENGTH * X, force=tuple(force)))
    return system


def hinged(stiffening: bool, frame: str) -> mb.System:
    """A bar that hangs on a hinge, with a bob on another at its end; heavy enough to be stretched by its weight."""
    heavy = (5.0 if stiffening else 0.3) * RIGIDITY / LINE / LENGTH**3
    system = mb.System("pendulum", gravity=heavy * X)
    rod = system.add(mb.FlexibleBody("rod", MODES, frame=frame, geometric_stiffening=stiffening))
    bob = system.add(mb.RigidBody("bob", mass=0.1, inertia=(1e-3, 2e-3, 2e-3), position=(LENGTH + 0.1) * X))
    system.add(mb.RevoluteJoint("top", system.ground, rod, at=(0, 0, 0), axis=Y))
    system.add(mb.UniversalJoint("end", rod, bob, at=LENGTH * X, axis_i=Y, axis_j=Z))
    return system


def turning(stiffening: bool, frame: str) -> mb.System:
    """A blade on a heavy hub, clamped beside the axis of rotation."""
    rate, hub = (3.0 if stiffening else 0.7) * UNIT, 0.4 * LENGTH * X
    system = mb.System("blade", gravity=(0, 0, 0))
    spin = {"angular_velocity": rate * Z}
    shaft = system.add(mb.RigidBody("shaft", mass=10.0, inertia=(5.0, 6.0, 8.0), **spin))
    blade = mb.FlexibleBody(
        "rod",
        MODES,
        frame=frame,
        geometric_stiffening=stiffening,
        position=hub,
        velocity=np.cross(rate * Z, hub),
        **spin,
    )
    system.add(mb.RevoluteJoint("bearing", system.ground, shaft, at=(0, 0, 0), axis=Z))
    system.add(mb.FixedJoint("clamp", shaft, system.add(blade), at=hub))
    return system


@pytest.mark.parametrize("frame", ["node", "mean"])
@pytest.mark.parametrize("stiffening", [True, False], ids=["stiffened", "linear"])
@pytest.mark.parametrize("build", [loaded, hinged, turning])
def test_disturbances_grow_as_the_modes_say(build, stiffening: bool, frame: str) -> None:
    system = build(stiffening, frame)
    axes = None
    if build is turning:
        rate = float(system["shaft"].angular_velocity[2])
        axes = mb.TurningFrame(axis=Z, rate=rate)
        state = mb.steady(system, axis=Z, rate=rate)
    else:
        state = mb.equilibrium(system)
    lin = mb.linearize(system, state, frame=axes)
    bending = [m for m in lin.modes if m.eigenvalue.imag > 0.1 * UNIT and np.abs(m.shape["rod"].modal).max() > 0.01]
    modes = sorted(bending, key=lambda m: m.eigenvalue.imag)[:3]
    assert len(modes) == 3
    for mode in modes:
        t = np.array([0.3, 0.7]) * 2 * np.pi / mode.eigenvalue.imag
        size = 1e-4
        runs = [mb.simulate(system, t[-1], t_eval=t, initial=mode.state(a), integrator=EXACT) for a in (size, -size)]
        found = (runs[0].modal("rod") - runs[1].modal("rod")) / (2.0 * size)
        expected = np.real(mode.shape["rod"].modal * np.exp(mode.eigenvalue * t)[:, None])
        scale = np.abs(mode.shape["rod"].modal).max()
        assert found == pytest.approx(expected, abs=2e-5 * scale)


def clamped(length: float, frame: str, load: str) -> mb.System:
    """A steel rod that is clamped at one end, of any size; at the other a block, or a spring that is stretched."""
    thick = 0.02 * length
    component = mb.flexible.beam(
        length=length,
        elements=8,
        area=thick**2,
        second_moments=(thick**4 / 12, thick**4 / 12),
        torsion=thick**4 / 6,
        young=2.1e11,
        shear=8.1e10,
        density=7850.0,
    )
    system = mb.System("clamped", gravity=(0, 0, -1e-6 / length if load == "spring" else 0.0))
    modes = mb.flexible.craig_bampton(component, interfaces=[0], n_modes=6)
    rod = system.add(mb.FlexibleBody("rod", modes, frame=frame))
    system.add(mb.FixedJoint("clamp", system.ground, rod, at=(0, 0, 0)))
    end = (length, 0, 0)
    if load == "spring":
        spring = mb.SpringDamper("spring", system.ground, rod, at_i=(length, 0, length), at_j=end)
        spring.update(stiffness=1e4 * length, free_length=0.99 * length)
        system.add(spring)
    else:
        side = 0.1 * length
        block = mb.RigidBody("block", mass=7850 * side**3, inertia=(7850 * side**5 / 6,) * 3, position=end)
        system.add(mb.FixedJoint("weld", rod, system.add(block), at=end))
    return system


@pytest.mark.parametrize("frame", ["node", "mean"])
@pytest.mark.parametrize("load", ["spring", "block"])
@pytest.mark.filterwarnings("ignore:the shapes of FlexibleBody 'rod'")  # without an interface where the block is welded
def test_rods_of_all_sizes_vibrate_alike(load: str, frame: str) -> None:
    """Steel of a millimetre and of a kilometre: frequencies times lengths are the same.

    Masses, stiffnesses and shapes of deformation differ by up to 18 powers of ten. None of it hides a constraint, and
    what rounding leaves of the loads on a thin spring is no acceleration, however small gravity is.
    """
    found = []
    for length in (1.0, 1e-3, 1e-2, 1e3):
        system = clamped(length, frame, load)
        lin = mb.linearize(system, mb.equilibrium(system))
        assert lin.unstable_count == 0
        found.append(np.sort(lin.eigenvalues.imag) * length)
    for scaled in found[1:]:
        assert scaled == pytest.approx(found[0], rel=2e-5, abs=1e-9 * np.abs(found[0]).max())


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -1), (1, 0, 0)])
@pytest.mark.parametrize(("stiffening", "frame"), [(True, None), (False, "mean"), (False, "node")])
@pytest.mark.filterwarnings("ignore:FlexibleBody 'column'")
def test_a_model_that_stands_in_one_point_has_the_roots_of_its_state_matrix(direction, stiffening, frame) -> None:
    """The origin of the only body and its only joint are one point but for rounding, which is no size of the model."""
    nodes = np.linspace(0.0, 3.0, 17)[:, None] * np.array(direction, float)
    part = mb.flexible.frame(
        nodes,
        [(k, k + 1) for k in range(16)],
        area=1e-4,
        second_moments=(1e-8 / 12, 1.7e-8 / 12),
        torsion=1.4e-9,
        young=2.1e11,
        shear=8.1e10,
        density=7850.0,
    )
    system = mb.System("column", gravity=(0, 0, -9.81))
    modes = mb.flexible.clamped_modes(part, 0, 16)
    body = system.add(mb.FlexibleBody("column", modes, geometric_stiffening=stiffening, frame=frame))
    system.add(mb.FixedJoint("foot", system.ground, body, at=(0, 0, 0)))
    lin = mb.linearize(system, mb.equilibrium(system))
    expected = np.linalg.eigvals(lin.A)
    gaps = np.abs(lin.eigenvalues[:, None] - expected).min(axis=1)
    assert gaps.max() < 1e-6 * np.abs(expected).max()
    assert np.abs(lin.eigenvalues).min() == pytest.approx(np.abs(expected).min(), rel=1e-6)
    assert lin.residuals.max() < 1e-12
