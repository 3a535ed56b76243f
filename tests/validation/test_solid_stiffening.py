"""Geometric stiffening of solids: nonlinear statics, rotating and loaded bars, energy and momentum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.spatial.distance import pdist

import mbframe as mb

skfem = pytest.importorskip("skfem")

LENGTH, SIDE, YOUNG, DENSITY = 1.0, 0.02, 2.1e11, 7850.0
CELLS = 10
RIGIDITY, LINE = YOUNG * SIDE**4 / 12, DENSITY * SIDE**2
UNIT = np.sqrt(RIGIDITY / LINE) / LENGTH**2
X, Y, Z = np.eye(3)


def bar(cells: int = CELLS, poisson: float = 0.0, heights: tuple[float, float] = (SIDE, SIDE), **changes: Any) -> Any:
    """A straight bar along x with an interface point at each end; hexahedra with quadratic displacements."""
    across = [np.array([-0.5, 0.5]) * height for height in heights]
    mesh = skfem.MeshHex.init_tensor(np.linspace(0.0, LENGTH, cells + 1), *across)
    part = mb.flexible.solid(mesh, **({"young": YOUNG, "poisson": poisson, "density": DENSITY} | changes))
    for place, name in ((0.0, "foot"), (LENGTH, "tip")):
        face = np.flatnonzero(np.abs(part.nodes[:, 0] - place) < 1e-9)
        part = part.with_interface(face, position=place * X, name=name)
    return part


@pytest.fixture(scope="module")
def modes() -> Any:
    return mb.flexible.craig_bampton(bar(), interfaces=["foot", "tip"], n_modes=12)


# --- the displacement of second order against nonlinear statics -------------------------------------------------------


class Hyperelastic:
    """Saint Venant and Kirchhoff's body on a mesh with all of its Green-Lagrange strain; gradients by scikit-fem."""

    def __init__(self, mesh: Any, element: Any, young: float, poisson: float) -> None:
        basis = skfem.Basis(mesh, element, intorder=6)
        self.weights = basis.dx.ravel()
        self.slopes = np.zeros((*basis.dx.shape, basis.N, 3))
        for k, field in enumerate(basis.basis):
            values = np.broadcast_to(field[0].grad, (3, *basis.dx.shape))
            for cell in range(mesh.nelements):
                self.slopes[cell, :, basis.element_dofs[k, cell]] = values[:, cell].T
        self.slopes = self.slopes.reshape(-1, basis.N, 3)
        self.lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
        self.shear = young / (2 * (1 + poisson))

    def __call__(self, moved: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, its gradient and its matrix of second derivatives."""
        deformation = np.eye(3) + np.einsum("qnj,ni->qij", self.slopes, moved.reshape(-1, 3))
        strain = 0.5 * (np.einsum("qij,qil->qjl", deformation, deformation) - np.eye(3))
        trace = np.einsum("qii->q", strain)
        stress = 2 * self.shear * strain + self.lame * trace[:, None, None] * np.eye(3)
        energy = self.weights @ (0.5 * np.einsum("qij,qij->q", stress, strain))
        change = np.einsum("qij,qnl->qnijl", deformation, self.slopes)
        change = 0.5 * (change + change.swapaxes(3, 4))  # of the strain jl by the displacement i of node n
        gradient = np.einsum("q,qnijl,qjl->ni", self.weights, change, stress).ravel()
        flat = change.reshape(len(self.weights), moved.size, 9)
        traces = np.einsum("qajj->qa", change.reshape(len(self.weights), moved.size, 3, 3))
        matrix = np.einsum("q,qax,qbx->ab", 2 * self.shear * self.weights, flat, flat, optimize=True)
        matrix += np.einsum("q,qa,qb->ab", self.lame * self.weights, traces, traces, optimize=True)
        own = np.einsum("q,qnj,qjl,qml->nm", self.weights, self.slopes, stress, self.slopes, optimize=True)
        return energy, gradient, matrix + np.kron(own, np.eye(3))


def cable(force: float, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and second derivatives, by a and b, of the potential of a cable that pulls two points together."""
    arm = a - b
    size = np.linalg.norm(arm)
    along = arm / size
    block = force / size * (np.eye(3) - np.outer(along, along))
    return force * np.concatenate([along, -along]), np.block([[block, -block], [-block, block]])


@pytest.mark.parametrize("kind", ["hexahedra", "tetrahedra"])
def test_second_order_against_nonlinear_statics(kind: str) -> None:
    """A short bar that a cable between two corners bends: distances of all nodes, exact but for the third order.

    All modes are kept, so that nothing but u = psi eta + 1/2 eta g eta is an approximation, and nothing holds the bar.
    """
    young, poisson = 1e6, 0.3
    if kind == "hexahedra":
        mesh, order = skfem.MeshHex.init_tensor(np.linspace(0, 0.3, 4), np.array([0, 0.1]), np.array([0, 0.12])), 1
    else:
        corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.1, 0], [0.05, 0, 0.12]])
        mesh, order = skfem.MeshTet(corners.T, np.arange(4)[:, None]), 2
    element = skfem.ElementHex1() if kind == "hexahedra" else skfem.ElementTetP2()
    part = mb.flexible.solid(mesh, young=young, poisson=poisson, density=1e3, order=order)
    nodes, n = part.nodes, part.n_freedoms
    free = mb.flexible.free_modes(part, n_modes=n - 6)
    shapes, curves, stiffness = free.shapes, free.curves, np.diag(np.diag(free.stiffness))
    full = Hyperelastic(mesh, element, young, poisson)
    a, b = 0, int(np.argmax(nodes @ [1.0, 0.3, 0.5]))
    ends = np.concatenate([3 * a + np.arange(3), 3 * b + np.arange(3)])

    def nonlinear(force: float) -> np.ndarray:
        moved = np.zeros(n)
        for _ in range(25):
            _, gradient, matrix = full(moved)
            place = nodes + moved.reshape(-1, 3)
            pull, more = cable(force, place[a], place[b])
            gradient[ends] += pull
            matrix[np.ix_(ends, ends)] += more
            step = np.linalg.lstsq(matrix, -gradient, rcond=1e-10)[0]
            moved = moved + step
            if np.abs(step).max() < 1e-14:
                break
        return pdist(nodes + moved.reshape(-1, 3))

    def reduced(force: float) -> np.ndarray:
        eta = np.zeros(n - 6)
        for _ in range(25):
            now = shapes + curves @ eta
            place = nodes + (shapes @ eta + 0.5 * (curves @ eta) @ eta).reshape(-1, 3)
            pull, more = cable(force, place[a], place[b])
            matrix = stiffness + now[ends].T @ more @ now[ends] + np.tensordot(pull, curves[ends], 1)
            step = np.linalg.solve(matrix, -stiffness @ eta - now[ends].T @ pull)
            eta = eta + step
            if np.abs(step).max() < 1e-14:
                break
        return pdist(nodes + (shapes @ eta + 0.5 * (curves @ eta) @ eta).reshape(-1, 3))

    start = pdist(nodes)
    errors, changes = [], []
    for force in (40.0, 20.0) if kind == "hexahedra" else (1.0, 0.5):
        exact = nonlinear(force)
        errors.append(np.abs(reduced(force) - exact).max())
        changes.append(np.abs(exact - start).max())
        linear = shapes @ np.linalg.solve(stiffness, -shapes[ends].T @ cable(force, nodes[a], nodes[b])[0])
        without = np.abs(pdist(nodes + linear.reshape(-1, 3)) - exact).max()
        assert errors[-1] < 0.2 * without, "far better than the linear theory"
    assert changes[0] > 3e-4, "it bends"
    assert errors[1] / errors[0] == pytest.approx(1 / 8, abs=0.03)


