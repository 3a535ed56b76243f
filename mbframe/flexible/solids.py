"""Solid bodies from meshes of tetrahedra or hexahedra, by scikit-fem."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import MbframeError, ModelError, Problem
from .component import Component
from .mesh_files import read_mesh
from .problems import positive, wrong
from .solid_elements import SolidElements

_CELLS = {"tetra": 4, "tetra10": 10, "hexahedron": 8, "hexahedron27": 27}
_CELLS_AT_ONCE = 256


def solid(mesh: Any, *, young: float, poisson: float, density: float, order: int = 2, scale: float = 1.0) -> Component:
    """A homogeneous, isotropic, linearly elastic body; nodes of three freedoms, consistent mass.

    Parameters
    ----------
    mesh
        Path of a mesh file that meshio reads (Gmsh `.msh`, `.vtu`, `.vtk`, Abaqus `.inp`, Nastran `.bdf`, …), a pair
        (points, cells) of arrays with cells numbered as in VTK, a meshio or a scikit-fem mesh. Tetrahedra with 4 or 10
        nodes, hexahedra with 8 or 27. Surface cells in a file are left out.
    young
        Young's modulus, Pa.
    poisson
        Poisson's ratio, above -1 and below 0.5.
    density
        kg/m³.
    order
        Degree of the displacements in each element. 2 (default) adds nodes on edges (and within hexahedra); 1 uses the
        corners only and is far too stiff in bending unless the mesh is fine.
    scale
        Metres per unit of the mesh: 0.001 for millimetres.

    Notes
    -----
    The corners of the mesh are the first nodes, in its order; points that no cell uses are left out. Joints attach best
    to points that several nodes carry (`Component.with_interface`), such as those of a bore (`nodes_on_cylinder`).

    Geometric stiffening takes the strain of Green and Lagrange, ½ (∇u + ∇uᵀ + ∇uᵀ∇u), with the same moduli: Saint
    Venant and Kirchhoff's material. It is not known of cells with curved sides and order=1.
    """
    positive("solid", young=young, density=density, scale=scale)
    if isinstance(poisson, bool) or not isinstance(poisson, int | float) or not -1.0 < poisson < 0.5:
        raise wrong(
            "solid", "poisson", f"found {poisson!r}; allowed are numbers above -1 and below 0.5; metals have 0.3"
        )
    if order not in (1, 2):
        raise wrong("solid", "order", f"found {order!r}; allowed are 1 and 2")
    return _assemble(_mesh(mesh).scaled(scale), order, young, poisson, density)


def nodes_on_cylinder(
    part: Component,
    centre: Any,
    axis: Any,
    radius: float,
    length: float | None = None,
    tolerance: float | None = None,
) -> np.ndarray:
    """Numbers of the nodes on the surface of a cylinder, such as a bore.

    Parameters
    ----------
    part
        The component.
    centre, axis
        A point on the axis (the middle of the cylinder, if it has a length), m, and the direction of the axis.
    radius, length
        m; None for any length.
    tolerance
        How far nodes may be off, m; None for 2 % of the radius. Nodes within edges of straight-sided elements lie
        inside of a curved surface by 1 - cos(π/n) of its radius, where n edges go around it.
    """
    positive("nodes_on_cylinder", radius=radius)
    off = 0.02 * radius if tolerance is None else float(tolerance)
    direction = np.asarray(axis, dtype=float)
    direction = direction / np.linalg.norm(direction)
    relative = part.nodes - np.asarray(centre, dtype=float)
    along = relative @ direction
    distance = np.linalg.norm(relative - np.outer(along, direction), axis=1)
    inside = np.ones(len(along), dtype=bool) if length is None else abs(along) <= 0.5 * length + off
    found = np.flatnonzero((abs(distance - radius) <= off) & inside)
    if not found.size:
        gap = float(abs(distance - radius)[inside].min()) if inside.any() else float("inf")
        raise wrong(
            "nodes_on_cylinder",
            "radius",
            f"no node is at {radius:.6g} m from the axis: the nearest is {gap:.3g} m off and {off:.3g} m are allowed",
        )
    return found


def _modules() -> tuple[Any, Any]:
    try:
        import meshio
        import skfem
        import skfem.io.meshio
    except ImportError as error:
        raise MbframeError(f"solids need scikit-fem and meshio: pip install 'mbframe[flexible]' ({error})") from error
    return skfem, meshio


def _mesh(source: Any) -> Any:
    """A scikit-fem mesh of tetrahedra or hexahedra."""
    skfem, meshio = _modules()
    if isinstance(source, skfem.Mesh):
        mesh = source
    else:
        if isinstance(source, str | os.PathLike):
            source = read_mesh(Path(source), meshio)
        elif not isinstance(source, meshio.Mesh):
            source = _from_arrays(source, meshio)
        mesh = _volume(source, skfem, meshio)
    if not isinstance(mesh, skfem.MeshTet1 | skfem.MeshHex1):
        raise wrong("solid", "mesh", f"is a {type(mesh).__name__}; needed are tetrahedra or hexahedra")
    if len(unused := np.setdiff1d(np.arange(mesh.nvertices), mesh.t)):
        raise wrong(
            "solid", "mesh", f"{len(unused)} points belong to no cell, the first is {unused[0]}; leave them out"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        volumes = abs(mesh.mapping().detDF(np.full((3, 1), 0.25))).min(axis=1)
    if not volumes.min() > 1e-12 * volumes.max():
        raise wrong("solid", "mesh", f"cell {int(volumes.argmin())} has no volume; repair the mesh")
    return mesh


def _from_arrays(source: Any, meshio: Any) -> Any:
    try:
        points, cells = (np.asarray(part) for part in source)
        points = points.astype(float)
    except (TypeError, ValueError):
        raise wrong("solid", "mesh", "give a path, a pair of arrays (points, cells), or a mesh") from None
    kinds = {count: kind for kind, count in _CELLS.items()}
    if cells.ndim != 2 or cells.shape[1] not in kinds or points.ndim != 2 or points.shape[1] != 3 or not cells.size:
        raise wrong(
            "solid",
            "mesh",
            f"has points of the shape {points.shape} and cells of the shape {cells.shape}; needed are (n, 3) and "
            "(k, 4), (k, 10), (k, 8) or (k, 27)",
        )
    if not np.issubdtype(cells.dtype, np.integer) or cells.min() < 0 or cells.max() >= len(points):
        raise wrong("solid", "mesh", f"cells must hold whole numbers from 0 to {len(points) - 1}")
    return meshio.Mesh(points, [(kinds[cells.shape[1]], cells)])


def _volume(source: Any, skfem: Any, meshio: Any) -> Any:
    """The volume cells of a meshio mesh."""
    blocks: dict[str, list[np.ndarray]] = {}
    for block in source.cells:
        blocks.setdefault(block.type, []).append(block.data)
    usable = [kind for kind in blocks if kind in _CELLS]
    if len(usable) != 1:
        found = ", ".join(f"{sum(map(len, data))} {kind}" for kind, data in blocks.items()) or "no cells"
        raise wrong("solid", "mesh", f"has {found}; needed is one kind of {', '.join(_CELLS)}")
    kind = usable[0]
    points = np.asarray(source.points, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3 or not np.all(np.isfinite(points)):
        raise ModelError([Problem("solid", "mesh", "has points that are not three finite coordinates")])
    if any(block.ndim != 2 or block.shape[1] != _CELLS[kind] for block in map(np.asarray, blocks[kind])):
        raise wrong(
            "solid", "mesh", f"has cells of the kind {kind} without their {_CELLS[kind]} points; check the file"
        )
    numbers = np.concatenate(blocks[kind])
    whole = np.issubdtype(numbers.dtype, np.integer) and numbers.size
    if not whole or numbers.min() < 0 or numbers.max() >= len(points):
        raise wrong("solid", "mesh", f"has cells with points that are not among its {len(points)}; check the file")
    used, cells = np.unique(numbers, return_inverse=True)
    cells = cells.reshape(-1, _CELLS[kind])
    return skfem.io.meshio.from_meshio(meshio.Mesh(points[used], [(kind, cells)]))


def _assemble(mesh: Any, order: int, young: float, poisson: float, density: float) -> Component:
    """Gradients and weights at integration points are scikit-fem's; products are formed for many cells at once."""
    skfem, _ = _modules()
    hexahedra = isinstance(mesh, skfem.MeshHex1)
    element = {
        (False, 1): skfem.ElementTetP1,
        (False, 2): skfem.ElementTetP2,
        (True, 1): skfem.ElementHex1,
        (True, 2): skfem.ElementHex2,
    }[hexahedra, order]()
    basis = skfem.Basis(mesh, element, intorder=2 * order + 2 * hexahedra)
    lame = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    shear = young / (2.0 * (1.0 + poisson))
    values = np.stack([np.broadcast_to(np.asarray(field[0]), basis.dx.shape) for field in basis.basis])
    gradients = np.stack([np.broadcast_to(field[0].grad, (3, *basis.dx.shape)) for field in basis.basis])
    stiffness, mass = [], []
    for cells in np.array_split(np.arange(mesh.nelements), -(-mesh.nelements // _CELLS_AT_ONCE)):
        weights = basis.dx[cells]
        shapes = values[:, cells]
        mass.append(density * np.einsum("icq,jcq,cq->cij", shapes, shapes, weights, optimize=True))
        slopes = gradients[:, :, cells].transpose(2, 3, 0, 1)  # cells, points, nodes, directions
        flat = slopes.reshape(*weights.shape, -1)
        products = flat.transpose(0, 2, 1) @ (flat * weights[:, :, None])
        count = slopes.shape[2]
        products = products.reshape(-1, count, 3, count, 3)  # ∫ dN_i/dx_a dN_j/dx_b
        block = lame * products + shear * products.transpose(0, 1, 4, 3, 2)
        block += shear * np.einsum("cimjm->cij", products)[:, :, None, :, None] * np.eye(3)[:, None, :]
        stiffness.append(block.reshape(-1, 3 * count, 3 * count))
    nodes = basis.element_dofs.T
    freedoms = (3 * nodes[:, :, None] + np.arange(3)).reshape(len(nodes), -1)
    return Component(
        basis.doflocs.T,
        sparse.kron(_sum(np.concatenate(mass), nodes, basis.N), sparse.eye_array(3), format="csr"),
        _sum(np.concatenate(stiffness), freedoms, 3 * basis.N),
        triangles=_surface(mesh),
        solids=_elements(basis, order, young, poisson),
    )


def _elements(basis: Any, order: int, young: float, poisson: float) -> SolidElements | None:
    """The cells with their nodes; None where curved sides are known to the mesh and not to its nodes of order 1."""
    skfem, _ = _modules()
    if order == 1 and isinstance(basis.mesh, skfem.MeshTet2 | skfem.MeshHex2):
        return None
    cells = np.array(basis.element_dofs.T, dtype=np.int64)
    return SolidElements(cells, np.array(basis.elem.doflocs, dtype=float), float(young), float(poisson))


def _sum(blocks: np.ndarray, numbers: np.ndarray, size: int) -> sparse.csr_array:
    """The matrix of `size` rows to which the blocks of all cells add up."""
    width = numbers.shape[1]
    rows, columns = np.repeat(numbers, width, axis=1), np.tile(numbers, (1, width))
    return sparse.coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size)).tocsr()


def _surface(mesh: Any) -> np.ndarray:
    """(k, 3): triangles between corners on the boundary, seen counterclockwise from outside."""
    numbers = mesh.boundary_facets()
    faces = mesh.facets[:, numbers].T
    inner = mesh.p[:, mesh.t[:, mesh.f2t[0, numbers]]].mean(axis=1).T
    if faces.shape[1] == 4:
        triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
        inner = np.concatenate([inner, inner])
    else:
        triangles = faces
    a, b, c = (mesh.p.T[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - inner) < 0.0
    return np.where(inward[:, None], triangles[:, [0, 2, 1]], triangles)
