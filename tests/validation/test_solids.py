"""Solids against closed forms: patch tests, mass properties, bars and beams, a connecting rod from a file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import mbframe as mb
from mbframe.flexible.rod_mesh import connecting_rod, gmsh_text

skfem = pytest.importorskip("skfem")
flexible = mb.flexible

YOUNG, POISSON, DENSITY = 2.1e11, 0.3, 7850.0
SIZE = np.array([0.5, 0.2, 0.3])
KINDS = [(kind, order) for kind in ("tetrahedra", "hexahedra") for order in (1, 2)]


def block(kind: str, counts=(3, 2, 2), distortion: float = 0.0):
    """A mesh of the box from 0 to SIZE; inner corners are moved by random parts of the cells' size."""
    cls = {"tetrahedra": skfem.MeshTet, "hexahedra": skfem.MeshHex}[kind]
    mesh = cls.init_tensor(*(np.linspace(0.0, size, n + 1) for size, n in zip(SIZE, counts, strict=True)))
    inside = np.all((mesh.p > 1e-9) & (mesh.p < SIZE[:, None] - 1e-9), axis=0)
    moved = mesh.p.copy()
    steps = (SIZE / counts)[:, None] * np.random.default_rng(2).uniform(-1.0, 1.0, moved.shape)
    moved[:, inside] += distortion * steps[:, inside]
    return type(mesh)(moved, mesh.t)


def solid(mesh, order=2, poisson=POISSON):
    return flexible.solid(mesh, young=YOUNG, poisson=poisson, density=DENSITY, order=order)


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_patch(kind, order):
    """Any linear displacement is an equilibrium of a distorted mesh, with the energy ½ V σ:ε."""
    part = solid(block(kind, (2, 2, 2), distortion=0.2), order)
    gradient = np.random.default_rng(3).normal(size=(3, 3))
    displacement = (part.nodes @ gradient.T).ravel()
    forces = (part.stiffness_matrix @ displacement).reshape(-1, 3)
    inner = np.all((part.nodes > 1e-9) & (part.nodes < SIZE - 1e-9), axis=1)
    assert inner.any()
    assert abs(forces[inner]).max() < 1e-11 * abs(forces).max()
    strain = 0.5 * (gradient + gradient.T)
    stress = YOUNG / (1 + POISSON) * (strain + POISSON / (1 - 2 * POISSON) * np.trace(strain) * np.eye(3))
    assert 0.5 * displacement @ forces.ravel() == pytest.approx(0.5 * SIZE.prod() * np.sum(stress * strain), rel=1e-11)


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_mass_properties_and_rigid_motions(kind, order):
    part = solid(block(kind, distortion=0.15), order)
    mass = DENSITY * SIZE.prod()
    a, b, c = SIZE**2
    assert part.mass == pytest.approx(mass, rel=1e-12)
    assert part.centre_of_mass == pytest.approx(SIZE / 2, rel=1e-12)
    assert part.inertia == pytest.approx(mass / 12 * np.diag([b + c, a + c, a + b]), rel=1e-10, abs=1e-10 * mass)
    rigid = part.rigid_modes(part.centre_of_mass)
    bound = abs(part.stiffness_matrix) @ abs(rigid)
    assert abs(part.stiffness_matrix @ rigid).max() < 1e-13 * bound.max()
    corners = part.nodes[part.triangles]
    enclosed = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert enclosed == pytest.approx(SIZE.prod(), rel=1e-12)  # positive: triangles face outwards


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_free_bar_vibrates_along_its_axis(kind, order):
    """Without contraction (ν = 0) the bar is one-dimensional: f = √(E/ρ)/2L; errors fall with h^(2 order)."""
    exact = np.sqrt(YOUNG / DENSITY) / (2 * SIZE[0])
    errors = []
    for n in (4, 8):
        part = solid(block(kind, (n, 1, 1)), order, poisson=0.0)
        modes = flexible.free_modes(part, n_modes=30)
        along = np.argmax(abs(modes.shapes.reshape(-1, 3, 30)[:, 0].T @ np.cos(np.pi * part.nodes[:, 0] / SIZE[0])))
        errors.append(modes.frequencies[along] / exact - 1.0)
    assert 0.0 < errors[1] < {1: 0.02, 2: 2e-5}[order]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2 * order, abs=0.35)


