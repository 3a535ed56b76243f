"""Beams as finite elements against closed forms: frequencies, mass, deflections, buckling, rotation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh, expm
from scipy.optimize import brentq

import mbframe as mb

LENGTH, AREA, IY, IZ, TORSION, YOUNG, SHEAR, DENSITY = 1.3, 1e-4, 8e-10, 5e-10, 1.6e-9, 2.1e11, 8.1e10, 7850.0


def steel_beam(elements: int, **changes):
    section = {"area": AREA, "second_moments": (IY, IZ), "torsion": TORSION, "density": DENSITY, **changes}
    return mb.flexible.beam(length=LENGTH, elements=elements, young=YOUNG, shear=SHEAR, **section)


def characteristic_roots(function, starts) -> np.ndarray:
    """Roots of a characteristic equation, each bracketed by ±0.3 about an asymptotic value."""
    return np.array([brentq(function, start - 0.3, start + 0.3, xtol=1e-15) for start in starts])


ROOTS = {
    "cantilever": characteristic_roots(lambda x: np.cos(x) + 1.0 / np.cosh(x), [1.875, 4.694, 7.855]),
    "free-free": characteristic_roots(lambda x: np.cos(x) - 1.0 / np.cosh(x), [4.730, 7.853, 10.996]),
    "pinned-free": characteristic_roots(lambda x: np.tan(x) - np.tanh(x), [3.927, 7.069, 10.210]),
    "simply supported": np.pi * np.array([1.0, 2.0, 3.0]),
}


def held_freedoms(case: str, elements: int) -> list[int]:
    """What holds the beam in the plane xy, beside the freedoms out of it."""
    last = 6 * elements
    return {"cantilever": [0, 1, 5], "free-free": [], "pinned-free": [0, 1], "simply supported": [0, 1, last + 1]}[case]


def plane_frequencies(case: str, elements: int) -> np.ndarray:
    """The first three bending frequencies in the plane xy, from the matrices alone."""
    part = steel_beam(elements)
    if case == "free-free":
        return mb.flexible.free_modes(part, n_modes=6).frequencies
    across = [6 * k + f for k in range(elements + 1) for f in (2, 3, 4)]
    kept = np.setdiff1d(np.arange(part.n_freedoms), [*across, *held_freedoms(case, elements)])
    stiffness, mass = (m.toarray()[np.ix_(kept, kept)] for m in (part.stiffness_matrix, part.mass_matrix))
    shift = (2.0 * np.pi) ** 2  # 1 Hz: the pinned beam has a mode at zero
    inverse = eigh(mass, stiffness + shift * mass, eigvals_only=True)[::-1]
    return np.sqrt(np.maximum(1.0 / inverse - shift, 0.0)) / (2.0 * np.pi)


def bending_frequencies(case: str, second_moment: float) -> np.ndarray:
    return (ROOTS[case] / LENGTH) ** 2 * np.sqrt(YOUNG * second_moment / (DENSITY * AREA)) / (2.0 * np.pi)


def relative_errors(case: str, elements: int) -> np.ndarray:
    found, exact = plane_frequencies(case, elements), bending_frequencies(case, IZ)
    return np.array([np.min(abs(found / frequency - 1.0)) for frequency in exact])


@pytest.mark.parametrize("case", ROOTS)
def test_frequencies_and_their_convergence(case):
    errors = np.array([relative_errors(case, elements) for elements in (10, 20, 40)])
    assert errors[1].max() < 1e-4
    slopes = np.log2(errors[:-1] / errors[1:])
    assert slopes == pytest.approx(np.full(slopes.shape, 4.0), abs=0.2)


def test_modes_of_both_planes():
    part = steel_beam(20)
    for case, modes in (
        ("cantilever", mb.flexible.clamped_modes(part, node=0, n_modes=6)),
        ("free-free", mb.flexible.free_modes(part, n_modes=6)),
    ):
        exact = np.sort(np.concatenate([bending_frequencies(case, moment) for moment in (IY, IZ)]))
        assert modes.frequencies == pytest.approx(exact, rel=1e-4)


def test_mass_properties():
    part = steel_beam(7)
    mass = DENSITY * AREA * LENGTH
    assert part.mass == pytest.approx(mass, rel=1e-13)
    assert part.centre_of_mass == pytest.approx([LENGTH / 2, 0.0, 0.0], abs=1e-13)
    slender = mass * LENGTH**2 / 12
    assert part.inertia == pytest.approx(np.diag([DENSITY * (IY + IZ) * LENGTH, slender, slender]), rel=1e-12)


def test_consistent_mass_matrix_of_the_textbook():
    """One element: ρ A L/420 [156 22L 54 -13L; …] in bending, ρ A L/6 [2 1; 1 2] in tension, ρ Ip L/6 in torsion."""
    matrix, L = steel_beam(1).mass_matrix.toarray(), LENGTH
    bending = np.array(
        [
            [156, 22 * L, 54, -13 * L],
            [22 * L, 4 * L**2, 13 * L, -3 * L**2],
            [54, 13 * L, 156, -22 * L],
            [-13 * L, -3 * L**2, -22 * L, 4 * L**2],
        ]
    )
    signs = np.diag([1.0, -1.0, 1.0, -1.0])  # w' = -ry
    expected = np.zeros((12, 12))
    expected[np.ix_([1, 5, 7, 11], [1, 5, 7, 11])] = DENSITY * AREA * L / 420 * bending
    expected[np.ix_([2, 4, 8, 10], [2, 4, 8, 10])] = DENSITY * AREA * L / 420 * signs @ bending @ signs
    expected[np.ix_([0, 6], [0, 6])] = DENSITY * AREA * L / 6 * np.array([[2, 1], [1, 2]])
    expected[np.ix_([3, 9], [3, 9])] = DENSITY * (IY + IZ) * L / 6 * np.array([[2, 1], [1, 2]])
    assert matrix == pytest.approx(expected, rel=1e-12, abs=1e-15)


def static_displacement(part, held, load) -> np.ndarray:
    """By dense elimination, independent of the supports of the package."""
    free = np.setdiff1d(np.arange(part.n_freedoms), held)
    displacement = np.zeros(part.n_freedoms)
    displacement[free] = np.linalg.solve(part.stiffness_matrix.toarray()[np.ix_(free, free)], load[free])
    return displacement


@pytest.mark.parametrize("factors", [None, (0.85, 0.6)])
def test_deflections_of_a_cantilever(factors):
    """F L³/3EI + F L/κGA, M L/GJ, F L/EA, all exact at nodes for loads at nodes."""
    part = steel_beam(3, shear_factors=factors)
    tip = part.node_at((LENGTH, 0, 0))
    load = part.load_at(tip, force=(100.0, 7.0, -5.0), torque=(3.0, 0.0, 0.0))
    moved = static_displacement(part, range(6), load)[-6:]
    soft_y, soft_z = (0.0, 0.0) if factors is None else (LENGTH / (k * SHEAR * AREA) for k in factors)
    expected = [
        100.0 * LENGTH / (YOUNG * AREA),
        7.0 * (LENGTH**3 / (3 * YOUNG * IZ) + soft_y),
        -5.0 * (LENGTH**3 / (3 * YOUNG * IY) + soft_z),
        3.0 * LENGTH / (SHEAR * TORSION),
        5.0 * LENGTH**2 / (2 * YOUNG * IY),
        7.0 * LENGTH**2 / (2 * YOUNG * IZ),
    ]
    assert moved == pytest.approx(expected, rel=1e-9)


def test_weight_bends_a_cantilever():
    """w L⁴/8EI at the tip; consistent loads give it exactly."""
    part = steel_beam(4)
    moved = static_displacement(part, range(6), part.weight((0.0, -9.81, 0.0)))
    assert moved[-5] == pytest.approx(-9.81 * DENSITY * AREA * LENGTH**4 / (8 * YOUNG * IZ), rel=1e-9)


DEEP = {"area": 6e-3, "second_moments": (5e-6, 7e-6), "torsion": 9e-6}  # a short beam, in which shear matters


def timoshenko_rate(square: float, kappa: float) -> np.ndarray:
    """d/dx of (w, θ, M, Q) in a vibration: w' = θ + Q/κGA, θ' = M/EI, M' = -Q - ω² ρI θ, Q' = -ω² ρA w."""
    I, A = DEEP["second_moments"][1], DEEP["area"]
    return np.array(
        [
            [0.0, 1.0, 0.0, 1.0 / (kappa * SHEAR * A)],
            [0.0, 0.0, 1.0 / (YOUNG * I), 0.0],
            [0.0, -square * DENSITY * I, 0.0, -1.0],
            [-square * DENSITY * A, 0.0, 0.0, 0.0],
        ]
    )


def timoshenko_frequencies(kappa: float, count: int) -> np.ndarray:
    """Of a cantilever: det of (M, Q)(L) for (M, Q)(0) vanishes."""

    def characteristic(frequency: float) -> float:
        moved = expm(LENGTH * timoshenko_rate((2 * np.pi * frequency) ** 2, kappa))
        return float(np.linalg.det(moved[2:, 2:]))

    grid = np.linspace(10.0, 6000.0, 1200)
    values = np.array([characteristic(f) for f in grid])
    brackets = np.flatnonzero(values[:-1] * values[1:] < 0.0)[:count]
    return np.array([brentq(characteristic, grid[k], grid[k + 1], xtol=1e-9) for k in brackets])


def test_timoshenko_cantilever_against_its_characteristic_equation():
    kappa, exact = 0.85, timoshenko_frequencies(0.85, 3)
    errors = []
    for elements in (10, 20, 40):
        part = steel_beam(elements, shear_factors=(kappa, kappa), **DEEP)
        found = mb.flexible.clamped_modes(part, n_modes=12).frequencies
        errors.append([np.min(abs(found / frequency - 1.0)) for frequency in exact])
    assert np.max(errors[2]) < 2e-4
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes == pytest.approx(np.full(slopes.shape, 2.0), abs=0.15)  # shear is constant in an element


def test_simply_supported_timoshenko_beam():
    """EI b⁴ - ω² (ρA + ρI b² + EIρ b²/κG) + ω⁴ ρ²I/κG = 0 with b = nπ/L."""
    kappa, elements, (_, I), A = 0.85, 40, DEEP["second_moments"], DEEP["area"]
    part = steel_beam(elements, shear_factors=(kappa, kappa), **DEEP)
    across = [6 * k + f for k in range(elements + 1) for f in (0, 2, 3, 4)]
    kept = np.setdiff1d(np.arange(part.n_freedoms), [*across, 1, 6 * elements + 1])
    stiffness, mass = (m.toarray()[np.ix_(kept, kept)] for m in (part.stiffness_matrix, part.mass_matrix))
    found = np.sqrt(1.0 / eigh(mass, stiffness, eigvals_only=True)[::-1])
    for n in (1, 2, 3):
        b = n * np.pi / LENGTH
        quadratic = [
            DENSITY**2 * I / (kappa * SHEAR),
            -(DENSITY * A + DENSITY * I * b**2 * (1.0 + YOUNG / (kappa * SHEAR))),
            YOUNG * I * b**4,
        ]
        assert np.min(abs(found / np.sqrt(np.min(np.roots(quadratic))) - 1.0)) < 1e-3
        bernoulli = b**2 * np.sqrt(YOUNG * I / (DENSITY * A))
        assert found[n - 1] < 0.99 * bernoulli


def test_stubby_timoshenko_inertia_has_the_sections_share():
    part = steel_beam(5, shear_factors=(0.8, 0.8), **DEEP)
    Iy, Iz = DEEP["second_moments"]
    slender = DENSITY * DEEP["area"] * LENGTH**3 / 12
    expected = np.diag([Iy + Iz, Iy, Iz]) * DENSITY * LENGTH + np.diag([0.0, slender, slender])
    assert part.inertia == pytest.approx(expected, rel=1e-12)


def test_euler_buckling():
    """A simply supported column loses its stiffness at π² EI/L²."""
    elements = 20
    part = steel_beam(elements)
    held = [0, 1, 2, 3, 6 * elements + 1, 6 * elements + 2]
    kept = np.setdiff1d(np.arange(part.n_freedoms), held)
    unit = part.geometric_stiffness(-np.ones(elements))
    stiffness, softening = (m.toarray()[np.ix_(kept, kept)] for m in (part.stiffness_matrix, unit))
    critical = 1.0 / -eigh(softening, stiffness, eigvals_only=True)[:2]
    assert critical == pytest.approx(np.pi**2 * YOUNG * np.array([IZ, IY]) / LENGTH**2, rel=1e-5)


def test_buckling_with_shear():
    """Engesser: 1/P = 1/P_Euler + 1/κGA for a column that is soft in shear."""
    elements, factors = 40, (0.02, 0.03)
    part = steel_beam(elements, shear_factors=factors, **DEEP)
    held = [0, 1, 2, 3, 6 * elements + 1, 6 * elements + 2]
    kept = np.setdiff1d(np.arange(part.n_freedoms), held)
    unit = part.geometric_stiffness(-np.ones(elements))
    stiffness, softening = (m.toarray()[np.ix_(kept, kept)] for m in (part.stiffness_matrix, unit))
    critical = 1.0 / -eigh(softening, stiffness, eigvals_only=True)
    for moment, factor in zip(DEEP["second_moments"], factors[::-1], strict=True):
        euler, shear = np.pi**2 * YOUNG * moment / LENGTH**2, factor * SHEAR * DEEP["area"]
        assert euler > 0.1 * shear
        assert np.min(abs(critical * (1.0 / euler + 1.0 / shear) - 1.0)) < 2e-3


def test_bending_shortens_a_beam_by_what_its_slope_says():
    """φ = (1 - cos πx/L): ends come nearer by ½ ∫ φ'² dx; oblique beams do the same along themselves."""
    turn = expm(np.array([[0, -0.3, 0.5], [0.3, 0, -0.8], [-0.5, 0.8, 0]]))
    section = {"area": AREA, "second_moments": (IY, IZ), "torsion": TORSION, "subdivisions": 16}
    section |= {"young": YOUNG, "shear": SHEAR, "density": DENSITY}
    expected = (np.pi / LENGTH) ** 2 * LENGTH / 2
    for t in (np.eye(3), turn):
        part = mb.flexible.frame(np.array([[0, 0, 0], [LENGTH, 0, 0]]) @ t.T, [[0, 1]], y_axis=t[:, 1], **section)
        x = part.nodes @ t[:, 0]
        local = np.zeros((len(x), 6, 2))
        local[:, 1, 0] = local[:, 2, 1] = 1 - np.cos(np.pi * x / LENGTH)
        local[:, 5, 0] = np.pi / LENGTH * np.sin(np.pi * x / LENGTH)
        local[:, 4, 1] = -local[:, 5, 0]
        shapes = np.einsum("ij,nbjm->nbim", t, local.reshape(-1, 2, 3, 2)).reshape(-1, 2)
        curves = mb.flexible.user_modes(part, shapes).curves.reshape(len(x), 6, 2, 2)
        shorter = np.einsum("i,ikl->kl", t[:, 0], (curves[0] - curves[1])[:3])
        assert shorter == pytest.approx(expected * np.eye(2), rel=1e-5, abs=1e-6)
        momentum = part.rigid_modes().T @ (part.mass_matrix @ curves.reshape(-1, 4))
        assert abs(momentum).max() < 1e-9 * part.mass


