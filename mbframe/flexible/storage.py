"""Components and modes as plain values (for JSON) and as `.npz` files, and matrices from other programs.

Both forms have the same tree: dictionaries of arrays, numbers and words. Beams are written as sections, from which
their matrices follow; of other components the lower triangles of the matrices are written, and the cells of solids.
"""

from __future__ import annotations

import bz2
import gzip
import io
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..disk.atomic import FilePath, replacing
from ..disk.inputs import contents
from ..errors import ModelError
from ..limits import allowed, check_memory, within_time
from ..packed import is_packed, unpacked
from .beam_elements import BeamElements
from .problems import usable, wrong
from .sections import fibres_of
from .solid_elements import SolidElements

Tree = dict[str, Any]

_PER_ELEMENT = ("area", "second_moment_y", "second_moment_z", "torsion", "young", "shear", "density")
_SHEAR_AREAS = ("shear_area_y", "shear_area_z")
DEPTH = 8  # of keys in each other, of which modes with their component need four


# ---- plain values


def plain(tree: Any) -> Any:
    """The tree with lists instead of arrays, as JSON has it."""
    if isinstance(tree, Mapping):
        return {key: plain(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [plain(value) for value in tree]
    return tree.tolist() if isinstance(tree, np.ndarray | np.generic) else tree


def fields_of(element: str, tree: Any, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> Tree:
    """The tree as a dictionary that has the needed fields and no unknown ones."""
    if not isinstance(tree, Mapping):
        raise wrong(element, "", f"found {type(tree).__name__}; needed is an object with {', '.join(needed)}")
    missing = [name for name in needed if name not in tree]
    unknown = [name for name in tree if name not in (*needed, *optional)]
    if missing or unknown:
        found = [f"missing {', '.join(missing)}"] * bool(missing) + [f"unknown {', '.join(map(str, unknown))}"] * bool(
            unknown
        )
        raise wrong(element, "", f"{'; '.join(found)}; needed are {', '.join(needed)}")
    return dict(tree)


def opened(element: str, field: str, value: Any) -> Any:
    """The array of a packed one; anything else as it is."""
    try:
        return unpacked(value) if is_packed(value) else value
    except ValueError as error:
        raise wrong(element, field, str(error)) from None


def array_of(element: str, field: str, value: Any, kind: type = float) -> np.ndarray:
    """The value as an array of numbers."""
    value = opened(element, field, value)
    try:
        array = np.array(value)
        if kind is int and array.size and not np.issubdtype(array.dtype, np.integer):
            raise ValueError
        array = array.astype(kind)
    except (TypeError, ValueError, OverflowError):
        raise wrong(element, field, "found something other than a regular array of numbers; check the file") from None
    if not np.all(usable(array)):
        raise wrong(element, field, "has numbers that are not finite; check the file")
    return array


def matrix_tree(matrix: sparse.csr_array) -> Tree:
    """The lower triangle of a symmetric matrix."""
    lower = sparse.coo_array(sparse.tril(matrix))
    return {"rows": lower.row.astype(np.int64), "columns": lower.col.astype(np.int64), "values": lower.data}


def matrix_from(field: str, tree: Any, size: int) -> Any:
    """The symmetric matrix of `size` rows whose lower triangle is given; a dense one as it is."""
    if not isinstance(tree, Mapping) or is_packed(tree):
        return array_of("Component", field, tree)
    values = fields_of("Component", tree, ("rows", "columns", "values"))
    rows, columns = (array_of("Component", field, values[key], int) for key in ("rows", "columns"))
    data = array_of("Component", field, values["values"])
    if not rows.shape == columns.shape == data.shape or rows.ndim != 1:
        raise wrong(
            "Component", field, f"has {rows.size} rows, {columns.size} columns and {data.size} values; give as many"
        )
    if rows.size and (min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= size):
        raise wrong("Component", field, f"has entries outside of its {size} rows and columns")
    lower = sparse.coo_array((data, (rows, columns)), shape=(size, size))
    return sparse.csr_array(lower + sparse.tril(lower, -1).T)


def beams_tree(beams: BeamElements) -> Tree:
    """Edges, axes and sections; what is the same in all elements is written once."""
    names = _PER_ELEMENT + _SHEAR_AREAS if np.all(np.isfinite(beams.shear_area_y)) else _PER_ELEMENT
    tree: Tree = {"edges": beams.edges}
    for name in ("axes", *names):
        array = getattr(beams, name)
        tree[name] = array[0] if np.all(array == array[0]) else array
    if np.any(beams.rotary & ~np.isfinite(beams.shear_area_y)):
        tree["rotary"] = beams.rotary[0] if np.all(beams.rotary == beams.rotary[0]) else beams.rotary
    for name in ("fibres", "radius"):
        if (array := getattr(beams, name)).size:
            # what is not a number in memory, a shear that is not known, is left out in files
            array = array[..., :2] if np.isnan(array).any() else array
            tree[name] = array[0] if np.all(array == array[0]) else array
    return tree


def beams_from(tree: Any, nodes: np.ndarray) -> BeamElements:
    """The elements between `nodes`."""
    values = fields_of(
        "Component.beams", tree, ("edges", "axes", *_PER_ELEMENT), (*_SHEAR_AREAS, "rotary", "fibres", "radius")
    )
    edges = array_of("Component.beams", "edges", values["edges"], int)
    if edges.ndim != 2 or edges.shape[1] != 2 or not edges.size or edges.min() < 0 or edges.max() >= len(nodes):
        raise wrong("Component.beams", "edges", f"needed are pairs of node numbers from 0 to {len(nodes) - 1}")
    arrays = {}
    for name in ("axes", *_PER_ELEMENT, *_SHEAR_AREAS):
        array = array_of("Component.beams", name, values[name]) if name in values else np.array(np.inf)
        shape = (len(edges), 3, 3) if name == "axes" else (len(edges),)
        if array.shape not in (shape, shape[1:]):
            raise wrong("Component.beams", name, f"has the shape {array.shape}; needed is {shape} or {shape[1:]}")
        arrays[name] = np.array(np.broadcast_to(array, shape))
        if name != "axes" and not np.all(arrays[name] > 0.0):
            raise wrong("Component.beams", name, "allowed are numbers above 0")
    length = np.linalg.norm(nodes[edges[:, 1]] - nodes[edges[:, 0]], axis=1)
    if not np.all(length > 0.0):
        raise wrong("Component.beams", "edges", f"element {int(length.argmin())} has no length")
    products = arrays["axes"] @ arrays["axes"].transpose(0, 2, 1)
    along = np.einsum("ei,e,ei->e", arrays["axes"][:, 0], 1.0 / length, nodes[edges[:, 1]] - nodes[edges[:, 0]])
    if not (np.allclose(products, np.eye(3), atol=1e-9) and np.allclose(along, 1.0, atol=1e-9)):
        raise wrong("Component.beams", "axes", "must be unit vectors at right angles, the first along the element")
    rotary = array_of("Component.beams", "rotary", values.get("rotary", False))
    if rotary.shape not in ((), (len(edges),)) or not np.all((rotary == 0.0) | (rotary == 1.0)):
        raise wrong("Component.beams", "rotary", f"needed is true or false, or one for each of {len(edges)} elements")
    rotary = (rotary != 0.0) | np.isfinite(arrays["shear_area_y"])
    given = {name: array_of("Component.beams", name, values[name]) for name in ("fibres", "radius") if name in values}
    fibres = fibres_of("Component.beams", given.get("fibres", given.get("radius")), len(edges))
    return BeamElements(edges=edges, length=length, rotary=rotary, **arrays, **fibres)


def solids_tree(solids: SolidElements) -> Tree:
    """Cells and material."""
    return {name: getattr(solids, name) for name in ("cells", "places", "young", "poisson")}


def solids_from(tree: Any, nodes: np.ndarray, per_node: int) -> SolidElements:
    """The cells between `nodes`, which have three freedoms."""
    element = "Component.solids"
    values = fields_of(element, tree, ("cells", "places", "young", "poisson"))
    if per_node != 3:
        raise wrong(element, "cells", f"need nodes of 3 freedoms, and these have {per_node}; check the file")
    cells = array_of(element, "cells", values["cells"], int)
    places, young, poisson = (array_of(element, name, values[name]) for name in ("places", "young", "poisson"))
    if cells.ndim != 2 or places.ndim != 2 or young.ndim or poisson.ndim:
        raise wrong(element, "cells", "needed are tables of cells and places, and one number for each modulus")
    solids = SolidElements(cells, places, float(young), float(poisson))
    solids.check(nodes)
    return solids


# ---- files


def write_npz(path: FilePath, tree: Tree) -> None:
    """Write the tree; keys of inner dictionaries follow those of outer ones after a slash."""
    target = Path(path)
    if target.suffix != ".npz":
        raise wrong(f"file {str(path)!r}", "", "has another suffix than .npz; choose a name that ends so")
    with replacing(target) as temporary:
        np.savez_compressed(temporary, allow_pickle=False, **_flat(tree))


def read_npz(path: FilePath) -> Tree:
    """Read a tree; nothing in the file is executed."""
    source = f"file {str(path)!r}"
    content = contents(path, int(allowed().memory))

    def read() -> Tree:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _nested(_members(source, archive))

    try:
        return within_time(source, read)
    except ModelError:
        raise
    except Exception as error:
        raise wrong(source, "", f"cannot be read as .npz: {error}; check where it comes from") from error


def _nested(flat: Tree) -> Tree:
    """The tree of which `flat` has the keys joined by slashes."""
    tree: Tree = {}
    for key, array in flat.items():
        *outer, last = key.split("/")
        if len(outer) > DEPTH:
            raise ValueError(f"the key {key[:40]!r} has {len(outer):,} others above it; allowed are {DEPTH}")
        inner = tree
        for name in outer:
            inner = inner.setdefault(name, {})
            if not isinstance(inner, dict):
                raise ValueError(f"{key!r} is below something that is an array")
        inner[last] = array.item() if array.ndim == 0 else array
    return dict(_with_lists(tree))


def _members(source: str, archive: zipfile.ZipFile) -> Tree:
    """The arrays of an archive, of which each has the bytes that it says it has, and all together fit."""
    entries = archive.infolist()
    check_memory(source, sum(2 * entry.file_size for entry in entries))
    return {entry.filename.removesuffix(".npy"): _array(archive, entry) for entry in entries}


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(entry) as member:
        content = member.read(entry.file_size + 1)
    return array_in(content)


def array_in(content: bytes) -> np.ndarray:
    """The array of a `.npy` file; a `ValueError` if it claims other numbers than it has."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ValueError(f"an array claims the shape {shape} and has {len(content) - file.tell():,} bytes")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def _flat(tree: Tree, before: str = "") -> dict[str, np.ndarray]:
    """One dictionary of arrays; members of lists are numbered."""
    flat: dict[str, np.ndarray] = {}
    for key, value in tree.items():
        if isinstance(value, list):
            value = {str(k): member for k, member in enumerate(value)}
        if isinstance(value, Mapping):
            flat |= _flat(dict(value), f"{before}{key}/")
        else:
            flat[before + key] = np.asarray(value)
    return flat


def _with_lists(tree: Any) -> Any:
    """Dictionaries whose keys count from 0 are lists again."""
    if not isinstance(tree, dict):
        return tree
    inner = {key: _with_lists(value) for key, value in tree.items()}
    numbered = [inner.get(str(k)) for k in range(len(inner))]
    return numbered if inner and all(member is not None for member in numbered) else inner


def read_matrix(field: str, source: Any) -> Any:
    """A matrix from Matrix Market (`.mtx`, `.mtx.gz`), SciPy's sparse `.npz` or NumPy's `.npy`; others as given."""
    if not isinstance(source, str | os.PathLike):
        return source
    name = str(source)
    if not name.endswith((".mtx", ".mtx.gz", ".mtx.bz2", ".npz", ".npy")):
        raise wrong(f"file {name!r}", field, "has an unknown suffix; known are .mtx, .mtx.gz, .npz and .npy")
    content = contents(name, int(allowed().memory) // 2)

    def read() -> Any:
        if name.endswith(".npz"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                _members(f"file {name!r}", archive)  # each has what it claims
            return _checked_sparse(sparse.load_npz(io.BytesIO(content)))
        if name.endswith(".npy"):
            return array_in(content)
        return _market(_unpacked(name, content))

    try:
        return within_time(f"file {name!r}", read)
    except ModelError:
        raise
    except Exception as error:
        raise wrong(f"file {name!r}", field, f"cannot be read: {error}; check where it comes from") from error


def _checked_sparse(matrix: Any) -> Any:
    """A matrix whose indices lie in it, which SciPy looks at only when it is asked to; its compiled code never does."""
    check_memory("it", 16 * sum(matrix.shape))
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
    return matrix


def _unpacked(name: str, content: bytes) -> bytes:
    """The bytes of a packed file, as far as they are allowed."""
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(Path(name).suffix)
    if opener is None:
        return content
    limit = int(allowed().memory) // 2
    with opener(io.BytesIO(content)) as file:
        found: bytes = file.read(limit + 1)
    if len(found) > limit:
        raise ValueError(f"it unpacks to more than the {limit:,} bytes that are allowed")
    return found


def _market(content: bytes) -> Any:
    """The matrix of a Matrix Market file; a `ValueError` if it has other numbers than it claims.

    SciPy's reader believes what a file claims, and a damaged one ends the process.
    """
    text = io.BytesIO(content)
    header = text.readline(1000).lower().split()
    if len(header) != 5 or header[:2] != [b"%%matrixmarket", b"matrix"]:
        raise ValueError("it does not begin as a matrix of Matrix Market does")
    form, kind, symmetry = (word.decode(errors="replace") for word in header[2:])
    signs = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}
    if (
        form not in ("coordinate", "array")
        or kind not in ("real", "double", "integer", "pattern")
        or symmetry not in signs
    ):
        raise ValueError(f"it is a matrix of the kind {form} {kind} {symmetry}; needed are real numbers")
    line = text.readline()
    while line and (not line.strip() or line.startswith(b"%")):
        line = text.readline()
    sizes = [int(word) for word in line.split()]
    if len(sizes) != 2 + (form == "coordinate") or min(sizes) < 0:
        raise ValueError(f"its sizes are {sizes}")
    rows, columns = sizes[:2]
    if symmetry != "general" and rows != columns:
        raise ValueError(f"it is {symmetry} and has {rows} rows and {columns} columns")
    width = 2 + (kind != "pattern") if form == "coordinate" else 1
    whole = {"general": rows * columns, "symmetric": rows * (rows + 1) // 2, "skew-symmetric": rows * (rows - 1) // 2}
    count = sizes[2] if form == "coordinate" else whole[symmetry]
    if 2 * width * count > len(content):  # a digit and a space for each
        raise ValueError(f"it claims {count:,} numbers in {len(content):,} bytes")
    check_memory("it", 16 * (rows + columns) + 60 * count)
    table = np.loadtxt(text, comments="%", ndmin=2) if count else np.zeros((0, width))
    if table.shape != (count, width):
        raise ValueError(f"it claims {count:,} rows of {width} numbers and has {len(table):,} of {table.shape[1]}")
    if form == "array":
        places = np.ones((rows, columns), bool) if symmetry == "general" else np.tri(rows, k=-(symmetry[1] == "k"))
        column, row = np.nonzero(places.T)  # column by column
        values = table[:, 0]
    else:
        row, column = (table[:, :2].T - 1).astype(np.int64)
        values = table[:, 2] if width == 3 else np.ones(count)
        if count and (np.any(table[:, :2] < 1) or np.any(table[:, :2] > [rows, columns])):
            raise ValueError(f"it has entries outside of its {rows} rows and {columns} columns")
    matrix = sparse.coo_array((values, (row, column)), shape=(rows, columns))
    if signs[symmetry]:
        below = row != column
        matrix = matrix + signs[symmetry] * sparse.coo_array(
            (values[below], (column[below], row[below])), shape=(rows, columns)
        )
    return matrix.tocsr() if form == "coordinate" else matrix.toarray()


def read_nodes(source: Any) -> Any:
    """Positions of nodes from a `.npy` file or from text with x, y, z in each row; others as given."""
    if not isinstance(source, str | os.PathLike):
        return source
    name = str(source)
    content = contents(name, int(allowed().memory) // 10)

    def read() -> np.ndarray:
        if name.endswith(".npy"):
            return array_in(content)
        return np.loadtxt(io.BytesIO(content), delimiter="," if name.endswith(".csv") else None, ndmin=2)

    try:
        return within_time(f"file {name!r}", read)
    except ModelError:
        raise
    except Exception as error:
        raise wrong(f"file {name!r}", "nodes", f"cannot be read: {error}; needed are rows of x, y, z (m)") from error
