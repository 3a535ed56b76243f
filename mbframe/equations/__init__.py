"""The equations of motion of a system, numbered, tabled and ready to be evaluated."""

from .equations import Equations, Evaluation

__all__ = ["Equations", "Evaluation"]