@pytest.mark.parametrize("kind", ["tetrahedra", "hexahedra"])
def test_cantilever_converges(kind):
    """Slender, ν = 0, quadratic: the tip deflection approaches F L³/3EI + F L/κGA, κ = 5/6, from below."""
    length, height, width = 1.0, 0.05, 0.04
    force = 1000.0
    bending = force * length**3 / (3 * YOUNG * width * height**3 / 12)
    exact = bending + force * length / (5 / 6 * YOUNG / 2 * width * height)
    cls = {"tetrahedra": skfem.MeshTet, "hexahedra": skfem.MeshHex}[kind]
    errors = []
    for n in (4, 8, 16):
        mesh = cls.init_tensor(np.linspace(0, length, n + 1), np.linspace(0, width, 2), np.linspace(0, height, 2))
        part = solid(mesh, poisson=0.0)
        x = part.nodes[:, 0]
        part = part.with_interface(np.flatnonzero(x < 1e-9), name="root").with_interface(
            np.flatnonzero(x > length - 1e-9), name="tip"
        )
        modes = flexible.craig_bampton(part, ["root", "tip"], n_modes=0).relative_to("node", "root")
        tip = modes.motion_at("tip")
        errors.append(float((tip @ np.linalg.solve(modes.stiffness, tip.T @ [0, 0, force, 0, 0, 0]))[2]) / exact - 1.0)
    assert all(abs(after) < abs(before) for before, after in pairwise(errors))
    assert abs(errors[-1]) < 3e-3


def test_rigid_and_mean_interfaces():
    """A rigid face is stiffer than one of which only the mean is held; both carry exact rigid motions."""
    part = solid(block("hexahedra"))
    left, right = (np.flatnonzero(abs(part.nodes[:, 0] - x) < 1e-9) for x in (0.0, SIZE[0]))
    frequencies = {}
    for kind in ("rigid", "mean"):
        coupled = part.with_interface(left, name="left", kind=kind).with_interface(right, name="right", kind=kind)
        for place in ("left", "right"):
            about = coupled.positions[coupled.number_of(place)]
            assert coupled.motion_at(place) @ coupled.rigid_modes(about) == pytest.approx(np.eye(6), abs=1e-10)
        modes = flexible.craig_bampton(coupled, ["left", "right"], n_modes=10)
        assert modes.count == 16
        frequencies[kind] = modes.frequencies
    free = flexible.free_modes(part, n_modes=1).frequencies[0]
    assert free <= frequencies["mean"][0] * (1 + 1e-9)
    assert frequencies["mean"][0] < frequencies["rigid"][0]


@pytest.mark.parametrize("kind", ["rigid", "mean"])
def test_statics_at_interfaces_is_that_of_the_full_model(kind):
    """Held at one face, loaded at the other, with a full dense solution that has multipliers for rigid faces."""
    part = solid(block("tetrahedra", (2, 1, 1)), order=2)
    left, right = (np.flatnonzero(abs(part.nodes[:, 0] - x) < 1e-9) for x in (0.0, SIZE[0]))
    part = part.with_interface(left, name="left", kind=kind).with_interface(right, name="right", kind=kind)
    modes = flexible.craig_bampton(part, ["left", "right"], n_modes=0).relative_to("node", "left")
    wrench = np.array([1.0, -2.0, 3.0, 0.4, 0.5, 0.6])
    tip = modes.motion_at("right")
    reduced = tip @ np.linalg.solve(modes.stiffness, tip.T @ wrench)

    size, count = part.n_freedoms, 6
    stiffness = part.stiffness_matrix.toarray()
    if kind == "mean":
        conditions = part.motion_at("left").toarray()
        matrix = np.block([[stiffness, 1e9 * conditions.T], [1e9 * conditions, np.zeros((6, 6))]])
        full = np.linalg.solve(matrix, np.concatenate([part.load_at("right", wrench[:3], wrench[3:]), np.zeros(6)]))
        expected = part.motion_at("right") @ full[:size]
    else:
        others = np.setdiff1d(np.arange(len(part.nodes)), [*left, *right])
        inner = (3 * others[:, None] + np.arange(3)).ravel()
        moves = np.zeros((size, len(inner) + count))
        moves[inner, np.arange(len(inner))] = 1.0
        rigid = part.rigid_modes(part.positions[part.number_of("right")]).reshape(-1, 3, 6)
        moves.reshape(-1, 3, len(inner) + count)[right, :, len(inner) :] = rigid[right]
        load = np.concatenate([np.zeros(len(inner)), wrench])
        expected = np.linalg.solve(moves.T @ stiffness @ moves, load)[-6:]
    assert reduced == pytest.approx(expected, rel=1e-7, abs=1e-9 * abs(expected).max())


@pytest.mark.parametrize("number", [0, 7, 20])
def test_nodes_of_solids_turn_with_affine_fields(number):
    """The rotation of a node of three freedoms is half the curl, whatever the strain."""
    part = solid(block("tetrahedra", distortion=0.2), order=1)
    gradient = np.random.default_rng(5).normal(size=(3, 3))
    motion = part.motion_at(number) @ (part.nodes @ gradient.T + [1.0, 2.0, 3.0]).ravel()
    curl = np.array([gradient[2, 1] - gradient[1, 2], gradient[0, 2] - gradient[2, 0], gradient[1, 0] - gradient[0, 1]])
    assert motion[:3] == pytest.approx(gradient @ part.nodes[number] + [1.0, 2.0, 3.0])
    assert motion[3:] == pytest.approx(0.5 * curl, rel=1e-9, abs=1e-12)


