"""The legend of colours in pictures: a bar with numbers at the right edge."""

from __future__ import annotations

from typing import Any

from .coloring import PALETTE, Coloring
from .style import Theme

SHADES = 256


def add_legend(plotter: Any, coloring: Coloring, theme: Theme, height: int) -> Any:
    """Draw the bar into a picture of so many pixels; its letters are as large as those of the title."""
    import numpy as np
    from vtkmodules.vtkCommonCore import vtkLookupTable
    from vtkmodules.vtkRenderingAnnotation import vtkScalarBarActor

    factor, _ = coloring.scale
    table = vtkLookupTable()
    table.SetNumberOfTableValues(SHADES)
    table.SetRange(coloring.low / factor, coloring.high / factor)
    places = np.linspace(0.0, len(PALETTE) - 1.0, SHADES)
    for k, place in enumerate(places):
        table.SetTableValue(k, [*(float(np.interp(place, np.arange(len(PALETTE)), c)) for c in PALETTE.T), 1.0])
    table.Build()
    bar = vtkScalarBarActor()
    bar.SetLookupTable(table)
    bar.SetTitle(coloring.title)
    bar.SetNumberOfLabels(len(coloring.ticks))
    bar.SetLabelFormat("%.3g")
    bar.UnconstrainedFontSizeOn()
    bar.SetVerticalTitleSeparation(max(4, height // 90))
    points = max(10, round(height / 42.0))
    for style in (bar.GetTitleTextProperty(), bar.GetLabelTextProperty()):
        style.SetColor(*theme.text)
        style.SetFontFamilyToArial()
        style.SetFontSize(points)
        style.BoldOff()
        style.ItalicOff()
        style.ShadowOff()
    bar.SetBarRatio(0.16)
    bar.SetTextPad(max(3, height // 120))
    bar.DrawBackgroundOn()
    behind = bar.GetBackgroundProperty()
    behind.SetColor(*theme.background)
    behind.SetOpacity(0.6)
    bar.GetPositionCoordinate().SetCoordinateSystemToNormalizedViewport()
    bar.SetPosition(0.80, 0.28)
    bar.SetWidth(0.18)
    bar.SetHeight(0.46)
    plotter.renderer.AddViewProp(bar)
    return bar
