"""The floating frame of flexible bodies: what every formulation must satisfy, and the integrals over the mass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
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
            "body", modes_of(kind), position=motion.position, rotation=motion.rotation, damping_ratios=0.1
        )
        shape = body.shapes_in_frame.motion_at(node)
        m = shape.shape[1]
        largest = np.abs(body.shapes_in_frame.shapes).max(axis=0)
        modal, rate = size * rng.normal(size=(2, m)) / largest
        self.shape = np.ascontiguousarray(shape)
        self.kind = kind
        motion = Motion(motion.position, motion.rotation, motion.velocity, motion.angular_velocity, modal, rate)
        point = body.modes.component.nodes[node]
        super().__init__(body.formulation_for(None), body, motion, point, rotation_of(rng))
        self.moves = self.turns = np.ones(3)

    def __post_init__(self) -> None:
        self.row = self.new_row(GRAVITY)
        self.q, self.v = self.formulation.coordinates_of(self.motion)

    def new_marker(self, scalar: str = "c16") -> Any:
        marker = super().new_marker(scalar)
        marker["node_shape"] = self.shape.ctypes.data
        return marker


CASES = [("mean", 3, 1), ("mean", 0, 2), ("node", 3, 3), ("node", 0, 4), ("nodes", 1, 5)]


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


def point_velocities(s: FlexibleSpecimen, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities and angular velocities of all mass points in the axes of the frame, (6 p,), from q and v."""
    part, shapes = s.body.modes.component, s.body.shapes_in_frame.shapes
    points = part.mass_points
    moved, rate = (points.displacement @ (shapes @ x) for x in (q[7:], v[6:]))
    moved, rate = moved.reshape(-1, 6), rate.reshape(-1, 6)
    rotation = s.formulation.poses(q[None])[1][0]
    omega = v[3:6]
    velocity = rotation.T @ v[:3] + np.cross(omega, points.positions + moved[:, :3]) + rate[:, :3]
    spin = omega + np.cross(omega, moved[:, 3:]) + rate[:, 3:]
    return np.hstack([velocity, spin]).ravel()


def test_mass_matrix_is_the_integral_over_the_elements(s: FlexibleSpecimen) -> None:
    """M = B^T (inertia of the mass points) B with the velocities B v of the points.

    For nodes with rotations the mass matrix mixes translations and rotations, and the momentum of a rotation is not
    exactly that of the first moment; there the coupling of r' and w must be -A s~ all the same (no motion may depend
    on a uniform velocity), and that block is compared with the first moment.
    """
    mass = s.inertia(s.q, s.v)[0].real
    n, still = len(s.v), np.zeros(len(s.v))
    b = np.array([point_velocities(s, s.q, still + d) for d in np.eye(n)]).T
    expected = b.T @ (s.body.modes.component.mass_points.inertia @ b)
    if s.kind == "nodes":
        part, shapes = s.body.modes.component, s.body.shapes_in_frame.shapes
        rigid = part.rigid_modes()
        moment = part.mass * part.centre_of_mass + rigid[:, :3].T @ (part.mass_matrix @ (shapes @ s.q[7:]))
        block = cross(np.eye(3), s.motion.rotation @ moment[:, None]) @ s.motion.rotation
        expected[:3, 3:6] = block
        expected[3:6, :3] = block.T
    assert_close(mass, mass.T, 0.0)
    assert_close(mass, expected, 1e-12)
    assert np.linalg.eigvalsh(mass).min() > 0.0


def test_kinetic_energy_and_momentum_are_sums_over_the_points(s: FlexibleSpecimen) -> None:
    if s.kind == "nodes":
        pytest.skip("see test_mass_matrix_is_the_integral_over_the_elements")
    mass = s.inertia(s.q, s.v)[0].real
    part = s.body.modes.component
    velocities = point_velocities(s, s.q, s.v)
    momenta = (part.mass_points.inertia @ velocities).reshape(-1, 6)
    assert_close(0.5 * s.v @ mass @ s.v, 0.5 * velocities @ momenta.ravel(), EXACT)
    assert_close((mass @ s.v)[:3], s.motion.rotation @ momenta[:, :3].sum(axis=0), EXACT)
    moved = (part.mass_points.displacement @ (s.body.shapes_in_frame.shapes @ s.q[7:])).reshape(-1, 6)
    angular = np.cross(part.mass_points.positions + moved[:, :3], momenta[:, :3]).sum(axis=0)
    if not np.any(momenta[:, 3:]):
        assert_close((mass @ s.v)[3:6], angular, EXACT)


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
        moment = part.mass * part.centre_of_mass + part.rigid_modes()[:, :3].T @ (part.mass_matrix @ (shapes @ q[7:]))
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
    s = FlexibleSpecimen("mean", 3, 1)
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
