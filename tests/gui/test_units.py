"""Units that numbers are shown in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gui.base.units import SYSTEMS, DisplayUnits
from mbframe.parameters import Element
from mbframe.registry import ours


@pytest.mark.parametrize(
    ("unit", "label", "factor"),
    [
        ("m", "mm", 1e3),
        ("rad", "°", 180 / math.pi),
        ("rad/s", "°/s", 180 / math.pi),
        ("m/s^2", "mm/s^2", 1e3),
        ("kg m^2", "kg mm^2", 1e6),
        ("N m/rad", "N mm/°", 1e3 * math.pi / 180),
        ("N m s/rad", "N mm s/°", 1e3 * math.pi / 180),
        ("N/m", "N/mm", 1e-3),
        ("s/m", "s/mm", 1e-3),
        ("kg", "kg", 1.0),
        ("1/s", "1/s", 1.0),
        ("", "", 1.0),
        ("m or rad", "m or rad", 1.0),
        ("N/m^n", "N/m^n", 1.0),
    ],
)
def test_compound_units_are_converted_factor_by_factor(unit, label, factor):
    units = DisplayUnits("mm/deg")
    assert units.label(unit) == label
    assert units.factor(unit) == pytest.approx(factor, rel=1e-15)
    assert units.from_display(units.to_display(1.25, unit), unit) == pytest.approx(1.25, rel=1e-15)


def test_arrays_and_si():
    np.testing.assert_allclose(DisplayUnits("mm/deg").to_display(np.array([0.001, 0.25]), "m"), [1.0, 250.0])
    assert DisplayUnits().to_display(0.1, "m") == 0.1
    assert DisplayUnits("m/deg").label("m") == "m"
    with pytest.raises(ValueError, match="no units 'cubits'"):
        DisplayUnits("cubits")


def test_every_unit_of_the_library_has_a_label():
    units = {p.unit for cls in ours(Element) for p in cls.parameters().values()}
    assert {"m", "rad/s", "N m/rad"} <= units
    for name in SYSTEMS:
        assert all(DisplayUnits(name).label(unit) for unit in units if unit)
