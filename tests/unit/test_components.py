"""Components: bad input, nodes and interface points, mass as points, files."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import sys
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy import io, sparse
from scipy.linalg import expm

import mbframe as mb

flexible = mb.flexible
BEAM = {
    "length": 1.0,
    "elements": 4,
    "area": 1e-4,
    "second_moments": (8e-10, 5e-10),
    "torsion": 1.6e-9,
    "young": 2.1e11,
    "shear": 8.1e10,
    "density": 7850.0,
}


@pytest.fixture(scope="module")
def beam():
    return flexible.beam(**BEAM)


@pytest.fixture(scope="module")
def matrices(beam):
    return beam.nodes, beam.mass_matrix.toarray(), beam.stiffness_matrix.toarray()


def refused(match: str):
    return pytest.raises(mb.ModelError, match=match)


# ---- matrices


def test_dense_and_sparse_matrices_give_the_same(beam, matrices):
    nodes, mass, stiffness = matrices
    dense = flexible.Component(nodes.tolist(), mass, stiffness)
    spread = flexible.Component(nodes, sparse.coo_matrix(mass), sparse.csc_array(stiffness))
    for part in (dense, spread):
        assert abs(part.mass_matrix - beam.mass_matrix).max() == 0.0
        assert part.freedoms_per_node == 6
        assert part.n_freedoms == 30
    assert repr(dense) == "<Component: 5 nodes, 30 freedoms, 0.785 kg>"


def test_components_cannot_be_changed(beam):
    with pytest.raises(FrozenInstanceError):
        beam.nodes = np.zeros((5, 3))
    with pytest.raises(ValueError, match="read-only"):
        beam.nodes[0, 0] = 1.0


def test_matrix_of_wrong_size(matrices):
    nodes, mass, stiffness = matrices
    with refused(r"stiffness_matrix: is 29 x 29; 5 nodes need 30 x 30 .* or 15 x 15"):
        flexible.Component(nodes, mass, stiffness[:-1, :-1])
    with refused(r"mass_matrix: is 30 x 29"):
        flexible.Component(nodes, mass[:, :-1], stiffness)
    with refused(r"stiffness_matrix: has 15 rows and the mass matrix 30"):
        flexible.Component(nodes, mass, np.eye(15))


def test_matrix_that_is_not_symmetric(matrices):
    nodes, mass, stiffness = matrices
    wrong = stiffness.copy()
    wrong[3, 7] += 0.25 * abs(stiffness).max()
    with refused(r"is not symmetric: entries \((3, 7|7, 3)\) and \((7, 3|3, 7)\) differ by"):
        flexible.Component(nodes, mass, wrong)
    with refused("not symmetric"):
        flexible.Component(nodes, np.tril(mass), stiffness)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_matrix_that_is_not_finite(matrices, bad):
    nodes, mass, stiffness = matrices
    wrong = mass.copy()
    wrong[4, 4] = bad
    with refused(r"mass_matrix: has the entry (nan|inf) in row 4, column 4"):
        flexible.Component(nodes, wrong, stiffness)


def test_matrix_that_is_not_semidefinite(matrices):
    nodes, mass, stiffness = matrices
    with refused(r"stiffness_matrix: has -\S+ on the diagonal in row"):
        flexible.Component(nodes, mass, -stiffness)
    wrong = mass.copy()
    wrong[1, 5] = wrong[5, 1] = 3.0 * np.sqrt(mass[1, 1] * mass[5, 5])
    smallest = np.linalg.eigvalsh(wrong / np.sqrt(np.outer(np.diag(mass), np.diag(mass))))[0]
    with refused(rf"is not positive semidefinite: .* eigenvalue {smallest:.3g}"):
        flexible.Component(nodes, wrong, stiffness)


@pytest.mark.parametrize(("smallest", "accepted"), [(-0.9e-7, True), (-1.1e-7, False)])
def test_rounding_of_a_semidefinite_matrix(matrices, smallest, accepted):
    """A pair of freedoms with the eigenvalues `smallest` and 2 - `smallest`, at a diagonal of 1."""
    nodes, mass, stiffness = matrices
    coupled = stiffness.copy()
    coupled[0, :] = coupled[:, 0] = coupled[6, :] = coupled[:, 6] = 0.0
    coupled[[0, 6], [0, 6]] = stiffness[0, 0]
    coupled[0, 6] = coupled[6, 0] = -stiffness[0, 0] * (1.0 - smallest)
    if accepted:
        assert flexible.Component(nodes, mass, coupled).n_freedoms == len(mass)
    else:
        with refused("is not positive semidefinite"):
            flexible.Component(nodes, mass, coupled)


def test_large_matrix_that_is_not_semidefinite():
    part = flexible.beam(**{**BEAM, "elements": 150})
    wrong = part.stiffness_matrix.tolil()
    wrong[301, 307] = wrong[307, 301] = 2.0 * wrong[301, 301]
    with refused("is not positive semidefinite"):
        flexible.Component(part.nodes, part.mass_matrix, wrong)


def test_mass_that_differs_by_direction(matrices):
    nodes, _, stiffness = matrices
    with refused(r"gives the masses 5, 10, 15 kg along x, y and z"):
        flexible.Component(nodes, np.diag(np.tile([1.0, 2.0, 3.0, 1.0, 1.0, 1.0], 5)), stiffness)


def test_only_zeros(matrices):
    nodes, mass, stiffness = matrices
    with refused("mass_matrix: has only zeros"):
        flexible.Component(nodes, 0.0 * mass, stiffness)


@pytest.mark.parametrize("nodes", [np.zeros((5, 2)), np.zeros(3), [["a", "b", "c"]], np.full((5, 3), np.nan), []])
def test_bad_nodes(matrices, nodes):
    with refused("Component, nodes:"):
        flexible.Component(nodes, *matrices[1:])


def test_supported_stiffness_has_no_rigid_motions(matrices):
    """Penalty springs on node 0, as another program may export them."""
    nodes, mass, stiffness = matrices
    held = stiffness.copy()
    held[:6, :6] += np.eye(6) * abs(stiffness).max()
    part = flexible.Component(nodes, mass, held)
    for call in (
        lambda: flexible.free_modes(part, n_modes=2),
        lambda: flexible.craig_bampton(part, [0], n_modes=1),
        lambda: flexible.user_modes(part, np.eye(30)[:, 6:8]).relative_to("mean"),
    ):
        with refused(r"resists a rotation about x of the whole body \(energy \S+ J per unit"):
            call()


def lumped(beam, rotary: float):
    """Masses at nodes, with an inertia about the axis only."""
    masses = np.tile([0.2, 0.2, 0.2, rotary, 0.0, 0.0], len(beam.nodes))
    return flexible.Component(beam.nodes, np.diag(masses), beam.stiffness_matrix)


def test_massless_freedoms_follow(beam):
    """Masses on a clamped massless beam: eigenvalues of the flexibility a² (3b - a)/6EI, a < b."""
    part = lumped(beam, 1e-6)
    every = flexible.clamped_modes(part, n_modes=16)
    with refused("found 17; only 16 modes move a mass"):
        flexible.clamped_modes(part, n_modes=17)
    assert flexible.clamped_modes(part, frequency_limit=1e9).count == 16
    x = beam.nodes[1:, 0]
    near, far = np.minimum.outer(x, x), np.maximum.outer(x, x)
    flexibility = near**2 * (3 * far - near) / (6 * BEAM["young"] * BEAM["second_moments"][1])
    expected = np.sqrt(1.0 / (0.2 * np.linalg.eigvalsh(flexibility)[::-1])) / (2 * np.pi)
    for frequency in expected:
        assert np.min(abs(every.frequencies / frequency - 1.0)) < 1e-8


def test_a_line_of_points_has_no_inertia_about_itself(beam):
    with refused(r"principal inertias 0, \S+, \S+ kg m²: a floating body needs all of them above 0"):
        flexible.free_modes(lumped(beam, 0.0), n_modes=2)


def test_disconnected_parts():
    apart = flexible.frame(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
        [[0, 1], [2, 3]],
        **{key: value for key, value in BEAM.items() if key not in ("length", "elements")},
    )
    with refused("is singular .* although node 0 is held: parts of the body are not connected"):
        flexible.clamped_modes(apart, node=0, n_modes=2)


# ---- nodes and interface points


def test_node_at(beam):
    assert beam.node_at((0.5, 0, 0)) == 2
    assert beam.node_at((0.5, 1e-3, 0), tolerance=2e-3) == 2
    with refused(
        r"no node or interface point at \[0.6, 0.0, 0.0\]: the nearest, number 2 at \[0.5, 0.0, 0.0\], is 0.1 m"
    ):
        beam.node_at((0.6, 0, 0))
    with refused("give three finite coordinates"):
        beam.node_at((0.6, np.nan, 0))
    with refused("is 0.1 m away"):
        flexible.craig_bampton(beam, [(0.6, 0.0, 0.0)], n_modes=1)


def test_interface_points(beam):
    part = beam.with_interface([1, 2, 3], name="middle").with_interface([3, 4], (1.0, 0.2, 0.0), name="arm")
    assert part.number_of("middle") == part.node_at((0.5, 0, 0)) == 5
    assert part.number_of("arm") == part.node_at((1.0, 0.2, 0.0)) == 6
    for number in (5, 6):
        about = part.positions[number]
        assert part.motion_at(number) @ part.rigid_modes(about) == pytest.approx(np.eye(6), abs=1e-12)
    assert "2 interface points" in repr(part)
    with refused("there is no 'end'; there are: 'middle', 'arm'"):
        part.number_of("end")
    with refused("there is one named 'arm' already"):
        part.with_interface([0], name="arm")
    with refused("there is no number 7; they go from 0 to 6"):
        part.number_of(7)
    with refused("nodes have those from 0 to 4"):
        part.with_interface([3, 5])
    with refused("allowed are 'rigid' and 'mean'"):
        part.with_interface([0], kind="soft")
    with refused("give the numbers of one or more nodes"):
        part.with_interface([])


def test_loads_at_interface_points_do_the_work_of_their_motion(beam):
    part = beam.with_interface([2, 3, 4], (0.8, 0.1, 0.0), name="arm")
    load = part.load_at("arm", force=(1.0, 2.0, 3.0), torque=(4.0, 5.0, 6.0))
    moved = np.random.default_rng(1).normal(size=part.n_freedoms)
    assert load @ moved == pytest.approx(np.arange(1.0, 7.0) @ (part.motion_at("arm") @ moved))
    resultant = part.rigid_modes(part.positions[5]).T @ load
    assert resultant == pytest.approx(np.arange(1.0, 7.0), abs=1e-10)


def test_set_in_line_of_nodes_without_rotations():
    nodes = np.column_stack([np.arange(4.0), np.zeros(4), np.zeros(4)])
    springs = np.kron(np.diag([1.0, 2, 2, 1]) - np.diag([1.0] * 3, 1) - np.diag([1.0] * 3, -1), np.eye(3))
    part = flexible.Component(nodes, np.eye(12), springs)
    with refused("are in line, so their translations do not say how it turns"):
        part.with_interface([0, 1, 2]).motion_at(4)
    with refused("node 1 has no rotations and 2 neighbours in line"):
        part.motion_at(1)


def test_nodes_of_a_membrane_turn_with_rigid_motions():
    """All neighbours in a plane: the best rigid motion tells the rotation."""
    nodes = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1.2, 0]])
    part = flexible.Component(nodes, np.eye(12), np.kron(4 * np.eye(4) - np.ones((4, 4)), np.eye(3)))
    for number in range(4):
        motion = part.motion_at(number) @ part.rigid_modes(nodes[number])
        assert motion == pytest.approx(np.eye(6), abs=1e-12)


# ---- mass as points


@pytest.mark.parametrize("factors", [None, (0.8, 0.8)])
def test_mass_points_give_the_mass_matrix_and_rigid_motions(factors):
    part = flexible.beam(**BEAM, shear_factors=factors)
    points = part.mass_points
    assert abs(points.mass_matrix() - part.mass_matrix).max() == 0.0
    assert points.displacement @ part.rigid_modes() == pytest.approx(points.rigid_fields(), abs=1e-12)
    other = replace(part, beams=None).mass_points  # nodes themselves
    assert abs(other.mass_matrix() - part.mass_matrix).max() < 1e-16
    assert other.displacement @ part.rigid_modes() == pytest.approx(other.rigid_fields(), abs=1e-12)


def test_mass_points_integrate_along_the_deformed_beam():
    """∫ ρA x × (ω × x) dx with a fine rule over Hermite's polynomials, for bending that is not small."""
    part = flexible.beam(**{**BEAM, "elements": 1, "second_moments": (1e-16, 1e-16)})
    rng = np.random.default_rng(4)
    displacement = rng.normal(scale=0.2, size=12) * np.tile([1, 1, 1, 0, 1, 1], 2)
    omega = rng.normal(size=3)
    points = part.mass_points
    position = points.positions + (points.displacement @ displacement).reshape(-1, 6)[:, :3]
    velocity = np.zeros((len(position), 6))
    velocity[:, :3] = np.cross(omega, position)
    energy = 0.5 * velocity.ravel() @ (points.inertia @ velocity.ravel())

    places, weights = np.polynomial.legendre.leggauss(20)
    s, w = (places + 1) / 2, weights / 2
    hermite = np.array([1 - 3 * s**2 + 2 * s**3, s - 2 * s**2 + s**3, 3 * s**2 - 2 * s**3, s**3 - s**2])
    x = s + displacement[0] * (1 - s) + displacement[6] * s
    y = displacement[[1, 5, 7, 11]] @ hermite
    z = displacement[[2, 4, 8, 10]] * [1, -1, 1, -1] @ hermite
    speeds = np.cross(omega, np.column_stack([x, y, z]))
    expected = 0.5 * BEAM["density"] * BEAM["area"] * np.sum(w * np.einsum("ij,ij->i", speeds, speeds))
    assert energy == pytest.approx(expected, rel=1e-10)


