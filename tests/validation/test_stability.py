"""Root loci, critical values, stability maps and sensitivities against closed forms and published values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.examples.cart_pendulum import POLE_LENGTH, POLE_MASS
from mbframe.examples.rolling_disk import RADIUS
from mbframe.state import Motion

Array = NDArray[np.float64]
Y = (0.0, 1.0, 0.0)
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837  # m/s, [Meijaard2007]
HINGE_STIFFNESS = POLE_MASS * 9.81 * POLE_LENGTH / 2  # N m/rad: what holds the pole upright


def oscillator(stiffness: float = 100.0, damping: float = 0.0, mass: float = 1.0) -> mb.System:
    return mb.examples.mass_spring_damper_chain(n=1, mass=mass, stiffness=stiffness, damping=damping)


def oscillator_roots(stiffness: float, damping: float, mass: float = 1.0) -> Array:
    return np.roots([mass, damping, stiffness])


def cart_with_spring(stiffness: float, damping: float = 0.0) -> mb.System:
    """The inverted pendulum on a cart, held upright by a spring in its hinge."""
    system = mb.examples.cart_pendulum()
    spring = mb.TorsionalSpringDamper("spring", system["cart"], system["pole"], at=(0, 0, 0), axis=Y)
    spring.update(stiffness=stiffness, damping=damping)
    system.add(spring)
    return system


def excited(negative: float) -> mb.System:
    """m x'' + (c - p) x' + k x = 0 with m = 2, c = 0.5, k = 50: Hopf at p = c with the frequency sqrt(k/m) = 5."""
    system = oscillator(50.0, 0.5, 2.0)
    system["spring 1"].damping_force = f"{-negative!r}*v"
    return system


# Ziegler's column: two rigid links of length 1, masses at their ends, springs in the hinges, and a force at the tip
# that follows the upper link. Moments of inertia of the end masses are included.
MASSES, TURNING, SPRING = (2.0, 1.0), 0.01, 3.0
ZIEGLER_M = np.array([[sum(MASSES) + TURNING, MASSES[1]], [MASSES[1], MASSES[1] + TURNING]])
ZIEGLER_K = SPRING * np.array([[2.0, -1.0], [-1.0, 1.0]])
ZIEGLER_D = ZIEGLER_K / SPRING
FOLLOWER = np.array([[-1.0, 1.0], [0.0, 0.0]])


def ziegler(force: float, damping: float = 0.0) -> mb.System:
    system = mb.System("Ziegler's column", gravity=(0, 0, 0))
    below = system.ground
    for k, mass in enumerate(MASSES):
        link = mb.RigidBody(f"link {k}", mass=mass, inertia=3 * (TURNING,), position=(0, 0, k + 1.0))
        system.add(link)
        system.add(mb.RevoluteJoint(f"hinge {k}", below, link, at=(0, 0, k), axis=Y))
        spring = mb.TorsionalSpringDamper(f"spring {k}", below, link, at=(0, 0, k), axis=Y)
        spring.update(stiffness=SPRING, damping=damping)
        system.add(spring)
        below = link
    system.add(mb.PointForce("follower", below, at=(0, 0, 2), force=(0, 0, -force), axes="body"))
    return system


def ziegler_polynomial(force: float, damping: float = 0.0) -> Array:
    """Coefficients of det(M s^2 + damping D s + K + force F), highest power first."""
    (a, b), (c, d) = (
        [
            np.array([ZIEGLER_M[i, j], damping * ZIEGLER_D[i, j], ZIEGLER_K[i, j] + force * FOLLOWER[i, j]])
            for j in (0, 1)
        ]
        for i in (0, 1)
    )
    return np.polysub(np.polymul(a, d), np.polymul(b, c))


# --- branches ---------------------------------------------------------------------------------------------------------


