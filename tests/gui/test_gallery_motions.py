"""Every example of the gallery moves, and the film of its motion shows that."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import mbframe as mb
from gui.base.showcase import Exhibit, exhibit, exhibits
from gui.document.track import Track
from mbframe.render.camera import seen_size, view_directions
from mbframe.render.framing import Framing, Shot
from mbframe.render.geometry import parts_of
from mbframe.render.parts import Sketch
from mbframe.render.placement import Poses

ASPECT = 16.0 / 9.0
INSTANTS = 120


@cache
def framing(one: str) -> Framing:
    shown = exhibit(one)
    track = Track(mb.load_result(shown.result))
    poses = [Poses.of_state(state) for state in track.sampled(INSTANTS)]
    motion = Poses({name: tuple(np.stack([p.of(name)[k] for p in poses]) for k in (0, 1)) for name in poses[0].bodies})
    sketch = Sketch(shown.system(), motion)
    return Framing(sketch, parts_of(sketch), motion)


def shot(one: Exhibit, found: Framing) -> Shot:
    """The film as the export dialog makes it of an example that was opened."""
    directions = view_directions(one.view, found.sketch.up, found.sketch.planar)
    return found.following(one.follow, *directions, ASPECT) if one.follow else found.calm(*directions, ASPECT)


@pytest.mark.parametrize("one", exhibits(), ids=lambda one: one.name)
def test_it_moves(one: Exhibit):
    """Some point of a body moves by 5 % of the mechanism's size, for one who goes along with the followed body.

    Points are centres of mass, points of joints and forces, and outermost ones of shapes: the bicycle's wheels, which
    have none, do not count as moving because they turn.
    """
    found = framing(one.name)
    sketch = found.sketch
    along = found.shifts(one.follow)[:, None] if one.follow else np.zeros((INSTANTS, 1, 3))
    farthest = 0.0
    for body in sketch.system.bodies:
        local = [sketch.center_of_mass(body), *(port.point for port in sketch.ports_of(body.name))]
        origin, rotation = found.motion.of(body.name)
        courses = [origin[:, None] + np.array(local) @ np.swapaxes(rotation, -1, -2)]
        if body.shapes or isinstance(body, mb.FlexibleBody):
            courses += [found.course(part) for part in found.parts if part.element == body.name]
        places = np.concatenate(courses, axis=1) - along
        farthest = max(farthest, float(np.linalg.norm(places - places[:1], axis=-1).max()))
    assert farthest >= 0.05 * sketch.extent


@pytest.mark.parametrize("one", exhibits(), ids=lambda one: one.name)
def test_its_film_keeps_what_moves_large(one: Exhibit):
    """At every instant all that moves is in the picture, and has 40 % of its width or of its height.

    A beam that turns about its end cannot: lying askew in a wide picture it has 40 % of the height across.
    """
    found = framing(one.name)
    film = shot(one, found)
    for at, center, distance in zip(found.group, film.centers, film.distances, strict=True):
        wide, high = seen_size(at, center, film.towards, film.up, distance, ASPECT)
        if one.name == "spin_up_beam":
            assert np.hypot(ASPECT * wide, high) >= 0.4
        else:
            assert max(wide, high) >= 0.4
        offset = at - center
        depth = distance - offset @ film.towards
        right = np.cross(film.up, film.towards)
        half = np.tan(np.radians(25.0) / 2.0)
        assert np.all(np.abs(offset @ right) <= half * ASPECT * depth)
        assert np.all(np.abs(offset @ np.cross(film.towards, right)) <= half * depth)


def lean(name: str) -> np.ndarray:
    """Of the bicycle's frame over time, degrees."""
    return np.degrees(np.arcsin(mb.load_result(exhibit(name).result).rotation_matrix("frame")[:, 2, 1]))


def test_the_bicycle_gets_a_push_and_rides_on_straight():
    leans = np.abs(lean("whipple_bicycle"))
    assert leans[:10].max() < 0.1
    assert leans.max() > 5.0
    assert leans[-20:].max() < 0.1 * leans.max()


def test_the_slow_bicycle_does_not():
    leans = np.abs(lean("whipple_bicycle_slow"))
    assert leans[:10].max() < 0.1
    third = len(leans) // 3
    assert leans[third:].max() > 3.0 * leans[:third].max() > 6.0


@pytest.mark.parametrize("name", [one.name for one in exhibits() if one.push is not None])
def test_a_push_is_part_of_the_model_but_not_of_the_example(name: str):
    """It ends, so that what is linearized is the example."""
    one = exhibit(name)
    push = one.system()[one.push.name]
    assert isinstance(push, mb.PointForce)
    force = [part(0.5 * (one.push.start + one.push.end)) for part in push.force]
    np.testing.assert_allclose(force, one.push.force)
    assert [part(0.0) for part in push.force] == [part(one.push.end) for part in push.force] == [0.0, 0.0, 0.0]
    example = getattr(mb.examples, one.source)(**one.arguments)
    assert one.push.name not in example or not any(part(1.0) for part in example[one.push.name].force)


@pytest.mark.parametrize("one", [one for one in exhibits() if one.trail], ids=lambda one: one.name)
def test_its_trail_is_drawn(one: Exhibit):
    """That of a point of a flexible body too, which moves with its nodes."""
    track = Track(mb.load_result(one.result))
    middle = 0.5 * sum(track.span)
    path = track.path(one.trail, middle, local_point=one.trail_point)
    assert np.isfinite(path).all()
    assert np.ptp(path, axis=0).max() > 0.0
