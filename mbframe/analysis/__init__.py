"""Analyses of a system."""

from .assemble import Assembly, assemble
from .evaluate import evaluate
from .freedom import Freedom, degrees_of_freedom

__all__ = ["Assembly", "Freedom", "assemble", "degrees_of_freedom", "evaluate"]
