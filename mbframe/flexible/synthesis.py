"""Component mode synthesis: which shapes a body gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import linalg, sparse

from .component import Component, Place
from .modes import (
    DEPENDENT,
    Modes,
    Participation,
    as_numbers,
    floating,
    independent,
    orthonormal_modes,
    without_rigid_motion,
)
from .problems import counted, wrong
from .supports import Floating, Support, lowest_modes

_HERTZ = 2.0 * np.pi


def free_modes(part: Component, n_modes: int | None = None, frequency_limit: float | None = None) -> Modes:
    """The lowest modes of the floating component, its six rigid motions left out; Φᵀ M Φ = 1, mean axes.

    Parameters
    ----------
    part
        The component.
    n_modes
        How many; None for all below `frequency_limit`.
    frequency_limit
        Only modes up to this frequency, Hz.
    """
    support = floating(part)
    squares, shapes = _lowest("free_modes", part, support, n_modes, frequency_limit, 6)
    shapes = without_rigid_motion(part, shapes)
    return Modes(part, shapes, np.sqrt(squares) / _HERTZ, "mean", method="free_modes")


def clamped_modes(
    part: Component, node: Place = 0, n_modes: int | None = None, frequency_limit: float | None = None
) -> Modes:
    """The lowest modes of the component held at one node or interface point; Φᵀ M Φ = 1, frame at that node.

    Parameters
    ----------
    part
        The component.
    node
        What is held: number, name or position.
    n_modes, frequency_limit
        As for `free_modes`.
    """
    number = part.number_of(node)
    conditions, _ = _boundary(part, number, full=True)
    support = Support(part.stiffness_matrix, conditions, f"node {number} is held")
    squares, shapes = _lowest("clamped_modes", part, support, n_modes, frequency_limit, conditions.shape[0])
    participation = _participation(part, squares, shapes, part.positions[number])
    return Modes(part, shapes, np.sqrt(squares) / _HERTZ, number, (number,), "clamped_modes", participation)


def craig_bampton(
    part: Component,
    interfaces: Sequence[Place],
    n_modes: int | None = None,
    frequency_limit: float | None = None,
    loads: Any = None,
) -> Modes:
    """Static shapes for motions of the interfaces, and vibrations with the interfaces held [CraigBampton1968].

    The span of both is made orthonormal (Φᵀ M Φ = 1, Φᵀ K Φ diagonal), and the six rigid motions in it are left out,
    since the floating frame makes them. Statics under forces at the interfaces is exact. The result has
    6 (number of interfaces) - 6 + n_modes modes (3 for interfaces at nodes of three freedoms).

    Parameters
    ----------
    part
        The component.
    interfaces
        Where joints and forces attach: numbers of nodes, numbers or names of interface points, or positions.
    n_modes
        How many vibrations with held interfaces; None for all below `frequency_limit`.
    frequency_limit
        Only such vibrations up to this frequency, Hz. Static shapes always stay.
    loads
        (n_freedoms, k): loads within the body whose static deflections, with the interfaces held, are to be exact too,
        such as `Component.weight`.
    """
    part.check_free("component mode synthesis")
    numbers = as_numbers(part, interfaces)
    if not numbers:
        raise wrong("craig_bampton", "interfaces", "there are none; give at least one, or use `free_modes`")
    support, motions = _held(part, numbers)
    static = support.displacement(np.zeros((part.n_freedoms, motions.shape[1])), motions)
    squares, vibrations = _lowest("craig_bampton", part, support, n_modes, frequency_limit, len(motions))
    extra = support.displacement(_loads(part, loads))
    together = np.hstack([static, vibrations, extra])
    basis = independent(part, without_rigid_motion(part, together), _sizes(part, together))
    if not basis.shape[1]:
        raise wrong("craig_bampton", "n_modes", "leaves nothing to deform; ask for modes, or give more interfaces")
    shapes, frequencies = orthonormal_modes(part, basis)
    participation = _participation(part, squares, vibrations, part.positions[numbers[0]])
    return Modes(part, shapes, frequencies, "mean", numbers, "craig_bampton", participation)


def user_modes(part: Component, shapes: Any, interfaces: Sequence[Place] = ()) -> Modes:
    """A user's own shapes, as they are; `Modes.relative_to` ties them to a floating frame.

    Parameters
    ----------
    part
        The component.
    shapes
        (n_freedoms, m): one shape a column, independent of each other.
    interfaces
        Where joints will attach, if that is to be remembered.

    Notes
    -----
    Frequencies are those of the shapes taken alone, √(φᵀ K φ / φᵀ M φ) / 2π.
    """
    array = np.array(shapes, dtype=float)
    if array.ndim != 2 or array.shape[0] != part.n_freedoms or not array.shape[1]:
        raise wrong("user_modes", "shapes", f"has the shape {array.shape}; needed is ({part.n_freedoms}, m)")
    if not np.all(np.isfinite(array)):
        raise wrong("user_modes", "shapes", f"column {int(np.argwhere(~np.isfinite(array))[0, 1])} is not finite")
    products = array.T @ (part.mass_matrix @ array)
    sizes = np.sqrt(np.diag(products))
    if not np.all(sizes > 0.0):
        raise wrong("user_modes", "shapes", f"column {int(sizes.argmin())} moves no mass; leave it out")
    smallest = float(linalg.eigvalsh(products / np.outer(sizes, sizes))[0])
    if smallest < DEPENDENT:
        vector = linalg.eigh(products / np.outer(sizes, sizes))[1][:, 0]
        most = ", ".join(str(k) for k in np.sort(np.argsort(-abs(vector))[: max(2, int(np.sum(abs(vector) > 0.1)))]))
        raise wrong(
            "user_modes",
            "shapes",
            f"the columns {most} depend on each other: the smallest eigenvalue of their normalized products is "
            f"{smallest:.1g} and {DEPENDENT:.0g} is allowed; leave one out",
        )
    squares = np.maximum(np.einsum("ij,ij->j", array, part.stiffness_matrix @ array), 0.0) / sizes**2
    return Modes(part, array, np.sqrt(squares) / _HERTZ, None, as_numbers(part, interfaces))


def residual_modes(modes: Modes, loads: Any) -> Modes:
    """The modes with the static deflections under `loads` added, as far as they are not in their span.

    The component is held at the interfaces of the modes (or their reference node) while the loads act; without either
    it floats and inertia balances the loads. What is added is orthogonal to the modes and to each other with respect to
    the mass; deflections that are there already add nothing.

    Parameters
    ----------
    modes
        What is extended.
    loads
        (n_freedoms, k): one load a column; N, N m.
    """
    part = modes.component
    held = modes.interfaces or ((modes.reference,) if isinstance(modes.reference, int) else ())
    if held:
        conditions = sparse.csr_array(
            sparse.vstack([_boundary(part, number, full=len(held) == 1)[0] for number in held])
        )
        support: Support | Floating = Support(
            part.stiffness_matrix, conditions, f"the nodes {', '.join(map(str, held))} are held"
        )
    else:
        support = floating(part)
    deflections = support.displacement(_loads(part, loads))
    tied = modes.reference if modes.reference is not None else "mean"
    if isinstance(tied, int):
        turned = part.motion_at(tied) @ deflections
        deflections = deflections - part.rigid_modes(part.positions[tied]) @ turned
    else:
        deflections = without_rigid_motion(part, deflections)
    weighted = part.mass_matrix @ modes.shapes
    rest = deflections
    for _ in range(2):
        rest = rest - modes.shapes @ linalg.solve(modes.mass, weighted.T @ rest, assume_a="pos")
    basis = independent(part, rest, _sizes(part, deflections))
    if not basis.shape[1]:
        return modes
    added, frequencies = orthonormal_modes(part, basis)
    return Modes(
        part,
        np.hstack([modes.shapes, added]),
        np.concatenate([modes.frequencies, frequencies]),
        modes.reference,
        modes.interfaces,
        modes.method,
        modes.participation,
    )


def statics(modes: Modes) -> Callable[[np.ndarray], np.ndarray]:
    """The displacement for columns of loads, but for rigid motions, as far as some modes leave the component free.

    Where modes were made with interfaces held, what carries these stays as rigid as in the modes.
    """
    if modes.method == "craig_bampton":
        return _held(modes.component, modes.interfaces)[0].displacement
    return floating(modes.component).displacement


def _held(part: Component, numbers: Sequence[int]) -> tuple[Support, np.ndarray]:
    """The component held at its interfaces, and the values of what holds them for their unit motions, as columns."""
    boundaries = [_boundary(part, number, full=False) for number in numbers]
    conditions = sparse.csr_array(sparse.vstack([rows for rows, _ in boundaries]))
    support = Support(part.stiffness_matrix, conditions, f"the interfaces {', '.join(map(str, numbers))} are held")
    return support, linalg.block_diag(*(motion for _, motion in boundaries))


def _boundary(part: Component, number: int, full: bool) -> tuple[sparse.csr_array, np.ndarray]:
    """Conditions that hold a node or interface point, and their values for unit motions of it.

    `full`: a node of three freedoms is kept from turning too, by its neighbours.
    """
    if number >= len(part.nodes) and (point := part.interface_points[number - len(part.nodes)]).kind == "rigid":
        freedoms = point.freedoms(part.freedoms_per_node)
        rows = sparse.csr_array(
            (np.ones(len(freedoms)), (np.arange(len(freedoms)), freedoms)), shape=(len(freedoms), part.n_freedoms)
        )
        return rows, point.rigid(part.nodes, part.freedoms_per_node)
    motion = part.motion_at(number) if full or part.freedoms_per_node == 6 or number >= len(part.nodes) else None
    if motion is None:
        rows = sparse.csr_array((np.ones(3), (np.arange(3), 3 * number + np.arange(3))), shape=(3, part.n_freedoms))
        return rows, np.eye(3)
    return motion, np.eye(6)


def _lowest(
    method: str, part: Component, support: Support | Floating, n_modes: int | None, limit: float | None, held: int
) -> tuple[np.ndarray, np.ndarray]:
    """Squared frequencies and shapes, by number, by frequency or by both."""
    available = part.n_freedoms - held
    if n_modes is None and limit is None:
        raise wrong(method, "n_modes", "is missing; give it, or a frequency_limit")
    if limit is not None and not (np.isfinite(limit) and limit > 0.0):
        raise wrong(method, "frequency_limit", f"found {limit!r}; give a frequency above 0, Hz")
    if n_modes is not None and counted(method, "n_modes", n_modes, 0) > available:
        raise wrong(method, "n_modes", f"found {n_modes}; the held component has {available} freedoms, ask for no more")
    count = min(available, 16) if n_modes is None else int(n_modes)
    while True:
        squares, shapes = lowest_modes(part.mass_matrix, part.stiffness_matrix, support.displacement, count)
        if n_modes is not None and len(squares) < n_modes:
            raise wrong(method, "n_modes", f"found {n_modes}; only {len(squares)} modes move a mass, ask for no more")
        below = squares <= (np.inf if limit is None else (_HERTZ * limit) ** 2)
        if n_modes is not None or len(squares) < count or count == available or not below.all():
            return squares[below], shapes[:, below]
        count = min(2 * count, available)


def _participation(part: Component, squares: np.ndarray, shapes: np.ndarray, about: np.ndarray) -> Participation:
    rigid = part.rigid_modes(about)
    moved = part.mass_matrix @ rigid
    return Participation(
        np.sqrt(squares) / _HERTZ, (shapes.T @ moved) ** 2, np.einsum("ij,ij->j", rigid, moved), np.array(about)
    )


def _loads(part: Component, loads: Any) -> np.ndarray:
    if loads is None:
        return np.zeros((part.n_freedoms, 0))
    array = np.array(loads, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[0] != part.n_freedoms or not np.all(np.isfinite(array)):
        raise wrong(
            "Component", "loads", f"have the shape {array.shape}; needed are finite numbers, ({part.n_freedoms}, k)"
        )
    return array


def _sizes(part: Component, shapes: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->j", shapes, part.mass_matrix @ shapes))
