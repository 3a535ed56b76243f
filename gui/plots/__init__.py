"""Plots of quantities over time."""

from .panel import PlotsPanel

__all__ = ["PlotsPanel"]
