"""Flexible bodies' finite elements and component modes: `mb.flexible.beam`, `mb.flexible.craig_bampton`, ….

Component (nodes, matrices)  --free_modes, clamped_modes, craig_bampton, user_modes-->  Modes  -->  mb.FlexibleBody
"""

from .beams import beam, frame
from .component import Component
from .interface_points import InterfacePoint
from .mass_points import MassPoints
from .modes import Modes, Participation
from .sections import circle, rectangle, tube
from .solids import nodes_on_cylinder, solid
from .synthesis import clamped_modes, craig_bampton, free_modes, residual_modes, user_modes

__all__ = [
    "Component",
    "InterfacePoint",
    "MassPoints",
    "Modes",
    "Participation",
    "beam",
    "circle",
    "clamped_modes",
    "craig_bampton",
    "frame",
    "free_modes",
    "nodes_on_cylinder",
    "rectangle",
    "residual_modes",
    "solid",
    "tube",
    "user_modes",
]