def test_root_locus_of_an_oscillator() -> None:
    """From an oscillating pair to two real roots at c = 2 sqrt(k m) = 20."""
    values = np.linspace(0.0, 33.0, 12)
    locus = mb.root_locus(lambda c: oscillator(damping=c), values)
    assert locus.eigenvalues.shape == (12, 2)
    for damping, roots in zip(values, locus.eigenvalues, strict=True):
        assert np.sort_complex(roots) == pytest.approx(np.sort_complex(oscillator_roots(100.0, damping)), abs=1e-9)
    assert locus.stability == ["marginal"] + 11 * ["asymptotic"]
    assert locus.stable.all()
    assert not locus.failures


def two_oscillators(stiffness: float) -> mb.System:
    """Side by side and independent: one has the frequency 10 rad/s, the other sqrt(stiffness)."""
    system = mb.System("two", gravity=(0, 0, 0))
    for name, k, y in (("fixed", 100.0, 0.0), ("tuned", stiffness, 1.0)):
        body = system.add(mb.RigidBody(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=(1, y, 0)))
        system.add(mb.TranslationalJoint(f"{name} rail", system.ground, body, at=(1, y, 0), axis=(1, 0, 0)))
        spring = mb.SpringDamper(f"{name} spring", system.ground, body, at_i=(0, y, 0), at_j=(1, y, 0), free_length=1.0)
        spring.update(stiffness=k, damping=0.2)
        system.add(spring)
    return system


def test_branches_keep_their_identity_where_they_cross() -> None:
    values = np.linspace(60.0, 145.0, 18)
    locus = mb.root_locus(two_oscillators, values)
    assert locus.eigenvalues.shape == (18, 4)
    spread = np.abs(locus.eigenvalues - locus.eigenvalues[0]).max(axis=0)
    assert sorted(spread)[:2] == pytest.approx([0.0, 0.0], abs=1e-9)
    moving = locus.eigenvalues[:, (spread > 1.0) & (locus.eigenvalues[0].imag > 0)][:, 0]
    assert moving == pytest.approx(-0.1 + 1j * np.sqrt(values - 0.01), abs=1e-9)
    assert np.nanmin(locus.similarity) > 0.9


def test_failed_points_leave_gaps_and_branches_go_on() -> None:
    def build(stiffness: float) -> mb.System:
        if stiffness in (25.0, 49.0):
            raise ZeroDivisionError("on purpose")
        return oscillator(stiffness)

    values = np.array([25.0, 36.0, 49.0, 64.0, 81.0])
    locus = mb.root_locus(build, values)
    assert [failure.value for failure in locus.failures] == [25.0, 49.0]
    assert np.isnan(locus.eigenvalues[[0, 2]]).all()
    assert locus.stability[2] == ""
    upper = locus.eigenvalues[:, np.nanmax(locus.eigenvalues.imag, axis=0) > 0][:, 0]
    assert upper[[1, 3, 4]] == pytest.approx(1j * np.array([6.0, 8.0, 9.0]), abs=1e-9)


def test_bicycle_branches_and_ignorable_roots() -> None:
    locus = mb.root_locus(mb.examples.whipple_bicycle, np.linspace(0.0, 10.0, 41))
    assert locus.eigenvalues.shape == (41, 4)
    assert np.isfinite(locus.eigenvalues).all()
    # The castering and capsize branches stay real; the other two meet and become the weave.
    real = np.abs(locus.eigenvalues.imag).max(axis=0) == 0.0
    assert real.sum() == 2
    assert locus.eigenvalues[-1, real].real.min() < -20.0
    assert all(sum(len(group.roots) for group in groups) == 6 for groups in locus.ignorable)
    inside = (locus.values > WEAVE) & (locus.values < CAPSIZE)
    assert (locus.stable == inside).all()


