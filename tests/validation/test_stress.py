"""Section forces and stresses of flexible bodies against closed forms, reactions and static solutions."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse

import mbframe as mb
from mbframe.errors import ModelError

STEEL = {"young": 2.1e11, "shear": 8.1e10, "density": 7850.0}
FLAT = mb.flexible.rectangle(0.02, 0.01)
X = np.linspace(0.0, 1.0, 9)


def beam(section: dict[str, Any] = FLAT, elements: int = 8, **values: Any) -> mb.flexible.Component:
    return mb.flexible.beam(length=1.0, elements=elements, **(STEEL | section | values))


def shapes(part: mb.flexible.Component, kind: str) -> mb.flexible.Modes:
    if kind == "craig_bampton":
        return mb.flexible.craig_bampton(part, interfaces=[0, len(part.nodes) - 1], n_modes=0)
    if kind == "clamped":
        return mb.flexible.clamped_modes(part, node=0, n_modes=4)
    return mb.flexible.free_modes(part, n_modes=3)


def cantilever(modes: mb.flexible.Modes, load: str, rotation: Any = (1, 0, 0, 0), **values: Any) -> mb.Result:
    """Clamped at its first node and loaded at the other end, or by its weight, in rest; turned as a whole."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_quat(rotation, scalar_first=True)
    system = mb.System("cantilever", gravity=turn.apply([0, 0, -9.81] if load == "weight" else [0, 0, 0]))
    rod = system.add(mb.FlexibleBody("rod", modes, rotation=turn, **values))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    tip = turn.apply([1, 0, 0])
    loads = {"force": (0, 3e-4, -4e-4), "pull": (5, 0, 0), "moment": (0, 2e-4, 0), "torsion": (2e-4, 0, 0)}
    if load in ("force", "pull"):
        system.add(mb.PointForce("load", rod, at=tip, force=turn.apply(loads[load])))
    elif load in ("moment", "torsion"):
        system.add(mb.Torque("load", rod, at=tip, torque=turn.apply(loads[load])))
    with warnings.catch_warnings():  # that free and clamped shapes cannot follow the loads: stresses do
        warnings.simplefilter("ignore")
        return mb.evaluate(system, mb.equilibrium(system))


def statics(load: str) -> tuple[np.ndarray, np.ndarray]:
    """Tension, Vy, Vz, T, My, Mz along the cantilever, on the part beyond, and the largest stress along x."""
    rest, (iy, iz) = 1.0 - X, FLAT["second_moments"]
    found = np.zeros((len(X), 6))
    if load == "pull":
        found[:, 0] = 5.0
        return found, 5.0 / FLAT["area"] + 0.0 * X
    if load == "force":
        found[:, 1], found[:, 2], found[:, 4], found[:, 5] = -3e-4, 4e-4, -4e-4 * rest, -3e-4 * rest
        return found, 4e-4 * rest * 0.005 / iy + 3e-4 * rest * 0.01 / iz
    found[:, 4 if load == "moment" else 3] = -2e-4
    return found, (2e-4 * 0.005 / iy if load == "moment" else 0.0) + 0.0 * X


@pytest.mark.parametrize("load", ["pull", "force", "moment", "torsion"])
@pytest.mark.parametrize("kind", ["craig_bampton", "clamped", "free"])
def test_a_cantilever_has_the_section_forces_and_stresses_of_statics(load, kind):
    """However few its shapes: free and clamped modes are far from carrying these loads."""
    modes = shapes(beam(), kind)
    result = cantilever(modes, load, rotation=(0.5, 0.5, -0.5, 0.5))
    expected, xx = statics(load)
    found = [result.section_forces("rod", x) for x in X]
    got = np.array([[f.axial[0], *f.shear[0], f.torsion[0], *f.bending[0]] for f in found])
    assert got == pytest.approx(expected, abs=2e-6 * np.abs(expected).max())
    assert np.abs(result.stress("rod", component="xx")[0]) == pytest.approx(xx, abs=2e-6 * max(xx.max(), 1.0))


