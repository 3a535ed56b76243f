"""What a coordinate formulation of a body gives.

A formulation chooses the coordinates q and velocities v of a body and writes the *marker table*: for each marker its
12 numbers x = (point, three axes), x', the bias acceleration and B = dx'/dv. Joints and forces read that table and
nothing else, so a new formulation works at once with every joint and force.

To add one, subclass `Formulation`, set `n_q`, `n_v`, `n_intrinsic`, and write the kernels. Kernels are static methods
in plain Python on numbers, small arrays and records (`body`, `marker`), written with loops: they are compiled
unchanged, and called with complex numbers by the tests. `frame` is the rotation matrix A of the body's frame, followed
by what else depends on q and several kernels read (`n_frame` columns in all). Array arguments named last are outputs.
The directional derivatives of the tangent kernels are taken along the velocities: dq = T d.
"""

from __future__ import annotations

import dis
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError, Problem

if TYPE_CHECKING:
    from ...markers import Marker
    from ...state import Motion
    from ..base import Body

Array = NDArray[np.float64]
Pattern = NDArray[np.bool_]
"""Which entries of a matrix can differ from zero."""

# Fields of a body's row that every formulation of a rigid body reads.
RIGID_FIELDS = [
    ("mass", "f8"),
    ("center", "f8", 3),  # centre of mass in body axes
    ("inertia", "f8", (3, 3)),  # about the origin, in body axes
    ("gravity", "f8", 3),
]

MassProperties = tuple[float, Array, Array]
"""Mass, centre of mass and inertia about it, in body axes."""
Names = Sequence[tuple[str, str]]
KERNELS = ("prepare", "regular", "place", "inertia", "rates", "normalize")
"""Those that every formulation has."""


def named(name: str, unit: str, components: Iterable[str] = "xyz") -> list[tuple[str, str]]:
    """Names and units of the components of a vector."""
    return [(f"{name}.{component}", unit) for component in components]


class Variation(NamedTuple):
    """What small motions xi of some bodies do to their velocities; stacks (n, n_v, n_xi).

    xi = (dr, phi) of a rigid body: displacement of its origin and small rotation vector, both global (dA = phi~ A); a
    body that does not turn has dr only, a flexible one further coordinates after phi. In the plane phi is a number.

        dq = T P xi,    dv = P xi' + Z xi,    dv' = P xi'' + (P' + Z) xi' + Z' xi
    """

    P: Array
    P_rate: Array
    Z: Array
    Z_rate: Array

    @classmethod
    def of_rates(cls, N: Array, N_rate: Array, N_bend: Array) -> Variation:
        """Of velocities v = q', from dq = N xi and its two derivatives along the motion."""
        return cls(N, N_rate, N_rate, N_bend)


def kinetic_energy(mass: Any, velocity: Array, inertia: Array, spin: Array) -> Array:
    """That of velocities of the centre of mass and angular velocities in body axes, (n, 3) each."""
    turning = np.sum(spin * (inertia @ spin[..., None])[..., 0], axis=1)
    return np.asarray(0.5 * mass * np.sum(velocity**2, axis=1) + 0.5 * turning)


def beside(translation: float, turning: Array) -> Array:
    """diag(translation 1, turning) for a stack of blocks (n, m, 3)."""
    n, rows, _ = turning.shape
    blocks = np.zeros((n, 3 + rows, 6))
    blocks[:, :3, :3] = translation * np.eye(3)
    blocks[:, 3:, 3:] = turning
    return blocks


