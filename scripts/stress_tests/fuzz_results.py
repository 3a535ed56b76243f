"""Result files that are sound HDF5 but not what they should be: links, filters, types, shapes, attributes, numbers."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np

ELSEWHERE = ("/etc/hostname", "/dev/zero", "other.h5", "../other.h5", "/nowhere")
SHAPES: tuple[tuple[int, ...], ...] = (
    *((), (0,), (1,), (3,), (11,), (0, 5), (5, 0), (11, 3), (2, 2, 2), (1,) * 20),
    *((10**9,), (2**40,), (10**6, 10**6), (1, 10**9)),
)
TYPES: tuple[Any, ...] = (
    *("f2", "f4", ">f8", "i1", "u8", "i8", "c16", "S5", "S1", "V7", "?"),
    *(h5py.string_dtype(), h5py.vlen_dtype(float), h5py.ref_dtype, h5py.regionref_dtype, h5py.enum_dtype({"a": 1})),
    np.dtype([("a", float), ("b", "S3")]),
    np.dtype({"names": ["a", "b"], "formats": ["f8", "f4"], "offsets": [0, 4], "itemsize": 8}),
    np.dtype((float, (3,))),
)
MOST_NUMBERS = 10**6  # of an array that is changed: others only claim theirs, and would fill the memory
NUMBERS = (np.nan, np.inf, -1.0, 0.0, 1e308, 5e-324, 2.0**62, -(2.0**62))


def damaged_result(whole: bytes, rng: random.Random) -> bytes:
    """A whole result with one to three harms done to it; and, sometimes, a few bytes of another file before it."""
    content = io.BytesIO(whole)
    with h5py.File(content, "r+", libver="v110") as file:
        for _ in range(rng.choice((1, 1, 2, 3))):
            harm = rng.choice(HARMS)
            try:
                harm(file, rng)
            except Exception:
                continue  # what h5py itself does not make
    return bytes(512) * rng.randrange(1, 3) + content.getvalue() if rng.random() < 0.03 else content.getvalue()


def places(file: h5py.File) -> list[str]:
    """The names of all that is in a file."""
    found: list[str] = []
    file.visit(found.append)
    return sorted(found)


def arrays(file: h5py.File, kinds: str) -> list[str]:
    """The names of arrays of some kinds of numbers, or of texts, that are there and not only claimed."""
    found = [(name, file[name]) for name in places(file)]
    return [
        name
        for name, one in found
        if isinstance(one, h5py.Dataset) and one.dtype.kind in kinds and (one.size or 0) <= MOST_NUMBERS
    ]


def linked(file: h5py.File, rng: random.Random) -> None:
    """Something is only a link, or is there twice."""
    name, other = rng.choice(places(file)), rng.choice(places(file))
    links: list[Callable[[], Any]] = [
        lambda: h5py.SoftLink(f"/{other}"),
        lambda: h5py.SoftLink(f"/{name}"),
        lambda: h5py.ExternalLink(rng.choice(ELSEWHERE), "/"),
        lambda: file[rng.choice(["/", other])],
    ]
    link = rng.choice(links)()
    del file[name]
    file[name] = link


def elsewhere(file: h5py.File, rng: random.Random) -> None:
    """An array has its numbers in another file."""
    name, shape = rng.choice(places(file)), rng.choice(SHAPES[:10])
    del file[name]
    if rng.random() < 0.5:
        size = 8 * int(np.prod(shape, dtype=float))
        file.create_dataset(name, shape, float, external=[(rng.choice(ELSEWHERE), 0, max(size, 8))])
    else:
        layout = h5py.VirtualLayout(shape=(11,), dtype=float)
        layout[:] = h5py.VirtualSource(rng.choice((".", *ELSEWHERE)), "t", shape=(11,))
        file.create_virtual_dataset(name, layout)


def other_array(file: h5py.File, rng: random.Random) -> None:
    """An array has another type, shape, order of storage or packing."""
    name, shape, kind = rng.choice(places(file)), rng.choice(SHAPES), rng.choice(TYPES)
    old = file[name]
    if rng.random() < 0.5 and isinstance(old, h5py.Dataset):
        shape = old.shape if rng.random() < 0.5 else old.shape[::-1]
    kind = old.dtype if rng.random() < 0.4 and isinstance(old, h5py.Dataset) else kind
    attributes = dict(old.attrs)
    more: dict[str, Any] = rng.choice(
        (
            *({}, {"chunks": True}, {"compression": "gzip", "shuffle": True}, {"compression": "lzf"}),
            *({"scaleoffset": 3}, {"fletcher32": True}, {"maxshape": (None,) * len(shape)}),
            {"chunks": tuple(max(1, min(n, 10**7)) for n in shape), "compression": 9},
            {"fillvalue": 7, "chunks": tuple(min(max(n, 1), 1000) for n in shape)},
        )
    )
    del file[name]
    file.create_dataset(name, shape, kind, **more).attrs.update(attributes)


def grown(file: h5py.File, rng: random.Random) -> None:
    """An array claims more or fewer rows than it has."""
    name = rng.choice(places(file))
    file[name].resize(rng.choice((0, 1, 5, 10**6, 10**9, 2**40)), axis=0)


def attribute(file: h5py.File, rng: random.Random) -> None:
    """An attribute is missing, of another kind, or large."""
    holder = file[rng.choice(["/", *places(file)])]
    names = [*holder.attrs, "new"]
    name = rng.choice(names)
    if name in holder.attrs and rng.random() < 0.3:
        del holder.attrs[name]
        return
    values: list[Any] = [
        *("", "x" * 60_000, "\x00", 0, -1, 2**62, np.nan, np.zeros(0), np.zeros((3, 3)), h5py.Empty("f8")),
        *(np.zeros(100_000), "é\x1b", file.ref, np.array([b"a", b"b"]), True, [["a"]], b"\xff\xfe"),
    ]
    holder.attrs[name] = rng.choice(values)


def numbers(file: h5py.File, rng: random.Random) -> None:
    """An array has numbers that mean nothing."""
    dataset = file[rng.choice(arrays(file, "fiu"))]
    values = dataset[...]
    with np.errstate(all="ignore"):
        values.flat[rng.randrange(max(1, values.size))] = np.array(rng.choice(NUMBERS)).astype(values.dtype)
    dataset[...] = values


def texts(file: h5py.File, rng: random.Random) -> None:
    """The model, or another text, has other characters."""
    name = rng.choice(arrays(file, "OS"))
    value = file[name][()]
    if isinstance(value, bytes) and len(value) > 2:
        at = rng.randrange(len(value))
        junk = rng.choice((b"", b"1e400", b'"', b"\xff", b"[[[[", b"-1", b"NaN", b"null"))
        value = value[:at] + junk + value[at + rng.randrange(1, 9) :]
    attributes = dict(file[name].attrs)
    del file[name]
    file[name] = value
    file[name].attrs.update(attributes)


def logged(file: h5py.File, rng: random.Random) -> None:
    """The log says something of another kind."""
    entries = [json.loads(line) for line in bytes(file["log"][:]).splitlines()]
    told: Any = rng.choice(entries)
    while isinstance(told, dict) and told:
        holder, key = told, rng.choice(list(told))
        told = holder[key] if rng.random() < 0.8 else None
    holder[key] = rng.choice((None, True, -1, 10**400, 1e308, np.nan, "", "\ud800", [], {}, [[]], [1, "a"], {"a": {}}))
    del file["log"]
    file["log"] = np.frombuffer("\n".join(map(json.dumps, entries)).encode(), np.uint8)


def arranged(file: h5py.File, rng: random.Random) -> None:
    """Something is missing, moved, deep below, or one of very many."""
    name = rng.choice(places(file))
    action = rng.randrange(4)
    if action == 0:
        del file[name]
    elif action == 1:
        file.move(name, rng.choice(["else", f"{name}.2", "a/b/c/d/e"]))
    elif action == 2:
        file.create_group("/".join(["deep"] * rng.choice((2, 30, 300))))
    else:
        group = file.require_group("many")
        for k in range(300):
            group[str(k)] = k


HARMS: tuple[Callable[[h5py.File, random.Random], None], ...] = (
    *(linked, elsewhere, other_array, other_array, grown, attribute, numbers, texts, logged, arranged),
)
