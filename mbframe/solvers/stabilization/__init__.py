"""What keeps the constraints from drifting."""

from .base import NoStabilization, Stabilization
from .baumgarte import Baumgarte
from .direct import DirectCorrection
from .mass_orthogonal import MassOrthogonalProjection
from .partitioning import CoordinatePartitioning

__all__ = [
    "Baumgarte",
    "CoordinatePartitioning",
    "DirectCorrection",
    "MassOrthogonalProjection",
    "NoStabilization",
    "Stabilization",
]
