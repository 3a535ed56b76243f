"""Flexible bodies in the plane: what every formulation must satisfy, and the equations of `FloatingFrame`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.flexible.in_plane import within_plane
from mbframe.state import Motion

from .specimens import GRAVITY, IN_PLANE, Specimen, assert_close, assert_compiles, planar_motion, rotation_of

# Collected here a second time, with the specimens of this file.
from .test_formulations import (  # noqa: F401
    test_angular_velocity_follows_from_the_axes,
    test_bias_is_the_second_derivative_for_constant_velocities,
    test_coordinates_and_motions_are_inverse,
    test_inertia_tangent,
    test_jacobian_is_the_derivative_of_the_rate,
    test_less_work_writes_the_same_numbers,
    test_load_tangent,
    test_patterns_cover_all_that_differs_from_zero,
    test_place_tangent,
    test_rate_is_the_derivative_of_the_place,
)

EXACT = 1e-12
FLAT = GRAVITY * IN_PLANE


def modes_of(kind: str) -> Any:
    steel = {"young": 2e9, "shear": 8e8, "density": 2000.0}
    section = {"area": 4e-4, "second_moments": (3e-8, 1e-8), "torsion": 2e-8}
    if "bent" in kind:  # where quadratic displacements turn nodes as well
        nodes = np.array([[0.0, 0.0, 0.0], [0.5, 0.1, 0.0], [0.9, 0.6, 0.0]])
        part = mb.flexible.frame(nodes, [(0, 1), (1, 2)], y_axis=(0.0, 0.0, 1.0), **section, **steel)
    else:
        part = mb.flexible.beam(length=1.2, elements=3, rotary_inertia=True, **section, **steel)
    if "node" in kind:
        return mb.flexible.clamped_modes(part, node=0, n_modes=6)
    return mb.flexible.craig_bampton(part, interfaces=[0, len(part.nodes) - 1], n_modes=2)


class PlanarSpecimen(Specimen):
    """A flexible body in the plane, deformed as far as no beam would bear, with a marker; and the same in space."""

    def __init__(self, kind: str, node: int, seed: int, size: float = 0.5) -> None:
        rng = np.random.default_rng(seed)
        motion, modes = planar_motion(rng), modes_of(kind)
        stiffened = "curved" in kind
        body = mb.PlanarFlexibleBody(
            "body",
            modes,
            position=motion.position[:2],
            angle=np.arctan2(motion.rotation[1, 0], motion.rotation[0, 0]),
            damping_ratios=0.1,
            geometric_stiffening=stiffened,
        )
        self.twin = mb.FlexibleBody("body", body.used_modes, damping_ratios=0.1, geometric_stiffening=stiffened)
        self.spatial_shape = np.ascontiguousarray(self.twin.node_shape(node))
        self.shape = within_plane(body.node_shape(node))
        m = self.shape.shape[1]
        largest = np.abs(body.shapes_in_frame.shapes).max(axis=0)
        modal, rate = size * rng.normal(size=(2, m)) / largest
        motion = Motion(motion.position, motion.rotation, motion.velocity, motion.angular_velocity, modal, rate)
        super().__init__(body.formulation_for(None), body, motion, body.modes.component.positions[node], np.eye(3))
        self.frame = rotation_of(rng)

    def __post_init__(self) -> None:
        self.row = self.new_row(FLAT)
        self.q, self.v = self.formulation.coordinates_of(self.motion)

    def new_marker(self, scalar: str = "c16") -> Any:
        marker = super().new_marker(scalar)
        marker["node_shape"] = self.shape.ctypes.data
        return marker

    def in_space(self) -> Specimen:
        """The same body, motion and marker in space."""
        made = Specimen.__new__(Specimen)
        made.formulation, made.body, made.motion = self.twin.formulation_for(None), self.twin, self.motion
        made.point, made.frame = self.point, self.frame
        made.row = made.new_row(FLAT)
        made.q, made.v = made.formulation.coordinates_of(self.motion)
        plain, address = made.new_marker, self.spatial_shape.ctypes.data

        def new_marker(scalar: str = "c16") -> Any:
            marker = plain(scalar)
            marker["node_shape"] = address
            return marker

        made.new_marker = new_marker
        return made


CASES = [
    ("mean", 3, 1),
    ("mean", 0, 2),
    ("node", 3, 3),
    ("bent", 1, 4),
    ("curved", 3, 5, 0.1),
    ("curved bent", 2, 6, 0.1),
    ("curved bent node", 1, 7, 0.1),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}", scope="module")
def s(request: pytest.FixtureRequest) -> PlanarSpecimen:
    return PlanarSpecimen(*request.param)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def kept(s: PlanarSpecimen) -> np.ndarray:
    """Which velocities of the body in space are those of the body in the plane."""
    return np.concatenate([[0, 1, 5], np.arange(6, 3 + len(s.v))])


def test_it_is_the_spatial_body_in_the_plane(s: PlanarSpecimen, rng: np.random.Generator) -> None:
    """Markers, mass matrix, inertia forces and tangents are those of `FloatingFrame`; nothing leaves the plane."""
    other, own = s.in_space(), kept(s)
    (marker, b), (spatial, whole) = s.place(s.q, s.v), other.place(other.q, other.v)
    for name in ("position", "axes", "velocity", "bias", "axes_rate", "axes_bias", "angular_velocity"):
        assert_close(marker[name], spatial[name], EXACT)
    assert_close(b, whole[:, own], EXACT)
    (mass, force), (whole, spatial_force) = s.inertia(s.q, s.v, FLAT), other.inertia(other.q, other.v, FLAT)
    assert_close(mass, whole[np.ix_(own, own)], EXACT)
    assert_close(force, spatial_force[own], EXACT)
    out = np.setdiff1d(np.arange(len(other.v)), own)
    assert_close(spatial_force[out], np.zeros(3), 1e-9 * np.abs(spatial_force).max())
    v_rate, load = rng.normal(size=len(s.v)), np.zeros(12)
    load[:9] = rng.normal(size=9)
    load[2] = 0.0
    found, expected = [], []
    for one, numbers, frame, target in ((s, s.q, s.frame_at(s.q), found), (other, other.q, None, expected)):
        rates = np.zeros(len(one.v))
        rates[own if one is other else slice(None)] = v_rate
        frame = one.frame_at(one.q) if frame is None else frame
        stiffness, damping, loaded = np.zeros((3, len(one.v), len(one.v)), complex)
        one.formulation.inertia_tangent(one.row, numbers, one.v, rates, frame, stiffness, damping)
        one.formulation.load_tangent(one.row, frame, one.place(one.q, one.v)[0], load, loaded)
        target += [stiffness, damping, loaded]
    for part, whole in zip(found, expected, strict=True):
        assert_close(part, whole[np.ix_(own, own)], EXACT)


def test_energies_and_momenta_are_those_in_space(s: PlanarSpecimen) -> None:
    other, properties = s.in_space(), s.body.mass_properties()
    for name in ("energies", "momenta"):
        more = (FLAT,) if name == "energies" else ()
        found = getattr(s.formulation, name)(s.q[None], s.v[None], properties, *more)
        expected = getattr(other.formulation, name)(other.q[None], other.v[None], properties, *more)
        for one, two in zip(found, expected, strict=True):
            assert_close(one, two, EXACT)
    for far in (0.1, 3.0):
        one, two = (x.formulation.beyond(np.concatenate([x.q[: -len(s.v) + 3], far * s.q[3:]])) for x in (s, other))
        assert bool(one) <= bool(two)  # in space more motions can lose their inertia


def test_variation_keeps_what_stays_in_the_plane(s: PlanarSpecimen) -> None:
    P, P_rate, Z, Z_rate = (x[0] for x in s.formulation.variation(s.q[None], s.v[None], s.v[None]))
    assert_close(P, np.eye(3 + len(s.v))[kept(s)], 0.0)
    for zero in (P_rate, Z, Z_rate):
        assert not np.any(zero)
    assert s.formulation.held == (2, 3, 4)


@pytest.mark.boundscheck
def test_compiled_kernels_equal_the_interpreted_ones() -> None:
    s = PlanarSpecimen("curved bent", 1, 1, 0.1)
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
    assert_compiles(f.inertia_tangent, s.row, s.q, s.v, values.normal(size=n), frame, zeros, zeros)
    assert_compiles(f.place_tangent, s.row, s.v, frame, marker, np.zeros((12, n)))
    assert_compiles(f.load_tangent, s.row, frame, marker, values.normal(size=12), zeros)
    assert_compiles(f.loss, s.row, s.v)
