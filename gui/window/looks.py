"""Looks of a document, as JSON for a project: camera, what the view shows, the instant, plots, units.

Whatever is missing or makes no sense in a file is left as it is: no look is worth refusing a project for.
"""

from __future__ import annotations

import math
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np
from PySide6.QtCore import Qt

from ..base.units import SYSTEMS, DisplayUnits
from ..view.additions import KINDS
from ..view.navigation import Pose

if TYPE_CHECKING:
    from .window import MainWindow


STEEP: Final = 0.999
"""Of a unit vector upwards: from there on one looks from above or from below."""


def looks(window: MainWindow) -> dict[str, Any]:
    """Collect how a window shows its document."""
    view, pose = window.view, window.view.camera.pose
    camera = asdict(pose) if pose is not None and view.scene is not None and not view.camera.fitted else {}
    return {
        "units": window.document.units.name,
        "time": window.document.time,
        "view": {
            "camera": {name: np.asarray(value).tolist() for name, value in camera.items()},
            "side": None if pose is None or view.scene is None else side(view.camera.front.T @ pose.towards),
            "labels": view.labels,
            "parallel": view.parallel,
            "shadows": view.shadows,
            "stress": view.stress.on,
            "hidden": sorted(view.hidden),
            "transparent": sorted(view.transparent),
            "trails": [
                {"body": body, "point": None if point is None else np.asarray(point, float).tolist()}
                for body, point in view.trails.items()
            ],
            "followed": view.followed,
            "arrows": sorted(view.arrows.shown),
        },
        "plots": window.panels["plots"].layout_names() if "plots" in window.panels else [],
    }


def side(towards: Any) -> list[float] | str:
    """From where all of a mechanism is seen: in (right, towards the viewer, up) of the front view, or from above."""
    if abs(towards[2]) > STEEP:
        return "top" if towards[2] > 0.0 else "bottom"
    return [round(float(part), 9) for part in towards]


def restore(window: MainWindow, found: dict[str, Any]) -> None:
    """Show a document as it was shown when its project was saved."""
    document = window.document
    if found.get("units") in list(SYSTEMS):  # which may be asked for anything
        document.units = DisplayUnits(found["units"])
    view = found.get("view")
    if isinstance(view, dict):
        _restore_view(window, view)
    if _is_number(found.get("time")):
        window.player.seek(float(found["time"]))
    plots = found.get("plots")
    if isinstance(plots, list):
        names = [[name for name in group if isinstance(name, str)] for group in plots if isinstance(group, list)]
        if "plots" in window.panels:
            window.panels["plots"].restore(names)
        else:  # the window is just being made
            once = Qt.ConnectionType.SingleShotConnection
            window.panels_ready.connect(lambda: window.panels["plots"].restore(names), once)


def _restore_view(window: MainWindow, found: dict[str, Any]) -> None:
    view, bodies = window.view, [body.name for body in window.document.system.bodies]
    view.set_labels(found.get("labels") is True)
    if isinstance(found.get("parallel"), bool):
        view.set_parallel(found["parallel"])
    view.set_stress(found.get("stress") is True)
    window.actions_["shadows"].setChecked(found.get("shadows") is not False)
    for kind, show in (("hidden", view.hide_elements), ("transparent", view.see_through)):
        names = found.get(kind)
        if isinstance(names, list) and names:
            show({name for name in names if isinstance(name, str) and name in window.document.system})
    trails = found.get("trails")
    for trail in trails if isinstance(trails, list) else ():
        if isinstance(trail, dict) and trail.get("body") in bodies:
            point = _vector(trail.get("point"))
            if point is None or len(point) == window.document.system.dimension:
                view.set_trail(trail["body"], True, point)
    if found.get("followed") in bodies:
        view.follow(found["followed"])
    for kind in KINDS:
        view.set_arrows(kind, isinstance(found.get("arrows"), list) and kind in found["arrows"])
    seen_from = found.get("side")
    if seen_from in ("top", "bottom"):
        view.camera.first_view = seen_from
    elif _is_aslant(direction := _vector(seen_from)):
        view.camera.first_view = tuple(direction)
    camera = found.get("camera")
    if isinstance(camera, dict):
        view.camera.next_pose = _pose(camera)


def _pose(found: dict[str, Any]) -> Pose | None:
    """Read where the camera was; None if that is not to be had."""
    vectors = [_vector(found.get(name)) for name in ("position", "focus", "up")]
    if any(vector is None or len(vector) != 3 for vector in vectors):
        return None
    position, focus, up = (np.array(vector) for vector in vectors)
    pose = Pose(position, focus, up)
    others = {field.name for field in fields(Pose)} - {"position", "focus", "up"}
    pose = replace(pose, **{name: found[name] for name in others if _is_number(found.get(name)) and found[name] > 0.0})
    with np.errstate(all="ignore"):  # numbers may be as large as floats are
        distance = pose.distance
        aside = np.linalg.norm(np.cross(pose.up, pose.position - pose.focus))
    return pose if 0.0 < distance < math.inf and 1e-9 * distance <= aside < math.inf else None


def _is_aslant(found: list[float] | None) -> TypeGuard[list[float]]:
    """Whether that is a unit vector in space that points neither up nor down."""
    return found is not None and len(found) == 3 and abs(found[2]) <= STEEP and 0.9 < math.hypot(*found) < 1.1


def _vector(found: Any) -> list[float] | None:
    given = isinstance(found, list) and 2 <= len(found) <= 3 and all(map(_is_number, found))
    return [float(value) for value in found] if given else None


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool)
