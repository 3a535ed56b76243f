"""Geometric stiffening: rotating beams, columns, heavy beams, foreshortening, energy and momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import mbframe as mb

LENGTH, AREA, MOMENT, YOUNG, DENSITY = 1.0, 1e-4, 8e-10, 2.1e11, 7850.0
RIGIDITY, LINE = YOUNG * MOMENT, DENSITY * AREA
UNIT = np.sqrt(RIGIDITY / LINE) / LENGTH**2
X, Y, Z = np.eye(3)


def part(elements: int, **changes: Any) -> mb.flexible.Component:
    values = {"area": AREA, "second_moments": (MOMENT, MOMENT), "torsion": 2 * MOMENT, "density": DENSITY}
    return mb.flexible.beam(
        **({"length": LENGTH, "elements": elements, "young": YOUNG, "shear": 8.1e10} | values | changes)
    )


# --- an independent solution: Ritz's method with polynomials ----------------------------------------------------------


def ritz(tension: Any) -> np.ndarray:
    """First three frequencies of a clamped-free beam on 0 … 1, E I = rho A = 1, with a tension N(x)."""
    places, weights = np.polynomial.legendre.leggauss(60)
    x, w = (places + 1) / 2, weights / 2
    base = np.polynomial.Polynomial([0.0, 0.0, 1.0])
    legendre = np.polynomial.legendre.Legendre
    shapes = [base * legendre.basis(k, domain=[0, 1]).convert(kind=np.polynomial.Polynomial) for k in range(14)]
    v, slope, curve = (np.array([f.deriv(n)(x) if n else f(x) for f in shapes]) for n in range(3))
    stiffness = (curve * w) @ curve.T + (slope * w * tension(x)) @ slope.T
    return np.sqrt(eigh(stiffness, (v * w) @ v.T, eigvals_only=True)[:3])


def blade(
    spin: float, hub: float, node: int, frame: str, elements: int = 32, n_modes: int = 20
) -> tuple[mb.System, float]:
    """A blade on a hub of a radius, clamped at its first or last node; spin and hub in natural units."""
    rate = spin * UNIT
    modes = mb.flexible.craig_bampton(part(elements), interfaces=[0, elements], n_modes=n_modes)
    system = mb.System("blade", gravity=(0, 0, 0))
    shaft = system.add(mb.RigidBody("shaft", mass=1e3, inertia=(1e6, 1.2e6, 1.5e6), angular_velocity=rate * Z))
    system.add(mb.RevoluteJoint("bearing", system.ground, shaft, at=(0, 0, 0), axis=Z))
    place = (hub + (node > 0)) * LENGTH * X
    body = mb.FlexibleBody(
        "blade",
        modes,
        frame=frame,
        position=place,
        rotation=np.diag([-1.0, -1.0, 1.0]) if node else np.eye(3),
        velocity=np.cross(rate * Z, place),
        angular_velocity=rate * Z,
        geometric_stiffening=True,
    )
    system.add(mb.FixedJoint("clamp", shaft, system.add(body), at=hub * LENGTH * X))
    return system, rate


FEW = [(0, 0, 0, "mean"), (6, 1, 0, "mean"), (12, 0, 1, "mean"), (12, 0.5, 0, "node"), (12, 1, 1, "node")]
GRID = [
    (spin, hub, node, ("node", "mean")[(k + node) % 2])
    for k, spin in enumerate((0, 3, 6, 9, 12))
    for hub in (0, 0.5, 1)
    for node in (0, 1)
]


@pytest.mark.parametrize(
    ("spin", "hub", "node", "frame"),
    FEW + [pytest.param(*case, marks=pytest.mark.full) for case in GRID if case not in FEW],
)
def test_rotating_beams(spin: float, hub: float, node: int, frame: str) -> None:
    """First three frequencies across the plane of rotation and in it, where Omega^2 is taken from the squares."""
    flap = ritz(lambda x: 0.5 * spin**2 * ((1 + hub) ** 2 - (hub + x) ** 2))
    expected = np.sort(np.concatenate([flap, np.sqrt(flap**2 - spin**2)]))
    system, rate = blade(spin, hub, node, frame)
    motion = mb.steady(system, axis=Z, rate=rate)
    roots = mb.linearize(system, motion, frame=mb.TurningFrame(axis=Z, rate=rate)).eigenvalues
    assert np.abs(roots.real).max() < 1e-3 * np.abs(roots).max()
    found = np.sort(roots.imag[roots.imag > 1e-2 * UNIT])[:6] / UNIT
    assert found == pytest.approx(expected, rel=2e-3)


# --- columns ----------------------------------------------------------------------------------------------------------

ENDS = {"clamped-free": 0.25, "pinned": 1.0, "clamped-pinned": 2.045748, "clamped": 4.0}  # times pi^2 E I / L^2


def column(ends: str, pressure: float, elements: int = 20) -> mb.System:
    modes = mb.flexible.craig_bampton(part(elements), interfaces=[0, elements], n_modes=12)
    system = mb.System("column", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", modes, geometric_stiffening=True))
    first = mb.RevoluteJoint if ends == "pinned" else mb.FixedJoint
    system.add(first("foot", system.ground, rod, at=(0, 0, 0), **({"axis": Y} if ends == "pinned" else {})))
    if ends in ("pinned", "clamped-pinned"):
        system.add(mb.PointOnLineJoint("head", system.ground, rod, at=LENGTH * X, axis=X))
    if ends == "clamped":
        system.add(mb.TranslationalJoint("head", system.ground, rod, at=LENGTH * X, axis=X))
    system.add(mb.PointForce("load", rod, at=LENGTH * X, force=-pressure * X))
    return system


def softest(system: mb.System) -> float:
    """Square of the lowest frequency about the straight equilibrium; negative if it buckles."""
    return -float((mb.linearize(system, mb.equilibrium(system)).eigenvalues ** 2).real.max())


@pytest.mark.parametrize("ends", ENDS)
def test_columns_buckle_as_euler_says(ends: str) -> None:
    critical = ENDS[ends] * np.pi**2 * RIGIDITY / LENGTH**2
    found = brentq(lambda f: softest(column(ends, f * critical)), 0.98, 1.02, xtol=1e-5)
    assert found == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("load", [-0.9, -0.5, 1.0, 4.0])
def test_frequency_of_a_pinned_beam_under_tension(load: float) -> None:
    """omega^2 = (pi/L)^4 E I / rho A (1 + P / P_cr), tension positive."""
    critical = np.pi**2 * RIGIDITY / LENGTH**2
    expected = (np.pi / LENGTH) ** 4 * RIGIDITY / LINE * (1 + load)
    assert np.sqrt(softest(column("pinned", -load * critical))) == pytest.approx(np.sqrt(expected), rel=1e-3)


@pytest.mark.parametrize("weight", [-6.0, 5.0, 20.0])
def test_standing_and_hanging_heavy_beams(weight: float) -> None:
    """rho A g L^3 / E I = weight, hanging positive: tension N = weight (1 - x); a standing one buckles at 7.837."""
    modes = mb.flexible.craig_bampton(part(20), interfaces=[0, 20], n_modes=12)
    system = mb.System("heavy", gravity=weight * RIGIDITY / LINE / LENGTH**3 * X)
    rod = system.add(mb.FlexibleBody("rod", modes, geometric_stiffening=True))
    system.add(mb.FixedJoint("clamp", system.ground, rod, at=(0, 0, 0)))
    expected = ritz(lambda x: weight * (1 - x))[0] * UNIT
    assert np.sqrt(softest(system)) == pytest.approx(expected, rel=1e-3)


def test_weight_along_elements_converges_with_their_square() -> None:
    """The critical weight of a standing column, 7.8373 E I / L^3, as `mb.flexible.beam` tells."""

    def softness(elements: int, share: float) -> float:
        modes = mb.flexible.craig_bampton(part(elements), interfaces=[0, elements], n_modes=12)
        system = mb.System("heavy", gravity=-share * 7.83735 * RIGIDITY / LINE / LENGTH**3 * X)
        rod = system.add(mb.FlexibleBody("rod", modes, geometric_stiffening=True))
        system.add(mb.FixedJoint("clamp", system.ground, rod, at=(0, 0, 0)))
        return softest(system)

    errors = {}
    for elements in (6, 12):
        near, nearer = softness(elements, 0.98), softness(elements, 0.99)
        errors[elements] = 0.99 + 0.01 * nearer / (near - nearer) - 1.0
    assert errors[6] == pytest.approx(6.2e-3, rel=0.02)
    assert errors[6] / errors[12] == pytest.approx(4.0, rel=0.05)


# --- foreshortening ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["node", "mean"])
@pytest.mark.parametrize(
    ("load", "inwards", "down", "tolerance"),
    [(0.25, 0.0041178, 0.0827458, 0.015), (0.125, 0.0010386, 0.0415924, 0.004)],
)
def test_tip_of_a_cantilever_moves_inwards(
    frame: str, load: float, inwards: float, down: float, tolerance: float
) -> None:
    """The elastica under a dead load P at its end, P L^2 / E I = load."""
    modes = mb.flexible.craig_bampton(part(10), interfaces=[0, 10], n_modes=4)
    system = mb.System("cantilever", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", modes, frame=frame, geometric_stiffening=True))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    system.add(mb.PointForce("load", rod, at=LENGTH * X, force=-load * RIGIDITY / LENGTH**2 * Z))
    state = mb.equilibrium(system)
    tip = mb.evaluate(system, state).position(rod, local_point=LENGTH * X)[0]
    assert LENGTH - tip[0] == pytest.approx(inwards * LENGTH, rel=tolerance)
    assert -tip[2] == pytest.approx(down * LENGTH, rel=tolerance)
    assert state.position(rod, local_point=LENGTH * X) == pytest.approx(tip, abs=1e-12)


def test_the_error_of_foreshortening_falls_with_the_square_of_the_load() -> None:
    """Beside the elastica, which is not stretched: N = P sin(slope) lengthens the rod by p^2 / 3 I / A L^2 of L."""
    from scipy.integrate import solve_bvp

    modes = mb.flexible.craig_bampton(part(10), interfaces=[0, 10], n_modes=4)
    errors = []
    for load in (0.5, 0.25, 0.125):
        exact = solve_bvp(
            lambda s, y, load=load: np.array([y[1], -load * np.cos(y[0]), 1.0 - np.cos(y[0])]),
            lambda a, b: np.array([a[0], b[1], a[2]]),
            np.linspace(0.0, 1.0, 81),
            np.zeros((3, 81)),
            tol=1e-10,
        ).y[2, -1]
        exact -= load**2 / 3 * MOMENT / AREA / LENGTH**2
        system = mb.System("cantilever", gravity=(0, 0, 0))
        rod = system.add(mb.FlexibleBody("rod", modes, geometric_stiffening=True))
        system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
        system.add(mb.PointForce("load", rod, at=LENGTH * X, force=-load * RIGIDITY / LENGTH**2 * Z))
        tip = mb.equilibrium(system).position(rod, local_point=LENGTH * X)
        errors.append((1.0 - tip[0] / LENGTH) / exact - 1.0)
    assert abs(errors[0]) < 4e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


# --- twist and bending ------------------------------------------------------------------------------------------------


def test_a_narrow_beam_buckles_sideways() -> None:
    """A cantilever under a load at its end: P = 4.0126 sqrt(E Iz G J) / L^2, and more by the bend that it has by then.

    With E Iz / E Iy and G J / E Iy that is 1 / sqrt((1 - Iz / Iy) (1 - G J / E Iy)); errors fall with shapes and nodes.
    """
    width, height, shear = 0.004, 0.06, 8.1e10
    moments = (width * height**3 / 12, height * width**3 / 12)
    torsion = height * width**3 / 3 * (1 - 0.63 * width / height)
    narrow = part(12, area=width * height, second_moments=moments, torsion=torsion)
    modes = mb.flexible.craig_bampton(narrow, interfaces=[0, 12], n_modes=16)
    critical = 4.0126 * np.sqrt(YOUNG * moments[1] * shear * torsion) / LENGTH**2
    critical /= np.sqrt((1 - moments[1] / moments[0]) * (1 - shear * torsion / (YOUNG * moments[0])))

    def sideways(share: float) -> float:
        system = mb.System("cantilever", gravity=(0, 0, 0))
        rod = system.add(mb.FlexibleBody("rod", modes, geometric_stiffening=True))
        system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
        system.add(mb.PointForce("load", rod, at=LENGTH * X, force=-share * critical * Z))
        return softest(system)

    assert brentq(sideways, 0.97, 1.06, xtol=1e-4) == pytest.approx(1.0, abs=0.01)


def test_frames_turn_as_a_whole() -> None:
    """Turning a bent frame by exp(e~) strains none of its beams: K g = -f for g = e x (e x x)."""
    nodes = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.2, 0.9, 0.7]])
    section = {"area": 1e-4, "second_moments": (8e-10, 5e-10), "torsion": 1e-9, "young": YOUNG, "shear": 8.1e10}
    frame = mb.flexible.frame(nodes, [[0, 1], [1, 2], [2, 3]], density=DENSITY, subdivisions=2, **section)
    e = np.array([0.3, -0.7, 0.5])
    turned = frame.rigid_modes()[:, 3:] @ e[:, None]
    moved = np.zeros((len(frame.nodes), 6))
    moved[:, :3] = np.cross(e, np.cross(e, frame.nodes))
    loads = frame.shortening_loads(turned, turned)[:, 0]
    assert frame.stiffness_matrix @ moved.ravel() == pytest.approx(loads, abs=1e-12 * np.abs(loads).max())


# --- energy, momentum, linearization ----------------------------------------------------------------------------------


# --- tension and twist ------------------------------------------------------------------------------------------------

CHORD, THICKNESS, SHEAR = 0.15, 0.003, 8.1e10
FLAP, LAG = CHORD * THICKNESS**3 / 12, THICKNESS * CHORD**3 / 12  # second moments of the strip
FLAT = {"area": CHORD * THICKNESS, "second_moments": (FLAP, LAG), "torsion": CHORD * THICKNESS**3 / 3, "shear": SHEAR}
RADIUS = (FLAP + LAG) / (CHORD * THICKNESS)  # squared


def spinning_strip(rate: float, rotary: bool) -> mb.System:
    """A flat blade in the plane of its rotation, driven at a rate."""
    modes = mb.flexible.craig_bampton(part(16, **FLAT, rotary_inertia=rotary), interfaces=[0, 16], n_modes=24)
    system = mb.System("strip", gravity=(0, 0, 0))
    body = system.add(mb.FlexibleBody("strip", modes, angular_velocity=rate * Z, geometric_stiffening=True))
    hub = system.add(mb.RevoluteJoint("hub", system.ground, body, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("drive", hub, angle=f"{rate}*t"))
    return system


def test_rotation_stiffens_a_flat_blade_against_twist() -> None:
    """By G J + N r^2 (the pull of inclined fibres) and by the propeller moment, against Ritz's method.

    Twist sin(k pi x / 2 L), k odd, with the tension N(x) = rho A w^2 (L^2 - x^2)/2.
    """
    rate, count = 150.0, 12
    places, weights = np.polynomial.legendre.leggauss(60)
    x, w = LENGTH * (places + 1) / 2, LENGTH * weights / 2
    numbers = (np.arange(count)[:, None] + 0.5) * np.pi / LENGTH
    twist, slope = np.sin(numbers * x), numbers * np.cos(numbers * x)
    tension = 0.5 * DENSITY * FLAT["area"] * rate**2 * (LENGTH**2 - x**2)
    inertia = DENSITY * (FLAP + LAG) * (twist * w) @ twist.T
    stiffness = (slope * w * (SHEAR * FLAT["torsion"] + tension * RADIUS)) @ slope.T
    stiffness += rate**2 * DENSITY * (LAG - FLAP) * (twist * w) @ twist.T
    expected = np.sqrt(eigh(stiffness, inertia, eigvals_only=True)[0])
    system = spinning_strip(rate, rotary=True)
    roots = mb.linearize(system, mb.steady(system, axis=Z, rate=rate)).eigenvalues.imag
    assert np.abs(roots - expected).min() < 1e-3 * expected


@pytest.mark.parametrize(("rotary", "rate", "told"), [(False, 150.0, True), (False, 2.0, False), (True, 150.0, False)])
def test_flat_sections_without_inertia_are_told_where_they_turn(rotary: bool, rate: float, told: bool) -> None:
    warnings = mb.simulate(spinning_strip(rate, rotary), 1e-3).info.warnings
    assert any("'strip' turns" in w and "rotary_inertia=True" in w for w in warnings) == told


def test_a_pulled_strip_twists_less() -> None:
    """T L = (G J + N r^2) phi."""
    pull, torque = 60e3, 0.2
    modes = mb.flexible.craig_bampton(part(8, **FLAT), interfaces=[0, 8], n_modes=0)
    system = mb.System("strip", gravity=(0, 0, 0))
    body = system.add(mb.FlexibleBody("strip", modes, geometric_stiffening=True))
    system.add(mb.FixedJoint("clamp", system.ground, body, at=(0, 0, 0)))
    system.add(mb.PointForce("pull", body, at=LENGTH * X, force=pull * X))
    system.add(mb.Torque("turn", body, at=LENGTH * X, torque=torque * X))
    rest = mb.equilibrium(system)
    shapes, modal = body.shapes_in_frame, rest.motions["strip"].modal_coordinates
    twisted = ((shapes.motion_at(8) - shapes.motion_at(0)) @ modal)[3]
    stretched = 1.0 + pull / (YOUNG * FLAT["area"])
    expected = torque * LENGTH / (SHEAR * FLAT["torsion"] + pull * RADIUS)
    assert twisted == pytest.approx(expected, rel=2.0 * (stretched - 1.0))


ARM, THIN, HEIGHT = 0.1, 0.002, 0.6
CROSS = {"area": 4 * ARM * THIN, "second_moments": (2 * THIN * ARM**3 / 3,) * 2, "torsion": 4 * ARM * THIN**3 / 3}
POLAR = 4 * THIN * ARM**3 / 3


def cross_column(share: float, stiffened: bool) -> mb.System:
    """A column of four thin arms, clamped at its foot, under a share of the load at which it loses its torsion."""
    load = share * SHEAR * CROSS["torsion"] * CROSS["area"] / POLAR
    cross = part(8, length=HEIGHT, shear=SHEAR, rotary_inertia=True, **CROSS)
    modes = mb.flexible.craig_bampton(cross, interfaces=[0, 8], n_modes=6)
    system = mb.System("column", gravity=(0, 0, 0))
    body = system.add(mb.FlexibleBody("cross", modes, geometric_stiffening=stiffened))
    system.add(mb.FixedJoint("clamp", system.ground, body, at=(0, 0, 0)))
    system.add(mb.PointForce("press", body, at=HEIGHT * X, force=-load * X))
    return system


def test_a_cross_buckles_by_twisting() -> None:
    """At N = G J / r^2, far below Euler's load; before, with the frequency of a bar with the rigidity G J - N r^2."""
    kinds = {share: mb.equilibrium(cross_column(share, True)).kind for share in (0.5, 0.99, 1.01)}
    assert kinds == {0.5: "minimum", 0.99: "minimum", 1.01: "saddle"}
    exact = (np.pi / (2 * HEIGHT)) ** 2 * 0.5 * SHEAR * CROSS["torsion"] / (DENSITY * POLAR)
    assert softest(cross_column(0.5, True)) == pytest.approx(exact, rel=1.1 * (np.pi / 16) ** 2 / 12)  # of 8 elements


