"""Mass properties of bodies from their shapes and a density. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb

Array = NDArray[np.float64]
Properties = tuple[float, Array, Array]

MATERIALS: Final = {"Steel": 7850.0, "Aluminium": 2700.0, "Plastic": 1100.0, "Wood": 600.0}
"""Density, kg/m^3."""


def solid(shape: mb.Shape, density: float) -> Properties:
    """Mass, centre and inertia about it of a homogeneous shape, in its own axes."""
    zero = np.zeros(3)
    if isinstance(shape, mb.Box):
        squares = np.array(shape.size) ** 2
        mass = density * float(np.prod(shape.size))
        return mass, zero, np.diag(mass / 12.0 * (squares.sum() - squares))
    if isinstance(shape, mb.Cylinder):
        r, h = shape.radius, shape.length
        mass = density * np.pi * r**2 * h
        across = mass * (3.0 * r**2 + h**2) / 12.0
        return mass, zero, np.diag([across, across, 0.5 * mass * r**2])
    if isinstance(shape, mb.Sphere):
        mass = density * 4.0 / 3.0 * np.pi * shape.radius**3
        return mass, zero, 0.4 * mass * shape.radius**2 * np.eye(3)
    if isinstance(shape, mb.Cone):
        r, h = shape.radius, shape.length
        mass = density * np.pi * r**2 * h / 3.0
        across = mass * (0.15 * r**2 + 0.0375 * h**2)
        return mass, np.array([0.0, 0.0, 0.25 * h]), np.diag([across, across, 0.3 * mass * r**2])
    if isinstance(shape, mb.Mesh):
        from mbframe.render.mesh_mass import mesh_mass_properties

        return mesh_mass_properties(shape.path, density, shape.scale)
    return 0.0, zero, np.zeros((3, 3))


def of_shapes(shapes: Sequence[mb.Shape], density: float) -> Properties:
    """Those of several shapes on a body, in its axes (parallel axes: I + m (d^2 1 - d d^T))."""
    parts = []
    for shape in shapes:
        mass, center, inertia = solid(shape, density)
        turn = np.array(shape.rotation)
        parts.append((mass, np.array(shape.position) + turn @ center, turn @ inertia @ turn.T))
    total = sum(mass for mass, _, _ in parts)
    if not total > 0.0:
        raise mb.ModelError("the shapes enclose no volume; give mass and inertia by hand")
    middle = sum(mass * center for mass, center, _ in parts) / total
    inertia = np.zeros((3, 3))
    for mass, center, own in parts:
        d = center - middle
        inertia += own + mass * (d @ d * np.eye(3) - np.outer(d, d))
    return float(total), middle, inertia


def parameters(shapes: Sequence[mb.Shape], density: float, dimension: int) -> dict[str, Any]:
    """Mass, inertia and centre of mass as parameters of a body; in the plane the moment about its normal."""
    mass, middle, inertia = of_shapes(shapes, density)
    if dimension == 2:
        return {"mass": mass, "inertia": float(inertia[2, 2]), "center_of_mass": middle[:2]}
    return {"mass": mass, "inertia": inertia, "center_of_mass": middle}
