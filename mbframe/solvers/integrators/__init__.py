"""Time integration."""

from .adams_bashforth import AdamsBashforth
from .base import Integrator
from .runge_kutta import DormandPrince, RungeKutta, RungeKutta4

__all__ = ["AdamsBashforth", "DormandPrince", "Integrator", "RungeKutta", "RungeKutta4"]