class Formulation:
    """Base class of formulations; instances are compared by type and parameters and hold no state."""

    n_q: ClassVar[int]
    n_v: ClassVar[int]
    n_intrinsic: ClassVar[int] = 0
    dimension: ClassVar[int] = 3  # of the systems whose bodies it describes; 0: of any, through `of_bodies`
    n_frame: ClassVar[int] = 3
    # True: bodies differ in size; their rows have n_q, n_v and n_frame, and the columns of T are orthogonal
    sized_by_body: ClassVar[bool] = False
    fields: ClassVar[list[tuple[Any, ...]]] = RIGID_FIELDS
    axes: ClassVar[str] = ""  # of the frame of a flexible body, in words: see `Motion`
    q_names: ClassVar[Names] = ()
    v_names: ClassVar[Names] = ()
    """Name and unit of each coordinate and velocity, for files; left out they are numbered. The origin's position and
    velocity in global components are called "position.x", "velocity.x" and so on."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(vars(self).items()))))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    def of_bodies(self, dimension: int) -> Formulation:
        """The coordinates that bodies of a system have with this choice: itself, unless it is one for all of them."""
        return self

    # --- described once, at assembly ---------------------------------------------------------------------------------

    def row(self, body: Body, gravity: Array) -> dict[str, Any]:
        """Values of `fields` for a body."""
        mass, center, inertia = body.mass_properties()
        shift = mass * (center @ center * np.eye(3) - np.outer(center, center))
        return {"mass": mass, "center": center, "inertia": inertia + shift, "gravity": gravity}

    def constant_mass(self, row: Any) -> Array:
        """The mass block; entries that the kernel `inertia` rewrites may have any value."""
        raise NotImplementedError

    def mass_pattern(self, row: Any) -> Pattern:
        """Which entries of the mass block can differ from zero."""
        raise NotImplementedError

    def constant_jacobian(self, marker: Any) -> Array:
        """B of a marker (12 x n_v); entries that the kernel `place` rewrites may have any value."""
        raise NotImplementedError

    def jacobian_pattern(self, marker: Any) -> Pattern:
        """Which entries of B can differ from zero."""
        raise NotImplementedError

    def intrinsic_pattern(self) -> Pattern:
        """Which entries of the intrinsic constraint rows can differ from zero."""
        return np.ones((self.n_intrinsic, self.n_v), bool)

    # --- between coordinates and motions: arrays with one row per instant --------------------------------------------

    def coordinates(
        self, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> tuple[Array, Array]:
        """q and v of one pose (rotation 3 x 3) and twist (global); a `ValueError` says what pose has none."""
        raise NotImplementedError

    def coordinates_of(self, motion: Motion) -> tuple[Array, Array]:
        """q and v of a motion."""
        return self.coordinates(motion.position, motion.rotation, motion.velocity, motion.angular_velocity)

    def singular_pose(self, rotation: Array) -> str:
        """What to say, and to propose, where the kernel `regular` is False."""
        return "its coordinates are singular in this pose; choose another formulation such as NewtonEuler()"

    def beyond(self, q: Array) -> str:
        """Why the equations are no longer those of the body at its coordinates q, and what to do; else nothing."""
        return ""

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Positions (n, 3) and rotation matrices (n, 3, 3)."""
        raise NotImplementedError

    def twists(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Velocities of the origin and angular velocities, global, (n, 3) each."""
        raise NotImplementedError

    def accelerations(self, q: Array, v: Array, v_rate: Array) -> tuple[Array, Array]:
        """Accelerations of the origin and angular accelerations, global, (n, 3) each."""
        raise NotImplementedError

    def energies(self, q: Array, v: Array, properties: MassProperties, gravity: Array) -> tuple[Array, Array]:
        """Kinetic energy, and potential energy of gravity and deformation, (n,) each.

        Rows may be of several bodies; then there is a mass, a centre and an inertia for each row.
        """
        mass, local_center, inertia = properties
        center, velocity, rotation, omega = self._mass_center(q, v, local_center)
        local = np.einsum("nji,nj->ni", rotation, omega)
        return kinetic_energy(mass, velocity, inertia, local), -mass * (center @ gravity)

    def momenta(self, q: Array, v: Array, properties: MassProperties) -> tuple[Array, Array]:
        """Linear momentum, and angular momentum about the global origin, (n, 3) each."""
        mass, local_center, inertia = properties
        center, velocity, rotation, omega = self._mass_center(q, v, local_center)
        spin = np.einsum("nij,jk,nlk,nl->ni", rotation, inertia, rotation, omega)
        return mass * velocity, np.cross(center, mass * velocity) + spin

    def _mass_center(self, q: Array, v: Array, center: Array) -> tuple[Array, Array, Array, Array]:
        """Position and velocity of the centre of mass, rotation and angular velocity."""
        (origin, rotation), (velocity, omega) = self.poses(q), self.twists(q, v)
        if not center.any():
            return origin, velocity, rotation, omega
        arm = (rotation @ center[..., None])[..., 0]
        return origin + arm, velocity + np.cross(omega, arm), rotation, omega

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates; none for a rigid body."""
        return 0

    @property
    def modal_q(self) -> slice:
        """Where the modal coordinates are among the coordinates."""
        return slice(self.n_q - self.n_modes, self.n_q)

    @property
    def modal_v(self) -> slice:
        """Where the modal velocities are among the velocities."""
        return slice(self.n_v - self.n_modes, self.n_v)

    @property
    def dissipates(self) -> bool:
        """Whether deformation is damped, so that there is a power `loss` that is not in the energies."""
        return False

    def deformations(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Modal coordinates and velocities, (n, number of modes) each; a rigid body has none."""
        return np.zeros((len(q), 0)), np.zeros((len(v), 0))

    def marker_shape(self, marker: Marker) -> Array | None:
        """How a marker on a flexible body moves with its modal coordinates (6 x modes); None for a rigid one."""
        return None

    held: ClassVar[tuple[int, ...]] = ()
    """Small motions that the body cannot make: out of the plane for a planar one."""

    def variation(self, q: Array, v: Array, v_rate: Array) -> Variation:
        """How small motions change the velocities of bodies whose coordinates are the rows of q, v and v'."""
        message = (
            "not defined; a linearization needs it: write variation(self, q, v, v_rate), which returns a Variation"
        )
        raise ModelError([Problem(type(self).__name__, "variation", message)])

    # --- kernels -----------------------------------------------------------------------------------------------------

    @staticmethod
    def prepare(body, q, frame):
        """frame := A(q), and its further columns."""
        raise NotImplementedError

    @staticmethod
    def regular(body, q, frame):
        """Whether the coordinates can describe this pose; where not, a run ends with an error that names the body."""
        return True

    @staticmethod
    def place(body, q, v, frame, marker, jacobian, level):
        """Write the marker: position and axes; for level > 0 also rates, bias accelerations and B.

        What concerns the axis k may be left out where the bit k of `marker.oriented` is 0.
        """
        raise NotImplementedError

    @staticmethod
    def inertia(body, q, v, frame, mass, force):
        """mass := M where it varies; force += inertia forces quadratic in v, and gravity."""
        raise NotImplementedError

    @staticmethod
    def rates(body, q, v, q_rate):
        """q_rate := T(q) v."""
        raise NotImplementedError

    @staticmethod
    def normalize(body, q):
        """Remove what the coordinates carry beyond the pose (the length of a quaternion)."""

    @staticmethod
    def loss(body, v):
        """Power that the damping of the deformation takes; asked for only of a formulation that `dissipates`."""
        raise NotImplementedError

    @staticmethod
    def intrinsic(q, v, residual, rate, gamma, jacobian, level):
        """Intrinsic constraints: C; for level >= 1 also C', gamma and J."""

    @staticmethod
    def inertia_tangent(body, q, v, v_rate, frame, stiffness, damping):
        """Derivatives of M v' - Q (inertia and gravity) along q and v, added to the outputs (n_v x n_v)."""
        raise NotImplementedError

    @staticmethod
    def place_tangent(body, v, frame, marker, rate_tangent):
        """rate_tangent := derivative of x' = B v along q (12 x n_v)."""
        raise NotImplementedError

    @staticmethod
    def load_tangent(body, frame, marker, load, stiffness):
        """Add the derivative of B^T load along q, for the fixed 12 numbers `load`, to stiffness (n_v x n_v)."""
        raise NotImplementedError

    @staticmethod
    def intrinsic_tangent(q, multipliers, stiffness):
        """Add the derivative of J^T lambda of the intrinsic rows along q to stiffness."""


def refuse_raising(kind: type[Formulation], kernels: Iterable[str]) -> None:
    """Refuse kernels that are missing or raise: in compiled code the exception vanishes, and the run would go on."""
    for name in kernels:
        kernel = getattr(kind, name)
        if not any(instruction.opname == "RAISE_VARARGS" for instruction in dis.get_instructions(kernel)):
            continue
        if kernel is getattr(Formulation, name):
            message = "not defined; write it as a static method, as mb.Formulation describes it"
        else:
            code = kernel.__code__
            message = (
                f"raises an exception ({code.co_filename}, line {code.co_firstlineno}), which would vanish in compiled "
                "code; write formulas only, and let regular() return False in a pose that has no coordinates"
            )
        raise ModelError([Problem(kind.__name__, name, message)])
