"""What the contract tests share: the walk over all classes of a family; bodies, states, markers in general position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe import jets
from mbframe.bodies.formulations import Formulation
from mbframe.joints.coupled import Coupling
from mbframe.kernels.compiler.compile import callable_from_python
from mbframe.kernels.workspace import marker_dtype
from mbframe.registry import ours
from mbframe.state import Motion, State

Array = NDArray[np.float64]
T = TypeVar("T")

STEP = 1e-30
GRAVITY = np.array([0.7, -1.1, -9.81])  # oblique, so that a missing component shows
SEEDS = (1, 2, 3)
IN_PLANE, NORMAL = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])

# --- the walk ---------------------------------------------------------------------------------------------------------


def walk(base: type[T]) -> list[type[T]]:
    """All concrete subclasses of `base` in the package; there must be some."""
    found = ours(base)
    assert found, f"the package has no concrete subclass of {base.__name__}"
    return sorted(found, key=lambda c: (c.__module__, c.__qualname__))


def name_of(cls: Any) -> str:
    """Test id of a class or of an object of it."""
    return (cls if isinstance(cls, type) else type(cls)).__name__


# --- numbers ----------------------------------------------------------------------------------------------------------


def along(function: Callable[[complex], Any]) -> Array:
    """Derivative of function(s) at s = 0 by complex step: exact to rounding."""
    return np.asarray(function(1j * STEP)).imag / STEP


def exact_derivative(function: Callable[..., Any], arrays: Sequence[Any]) -> Array:
    """Derivatives by complex step, or by jets for functions that take no complex numbers (arctan2)."""
    stops = np.cumsum([np.size(a) for a in arrays])

    def moved(s: complex, direction: Array) -> Any:
        parts = np.split(s * direction, stops[:-1])
        return function(*(a + d.reshape(np.shape(a)) for a, d in zip(arrays, parts, strict=True)))

    try:
        return np.stack([along(lambda s, d=d: moved(s, d)) for d in np.eye(stops[-1])], axis=-1)
    except TypeError:
        return jets.jacobian(function, arrays)[1]


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    """Equal up to `tolerance` times the largest expected number (or 1, if all are smaller)."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)


def cross(a: Array, b: Array) -> Array:
    """Cross products of the columns."""
    return np.cross(a, b, axisa=0, axisb=0, axisc=0)


def rotation_of(rng: np.random.Generator) -> Array:
    """A random rotation matrix."""
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


def random_motion(rng: np.random.Generator) -> Motion:
    """A random pose and twist."""
    return Motion(rng.normal(size=3), rotation_of(rng), rng.normal(size=3), rng.normal(size=3))


def planar_motion(rng: np.random.Generator) -> Motion:
    """A random pose and twist in the plane."""
    turn = Rotation.from_rotvec([0.0, 0.0, rng.uniform(-np.pi, np.pi)]).as_matrix()
    return Motion(IN_PLANE * rng.normal(size=3), turn, IN_PLANE * rng.normal(size=3), NORMAL * rng.normal(size=3))


# --- markers ----------------------------------------------------------------------------------------------------------


def new_markers(count: int, scalar: str = "c16") -> np.recarray:
    """A marker table with nothing placed yet."""
    markers = np.zeros(count, marker_dtype(scalar)).view(np.recarray)
    markers.oriented[:] = 7
    return markers


def random_markers(rng: np.random.Generator, scalar: str = "c16") -> np.recarray:
    """Two markers whose numbers are all independent: the axes are near a rotation, but neither orthogonal nor unit."""
    markers = new_markers(2, scalar)
    for name in ("position", "axes", "velocity", "axes_rate", "angular_velocity"):
        markers[name][:] = rng.normal(size=markers[name].shape)
    for axes in markers.axes:
        axes[:] = rotation_of(rng) + 0.1 * axes
    return markers


def rigid_markers(rng: np.random.Generator, scalar: str = "c16") -> np.recarray:
    """Two markers that move as if fixed to rigid bodies."""
    markers = new_markers(2, scalar)
    for marker in markers:
        motion = random_motion(rng)
        marker.position[:], marker.axes[:] = motion.position, motion.rotation
        marker.velocity[:], marker.angular_velocity[:] = motion.velocity, motion.angular_velocity
        marker.axes_rate[:] = cross(motion.angular_velocity[:, None], motion.rotation)
    return markers


def place_of(marker: Any) -> NDArray:
    """x = (point, axes row by row)."""
    return np.concatenate([marker.position, marker.axes.ravel()])


