"""Coordinate formulations, one file each."""

from .base import Formulation, Variation
from .euler_angles import EulerAngles
from .euler_parameters import EulerParameters
from .floating_frame import FloatingFrame
from .natural_absolute import NaturalAbsolute
from .newton_euler import NewtonEuler
from .planar_angle import PlanarAngle
from .planar_euler_parameters import PlanarEulerParameters
from .planar_floating_frame import PlanarFloatingFrame
from .planar_natural import PlanarNatural
from .relative import Relative
from .translation import Translation

FlexibleFormulation = FloatingFrame | PlanarFloatingFrame
"""Those of bodies with modal coordinates, in space and in the plane."""

__all__ = [
    "EulerAngles",
    "EulerParameters",
    "FlexibleFormulation",
    "FloatingFrame",
    "Formulation",
    "NaturalAbsolute",
    "NewtonEuler",
    "PlanarAngle",
    "PlanarEulerParameters",
    "PlanarFloatingFrame",
    "PlanarNatural",
    "Relative",
    "Translation",
    "Variation",
]
