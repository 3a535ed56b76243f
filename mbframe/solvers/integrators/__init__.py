"""Time integration."""

from .adams_bashforth import AdamsBashforth
from .base import Integrator
from .bdf import BDF
from .generalized_alpha import GeneralizedAlpha
from .radau import RadauIIA
from .runge_kutta import DormandPrince, RungeKutta, RungeKutta4

__all__ = [
    "BDF",
    "AdamsBashforth",
    "DormandPrince",
    "GeneralizedAlpha",
    "Integrator",
    "RadauIIA",
    "RungeKutta",
    "RungeKutta4",
]
