"""Sections of beams: rectangle, circle and tube, and the fibres in which stress is taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from .problems import positive, usable, wrong

_TERMS = np.arange(1.0, 200.0, 2.0)  # of series that fall with the third power and faster
_STEEP = 350.0  # hyperbolic functions of larger arguments are those of it to rounding


def rectangle(width: float, height: float) -> dict[str, Any]:
    """A rectangle, `width` along local y and `height` along z, m: ``mb.flexible.beam(..., **rectangle(0.02, 0.01))``.

    Area, second moments, torsion and fibres: the corners, where bending is largest, and the middles of the sides, where
    torsion is. Torsion is Saint-Venant's, by the series of Prandtl's stress function [TimoshenkoGoodier1970].
    """
    positive("rectangle", width=width, height=height)
    b, h = float(width), float(height)
    long, short = max(b, h), min(b, h)
    slopes = np.minimum(0.5 * np.pi * _TERMS * long / short, _STEEP)
    torsion = long * short**3 / 3.0 * (1.0 - 192.0 / np.pi**5 * short / long * np.sum(np.tanh(slopes) / _TERMS**5))
    of_long = short / torsion * (1.0 - 8.0 / np.pi**2 * np.sum(1.0 / (_TERMS**2 * np.cosh(slopes))))
    signs = np.where(_TERMS % 4.0 == 1.0, 1.0, -1.0)
    of_short = short / torsion * 8.0 / np.pi**2 * np.sum(signs * np.tanh(slopes) / _TERMS**2)
    middle_y, middle_z = (of_short, of_long) if b >= h else (of_long, of_short)
    corners = [(y * b / 2.0, z * h / 2.0, 0.0) for y in (-1, 1) for z in (-1, 1)]
    sides = [(y * b / 2.0, 0.0, float(middle_y)) for y in (-1, 1)] + [
        (0.0, z * h / 2.0, float(middle_z)) for z in (-1, 1)
    ]
    moments = (b * h**3 / 12.0, h * b**3 / 12.0)
    return {"area": b * h, "second_moments": moments, "torsion": float(torsion), "fibres": corners + sides}


def circle(diameter: float) -> dict[str, Any]:
    """A full round section, m: ``mb.flexible.beam(..., **circle(0.02))``; stress is taken where it is largest."""
    positive("circle", diameter=diameter)
    return _round(0.5 * float(diameter), 0.0)


def tube(outer: float, inner: float) -> dict[str, Any]:
    """A round tube by its diameters, m; stress is taken where it is largest, on its outside."""
    positive("tube", outer=outer, inner=inner)
    if not inner < outer:
        raise wrong("tube", "inner", f"found {inner:.6g} m; allowed are diameters below the outer one, {outer:.6g} m")
    return _round(0.5 * float(outer), 0.5 * float(inner))


def _round(outer: float, inner: float) -> dict[str, Any]:
    moment = 0.25 * np.pi * (outer**4 - inner**4)
    area = np.pi * (outer**2 - inner**2)
    return {"area": area, "second_moments": (moment, moment), "torsion": 2.0 * moment, "fibres": outer}


def fibres_of(element: str, given: Any, elements: int) -> dict[str, np.ndarray]:
    """The fields `fibres` or `radius` of so many beam elements; nothing without fibres.

    `given`: points (k, 2), or (k, 3) with the shear per torque, for all elements or with one such table for each; or
    the radius of round sections, one number or one for each.
    """
    if given is None:
        return {}
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.shape in ((), (elements,)) and np.all(usable(array) & (array > 0.0)):
        return {"radius": np.array(np.broadcast_to(array, elements))}
    each = array.ndim == 3 and len(array) == elements
    if not (array.ndim == 2 or each) or array.shape[-1] not in (2, 3) or not array.size or not np.all(usable(array)):
        message = (
            f"found {given!r}; give points (y, z) of the section in m, with the shear stress per torque in 1/m^3 as a "
            "third number where it is known, or the radius of a round section"
        )
        raise wrong(element, "fibres", message)
    if array.shape[-1] == 2:
        array = np.concatenate([array, np.full((*array.shape[:-1], 1), np.nan)], axis=-1)
    return {"fibres": np.array(np.broadcast_to(array, (elements, *array.shape[-2:])))}
