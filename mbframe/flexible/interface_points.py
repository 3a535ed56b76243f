"""Points that follow nodes: interface points on sets of nodes, and rotations of nodes that have none of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .mass_points import rigid_fields
from .problems import point, wrong

KINDS = ("rigid", "mean")
_IN_LINE = 1e-6  # smallest over largest extent of a set of nodes below which it is in line


@dataclass(frozen=True, eq=False)
class InterfacePoint:
    """A point that a set of nodes carries; `Component.with_interface` makes it.

    Parameters
    ----------
    name
        May be empty.
    position
        (3,): undeformed position in component axes, m.
    nodes
        (k,): numbers of the nodes.
    kind
        ``"rigid"`` or ``"mean"``.
    """

    name: str
    position: np.ndarray
    nodes: np.ndarray
    kind: str

    @classmethod
    def of(
        cls, positions: np.ndarray, nodes: Sequence[int] | np.ndarray, place: Any, name: str, kind: str
    ) -> InterfacePoint:
        """A checked point; `positions` are those of all nodes."""
        if kind not in KINDS:
            raise wrong("InterfacePoint", "kind", f"found {kind!r}; allowed are 'rigid' and 'mean'")
        numbers = np.unique(np.asarray(nodes))
        if not numbers.size or not np.issubdtype(numbers.dtype, np.integer):
            raise wrong("InterfacePoint", "nodes", f"found {nodes!r}; give the numbers of one or more nodes")
        if numbers[0] < 0 or numbers[-1] >= len(positions):
            raise wrong(
                "InterfacePoint",
                "nodes",
                f"found numbers from {numbers[0]} to {numbers[-1]}; nodes have those from 0 to {len(positions) - 1}",
            )
        where = point("InterfacePoint", "position", positions[numbers].mean(axis=0) if place is None else place)
        numbers.flags.writeable = False
        return cls(name, where, numbers, kind)

    def rigid(self, positions: np.ndarray, per_node: int) -> np.ndarray:
        """(k * per_node, 6): displacements of the set's freedoms for unit motions of the point."""
        return rigid_fields(positions[self.nodes] - self.position)[:, :per_node].reshape(-1, 6)

    def freedoms(self, per_node: int) -> np.ndarray:
        """Numbers of the set's freedoms."""
        return (per_node * self.nodes[:, None] + np.arange(per_node)).ravel()

    def _weights(self, positions: np.ndarray, per_node: int) -> np.ndarray:
        """(k, 3) or (k, 6): how much the translations, and where they do not suffice the rotations, count in a fit."""
        used = 3
        extents = np.linalg.svd(positions[self.nodes] - positions[self.nodes].mean(axis=0), compute_uv=False)
        if len(self.nodes) < 3 or extents[1] <= _IN_LINE * extents[0]:
            if per_node == 3:
                raise wrong(
                    "InterfacePoint",
                    "nodes",
                    f"the {len(self.nodes)} nodes of {self.name or 'an interface point'} are in line, so their "
                    "translations do not say how it turns; add a node beside the line",
                )
            used = 6
        weights = np.ones((len(self.nodes), used))
        if used == 6:  # rotations weigh as much as displacements at the distance of the set's size
            weights[:, 3:] = max(
                float(extents[0]) / np.sqrt(len(self.nodes)), 1e-3 * float(np.ptp(positions, axis=0).max())
            )
        return weights

    def motion(self, positions: np.ndarray, per_node: int) -> sparse.csr_array:
        """(6, n_freedoms): the rigid motion that fits the translations of the set best, seen at the point.

        A single node, or nodes in line, also use rotations of the nodes; without these it is a `ModelError`.
        """
        weights = self._weights(positions, per_node)
        used = weights.shape[1]
        rows = rigid_fields(positions[self.nodes] - self.position)[:, :used].reshape(-1, 6)
        inverse = np.linalg.pinv(rows * weights.reshape(-1, 1)) * weights.reshape(1, -1)
        columns = (per_node * self.nodes[:, None] + np.arange(used)).ravel()
        size = per_node * len(positions)
        return sparse.csr_array(
            (inverse.ravel(), (np.repeat(np.arange(6), len(columns)), np.tile(columns, 6))), shape=(6, size)
        )

    def bend(self, positions: np.ndarray, per_node: int, shapes: np.ndarray) -> np.ndarray:
        r"""(6, m, m): what a finite turn of the set adds to the second derivatives of `motion` by m modal coordinates.

        The rigid motion c + t + exp(\theta~) x fits best where, with the set's places x from their centre c, its
        displacements u and the inertia J of its places, A = J + w^2 k 1 if rotations \theta_n count with w,

            A \theta = \sum x x u + w^2 \sum \theta_n + \sum (\theta x x) x u + 1/2 (\theta x (\theta x x)) x x
                      - 1/2 \theta x (\sum x x u - J \theta)

        to second order; a point at d from the centre is displaced by t + \theta x d + 1/2 \theta x (\theta x d).
        """
        weights, count = self._weights(positions, per_node), shapes.shape[1]
        turns = (self.motion(positions, per_node) @ shapes)[3:].T
        moves = shapes.reshape(len(positions), per_node, count)[self.nodes, :3].transpose(0, 2, 1)
        places = positions[self.nodes] - positions[self.nodes].mean(axis=0)
        arm = self.position - positions[self.nodes].mean(axis=0)
        inertia = np.sum(places**2) * np.eye(3) - places.T @ places
        swung = np.cross(turns, places[:, None])  # places, shapes, directions
        missing = np.cross(places[:, None], moves).sum(axis=0) - turns @ inertia
        pairs = np.cross(swung[:, :, None], moves[:, None]).sum(axis=0)
        pairs += 0.5 * np.cross(np.cross(turns[:, None], swung[:, None]), places[:, None, None]).sum(axis=0)
        pairs -= 0.5 * np.cross(turns[:, None], missing)
        whole = inertia + float(np.sum(weights[:, 3:] ** 2)) / 3.0 * np.eye(3)
        turned = np.linalg.solve(whole, (pairs + pairs.swapaxes(0, 1)).reshape(-1, 3).T).reshape(3, count, count)
        lever = 0.5 * np.cross(turns[:, None], np.cross(turns, arm))
        moved = np.cross(turned, arm, axisa=0) + lever + lever.swapaxes(0, 1)
        return np.concatenate([moved.transpose(2, 0, 1), turned])


