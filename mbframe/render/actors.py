"""What a scene puts into a plotter: surfaces and lines; and the plotter that draws off-screen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .availability import has_display, pyvista
from .style import Color
from .surfaces import Surface

Array = NDArray[np.float64]


def surface_data(surface: Surface) -> Any:
    """A surface as PyVista takes it."""
    data = pyvista().PolyData.from_regular_faces(surface.vertices, surface.faces)
    data.point_data.active_normals = surface.normals
    return data


def mapper_of(data: Any) -> Any:
    """What draws data; actors can share it. PyVista's own mapper prepares colour maps, at a hundred times the cost."""
    from vtkmodules.vtkRenderingCore import vtkPolyDataMapper

    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.ScalarVisibilityOff()
    return mapper


class SurfaceActor:
    """A surface in a plotter. Its matrix is owned here and copied into: five times as fast as replacing it."""

    def __init__(
        self,
        plotter: Any,
        mapper: Any,
        color: Color,
        opacity: float = 1.0,
        lit: bool = True,
        pickable: bool = True,
    ) -> None:
        from vtkmodules.vtkCommonMath import vtkMatrix4x4
        from vtkmodules.vtkRenderingCore import vtkActor

        self.mapper = mapper
        self.actor = vtkActor()
        self.actor.SetMapper(mapper)
        self.matrix = vtkMatrix4x4()
        self.actor.SetUserMatrix(self.matrix)
        look = self.actor.GetProperty()
        look.SetColor(*color)
        look.SetOpacity(opacity)
        look.SetLighting(lit)
        if lit:
            look.SetInterpolationToPhong()
            look.SetAmbient(0.22)
            look.SetDiffuse(0.9)
            look.SetSpecular(0.2)
            look.SetSpecularPower(25.0)
        plotter.add_actor(self.actor, reset_camera=False, render=False, pickable=pickable)

    def place(self, elements: Sequence[float]) -> None:
        """Put it where a matrix (4, 4), given row by row, says."""
        self.matrix.DeepCopy(elements)

    def paint(self, color: Color) -> None:
        """Give it another colour."""
        self.actor.GetProperty().SetColor(*color)

    def visible(self, shown: bool) -> None:
        """Show or hide it."""
        self.actor.SetVisibility(shown)

    def deform(self, vertices: ArrayLike) -> None:
        """Other vertices for the same triangles, also of all actors that share the mapper."""
        data = self.mapper.GetInput()
        data.points = np.asarray(vertices, np.float32)
        data.compute_normals(cell_normals=False, split_vertices=False, consistent_normals=False, inplace=True)

    def paint_vertices(self, colors: ArrayLike) -> None:
        """Give each vertex a colour (n, 3), also in all actors that share the mapper."""
        data = self.mapper.GetInput()
        data.point_data["rgb"] = np.round(255.0 * np.asarray(colors)).astype(np.uint8)
        self.mapper.ScalarVisibilityOn()
        self.mapper.SetScalarModeToUsePointFieldData()
        self.mapper.SelectColorArray("rgb")
        self.mapper.SetColorModeToDirectScalars()


def place_all(actors: Sequence[SurfaceActor], matrices: Array) -> None:
    """Put actors where matrices (n, 4, 4) say."""
    for actor, elements in zip(actors, matrices.reshape(-1, 16).tolist(), strict=True):
        actor.place(elements)


def add_lines(plotter: Any, points: Array, lines: Any, colors: Array, opacity: Array, width: float) -> Any:
    """Lines with a colour and an opacity at each point, unlit; returns the actor."""
    from vtkmodules.vtkRenderingCore import vtkActor

    data = pyvista().PolyData(np.asarray(points, np.float32), lines=np.asarray(lines).ravel())
    rgba = np.column_stack([np.asarray(colors), opacity])
    data.point_data["rgba"] = np.round(255.0 * rgba).astype(np.uint8)
    mapper = mapper_of(data)
    mapper.ScalarVisibilityOn()
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SelectColorArray("rgba")
    mapper.SetColorModeToDirectScalars()
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().LightingOff()
    actor.GetProperty().SetLineWidth(width)
    plotter.add_actor(actor, reset_camera=False, render=False, pickable=False)
    return actor


def off_screen_plotter(size: Sequence[int], smooth: bool) -> Any:
    """A plotter that draws without a window."""
    with _without_display():
        plotter = pyvista().Plotter(off_screen=True, window_size=list(size), lighting=None)
    if smooth:
        plotter.enable_anti_aliasing("msaa", multi_samples=8)  # SSAA takes twice the time and looks the same
    else:
        plotter.render_window.SetMultiSamples(0)
        plotter.disable_anti_aliasing()
    return plotter


@contextmanager
def _without_display() -> Iterator[None]:
    """Lets VTK draw by EGL at once where there is no display; by itself it tries one first and complains."""
    key = "VTK_DEFAULT_OPENGL_WINDOW"
    if has_display() or key in os.environ:
        yield
        return
    os.environ[key] = "vtkEGLRenderWindow"
    try:
        yield
    finally:
        del os.environ[key]
