"""The floating frame of flexible bodies: what every formulation must satisfy, and the integrals over the mass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.bodies.formulations.node_rotation import coefficients, turn, twist
from mbframe.state import Motion

from .specimens import GRAVITY, Specimen, along, assert_close, assert_compiles, cross, random_motion, rotation_of

# Collected here a second time, with the specimens of this file.
from .test_formulations import (  # noqa: F401
    test_angular_velocity_follows_from_the_axes,
    test_bias_is_the_second_derivative_for_constant_velocities,
    test_coordinates_and_motions_are_inverse,
    test_inertia_tangent,
    test_jacobian_is_the_derivative_of_the_rate,
    test_less_work_writes_the_same_numbers,
    test_load_tangent,
    test_normalizing_does_not_move_the_body,
    test_patterns_cover_all_that_differs_from_zero,
    test_place_tangent,
    test_rate_is_the_derivative_of_the_place,
)

EXACT = 1e-12


def beam(**changes: Any) -> Any:
    values = {"length": 1.2, "elements": 3, "area": 4e-4, "second_moments": (3e-8, 1e-8), "torsion": 2e-8}
    return mb.flexible.beam(**(values | {"young": 2e9, "shear": 8e8, "density": 2000.0} | changes))


def modes_of(kind: str) -> Any:
    if kind == "nodes":  # an imported model: its inertia is known at the nodes only
        part = beam(shear_factors=(0.8, 0.8))
        part = mb.flexible.Component(part.nodes, part.mass_matrix, part.stiffness_matrix)
        return mb.flexible.craig_bampton(part, interfaces=[0, 3], n_modes=1)
    if "solid" in kind:  # two cells, and a point that a face of them carries, away from its middle
        skfem = pytest.importorskip("skfem")
        mesh = skfem.MeshHex.init_tensor(np.linspace(0.0, 0.6, 3), np.array([0.0, 0.1]), np.array([0.0, 0.15]))
        part = mb.flexible.solid(mesh, young=2e8, poisson=0.3, density=2000.0, order=1)
        part = part.with_interface(np.flatnonzero(part.nodes[:, 0] > 0.5), position=(0.7, 0.0, 0.1))
        return mb.flexible.craig_bampton(part, interfaces=[len(part.nodes)], n_modes=2)
    part = beam(shear_factors=(0.8, 0.8) if kind == "node" else None)
    if kind == "node":
        return mb.flexible.clamped_modes(part, node=0, n_modes=4)
    return mb.flexible.craig_bampton(part, interfaces=[0, 3], n_modes=2)


class FlexibleSpecimen(Specimen):
    """A flexible body, deformed as far as no beam would bear, with a marker at one of its nodes."""

    def __init__(self, kind: str, node: int, seed: int, size: float = 0.5) -> None:
        rng = np.random.default_rng(seed)
        motion = random_motion(rng)
        body = mb.FlexibleBody(
            "body",
            modes_of(kind),
            position=motion.position,
            rotation=motion.rotation,
            damping_ratios=0.1,
            geometric_stiffening="curved" in kind,
        )
        shape = body.node_shape(node)
        m = shape.shape[1]
        largest = np.abs(body.shapes_in_frame.shapes).max(axis=0)
        modal, rate = size * rng.normal(size=(2, m)) / largest
        self.shape = np.ascontiguousarray(shape)
        self.kind = kind
        motion = Motion(motion.position, motion.rotation, motion.velocity, motion.angular_velocity, modal, rate)
        point = body.modes.component.positions[node]
        super().__init__(body.formulation_for(None), body, motion, point, rotation_of(rng))
        self.moves = self.turns = np.ones(3)

    def __post_init__(self) -> None:
        self.row = self.new_row(GRAVITY)
        self.q, self.v = self.formulation.coordinates_of(self.motion)

    def new_marker(self, scalar: str = "c16") -> Any:
        marker = super().new_marker(scalar)
        marker["node_shape"] = self.shape.ctypes.data
        return marker


CASES = [
    ("mean", 3, 1),
    ("mean", 0, 2),
    ("node", 3, 3),
    ("node", 0, 4),
    ("nodes", 1, 5),
    ("curved", 3, 6, 0.1),
    ("curved", 0, 7, 0.1),
    ("curved solid", 12, 8, 0.05),
    ("curved solid", 2, 9, 0.05),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}", scope="module")
def s(request: pytest.FixtureRequest) -> FlexibleSpecimen:
    return FlexibleSpecimen(*request.param)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


# --- the node's rotation ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.3, 0.32, 1.0, 3.0])
def test_node_turns_by_the_exponential(size: float) -> None:
    e = size * np.array([0.6, -0.8, 0.0])
    x = np.array([0.3, 0.5, -0.9])
    a, b, a_rate, b_rate = coefficients(e @ e)
    assert_close(turn(a, b, tuple(e), tuple(x)), Rotation.from_rotvec(e).apply(x), 1e-14)
    rate = np.array([0.7, 0.2, -0.4])
    spin = np.array(twist(a, b, tuple(e), tuple(rate)))

    def turned(h: complex) -> np.ndarray:
        moved = e + h * rate
        return np.array(turn(*coefficients(moved @ moved)[:2], tuple(moved), tuple(x)))

    assert_close(np.cross(spin, turned(0.0)), along(turned), 1e-14)
    by_square = along(lambda h: np.array(coefficients(e @ e + h)[:2]))
    assert_close([a_rate, b_rate], by_square, 1e-13)


# --- mass -------------------------------------------------------------------------------------------------------------


def own_velocities(s: FlexibleSpecimen, modal: np.ndarray, turning: bool) -> np.ndarray:
    """(6 p, 3 + m): velocities relative to the centre of mass and angular velocities of all mass points for unit w and
    unit eta', in axes that turn with the point by exp(e~) or in those of the frame; modal may be complex."""
    part, shapes = s.body.modes.component, s.body.shapes_in_frame.shapes
    points = part.mass_points
    rigid = part.rigid_modes()[:, :3]
    drift = rigid.T @ (part.mass_matrix @ shapes) / part.mass
    moves = (points.displacement @ shapes).reshape(-1, 6, shapes.shape[1])
    moves[:, :3] -= drift
    rows = []
    for place, move in zip(points.positions - part.centre_of_mass, moves, strict=True):
        arm = place + move[:3] @ modal
        block = np.zeros((6, 6), complex)
        block[:3, :3], block[:3, 3:] = -skew_of(move[3:] @ modal) * turning, np.eye(3)
        exponential = expm(block)  # [exp(-e~), integral of exp(-t e~) over 0 < t < 1; 0, 1]
        back, tangent = exponential[:3, :3], exponential[:3, 3:]
        velocity = np.hstack([back @ -skew_of(arm), back @ move[:3]])
        rows.append(np.vstack([velocity, np.hstack([back, tangent @ move[3:]])]))
    return np.vstack(rows)