# ---- arguments of beams, frames, solids and modes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": 0.0}, "beam, length: found 0.0"),
        ({"elements": 0}, "beam, elements: found 0; allowed are whole numbers from 1 on"),
        ({"elements": 2.5}, "beam, elements: found 2.5"),
        ({"area": -1e-4}, "beam, area: found -0.0001"),
        ({"second_moments": 8e-10}, "beam, second_moments: found 8e-10; give 2 numbers"),
        ({"second_moments": (8e-10, 0.0)}, "beam, second_moments: found 0"),
        ({"young": "steel"}, "beam, young: found 'steel'; give numbers"),
        ({"density": np.inf}, "beam, density: found inf"),
        ({"shear_factors": (0.8,)}, "beam, shear_factors: .*give 2 numbers"),
    ],
)
def test_bad_beams(change, message):
    with refused(message):
        flexible.beam(**{**BEAM, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": [[0, 3]]}, r"frame, edges: row 0 is \[0, 3\]; the 3 nodes are numbered from 0 to 2"),
        ({"edges": [[0, 1]]}, "frame, nodes: node 2 is at the end of no edge"),
        ({"edges": []}, "frame, edges: there are none"),
        ({"edges": [[0, 1], [1, 2], [1, 1]]}, r"the nodes \[1, 1\] are at the same place"),
        (
            {"area": [1e-4, 1e-4, 1e-4]},
            r"frame, area: has the shape \(3,\); give a number, or as much for each of the 2",
        ),
        ({"y_axis": (1.0, 0.0, 0.0)}, r"frame, y_axis: \[1.0, 0.0, 0.0\] is zero or along element 0"),
    ],
)
def test_bad_frames(change, message):
    section = {key: value for key, value in BEAM.items() if key not in ("length", "elements")}
    arguments = {"nodes": [[0, 0, 0], [1, 0, 0], [1, 1, 0]], "edges": [[0, 1], [1, 2]], **section, **change}
    with refused(message):
        flexible.frame(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"poisson": 0.5}, "solid, poisson: found 0.5; allowed are numbers above -1 and below 0.5"),
        ({"young": 0}, "solid, young: found 0"),
        ({"order": 3}, "solid, order: found 3"),
        ({"mesh": "nowhere.msh"}, "'nowhere.msh': there is no such file"),
        ({"mesh": 7}, "give a path, a pair of arrays"),
        ({"mesh": (np.zeros((4, 3)), [[0, 1, 2, 3]])}, "cell 0 has no volume"),
        ({"mesh": (np.eye(4, 3), [[0, 1, 2, 4]])}, "whole numbers from 0 to 3"),
        ({"mesh": (np.eye(4, 3), [[0, 1, 2]])}, r"cells of the shape \(1, 3\)"),
    ],
)
def test_bad_solids(change, message):
    pytest.importorskip("skfem")
    block = (np.vstack([np.zeros(3), np.eye(3)]), [[0, 1, 2, 3]])
    with refused(message):
        flexible.solid(**{"mesh": block, "young": 1e9, "poisson": 0.3, "density": 1e3, **change})