def test_a_slender_bar_is_shortened_as_a_beam() -> None:
    """How much nearer the ends come in the first two bending vibrations, which both have with the same mass."""
    heights = (SIDE, 1.5 * SIDE)
    area, moments = heights[0] * heights[1], (heights[0] * heights[1] ** 3 / 12, heights[1] * heights[0] ** 3 / 12)
    line = mb.flexible.beam(
        length=LENGTH,
        elements=16,
        area=area,
        second_moments=moments,
        torsion=sum(moments),
        young=YOUNG,
        shear=0.5 * YOUNG,
        density=DENSITY,
    )
    shorter = []
    for part, ends in ((line, (0, 16)), (bar(16, heights=heights), ("foot", "tip"))):
        free = mb.flexible.free_modes(part, n_modes=2)
        shorter.append(free.curve_at(ends[1])[0] - free.curve_at(ends[0])[0])
    assert np.all(np.diag(shorter[0]) < 0.0)
    assert shorter[1] == pytest.approx(shorter[0], rel=0.01, abs=1e-3 * np.abs(shorter[0]).max())


# --- rotating bars ----------------------------------------------------------------------------------------------------


def rotating_mesh(part: Any, spin: float, hub: float) -> np.ndarray:
    """Lowest frequencies of the mesh itself, clamped at its foot and turning about z, about its nonlinear equilibrium.

    Coriolis forces couple deflections in the plane with stretching; they act on the 60 lowest modes without them.
    """
    ends = (np.unique(part.nodes[:, 1])[[0, -1]], np.unique(part.nodes[:, 2])[[0, -1]])
    mesh = skfem.MeshHex.init_tensor(np.linspace(0.0, LENGTH, CELLS + 1), *ends)
    full = Hyperelastic(mesh, skfem.ElementHex2(), YOUNG, 0.0)
    mass = part.mass_matrix.toarray()
    pulled = spin**2 * mass * np.tile([1.0, 1.0, 0.0], len(part.nodes))
    free = np.flatnonzero(np.repeat(part.nodes[:, 0] > 1e-9, 3))
    moved = np.zeros(part.n_freedoms)
    for _ in range(4):
        _, gradient, stiffness = full(moved)
        stiffness -= pulled
        rest = gradient - pulled @ ((part.nodes + hub * X).ravel() + moved)
        moved[free] -= np.linalg.solve(stiffness[np.ix_(free, free)], rest[free])
    squares, shapes = eigh(stiffness[np.ix_(free, free)], mass[np.ix_(free, free)], subset_by_index=(0, 59))
    turned = np.kron(np.eye(len(part.nodes)), np.cross(Z, np.eye(3)).T)
    coriolis = 2.0 * spin * shapes.T @ (mass @ turned)[np.ix_(free, free)] @ shapes
    roots = np.linalg.eigvals(np.block([[np.zeros((60, 60)), np.eye(60)], [-np.diag(squares), -coriolis]]))
    return np.sort(roots.imag[roots.imag > 0.0])[:4]