def test_a_cross_without_stiffening_is_told() -> None:
    with pytest.warns(UserWarning, match="cross.*press it.*may buckle"):
        mb.equilibrium(cross_column(0.5, False))


def swinging(free: bool) -> mb.System:
    modes = mb.flexible.craig_bampton(part(8, young=2.1e10, shear=8.1e9), interfaces=[0, 8], n_modes=1)
    system = mb.System("swing", gravity=(0, 0, 0) if free else (0, 0, -9.81))
    values = np.random.default_rng(3)
    size = 0.1 / (2.0 * np.pi * modes.frequencies)
    rod = mb.FlexibleBody(
        "rod",
        modes,
        angular_velocity=(1.0, -4.0, 6.0),
        modal_velocities=0.1 * values.normal(size=modes.count),
        modal_coordinates=size * values.normal(size=modes.count) if free else None,
        geometric_stiffening=True,
    )
    system.add(rod)
    if not free:
        rod.modal_velocities = None
        system.add(mb.SphericalJoint("A", system.ground, rod, at=(0, 0, 0)))
        bob = mb.RigidBody("bob", mass=0.5, inertia=(1e-3, 2e-3, 2e-3), position=LENGTH * X)
        bob.velocity, bob.angular_velocity = np.cross(rod.angular_velocity, LENGTH * X), rod.angular_velocity
        system.add(mb.UniversalJoint("B", rod, system.add(bob), at=LENGTH * X, axis_i=Y, axis_j=Z))
    return system


