"""Takes the way of a new user through the application, as the end-to-end test does, and pictures on it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = {"gallery", "playing", "plots", "stability", "export mp4"}
COLORS = 256


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "assets" / "screenshots")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--building", action="store_true", help="build a model instead; give --output, and look at all")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mbframe-tour-") as folder:
        for kind in ("CONFIG", "DATA"):  # settings of the user are left alone
            os.environ[f"XDG_{kind}_HOME"] = str(Path(folder) / kind.lower())
        take(arguments.output, arguments.theme, Path(folder), arguments.building)


def take(output: Path, theme: str, folder: Path, building: bool = False) -> None:
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "gui")]
    from building_tour import BuildingTour
    from robot import Robot
    from tour import Tour

    from gui.app.application import Application

    application = Application([])
    application.settings.theme = theme
    application.open()
    window = application.window
    assert window is not None
    ready: list[bool] = []
    window.panels_ready.connect(lambda: ready.append(True))
    robot = Robot(window, real=shutil.which("xdotool") is not None)
    robot.until(lambda: bool(ready), 60.0, "panels")
    window.move(0, 0)

    def look(name: str) -> None:
        if building or name in KEPT:
            window.view.drawing.draw_at_its_best()  # which a busy machine would not do
            window.view.update()
            robot.pause(0.5)
            path = robot.shot(output / f"{name.replace(' ', '_')}.png")
            shrink(path)
            print(f"{path} ({path.stat().st_size / 1000:.0f} kB)", flush=True)

    (BuildingTour if building else Tour)(application, robot, folder, look).all()
    application.document.abandon()
    window.close()
    application.close()
    print("The whole way went well.")


def shrink(path: Path) -> None:
    """Fewer colours, which nobody sees in a picture of a window: a third of the bytes."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(COLORS, method=Image.Quantize.MEDIANCUT).save(path, optimize=True)


if __name__ == "__main__":
    main()
