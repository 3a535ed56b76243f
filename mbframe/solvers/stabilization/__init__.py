"""What keeps the constraints from drifting."""

from .base import NoStabilization, Stabilization
from .baumgarte import Baumgarte
from .direct import DirectCorrection

__all__ = ["Baumgarte", "DirectCorrection", "NoStabilization", "Stabilization"]