def test_states_of_your_own() -> None:
    """A linearization instead of a system: the governor is steady in a turning frame only."""

    def build(rate: float) -> mb.Linearization:
        return mb.linearize(mb.examples.watt_governor(rate), frame=mb.TurningFrame(rate=rate))

    assert mb.root_locus(build, [5.0, 6.0]).stability == ["marginal", "marginal"]


# --- critical values --------------------------------------------------------------------------------------------------


def test_weave_and_capsize_speed_of_the_bicycle() -> None:
    weave, capsize = mb.critical_values(mb.examples.whipple_bicycle, (0.0, 10.0), points=21)
    assert weave.value == pytest.approx(WEAVE, abs=1e-9)
    assert capsize.value == pytest.approx(CAPSIZE, abs=1e-9)
    assert (weave.kind, weave.direction) == ("Hopf", "becomes stable")
    assert (capsize.kind, capsize.direction) == ("divergence", "becomes unstable")
    assert weave.frequency == pytest.approx(weave.eigenvalue.imag / (2 * np.pi))
    assert weave.frequency > 0.5
    assert capsize.eigenvalue == 0
    assert "Hopf with" in str(weave)


@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_divergence_of_an_inverted_pendulum_on_a_cart(damping: float) -> None:
    """Without damping two roots meet in zero and leave along the axes; with it one passes through zero."""
    (critical,) = mb.critical_values(lambda k: cart_with_spring(k, damping), (1.0, 6.0), points=6)
    assert critical.value == pytest.approx(HINGE_STIFFNESS, rel=1e-10)
    assert (critical.kind, critical.direction) == ("divergence", "becomes stable")
    assert critical.frequency == 0.0


def test_critical_speed_of_the_upright_disk() -> None:
    """sqrt(g r/3); nothing is damped, and besides the two roots that meet there is that of the speed."""
    (critical,) = mb.critical_values(lambda v: mb.examples.rolling_disk(v, lean=0.0), (0.5, 3.0), points=6)
    assert critical.value == pytest.approx(np.sqrt(9.81 * RADIUS / 3.0), abs=1e-10)
    assert (critical.kind, critical.direction) == ("divergence", "becomes stable")


def test_hopf_by_negative_damping() -> None:
    (critical,) = mb.critical_values(excited, (0.0, 0.9), points=4)
    assert critical.value == pytest.approx(0.5, abs=1e-10)
    assert (critical.kind, critical.direction) == ("Hopf", "becomes unstable")
    assert critical.eigenvalue == pytest.approx(5j, abs=1e-9)


def test_a_critical_value_on_a_point_of_the_search_is_found_once() -> None:
    (critical,) = mb.critical_values(excited, (0.0, 1.0), points=3)
    assert critical.value == pytest.approx(0.5, abs=1e-10)


def test_a_root_that_comes_and_goes_between_two_points_is_found() -> None:
    """Damping 10 (x - 0.5)^2 - 0.1 is negative between 0.4 and 0.6 alone, where no point of the first search is."""
    found = mb.critical_values(lambda x: excited(0.5 - 10.0 * ((x - 0.5) ** 2 - 0.01)), (0.0, 0.95), points=4)
    assert [critical.value for critical in found] == [pytest.approx(0.4, abs=1e-9), pytest.approx(0.6, abs=1e-9)]
    assert [critical.direction for critical in found] == ["becomes unstable", "becomes stable"]


def test_roots_that_may_have_come_and_gone_unseen_are_told() -> None:
    """Damping |x - 0.52| + 1e-7 bends so sharply that no step resolves whether it has been negative."""
    with pytest.warns(UserWarning, match="may pass the axis and come back between 0.5.* and 0.52"):
        assert mb.critical_values(lambda x: excited(0.5 - abs(x - 0.52) - 1e-7), (0.0, 0.95), points=3) == []


