"""Beams in space as components: `beam` along a line, `frame` along the edges of any network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, Problem
from .beam_elements import BeamElements
from .component import Component
from .problems import counted, indices, points, positive, usable, wrong
from .sections import fibres_of

_NEARLY_PARALLEL = 1e-3


def beam(
    *,
    length: float,
    elements: int,
    area: float,
    second_moments: Sequence[float],
    torsion: float,
    young: float,
    shear: float,
    density: float,
    shear_factors: Sequence[float] | None = None,
    rotary_inertia: bool = False,
    fibres: Any = None,
) -> Component:
    """A straight beam along local x, with the first node at the origin; ``elements + 1`` nodes of six freedoms.

    E A u'' in tension, G J in torsion (polar inertia ρ (Iy + Iz)), E I in bending. Euler-Bernoulli without
    `shear_factors`: sections stay normal to the axis and do not resist tilting. Timoshenko with them. Consistent mass;
    static deflections under loads at nodes are exact, errors of frequencies fall with the fourth power of the elements'
    length, with shear with the second. Where weight, rotation or acceleration stiffen it (`geometric_stiffening`), the
    tension is constant in each element, and errors fall with the second power as well: 6, 12 and 24 elements give the
    critical weight of a standing column too high by 0.62 %, 0.16 % and 0.04 %.

    An Euler-Bernoulli beam has no diametral inertia of its sections, so it is no model of a shaft whose whirl splits by
    its own gyroscopic moments: of these it has only what the polar inertia of its twist gives when it spins. A flat
    blade of it lacks the moment by which rotation acts on its twist. Take ``rotary_inertia=True`` (Rayleigh's beam) or
    `shear_factors` for these.

    Parameters
    ----------
    length
        m.
    elements
        Number of equal elements.
    area
        Of the section, m².
    second_moments
        (Iy, Iz): second moments of area about local y and z, m⁴. Iy resists deflections along z.
    torsion
        Torsion constant J, m⁴; Iy + Iz for round sections, less for others.
    young, shear
        Moduli E and G, Pa.
    density
        kg/m³.
    shear_factors
        (κy, κz): κ A is the area that carries shear along y and z; 5/6 for rectangles, 0.9 for circles.
    rotary_inertia
        Whether sections resist tilting with ρ Iy and ρ Iz: Rayleigh's beam. Timoshenko's always does.
    fibres
        Where in the section stress is taken: points (y, z) in m, or (y, z, shear stress per torque in 1/m³); a number
        is the radius of a round section. `rectangle`, `circle` and `tube` give them with all else of the section.
    """
    positive("beam", length=length)
    count = counted("beam", "elements", elements, 1)
    nodes = np.zeros((count + 1, 3))
    nodes[:, 0] = np.linspace(0.0, float(length), count + 1)
    edges = np.column_stack([np.arange(count), np.arange(1, count + 1)])
    section = (area, second_moments, torsion, young, shear, density, shear_factors)
    return _component("beam", nodes, edges, (0.0, 1.0, 0.0), *section, rotary_inertia, fibres_of("beam", fibres, count))


def frame(
    nodes: Any,
    edges: Any,
    *,
    area: Any,
    second_moments: Any,
    torsion: Any,
    young: Any,
    shear: Any,
    density: Any,
    shear_factors: Any = None,
    rotary_inertia: Any = False,
    fibres: Any = None,
    y_axis: Any = None,
    subdivisions: int = 1,
) -> Component:
    """Beams along the edges of a network, rigidly connected where they share a node.

    Parameters
    ----------
    nodes
        (n, 3): positions, m.
    edges
        (k, 2): numbers of the nodes that a beam connects.
    area, second_moments, torsion, young, shear, density, shear_factors, rotary_inertia
        As for `beam`: one value for all edges, or a list with one for each.
    fibres
        As for `beam`, the same for all edges; or a list with a table of as many points for each, or with radii.
    y_axis
        A vector (or one for each edge) that says where local y of the section points; its part along the edge does not
        matter. None: global y, and global z for edges that are nearly parallel to it.
    subdivisions
        Elements per edge; the nodes within come after the given ones, edge by edge.
    """
    given = points("frame", "nodes", nodes)
    links = indices("frame", "edges", edges, len(given), 2)
    if not len(links):
        raise wrong("frame", "edges", "there are none; give at least one pair of node numbers")
    parts = counted("frame", "subdivisions", subdivisions, 1)
    unused = np.setdiff1d(np.arange(len(given)), links)
    if unused.size:
        raise wrong("frame", "nodes", f"node {unused[0]} is at the end of no edge; leave it out or connect it")
    within = np.linspace(0.0, 1.0, parts + 1)[1:-1]
    start, end = given[links[:, 0]], given[links[:, 1]]
    inner = (start[:, None] + within[:, None] * (end - start)[:, None]).reshape(-1, 3)
    numbers = np.empty((len(links), parts + 1), dtype=np.int64)
    numbers[:, 0], numbers[:, -1] = links.T
    numbers[:, 1:-1] = len(given) + np.arange(len(inner)).reshape(len(links), parts - 1)
    pairs = np.stack([numbers[:, :-1], numbers[:, 1:]], axis=2).reshape(-1, 2)

    def spread(field: str, value: Any, width: int | None = None) -> np.ndarray | None:
        """The value for each element, from one for all edges or one for each."""
        if value is None:
            return None
        array = _numbers("frame", field, value)
        single = () if width is None else (width,)
        if array.shape not in (single, (len(links), *single)):
            raise wrong(
                "frame",
                field,
                f"has the shape {array.shape}; give {'a number' if width is None else f'{width} numbers'}, or as much "
                f"for each of the {len(links)} edges",
            )
        return np.repeat(np.broadcast_to(array, (len(links), *single)), parts, axis=0)

    return _component(
        "frame",
        np.vstack([given, inner]),
        pairs,
        spread("y_axis", y_axis, 3),
        spread("area", area),
        spread("second_moments", second_moments, 2),
        spread("torsion", torsion),
        spread("young", young),
        spread("shear", shear),
        spread("density", density),
        spread("shear_factors", shear_factors, 2),
        spread("rotary_inertia", rotary_inertia),
        {name: np.repeat(array, parts, axis=0) for name, array in fibres_of("frame", fibres, len(links)).items()},
    )


def _numbers(element: str, field: str, value: Any) -> np.ndarray:
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise wrong(element, field, f"found {value!r}; give numbers") from None


def _component(
    element: str,
    nodes: np.ndarray,
    edges: np.ndarray,
    y_axis: Any,
    area: Any,
    second_moments: Any,
    torsion: Any,
    young: Any,
    shear: Any,
    density: Any,
    shear_factors: Any,
    rotary_inertia: Any,
    fibres: dict[str, np.ndarray],
) -> Component:
    """The component of beam elements between neighbouring nodes."""
    count = len(edges)
    problems: list[Problem] = []

    def each(field: str, value: Any, width: int | None = None) -> np.ndarray:
        array = _numbers(element, field, value)
        shape = (count,) if width is None else (count, width)
        if array.shape != shape and array.shape != shape[1:]:
            needed = "a number" if width is None else f"{width} numbers"
            problems.append(Problem(element, field, f"found {value!r}; give {needed}"))
            return np.ones(shape)
        if not np.all(usable(array) & (array > 0.0)):
            problems.append(Problem(element, field, f"found {array.min():.6g}; allowed are finite numbers above 0"))
        return np.array(np.broadcast_to(array, shape))

    sections = {
        "area": each("area", area),
        "torsion": each("torsion", torsion),
        "young": each("young", young),
        "shear": each("shear", shear),
        "density": each("density", density),
    }
    moments = each("second_moments", second_moments, 2)
    factors = np.full((count, 2), np.inf) if shear_factors is None else each("shear_factors", shear_factors, 2)
    rotary = _numbers(element, "rotary_inertia", rotary_inertia)
    if rotary.shape not in ((), (count,)) or not np.all((rotary == 0.0) | (rotary == 1.0)):
        problems.append(Problem(element, "rotary_inertia", f"found {rotary_inertia!r}; give True or False"))
    if "radius" in fibres and not np.allclose(moments[:, 0], moments[:, 1], rtol=1e-6):
        message = f"found a radius, but the second moments {moments[0].tolist()} are not those of a round section"
        problems.append(Problem(element, "fibres", f"{message}; give points (y, z)"))
    if problems:
        raise ModelError(problems)
    along = nodes[edges[:, 1]] - nodes[edges[:, 0]]
    lengths = np.linalg.norm(along, axis=1)
    if not np.all(lengths > 0.0):
        short = int(np.argmin(lengths))
        raise wrong(element, "edges", f"the nodes {edges[short].tolist()} are at the same place; beams need a length")
    structure = BeamElements(
        edges=np.array(edges),
        axes=_axes(element, along / lengths[:, None], y_axis),
        length=lengths,
        second_moment_y=np.array(moments[:, 0]),
        second_moment_z=np.array(moments[:, 1]),
        shear_area_y=factors[:, 0] * sections["area"],
        shear_area_z=factors[:, 1] * sections["area"],
        rotary=np.broadcast_to(rotary != 0.0, (count,)) | (shear_factors is not None),
        **sections,
        **fibres,
    )
    return Component.of_beams(nodes, structure)


def _axes(element: str, x: np.ndarray, y_axis: Any) -> np.ndarray:
    """(e, 3, 3): unit vectors along x, y and z of the elements as rows."""
    if y_axis is None:
        guide = np.where(abs(x[:, 1:2]) > 1.0 - _NEARLY_PARALLEL, [0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    else:
        guide = np.broadcast_to(_numbers(element, "y_axis", y_axis), x.shape)
    y = guide - np.einsum("ei,ei->e", guide, x)[:, None] * x
    size = np.linalg.norm(y, axis=1)
    bad = np.flatnonzero(~(size > 1e-9 * np.linalg.norm(guide, axis=1)))
    if bad.size:
        k = int(bad[0])
        raise wrong(element, "y_axis", f"{guide[k].tolist()} is zero or along element {k}; give another direction")
    y = y / size[:, None]
    return np.stack([x, y, np.cross(x, y)], axis=1)
