"""Plane mechanisms modelled in space, with their closed forms. In space each loop has three redundant equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import mbframe as mb

Array = NDArray[np.float64]
Z = (0.0, 0.0, 1.0)


def bar(system: mb.System, name: str, start: complex, end: complex, mass: float) -> mb.RigidBody:
    """A slender bar in the x-y plane (x + i y), its origin in its middle and its x axis along it."""
    a, b = (np.array([np.real(p), np.imag(p), 0.0]) for p in (start, end))
    length, x = np.linalg.norm(b - a), (b - a) / np.linalg.norm(b - a)
    moment = mass * length**2 / 12
    axes = np.column_stack([x, np.cross(Z, x), Z])
    body = mb.RigidBody(name, mass=mass, inertia=(0.01 * moment, moment, moment), position=(a + b) / 2, rotation=axes)
    return system.add(body)


def slider_crank(r: float = 0.1, l: float = 0.3) -> mb.System:
    """Crank along x, turning about the joint A; the slider moves along the x axis."""
    system = mb.System("slider-crank", gravity=(0.0, -9.81, 0.0))
    crank = bar(system, "crank", 0.0, r, 0.5)
    rod = bar(system, "rod", r, r + l, 0.8)
    slider = system.add(mb.RigidBody("slider", mass=1.2, inertia=(1e-3, 1e-3, 1e-3), position=(r + l, 0.0, 0.0)))
    system.add(mb.RevoluteJoint("A", system.ground, crank, at=(0.0, 0.0, 0.0), axis=Z))
    system.add(mb.RevoluteJoint("B", crank, rod, at=(r, 0.0, 0.0), axis=Z))
    system.add(mb.RevoluteJoint("C", rod, slider, at=(r + l, 0.0, 0.0), axis=Z))
    system.add(mb.TranslationalJoint("D", system.ground, slider, at=(r + l, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return system


class FourBar:
    """A four-bar mechanism: crank a from A = 0, coupler b, rocker c, base d along x to D; two branches, +1 and -1."""

    masses = (0.5, 1.0, 0.8)

    def __init__(self, a: float = 0.3, b: float = 0.8, c: float = 0.7, d: float = 0.9, branch: int = 1) -> None:
        self.lengths, self.branch = (a, b, c, d), branch

    def angles(self, theta: Array | float) -> tuple[Array, Array]:
        """Angles of coupler and rocker: the triangle over the diagonal from the crank's end to D."""
        a, b, c, d = self.lengths
        crank = a * np.exp(1j * np.asarray(theta))
        e = np.abs(d - crank)
        phi = np.angle(d - crank) + self.branch * np.arccos((b**2 + e**2 - c**2) / (2 * b * e))
        return phi, np.angle(crank + b * np.exp(1j * phi) - d)

    def arms(self, theta: Array | float) -> tuple[NDArray, NDArray, NDArray]:
        """Crank, coupler and rocker as complex numbers; arm_1 + arm_2 - arm_3 = d."""
        a, b, c, _ = self.lengths
        phi, psi = self.angles(theta)
        return a * np.exp(1j * np.asarray(theta)), b * np.exp(1j * phi), c * np.exp(1j * psi)

    def rates(self, theta: Array, omega: Array, alpha: Array) -> tuple[Array, Array, Array, Array]:
        """Angular velocities of coupler and rocker, and their angular accelerations: the loop differentiated."""
        one, two, three = self.arms(theta)

        def solved(right: NDArray) -> tuple[Array, Array]:
            """x and y of i arm_2 x - i arm_3 y = right."""
            p, q = 1j * two, -1j * three
            determinant = p.real * q.imag - p.imag * q.real
            x = (right.real * q.imag - right.imag * q.real) / determinant
            return x, (p.real * right.imag - p.imag * right.real) / determinant

        w2, w3 = solved(-1j * one * omega)
        return w2, w3, *solved(-1j * one * alpha + one * omega**2 + two * w2**2 - three * w3**2)

    def potential(self, theta: Array | float) -> Array:
        """Potential energy under gravity along -y."""
        one, two, three = self.arms(theta)
        m = self.masses
        return 9.81 * (m[0] * one.imag / 2 + m[1] * (one + two / 2).imag + m[2] * three.imag / 2)

    def inertia(self, theta: Array) -> Array:
        """m(theta) of the kinetic energy m theta'^2 / 2."""
        a, b, c, _ = self.lengths
        one, two, _ = self.arms(theta)
        ones = np.ones_like(theta)
        w2, w3, _, _ = self.rates(theta, ones, 0 * ones)
        m = self.masses
        middle = np.abs(one + 0.5 * two * w2) ** 2
        return m[0] * a**2 / 3 + m[1] * (middle + b**2 * w2**2 / 12) + m[2] * c**2 / 3 * w3**2

    def system(self, theta: float = 0.0) -> mb.System:
        """The mechanism with the crank at an angle; joints A, B, C, D."""
        one, two, _ = self.arms(theta)
        points = {"A": 0j, "B": complex(one), "C": complex(one + two), "D": complex(self.lengths[3])}
        system = mb.System("four-bar", gravity=(0.0, -9.81, 0.0))
        crank = bar(system, "crank", points["A"], points["B"], self.masses[0])
        coupler = bar(system, "coupler", points["B"], points["C"], self.masses[1])
        rocker = bar(system, "rocker", points["D"], points["C"], self.masses[2])
        pairs = {
            "A": (system.ground, crank),
            "B": (crank, coupler),
            "C": (coupler, rocker),
            "D": (system.ground, rocker),
        }
        for name, (i, j) in pairs.items():
            p = points[name]
            system.add(mb.RevoluteJoint(name, i, j, at=(p.real, p.imag, 0.0), axis=Z))
        return system