def test_frames_do_not_depend_on_where_they_are():
    """A turned and moved frame has the same frequencies; local y follows the given axis."""
    nodes = np.array([[0.0, 0, 0], [0.6, 0, 0], [0.6, 0.4, 0], [0.6, 0.4, 0.3]])
    edges = [[0, 1], [1, 2], [2, 3]]
    section = {"area": AREA, "second_moments": (IY, IZ), "torsion": TORSION}
    section |= {"young": YOUNG, "shear": SHEAR, "density": DENSITY, "subdivisions": 4}
    axes = np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    turn = expm(np.array([[0, -0.3, 0.5], [0.3, 0, -0.8], [-0.5, 0.8, 0]]))
    first = mb.flexible.frame(nodes, edges, y_axis=axes, **section)
    second = mb.flexible.frame(nodes @ turn.T + [1, 2, 3], edges, y_axis=axes @ turn.T, **section)
    a, b = (mb.flexible.free_modes(part, n_modes=8).frequencies for part in (first, second))
    assert a == pytest.approx(b, rel=1e-8)
    assert second.inertia == pytest.approx(turn @ first.inertia @ turn.T, abs=1e-12)
    assert len(first.nodes) == 4 + 3 * 3


def test_bent_frame_under_a_tip_load():
    """A corner at (a, 0, 0), then b along y, loaded along z: F (a³/3EI + b³/3EI + a b²/GJ) (Castigliano)."""
    a, b, F = 0.7, 0.4, 11.0
    part = mb.flexible.frame(
        [[0, 0, 0], [a, 0, 0], [a, b, 0]],
        [[0, 1], [1, 2]],
        area=AREA,
        second_moments=[(IY, IZ), (IY, IZ)],
        torsion=TORSION,
        young=[YOUNG, YOUNG],
        shear=SHEAR,
        density=DENSITY,
        y_axis=[(0, 1, 0), (-1, 0, 0)],
    )
    moved = static_displacement(part, range(6), part.load_at(2, force=(0, 0, F)))
    expected = F * (a**3 / (3 * YOUNG * IY) + b**3 / (3 * YOUNG * IY) + a * b**2 / (SHEAR * TORSION))
    assert moved[14] == pytest.approx(expected, rel=1e-9)
