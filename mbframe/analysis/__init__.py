"""Analyses of a system."""

from .assemble import Assembly, assemble
from .equilibrium import Equilibrium, equilibrium
from .evaluate import evaluate
from .freedom import Freedom, degrees_of_freedom
from .kinematics import inverse_dynamics, kinematics

__all__ = [
    "Assembly",
    "Equilibrium",
    "Freedom",
    "assemble",
    "degrees_of_freedom",
    "equilibrium",
    "evaluate",
    "inverse_dynamics",
    "kinematics",
]