def test_mesh_files_that_hold_no_solid(tmp_path):
    meshio = pytest.importorskip("meshio")
    path = tmp_path / "plate.vtu"
    meshio.Mesh(np.eye(3), [("triangle", [[0, 1, 2]])]).write(path)
    with refused("has 1 triangle; needed is one kind of tetra, tetra10"):
        flexible.solid(path, young=1e9, poisson=0.3, density=1e3)
    broken = tmp_path / "broken.msh"
    broken.write_text("no mesh")
    with refused("cannot be read by meshio"):
        flexible.solid(broken, young=1e9, poisson=0.3, density=1e3)


def test_solids_without_scikit_fem(monkeypatch):
    monkeypatch.setitem(sys.modules, "skfem", None)
    with pytest.raises(mb.MbframeError, match=r"pip install 'mbframe\[flexible\]'"):
        flexible.solid("rod.msh", young=1e9, poisson=0.3, density=1e3)


def test_nodes_on_a_cylinder_that_is_not_there(beam):
    with refused("no node is at 0.3 m from the axis: the nearest is 0.05 m off and 0.006 m are allowed"):
        flexible.nodes_on_cylinder(beam, (0, 0, 0), (0, 0, 1), 0.3)


def test_bad_requests_for_modes(beam):
    with refused("free_modes, n_modes: found 25; the held component has 24 freedoms"):
        flexible.free_modes(beam, n_modes=25)
    with refused("free_modes, n_modes: is missing"):
        flexible.free_modes(beam)
    with refused("frequency_limit: found -1"):
        flexible.free_modes(beam, frequency_limit=-1)
    with refused("interfaces: there are none"):
        flexible.craig_bampton(beam, [], n_modes=2)
    with refused("number 4 is given 2 times"):
        flexible.craig_bampton(beam, [4, (1.0, 0, 0)], n_modes=2)
    with refused(r"loads: have the shape \(7, 1\)"):
        flexible.craig_bampton(beam, [0], n_modes=2, loads=np.zeros(7))
    with refused("allowed are 'node' and 'mean'"):
        flexible.free_modes(beam, n_modes=2).relative_to("tangent")