@pytest.mark.parametrize("free", [True, False])
def test_energy_and_momentum_are_kept(free: bool) -> None:
    result = mb.simulate(swinging(free), 0.1, integrator=mb.DormandPrince(rtol=1e-11, atol=1e-13))
    energy = result.energy
    assert np.ptp(energy.total) < 1e-8 * energy.kinetic.max()
    assert np.ptp(energy.potential) > 1e-4 * energy.kinetic.max(), "it bends"
    if free:
        for momentum in (result.momentum.linear, result.momentum.angular):
            assert np.ptp(momentum, axis=0).max() < 1e-8 * np.abs(result.momentum.angular).max()
    rod = "rod"
    times = result.t[[0, -1]].mean() + 2e-6 * np.array([-1.0, 0.0, 1.0])
    near = mb.simulate(swinging(free), times[-1], t_eval=times, integrator=mb.DormandPrince(rtol=1e-11, atol=1e-13))
    x, v, a = (getattr(near, name)(rod, local_point=LENGTH * X) for name in ("position", "velocity", "acceleration"))
    assert v[1] == pytest.approx((x[2] - x[0]) / 4e-6, abs=1e-5 * np.abs(v).max())
    assert a[1] == pytest.approx((v[2] - v[0]) / 4e-6, abs=1e-4 * np.abs(a).max())


def test_deformations_are_seen_from_the_chosen_frame() -> None:
    """By its modes held at node 0: that node neither moves nor turns, and distances are those of the mean frame."""
    modes = mb.flexible.clamped_modes(part(6), node=0, n_modes=4)
    body = mb.FlexibleBody("rod", modes, geometric_stiffening=True)
    modal = 0.005 * np.array([[1.0, 0.5, -0.3, 0.2], [0.0, 0.0, 0.0, 0.0]])
    seen, own = body.deformed(modal), body.deformed_in_axes(modal)
    assert seen[:, 0] == pytest.approx(np.zeros((2, 3)), abs=1e-12)
    assert seen[1] == pytest.approx(modes.component.nodes, abs=1e-12)
    distances = [np.linalg.norm(x[0, :, None] - x[0, None], axis=2) for x in (seen, own)]
    assert distances[0] == pytest.approx(distances[1], abs=1e-12)
    linear = modes.component.nodes + modes.translations @ modal[0]
    across = [1, 2]
    assert seen[0][:, across] == pytest.approx(linear[:, across], abs=2e-4 * np.abs(linear[:, across]).max())