def rate_of(marker: Any) -> NDArray:
    """x'."""
    return np.concatenate([marker.velocity, marker.axes_rate.ravel()])


def bias_of(marker: Any) -> NDArray:
    """x'' for v' = 0."""
    return np.concatenate([marker.bias, marker.axes_bias.ravel()])


def shifted(markers: np.recarray, fields: tuple[str, ...], change: NDArray) -> np.recarray:
    """Copies of the markers with `change` added to the given fields, in the order marker by marker, field by field."""
    moved = markers.copy()
    start = 0
    for k in range(len(moved)):
        for name in fields:
            size = moved[name][k].size
            moved[name][k] += change[start : start + size].reshape(moved[name][k].shape)
            start += size
    return moved


# --- bodies and formulations ------------------------------------------------------------------------------------------


def general_body(name: str, motion: Motion, rng: np.random.Generator) -> mb.RigidBody:
    """A rigid body off its centre of mass with a full inertia tensor."""
    axes, moments = rotation_of(rng), np.array([0.4, 0.5, 0.7]) * rng.uniform(0.9, 1.1, 3)
    return mb.RigidBody(
        name,
        mass=rng.uniform(1.0, 3.0),
        inertia=axes @ np.diag(moments) @ axes.T,
        center_of_mass=rng.uniform(-0.3, 0.3, 3),
        position=motion.position,
        rotation=motion.rotation,
        velocity=motion.velocity,
        angular_velocity=motion.angular_velocity,
    )


def centred_body(name: str, motion: Motion, rng: np.random.Generator) -> mb.RigidBody:
    """A rigid body in its principal axes with the origin in the centre of mass."""
    body = general_body(name, motion, rng)
    body.update(center_of_mass=(0.0, 0.0, 0.0), inertia=(0.4, 0.5, 0.7))
    return body


def thin_body(name: str, motion: Motion, rng: np.random.Generator) -> mb.RigidBody:
    """A lamina in general position: its largest moment is the sum of the others, so one second moment is zero."""
    body, axes = general_body(name, motion, rng), rotation_of(rng)
    body.update(inertia=axes @ np.diag([0.2, 0.3, 0.5]) @ axes.T)
    return body


def two_bodies(seed: int = 1, gravity: Any = GRAVITY) -> tuple[mb.System, mb.RigidBody, mb.RigidBody]:
    """A system of two free bodies in general position and motion."""
    rng = np.random.default_rng(seed)
    system = mb.System("two bodies", gravity=gravity)
    i, j = (system.add(general_body(name, random_motion(rng), rng)) for name in ("first", "second"))
    return system, i, j


def connected(cls: Any, gravity: Any = GRAVITY) -> tuple[mb.System, mb.RigidBody, mb.RigidBody, Any]:
    """Two bodies in general position and the example of a joint, constraint or force between them.

    Friction comes with the joint that rubs, a driver with what it drives, a coupling with its two joints, by which a
    third body carries the others.
    """
    system, i, j = two_bodies(gravity=gravity)
    if issubclass(cls, Coupling):
        rng = np.random.default_rng(7)
        carrier = system.add(general_body("carrier", random_motion(rng), rng))
        kinds = (cls.first_kind[0], cls.second_kind[0])
        joints = [
            system.add(kind(f"guide of {body.name}", carrier, body, at=rng.normal(size=3), axis=rng.normal(size=3)))
            for kind, body in zip(kinds, (i, j), strict=True)
        ]
        return system, i, j, system.add(cls.example(*joints))
    element = cls.example(i, j)
    for value in element.values().values():
        if isinstance(value, mb.Joint | mb.Measure):
            system.add(value)
    return system, i, j, system.add(element)


