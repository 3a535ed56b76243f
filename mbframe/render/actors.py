"""What a scene puts into a plotter: surfaces and lines; and the plotter that draws off-screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .availability import has_display, has_driver, pyvista
from .style import Color
from .surfaces import Surface

Array = NDArray[np.float64]


def surface_data(surface: Surface) -> Any:
    """A surface as VTK takes it; PyVista's way to make it takes ten times as long."""
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonDataModel import vtkCellArray

    data = _points(surface.vertices)
    triangles = vtkCellArray()
    triangles.SetData(3, numpy_to_vtkIdTypeArray(surface.faces.astype(np.int64).ravel(), deep=True))
    data.SetPolys(triangles)
    data.GetPointData().SetNormals(numpy_to_vtk(surface.normals, deep=True))
    return data


def deformable_data(surface: Surface) -> Any:
    """A surface as PyVista takes it, whose points can be moved."""
    data = pyvista().PolyData.from_regular_faces(surface.vertices, surface.faces)
    data.point_data.active_normals = surface.normals
    return data


def _points(places: ArrayLike) -> Any:
    """Points without cells."""
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkPolyData

    points = vtkPoints()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(places, np.float32), deep=True))
    data = vtkPolyData()
    data.SetPoints(points)
    return data


def _paint_points(data: Any, mapper: Any, colors: NDArray[np.uint8]) -> None:
    """Let a mapper take the colours (n, 3) or (n, 4) that are given for the points of its data."""
    from vtkmodules.util.numpy_support import numpy_to_vtk

    array = numpy_to_vtk(np.ascontiguousarray(colors), deep=True)
    array.SetName("colors")
    data.GetPointData().AddArray(array)
    data.Modified()
    mapper.ScalarVisibilityOn()
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SelectColorArray("colors")
    mapper.SetColorModeToDirectScalars()


def mapper_of(data: Any) -> Any:
    """What draws data; actors can share it. PyVista's own mapper prepares colour maps, at a hundred times the cost."""
    from vtkmodules.vtkRenderingCore import vtkPolyDataMapper

    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.ScalarVisibilityOff()
    return mapper


def in_front(mapper: Any) -> None:
    """Let a mapper draw before all else: its depth is shifted towards the camera.

    VTK switches that on for all mappers, which then shift by nothing.
    """
    mapper.SetResolveCoincidentTopologyToPolygonOffset()
    mapper.SetResolveCoincidentTopologyPolygonOffsetParameters(0.0, 0.0)
    mapper.SetResolveCoincidentTopologyLineOffsetParameters(0.0, 0.0)
    mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(0.0, -66000.0)


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

    def paint_vertices(self, colors: NDArray[np.uint8]) -> None:
        """Give each vertex a colour (n, 3), also of all actors that share the mapper."""
        _paint_points(self.mapper.GetInput(), self.mapper, colors)

    def plain_mapper(self) -> Any:
        """A mapper of the same surface that takes the colour of its actor; the own one unless vertices have colours."""
        return mapper_of(self.mapper.GetInput()) if self.mapper.GetScalarVisibility() else self.mapper

    def visible(self, shown: bool) -> None:
        """Show or hide it."""
        self.actor.SetVisibility(shown)

    def deform(self, vertices: ArrayLike) -> None:
        """Other vertices for the same triangles, also of all actors that share the mapper."""
        data = self.mapper.GetInput()
        data.points = np.asarray(vertices, np.float32)
        data.compute_normals(cell_normals=False, split_vertices=False, consistent_normals=False, inplace=True)


