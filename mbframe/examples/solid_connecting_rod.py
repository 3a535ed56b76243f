"""An engine's crank, connecting rod and piston; the rod is a solid that deforms."""

from __future__ import annotations

from importlib.resources import as_file, files

import numpy as np

from ..bodies import FlexibleBody, RigidBody
from ..joints import Driver, RevoluteJoint, SphericalJoint, TranslationalJoint, UniversalJoint
from ..shapes import Cylinder
from ..system import System

CRANK, ROD = 0.05, 0.15  # m
BORES = {"big": (0.0, 0.024), "small": (ROD, 0.011)}  # m: where the eyes are along the rod, and their radii
THICKNESS = 0.024  # m
SPEED = 400.0  # rad/s
YOUNG, POISSON, DENSITY = 7.1e10, 0.33, 2700.0  # aluminium


def solid_connecting_rod(order: int = 1, n_modes: int = 2, speed: float = SPEED) -> System:
    """A crank at constant speed that moves a piston by a rod of hexahedra, from the mesh that ships with the library.

    The bores of both eyes are interface points: the joints hold all nodes on their surface together. Dimensions and
    speed are those of a small engine. Needs scikit-fem (the extra `flexible`).

    Parameters
    ----------
    order
        Degree of the displacements in each element; 2 is accurate in bending and takes longer to prepare.
    n_modes
        Vibrations of the rod between its eyes, beside the six static shapes of these.
    speed
        Of the crank, rad/s.
    """
    from ..flexible import craig_bampton, nodes_on_cylinder, solid

    with as_file(files("mbframe_assets") / "meshes" / "connecting_rod.msh") as path:
        part = solid(path, young=YOUNG, poisson=POISSON, density=DENSITY, order=order)
    for name, (x, radius) in BORES.items():
        bore = nodes_on_cylinder(part, (x, 0.0, 0.0), (0.0, 0.0, 1.0), radius, length=THICKNESS)
        part = part.with_interface(bore, (x, 0.0, 0.0), name)
    system = System("solid connecting rod", gravity=(0.0, -9.81, 0.0))
    b, c = np.array([CRANK, 0.0, 0.0]), np.array([CRANK + ROD, 0.0, 0.0])
    turn = np.array([0.0, 0.0, speed])
    crank = system.add(
        RigidBody(
            "crank",
            mass=1.0,
            inertia=(1e-3, 1e-3, 2e-3),
            angular_velocity=turn,
            shapes=[Cylinder(radius=1.4 * CRANK, length=0.01, position=(0.0, 0.0, -0.02))],
        )
    )
    rod = system.add(
        FlexibleBody(
            "rod",
            craig_bampton(part, interfaces=["big", "small"], n_modes=n_modes),
            position=b,
            velocity=np.cross(turn, b),
            angular_velocity=(0.0, 0.0, -speed * CRANK / ROD),
            damping_ratios=0.02,
        )
    )
    turned = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    piston = system.add(
        RigidBody(
            "piston",
            mass=0.3,
            inertia=(1e-4, 1e-4, 1e-4),
            position=c,
            shapes=[Cylinder(radius=0.04, length=0.05, rotation=turned, opacity=0.4)],
        )
    )
    hinge = system.add(RevoluteJoint("main bearing", system.ground, crank, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(SphericalJoint("crank pin", crank, rod, at=b))
    system.add(UniversalJoint("piston pin", rod, piston, at=c, axis_i=(0.0, 0.0, 1.0), axis_j=(0.0, 1.0, 0.0)))
    system.add(TranslationalJoint("cylinder", system.ground, piston, at=c, axis=(1.0, 0.0, 0.0)))
    system.add(Driver("motor", hinge, angle=f"{speed!r}*t"))
    return system