def node_motion(
    positions: np.ndarray, per_node: int, stiffness_matrix: sparse.csr_array, number: int
) -> sparse.csr_array:
    """(6, n_freedoms): displacement and rotation of a node.

    With three freedoms per node the rotation is that of the affine field that fits the node and its neighbours (those
    that stiffness connects it to) best; if they lie in a plane, of the best rigid motion.
    """
    size = per_node * len(positions)
    if per_node == 6:
        return sparse.csr_array((np.ones(6), (np.arange(6), 6 * number + np.arange(6))), shape=(6, size))
    coupled = np.unique(stiffness_matrix[[3 * number, 3 * number + 1, 3 * number + 2]].indices // 3)
    relative = positions[coupled] - positions[number]
    extents = np.linalg.svd(relative, compute_uv=False)
    reach = extents[0] if len(extents) else 0.0
    if len(coupled) < 3 or extents[1] <= _IN_LINE * reach:
        raise wrong(
            "Component",
            "nodes",
            f"node {number} has no rotations and {len(coupled) - 1} neighbours in line with it, so it is not known how "
            "it turns; use an interface point (`with_interface`) on several nodes",
        )
    rotation = np.zeros((3, len(coupled), 3))
    if len(coupled) > 3 and extents[2] > _IN_LINE * reach:
        gradient = np.linalg.pinv(relative)  # G[a, k]: du/dx_a = Σ_k G[a, k] (u_k - u_node)
        for axis in range(3):
            b, c = (axis + 1) % 3, (axis + 2) % 3
            rotation[axis, :, c] = 0.5 * gradient[b]
            rotation[axis, :, b] = -0.5 * gradient[c]
    else:
        turns = rigid_fields(relative)[:, :3, 3:].reshape(-1, 3)
        rotation = np.linalg.pinv(turns).reshape(3, len(coupled), 3)
    own = int(np.searchsorted(coupled, number))
    rotation[:, own] -= rotation.sum(axis=1)
    columns = (3 * coupled[:, None] + np.arange(3)).ravel()
    rows = np.concatenate([np.arange(3), np.repeat(np.arange(3, 6), len(columns))])
    places = np.concatenate([3 * number + np.arange(3), np.tile(columns, 3)])
    values = np.concatenate([np.ones(3), rotation.ravel()])
    return sparse.csr_array((values, (rows, places)), shape=(6, size))
