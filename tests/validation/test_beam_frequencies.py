"""Beams against the closed forms of Euler-Bernoulli: frequencies, mass properties, static deflections."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
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


def test_craig_bampton_is_orthonormal_and_free_of_rigid_motion():
    part = steel_beam(10)
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 10], n_modes=4)
    assert modes.count == 10
    assert modes.mass == pytest.approx(np.eye(10), abs=1e-10)
    assert modes.stiffness == pytest.approx(np.diag((2 * np.pi * modes.frequencies) ** 2), rel=1e-8, abs=1e-3)
    momentum = part.rigid_modes().T @ (part.mass_matrix @ modes.shapes)
    assert abs(momentum).max() < 1e-10
    tied = modes.relative_to("node", 10)
    assert tied.reference == 10
    assert abs(tied.motion_at(10)).max() < 1e-12
    assert tied.stiffness == pytest.approx(modes.stiffness, rel=1e-8, abs=1e-3)