def test_bad_shapes_of_a_user(beam):
    shapes = flexible.free_modes(beam, n_modes=3).shapes
    with refused(r"has the shape \(29, 3\); needed is \(30, m\)"):
        flexible.user_modes(beam, shapes[:-1])
    with refused(r"columns 0, 2 depend on each other: the smallest eigenvalue .* is \S+ and 1e-10 is allowed"):
        flexible.user_modes(beam, np.column_stack([shapes[:, 0], shapes[:, 1], -2.0 * shapes[:, 0]]))
    with refused("column 1 moves no mass"):
        flexible.user_modes(beam, np.column_stack([shapes[:, 0], np.zeros(30)]))
    with refused("column 0 is not finite"):
        flexible.user_modes(beam, np.full((30, 1), np.nan))


def test_stiffening_needs_beams(beam, matrices):
    part = flexible.Component(*matrices)
    with refused("is known for components made of beams only"):
        part.geometric_stiffness(np.ones(4))
    with refused("is known for components made of beams only"):
        part.shortening_loads(np.ones((30, 1)), np.ones((30, 1)))
    with refused(r"axial forces of the shape \(3,\); give 4 finite numbers"):
        beam.geometric_stiffness(np.ones(3))


def test_rotations_of_nodes_that_have_none():
    pytest.importorskip("skfem")
    part = flexible.solid((np.vstack([np.zeros(3), np.eye(3)]), [[0, 1, 2, 3]]), young=1e9, poisson=0.3, density=1e3)
    modes = flexible.free_modes(part, n_modes=3)
    assert modes.translations.shape == (10, 3, 3)
    with refused("nodes have three freedoms, no rotations"):
        _ = modes.rotations