def test_roots_that_pass_together_are_told() -> None:
    """Two alike bodies on springs, undamped: two roots leave zero at once, where one critical value is found."""

    def twins(stiffness: float) -> mb.System:
        system = mb.System("twins", gravity=(0, 0, 0))
        for y in (0.0, 1.0):
            body = system.add(mb.RigidBody(f"{y}", mass=1.0, inertia=(1, 1, 1), position=(1, y, 0)))
            system.add(mb.TranslationalJoint(f"rail {y}", system.ground, body, at=(1, y, 0), axis=(1, 0, 0)))
            spring = mb.SpringDamper(f"spring {y}", system.ground, body, at_i=(0, y, 0), at_j=(1, y, 0))
            spring.update(force=f"{stiffness}*x")
            system.add(spring)
        return system

    with pytest.warns(UserWarning, match="growing roots changes by -2, and by -1 at the values found there"):
        (critical,) = mb.critical_values(twins, (-1.0, 1.5), points=2)
    assert critical.value == pytest.approx(0.0, abs=1e-6)


def test_branches_that_cannot_be_followed_are_told() -> None:
    near, far = (mb.root_locus(two_oscillators, np.linspace(50.0, 150.0, n)) for n in (41, 3))
    assert near.warnings == []
    assert all("give values that are closer" in words for words in far.warnings)


def test_flutter_of_the_undamped_column() -> None:
    """Two frequencies meet where a2^2 = 4 a0 a4 in a0 s^4 + a2 s^2 + a4."""
    a0 = ziegler_polynomial(0.0)[0]
    a2, a4 = (np.polyfit([0.0, 1.0], [ziegler_polynomial(p)[k] for p in (0.0, 1.0)], 1) for k in (2, 4))
    flutter = np.roots(np.polysub(np.polymul(a2, a2), 4.0 * a0 * a4)).min()
    # Without moments of inertia it would be (7/2 - sqrt 2) k/l, [Ziegler1952].
    assert flutter == pytest.approx((3.5 - np.sqrt(2.0)) * SPRING, rel=0.02)
    (critical,) = mb.critical_values(ziegler, (0.0, 0.5 * (flutter + 12.0)), points=7)
    assert critical.value == pytest.approx(flutter, abs=1e-10)
    assert (critical.kind, critical.direction) == ("Hopf", "becomes unstable")
    frequency = np.sqrt(np.polyval(a2, flutter) / (2.0 * a0))
    assert critical.eigenvalue.imag == pytest.approx(frequency, rel=1e-5)


def beside_a_stiff_one(build: Callable[[float], mb.System]) -> Callable[[float], mb.System]:
    """The same systems, each with a body on a stiff spring that has nothing to do with them."""

    def both(value: float) -> mb.System:
        system = build(value)
        extra = system.add(mb.RigidBody("extra", mass=1.0, inertia=(1, 1, 1), position=(0, 9, 0)))
        system.add(mb.TranslationalJoint("rail of extra", system.ground, extra, at=(0, 9, 0), axis=(1, 0, 0)))
        spring = mb.SpringDamper("stiff", system.ground, extra, at_i=(-1, 9, 0), at_j=(0, 9, 0))
        spring.update(stiffness=1e8, free_length=1.0)
        system.add(spring)
        return system

    return both


def test_critical_values_beside_a_stiff_system_are_as_exact() -> None:
    a0 = ziegler_polynomial(0.0)[0]
    a2, a4 = (np.polyfit([0.0, 1.0], [ziegler_polynomial(p)[k] for p in (0.0, 1.0)], 1) for k in (2, 4))
    flutter = np.roots(np.polysub(np.polymul(a2, a2), 4.0 * a0 * a4)).min()
    (critical,) = mb.critical_values(beside_a_stiff_one(ziegler), (0.0, 0.5 * (flutter + 12.0)), points=7)
    assert critical.value == pytest.approx(flutter, rel=1e-12)
    (critical,) = mb.critical_values(beside_a_stiff_one(cart_with_spring), (1.0, 6.0), points=6)
    assert critical.value == pytest.approx(HINGE_STIFFNESS, rel=1e-12)
    weave, capsize = mb.critical_values(beside_a_stiff_one(mb.examples.whipple_bicycle), (4.0, 7.0), points=4)
    assert (weave.value, capsize.value) == (pytest.approx(WEAVE, abs=1e-10), pytest.approx(CAPSIZE, abs=1e-10))


