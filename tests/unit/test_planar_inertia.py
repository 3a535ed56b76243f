"""Moments of inertia of planar bodies: Izz alone, or Ixx, Iyy and Izz."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mbframe as mb

TABLE = (0.08, 4.04, 4.04)  # a bar of the four-bar linkage of [PappalardoGuida2018a], Table 1


def pendulum(inertia: object) -> mb.System:
    system = mb.System("pendulum", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=3.0, inertia=inertia, position=(2.0, 0.0)))
    system.add(mb.RevoluteJoint("A", system.ground, bar, at=(0.0, 0.0)))
    return system


def test_second_moments_of_natural_coordinates() -> None:
    """[PappalardoGuida2018a], eqs. 57 and 58: J_xx = (Iyy + Izz - Ixx) / 2 and J_yy = (Izz + Ixx - Iyy) / 2."""
    formulation = mb.PlanarNatural()
    row = SimpleNamespace(**formulation.row(pendulum(TABLE)["bar"], np.zeros(3)))
    assert formulation.constant_mass(row) == pytest.approx(np.diag([3.0, 3.0, 4.0, 4.0, 0.04, 0.04]), abs=1e-12)


def test_motion_does_not_depend_on_them() -> None:
    t = [0.5, 1.0]
    angles = [
        mb.simulate(
            pendulum(inertia), 1.0, formulation=formulation, t_eval=t, integrator=mb.DormandPrince(rtol=1e-10)
        ).angle("bar")
        for inertia in (4.04, TABLE)
        for formulation in (mb.PlanarNatural(), mb.PlanarAngle())
    ]
    for found in angles[1:]:
        assert found == pytest.approx(angles[0], abs=1e-7)


def test_files_and_scripts_keep_them(tmp_path: Path) -> None:
    mb.save(pendulum(TABLE), tmp_path / "model.json")
    assert mb.load(tmp_path / "model.json")["bar"].inertia == pytest.approx(TABLE)
    assert "inertia=(0.08, 4.04, 4.04)" in mb.to_python(pendulum(TABLE))


@pytest.mark.parametrize(
    ("inertia", "message"),
    [
        ((1.0, 2.0), "found 2 numbers; allowed are Izz, or Ixx, Iyy and Izz"),
        ((1.0, 3.0, 2.0), "found Iyy = 3; allowed is less than the sum of the others, 3"),
        ((1.0, 1.0, 3.0), "found Izz = 3; allowed is at most Ixx \\+ Iyy = 2"),
        ((0.0, 1.0, 1.0), "0"),
    ],
)
def test_impossible_ones_are_refused(inertia: tuple[float, ...], message: str) -> None:
    with pytest.raises(mb.ModelError, match=message):
        mb.PlanarBody("bar", mass=1.0, inertia=inertia)