def blade(modes: Any, spin: float, hub: float, frame: str) -> mb.System:
    system = mb.System("blade", gravity=(0, 0, 0))
    shaft = system.add(mb.RigidBody("shaft", mass=1e3, inertia=(1e6, 1.2e6, 1.5e6), angular_velocity=spin * Z))
    system.add(mb.RevoluteJoint("bearing", system.ground, shaft, at=(0, 0, 0), axis=Z))
    place = hub * X
    body = mb.FlexibleBody(
        "blade",
        modes,
        frame=frame,
        position=place,
        velocity=np.cross(spin * Z, place),
        angular_velocity=spin * Z,
        geometric_stiffening=True,
    )
    system.add(mb.FixedJoint("clamp", shaft, system.add(body), at=place))
    return system


@pytest.mark.sample(1)
@pytest.mark.parametrize(("spin", "hub", "frame"), [(0, 0, "node"), (12, 0, "node"), (12, 1, "mean")])
def test_rotating_bars(modes: Any, spin: float, hub: float, frame: str) -> None:
    """First two frequencies in the plane of rotation and across it, against the mesh without any reduction."""
    rate = spin * UNIT
    system = blade(modes, rate, hub, frame)
    motion = mb.steady(system, axis=Z, rate=rate)
    roots = mb.linearize(system, motion, frame=mb.TurningFrame(axis=Z, rate=rate)).eigenvalues
    found = np.sort(roots.imag[roots.imag > 1e-2 * UNIT])[:4]
    assert np.abs(roots.real).max() < 1e-6 * np.abs(roots).max()
    expected = rotating_mesh(modes.component, rate, hub)
    assert found[:2] == pytest.approx(expected[:2], rel=2e-3)
    assert found[2:] == pytest.approx(expected[2:], rel=4e-3)  # third order: tension strains the foot by 0.7 %


# --- loaded bars ------------------------------------------------------------------------------------------------------