def skew_of(x: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def relative_mass(s: FlexibleSpecimen) -> np.ndarray:
    """(3 + m, 3 + m): the mass matrix of w and eta' for the motion relative to the centre of mass, to second order.

    Taylor's coefficients in the size of the deformation, from values on a circle; eta' counts as a first order.
    """
    circle = np.exp(2j * np.pi * np.arange(24) / 24)
    form = s.body.modes.component.mass_points.inertia.toarray()
    # the mean mass of the three directions takes velocities as they are; what is left of the form turns with the points
    masses = sum(form[k::6, k::6] for k in range(3)) / 3.0
    alike = np.kron(masses, np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]))
    values = []
    for factor in circle:
        b, own = (own_velocities(s, factor * s.q[7:], turning) for turning in (False, True))
        values.append(b.T @ alike @ b + own.T @ (form - alike) @ own)
    orders = np.fft.fft(values, axis=0).real[:3] / len(circle)
    orders[1:, 3:, 3:] = 0.0
    orders[2, :3, 3:] = orders[2, 3:, :3] = 0.0
    return orders.sum(axis=0)


def test_mass_matrix_is_the_integral_over_the_elements(s: FlexibleSpecimen) -> None:
    """Energy of the centre of mass, and of the points relative to it with exact rotations, kept to second order.

    No motion may depend on a uniform velocity or on where the origin lies: what concerns the centre of mass is exact,
    also where an imported mass matrix mixes translations and rotations.
    """
    mass = s.inertia(s.q, s.v)[0].real
    part, shapes, eta = s.body.modes.component, s.body.shapes_in_frame.shapes, s.q[7:]
    moments = part.rigid_modes()[:, :3].T @ (part.mass_matrix @ shapes)
    arm = part.centre_of_mass + moments @ eta / part.mass
    centre = np.hstack([s.motion.rotation.T, -skew_of(arm), moments / part.mass])
    expected = part.mass * centre.T @ centre
    expected[3:, 3:] += relative_mass(s)
    if "curved" in s.kind:
        # displacements 1/2 eta g eta, linear in the energy of all points, of which no more is kept; no momentum in g
        points = part.mass_points
        moved = points.displacement @ (0.5 * (s.body.shapes_in_frame.curves @ eta) @ eta)
        momenta = (points.inertia @ points.rigid_fields()[:, 3:]).reshape(-1, 2, 3, 3)
        swung = np.array([[[np.cross(w, x) for w in np.eye(3)] for x in pair] for pair in moved.reshape(-1, 2, 3)])
        change = np.einsum("pbxa,pbcx->ac", momenta, swung)
        expected[3:6, 3:6] += change + change.T
        assert np.abs(change).max() > 1e-6 * np.abs(expected).max()
    assert_close(mass, mass.T, 0.0)
    assert_close(mass, expected, 1e-12)
    assert np.linalg.eigvalsh(mass).min() > 0.0


