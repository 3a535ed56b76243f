"""Pictures of mechanisms and their motion, without a window: `mb.render.Scene`, `mb.render.export`.

Geometry is data (`drawing`), a `Scene` draws it with PyVista, exports write it. PyVista is imported when something is
drawn.
"""

from .availability import RenderError, can_draw, prepare
from .canvas import Canvas, Pick
from .coloring import Coloring
from .export import export, preview
from .geometry import drawing
from .parts import Part
from .placement import Poses
from .scene import Scene, picture
from .vectors import Vectors, vectors

__all__ = [
    "Canvas",
    "Coloring",
    "Part",
    "Pick",
    "Poses",
    "RenderError",
    "Scene",
    "Vectors",
    "can_draw",
    "drawing",
    "export",
    "picture",
    "prepare",
    "preview",
    "vectors",
]