def silhouette_of(plotter: Any, surface: Surface, color: Color, width: float) -> SurfaceActor:
    """The outline of a surface as lines, wherever the camera is: of what one sees through, a skin would be seen too."""
    from vtkmodules.vtkFiltersCore import vtkCleanPolyData
    from vtkmodules.vtkFiltersHybrid import vtkPolyDataSilhouette
    from vtkmodules.vtkRenderingCore import vtkPolyDataMapper

    whole = vtkCleanPolyData()  # an edge is one of two triangles that share its ends
    whole.SetInputData(surface_data(surface))
    whole.PointMergingOn()
    outline = vtkPolyDataSilhouette()
    outline.SetInputConnection(whole.GetOutputPort())
    outline.SetCamera(plotter.renderer.GetActiveCamera())
    outline.SetEnableFeatureAngle(0)
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(outline.GetOutputPort())
    mapper.ScalarVisibilityOff()
    drawn = SurfaceActor(plotter, mapper, color, lit=False, pickable=False)
    drawn.actor.GetProperty().SetLineWidth(width)
    outline.SetDirectionToCameraOrigin()
    outline.SetProp3D(drawn.actor)
    return drawn


def place_all(actors: Sequence[SurfaceActor], matrices: Array) -> None:
    """Put actors where matrices (n, 4, 4) say."""
    for actor, elements in zip(actors, matrices.reshape(-1, 16).tolist(), strict=True):
        actor.place(elements)


def add_lines(plotter: Any, points: Array, lines: Any, colors: Array, opacity: Array, width: float) -> Any:
    """Lines, rows (2, start, end), with a colour and an opacity at each point, unlit; returns the actor."""
    from vtkmodules.util.numpy_support import numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonDataModel import vtkCellArray
    from vtkmodules.vtkRenderingCore import vtkActor

    data = _points(points)
    pairs = vtkCellArray()
    pairs.SetData(
        2, numpy_to_vtkIdTypeArray(np.ascontiguousarray(np.asarray(lines)[:, 1:], np.int64).ravel(), deep=True)
    )
    data.SetLines(pairs)
    mapper = mapper_of(data)
    _paint_points(data, mapper, np.round(255.0 * np.column_stack([np.asarray(colors), opacity])).astype(np.uint8))
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().LightingOff()
    actor.GetProperty().SetLineWidth(width)
    plotter.add_actor(actor, reset_camera=False, render=False, pickable=False)
    return actor


def move_points(actor: Any, places: ArrayLike) -> None:
    """Bring the points of an actor's data elsewhere."""
    from vtkmodules.util.numpy_support import numpy_to_vtk

    data = actor.GetMapper().GetInput()
    data.GetPoints().SetData(numpy_to_vtk(np.ascontiguousarray(places, np.float32), deep=True))
    data.GetPoints().Modified()


def camera_light(position: Sequence[float], intensity: float) -> Any:
    """A light that moves with the camera; its position is seen from there."""
    from vtkmodules.vtkRenderingCore import vtkLight

    light = vtkLight()
    light.SetLightTypeToCameraLight()
    light.SetPosition(*position)
    light.SetIntensity(intensity)
    return light


def tell_warnings(on: bool) -> None:
    """Let VTK print its warnings, or keep them to itself."""
    from vtkmodules.vtkCommonCore import vtkObject

    vtkObject.SetGlobalWarningDisplay(on)


def off_screen_plotter(size: Sequence[int], smooth: bool) -> Any:
    """A plotter that draws without a window."""
    with without_display():
        plotter = pyvista().Plotter(off_screen=True, window_size=list(size), lighting=None)
    if smooth:
        plotter.enable_anti_aliasing("msaa", multi_samples=8)  # SSAA takes twice the time and looks the same
    else:
        plotter.render_window.SetMultiSamples(0)
        plotter.disable_anti_aliasing()
    return plotter


@contextmanager
def without_display() -> Iterator[None]:
    """Lets VTK draw by EGL where it has a driver, display or not.

    By itself VTK takes the display where there is one, and an error of the X server ends the program; where there is
    none it tries one first and complains.
    """
    wanted = {"ALLOW_PLOTTING": "true"}  # PyVista need not look for a display: whether we can draw was asked before
    if sys.platform.startswith("linux") and (has_driver() or not has_display()):
        wanted["VTK_DEFAULT_OPENGL_WINDOW"] = "vtkEGLRenderWindow"
    wanted = {key: value for key, value in wanted.items() if key not in os.environ}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key in wanted:
            del os.environ[key]
