"""The numbers of an element's equations as tables to show and to copy. No widgets here.

A table has groups of columns (a body's velocities, the components of a vector). Numbers are in SI units; the grid
converts them, copies do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb

from ...base.words import spaced

Array = NDArray[np.float64]

_SHORT: Final = {
    "velocity": "v",
    "angular_velocity": "ω",
    "local_angular_velocity": "ω",
    "euler_angle_rate": "φ′",
    "euler_parameter_rate": "p′",
    "modal_velocity": "η′",
}
_TEX: Final = {
    "residual": "C",
    "rate": r"\dot C",
    "jacobian": "J",
    "gamma": r"\gamma",
    "multipliers": r"\lambda",
    "generalized": "Q",
    "force": "F_j",
    "torque": "M_j",
    "force_i": "F_i",
    "torque_i": "M_i",
    "point_i": "r_i",
    "point_j": "r_j",
    "power": "P",
    "energy": "V",
    "states": "z",
}
LOAD: Final = (("Force", "N"), ("Torque", "N m"))
_LOWERED: Final = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class Column:
    """A column: its group (empty: it stands alone), its name and its unit. `tip` says what it is."""

    group: str
    name: str
    unit: str
    tip: str = ""


@dataclass(frozen=True)
class NumberTable:
    """Named rows of numbers; nan is an empty cell. `units` has a unit for each cell.

    What is tiny beside the largest number of its unit is rounding; with `comparable` beside the largest of all.
    """

    title: str
    rows: list[str]
    columns: list[Column]
    values: Array
    units: list[list[str]]
    comparable: bool = True


def tables_of(found: Any, element: Any) -> list[NumberTable]:
    """Tables of the equations of an element, as far as they have columns."""
    first, second, planar = element.body_i.name, element.body_j.name, element.body_j.dimension == 2
    if isinstance(found, mb.JointEquations):
        load = (found.force, found.torque)
        tables = [_equations(found), _vectors("Reaction at the joint", LOAD, {f"on {second}": load}, planar)]
    else:
        loads = {
            f"on {first}": (found.point_i, found.force_i, found.torque_i),
            f"on {second}": (found.point_j, found.force, found.torque),
        }
        at_markers = (("Point", "m"), *LOAD)
        tables = [_measured(found), _vectors("Loads at the markers", at_markers, loads, planar), _generalized(found)]
    return [table for table in tables if table.columns]


def row_symbol(row: int) -> str:
    """Name of the equation of a joint."""
    return "C" + str(row + 1).translate(_LOWERED)


# ---- Joints ---------------------------------------------------------------------------------------------------------


def _equations(found: mb.JointEquations) -> NumberTable:
    columns = [
        Column("", "C", "", "How far the equation is from being met"),
        Column("", "C′", "", "Its rate; for rolling without slip the velocity of slip"),
    ]
    blocks = [found.residual[:, None], found.rate[:, None]]
    for body, names in found.velocities.items():
        columns += [_velocity(body, name, unit) for name, unit in names]
        blocks.append(found.jacobian[body])
    columns += [
        Column("", "γ", "", "Right-hand side of J v′ = γ"),
        Column("", "λ", "", "Multiplier: the joint acts on the bodies by −Jᵀλ"),
    ]
    blocks += [found.gamma[:, None], found.multipliers[:, None]]
    units = []
    for _, unit in found.rows:
        per = [_quotient(unit, one.removesuffix("/s")) for names in found.velocities.values() for _, one in names]
        units.append([unit, _per(unit, "s"), *per, _per(unit, "s^2"), "N" if unit == "m" else "N m"])
    return NumberTable(
        "Constraint equations C = 0, J v′ = γ",
        [row_symbol(k) for k in range(len(found.rows))],
        columns,
        np.hstack(blocks),
        units,
        comparable=False,
    )


def _velocity(body: str, name: str, unit: str) -> Column:
    stem, _, component = name.partition(".")
    local = " in body axes" if stem.startswith("local") else ""
    return Column(body, f"{_SHORT.get(stem, stem)} {component}".strip(), unit, f"{spaced(stem)} {component}{local}")


def _per(unit: str, what: str) -> str:
    return f"{unit or '1'}/{what}"


def _quotient(unit: str, by: str) -> str:
    """The unit of a rate divided by that of a velocity."""
    if unit == by:
        return ""
    return unit if by in ("", "1") else _per(unit, by)


# ---- Forces ---------------------------------------------------------------------------------------------------------


def _measured(found: mb.ForceEquations) -> NumberTable:
    names = [(spaced(name).replace("_", " "), value, unit) for name, value, unit in found.outputs]
    names.append(("power", found.power, "W"))
    if found.energy is not None:
        names.append(("energy", found.energy, "J"))
    names += [(f"state {k + 1}", float(value), "") for k, value in enumerate(found.states)]
    columns = [Column("", name, unit) for name, _, unit in names]
    values, units = np.array([[value for _, value, _ in names]]), [[unit for _, _, unit in names]]
    return NumberTable("Measured", [""], columns, values, units, comparable=False)


def _generalized(found: mb.ForceEquations) -> NumberTable:
    columns, units = [], []
    for body, names in found.velocities.items():
        for name, unit in names:
            columns.append(_velocity(body, name, "N" if unit == "m/s" else "N m"))
            units.append(columns[-1].unit)
    values = np.concatenate([np.zeros(0), *found.generalized.values()])
    return NumberTable("Generalized forces: its part of Q in M v′ = Q − Jᵀλ", ["Q"], columns, values[None], [units])


def _vectors(
    title: str, kinds: tuple[tuple[str, str], ...], rows: Mapping[str, tuple[Array, ...]], planar: bool
) -> NumberTable:
    """Vectors side by side; in the plane without the components that are zero there."""
    parts = [("z" if name == "Torque" else "xy") if planar else "xyz" for name, _ in kinds]
    columns = [
        Column(name, letter, unit) for (name, unit), letters in zip(kinds, parts, strict=True) for letter in letters
    ]
    values = [
        [vector["xyz".index(letter)] for vector, letters in zip(vectors, parts, strict=True) for letter in letters]
        for vectors in rows.values()
    ]
    return NumberTable(title, list(rows), columns, np.array(values), [[c.unit for c in columns]] * len(rows))


# ---- Copies ---------------------------------------------------------------------------------------------------------


def as_text(tables: list[NumberTable]) -> str:
    """Tables of tabs, as spreadsheets take them: SI units, all digits."""
    lines: list[str] = []
    for table in tables:
        lines.append(table.title)
        lines.append("\t".join(["", *(" ".join(filter(None, (c.group, c.name))) for c in table.columns)]))
        for name, numbers in zip(table.rows, table.values, strict=True):
            lines.append("\t".join([name, *("" if np.isnan(x) else repr(float(x)) for x in numbers)]))
        lines.append("")
    return "\n".join(lines)


def as_numpy(found: Any) -> str:
    """Assignments of arrays, with the names of `mbframe.equations_of`; blocks of bodies are dictionaries."""
    lines = [f"# {found.element}, t = {found.t:.6g} s; SI units", "import numpy as np", ""]
    for name, value in _numbers(found):
        if isinstance(value, dict):
            lines.append(f"{name} = {{")
            lines += [f"    {body!r}: {_array(block)}," for body, block in value.items()]
            lines.append("}")
        else:
            lines.append(f"{name} = {_array(value) if isinstance(value, np.ndarray) else repr(float(value))}")
    return "\n".join(lines) + "\n"


def _array(values: Array) -> str:
    text = np.array2string(values, separator=", ", threshold=10**9, floatmode="unique", max_line_width=10**9)
    return f"np.array({text.replace('nan', 'np.nan').replace(chr(10), ' ')})"


def as_latex(found: Any) -> str:
    """Equations with matrices, five digits."""
    lines = []
    for name, value in _numbers(found):
        if isinstance(value, dict):
            lines += [f"{_TEX[name]}_{{\\text{{{_tex(body)}}}}} = {_matrix(block)}" for body, block in value.items()]
        elif isinstance(value, np.ndarray):
            lines.append(f"{_TEX[name]} = {_matrix(value)}")
        else:
            lines.append(f"{_TEX[name]} = {_number(float(value))}")
    return "\\begin{gather*}\n" + " \\\\\n".join(lines) + "\n\\end{gather*}\n"


def _numbers(found: Any) -> Iterator[tuple[str, Any]]:
    for one in fields(found):
        value = getattr(found, one.name)
        if one.name in _TEX and value is not None and not (isinstance(value, np.ndarray) and not value.size):
            yield one.name, value


def _matrix(values: Array) -> str:
    rows = values[None] if values.ndim == 1 and len(values) == 0 else (values[:, None] if values.ndim == 1 else values)
    body = r" \\ ".join(" & ".join(_number(float(x)) for x in row) for row in rows)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


def _number(x: float) -> str:
    if np.isnan(x):
        return r"\cdot"
    text = f"{x + 0.0:.5g}"
    if "e" in text:
        mantissa, _, power = text.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(power)}}}"
    return text


def _tex(text: str) -> str:
    return "".join("\\" + c if c in "_%&#$" else c for c in text)