# ---- files


def specimens():
    section = {key: value for key, value in BEAM.items() if key not in ("length", "elements")}
    turn = expm(np.array([[0, -0.3, 0.5], [0.3, 0, -0.8], [-0.5, 0.8, 0]]))
    line = flexible.beam(**BEAM)
    bent = flexible.frame(
        np.array([[0, 0, 0], [1.0, 0, 0], [1, 1, 0]]) @ turn,
        [[0, 1], [1, 2]],
        **{**section, "area": [1e-4, 2e-4], "shear_factors": (0.8, 0.8)},
        subdivisions=2,
    ).with_interface([0, 3], name="foot", kind="mean")
    plain = flexible.Component(line.nodes, line.mass_matrix, line.stiffness_matrix, triangles=[[0, 1, 2]])
    return [line, bent, plain.with_interface([3, 4]).with_interface([0, 1], name="a")]


@pytest.mark.parametrize("part", specimens(), ids=["beam", "frame", "matrices"])
def test_round_trips(part, tmp_path):
    modes = flexible.craig_bampton(part, [0, len(part.nodes) - 1], n_modes=3).relative_to("node", 1)
    text = json.dumps(modes.to_values(), allow_nan=False)
    modes.save(tmp_path / "modes.npz")
    for again in (flexible.Modes.from_values(json.loads(text)), flexible.Modes.load(tmp_path / "modes.npz")):
        assert np.array_equal(again.shapes, modes.shapes)
        assert np.array_equal(again.frequencies, modes.frequencies)
        assert (again.reference, again.interfaces, again.method) == (1, modes.interfaces, "craig_bampton")
        assert str(again) == str(modes)
        same = again.component
        for name in ("mass_matrix", "stiffness_matrix"):
            assert abs(getattr(same, name) - getattr(part, name)).max() == 0.0
        assert (same.beams is None) == (part.beams is None)
        assert np.array_equal(same.triangles, part.triangles)
        assert np.array_equal(same.positions, part.positions)
        assert [(p.name, p.kind) for p in same.interface_points] == [(p.name, p.kind) for p in part.interface_points]
        assert json.dumps(again.to_values()) == text
    part.save(tmp_path / "part.npz")
    assert json.dumps(flexible.Component.load(tmp_path / "part.npz").to_values()) == json.dumps(part.to_values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["modes.npz", "part.npz"]


def test_free_modes_without_reference_survive(beam, tmp_path):
    for modes in (flexible.free_modes(beam, n_modes=2), flexible.user_modes(beam, np.eye(30)[:, :2])):
        modes.save(tmp_path / "modes.npz")
        assert flexible.Modes.load(tmp_path / "modes.npz").reference == modes.reference


def test_matrices_of_other_programs(beam, tmp_path):
    io.mmwrite(tmp_path / "mass.mtx", beam.mass_matrix, symmetry="symmetric")
    io.mmwrite(tmp_path / "stiffness.mtx", beam.stiffness_matrix.toarray())
    sparse.save_npz(tmp_path / "stiffness.npz", sparse.csr_matrix(beam.stiffness_matrix))
    np.save(tmp_path / "mass.npy", beam.mass_matrix.toarray())
    np.savetxt(tmp_path / "nodes.csv", beam.nodes, delimiter=",")
    np.savetxt(tmp_path / "nodes.txt", beam.nodes)
    read = flexible.Component.from_files
    for part in (
        read(tmp_path / "nodes.csv", tmp_path / "mass.mtx", tmp_path / "stiffness.mtx"),
        read(tmp_path / "nodes.txt", tmp_path / "mass.npy", tmp_path / "stiffness.npz"),
        read(beam.nodes, beam.mass_matrix, beam.stiffness_matrix),
    ):
        assert abs(part.stiffness_matrix - beam.stiffness_matrix).max() < 1e-9 * abs(beam.stiffness_matrix).max()
        assert abs(part.mass_matrix - beam.mass_matrix).max() < 1e-9 * abs(beam.mass_matrix).max()
    with refused("'nowhere.mtx': there is no such file"):
        read(beam.nodes, "nowhere.mtx", beam.stiffness_matrix)
    with refused("unknown suffix; known are .mtx"):
        read(beam.nodes, beam.mass_matrix, "stiffness.op4")
    (tmp_path / "bad.mtx").write_text("nothing")
    with refused("mass_matrix: cannot be read"):
        read(beam.nodes, tmp_path / "bad.mtx", beam.stiffness_matrix)


def test_arrays_in_a_file(beam, tmp_path):
    stiffness = beam.stiffness_matrix.toarray()
    np.savez(
        tmp_path / "part.npz", nodes=beam.nodes, mass_matrix=beam.mass_matrix.toarray(), stiffness_matrix=stiffness
    )
    part = flexible.Component.load(tmp_path / "part.npz")
    assert abs(part.stiffness_matrix - beam.stiffness_matrix).max() == 0.0
    np.savez(tmp_path / "half.npz", nodes=beam.nodes, stiffness_matrix=stiffness)
    with refused("Component: missing mass_matrix"):
        flexible.Component.load(tmp_path / "half.npz")


def bad_values(beam):
    values = flexible.free_modes(beam, n_modes=2).to_values()
    part = flexible.Component(beam.nodes, beam.mass_matrix, beam.stiffness_matrix).to_values()
    yield [], "found list; needed is an object with component, shapes"
    yield {**values, "extra": 1}, "unknown extra"
    yield {key: value for key, value in values.items() if key != "shapes"}, "missing shapes"
    yield {**values, "shapes": values["shapes"][:-1]}, r"has the shape \(29, 2\) and there are 2 frequencies"
    yield {**values, "shapes": [["x", 1.0]]}, "other than a regular array of numbers"
    yield {**values, "reference": 99}, "there is no number 99"
    yield {**values, "component": {**values["component"], "nodes": None}}, "Component, nodes"
    yield {**values, "component": {**values["component"], "beams": {}}}, "Component.beams: missing edges"
    beams = values["component"]["beams"]
    yield (
        {**values, "component": {**values["component"], "beams": {**beams, "edges": [[0, 9]]}}},
        "pairs of node numbers",
    )
    yield {**values, "component": {**values["component"], "beams": {**beams, "area": -1.0}}}, "numbers above 0"
    yield {**values, "component": {**values["component"], "beams": {**beams, "area": [1.0, 2.0]}}}, r"shape \(2,\)"
    yield {**values, "component": {**part, "freedoms_per_node": 4}}, "found 4; allowed are 3 and 6"
    mass = part["mass_matrix"]
    yield {**values, "component": {**part, "mass_matrix": {**mass, "rows": mass["rows"][1:]}}}, "give as many"
    yield (
        {**values, "component": {**part, "mass_matrix": {**mass, "rows": [99] * len(mass["rows"])}}},
        "outside of its 30",
    )


def test_bad_values_of_modes(beam):
    for values, message in bad_values(beam):
        with refused(message):
            flexible.Modes.from_values(values)


def places(values, before=()):
    """Where something stands in a tree of values; of each list three places at random."""
    inner = range(0)
    if isinstance(values, dict):
        inner = values
    elif isinstance(values, list):
        inner = random.Random(len(before)).sample(range(len(values)), min(3, len(values)))
    for key in inner:
        yield (*before, key)
        yield from places(values[key], (*before, key))


NONSENSE = [None, True, "x", -1, 1.5, 1e308, float("nan"), 2**70, [], {}, [[]], [1, "a"], [[1, 2], [3]]]


@pytest.mark.parametrize("part", specimens(), ids=["beam", "frame", "matrices"])
def test_values_with_nonsense_are_refused_or_read(part):
    values = flexible.craig_bampton(part, [0, len(part.nodes) - 1], n_modes=2).to_values()
    cases = [(place, bad) for place in places(values) for bad in NONSENSE]
    for place, bad in random.Random(1).sample(cases, 250):
        mutated = copy.deepcopy(values)
        inner = mutated
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = bad
        with contextlib.suppress(mb.ModelError):
            flexible.Modes.from_values(mutated)


def test_bad_files_of_modes(beam, tmp_path):
    modes = flexible.free_modes(beam, n_modes=2)
    with refused("ends so"):
        modes.save(tmp_path / "modes.h5")
    with refused("there is no folder"):
        modes.save(tmp_path / "nowhere" / "modes.npz")
    with refused("there is no such file"):
        flexible.Modes.load(tmp_path / "modes.npz")
    (tmp_path / "modes.npz").write_bytes(b"PK\x03\x04 broken")
    with refused("cannot be read as .npz"):
        flexible.Modes.load(tmp_path / "modes.npz")
    np.savez(tmp_path / "objects.npz", shapes=np.array([{}], dtype=object))
    with refused("cannot be read as .npz"):
        flexible.Modes.load(tmp_path / "objects.npz")


# ---- rotary inertia


def test_rayleigh_sections_resist_tilting(beam, tmp_path):
    """ρ I of the sections belongs to the inertia about y and z; files keep the choice."""
    part = flexible.beam(**BEAM, rotary_inertia=True)
    beams = part.beams
    extra = float(np.sum(beams.density * beams.second_moment_y * beams.length))
    assert part.inertia[1, 1] - beam.inertia[1, 1] == pytest.approx(extra, rel=1e-9)
    part.save(tmp_path / "part.npz")
    for again in (flexible.Component.load(tmp_path / "part.npz"), flexible.Component.from_values(part.to_values())):
        assert abs(again.mass_matrix - part.mass_matrix).max() == 0.0
    with refused("rotary_inertia: found 'yes'"):
        flexible.beam(**BEAM, rotary_inertia="yes")
