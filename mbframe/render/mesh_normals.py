"""Welding the corners of triangles, and normals that shade them: smooth but for sharp edges. All of it is linear.

Readers meet triangles of every kind: edges of thousands of triangles, corners in which all of them meet. Only edges of
exactly two triangles are smooth, so that no edge costs more than its triangles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


def welded(points: Array, triangles: Numbers, tolerance: float) -> tuple[Array, Numbers]:
    """One corner for those in the same place, without triangles that lose a corner by it, nor corners of none.

    Corners are the same if they round to the same multiples of `tolerance` times the largest extent.
    """
    used = np.zeros(len(points), bool)
    used[triangles] = True
    points, triangles = points[used], (np.cumsum(used) - 1)[triangles]
    grid = tolerance * float(np.ptp(points, axis=0).max(initial=0.0)) or 1.0
    keys = np.round((points - points.min(axis=0)) / grid)
    order = np.lexsort(keys.T)
    fresh = np.r_[True, (np.diff(keys[order], axis=0) != 0.0).any(axis=1)]
    which = np.empty(len(points), np.int64)
    which[order] = np.cumsum(fresh) - 1
    kept = which[triangles]
    proper = (kept[:, 0] != kept[:, 1]) & (kept[:, 1] != kept[:, 2]) & (kept[:, 2] != kept[:, 0])
    return points[order[fresh]], kept[proper]


def shaded(points: Array, triangles: Numbers, angle: float) -> tuple[Array, Array, Numbers]:
    """Corners, their unit normals, and triangles that wind alike where they meet in an edge.

    Edges that bend by more than `angle` (rad) are sharp: their corners are doubled. A normal is the mean of those of
    the triangles around its corner, up to the next sharp edges.
    """
    first, second, alike = _pairs(triangles)
    reverse = _reversed(len(triangles), first // 3, second // 3, alike)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)[:, None]
    normals[reverse] *= -1.0

    smooth = np.einsum("ij,ij->i", normals[first // 3], normals[second // 3]) > np.cos(angle)
    first, second, alike = first[smooth], second[smooth], alike[smooth]
    other = np.where(alike, _next(second), second)  # the corner of the second where the first edge begins
    beyond = np.where(alike, second, _next(second))
    corners = _components(triangles.size, np.r_[first, _next(first)], np.r_[other, beyond])

    where = np.empty(corners.max(initial=-1) + 1, np.int64)
    where[corners] = triangles.ravel()
    each = np.repeat(normals, 3, axis=0)
    sums = np.stack([np.bincount(corners, weights=each[:, k]) for k in range(3)], axis=1)
    sizes = np.linalg.norm(sums, axis=1)[:, None]
    some = np.empty_like(sums)
    some[corners] = each  # for corners around which the normals cancel
    faces = corners.reshape(-1, 3).copy()
    faces[reverse] = faces[reverse, ::-1]
    return points[where], np.where(sizes > 1e-9, sums / np.maximum(sizes, 1e-9), some), faces


def _next(edge: Numbers) -> Numbers:
    """The edge after one of those numbered 3 f + k, from corner k of triangle f to the next; also its end."""
    following: Numbers = edge - edge % 3 + (edge + 1) % 3
    return following


def _pairs(triangles: Numbers) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Edges 3 f + k in which exactly two triangles meet, and whether these wind alike: pass it in both directions."""
    begin, end = triangles.ravel(), triangles[:, [1, 2, 0]].ravel()
    keys = np.minimum(begin, end) * (triangles.max(initial=0) + 1) + np.maximum(begin, end)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(keys[order]) != 0])
    double = starts[np.diff(np.r_[starts, len(keys)]) == 2]
    first, second = order[double], order[double + 1]
    return first, second, begin[first] == end[second]


def _reversed(count: int, first: Numbers, second: Numbers, alike: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which triangles have to be turned over so that all that meet wind alike; none of a surface with one side.

    Each triangle stands there twice, as it is and turned over, and is linked to the one of its neighbour that winds
    like it. What hangs together is then one of the two ways in which a surface can wind.
    """
    turned = np.where(alike, second, second + count)
    back = np.where(alike, second + count, second)
    labels = _components(2 * count, np.r_[first, first + count], np.r_[turned, back])
    turn: NDArray[np.bool_] = labels[:count] > labels[count:]
    return turn


def _components(count: int, first: Numbers, second: Numbers) -> Numbers:
    """The number of the connected piece to which each of `count` nodes belongs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)