def test_frame_at_a_node_of_a_solid():
    part = solid(block("tetrahedra"), order=1)
    modes = flexible.clamped_modes(part, node=13, n_modes=4)
    assert abs(modes.motion_at(13)).max() < 1e-9 * abs(modes.shapes).max()
    assert modes.relative_to("mean").count == 4


# ---- meshes from elsewhere


@pytest.mark.parametrize("suffix", ["msh", "vtu"])
@pytest.mark.parametrize("kind", ["tetrahedra", "hexahedra"])
def test_mesh_files_in_millimetres(tmp_path, suffix, kind, capsys):
    from skfem.io.meshio import to_meshio

    mesh = block(kind).scaled(1000.0)
    path = tmp_path / f"block.{suffix}"
    to_meshio(mesh).write(path)
    part = flexible.solid(path, young=YOUNG, poisson=POISSON, density=DENSITY, scale=0.001)
    direct = solid(block(kind))
    assert part.mass == pytest.approx(direct.mass, rel=1e-12)
    expected = flexible.free_modes(direct, n_modes=4).frequencies
    assert flexible.free_modes(part, n_modes=4).frequencies == pytest.approx(expected, rel=1e-8)
    assert capsys.readouterr().out == "", "formats that meshio tried in vain are not the user's affair"


def test_mesh_as_arrays_without_unused_points():
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [9, 9, 9], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    part = solid((corners, [[0, 1, 2, 3, 5, 6, 7, 8]]), order=1)
    assert len(part.nodes) == 8
    assert part.mass == pytest.approx(DENSITY)
    assert part.centre_of_mass == pytest.approx([0.5, 0.5, 0.5])


ROD = Path(__file__).parents[2] / "assets" / "meshes" / "connecting_rod.msh"


def test_connecting_rod_file_is_current():
    assert ROD.read_text(encoding="ascii") == gmsh_text(*connecting_rod())
    assert ROD.stat().st_size < 200_000


def test_connecting_rod():
    """Symmetric about two planes; the rings have the mass of their polygons; joints can attach to both bores."""
    points, cells = connecting_rod(shank_thickness=0.024)
    part = flexible.solid((points, cells), young=YOUNG, poisson=POISSON, density=DENSITY, order=1)
    assert part.centre_of_mass[1:] == pytest.approx([0.0, 0.0], abs=1e-12)
    big = 0.024 * DENSITY * polygon_area(points, 0, 0.036) - 0.024 * DENSITY * polygon_area(points, 0, 0.024)
    cell_masses = {False: 0.0, True: 0.0}
    for cell in cells:
        ring = np.all(np.hypot(*points[cell][:, :2].T) < 0.036 + 1e-9)
        area = 0.5 * abs(np.sum(np.cross(points[cell[:4]], np.roll(points[cell[:4]], -1, 0))[:, 2]))
        cell_masses[bool(ring)] += DENSITY * 0.012 * area
    assert cell_masses[True] == pytest.approx(big, rel=1e-9)
    assert sum(cell_masses.values()) == pytest.approx(part.mass, rel=1e-9)


def polygon_area(points, x, radius) -> float:
    """Of the polygon of points at this radius about (x, 0) in the lowest layer."""
    lowest = points[points[:, 2] < points[:, 2].min() + 1e-9]
    around = lowest[abs(np.hypot(lowest[:, 0] - x, lowest[:, 1]) - radius) < 1e-9]
    around = around[np.argsort(np.arctan2(around[:, 1], around[:, 0] - x))]
    return float(0.5 * np.sum(np.cross(around, np.roll(around, -1, 0))[:, 2]))


def test_connecting_rod_from_its_file():
    part = flexible.solid(ROD, young=YOUNG, poisson=POISSON, density=DENSITY, order=1)
    for name, x, radius in (("big", 0.0, 0.024), ("small", 0.15, 0.011)):
        bore = flexible.nodes_on_cylinder(part, (x, 0, 0), (0, 0, 1), radius, length=0.024)
        assert len(bore) == 60
        part = part.with_interface(bore, (x, 0, 0), name)
    modes = flexible.craig_bampton(part, ["big", "small"], n_modes=4)
    assert modes.count == 10
    assert part.node_at((0.15, 0, 0)) == part.number_of("small")
    held = modes.relative_to("node", "big")
    assert abs(held.motion_at("big")).max() < 1e-9 * abs(held.shapes).max()
