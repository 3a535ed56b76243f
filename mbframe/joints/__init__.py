"""Joints: lists of basic constraints between two markers."""

from .base import Joint
from .library import RevoluteJoint, SphericalJoint

__all__ = ["Joint", "RevoluteJoint", "SphericalJoint"]