def test_momenta_are_those_of_the_mass_matrix(s: FlexibleSpecimen) -> None:
    """T = 1/2 v.M v, linear momentum dT/dr', angular momentum dT/dw about the origin of the frame."""
    mass = s.inertia(s.q, s.v)[0].real
    kinetic, _ = s.formulation.energies(s.q[None], s.v[None], s.body.mass_properties(), GRAVITY)
    linear, angular = s.formulation.momenta(s.q[None], s.v[None], s.body.mass_properties())
    assert_close(kinetic[0], 0.5 * s.v @ mass @ s.v, EXACT)
    assert_close(linear[0], (mass @ s.v)[:3], EXACT)
    assert_close(angular[0], np.cross(s.q[:3], linear[0]) + s.motion.rotation @ (mass @ s.v)[3:6], EXACT)


def test_equations_are_those_of_lagrange(s: FlexibleSpecimen, rng: np.random.Generator) -> None:
    """d/dt (dT/dv) - dT along d, without gravity and elasticity: M' v - 1/2 v^T dM v, and the brackets of w and r'.

    In terms of the velocities v = (r', w, eta') of a frame, Lagrange's equations are those of Boltzmann and Hamel: the
    row of w has the further term w x dT/dw.
    """
    elastic = s.formulation.inertia_data
    _, force = s.inertia(s.q, s.v, gravity=np.zeros(3))
    v = s.v
    momentum_rate = along(lambda h: s.inertia(s.moved(h, v), v)[0] @ v)
    mass = s.inertia(s.q, v)[0].real
    gradient = [along(lambda h, d=d: 0.5 * v @ s.inertia(s.moved(h, d), v)[0] @ v) for d in np.eye(len(v))]
    expected = -momentum_rate + gradient
    expected[3:6] -= np.cross(v[3:6], (mass @ v)[3:6])
    expected[6:] -= elastic.stiffness @ s.q[7:] + elastic.damping @ v[6:]
    assert_close(force.real, expected, EXACT)


def test_gravity_is_the_derivative_of_the_potential(s: FlexibleSpecimen) -> None:
    weight = (s.inertia(s.q, s.v)[1] - s.inertia(s.q, s.v, gravity=np.zeros(3))[1]).real
    part, shapes = s.body.modes.component, s.body.shapes_in_frame.shapes

    def potential(q: np.ndarray) -> complex:
        moved = shapes @ q[7:]
        if "curved" in s.kind:
            moved = moved + 0.5 * (s.body.shapes_in_frame.curves @ q[7:]) @ q[7:]
        moment = part.mass * part.centre_of_mass + part.rigid_modes()[:, :3].T @ (part.mass_matrix @ moved)
        return -GRAVITY @ (part.mass * q[:3] + s.frame_at(q)[:, :3] @ moment)

    assert_close(weight, [-along(lambda h, d=d: potential(s.moved(h, d))) for d in np.eye(len(s.v))], EXACT)


