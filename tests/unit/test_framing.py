"""Cameras that go along with what moves."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb
from mbframe.render.camera import seen_size
from mbframe.render.export import _followed
from mbframe.render.film import Film
from mbframe.render.frames import Frames

SIZE = (320, 180)


@pytest.fixture(scope="module")
def rolling() -> mb.Result:
    """A disk that rolls five metres."""
    system = mb.examples.rolling_disk(speed=3.0, lean=0.0)
    return mb.simulate(system, 2.0, t_eval=np.linspace(0.0, 2.0, 41))


def film(result: mb.Result, **options: object) -> Film:
    camera, follow = options.get("camera", "front"), options.get("follow", "what moves")
    return Film(Frames.of(result, 20.0, 1.0, None, None), "", False, SIZE, camera, "light", False, follow)


def share(found: Film) -> float:
    """The least share of the picture's height that the disk has."""
    shot, points = found.shot, np.array([[0.0, 0.0, 0.5], [0.0, 0.0, -0.5], [0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    places = found.frames.poses.bodies["disk"][0]
    return min(
        seen_size(at + points, center, shot.towards, shot.up, distance, 16.0 / 9.0)[1]
        for at, center, distance in zip(places, shot.centers, shot.distances, strict=True)
    )


def test_a_film_goes_along_with_what_moves_away(rolling):
    standing, going = film(rolling, follow=None), film(rolling)
    assert standing.shot.still
    assert share(standing) < 0.3
    assert not going.shot.still
    assert share(going) >= 0.4


def test_a_film_of_three_pictures_goes_along(rolling):
    """Whose camera looked one picture ahead and back, and so at all of it."""
    frames = Frames.of(rolling, 1.0, 1.0, None, None)
    assert len(frames) == 3
    found = Film(frames, "", False, SIZE, "front", "light", False, "what moves")
    assert not found.shot.still
    assert share(found) >= 0.4


def test_a_film_follows_a_body(rolling):
    found = film(rolling, follow="disk")
    moved = found.shot.centers - found.shot.centers[0]
    np.testing.assert_allclose(moved, rolling.position("disk") - rolling.position("disk")[0], atol=1e-9)
    assert np.ptp(found.shot.distances) == 0.0
    assert share(found) >= 0.4


def test_a_given_camera_goes_along_with_a_body(rolling):
    """It is where it would be with the body as described."""
    camera = ((0.0, -5.0, 0.5), (0.0, 0.0, 0.5), (0.0, 0.0, 1.0))
    still, going = film(rolling, camera=camera, follow=None), film(rolling, camera=camera, follow="disk")
    assert still.shot.still
    np.testing.assert_allclose(still.shot.centers[0], camera[1])
    np.testing.assert_allclose(going.shot.centers[0], camera[1])
    np.testing.assert_allclose(np.ptp(going.shot.centers[:, 0]), np.ptp(rolling.position("disk")[:, 0]))


def test_a_direction_is_enough(rolling):
    found = film(rolling, camera=((0.0, -2.0, 0.0), (0.0, 0.0, 3.0)))
    np.testing.assert_allclose(found.shot.centers, film(rolling).shot.centers, atol=1e-9)


def test_an_unknown_body_is_refused(rolling):
    with pytest.raises(mb.ModelError, match=r"follow.*found 'dsk'; allowed are a body \(disk\), 'what moves' and None"):
        _followed(rolling, "dsk")
    assert _followed(rolling, rolling.described["disk"]) == "disk"


def test_a_preview_shows_three_pictures(rolling):
    first, middle, last = mb.render.preview(rolling, size=SIZE, follow="disk")
    assert first.shape == middle.shape == last.shape == (SIZE[1], SIZE[0], 3)
    for picture in (first, last):  # the disk is in the middle of both
        assert np.ptp(picture[60:120, 120:200].astype(int)) > 50


def test_the_grid_goes_along(rolling):
    with mb.render.Scene(rolling.described, motion=rolling, size=SIZE, follow="disk") as scene:
        scene.show(rolling.state(len(rolling) - 1))
        actor, _, step = scene._grid
        moved = np.array(actor.GetPosition())
    assert abs(moved[0] - (rolling.position("disk")[-1, 0])) <= 0.5 * step + 1e-9
    np.testing.assert_allclose(moved / step, np.round(moved / step), atol=1e-9)
