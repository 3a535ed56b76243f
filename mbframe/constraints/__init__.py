"""Basic constraints: the equations that joints are built from."""

from .base import BasicConstraint
from .basic import Coincident, Perpendicular

__all__ = ["BasicConstraint", "Coincident", "Perpendicular"]