def test_variation_is_how_small_motions_change_velocities(s: FlexibleSpecimen) -> None:
    P, P_rate, Z, Z_rate = (x[0] for x in s.formulation.variation(s.q[None], s.v[None], s.v[None]))
    back = s.motion.rotation.T
    expected = np.eye(len(s.v))
    expected[3:6, 3:6] = back
    assert_close(P, expected, EXACT)
    rotation_rate = along(lambda h: s.frame_at(s.moved(h, s.v))[:, :3])
    assert_close(P_rate[3:6, 3:6], rotation_rate.T, EXACT)
    for zero in (P_rate[:3], P_rate[6:], Z, Z_rate):
        assert not np.any(zero)


def test_marker_power_is_the_power_of_its_wrench(s: FlexibleSpecimen, rng: np.random.Generator) -> None:
    """A force and a torque on a marker: v^T B^T (F, M x d_k / 2) = F . r' + M . w. So no joint does work."""
    marker, jacobian = s.place(s.q, s.v)
    force, torque = rng.normal(size=(2, 3))
    load = np.concatenate([force, 0.5 * cross(torque[:, None], marker.axes.real).ravel()])
    expected = force @ marker.velocity.real + torque @ marker.angular_velocity.real
    assert_close(s.v @ jacobian.real.T @ load, expected, EXACT)


# --- compiled kernels -------------------------------------------------------------------------------------------------


@pytest.mark.boundscheck
def test_compiled_kernels_equal_the_interpreted_ones() -> None:
    s = FlexibleSpecimen("curved", 3, 1, 0.1)
    f, n = s.formulation, s.formulation.n_v
    values = np.random.default_rng(3)
    frame, marker = np.zeros((3, f.n_frame)), s.new_marker("f8")
    assert_compiles(f.prepare, s.row, s.q, frame)
    f.prepare(s.row, s.q, frame)
    for level in range(3):
        assert_compiles(f.place, s.row, s.q, s.v, frame, marker, f.constant_jacobian(marker), level)
    f.place(s.row, s.q, s.v, frame, marker, f.constant_jacobian(marker), 2)
    zeros = np.zeros((n, n))
    assert_compiles(f.inertia, s.row, s.q, s.v, frame, f.constant_mass(s.row), np.zeros(n))
    assert_compiles(f.rates, s.row, s.q, s.v, np.zeros(f.n_q))
    assert_compiles(f.normalize, s.row, s.q + 0.1)
    assert_compiles(f.inertia_tangent, s.row, s.q, s.v, values.normal(size=n), frame, zeros, zeros)
    assert_compiles(f.place_tangent, s.row, s.v, frame, marker, np.zeros((12, n)))
    assert_compiles(f.load_tangent, s.row, frame, marker, values.normal(size=12), zeros)


def test_frames_and_damping_are_those_of_the_body() -> None:
    body = mb.FlexibleBody("body", modes_of("mean"), damping_ratios=0.02)
    data = body.formulation_for(None).inertia_data
    # Craig-Bampton modes are orthonormal: K = omega^2, D = 2 zeta omega
    omega = 2.0 * np.pi * body.modes.frequencies
    assert_close(data.modal_mass, np.eye(len(omega)), 1e-9)
    assert_close(np.diag(data.damping) / omega, 0.04 * np.ones(len(omega)), 1e-9)
    assert not np.any(data.moments), "mean axes carry no momentum"
    assert not np.any(data.spins)
    assert body.formulation_for(None) is body.formulation_for(mb.NaturalAbsolute())
    body.frame = "node"
    assert np.any(body.formulation_for(None).inertia_data.moments)
    assert_close(body.shapes_in_frame.motion_at(0), np.zeros((6, len(omega))), 1e-9)
    assert replace(body.motion, modal_velocities=np.ones(len(omega))).modal_velocities.sum() == len(omega)
