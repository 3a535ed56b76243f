"""Analyses of a system."""

from .evaluate import evaluate

__all__ = ["evaluate"]
