"""Time integration."""

from .base import Integrator
from .runge_kutta import DormandPrince, RungeKutta, RungeKutta4

__all__ = ["DormandPrince", "Integrator", "RungeKutta", "RungeKutta4"]
