"""Every formulation: its kernels are derivatives of one another and describe a rigid body."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.bodies.formulations import Formulation
from mbframe.bodies.formulations.euler_angles import SEQUENCES

from .specimens import (
    GRAVITY,
    Specimen,
    along,
    assert_close,
    assert_compiles,
    bias_of,
    cross,
    name_of,
    place_of,
    rate_of,
    specimens,
    walk,
)

EXACT = 1e-12
TURN = Rotation.from_rotvec([0.3, -0.8, 0.5])
VARIANTS = [mb.EulerAngles("XYX"), mb.EulerAngles("ZYX", offset=TURN)]
CASES = [s for f in [*(cls() for cls in walk(Formulation) if cls.dimension), *VARIANTS] for s in specimens(f)]


def label(specimen: Specimen) -> str:
    _, center, inertia = specimen.body.mass_properties()
    moments = np.linalg.eigvalsh(inertia)
    thin = moments[2] - moments[1] - moments[0] > -1e-9
    kind = "thin" if thin else "general" if center.any() else "centred"
    sequence = getattr(specimen.formulation, "sequence", "")
    return f"{name_of(specimen.formulation)}{sequence}-{kind}"


@pytest.fixture(params=CASES, ids=label)
def s(request: pytest.FixtureRequest) -> Specimen:
    return request.param


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def columns(n: int) -> np.ndarray:
    """The unit directions of the velocities."""
    return np.eye(n)


# --- the marker table -------------------------------------------------------------------------------------------------


def test_markers_move_as_points_of_a_rigid_body(s: Specimen) -> None:
    m = s.motion
    marker, _ = s.place(s.q, s.v)
    arm, axes = m.rotation @ s.point, m.rotation @ s.frame
    omega = m.angular_velocity[:, None]
    assert_close(s.frame_at(s.q)[:, :3], m.rotation, EXACT)
    assert_close(marker.position, m.position + arm, EXACT)
    assert_close(marker.axes, axes, EXACT)
    assert_close(marker.velocity, m.velocity + np.cross(m.angular_velocity, arm), EXACT)
    assert_close(marker.axes_rate, cross(omega, axes), EXACT)
    assert_close(marker.angular_velocity, m.angular_velocity, EXACT)


def test_angular_velocity_follows_from_the_axes(s: Specimen) -> None:
    marker, _ = s.place(s.q, s.v)
    assert_close(marker.angular_velocity, 0.5 * cross(marker.axes, marker.axes_rate).sum(axis=1), EXACT)


def test_less_work_writes_the_same_numbers(s: Specimen) -> None:
    """Lower levels leave out rates; a marker, the axes whose bits in `oriented` are zero."""
    marker, jacobian = s.place(s.q, s.v, level=2)
    rates_only, same_jacobian = s.place(s.q, s.v, level=1)
    place_only, _ = s.place(s.q, s.v, level=0)
    assert_close(rate_of(rates_only), rate_of(marker), 0.0)
    assert_close(same_jacobian, jacobian, 0.0)
    assert_close(place_of(place_only), place_of(marker), 0.0)
    point_only, point_jacobian = s.place(s.q, s.v, oriented=0)
    for name in ("position", "velocity", "bias"):
        assert_close(point_only[name], marker[name], 0.0)
    assert_close(point_jacobian[:3], jacobian[:3], 0.0)
    for k in range(3):
        one_axis, axis_jacobian = s.place(s.q, s.v, oriented=1 << k)
        for name in ("axes", "axes_rate", "axes_bias"):
            assert_close(one_axis[name][:, k], marker[name][:, k], 0.0)
        assert_close(one_axis.angular_velocity, marker.angular_velocity, 0.0)
        assert_close(axis_jacobian[3 + k :: 3], jacobian[3 + k :: 3], 0.0)


def test_rate_is_the_derivative_of_the_place(s: Specimen) -> None:
    marker, _ = s.place(s.q, s.v)
    assert_close(rate_of(marker), along(lambda h: place_of(s.place(s.moved(h, s.v), s.v)[0])), EXACT)


def test_jacobian_is_the_derivative_of_the_rate(s: Specimen) -> None:
    _, jacobian = s.place(s.q, s.v)
    by_velocity = [along(lambda h, d=d: rate_of(s.place(s.q, s.v + h * d)[0])) for d in columns(len(s.v))]
    assert_close(jacobian, np.transpose(by_velocity), EXACT)


def test_bias_is_the_second_derivative_for_constant_velocities(s: Specimen) -> None:
    marker, _ = s.place(s.q, s.v)
    assert_close(bias_of(marker), along(lambda h: rate_of(s.place(s.moved(h, s.v), s.v)[0])), EXACT)


def test_place_tangent(s: Specimen) -> None:
    marker, _ = s.place(s.q, s.v)
    found = np.full((12, len(s.v)), np.nan, complex)
    s.formulation.place_tangent(s.row, s.v, s.frame_at(s.q), marker, found)
    expected = [along(lambda h, d=d: rate_of(s.place(s.moved(h, d), s.v)[0])) for d in columns(len(s.v))]
    assert_close(found, np.transpose(expected), EXACT)


def test_load_tangent(s: Specimen, rng: np.random.Generator) -> None:
    load = rng.normal(size=12)
    before = rng.normal(size=(len(s.v), len(s.v)))
    found = before.astype(complex)
    s.formulation.load_tangent(s.row, s.frame_at(s.q), s.place(s.q, s.v)[0], load, found)
    expected = [along(lambda h, d=d: s.place(s.moved(h, d), s.v)[1].T @ load) for d in columns(len(s.v))]
    assert_close(found, before + np.transpose(expected), EXACT)


# --- mass and inertia forces ------------------------------------------------------------------------------------------


def test_mass_matrix_gives_the_kinetic_energy(s: Specimen) -> None:
    mass = s.inertia(s.q, s.v)[0].real
    m, (total, center, inertia) = s.motion, s.body.mass_properties()
    center_velocity = m.velocity + np.cross(m.angular_velocity, m.rotation @ center)
    local = m.rotation.T @ m.angular_velocity
    expected = 0.5 * total * center_velocity @ center_velocity + 0.5 * local @ inertia @ local
    assert_close(mass, mass.T, 0.0)
    assert np.linalg.eigvalsh(mass).min() >= 1e-4 * np.abs(mass).max(), "the factorization needs a regular mass matrix"
    assert_close(0.5 * s.v @ mass @ s.v, expected, EXACT)


def test_inertia_forces_balance_the_change_of_the_mass_matrix(s: Specimen) -> None:
    """v^T Q = -1/2 v^T M' v without gravity: inertia forces change the kinetic energy only through M."""
    _, force = s.inertia(s.q, s.v, gravity=np.zeros(3))
    mass_rate = along(lambda h: s.inertia(s.moved(h, s.v), s.v)[0])
    assert_close((s.v @ force).real, -0.5 * s.v @ mass_rate @ s.v, EXACT)


