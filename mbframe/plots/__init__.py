"""Pictures of results with matplotlib: signals over time, phase plots, energy, constraint violation.

Analyses that draw something of their own start with `figure` and use the colours of its theme:

    picture, (axes,) = figure(["imaginary part (rad/s)"], x_label="real part (1/s)", title="root locus")
    draw(axes, real, imaginary, number=0, label="weave")
    legend(axes)
    picture.save("roots.svg")
"""

from .signals import energy, overview, plot, violation
from .style import Plot, Theme, draw, figure, legend

__all__ = ["Plot", "Theme", "draw", "energy", "figure", "legend", "overview", "plot", "violation"]