def cantilever(modes: Any, force: np.ndarray, frame: str = "mean") -> mb.System:
    system = mb.System("cantilever", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", modes, frame=frame, geometric_stiffening=True))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    system.add(mb.PointForce("load", rod, at=LENGTH * X, force=force))
    return system


def test_a_column_buckles_as_euler_says(modes: Any) -> None:
    critical = 0.25 * np.pi**2 * RIGIDITY / LENGTH**2

    def softest(share: float) -> float:
        system = cantilever(modes, -share * critical * X)
        return -float((mb.linearize(system, mb.equilibrium(system)).eigenvalues ** 2).real.max())

    found = brentq(softest, 0.98, 1.02, xtol=1e-4)
    assert found == pytest.approx(1.0, abs=3e-3)


@pytest.mark.sample
@pytest.mark.parametrize("frame", ["node", "mean"])
@pytest.mark.parametrize(
    ("load", "inwards", "down", "tolerance"),
    [(0.25, 0.0041178, 0.0827458, 0.015), (0.125, 0.0010386, 0.0415924, 0.005)],
)
def test_the_tip_moves_inwards(
    modes: Any, frame: str, load: float, inwards: float, down: float, tolerance: float
) -> None:
    """The elastica under a dead load P at its end, P L^2 / E I = load."""
    system = cantilever(modes, -load * RIGIDITY / LENGTH**2 * Z, frame)
    tip = mb.evaluate(system, mb.equilibrium(system)).position("rod", local_point=LENGTH * X)[0]
    assert LENGTH - tip[0] == pytest.approx(inwards * LENGTH, rel=tolerance)
    assert -tip[2] == pytest.approx(down * LENGTH, rel=tolerance)


# --- energy and momentum ----------------------------------------------------------------------------------------------


def test_a_tumbling_solid_keeps_energy_and_momentum() -> None:
    part = bar(6, poisson=0.3, heights=(0.02, 0.03), young=2.1e9)
    modes = mb.flexible.craig_bampton(part, interfaces=["foot", "tip"], n_modes=1)
    values = np.random.default_rng(3)
    system = mb.System("free", gravity=(0, 0, 0))
    rod = mb.FlexibleBody(
        "rod",
        modes,
        angular_velocity=(1.0, -4.0, 6.0),
        modal_velocities=0.3 * values.normal(size=modes.count),
        modal_coordinates=0.3 / (2.0 * np.pi * modes.frequencies) * values.normal(size=modes.count),
        geometric_stiffening=True,
    )
    system.add(rod)
    result = mb.simulate(system, 0.1, integrator=mb.DormandPrince(rtol=1e-11, atol=1e-13))
    energy = result.energy
    assert np.ptp(energy.total) < 1e-8 * energy.kinetic.max()
    assert np.ptp(energy.potential) > 1e-3 * energy.kinetic.max(), "it bends"
    for momentum in (result.momentum.linear, result.momentum.angular):
        assert np.ptp(momentum, axis=0).max() < 1e-8 * np.abs(result.momentum.angular).max()


# --- what is known of a component -------------------------------------------------------------------------------------


def test_matrices_alone_are_refused(modes: Any) -> None:
    part = replace(modes.component, solids=None)
    with pytest.raises(
        mb.ModelError, match=r"blade.*geometric_stiffening.*given as matrices.*mb\.flexible\.beam, frame"
    ):
        mb.FlexibleBody("blade", replace(modes, component=part), geometric_stiffening=True)


def test_cells_are_in_files(modes: Any, tmp_path: Any) -> None:
    modes.save(tmp_path / "modes.npz")
    again = mb.flexible.Modes.load(tmp_path / "modes.npz")
    assert np.array_equal(again.component.solids.cells, modes.component.solids.cells)
    assert again.curves == pytest.approx(modes.curves, rel=1e-9, abs=1e-12 * np.abs(modes.curves).max())
    system = mb.System("saved")
    system.add(mb.FlexibleBody("rod", modes, geometric_stiffening=True))
    mb.save(system, tmp_path / "model.json")
    (found,) = (body for body in mb.load(tmp_path / "model.json").bodies if body.name == "rod")
    assert found.geometric_stiffening
    assert np.array_equal(found.modes.component.solids.places, modes.component.solids.places)