def test_weight_bends_it_as_a_uniform_load_does():
    result = cantilever(shapes(beam(), "clamped"), "weight")
    q = 7850.0 * FLAT["area"] * 9.81
    assert np.abs(result.stress("rod", component="xx")[0]) == pytest.approx(
        0.5 * q * (1 - X) ** 2 * 0.005 / FLAT["second_moments"][0], rel=1e-6, abs=1.0
    )
    bending = [result.section_forces("rod", x).bending[0, 0] for x in (0.0, 0.31, 0.5, 0.97)]
    assert bending == pytest.approx([-0.5 * q * (1 - x) ** 2 for x in (0.0, 0.31, 0.5, 0.97)], rel=1e-3)


def test_torsion_of_rectangles_is_that_of_a_stress_function():
    """Prandtl's function by finite differences, which shares nothing with the series."""
    section = mb.flexible.rectangle(0.02, 0.01)
    n = 80
    line = np.array([-2.0] + [1.0] + [0.0] * (n - 3))
    second = linalg.toeplitz(line) / (1.0 / n) ** 2
    across, along = np.kron(second / 0.01**2, np.eye(n - 1)), np.kron(np.eye(n - 1), second / 0.02**2)
    phi = sparse.linalg.spsolve(sparse.csc_array(across + along), -2.0 * np.ones((n - 1) ** 2)).reshape(n - 1, n - 1)
    cell = 0.01 / n * 0.02 / n
    torsion = 2.0 * phi.sum() * cell
    slope = lambda edge, step: (4.0 * edge[0] - edge[1]) / (2.0 * step)  # noqa: E731 (one-sided, zero at the edge)
    of_long = slope(phi[:2, n // 2 - 1], 0.01 / n) / torsion
    of_short = slope(phi[n // 2 - 1, :2], 0.02 / n) / torsion
    fibres = {(y, z): shear for y, z, shear in section["fibres"]}
    assert section["torsion"] == pytest.approx(torsion, rel=1e-3)
    assert fibres[0.0, 0.005] == pytest.approx(of_long, rel=2e-3)
    assert fibres[0.01, 0.0] == pytest.approx(of_short, rel=2e-3)


def test_round_sections_are_looked_at_where_stress_is_largest():
    result = cantilever(shapes(beam(mb.flexible.circle(0.02)), "craig_bampton"), "force")
    moment, resistance = 5e-4 * (1 - X), np.pi * 0.01**3 / 4.0
    assert result.stress("rod")[0] == pytest.approx(moment / resistance, rel=1e-6, abs=1e-3)
    twisted = cantilever(shapes(beam(mb.flexible.tube(0.02, 0.016)), "craig_bampton"), "torsion")
    shear = 2e-4 * 0.01 / (np.pi / 2.0 * (0.01**4 - 0.008**4))
    assert twisted.stress("rod")[0] == pytest.approx(np.sqrt(3.0) * shear + 0 * X, rel=1e-6)


def test_a_rotating_bar_is_pulled_as_known():
    """sigma(r) = rho w^2 (L^2 - r^2) / 2, which bending modes cannot carry at all."""
    system = mb.System("rotor", gravity=(0, 0, 0))
    modes = mb.flexible.clamped_modes(beam(), node=0, n_modes=2)
    rod = system.add(mb.FlexibleBody("rod", modes, angular_velocity=(0, 0, 10)))
    system.add(mb.RevoluteJoint("hub", system.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    result = mb.evaluate(system)
    expected = 0.5 * 7850.0 * 100.0 * (1.0 - X**2)
    assert result.stress(rod, component="xx")[0] == pytest.approx(expected, rel=1e-6, abs=1e-3)
    assert result.section_forces(rod, 0.35).axial[0] == pytest.approx(
        0.5 * 7850.0 * FLAT["area"] * 100.0 * (1.0 - 0.35**2), rel=1e-9
    )


@pytest.mark.parametrize("stiffening", [False, True])
@pytest.mark.parametrize("shear", [None, (5 / 6, 5 / 6)])
def test_a_body_that_flies_and_tumbles_is_in_balance(stiffening, shear):
    """Nothing acts before the first node: whatever it does, the part beyond that is in balance by itself."""
    rng = np.random.default_rng(5)
    part = beam(shear_factors=shear, rotary_inertia=True, young=2.1e9, shear=8.1e8)
    mass = part.mass_matrix.toarray()
    mass[24:30, 24:30] += np.diag([0.3, 0.3, 0.3, 3e-4, 2e-4, 2e-4])  # a disk
    modes = mb.flexible.free_modes(replace(part, mass_matrix=sparse.csr_array(mass)), n_modes=8)
    system = mb.System("flight", gravity=(0.3, -9.81, 1.0))
    bent = {"modal_coordinates": 1e-3 * rng.standard_normal(8), "modal_velocities": 0.1 * rng.standard_normal(8)}
    moving = {"velocity": (1, 2, 3), "angular_velocity": (20, 5, -7)}
    rod = system.add(mb.FlexibleBody("rod", modes, geometric_stiffening=stiffening, **bent, **moving))
    tip = rod.deformed_in_axes(rod.modal_coordinates)[8]
    system.add(mb.PointForce("push", rod, at=tip, force=(3, -20, 10)))
    result = mb.evaluate(system)
    first, middle = result.section_forces(rod, 0.0), result.section_forces(rod, 0.55)
    size = np.abs(middle.bending).max()
    for values in (first.axial, first.shear, first.torsion, first.bending):
        assert values == pytest.approx(0.0 * values, abs=1e-10 * max(size, 1.0))


@pytest.mark.parametrize("name", ["flexible_four_bar", "flexible_slider_crank", "crane_trolley"])
def test_sections_at_the_first_joint_balance_reactions_and_inertia(name):
    """The whole body lies beyond its first node: joints there carry what the section does, at every instant."""
    system = getattr(mb.examples, name)()
    result = mb.simulate(system, 0.3, t_eval=np.linspace(0, 0.3, 16))
    looked_at = 0
    for rod in (body for body in system.bodies if isinstance(body, mb.FlexibleBody)):
        found = result.section_forces(rod, 0.0)
        force, moment = np.zeros((16, 3)), np.zeros((16, 3))
        for joint in system.joints:
            for marker, sign in ((joint.i, -1.0), (joint.j, 1.0)):
                if marker.body is rod and np.linalg.norm(np.asarray(marker.at) - rod.position) < 1e-9:
                    force += sign * result.reaction(joint).force
                    moment += sign * result.reaction(joint).torque
        size = max(np.abs(force).max(), 1.0)
        carried = np.hypot(found.axial, np.linalg.norm(found.shear, axis=1))
        turned = np.hypot(found.torsion, np.linalg.norm(found.bending, axis=1))
        assert carried == pytest.approx(np.linalg.norm(force, axis=1), abs=1e-10 * size)
        assert turned == pytest.approx(np.linalg.norm(moment, axis=1), abs=1e-10 * size)
        looked_at += 1
    assert looked_at


def test_stresses_and_sections_agree_in_motion():
    """Two ways to the same: balance beyond a section of the bent rod, static solutions on the straight one."""
    system = mb.System("swing", gravity=(0, 0, -9.81))
    part = beam(elements=12, young=2.1e14)  # so stiff that it does not matter where loads act, on it straight or bent
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 12], n_modes=6)
    rod = system.add(mb.FlexibleBody("rod", modes, angular_velocity=(0, 2.0, 0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    result = mb.simulate(system, 0.4, t_eval=np.linspace(0, 0.4, 9))
    found = result.section_forces(rod, 0.5)
    expected = np.abs(found.axial) / FLAT["area"] + np.abs(found.bending[:, 0]) * 0.005 / FLAT["second_moments"][0]
    assert np.abs(result.stress(rod, nodes=6, component="xx")[:, 0]) == pytest.approx(expected, rel=1e-5)


def block(nx: int) -> mb.flexible.Component:
    """A cantilever of hexahedra, 0.4 x 0.04 x 0.03 m."""
    counts = np.array([nx, 2, 2])
    grid = np.indices(tuple(counts + 1)).reshape(3, -1).T
    numbers = np.arange(len(grid)).reshape(counts + 1)
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
    cells = np.indices(tuple(counts)).reshape(3, -1).T[:, None] + corners
    points = grid / counts * [0.4, 0.04, 0.03]
    mesh = points, numbers[tuple(np.moveaxis(cells, -1, 0))]
    return mb.flexible.solid(mesh, young=7e10, poisson=0.0, density=2700.0)


def held_block(nx: int, frame: str, n_modes: int = 2) -> tuple[mb.Result, mb.flexible.Component]:
    part = block(nx)
    root = np.flatnonzero(part.nodes[:, 0] < 1e-9)
    part = part.with_interface(root, name="root")
    modes = mb.flexible.craig_bampton(part, interfaces=["root"], n_modes=n_modes)
    system = mb.System("block", gravity=(0, 0, -9.81))
    body = system.add(mb.FlexibleBody("block", modes, frame=frame))
    system.add(mb.FixedJoint("wall", system.ground, body, at=(0, 0.02, 0.015)))
    return mb.evaluate(system, mb.equilibrium(system)), part


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_a_solid_bends_as_statics_has_it(frame):
    """Without lateral contraction the beam's stresses are those of a solid; away from the wall, where it is held."""
    result, part = held_block(8, frame)
    nodes = np.flatnonzero((np.abs(part.nodes[:, 0] - 0.2) < 1e-9) & (part.nodes[:, 2] > 0.0299))
    q = 2700.0 * 0.04 * 0.03 * 9.81
    expected = 0.5 * q * 0.2**2 * 0.015 / (0.04 * 0.03**3 / 12.0)
    found = result.stress("block", nodes=nodes, component="xx")[0]
    assert found == pytest.approx(expected + 0 * found, rel=0.01)
    assert result.stress("block", nodes=nodes)[0] == pytest.approx(np.abs(found), rel=0.02)


def test_stress_does_not_depend_on_the_floating_frame():
    first, other = (held_block(6, frame)[0].stress("block") for frame in ("node", "mean"))
    assert first == pytest.approx(other, rel=1e-4, abs=1e-5 * first.max())


def test_solids_with_one_mode_have_the_stress_of_all_freedoms():
    """Against the whole stiffness matrix with the wall held, and gradients of the elements by another way."""
    result, part = held_block(6, "mean", n_modes=1)
    root = np.flatnonzero(part.nodes[:, 0] < 1e-9)
    free = np.setdiff1d(np.arange(part.n_freedoms), (3 * root[:, None] + np.arange(3)).ravel())
    load = part.weight((0, 0, -9.81))
    moved = np.zeros(part.n_freedoms)
    moved[free] = sparse.linalg.spsolve(sparse.csc_array(part.stiffness_matrix)[np.ix_(free, free)], load[free])
    line = np.flatnonzero((np.abs(part.nodes[:, 1] - 0.02) < 1e-9) & (part.nodes[:, 2] > 0.0299))
    line = line[(part.nodes[line, 0] > 0.05) & (part.nodes[line, 0] < 0.35)]
    u = moved.reshape(-1, 3)[:, 0]
    found = result.stress("block", nodes=line, component="xx")[0]
    for node, stress in zip(line, found, strict=True):  # slopes of the parabolas through nodes on both sides
        x, across = part.nodes[node, 0], part.nodes[:, 1:] - part.nodes[node, 1:]
        row = np.flatnonzero(np.abs(across).max(axis=1) < 1e-9)
        row = row[np.argsort(part.nodes[row, 0])]
        along, k = part.nodes[row, 0], int(np.flatnonzero(row == node)[0])
        corner = min(abs(x - 0.4 / 6 * np.arange(7))) < 1e-9
        spans = ([k - 2, k - 1, k], [k, k + 1, k + 2]) if corner else ([k - 1, k, k + 1],)
        slopes = [np.polyval(np.polyder(np.polyfit(along[span] - x, u[row[span]], 2)), 0.0) for span in spans]
        assert stress == pytest.approx(7e10 * np.mean(slopes), rel=1e-3)


def test_fibres_survive_files(tmp_path):
    for section in (FLAT, mb.flexible.tube(0.02, 0.01), FLAT | {"fibres": [(0.005, 0.0), (-0.005, 0.01)]}):
        system = mb.System("one")
        system.add(mb.FlexibleBody("rod", shapes(beam(section), "clamped")))
        mb.save(system, tmp_path / "model.json")
        back: Any = mb.load(tmp_path / "model.json")["rod"]
        first: Any = system["rod"]
        for name in ("fibres", "radius"):
            a, b = (getattr(one.modes.component.beams, name) for one in (first, back))
            assert np.array_equal(a, b, equal_nan=True)


def test_stress_is_a_quantity_and_has_a_peak():
    result = cantilever(shapes(beam(), "craig_bampton"), "force")
    peak = result.stress_peak("rod")
    assert peak.node == 0
    assert peak.value == pytest.approx(result.stress("rod", nodes=0)[0, 0])
    assert result.quantity("rod.stress.max").values[0] == pytest.approx(peak.value)
    assert result.quantity("rod.stress.max").unit == "Pa"
    half = result.section_forces("rod", 0.5)
    assert result.quantity("rod.section(0.5).bending.y").values == pytest.approx(half.bending[:, 0])
    assert result.quantity("rod.section(0.5).axial").values == pytest.approx(half.axial)


def test_torsion_that_fibres_do_not_know_is_told():
    result = cantilever(shapes(beam(FLAT | {"fibres": [(0.01, 0.005)]}), "craig_bampton"), "torsion")
    with pytest.warns(UserWarning, match=r"rod.*torsion makes shear stresses"):
        result.stress("rod")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda r: r.stress("wall"), "body"),
        (lambda r: r.stress("rod", component="yy"), "'xx'"),
        (lambda r: r.stress("rod", nodes=99), "99"),
        (lambda r: r.stress("rod", t=0.123), "no stored instant"),
        (lambda r: r.section_forces("rod", 1.2), "allowed are ways from 0 to 1"),
        (lambda r: r.section_forces("rod", float("nan")), "allowed are ways"),
        (lambda r: r.quantity("rod.section(2).axial"), "allowed are ways"),
        (lambda r: r.quantity("rod.section(0.5).shear.x"), "section"),
    ],
)
def test_what_is_not_there_is_named(call, told):
    result = cantilever(shapes(beam(), "craig_bampton"), "force")
    with pytest.raises(ModelError, match=told):
        call(result)


def test_beams_without_fibres_and_matrices_say_what_is_missing():
    plain = {key: value for key, value in FLAT.items() if key != "fibres"}
    with pytest.raises(ModelError, match="fibres="):
        cantilever(shapes(beam(plain), "craig_bampton"), "force").stress("rod")
    part = beam()
    matrices = mb.flexible.Component(part.nodes, part.mass_matrix, part.stiffness_matrix)
    result = cantilever(shapes(matrices, "craig_bampton"), "force")
    with pytest.raises(ModelError, match="given as matrices"):
        result.stress("rod")
    with pytest.raises(ModelError, match="has no beams"):
        result.section_forces("rod", 0.5)


def test_frames_that_branch_have_stresses_but_no_sections():
    nodes = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0)]
    part = mb.flexible.frame(nodes, [(0, 1), (1, 2), (1, 3)], **STEEL, **mb.flexible.circle(0.02), subdivisions=2)
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 2], n_modes=0)
    system = mb.System("frame", gravity=(0, 0, 0))
    body = system.add(mb.FlexibleBody("frame", modes))
    system.add(mb.FixedJoint("wall", system.ground, body, at=(0, 0, 0)))
    system.add(mb.PointForce("load", body, at=(2, 0, 0), force=(0, 0, -1)))
    result = mb.evaluate(system, mb.equilibrium(system))
    resistance = np.pi * 0.01**3 / 4.0
    assert result.stress(body, nodes=[0, 1, 3])[0] == pytest.approx([2 / resistance, 1 / resistance, 0.0], abs=20.0)
    with pytest.raises(ModelError, match="branch"):
        result.section_forces(body, 0.5)


def test_nothing_that_deforms_is_refused():
    with pytest.raises(ModelError, match="leaves nothing to deform"):
        mb.flexible.craig_bampton(beam(), interfaces=[0], n_modes=0)
