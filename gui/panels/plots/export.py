"""Saving plots: as a picture, as a drawing, as a table."""

from __future__ import annotations

import csv
import io
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QRect, QRectF, QSize
from PySide6.QtGui import QColor, QImage, QImageWriter, QPainter, QTextDocument
from PySide6.QtSvg import QSvgGenerator

import mbframe as mb
from mbframe.disk.atomic import replacing, write_text
from mbframe.files.result_tables import harmless

from ...widgets.theme import current as current_theme
from .plot import Plot

SCALE: Final = 2
"""Pixels of a picture per pixel on the screen."""
SUFFIXES: Final = (".png", ".svg", ".csv")


def export(plot: Plot, path: Path) -> None:
    """Write a plot to a file, by its suffix. A place that cannot be written is a `ModelError`."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise mb.ModelError(f"{path.name!r} cannot be written; plots are saved as {', '.join(SUFFIXES)}")
    if suffix == ".csv":
        write_text(path, table(plot))
        return
    content = picture(plot) if suffix == ".png" else drawing(plot)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def picture(plot: Plot) -> bytes:
    """The plot as a PNG file."""
    size = plot.size()
    image = QImage(size * SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(SCALE)
    painter = QPainter(image)
    _paint(plot, painter, size)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, b"PNG").write(image)
    return bytes(buffer.data().data())


def drawing(plot: Plot) -> bytes:
    """The plot as an SVG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    size = plot.size()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle(", ".join(plot.names))
    painter = QPainter(generator)
    _paint(plot, painter, size)
    painter.end()
    return bytes(buffer.data().data())


def _paint(plot: Plot, painter: QPainter, size: QSize) -> None:
    """The legend, and the graph below it, without the buttons and the cursor."""
    look = current_theme()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(QRect(0, 0, size.width(), size.height()), QColor(look.surface))
    legend = QTextDocument()
    legend.setDefaultFont(plot.font())
    legend.setTextWidth(size.width() - 16)
    legend.setHtml(f'<div style="color:{look.text}">{plot.legend(links=False)}</div>')
    painter.save()
    painter.translate(8, 0)
    legend.drawContents(painter)
    painter.restore()
    top = legend.size().height()
    plot.time_line.hide()
    plot.graph.render(painter, QRectF(0, top, size.width(), size.height() - top))
    plot.time_line.show()


def table(plot: Plot) -> str:
    """The curves as CSV: a column of instants for all, or one for each run if their instants differ."""
    columns: list[tuple[str, Any]] = []
    several = len({id(trace.run) for trace in plot.traces}) > 1
    first = plot.traces[0].t if plot.traces else np.zeros(0)
    common = all(np.array_equal(trace.t, first) for trace in plot.traces)
    seen: set[int] = set()
    for trace in plot.traces:
        run = f"{trace.run.name}: " if several else ""
        if not (seen if common else id(trace.run) in seen):
            columns.append((f"{'' if common else run}t [s]", trace.t))
        seen.add(id(trace.run))
        unit = f" [{plot.shown_unit}]" if plot.shown_unit else ""
        columns.append((f"{run}{trace.name}{unit}", trace.values))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([harmless(head) for head, _ in columns])
    for row in zip_longest(*(values.tolist() for _, values in columns), fillvalue=""):
        writer.writerow([repr(value) if isinstance(value, float) else value for value in row])
    return text.getvalue()
