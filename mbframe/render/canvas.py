"""A picture that a window shows, with what a mouse needs (points, rays, picking).

Nothing here knows a toolkit. It is drawn off-screen and read as pixels, which keeps OpenGL out of the window: widgets
can lie on top of the picture, and closing the window cannot take the context from under VTK. Or a plotter that is a
widget draws it (`pyvistaqt.QtInteractor`): then the window says how large it is and when it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..parameters import Element
from .actors import off_screen_plotter, tell_warnings
from .availability import check_drawing
from .scene import Scene

Array = NDArray[np.float64]

SAMPLES = np.array([(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)]) / 16.0
"""Where a smooth picture looks through each pixel, from its middle: all rows and columns differ."""
SOFTWARE = ("llvmpipe", "softpipe", "swrast", "software")
"""Words by which drivers that draw without a graphics card tell of themselves."""


@dataclass(frozen=True)
class Pick:
    """What lies under a pixel: the element, and the point of its surface, m, global."""

    element: Element
    point: Array


class Canvas:
    """A picture of some size, off-screen or that of a plotter; `scene` draws a system into it.

    Pixels are counted from the upper left corner, as windows do.
    """

    def __init__(self, size: tuple[int, int] = (1280, 720), plotter: Any = None) -> None:
        check_drawing()
        from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
        from vtkmodules.vtkRenderingCore import vtkCellPicker

        self.plotter = off_screen_plotter(size, smooth=False) if plotter is None else plotter
        if plotter is not None:
            tell_warnings(False)  # until it is drawn: VTK asks a widget for sizes of colours that EGL does not tell
        self._in_hardware: bool | None = None
        self._pixels = vtkUnsignedCharArray()
        self.scene: Scene | None = None
        self._picker = vtkCellPicker()
        self._picker.SetTolerance(0.002)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, pixels."""
        width, height = self.plotter.window_size
        return width, height

    def resize(self, width: int, height: int) -> None:
        """Another size."""
        size = max(1, width), max(1, height)
        if size != self.size:
            self.plotter.render_window.SetSize(*size)

    def first_drawn(self) -> None:
        """A widget was drawn for the first time."""
        tell_warnings(True)

    def draw_system(self, system: Any, **options: Any) -> Scene:
        """Draw a system in the place of what was there; options are those of `Scene`. The camera looks at all of it."""
        self.clear()
        self.scene = Scene(system, self.plotter, axes=False, merge=True, **options)
        return self.scene

    def clear(self) -> None:
        """Take away all that was drawn."""
        self.scene = None
        self.plotter.clear()

    def image(self) -> NDArray[np.uint8]:
        """The picture as it is now, (height, width, 4) with the lowest row first; overwritten by the next one."""
        from vtkmodules.util.numpy_support import vtk_to_numpy

        if self.scene is not None:
            self.scene.prepare_picture()
        window, (width, height) = self.plotter.render_window, self.size
        window.Render()
        window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, self._pixels, 0)
        return vtk_to_numpy(self._pixels).reshape(height, width, 4)

    def _shift(self, right: float, up: float) -> None:
        """Move the picture, in halves of its width and height."""
        self.plotter.renderer.GetActiveCamera().SetWindowCenter(-right, -up)

    @property
    def in_hardware(self) -> bool:
        """Whether a graphics card draws; asked once, when a picture was drawn."""
        if self._in_hardware is None:
            told = self.plotter.render_window.ReportCapabilities().lower()
            self._in_hardware = not any(name in told for name in SOFTWARE)
        return self._in_hardware

    def smooth_always(self) -> None:
        """Draw every picture with smooth edges, which a graphics card does at once."""
        self.plotter.enable_anti_aliasing("msaa", multi_samples=8)

    def smoothed(self) -> Iterator[NDArray[np.uint8] | None]:
        """The picture without steps at the edges of bodies: None after each piece of the work, and in the end itself.

        It is the mean of pictures that are shifted by parts of a pixel.
        """
        total: Any = 0
        for shift in SAMPLES:
            self._shift(*(2.0 * shift / self.size))
            try:
                total = self.image().astype(np.uint16) + total
            finally:
                self._shift(0.0, 0.0)
            yield None
        yield ((total + len(SAMPLES) // 2) // len(SAMPLES)).astype(np.uint8)

    def smooth_image(self) -> NDArray[np.uint8]:
        """The picture without steps at the edges of bodies, at once."""
        return next(picture for picture in self.smoothed() if picture is not None)

    # --- the mouse ----------------------------------------------------------------------------------------------------

    def pick(self, x: float, y: float) -> Pick | None:
        """What lies under a pixel; None for the background."""
        if self.scene is None:
            return None
        _, height = self.size
        if not self._picker.Pick(x, height - 1 - y, 0.0, self.plotter.renderer):
            return None
        element = self.scene.element_of(self._picker.GetActor(), self._picker.GetCellId())
        return None if element is None else Pick(element, np.array(self._picker.GetPickPosition()))

    def ray(self, x: float, y: float) -> tuple[Array, Array]:
        """Where a line of sight through a pixel begins, and its direction (a unit vector)."""
        position, right, above, towards = self._frame()
        width, height = self.size
        half = np.tan(np.radians(self.plotter.camera.view_angle) / 2.0)
        u, v = (2.0 * (x + 0.5) - width) / height, 1.0 - 2.0 * (y + 0.5) / height
        aside = u * right + v * above
        if self.plotter.camera.parallel_projection:
            return position + self.plotter.camera.parallel_scale * aside, -towards
        direction = half * aside - towards
        return position, direction / np.linalg.norm(direction)

    def project(self, points: ArrayLike) -> tuple[Array, Array]:
        """Pixels (n, 2) of points (n, 3), and how far in front of the camera they are, m (negative: behind it)."""
        position, right, above, towards = self._frame()
        width, height = self.size
        offset = np.asarray(points, float).reshape(-1, 3) - position
        depth = -(offset @ towards)
        half = np.tan(np.radians(self.plotter.camera.view_angle) / 2.0)
        if self.plotter.camera.parallel_projection:
            scale = np.full(depth.shape, height / (2.0 * self.plotter.camera.parallel_scale))
        else:
            scale = np.divide(height / (2.0 * half), depth, out=np.zeros_like(depth), where=depth > 0.0)
        x = 0.5 * width + scale * (offset @ right)
        y = 0.5 * height - scale * (offset @ above)
        return np.column_stack([x, y]) - 0.5, depth

    def _frame(self) -> tuple[Array, Array, Array, Array]:
        """Position of the camera, and the directions to the right, upwards and towards it."""
        camera = self.plotter.camera
        position = np.array(camera.position)
        towards = position - np.array(camera.focal_point)
        towards /= np.linalg.norm(towards)
        right = np.cross(np.array(camera.up), towards)
        right /= np.linalg.norm(right)
        return position, right, np.cross(towards, right), towards

    def close(self) -> None:
        """Free what VTK holds; the canvas cannot be used afterwards."""
        self.scene = None
        self.plotter.close()
