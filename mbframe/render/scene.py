"""A mechanism drawn with PyVista. The scene is built once; showing another state only moves what is there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ModelError, Problem, shown
from ..parameters import Element
from ..results import Result
from ..rotations import frame_with_axis
from ..state import State
from . import camera as cam
from .actors import (
    SurfaceActor,
    add_lines,
    camera_light,
    deformable_data,
    in_front,
    mapper_of,
    off_screen_plotter,
    place_all,
    silhouette_of,
    surface_data,
)
from .availability import check_drawing
from .backbones import Backbones
from .coloring import Coloring
from .framing import Framing
from .geometry import parts_of
from .ghosts import Ghost
from .merging import MergedPart, merged
from .parts import LARGEST, Part, Sketch, swept, unit_vector
from .placement import Placements, Poses, point3
from .style import ARROWS, SELECTED, THEMES, Color
from .surfaces import arrow
from .surfaces import detail as surface_detail
from .surroundings import AXIS_COLORS, STRONG, Floor, floor_of, nice_spacing

Array = NDArray[np.float64]

INSTANTS = 60  # of a motion are looked at to find out how much room it takes
# From where, seen from the camera, and how strong.
LIGHTS = (((-0.5, 0.7, 1.0), 0.74), ((0.9, 0.1, 0.8), 0.31), ((0.0, -0.6, 1.0), 0.24))
OUTLINE = 0.006  # width of the outline of what is selected, as a share of the extent
LINE = 3.0  # pixels; width of the outline of what is selected and transparent
GLASS = 0.3  # opacity of what one sees through
UNSHOWN_SIZE = (640, 480)  # taken for that of a widget that was never shown
ARROW_LENGTH = 0.2  # of the longest arrow of a kind, as a share of the extent


class Scene:
    """A drawn system.

    Parameters
    ----------
    system
        The system to draw, in the configuration in which it is described.
    plotter
        A PyVista plotter (or a `pyvistaqt.QtInteractor`) to draw into; without one an off-screen plotter is made.
    motion
        A result, or states, that will be shown: the floor, the rails and `fit` leave room for all of it.
    theme
        "light" or "dark".
    labels
        Names of the bodies at their centres of mass, and of joints and forces at their points.
    grid, axes, shadows
        The grid on the floor, the arrows along the global axes at the origin, the shadow on the floor.
    size
        Width and height in pixels of a plotter that is made here.
    smooth
        Anti-aliasing of a plotter that is made here; takes time (see `scripts/bench`).
    detail
        Share of the usual number of triangles around round parts: less than 1 is faster without a graphics card.
    merge
        Draw all parts of a body that move with it as one: faster; only the tint of reflections differs.
    tolerant
        Leave out meshes whose files are missing or broken, instead of raising a `ModelError`.
    hidden, transparent
        Names of elements that are not drawn, and of those that one sees through.
    follow
        The body that the camera goes along with from the beginning, see `scene.follow`.
    parallel
        Draw without perspective; by default so in the plane.
    room
        How much is seen at once by a camera that goes along, m: the grid is made for that and goes along as well.
    floor
        The floor of the picture before, which stays as long as it is just below the mechanism; otherwise one is chosen.

    coloring
        What colours of flexible bodies show, such as their stress; by default how far they are deformed.

    `scene.show(state)` moves the parts. `scene.fit()`, `scene.view("iso")`, `scene.follow(body)` place the camera.
    """

    def __init__(
        self,
        system: Any,
        plotter: Any = None,
        *,
        motion: Result | Iterable[State] | None = None,
        theme: str = "light",
        labels: bool = False,
        grid: bool = True,
        axes: bool = True,
        shadows: bool = True,
        size: tuple[int, int] = (1280, 720),
        smooth: bool = True,
        detail: float = 1.0,
        merge: bool = False,
        tolerant: bool = False,
        hidden: Collection[str] = (),
        transparent: Collection[str] = (),
        follow: Any = None,
        parallel: bool | None = None,
        room: float | None = None,
        floor: Floor | None = None,
        coloring: Coloring | None = None,
    ) -> None:
        if theme not in THEMES:
            allowed = ", ".join(map(repr, THEMES))
            raise ModelError([Problem("Scene", "theme", f"found {theme!r}; allowed are {allowed}; choose one of them")])
        if plotter is None:
            check_drawing()
        self.system = system
        self.theme = THEMES[theme]
        self.plotter = off_screen_plotter(size, smooth) if plotter is None else plotter
        self._passed = _poses_of(motion)
        self.sketch = Sketch(system, self._passed, tolerant, coloring)
        with surface_detail(detail):
            whole = parts_of(self.sketch)
        drawn = [
            replace(part, opacity=min(part.opacity, GLASS)) if part.element in transparent else part
            for part in whole
            if part.element not in hidden
        ]
        self._merge = merge
        self.parts = merged(drawn) if merge else drawn
        self._placements = Placements([part.placement for part in self.parts])
        self._selected: str | None = None
        self._followed: str | None = None if follow is None else self._named(follow)
        self._room = room
        self.parallel = self.sketch.planar if parallel is None else parallel
        self.covered = (0.0, 0.0)
        """Shares of the picture's height, above and below, over which something else lies: `fit` leaves them free."""
        self._trails: dict[str, Any] = {}
        self._arrows: dict[str, list[SurfaceActor]] = {}
        self._arrow_scales: dict[str, float] = {}
        self._arrow = mapper_of(surface_data(arrow(1.0, 0.022, 0.2)))
        in_front(self._arrow)
        self._labels: list[tuple[Any, str | None, Array]] = []
        self._poses = self.sketch.described
        self._corners = swept(whole, self._passed or self.sketch.described, self.sketch.described)
        self._framing = Framing(self.sketch, whole, self._passed or self.sketch.described)
        self._grid: tuple[Any, Array, float] | None = None
        self._unshown: int | None = None  # observer of the first picture of a widget that has no size yet
        self.spacing = 0.0
        """Between the lines of the grid, m; 0 without one."""
        self.floor: Floor = floor_of(self.sketch, self._corners, floor)
        self._actors = self._add_parts()
        self._backbones = Backbones(self.plotter, self.sketch, hidden)
        self._shadows: list[SurfaceActor] = []
        self._lit = True
        self._outlines: list[tuple[Any, SurfaceActor]] = []
        self._drawn = drawn
        self._light()
        if shadows:
            self._add_shadows()
        if grid:
            self._add_grid()
        if axes:
            self._add_axes()
        if labels:
            self._add_labels()
        self._place(self._poses)
        self.view("iso")

    # --- states -------------------------------------------------------------------------------------------------------

    def show(self, state: State | Poses) -> None:
        """Move everything to a state; nothing is built anew."""
        poses = state if isinstance(state, Poses) else Poses.of_state(state)
        before = self._poses
        self._place(poses)
        if isinstance(state, State):
            for part, actor in zip(self.parts, self._actors, strict=True):
                if part.deformed is not None:
                    actor.deform(part.deformed(state))
                if part.colored is not None:
                    actor.paint_vertices(np.round(255.0 * part.colored(state)).astype(np.uint8))
        if self._followed is not None:
            shift = self._center(self._followed, poses) - self._center(self._followed, before)
            camera = self.plotter.camera
            camera.position = tuple(np.array(camera.position) + shift)
            camera.focal_point = tuple(np.array(camera.focal_point) + shift)
        self._bring_grid()

    def _place(self, poses: Poses) -> None:
        self._poses = poses
        matrices = self._placements.matrices(poses)
        place_all(self._actors, matrices)
        self._backbones.place(poses)
        if self._shadows:
            place_all(self._shadows, self._projection @ matrices[self._casting])
        self._place_outlines()
        for spot, body, point in self._labels:
            spot.SetValue(*poses.point(body, point))

    # --- camera -------------------------------------------------------------------------------------------------------

    def view(self, name: str | Sequence[float]) -> None:
        """Look from a preset direction ("iso", "front", "back", "left", "right", "top", "bottom") at all of it.

        Or from a direction in (right, towards the viewer, up) of the front view.
        """
        self.view_from(*cam.view_directions(name, self.sketch.up, self.sketch.planar))

    def view_from(self, towards: ArrayLike, up: ArrayLike) -> None:
        """Look from a direction at all of it; unit vectors from the mechanism to the camera, and upwards."""
        self._towards, self._up = np.asarray(towards, float), np.asarray(up, float)
        self.fit()

    def fit(self, margin: float = cam.MARGIN) -> None:
        """Bring all of the motion (or of the described mechanism) into view, without turning the camera.

        A camera that goes along with a body sees all that moves, as it is seen from there.
        """
        shown = min(self.plotter.window_size) > 0
        width, height = self.plotter.window_size if shown else UNSHOWN_SIZE
        aspect = width / height
        center, distance = cam.fitted_beside(
            self._in_view(), self._towards, self._up, aspect, margin, above=self.covered[0], below=self.covered[1]
        )
        if self._followed is not None:
            center = center + self.shift(self._followed)
        cam.place(self.plotter.camera, center, self._towards, self._up, distance, self.parallel)
        if not shown:
            self._fit_when_shown(margin)
        self._bring_grid()
        self.plotter.renderer.ResetCameraClippingRange()

    def _fit_when_shown(self, margin: float) -> None:
        """Fit once more when a widget is drawn first and has its size, unless somebody moved the camera meanwhile."""
        renderer, camera = self.plotter.renderer, self.plotter.camera
        placed = camera.position, camera.focal_point

        def fit(*_: object) -> None:
            if min(self.plotter.window_size) < 1 or self._unshown is None:
                return
            renderer.RemoveObserver(self._unshown)
            self._unshown = None
            if placed == (camera.position, camera.focal_point):
                self.fit(margin)

        if self._unshown is not None:
            renderer.RemoveObserver(self._unshown)
        self._unshown = renderer.AddObserver("StartEvent", fit)

    def _in_view(self) -> Array:
        """The points (n, 3) that have to be in view; seen from a followed body, where that is described."""
        return self._corners if self._followed is None else self._framing.relative(self._followed)

    def set_parallel(self, on: bool) -> None:
        """Draw without perspective, or with it; what the camera looks at keeps its size."""
        self.parallel = on
        camera = self.plotter.camera
        camera.parallel_scale = camera.distance * np.tan(np.radians(camera.view_angle) / 2.0)
        camera.parallel_projection = on

    def follow(self, body: Any) -> None:
        """Let the camera move along with a body; None lets it stand still again."""
        self._followed = None if body is None else self._named(body)
        if self._grid is not None:
            self.plotter.remove_actor(self._grid[0], render=False)
            self._add_grid()

    @property
    def followed(self) -> str | None:
        """Name of the body that the camera goes along with."""
        return self._followed

    def shift(self, body: Any) -> Array:
        """How far the centre of mass of a body is now from where it is described, m, (3,)."""
        name = self._named(body)
        return self._center(name, self._poses) - self._center(name, self.sketch.described)

    # --- what is added to the mechanism -------------------------------------------------------------------------------

    def highlight(self, element: Any) -> None:
        """Draw the outline of an element (or of the one of that name) in the colour of a selection; None takes it back.

        Its own colours stay: the outline is a second skin, a little larger, of which only the far side is drawn.
        """
        self._selected = None if element is None else self._named(element)
        for _, actor in self._outlines:
            self.plotter.remove_actor(actor.actor, render=False)
        chosen = [part for part in self._drawn if part.element == self._selected and part.deformed is None]
        self._outlines = []
        for part in chosen:
            if part.opacity < 1.0:
                self._outlines.append((part.placement, silhouette_of(self.plotter, part.surface, SELECTED, LINE)))
                continue
            skin = SurfaceActor(self.plotter, mapper_of(self._skin(part)), SELECTED, lit=False, pickable=False)
            skin.actor.GetProperty().FrontfaceCullingOn()
            self._outlines.append((part.placement, skin))
        for part, actor in zip(self.parts, self._actors, strict=True):
            if part.deformed is not None:
                actor.paint(SELECTED if part.element == self._selected else part.color)
        self._place_outlines()

    def _skin(self, part: Part) -> Any:
        """The surface of a part, larger all around; corners at edges are moved along the mean of their normals."""
        width = OUTLINE * self.sketch.extent * self.sketch.fineness(part.element)
        surface = part.surface
        places, which = np.unique(np.round(surface.vertices, 9), axis=0, return_inverse=True)
        total = np.zeros(places.shape)
        np.add.at(total, which.ravel(), surface.normals)
        outward = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)
        scale = np.atleast_2d(part.transform(self.sketch.described).scale)[0]
        vertices = surface.vertices + width * outward[which.ravel()] / np.maximum(scale, 1e-9)
        return surface_data(replace(surface, vertices=vertices.astype(np.float32)))

    def _place_outlines(self) -> None:
        for placement, actor in self._outlines:
            actor.place(placement.transform(self._poses).matrix.ravel().tolist())

    def add_ghost(self, system: Any, motion: Result | Iterable[State] | None = None, color: Color = SELECTED) -> Ghost:
        """Draw another motion beside this one, seen through and in one colour; `ghost.show(state)` moves it.

        `fit` sees all of it as well, from the next time on.
        """
        ghost = Ghost(self.plotter, system, _poses_of(motion), color)
        self._corners = np.concatenate([self._corners, ghost.corners])
        return ghost

    def trail(self, body: Any, points: ArrayLike | None, color: Color | None = None) -> None:
        """Draw the path (n, 3), in the plane (n, 2), of a point of a body, fading towards its beginning.

        None takes it away.
        """
        name = self._named(body)
        if (old := self._trails.pop(name, None)) is not None:
            self.plotter.remove_actor(old, render=False)
        path = np.empty((0, 3)) if points is None else point3(points)
        if len(path) < 2:
            return
        shade = color or self.sketch.color(name)
        fade = np.linspace(0.15, 1.0, len(path))
        pairs = np.column_stack([np.full(len(path) - 1, 2), np.arange(len(path) - 1), np.arange(1, len(path))])
        self._trails[name] = add_lines(self.plotter, path, pairs, np.tile(shade, (len(path), 1)), fade, width=3.0)

    def arrows(self, kind: str, points: ArrayLike, vectors: ArrayLike, scale: float | None = None) -> None:
        """Draw vectors (n, 3) at points (n, 3): kind "velocity", "force" or "reaction" chooses the colour.

        `mb.render.vectors(result, kind)` has them for all instants of a result. `scale` is the length drawn per unit,
        m. By default the longest vector of the first call is drawn with a fifth of the mechanism's extent, and later
        calls of that kind keep the scale.
        """
        if kind not in ARROWS:
            allowed = ", ".join(map(repr, ARROWS))
            raise ModelError([Problem("Scene", "arrows", f"found {kind!r}; allowed are {allowed}; choose one of them")])
        at, along = np.asarray(points, float).reshape(-1, 3), np.asarray(vectors, float).reshape(-1, 3)
        lengths = np.linalg.norm(along, axis=1)
        longest = float(lengths.max(initial=0.0))
        if scale is None and kind not in self._arrow_scales and longest > 0.0:
            self._arrow_scales[kind] = ARROW_LENGTH * self.sketch.extent / longest
        per_unit = self._arrow_scales.get(kind, 1.0) if scale is None else scale
        drawn = self._arrows.setdefault(kind, [])
        while len(drawn) < len(at):
            drawn.append(SurfaceActor(self.plotter, self._arrow, ARROWS[kind], pickable=False))
        for k, actor in enumerate(drawn):
            length = float(lengths[k]) * per_unit if k < len(at) else 0.0
            actor.visible(length > 1e-3 * self.sketch.extent)
            if length > 0.0:
                matrix = np.eye(4)
                matrix[:3, :3] = length * frame_with_axis(unit_vector(along[k], (0.0, 0.0, 1.0)))
                matrix[:3, 3] = at[k]
                actor.place(matrix.ravel().tolist())

    # --- pictures -----------------------------------------------------------------------------------------------------

    def image(self) -> NDArray[np.uint8]:
        """The picture as it is now, (height, width, 3)."""
        self.prepare_picture()
        self.plotter.render()
        return np.asarray(self.plotter.screenshot(None, return_img=True))[:, :, :3]

    def save(self, path: str | Path) -> None:
        """Write the picture as it is now to a PNG file."""
        from PIL import Image

        Image.fromarray(self.image()).save(path)

    def close(self) -> None:
        """Free what the plotter holds."""
        self.plotter.close()

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # --- inside -------------------------------------------------------------------------------------------------------

    def element_of(self, actor: Any, face: int = 0) -> Element | None:
        """The element that a picked actor shows at one of its triangles; None for what surrounds the mechanism."""
        for part, own in zip(self.parts, self._actors, strict=True):
            if own.actor is actor:
                name = part.element_at(face) if isinstance(part, MergedPart) else part.element
                return None if name is None else self.system[name]
        return None

    def _named(self, element: Any) -> str:
        return str(self.system[element if isinstance(element, str) else element.name].name)

    def _center(self, body: str, poses: Poses) -> Array:
        return poses.point(body, self.sketch.center_of_mass(self.system[body]))

    def _add_parts(self) -> list[SurfaceActor]:
        """An actor for each part; parts with the same surface share what draws it, unless it deforms."""
        shared: dict[int, Any] = {}
        actors = []
        for part in self.parts:
            key = id(part.surface) if part.deformed is None else -id(part)
            if key not in shared:
                plain = self._merge and part.deformed is None
                data = surface_data(part.surface) if plain else deformable_data(part.surface)
                shared[key] = mapper_of(data)
            actors.append(SurfaceActor(self.plotter, shared[key], part.color, part.opacity))
            if isinstance(part, MergedPart):
                actors[-1].paint_vertices(part.colors())
        return actors

    def _light(self) -> None:
        plotter, theme = self.plotter, self.theme
        plotter.set_background(theme.background, top=theme.background_top)
        plotter.remove_all_lights()
        for position, intensity in LIGHTS:
            plotter.renderer.AddLight(camera_light(position, intensity))

    def _add_shadows(self) -> None:
        self._projection = self.floor.shadow_matrix(1e-3 * self.sketch.extent)
        self._casting = [k for k, part in enumerate(self.parts) if part.role != "road"]
        self._shadows = [
            SurfaceActor(self.plotter, self._shadow_mapper(k), self.theme.shadow, lit=False, pickable=False)
            for k in self._casting
        ]

    def _shadow_mapper(self, k: int) -> Any:
        """What draws the shadow of a part: the same data, but in one colour."""
        actor = self._actors[k]
        return actor.plain_mapper() if self.parts[k].colored is None else mapper_of(actor.mapper.GetInput())

    def prepare_picture(self) -> None:
        """What depends on the camera: its range of depth, and that shadows are seen from the side of the light only."""
        camera = self.plotter.camera
        eye = np.array(camera.position)
        if self.parallel:  # all lines of sight are alike
            eye = self.floor.point + (eye - np.array(camera.focal_point))
        lit = bool((eye - self.floor.point) @ self.floor.normal > 0.0)
        if lit != self._lit:
            self._lit = lit
            for shadow in self._shadows:
                shadow.visible(lit)
            if self._grid is not None and self.sketch.planar:  # the wall would be in front of the mechanism
                self._grid[0].SetVisibility(lit)
        self.plotter.renderer.ResetCameraClippingRange()

    def _add_grid(self) -> None:
        low, high = self._in_view().min(axis=0), self._in_view().max(axis=0)
        size = self._room or max(float(np.linalg.norm(high - low)), self.sketch.extent)
        self.spacing = nice_spacing(size)
        center = (low + high) / 2.0
        points, lines, fade, strong = self.floor.grid(center, 1.1 * size, self.spacing)
        colors = np.where(strong[:, None], self.theme.grid_strong, self.theme.grid)
        actor = add_lines(self.plotter, points, lines, colors, np.minimum(1.0, 1.6 * fade), width=1.2)
        self._grid = actor, center, STRONG * self.spacing

    def _bring_grid(self) -> None:
        """Let the grid go along with the camera, by whole cells: it looks as if it had no end."""
        if self._grid is not None and (self._room is not None or self._followed is not None):
            actor, center, step = self._grid
            along = frame_with_axis(self.floor.normal)[:, :2]
            cells = np.round(along.T @ (np.array(self.plotter.camera.focal_point) - center) / step)
            actor.SetPosition(*(along @ (cells * step)))

    def _add_axes(self) -> None:
        self.plotter.add_axes(
            **dict(zip(("x_color", "y_color", "z_color"), AXIS_COLORS, strict=True)),
            color=self.theme.text,
            line_width=3,
            viewport=(0.89, 0.0, 1.0, 0.18),
            interactive=False,
        )

    def _add_labels(self) -> None:
        from vtkmodules.vtkRenderingCore import vtkTextActor

        for names, body, point in self._spots:
            label = vtkTextActor()
            label.SetInput(", ".join(names))
            label.SetTextScaleModeToNone()
            label.GetPositionCoordinate().SetCoordinateSystemToWorld()
            style = label.GetTextProperty()
            style.SetColor(*self.theme.text)
            style.SetBackgroundColor(*self.theme.background)
            style.SetBackgroundOpacity(0.6)
            style.SetFontSize(max(9, round(self.plotter.window_size[1] / 48)))
            style.SetJustificationToCentered()
            style.SetVerticalJustificationToCentered()
            self.plotter.add_actor(label, reset_camera=False, render=False, pickable=False)
            self._labels.append((label.GetPositionCoordinate(), body, point))

    def label_positions(self) -> list[tuple[str, Array]]:
        """The names that `labels` would write and where they are now, for a window that writes them itself."""
        return [(", ".join(names), self._poses.point(body, at)) for names, body, at in self._spots]

    @cached_property
    def _spots(self) -> list[tuple[list[str], str | None, Array]]:
        return self._label_spots()

    def _label_spots(self) -> list[tuple[list[str], str | None, Array]]:
        """Names to write, and the body and its point where; names that would cover each other are written together."""
        # A body that was added since is not drawn yet.
        there = [b for b in self.system.bodies if b.name in self.sketch.described.bodies]
        spots = [(shown(b.name), b.name, self.sketch.center_of_mass(b)) for b in there]
        spots += [(shown(name), j.body, j.point) for name, (_, j) in self.sketch.ports.items()]
        found: list[tuple[list[str], str | None, Array]] = []
        for name, body, point in spots:
            place = self.sketch.described.point(body, point)
            for names, other, at in found:
                if np.linalg.norm(self.sketch.described.point(other, at) - place) < 0.03 * self.sketch.extent:
                    names.append(name)
                    break
            else:
                found.append(([name], body, point))
        return found


def _poses_of(motion: Result | Iterable[State] | None) -> Poses | None:
    """Poses at some instants of a motion, as stacks; without those of bodies that fly farther than pictures show."""
    if motion is None:
        return None
    if isinstance(motion, Result):
        count = len(motion.t)
        motion = (
            [motion.state(int(k)) for k in np.unique(np.linspace(0, count - 1, INSTANTS).astype(int))] if count else []
        )
    poses = [found for state in motion if (found := Poses.of_state(state)).farthest <= LARGEST]
    if not poses:
        return None
    return Poses(
        {
            name: (np.stack([p.of(name)[0] for p in poses]), np.stack([p.of(name)[1] for p in poses]))
            for name in poses[0].bodies
        }
    )


def picture(system: Any, state: State | None = None, **options: Any) -> NDArray[np.uint8]:
    """A picture of a system, as described or at a state, (height, width, 3); options are those of `Scene`."""
    with Scene(system, **options) as scene:
        if state is not None:
            scene.show(state)
        return scene.image()
