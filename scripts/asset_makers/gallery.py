"""Simulates the examples and draws them: what `assets/gallery` ships, so that the application can play them at once."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from PIL import Image

import mbframe as mb

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gui.base.showcase import FOLDER, Exhibit, exhibits
from gui.document.runs import RunSettings
from gui.document.track import Track
from gui.start.card_motion import MOMENTS

INSTANTS = 221
"""Of a stored result, unless the exhibit says another number; between them playback interpolates."""
SIZE = (560, 350)
"""Of a picture, pixels: twice the size of a card, for displays with a high resolution."""
QUALITY = 84


def main() -> None:
    arguments = parsed()
    chosen = [one for one in exhibits() if not arguments.names or one.name in arguments.names]
    if unknown := set(arguments.names) - {one.name for one in chosen}:
        raise SystemExit(f"no example is called {', '.join(sorted(unknown))}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for one in chosen:
        if not arguments.pictures:
            simulated(one).save(one.result)
        draw(one)
        print(one.name, flush=True)
    total = sum(path.stat().st_size for path in FOLDER.iterdir())
    print(f"{len(chosen)} of {len(exhibits())} examples; {FOLDER.name} has {total / 1e6:.2f} MB")


def simulated(one: Exhibit) -> mb.Result:
    """The motion, as the preset Fast computes it."""
    instants = np.linspace(0.0, one.t_end, one.instants or INSTANTS)
    return mb.simulate(one.system(), one.t_end, t_eval=instants, **RunSettings("fast", one.t_end).strategies())


def draw(one: Exhibit) -> None:
    """The pictures for light and dark backgrounds, with the path up to their instant, framed for all of the motion."""
    track = Track(mb.load_result(one.result))
    t = track.t[0] + one.picture_at * (track.t[-1] - track.t[0])
    system, state = one.system(), track.state(t)
    motion = track.sampled(MOMENTS)
    for theme in ("light", "dark"):
        size, follow = (2 * SIZE[0], 2 * SIZE[1]), one.follow or None
        with mb.render.Scene(system, motion=motion, theme=theme, size=size, axes=False, follow=follow) as scene:
            scene.view(one.view)
            scene.show(state)
            if one.trail and one.picture_at > 0.0:
                scene.trail(one.trail, track.path(one.trail, t, local_point=one.trail_point))
            picture = Image.fromarray(scene.image())
        picture.resize(SIZE, Image.Resampling.LANCZOS).save(one.picture(theme), quality=QUALITY, method=6)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="examples; all if none is given")
    parser.add_argument("--pictures", action="store_true", help="only draw, from the stored results")
    return parser.parse_args()


if __name__ == "__main__":
    main()
