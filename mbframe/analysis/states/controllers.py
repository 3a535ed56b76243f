"""Controllers with a sample time, which no analysis of an equilibrium or a linear motion takes."""

from __future__ import annotations

from ...equations.equations import Equations
from ...errors import AnalysisError


def refuse_sampled(eq: Equations) -> None:
    """Refuse controllers that act at samples: what they hold is no state of the motion."""
    sampled = [c.controller for c in eq.tables.controllers if c.sampled]
    if sampled:
        one = sampled[0]
        raise AnalysisError(
            f"{one} acts at samples, every {one.sample_time:g} s, and not all the time: let it act all the time with "
            "sample_time=None (what it gives then follows without delay), or simulate"
        )
