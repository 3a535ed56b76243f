"""Component modes against the full model, closed forms and each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import mbframe as mb
from mbframe.flexible.supports import settled

flexible = mb.flexible

LENGTH, AREA, IY, IZ, TORSION, YOUNG, SHEAR, DENSITY = 1.0, 1e-4, 8e-10, 5e-10, 1.6e-9, 2.1e11, 8.1e10, 7850.0


def bar(second_moments):
    return flexible.beam(
        length=LENGTH,
        elements=10,
        area=AREA,
        second_moments=second_moments,
        torsion=TORSION,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
    )


@pytest.fixture(scope="module")
def beam():
    return bar((IY, IZ))


@pytest.fixture(scope="module")
def frame():
    """A plane frame with a branch: no symmetry helps."""
    return flexible.frame(
        [[0, 0, 0], [0.5, 0, 0], [0.5, 0.3, 0], [0.8, 0.1, 0.2]],
        [[0, 1], [1, 2], [1, 3]],
        area=AREA,
        second_moments=(IY, IZ),
        torsion=TORSION,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
        subdivisions=3,
    )


def full_frequencies(part, held=()) -> np.ndarray:
    """Of the held component, from the dense matrices and without rigid motions, by a plain eigensolver."""
    kept = np.setdiff1d(np.arange(part.n_freedoms), held)
    stiffness, mass = (m.toarray()[np.ix_(kept, kept)] for m in (part.stiffness_matrix, part.mass_matrix))
    squares = eigh(stiffness, mass, eigvals_only=True)
    return np.sqrt(squares[squares > (2 * np.pi) ** 2]) / (2 * np.pi)


def test_craig_bampton_with_all_modes_is_the_full_model(beam):
    modes = flexible.craig_bampton(beam, interfaces=[0, 10], n_modes=66 - 12)
    assert modes.count == 66 - 6
    assert modes.frequencies == pytest.approx(full_frequencies(beam), rel=1e-8)
    everywhere = flexible.craig_bampton(beam, interfaces=range(11), n_modes=0)
    assert everywhere.frequencies == pytest.approx(full_frequencies(beam), rel=1e-8)


@pytest.mark.parametrize("held", [0, 10])
def test_held_craig_bampton_with_all_modes_is_the_full_model(beam, held):
    """The frame at a node that is held: the modes' own matrices are those of the clamped component."""
    modes = flexible.craig_bampton(beam, interfaces=[0, 10], n_modes=66 - 12).relative_to("node", held)
    inverse = eigh(modes.mass, modes.stiffness, eigvals_only=True)[::-1]
    clamped = full_frequencies(beam, range(6 * held, 6 * held + 6))
    assert np.sqrt(1.0 / inverse) / (2 * np.pi) == pytest.approx(clamped, rel=1e-8)
    assert flexible.clamped_modes(beam, held, n_modes=60).frequencies == pytest.approx(clamped, rel=1e-8)


def test_free_modes_are_those_of_the_full_model(frame):
    modes = flexible.free_modes(frame, n_modes=20)
    assert modes.frequencies == pytest.approx(full_frequencies(frame)[:20], rel=1e-8)
    residual = (
        frame.stiffness_matrix @ modes.shapes
        - (frame.mass_matrix @ modes.shapes) * (2 * np.pi * modes.frequencies) ** 2
    )
    assert abs(residual).max() < 1e-7 * abs(frame.stiffness_matrix @ modes.shapes).max()


def test_few_modes_of_a_large_component_are_those_of_all():
    """The iterative and the dense solution agree: 150 elements are above the border between them."""
    section = {"area": AREA, "second_moments": (IY, IZ), "torsion": TORSION}
    part = flexible.beam(length=LENGTH, elements=150, young=YOUNG, shear=SHEAR, density=DENSITY, **section)
    roots = np.array([4.730040744862704, 7.853204624095838, 10.995607838001671])  # cos cosh = 1
    exact = np.concatenate([roots**2 * np.sqrt(YOUNG * I / (DENSITY * AREA)) / (2 * np.pi) for I in (IY, IZ)])
    modes = flexible.free_modes(part, n_modes=6)
    assert modes.frequencies == pytest.approx(np.sort(exact), rel=1e-6)
    assert modes.mass == pytest.approx(np.eye(6), abs=1e-9)
    assert abs(part.rigid_modes().T @ (part.mass_matrix @ modes.shapes)).max() < 1e-10


@pytest.mark.parametrize("n_modes", [0, 4])
def test_craig_bampton_is_orthonormal_and_free_of_rigid_motion(frame, n_modes):
    modes = flexible.craig_bampton(frame, interfaces=[0, 2, 3], n_modes=n_modes)
    assert modes.count == 18 - 6 + n_modes
    assert modes.reference == "mean"
    assert modes.mass == pytest.approx(np.eye(modes.count), abs=1e-9)
    squares = (2 * np.pi * modes.frequencies) ** 2
    assert modes.stiffness == pytest.approx(np.diag(squares), abs=1e-9 * squares.max())
    momentum = frame.rigid_modes().T @ (frame.mass_matrix @ modes.shapes)
    assert abs(momentum).max() < 1e-10


