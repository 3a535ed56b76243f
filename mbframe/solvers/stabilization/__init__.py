"""What keeps the constraints from drifting."""

from .base import NoStabilization, Stabilization
from .direct import DirectCorrection

__all__ = ["DirectCorrection", "NoStabilization", "Stabilization"]
