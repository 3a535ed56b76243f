"""What linearization tells of bent shafts, against a geometrically exact beam in the plane."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from .test_flexible_range import DENSITY, YOUNG, sagging, sixth_root

LENGTH, DIAMETER, ELEMENTS = 0.6, 0.02, 24
AREA, MOMENT = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
PIECE = LENGTH / ELEMENTS


class ExactShaft:
    """An overhung shaft with a disk, of Reissner's beam elements with one point each; x, z and the turn of n nodes.

    Its shear stiffness is a penalty, 1e4 EI/h^2, since the shaft of the bodies has none of its own.
    """

    rigidities = (YOUNG * AREA, 1e4 * YOUNG * MOMENT / PIECE**2, YOUNG * MOMENT)

    def __init__(self, mass: float) -> None:
        nodes = np.zeros((ELEMENTS + 1, 3))
        nodes[1:-1, :2] = DENSITY * AREA * PIECE
        nodes[-1] = 0.5 * DENSITY * AREA * PIECE + mass, 0.5 * DENSITY * AREA * PIECE + mass, 0.003 * mass
        nodes[1:-1, 2] = 1e-9
        self.mass = nodes.ravel()[3:]
        self.weight = (nodes * np.array([0.0, -9.81, 0.0])).ravel()[3:]
        self.straight = np.stack([np.linspace(0.0, LENGTH, ELEMENTS + 1), *np.zeros((2, ELEMENTS + 1))], 1)

    def forces(self, moved: np.ndarray) -> np.ndarray:
        """The gradient of the elastic energy by displacements and turns of all nodes but the held one."""
        x = self.straight + np.concatenate([np.zeros(3), moved]).reshape(-1, 3)
        (dx, dz, bend), turn = np.diff(x, axis=0).T / PIECE, 0.5 * (x[1:, 2] + x[:-1, 2])
        c, s = np.cos(turn), np.sin(turn)
        strains = np.array([c * dx + s * dz - 1.0, c * dz - s * dx, bend])
        along, across, moment = (k * e for k, e in zip(self.rigidities, strains, strict=True))
        pull = np.array([c * along - s * across, s * along + c * across])
        torque = 0.5 * PIECE * (along * strains[1] - across * (1.0 + strains[0]))
        found = np.zeros_like(x, dtype=pull.dtype)
        found[1:] += np.stack([*pull, moment + torque], 1)
        found[:-1] += np.stack([*-pull, torque - moment], 1)
        return np.asarray(found.ravel()[3:])

    def stiffness(self, moved: np.ndarray) -> np.ndarray:
        steps = moved + 1e-30j * np.eye(len(moved))
        return np.stack([self.forces(step).imag / 1e-30 for step in steps], 1)

    def third_root(self) -> float:
        """About the equilibrium under its weight, rad/s: two bending roots are below that along the shaft."""
        moved = np.zeros(len(self.mass))
        for part in np.linspace(0.0, 1.0, 41)[1:]:
            for _ in range(8):
                moved = moved - np.linalg.solve(self.stiffness(moved), self.forces(moved) - part * self.weight)
        assert np.abs(self.forces(moved) - self.weight).max() < 1e-6 * np.abs(self.weight).max()
        found = self.stiffness(moved)
        return float(np.sqrt(linalg.eigh(0.5 * (found + found.T), np.diag(self.mass), eigvals_only=True)[2]))


@pytest.mark.parametrize("mass", [50.0, 100.0, 150.0])
def test_the_vibration_along_a_bent_shaft_is_told(mass: float) -> None:
    """Linear theory takes it for a straight one, up to a quarter too high; stiffening has it, and the warning too."""
    exact = ExactShaft(mass).third_root()
    linear, (message,) = sixth_root(sagging(mass))
    stiffened, nothing = sixth_root(sagging(mass, geometric_stiffening=True))
    assert linear > 1.08 * exact
    assert float(message.split("is about ")[1].split(" rad/s")[0]) == pytest.approx(exact, rel=0.01)
    assert stiffened == pytest.approx(exact, rel=0.005)
    assert not nothing
