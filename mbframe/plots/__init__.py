"""Pictures of results with matplotlib: signals over time, phase plots, energy, constraint violation.

Analyses that draw something of their own start with `figure` and use the colours of its theme:

    picture, (axes,) = figure(["real part (1/s)"], title="root locus")
    axes.plot(...)
    picture.save("roots.svg")
"""

from .signals import energy, overview, plot, violation
from .style import COLORS, Plot, Theme, draw, figure

__all__ = ["COLORS", "Plot", "Theme", "draw", "energy", "figure", "overview", "plot", "violation"]