def test_damping_lowers_the_flutter_load() -> None:
    """Where Hurwitz's determinant a1 a2 a3 - a0 a3^2 - a1^2 a4 vanishes."""

    def hurwitz(force: float) -> float:
        a0, a1, a2, a3, a4 = ziegler_polynomial(force, 0.05)
        return a1 * a2 * a3 - a0 * a3**2 - a1**2 * a4

    samples = np.array([0.0, 1.0, 2.0])
    roots = np.roots(np.polyfit(samples, [hurwitz(p) for p in samples], 2))
    expected = min(root.real for root in roots if abs(root.imag) < 1e-9 and root.real > 0.0)
    (critical,) = mb.critical_values(lambda p: ziegler(p, 0.05), (0.0, 6.0), points=7)
    assert critical.value == pytest.approx(expected, rel=1e-10)
    _, a1, _, a3, _ = ziegler_polynomial(expected, 0.05)
    assert critical.eigenvalue.imag == pytest.approx(np.sqrt(a3 / a1), rel=1e-8)


# --- maps, sensitivities, disturbances --------------------------------------------------------------------------------


def test_stability_map() -> None:
    stiffnesses, dampings = np.array([1.0, 2.5, 3.5, 6.0]), np.array([-1.0, 0.0, 0.3])
    found = mb.stability_map(cart_with_spring, stiffnesses, dampings)
    assert [failure.value for failure in found.failures] == [(k, -1.0) for k in stiffnesses]
    assert np.isnan(found.growth[:, 0]).all()
    upright = stiffnesses > HINGE_STIFFNESS
    for column in (1, 2):
        assert (found.stable[:, column] == upright).all()
    assert found.unstable[:, 1].tolist() == [1, 1, 0, 0]
    assert (found.growth[upright, 1] == 0.0).all()
    assert (found.growth[upright, 2] < 0.0).all()


@pytest.mark.parametrize("damping", [3.0, 0.0])
def test_sensitivities_of_an_oscillator(damping: float) -> None:
    """From m s^2 + c s + k = 0: ds/dm = -s^2/(2 m s + c), ds/dc = -s/(2 m s + c), ds/dk = -1/(2 m s + c)."""
    system = oscillator(100.0, damping, 2.0)
    for element, parameter, power in (("mass 1", "mass", 2), ("spring 1", "damping", 1), ("spring 1", "stiffness", 0)):
        found = mb.sensitivity(system, element, parameter)
        s = found.eigenvalues
        assert found.derivatives == pytest.approx(-(s**power) / (4.0 * s + damping), rel=1e-8, abs=1e-12)
    assert system["spring 1"].stiffness == 100.0


def test_sensitivities_of_the_bicycle() -> None:
    """Against differences of the roots, and by the gravity, which scales the roots with the speed."""
    build = mb.examples.whipple_bicycle
    found = mb.sensitivity(build(5.0), "frame", "mass")
    assert found.name == "frame.mass"
    ends = [mb.linearize(build(5.0, {"frame_mass": 85.0 + h})).eigenvalues for h in (-0.02, 0.02)]
    assert found.derivatives == pytest.approx((ends[1] - ends[0]) / 0.04, rel=1e-6, abs=1e-9)
    assert found.relative == pytest.approx(85.0 * found.derivatives)
    inertia = mb.sensitivity(build(5.0), "frame", "inertia").derivatives
    ends = [mb.linearize(build(5.0, {"frame_Ixz": 2.4 + h})).eigenvalues for h in (-2e-3, 2e-3)]
    # The paper's z points down: its Ixz is minus that of the model.
    assert -inertia[:, 0, 2] == pytest.approx((ends[1] - ends[0]) / 4e-3, rel=1e-5, abs=1e-8)
    assert np.array_equal(inertia[:, 0, 2], inertia[:, 2, 0])
    assert np.abs(inertia[:, 0, 1]).max() < 1e-8


