"""Flexible bodies by hand: beams from section and material, components from files, and the modes they get. No widgets.

The data are elements with declared parameters, so that the dialog has their units, bounds and help. Modes are computed
in the solver process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

import mbframe as mb
from mbframe.errors import Problem
from mbframe.parameters import Element

MATERIALS: Final = {
    "Steel": (2.1e11, 8.1e10, 7850.0),
    "Aluminium": (7.0e10, 2.6e10, 2700.0),
    "Plastic": (2.3e9, 8.5e8, 1100.0),
    "Wood": (1.1e10, 7.0e8, 600.0),
}
"""Young's modulus and shear modulus (Pa), density (kg/m^3)."""

SECTIONS: Final = ("rectangle", "round", "tube")
_USES: Final = {"rectangle": ("width", "height"), "round": ("diameter",), "tube": ("diameter", "wall")}


class BeamData(Element):
    """A straight beam of constant section along the body's x axis, its first node in the origin."""

    length = mb.parameter(1.0, unit="m", above=0.0, help="between its ends")
    material = mb.parameter("Aluminium", choices=tuple(MATERIALS), help="elastic moduli and density")
    section = mb.parameter("rectangle", choices=SECTIONS, help="its cross-section")
    width = mb.parameter(0.05, unit="m", above=0.0, help="along the body's y axis")
    height = mb.parameter(0.05, unit="m", above=0.0, help="along the body's z axis")
    diameter = mb.parameter(0.05, unit="m", above=0.0, help="outer diameter")
    wall = mb.parameter(0.005, unit="m", above=0.0, help="thickness of the wall")
    elements = mb.parameter(10, minimum=1, maximum=200, help="finite elements; joints attach at the nodes between them")
    vibrations = mb.parameter(4, minimum=0, maximum=50, help="shapes that vibrate while the ends are held")

    def check(self) -> Iterator[Problem]:
        if self.section == "tube" and 2.0 * self.wall > self.diameter:
            yield self.problem("wall", f"is more than half of the diameter; reduce it to {0.5 * self.diameter:g} m")

    def used(self) -> list[str]:
        """The parameters that have a meaning for the section."""
        hidden = {name for names in _USES.values() for name in names} - set(_USES[self.section])
        return [name for name in self.parameters() if name not in hidden]

    def component(self) -> mb.flexible.Component:
        """The finite elements."""
        area, moments, torsion = self.properties()
        young, shear, density = MATERIALS[self.material]
        return mb.flexible.beam(
            length=self.length,
            elements=self.elements,
            area=area,
            second_moments=moments,
            torsion=torsion,
            young=young,
            shear=shear,
            density=density,
        )

    def properties(self) -> tuple[float, tuple[float, float], float]:
        """Area (m^2), second moments (Iy, Iz) and torsion constant (m^4) of the section.

        J of a rectangle with sides a >= b is a b^3 (1/3 - 0.21 b/a (1 - b^4/(12 a^4))), within half a percent.
        """
        if self.section == "rectangle":
            w, h = self.width, self.height
            a, b = max(w, h), min(w, h)
            torsion = a * b**3 * (1.0 / 3.0 - 0.21 * b / a * (1.0 - b**4 / (12.0 * a**4)))
            return w * h, (w * h**3 / 12.0, h * w**3 / 12.0), torsion
        inner = self.diameter - 2.0 * self.wall if self.section == "tube" else 0.0
        polar = np.pi / 32.0 * (self.diameter**4 - inner**4)
        return np.pi / 4.0 * (self.diameter**2 - inner**2), (0.5 * polar, 0.5 * polar), polar

    def modes(self) -> mb.flexible.Modes:
        """Its shapes, with the ends as interfaces."""
        return mb.flexible.craig_bampton(self.component(), interfaces=[0, self.elements], n_modes=self.vibrations)


class ComponentData(Element):
    """A component from files: its own `.npz`, or positions of nodes and two matrices of another program."""

    vibrations = mb.parameter(4, minimum=0, maximum=200, help="shapes that vibrate while the interfaces are held")
    interfaces = mb.parameter((), kind="list", help="numbers of nodes with joints; empty: the two farthest apart")

    files: ClassVar = {
        "component": "Component or modes (*.npz)",
        "nodes": "Positions of nodes (*.npy *.csv *.txt)",
        "mass": "Mass matrix (*.mtx *.mtx.gz *.npz *.npy)",
        "stiffness": "Stiffness matrix (*.mtx *.mtx.gz *.npz *.npy)",
    }

    def __init__(self, name: str, paths: dict[str, str] | None = None, **values: Any) -> None:
        super().__init__(name, **values)
        self.paths: dict[str, str] = dict(paths or {})

    @property
    def complete(self) -> bool:
        """Whether all files are given that are needed."""
        return bool(self.paths.get("component") or all(self.paths.get(k) for k in ("nodes", "mass", "stiffness")))

    def modes(self) -> mb.flexible.Modes:
        """The modes in the file, or those of the component in it."""
        paths = self.paths
        if not self.complete:
            raise mb.ModelError("choose the file of a component, or those of its nodes, mass and stiffness")
        if paths.get("component"):
            from mbframe.flexible.storage import read_npz

            if "shapes" in read_npz(paths["component"]):
                return mb.flexible.Modes.load(paths["component"])
            part = mb.flexible.Component.load(paths["component"])
        else:
            part = mb.flexible.Component.from_files(paths["nodes"], paths["mass"], paths["stiffness"])
        ends = list(self.interfaces) or farthest(part.positions)
        return mb.flexible.craig_bampton(part, interfaces=ends, n_modes=self.vibrations)


def farthest(points: Any) -> list[int]:
    """Two points that lie far apart: the farthest from the middle, and the farthest from that."""
    first = int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))
    second = int(np.argmax(np.linalg.norm(points - points[first], axis=1)))
    return sorted({first, second})


@dataclass(frozen=True)
class ModesTask:
    """The modes of a beam or component; only the last one asked for matters."""

    data: BeamData | ComponentData
    latest: ClassVar[str] = "modes"

    def run(self, report: Callable[..., None]) -> mb.flexible.Modes:
        return self.data.modes()