@dataclass
class Specimen:
    """A formulation with a body, a marker and a random state; its kernels are run interpreted, on complex numbers."""

    formulation: Formulation
    body: mb.RigidBody | mb.PointMass | mb.PlanarBody
    motion: Motion
    point: Array
    frame: Array

    def __post_init__(self) -> None:
        f, m = self.formulation, self.motion
        # Directions in which the body can move, and about which it can turn.
        self.moves = IN_PLANE if f.dimension == 2 else np.ones(3)
        turning = np.ones(3) if f.n_v - f.n_intrinsic == 6 else np.zeros(3)
        self.turns = NORMAL if f.dimension == 2 else turning
        self.row = self.new_row(GRAVITY)
        self.q, self.v = f.coordinates(m.position, m.rotation, m.velocity, m.angular_velocity)

    def new_row(self, gravity: Any) -> Any:
        """The body's row of the table."""
        rows = np.zeros(1, np.dtype(self.formulation.fields, align=True)).view(np.recarray)
        for name, value in self.formulation.row(self.body, np.asarray(gravity, float)).items():
            rows[name][0] = value
        return rows[0]

    def new_marker(self, scalar: str = "c16") -> Any:
        """The marker, not yet placed."""
        markers = new_markers(1, scalar)
        markers.point[0], markers.frame[0] = self.point, self.frame
        return markers[0]

    def moved(self, s: complex, direction: Array) -> NDArray:
        """q + s T d."""
        rate = np.zeros(self.formulation.n_q)
        self.formulation.rates(self.row, self.q, direction, rate)
        return self.q + s * rate

    def frame_at(self, q: NDArray) -> NDArray:
        """The rotation matrix of the body, and what the formulation adds to it."""
        frame = np.zeros((3, self.formulation.n_frame), complex)
        self.formulation.prepare(self.row, np.asarray(q, complex), frame)
        return frame

    def place(self, q: NDArray, v: NDArray, level: int = 2, oriented: int = 7) -> tuple[Any, NDArray]:
        """The placed marker and its B."""
        marker = self.new_marker()
        marker.oriented = oriented
        jacobian = self.formulation.constant_jacobian(marker).astype(complex)
        q, v = np.asarray(q, complex), np.asarray(v, complex)
        self.formulation.place(self.row, q, v, self.frame_at(q), marker, jacobian, level)
        return marker, jacobian

    def inertia(self, q: NDArray, v: NDArray, gravity: Any = GRAVITY) -> tuple[NDArray, NDArray]:
        """M and Q (inertia forces and gravity)."""
        row = self.new_row(gravity)
        mass = self.formulation.constant_mass(row).astype(complex)
        force = np.zeros(self.formulation.n_v, complex)
        q, v = np.asarray(q, complex), np.asarray(v, complex)
        self.formulation.inertia(row, q, v, self.frame_at(q), mass, force)
        return mass, force

    def intrinsic(self, q: NDArray, v: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """C, C', gamma and J of the intrinsic constraints."""
        n, n_v = self.formulation.n_intrinsic, self.formulation.n_v
        residual, rate, gamma = (np.zeros(n, complex) for _ in range(3))
        jacobian = np.zeros((n, n_v), complex)
        self.formulation.intrinsic(np.asarray(q, complex), np.asarray(v, complex), residual, rate, gamma, jacobian, 2)
        return residual, rate, gamma, jacobian

    def velocities(self, velocity: Array, angular_velocity: Array) -> Array:
        """v of another twist in the same pose."""
        return self.formulation.coordinates(self.motion.position, self.motion.rotation, velocity, angular_velocity)[1]


def specimens(formulation: Formulation) -> list[Specimen]:
    """Bodies, markers and states: general ones, and those whose zeros a formulation may use (and so get wrong)."""
    if formulation.dimension == 2:
        return planar_specimens(formulation)
    if formulation.n_v - formulation.n_intrinsic == 3:
        return [point_specimen(np.random.default_rng(seed)) for seed in SEEDS]
    found = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        motion = random_motion(rng)
        found.append(
            Specimen(formulation, general_body("body", motion, rng), motion, rng.normal(size=3), rotation_of(rng))
        )
    rng = np.random.default_rng(0)
    motion = random_motion(rng)
    found.append(Specimen(formulation, centred_body("body", motion, rng), motion, np.zeros(3), np.eye(3)))
    found.append(Specimen(formulation, general_body("body", motion, rng), motion, np.zeros(3), np.eye(3)))
    found.append(Specimen(formulation, thin_body("body", motion, rng), motion, rng.normal(size=3), rotation_of(rng)))
    return found


def planar_body(name: str, motion: Motion, rng: np.random.Generator) -> mb.PlanarBody:
    """A body of the plane off its centre of mass."""
    return mb.PlanarBody(
        name,
        mass=rng.uniform(1.0, 3.0),
        inertia=rng.uniform(0.3, 0.6),
        center_of_mass=rng.uniform(-0.3, 0.3, 2),
        position=motion.position[:2],
        angle=np.arctan2(motion.rotation[1, 0], motion.rotation[0, 0]),
        velocity=motion.velocity[:2],
        angular_velocity=motion.angular_velocity[2],
    )


def planar_specimens(formulation: Formulation) -> list[Specimen]:
    """Bodies of the plane; markers in it with axes in any direction."""
    found = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        motion = planar_motion(rng)
        point = IN_PLANE * rng.normal(size=3)
        found.append(Specimen(formulation, planar_body("body", motion, rng), motion, point, rotation_of(rng)))
    body = planar_body("body", motion, rng)
    found.append(Specimen(formulation, body, motion, np.zeros(3), np.eye(3)))
    centred = planar_body("body", motion, rng)
    centred.center_of_mass = (0.0, 0.0)
    found.append(Specimen(formulation, centred, motion, np.zeros(3), np.eye(3)))
    return found


def point_specimen(rng: np.random.Generator) -> Specimen:
    """A point mass, in its own formulation."""
    motion = Motion(rng.normal(size=3), rotation_of(rng), rng.normal(size=3), np.zeros(3))
    body = mb.PointMass("body", mass=1.3, rotation=motion.rotation, position=motion.position, velocity=motion.velocity)
    return Specimen(body.formulation_for(None), body, motion, rng.normal(size=3), rotation_of(rng))


def crossed(classes: Sequence[Any], formulations: Sequence[Formulation]) -> pytest.MarkDecorator:
    """Every class in every formulation, as tests of (cls, formulation).

    Each class in one formulation, each formulation with a class, makes the quick tests; `full` marks the rest.
    """
    cases = [
        pytest.param(
            cls,
            formulation,
            id=f"{name_of(cls)}-{name_of(formulation)}",
            marks=() if other == one % len(formulations) else pytest.mark.full,
        )
        for one, cls in enumerate(classes)
        for other, formulation in enumerate(formulations)
    ]
    return pytest.mark.parametrize(("cls", "formulation"), cases)


def rigid_formulations() -> list[Formulation]:
    """All formulations that a rigid body in space can have."""
    return [cls() for cls in walk(Formulation) if cls.dimension == 3 and cls.n_v - cls.n_intrinsic == 6]


def planar_formulations() -> list[Formulation]:
    """All formulations of bodies in the plane."""
    return [cls() for cls in walk(Formulation) if cls.dimension == 2]


# --- systems ----------------------------------------------------------------------------------------------------------


def numbers(eq: mb.Equations, state: State) -> tuple[Array, Array]:
    """q and v of a state."""
    q, v, _ = eq.split(eq.coordinates(state))
    return q, v


def random_state(eq: mb.Equations, seed: int = 5) -> State:
    """The described poses with random velocities that the constraints allow."""
    rng = np.random.default_rng(seed)
    motions = {
        name: Motion(m.position, m.rotation, rng.normal(size=3), rng.normal(size=3))
        for name, m in eq.described().motions.items()
    }
    q, v = numbers(eq, State(0.0, motions))
    evaluation = eq.evaluate(0.0, q, v)
    v = v - np.linalg.pinv(evaluation.jacobian.toarray()) @ evaluation.constraint_rate
    return eq.state(0.0, np.concatenate([q, v, np.zeros(eq.n_z)]))


def newton_euler(body: mb.RigidBody, state: State, acceleration: Array, alpha: Array) -> tuple[Array, Array]:
    """Force, and moment about the centre of mass, that a motion needs: m a_c and I alpha + omega x I omega, global."""
    rotation, omega = state.motion(body).rotation, state.motion(body).angular_velocity
    inertia = rotation @ body.inertia @ rotation.T
    return body.mass * acceleration, inertia @ alpha + np.cross(omega, inertia @ omega)


# --- compiled against interpreted -------------------------------------------------------------------------------------


def assert_compiles(method: Callable, *arguments: Any, tolerance: float = 1e-13) -> None:
    """The compiled method returns and writes what the interpreted one does.

    A pair (element, row) among the arguments is the element for the interpreter, its table row for the compiled method.
    """
    pairs = [a if isinstance(a, tuple) else (_copied(a), _copied(a)) for a in arguments]
    expected = method(*(a for a, _ in pairs))
    found = callable_from_python(method)(*(b for _, b in pairs))
    written = [pair for pair, a in zip(pairs, arguments, strict=True) if not isinstance(a, tuple)]
    for a, b in [(expected, found), *written]:
        assert_close(_flat(b), _flat(a), tolerance)


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray | np.record) else value


def _flat(value: Any) -> Array:
    """All numbers of an array, a record or nested tuples of numbers."""
    if isinstance(value, np.record):
        return np.concatenate([np.ravel(value[name]) for name in value.dtype.names or ()])
    if isinstance(value, tuple | list):
        return np.concatenate([_flat(v) for v in value])
    if isinstance(value, np.ndarray | np.bool_ | float | int):
        return np.ravel(np.asarray(value, float))
    return np.empty(0)
