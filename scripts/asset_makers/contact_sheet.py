"""Draws the examples on one sheet: the quickest way to see whether a change of looks is an improvement."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import mbframe as mb

SIZE = (640, 400)


def main() -> None:
    arguments = parsed()
    names = arguments.names or mb.examples.names()
    cards = [card(name, arguments.motion, arguments.theme) for name in names]
    columns = min(arguments.columns, len(cards))
    sheet = Image.new("RGB", (columns * SIZE[0], math.ceil(len(cards) / columns) * SIZE[1]), "white")
    for k, picture in enumerate(cards):
        sheet.paste(picture, (k % columns * SIZE[0], k // columns * SIZE[1]))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(arguments.output)
    print(f"{len(cards)} pictures in {arguments.output}")


def card(name: str, t_end: float, theme: str) -> Image.Image:
    """The picture of an example with its name; with `t_end` at the end of a motion, with the bodies' paths."""
    system = getattr(mb.examples, name)()
    result = mb.simulate(system, t_end, t_eval=np.linspace(0.0, t_end, 1201)) if t_end > 0.0 else None
    with mb.render.Scene(system, motion=result, theme=theme, size=SIZE) as scene:
        if result is not None:
            scene.show(result.state(len(result) - 1))
            for body in system.bodies:
                scene.trail(body, result.position(body))
        image = Image.fromarray(scene.image())
    color = tuple(round(255 * part) for part in scene.theme.text)
    ImageDraw.Draw(image).text((12, 8), name, fill=color, font=ImageFont.load_default(18))
    return image


def picture(text: str) -> Path:
    """The file of a picture; a name without an ending gets that of PNG."""
    path = Path(text) if Path(text).suffix else Path(f"{text}.png")
    if path.suffix.lower() not in Image.registered_extensions():
        raise argparse.ArgumentTypeError(f"{path.suffix} is no ending of a picture; use .png or .jpg")
    return path


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="examples; all if none is given")
    parser.add_argument("--motion", type=float, default=0.0, metavar="SECONDS", help="simulate so long first")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--output", type=picture, default=Path("build/contact_sheet.png"), help="default: %(default)s")
    return parser.parse_args()


if __name__ == "__main__":
    main()
