"""Problems of a model, as sentences with remedies. No widgets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.files import model as model_files
from mbframe.plane import lifted
from mbframe.shapes import OUTSIDE

from ...base.units import DisplayUnits
from .tasks import Findings

Array = NDArray[np.float64]

REDUNDANT: Final = (
    "Some equations of the joints follow from the others, as in a door with three hinges. The motion is unique all the "
    "same, and mbframe computes it. Only the forces in these joints are not: real joints share them elastically. "
    "To make them unique, replace a hinge by a spherical or cylindrical joint, or hold a body at one place less."
)


@dataclass(frozen=True)
class Check:
    """A sentence about the model; `fix` is "assemble", "start at zero" or "explain", or empty."""

    text: str
    level: str = "warning"
    element: Any = None
    fix: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Gap:
    """Gap of an open joint: a line from one point to the other (the same for a ring), and how far."""

    start: Array
    end: Array
    text: str


def listed(findings: Findings, system: mb.System, units: DisplayUnits) -> list[Check]:
    """All that was found, the worst first."""
    checks = [_open(system[name], gap, units) for name, gap in findings.gaps.items() if name in system]
    if findings.rates:
        names = ", ".join(findings.rates)
        text = f"The described velocities do not fit {names}. Assemble changes them as little as possible."
        checks.append(Check(text, "warning", system[next(iter(findings.rates))], "assemble"))
    checks += [
        Check(
            f"{name} has hardly any mass beside the others; its motion may be computed badly.", "warning", system[name]
        )
        for name in findings.light
        if name in system
    ]
    checks += missing_files(system)
    freedom = findings.freedom
    if freedom is not None and freedom.redundant:
        count = freedom.redundant
        many = "1 equation is" if count == 1 else f"{count} equations are"
        names = ", ".join(freedom.joints_involved)
        element = next((system[name] for name in freedom.joints_involved if name in system), None)
        checks.append(Check(f"{many} redundant, between {names}.", "info", element, "explain", REDUNDANT))
    if freedom is not None and freedom.singular:
        checks.append(Check(f"This position is special: {freedom.singular}.", "info"))
    if freedom is not None and freedom.count == 0 and not any(joint.symbol == "driver" for joint in system.joints):
        checks.append(Check("Nothing can move: the joints take all freedoms.", "warning"))
    return checks


def _open(joint: Any, gap: float, units: DisplayUnits) -> Check:
    size = amount(joint, gap, units)
    if joint.counts_from_description:
        text = f"{joint.name}: its function begins with {size}, not with 0, where the model is described."
        return Check(text, "error", joint, "start at zero")
    return Check(
        f"{joint.name} is open by {size}. Assemble closes it with the least motion.", "error", joint, "assemble"
    )


def amount(joint: Any, gap: float, units: DisplayUnits) -> str:
    """A gap with its unit: an angle for what drives or measures one, else a length."""
    unit = getattr(joint, "unit", "") or "m"
    return f"{units.to_display(gap, unit):.3g} {units.label(unit)}"


def missing_files(system: mb.System) -> list[Check]:
    """Meshes whose files are not there."""
    return [
        Check(f"{body.name}: {_why_not_drawn(shape.path)}; it is not drawn.", "warning", body)
        for body in (*system.bodies, system.ground)
        for shape in body.shapes
        if isinstance(shape, mb.Mesh) and not Path(shape.path).expanduser().is_file()
    ]


def _why_not_drawn(path: str) -> str:
    if path.startswith(OUTSIDE):
        return f"the mesh {path.removeprefix(OUTSIDE)!r} is outside of the folder of the file; choose it here"
    return f"there is no mesh file {path!r}"


def gaps(findings: Findings, system: mb.System, units: DisplayUnits) -> list[Gap]:
    """Gaps to draw."""
    found = []
    for name, gap in findings.gaps.items():
        if name not in system:
            continue
        joint: Any = system[name]
        i, j = np.array(joint.i.at, float), np.array(joint.j.at, float)
        start, end = lifted(i), lifted(j)
        if "plane_point" in joint.parameters():  # from the wheel to its plane
            normal = lifted(joint.normal) / np.linalg.norm(joint.normal)
            radius = float(getattr(joint, "radius", 0.0))
            start = end - radius * normal
            end = start - float((start - lifted(joint.plane_point)) @ normal) * normal
        found.append(Gap(start, end, f"{name}: {amount(joint, gap, units)}"))
    return found


def started_at_zero(system: mb.System, driver: Any) -> dict[str, Any]:
    """New functions of a driver that begin with zero: f(t) - f(0)."""
    entries = {entry["name"]: entry for entry in model_files.document(system)["elements"]}
    values = {}
    for name, function in driver.functions().items():
        start = float(function(0.0))
        text = entries[driver.name][name]
        if start != 0.0 and isinstance(text, str | float | int):
            values[name] = f"{text} - {start!r}" if start > 0.0 else f"{text} + {-start!r}"
    return values