def test_craig_bampton_bends_exactly_under_loads_at_interfaces(beam):
    """F L³/3EI with no vibration at all in the basis, held at node 0."""
    modes = flexible.craig_bampton(beam, interfaces=[0, 10], n_modes=0).relative_to("node", 0)
    tip = modes.motion_at(10)
    deflection = tip @ np.linalg.solve(modes.stiffness, tip.T @ [0, 3.0, 0, 0, 0, 0])
    assert deflection[1] == pytest.approx(3.0 * LENGTH**3 / (3 * YOUNG * IZ), rel=1e-8)
    assert deflection[5] == pytest.approx(3.0 * LENGTH**2 / (2 * YOUNG * IZ), rel=1e-8)


WEIGHT = -9.81 * DENSITY * AREA  # N/m
TIP = WEIGHT * LENGTH**4 / (8 * YOUNG * IZ)


def self_weight(modes) -> float:
    """Deflection at the tip when held at node 0."""
    held = modes.relative_to("node", 0)
    load = held.shapes.T @ held.component.weight((0.0, -9.81, 0.0))
    return float(held.motion_at(10)[1] @ np.linalg.solve(held.stiffness, load))


def test_residual_correction_makes_the_weight_exact(beam):
    weight = beam.weight((0.0, -9.81, 0.0))
    plain = flexible.craig_bampton(beam, interfaces=[0], n_modes=2)
    assert abs(self_weight(plain) / TIP - 1.0) > 1e-4
    assert self_weight(flexible.craig_bampton(beam, interfaces=[0], n_modes=2, loads=weight)) == pytest.approx(
        TIP, rel=1e-8
    )
    for modes in (plain, flexible.clamped_modes(beam, n_modes=2)):
        corrected = flexible.residual_modes(modes, weight)
        assert corrected.count == modes.count + 1
        assert self_weight(corrected) == pytest.approx(TIP, rel=1e-8)
        assert corrected.mass == pytest.approx(np.eye(corrected.count), abs=1e-8)
        assert flexible.residual_modes(corrected, weight).count == corrected.count


def test_floating_residual_is_the_deflection_with_inertia_relief(beam):
    """A free beam pushed at both ends: the corrected modes give the static part of the relative deflection."""
    push = beam.load_at(0, force=(0, 1.0, 0)) + beam.load_at(10, force=(0, 1.0, 0)) - beam.load_at(5, force=(0, 2.0, 0))
    modes = flexible.residual_modes(flexible.free_modes(beam, n_modes=1), push)
    q = np.linalg.solve(modes.stiffness, modes.shapes.T @ push)
    shape = (modes.shapes @ q).reshape(-1, 6)
    expected = 1.0 * (LENGTH / 2) ** 3 / (3 * YOUNG * IZ)  # each half is a cantilever held in the middle
    assert shape[10, 1] - shape[5, 1] == pytest.approx(expected, rel=1e-8)


def test_effective_mass_of_a_cantilever(beam):
    """First mode: 4 σ²/β² with β = 1.8751, σ = 0.7341; all modes together carry what the held node does not."""
    modes = flexible.clamped_modes(beam, n_modes=60)
    shares = modes.participation.effective_masses / modes.participation.totals
    beta = 1.875104068711961
    sigma = (np.sinh(beta) - np.sin(beta)) / (np.cosh(beta) + np.cos(beta))
    assert shares[0, 1] == pytest.approx(4.0 * sigma**2 / beta**2, rel=1e-4)
    assert np.all(shares.sum(axis=0) < 1.0 + 1e-9)
    assert shares[:, [1, 2, 4, 5]].sum(axis=0) == pytest.approx(np.ones(4), abs=0.05)
    text = str(modes)
    assert "61.31 %" in text
    assert f"{modes.frequencies[0]:.6g}" in text


def test_cut_off_by_frequency(beam):
    every = flexible.free_modes(beam, n_modes=40).frequencies
    limit = 0.5 * (every[10] + every[11])
    assert flexible.free_modes(beam, frequency_limit=limit).frequencies == pytest.approx(every[:11])
    assert flexible.free_modes(beam, n_modes=5, frequency_limit=limit).count == 5
    far = flexible.free_modes(beam, frequency_limit=1e9)
    assert far.count == 60
    assert flexible.craig_bampton(beam, [0, 10], frequency_limit=100.0).count == 6 + np.sum(
        full_frequencies(beam, [*range(6), *range(60, 66)]) < 100.0
    )