def test_sensitivity_to_gravity_and_of_a_state_that_depends_on_it() -> None:
    """A pendulum swings with sqrt(g/l)."""
    system = mb.System("pendulum")
    ball = system.add(mb.RigidBody("ball", mass=1.0, inertia=(0.02, 0.02, 0.02), position=(0, 0, -2)))
    system.add(mb.RevoluteJoint("hinge", system.ground, ball, at=(0, 0, 0), axis=Y))
    frequency = np.sqrt(9.81 * 2.0 / 4.02)

    def hanging(system: mb.System) -> mb.State:
        x, _, z = system.gravity
        turn = Rotation.from_rotvec([0.0, np.arctan2(-x, -z), 0.0]).as_matrix()
        return mb.State(0.0, {"ball": Motion(turn @ [0.0, 0.0, -2.0], turn, np.zeros(3), np.zeros(3))})

    found = mb.sensitivity(system, system, "gravity", state=hanging)
    upper = found.derivatives[found.eigenvalues.imag > 0][0]
    assert found.eigenvalues.imag.max() == pytest.approx(frequency)
    assert upper == pytest.approx(np.array([0.0, 0.0, 0.5j * frequency / -9.81]), rel=1e-8, abs=1e-8)
    with pytest.raises(mb.AnalysisError, match="neither an equilibrium"):
        mb.sensitivity(system, system, "gravity")


def test_disturbed_motions_grow_as_the_roots_say() -> None:
    bicycle = mb.examples.whipple_bicycle(speed=3.0)
    weave = mb.perturb_and_simulate(bicycle)
    assert weave.eigenvalue.real > 1.0
    assert weave.error < 1e-5
    casters = min(mb.linearize(bicycle).modes, key=lambda mode: mode.eigenvalue.real)
    decaying = mb.perturb_and_simulate(bicycle, casters, t_end=0.1)
    assert decaying.measured == pytest.approx(casters.eigenvalue, rel=1e-4)


def test_disturbed_steady_turn() -> None:
    """In a turning frame: the balls of a governor swing in and out."""
    governor = mb.examples.watt_governor(6.0)
    found = mb.perturb_and_simulate(governor, frame=mb.TurningFrame(rate=6.0))
    assert found.eigenvalue.imag > 1.0
    assert found.error < 1e-5
    found.plot()


@pytest.mark.parametrize("damping", [0.3, 0.0])
@pytest.mark.parametrize("tolerance", [1e-9, 1e-12])
def test_a_critical_value_that_is_met_to_the_last_digit(tolerance: float, damping: float) -> None:
    """A ball on a pole with a torsion spring, k = m g l: there nothing resists, as if its swing were a symmetry."""
    mass, length = 1.3, 0.7

    def build(stiffness: float) -> mb.System:
        system = mb.System("pole", gravity=(0, 0, -9.81))
        ball = system.add(mb.RigidBody("ball", mass=mass, inertia=(0.1, 0.1, 0.1), position=(0, 0, length)))
        hinge = {"at": (0, 0, 0), "axis": (0, 1, 0)}
        system.add(mb.RevoluteJoint("hinge", system.ground, ball, **hinge))
        spring = mb.TorsionalSpringDamper("spring", system.ground, ball, stiffness=stiffness, damping=damping, **hinge)
        system.add(spring)
        return system

    (found,) = mb.critical_values(build, (1.0, 20.0), tolerance=tolerance)
    assert found.kind == "divergence"
    assert found.value == pytest.approx(mass * 9.81 * length, abs=20.0 * tolerance)
