"""Solid elements, tetrahedra and hexahedra: how deformations of second order strain them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import sparse
from scipy.special import roots_sh_jacobi

from .problems import wrong

COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
ORDERS = {4: 1, 10: 2, 8: 1, 27: 2}  # degree of the displacements by the number of nodes of a cell
_TETRAHEDRA = (4, 10)
_CELLS_AT_ONCE = 64
_REGULAR = 1e-9  # smallest over largest singular value of the polynomials at the nodes


@dataclass(frozen=True, eq=False)
class SolidElements:
    """Isoparametric cells of one kind between nodes of three freedoms, of a homogeneous isotropic material.

    Parameters
    ----------
    cells
        (c, k): numbers of the nodes of each cell; k = 4 or 10 for tetrahedra, 8 or 27 for hexahedra.
    places
        (k, 3): where these nodes are in the reference cell, the tetrahedron or cube between 0 and 1.
    young, poisson
        Young's modulus, Pa, and Poisson's ratio.
    """

    cells: np.ndarray
    places: np.ndarray
    young: float
    poisson: float

    def __post_init__(self) -> None:
        for array in (self.cells, self.places):
            array.flags.writeable = False

    def check(self, nodes: np.ndarray) -> None:
        """A `ModelError` unless the cells are regular cells between these nodes."""
        element, count = "Component.solids", self.places.shape[0]
        if count not in ORDERS or self.places.shape != (count, 3) or self.cells.shape[1:] != (count,):
            found = f"{self.cells.shape} and {self.places.shape}"
            raise wrong(element, "cells", f"cells and places have the shapes {found}; needed are (c, k) and (k, 3)")
        if not self.cells.size or self.cells.min() < 0 or self.cells.max() >= len(nodes):
            raise wrong(element, "cells", f"needed are node numbers from 0 to {len(nodes) - 1}")
        if not (self.young > 0.0 and -1.0 < self.poisson < 0.5):
            raise wrong(element, "young", "allowed are moduli above 0 and ratios of Poisson above -1 and below 0.5")
        sizes = np.linalg.svd(_monomials(count, self.places), compute_uv=False)
        if not sizes[-1] > _REGULAR * sizes[0]:
            raise wrong(element, "places", "do not determine the shapes of a cell; check the file")
        for _, gradients, weights in self._parts(nodes):
            if not (np.all(np.isfinite(gradients)) and np.all(weights > 0.0)):
                raise wrong(element, "cells", "one of the cells has no volume or is folded; check the file")

    def shortening_loads(self, nodes: np.ndarray, first: np.ndarray, other: np.ndarray) -> np.ndarray:
        """(3n, k): loads f with w.f = -∫ ε(w) : C : ½ (∇aᵀ∇b + ∇bᵀ∇a) dV for all displacements w.

        `first` and `other` (3n, k) have displacements a and b of all freedoms column by column. The quadratic part of
        Green and Lagrange's strain, ½ ∇uᵀ∇u, of u = a + b has that strain for the pair; C is Hooke's law.
        """
        lame, shear = self._moduli()
        pairs = first.shape[1]
        a, b = (x.reshape(-1, 3, pairs) for x in (first, other))
        loads = np.zeros_like(a)
        for cells, gradients, weights in self._parts(nodes):
            count, points = weights.shape
            flat = gradients.transpose(0, 1, 3, 2).reshape(count, points * 3, -1)  # rows: point, direction

            def slopes(x: np.ndarray, cells: np.ndarray = cells, flat: np.ndarray = flat) -> np.ndarray:
                """(c, q, direction, component, pair): derivatives of the displacements."""
                found = flat @ x[cells].reshape(len(cells), cells.shape[1], -1)
                return found.reshape(len(cells), -1, 3, 3, pairs)

            strain = np.einsum("cqjip,cqlip->cqjlp", slopes(a), slopes(b), optimize=True)
            stress = shear * (strain + strain.swapaxes(2, 3))
            stress[:, :, range(3), range(3)] += lame * np.einsum("cqiip->cqp", strain)[:, :, None]
            stress *= weights[:, :, None, None, None]
            forces = flat.swapaxes(1, 2) @ stress.reshape(count, points * 3, -1)
            np.subtract.at(loads, cells, forces.reshape(count, -1, 3, pairs))
        return loads.reshape(-1, pairs)

    def nodal_stress(self, nodes: np.ndarray, wanted: np.ndarray) -> sparse.csr_array:
        """(6k, 3n): stresses xx, yy, zz, xy, xz, yz at k nodes for a small displacement of all n, Pa.

        Each is the mean of those in the cells around the node, at the node.
        """
        lame, shear = self._moduli()
        row_of = np.full(len(nodes), -1)
        row_of[wanted] = np.arange(len(wanted))
        around = np.bincount(self.cells.ravel(), minlength=len(nodes))
        rows, columns, values = [], [], []
        for corner, place in enumerate(self.places):
            cells = self.cells[row_of[self.cells[:, corner]] >= 0]
            if not len(cells):
                continue
            local = _slopes(self.places, place[None])[0]
            inverse = np.linalg.inv(np.einsum("cki,kr->cir", nodes[cells], local))
            slopes = np.einsum("kr,cri->cki", local, inverse) / around[cells[:, corner], None, None]
            block = np.zeros((*cells.shape, 6, 3))
            for a in range(3):
                block[:, :, :3, a] = lame * slopes[:, :, a, None]
                block[:, :, a, a] += 2.0 * shear * slopes[:, :, a]
            for row, (a, b) in enumerate(((0, 1), (0, 2), (1, 2)), start=3):
                block[:, :, row, a], block[:, :, row, b] = shear * slopes[:, :, b], shear * slopes[:, :, a]
            first, other = 6 * row_of[cells[:, corner]], 3 * cells
            rows.append(np.broadcast_to(first[:, None, None, None] + np.arange(6)[:, None], block.shape).ravel())
            columns.append(np.broadcast_to(other[:, :, None, None] + np.arange(3), block.shape).ravel())
            values.append(block.ravel())
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return sparse.csr_array(sparse.coo_array(entries, shape=(6 * len(wanted), 3 * len(nodes))))

    def _moduli(self) -> tuple[float, float]:
        """Lamé's two."""
        lame = self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
        return lame, self.young / (2.0 * (1.0 + self.poisson))

    def _parts(self, nodes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Some cells at a time: their nodes (c, k), gradients of the shapes (c, q, k, 3) and weights (c, q), m³."""
        places, weights = _points(self.places.shape[0])
        local = _slopes(self.places, places)
        for cells in np.array_split(self.cells, -(-len(self.cells) // _CELLS_AT_ONCE)):
            jacobian = np.einsum("cki,qkr->cqir", nodes[cells], local, optimize=True)
            with np.errstate(all="ignore"):
                volume = abs(np.linalg.det(jacobian))
                regular = volume > 0.0
                jacobian[~regular] = np.eye(3)
                gradients = np.einsum("qkr,cqri->cqki", local, np.linalg.inv(jacobian), optimize=True)
            yield cells, gradients, volume * weights


def _exponents(count: int) -> np.ndarray:
    """(k, 3): powers of the polynomials of a cell with k nodes."""
    order = ORDERS[count]
    powers = [p for p in product(range(order + 1), repeat=3) if count not in _TETRAHEDRA or sum(p) <= order]
    return np.array(powers)


def _monomials(count: int, at: np.ndarray) -> np.ndarray:
    """(q, k): the powers at some points of the reference cell."""
    return np.prod(at[:, None] ** _exponents(count), axis=2)


def _slopes(places: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(q, k, 3): derivatives of the shape functions, each 1 at its node, at some points of the reference cell."""
    count = len(places)
    powers, inverse = _exponents(count), np.linalg.inv(_monomials(count, places))
    slopes = np.empty((len(at), count, 3))
    for axis in range(3):
        lower = powers.copy()
        lower[:, axis] = np.maximum(lower[:, axis] - 1, 0)
        slopes[:, :, axis] = (powers[:, axis] * np.prod(at[:, None] ** lower, axis=2)) @ inverse
    return slopes


def _points(count: int) -> tuple[np.ndarray, np.ndarray]:
    """(q, 3) and (q,): points and weights that integrate products of three gradients, in cells with flat sides exactly.

    Products of Gauss's points for the cube; for the tetrahedron those of Gauss and Jacobi on the cube that is drawn
    together at its faces.
    """
    if count not in _TETRAHEDRA:
        places, weights = np.polynomial.legendre.leggauss({8: 2, 27: 4}[count])
        lines = [((places + 1.0) / 2.0, weights / 2.0)] * 3
        grid, factors = (np.meshgrid(*part, indexing="ij") for part in zip(*lines, strict=True))
        return np.stack([x.ravel() for x in grid], axis=1), np.prod([f.ravel() for f in factors], axis=0)
    number = {4: 1, 10: 3}[count]
    lines = [roots_sh_jacobi(number, 1.0 + k, 1.0) for k in (2, 1, 0)]  # weights (1 - x)^k
    (x, y, z), factors = (np.meshgrid(*part, indexing="ij") for part in zip(*lines, strict=True))
    points = np.stack([x, (1.0 - x) * y, (1.0 - x) * (1.0 - y) * z], axis=-1).reshape(-1, 3)
    return points, np.prod([f.ravel() for f in factors], axis=0)