@pytest.mark.parametrize("node", [0, 4, 9])
def test_floating_frames_change_no_deformation(frame, node):
    modes = flexible.craig_bampton(frame, interfaces=[0, 2], n_modes=3)
    tied = modes.relative_to("node", node)
    assert tied.reference == node
    assert abs(tied.motion_at(node)).max() < 1e-9 * abs(tied.shapes).max()
    assert tied.stiffness == pytest.approx(modes.stiffness, abs=1e-8 * modes.stiffness.max())
    back = tied.relative_to("mean")
    assert back.shapes == pytest.approx(modes.shapes, abs=1e-9 * abs(modes.shapes).max())


def test_rigid_motions_among_users_shapes_are_dropped(beam):
    bent = flexible.free_modes(beam, n_modes=3).shapes
    shapes = np.hstack([beam.rigid_modes(), bent + beam.rigid_modes()[:, :3]])
    modes = flexible.user_modes(beam, shapes)
    assert modes.count == 9
    assert modes.reference is None
    for tied in (modes.relative_to("mean"), modes.relative_to("node", 3)):
        assert tied.count == 3
        known = np.hstack([bent, beam.rigid_modes()])
        span = known @ np.linalg.lstsq(known, tied.shapes)[0]
        assert tied.shapes == pytest.approx(span, abs=1e-8 * abs(tied.shapes).max())
    with pytest.raises(mb.ModelError, match="all 6 shapes are rigid motions"):
        flexible.user_modes(beam, beam.rigid_modes()).relative_to("mean")


def test_a_rigid_set_of_nodes_is_a_stiff_end(beam):
    """The outer two of ten elements as rigid interfaces leave a clamped beam of the length 0.8."""
    part = beam.with_interface([0, 1], name="left").with_interface([9, 10], position=(1.0, 0, 0), name="right")
    assert part.number_of("right") == 12
    modes = flexible.craig_bampton(part, ["left", "right"], n_modes=1)
    root = 4.730040744862704 / 0.8
    exact = root**2 * np.sqrt(YOUNG * IZ / (DENSITY * AREA)) / (2 * np.pi)
    assert modes.participation.frequencies[0] == pytest.approx(exact, rel=1e-4)
    held = modes.relative_to("node", "left")
    assert abs(held.shapes[:12]).max() < 1e-9 * abs(held.shapes).max()
    tip = held.motion_at("right")
    deflection = tip @ np.linalg.solve(held.stiffness, tip.T @ [0, 1.0, 0, 0, 0, 0])
    free, lever = 0.8, 0.1  # the force acts 0.1 m beyond the flexible part
    moment = 1.0 * lever
    EI = YOUNG * IZ
    end = free**3 / (3 * EI) + moment * free**2 / (2 * EI)
    slope = free**2 / (2 * EI) + moment * free / EI
    assert deflection[1] == pytest.approx(end + lever * slope, rel=1e-7)


@pytest.mark.parametrize(
    "modes_of",
    [
        lambda part: flexible.free_modes(part, n_modes=8),
        lambda part: flexible.clamped_modes(part, node=0, n_modes=8),
        lambda part: flexible.clamped_modes(part, node=0, n_modes=3),  # without the partner of the last one
        lambda part: flexible.craig_bampton(part, interfaces=[0, 10], n_modes=4),
    ],
    ids=["free", "clamped", "cut", "craig_bampton"],
)
def test_a_round_bar_bends_in_planes_of_its_axes(modes_of):
    """Any plane would do; a library that chooses one by rounding gives other modal coordinates on other machines."""
    modes = modes_of(bar((IY, IY)))
    sizes = np.abs(modes.translations).max(axis=0)
    along_y, along_z = sizes[1:] > 1e-6 * sizes.max()  # torsion moves neither way
    assert not np.any(along_y & along_z)
    assert abs(np.count_nonzero(along_y) - np.count_nonzero(along_z)) == modes.count % 2


def test_signs_and_directions_of_modes_do_not_depend_on_the_eigensolver(beam):
    """Whatever signs and rotations within equal frequencies it hands over, the modes are the same."""
    rng = np.random.default_rng(3)
    squares = np.array([1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 5.0])
    root = np.linalg.cholesky(beam.mass_matrix.toarray())
    shapes = np.linalg.solve(root.T, np.linalg.qr(rng.normal(size=(beam.n_freedoms, 7)))[0])  # of modal mass 1
    shapes[[1, 61], 2] = shapes[7, 2] = 2.0 * np.abs(shapes[:, 2]).max()  # ends that move alike in one of them,
    shapes[61, 2] *= -1.0  # to opposite sides
    expected = settled(shapes, squares, beam.mass_matrix)
    for _ in range(5):
        turned = shapes.copy()
        for family in ([0, 1], [2], [3, 4, 5], [6]):
            turned[:, family] = turned[:, family] @ np.linalg.qr(rng.normal(size=(len(family), len(family))))[0]
        turned *= 1.0 + 1e-12 * rng.normal(size=turned.shape)
        assert settled(turned, squares, beam.mass_matrix) == pytest.approx(expected, rel=1e-9, abs=1e-9)