def test_equations_of_motion_are_those_of_newton_and_euler(s: Specimen, rng: np.random.Generator) -> None:
    """Principle of virtual power: d^T (M v' - Q) = m (a_c - g).v_c(d) + (I alpha + omega x I omega).omega(d)."""
    m, (total, local_center, local_inertia) = s.motion, s.body.mass_properties()
    acceleration, alpha = s.moves * rng.normal(size=3), s.turns * rng.normal(size=3)
    omega, rotation = m.angular_velocity, m.rotation
    v_rate = accelerated(s, acceleration, alpha)
    mass, force = s.inertia(s.q, s.v)
    arm = rotation @ local_center
    center = acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
    inertia = rotation @ local_inertia @ rotation.T
    moment = inertia @ alpha + np.cross(omega, inertia @ omega)
    for velocity, spin in rng.normal(size=(6, 2, 3)) * [s.moves, s.turns]:
        d = s.velocities(velocity, spin)
        expected = total * (center - GRAVITY) @ (velocity + np.cross(spin, arm)) + moment @ spin
        assert_close((d @ (mass @ v_rate - force)).real, expected, EXACT)


def accelerated(s: Specimen, acceleration: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """v' of a body with the given accelerations, from B v' = x'' - bias; that x'' must be among the possible ones."""
    m = s.motion
    omega = m.angular_velocity[:, None]

    def second(arm: np.ndarray) -> np.ndarray:
        return cross(alpha[:, None], arm) + cross(omega, cross(omega, arm))

    marker, jacobian = s.place(s.q, s.v)
    arms = second((m.rotation @ s.point)[:, None])[:, 0], second(m.rotation @ s.frame)
    target = np.concatenate([acceleration + arms[0], arms[1].ravel()]) - bias_of(marker).real
    v_rate = np.linalg.lstsq(jacobian.real, target)[0]
    assert_close(jacobian.real @ v_rate, target, EXACT)
    return v_rate


def test_inertia_tangent(s: Specimen, rng: np.random.Generator) -> None:
    n = len(s.v)
    v_rate = rng.normal(size=n)
    before = rng.normal(size=(2, n, n))
    stiffness, damping = before.astype(complex)
    s.formulation.inertia_tangent(s.row, s.q, s.v, v_rate, s.frame_at(s.q), stiffness, damping)

    def load(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        mass, force = s.inertia(q, v)
        return mass @ v_rate - force

    by_place = [along(lambda h, d=d: load(s.moved(h, d), s.v)) for d in columns(n)]
    by_velocity = [along(lambda h, d=d: load(s.q, s.v + h * d)) for d in columns(n)]
    assert_close(stiffness, before[0] + np.transpose(by_place), EXACT)
    assert_close(damping, before[1] + np.transpose(by_velocity), EXACT)


# --- intrinsic constraints --------------------------------------------------------------------------------------------


def test_intrinsic_constraints_hold(s: Specimen) -> None:
    residual, rate, _, _ = s.intrinsic(s.q, s.v)
    assert_close(residual, np.zeros_like(residual), 1e-14)
    assert_close(rate, np.zeros_like(rate), 1e-14)


def test_intrinsic_rows_are_derivatives_of_the_residual(s: Specimen, rng: np.random.Generator) -> None:
    v = s.v + rng.normal(size=len(s.v))  # off the constraint, so that the rates do not vanish
    _, rate, gamma, jacobian = s.intrinsic(s.q, v)
    by_place = [along(lambda h, d=d: s.intrinsic(s.moved(h, d), v)[0]) for d in columns(len(v))]
    assert_close(jacobian, np.transpose(by_place), EXACT)
    assert_close(rate, jacobian @ v, EXACT)
    assert_close(gamma, -along(lambda h: s.intrinsic(s.moved(h, v), v)[3] @ v), EXACT)


def test_intrinsic_rows_leave_the_rigid_motions_free(s: Specimen, rng: np.random.Generator) -> None:
    jacobian = s.intrinsic(s.q, s.v)[3].real
    freedoms = s.moves.sum() + s.turns.sum()
    assert np.linalg.matrix_rank(jacobian) == s.formulation.n_intrinsic == s.formulation.n_v - freedoms
    for velocity, spin in rng.normal(size=(6, 2, 3)) * [s.moves, s.turns]:
        assert_close(jacobian @ s.velocities(velocity, spin), np.zeros(len(jacobian)), EXACT)


def test_intrinsic_tangent(s: Specimen, rng: np.random.Generator) -> None:
    n = len(s.v)
    multipliers, before = rng.normal(size=s.formulation.n_intrinsic), rng.normal(size=(n, n))
    found = before.astype(complex)
    s.formulation.intrinsic_tangent(s.q, multipliers, found)
    expected = [along(lambda h, d=d: s.intrinsic(s.moved(h, d), s.v)[3].T @ multipliers) for d in columns(n)]
    assert_close(found, before + np.transpose(expected), EXACT)


# --- patterns ---------------------------------------------------------------------------------------------------------


def test_patterns_cover_all_that_differs_from_zero(s: Specimen) -> None:
    f = s.formulation
    mass, _ = s.inertia(s.q, s.v)
    marker, jacobian = s.place(s.q, s.v)
    rows = s.intrinsic(s.q, s.v)[3]
    assert not np.any((mass != 0.0) & ~f.mass_pattern(s.row))
    assert not np.any((jacobian != 0.0) & ~f.jacobian_pattern(marker))
    assert f.intrinsic_pattern().shape == rows.shape
    assert not np.any((rows != 0.0) & ~f.intrinsic_pattern())


# --- coordinates and motions ------------------------------------------------------------------------------------------


def test_coordinates_and_motions_are_inverse(s: Specimen) -> None:
    f, m = s.formulation, s.motion
    assert s.q.shape == (f.n_q,)
    assert s.v.shape == (f.n_v,)
    position, rotation = f.poses(np.tile(s.q, (2, 1)))
    velocity, omega = f.twists(np.tile(s.q, (2, 1)), np.tile(s.v, (2, 1)))
    for found, expected in (
        (position, m.position),
        (rotation, m.rotation),
        (velocity, m.velocity),
        (omega, m.angular_velocity),
    ):
        assert_close(found, np.stack([expected, expected]), 1e-14)


def test_accelerations_are_those_of_the_marker_table(s: Specimen, rng: np.random.Generator) -> None:
    acceleration, alpha = s.moves * rng.normal(size=3), s.turns * rng.normal(size=3)
    v_rate = accelerated(s, acceleration, alpha)
    found = s.formulation.accelerations(s.q[None], s.v[None], v_rate[None])
    assert_close(found[0], acceleration[None], EXACT)
    assert_close(found[1], alpha[None], EXACT)


def test_variation_is_how_small_motions_change_velocities(s: Specimen, rng: np.random.Generator) -> None:
    """Bodies that move a little differently, r + h dr and exp(h phi~) A, have the velocities v + h dv, v' + h dv'."""
    f = s.formulation
    v_rate = rng.normal(size=f.n_v)
    if f.n_intrinsic:  # accelerations of a motion, not of coordinates that leave their constraints
        rate, gamma, jacobian = np.zeros(f.n_intrinsic), np.zeros(f.n_intrinsic), np.zeros((f.n_intrinsic, f.n_v))
        f.intrinsic(s.q, s.v, np.zeros(f.n_intrinsic), rate, gamma, jacobian, 1)
        v_rate += np.linalg.lstsq(jacobian, gamma - jacobian @ v_rate, rcond=None)[0]
    P, P_rate, Z, Z_rate = (part[0] for part in f.variation(s.q[None], s.v[None], v_rate[None]))
    motion, speed, change = rng.normal(size=(3, P.shape[1]))  # xi, xi', xi''
    (acceleration,), (alpha,) = f.accelerations(s.q[None], s.v[None], v_rate[None])
    m = s.motion

    def displaced(h: float) -> tuple[np.ndarray, np.ndarray]:
        """v, and v' by the change of v along the displaced motion, both to second order in the time tau."""

        def coordinates(tau: float) -> np.ndarray:
            xi = h * (motion + tau * speed + 0.5 * tau**2 * change)
            r = m.position + tau * m.velocity + 0.5 * tau**2 * acceleration + xi[:3]
            u = m.velocity + tau * acceleration + h * (speed + tau * change)[:3]
            turn = Rotation.from_matrix(m.rotation)
            omega = m.angular_velocity + tau * alpha
            if P.shape[1] == 6:
                # exp of the rotation vector to second order: w tau + w' tau^2 / 2
                turn = Rotation.from_rotvec(m.angular_velocity * tau + 0.5 * alpha * tau**2) * turn
                phi, phi_rate = xi[3:], h * (speed + tau * change)[3:]
                turn = Rotation.from_rotvec(phi) * turn
                omega = omega + phi_rate + np.cross(phi, omega)
            return f.coordinates(r, turn.as_matrix(), u, omega)[1]

        step = 1e-4
        return coordinates(0.0), (coordinates(step) - coordinates(-step)) / (2.0 * step)

    h = 1e-5
    (v_plus, a_plus), (v_minus, a_minus) = displaced(h), displaced(-h)
    assert_close((v_plus - v_minus) / (2 * h), P @ speed + Z @ motion, 1e-7)
    assert_close((a_plus - a_minus) / (2 * h), P @ change + (P_rate + Z) @ speed + Z_rate @ motion, 1e-5)


def test_normalizing_does_not_move_the_body(s: Specimen, rng: np.random.Generator) -> None:
    q = s.q + 0.1 * rng.normal(size=len(s.q))
    before = place_of(s.place(q, s.v)[0])
    s.formulation.normalize(s.row, q)
    assert_close(place_of(s.place(q, s.v)[0]), before, EXACT)
    again = q.copy()
    s.formulation.normalize(s.row, again)
    assert_close(again, q, 1e-15)


# --- compiled kernels -------------------------------------------------------------------------------------------------


@pytest.mark.boundscheck
@pytest.mark.parametrize("cls", [cls for cls in walk(Formulation) if cls.dimension], ids=name_of)
def test_compiled_kernels_equal_the_interpreted_ones(cls: type[Formulation]) -> None:
    rng = np.random.default_rng(3)
    for s in specimens(cls()):
        f, n, rows = s.formulation, s.formulation.n_v, s.formulation.n_intrinsic
        frame, marker = np.zeros((3, f.n_frame)), s.new_marker("f8")
        assert_compiles(f.prepare, s.row, s.q, frame)
        f.prepare(s.row, s.q, frame)
        assert_compiles(f.regular, s.row, s.q, frame)
        assert f.regular(s.row, s.q, frame)
        for level in range(3):
            assert_compiles(f.place, s.row, s.q, s.v, frame, marker, f.constant_jacobian(marker), level)
        f.place(s.row, s.q, s.v, frame, marker, f.constant_jacobian(marker), 2)
        mass, zeros = f.constant_mass(s.row), np.zeros((n, n))
        assert_compiles(f.inertia, s.row, s.q, s.v, frame, mass, np.zeros(n))
        assert_compiles(f.rates, s.row, s.q, s.v, np.zeros(f.n_q))
        assert_compiles(f.normalize, s.row, s.q + 0.1)
        assert_compiles(f.inertia_tangent, s.row, s.q, s.v, rng.normal(size=n), frame, zeros, zeros)
        assert_compiles(f.place_tangent, s.row, s.v, frame, marker, np.zeros((12, n)))
        assert_compiles(f.load_tangent, s.row, frame, marker, rng.normal(size=12), zeros)
        if rows:
            c = np.zeros(rows)
            for level in range(3):
                assert_compiles(f.intrinsic, s.q, s.v, c, c, c, np.zeros((rows, n)), level)
            assert_compiles(f.intrinsic_tangent, s.q, rng.normal(size=rows), zeros)


# --- Euler angles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [None, TURN], ids=["plain", "offset"])
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_angles_are_those_of_scipy(sequence: str, offset: Rotation | None) -> None:
    """Intrinsic sequences, in SciPy's range of the middle angle; angles that wind up further are the same pose."""
    formulation = mb.EulerAngles(sequence, offset)
    for s in specimens(formulation):
        turned = Rotation.from_matrix(s.motion.rotation) * (Rotation.identity() if offset is None else offset).inv()
        assert_close(s.q[3:], turned.as_euler(sequence), EXACT)
        wound = s.q + np.array([0, 0, 0, 2.0 * np.pi, 0.0, -4.0 * np.pi])
        assert_close(formulation.poses(wound[None])[1][0], s.motion.rotation, EXACT)
        assert_close(s.frame_at(s.q)[:, :3], s.motion.rotation, EXACT)
        marker, _ = s.place(s.q, s.v)
        assert_close(marker.angular_velocity, s.motion.angular_velocity, EXACT)
        assert_close(rate_of(marker), along(lambda h, s=s: place_of(s.place(s.moved(h, s.v), s.v)[0])), EXACT)
