"""What a scene needs of a PyVista plotter, made of VTK alone: PyVista's plotting takes two seconds to import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .actors import without_display
from .style import Color

Triple = Sequence[float]


class StageCamera:
    """A camera of VTK with the attributes of PyVista's."""

    def __init__(self, camera: Any) -> None:
        self._camera = camera

    @property
    def position(self) -> tuple[float, float, float]:
        return self._camera.GetPosition()

    @position.setter
    def position(self, value: Triple) -> None:
        self._camera.SetPosition(*value)

    @property
    def focal_point(self) -> tuple[float, float, float]:
        return self._camera.GetFocalPoint()

    @focal_point.setter
    def focal_point(self, value: Triple) -> None:
        self._camera.SetFocalPoint(*value)

    @property
    def up(self) -> tuple[float, float, float]:
        return self._camera.GetViewUp()

    @up.setter
    def up(self, value: Triple) -> None:
        self._camera.SetViewUp(*value)

    @property
    def view_angle(self) -> float:
        return self._camera.GetViewAngle()

    @view_angle.setter
    def view_angle(self, value: float) -> None:
        self._camera.SetViewAngle(value)

    @property
    def parallel_scale(self) -> float:
        return self._camera.GetParallelScale()

    @parallel_scale.setter
    def parallel_scale(self, value: float) -> None:
        self._camera.SetParallelScale(value)


class Stage:
    """Draws off-screen; `Scene` takes it in the place of a plotter."""

    def __init__(self, size: Sequence[int]) -> None:
        import vtkmodules.vtkRenderingFreeType
        import vtkmodules.vtkRenderingOpenGL2  # noqa: F401 (both register what draws)
        from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
        from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

        self.renderer = vtkRenderer()
        with without_display():
            self.render_window: Any = vtkRenderWindow()
            self.render_window.SetOffScreenRendering(1)
            self.render_window.SetMultiSamples(0)
            self.render_window.SetSize(*size)
            self.render_window.AddRenderer(self.renderer)
        self.camera = StageCamera(self.renderer.GetActiveCamera())
        self._pixels = vtkUnsignedCharArray()

    @property
    def window_size(self) -> list[int]:
        """Width and height, pixels."""
        return list(self.render_window.GetSize())

    @window_size.setter
    def window_size(self, size: Sequence[int]) -> None:
        self.render_window.SetSize(*size)

    def add_actor(self, actor: Any, reset_camera: bool = False, render: bool = False, pickable: bool = True) -> Any:
        """Show an actor."""
        actor.SetPickable(pickable)
        self.renderer.AddActor(actor)
        return actor

    def remove_actor(self, actor: Any, render: bool = False) -> None:
        """Show an actor no more."""
        self.renderer.RemoveActor(actor)

    def set_background(self, color: Color, top: Color | None = None) -> None:
        """One colour, or a gradient from the lower to the upper edge."""
        self.renderer.SetBackground(*color)
        self.renderer.SetGradientBackground(top is not None)
        if top is not None:
            self.renderer.SetBackground2(*top)

    def remove_all_lights(self) -> None:
        """Leave it dark."""
        self.renderer.RemoveAllLights()
        self.renderer.AutomaticLightCreationOff()

    def shift(self, by: Sequence[float]) -> None:
        """Move the picture to the right and upwards, in halves of its width and height."""
        self.renderer.GetActiveCamera().SetWindowCenter(-by[0], -by[1])

    def clear(self) -> None:
        """Take all actors and lights away."""
        self.renderer.RemoveAllViewProps()
        self.remove_all_lights()

    def render(self) -> None:
        """Draw."""
        self.render_window.Render()

    def pixels(self) -> NDArray[np.uint8]:
        """What was drawn last, (height, width, 4) with the lowest row first; overwritten by the next call."""
        from vtkmodules.util.numpy_support import vtk_to_numpy

        width, height = self.window_size
        self.render_window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, self._pixels, 0)
        return vtk_to_numpy(self._pixels).reshape(height, width, 4)

    def screenshot(self, filename: None = None, return_img: bool = True) -> NDArray[np.uint8]:
        """What was drawn last, (height, width, 3), the uppermost row first."""
        return self.pixels()[::-1, :, :3].copy()

    def close(self) -> None:
        """Free what VTK holds."""
        self.renderer.RemoveAllViewProps()
        self.render_window.Finalize()
