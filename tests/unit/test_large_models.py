"""Models with many numbers: whatever is written is read back, and limits hold before work is done."""

from __future__ import annotations

import contextlib
import gc
import json
import math
from pathlib import Path

import h5py
import numpy as np
import pytest

import mbframe as mb
from mbframe import expressions
from mbframe.files.json_text import dumps, parse, parsed_bytes
from mbframe.files.model import document
from mbframe.files.schema import schema
from mbframe.packed import PACKED_FROM, packed, unpacked


@pytest.fixture(scope="module")
def solid() -> mb.System:
    """A swinging block of 2,176 nodes."""
    pytest.importorskip("skfem")
    counts = (33, 7, 7)
    grid = np.indices([n + 1 for n in counts]).reshape(3, -1).T
    points = grid * np.array([1.0 / 33, 0.1 / 7, 0.1 / 7])
    corner = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
    numbers = np.arange(len(grid)).reshape([n + 1 for n in counts])
    cells = np.array([numbers[tuple((np.array(cell) + corner).T)] for cell in np.ndindex(*counts)])
    part = mb.flexible.solid((points, cells), young=2e9, poisson=0.3, density=1000.0, order=1)
    end = np.flatnonzero(points[:, 0] == 0.0)
    part = part.with_interface(end, (0.0, 0.05, 0.05), "end")
    system = mb.System("block", gravity=(0.0, 0.0, -9.81))
    modes = mb.flexible.clamped_modes(part, node="end", n_modes=4)
    block = system.add(mb.FlexibleBody("block", modes))
    system.add(mb.RevoluteJoint("hinge", system.ground, block, at=(0.0, 0.05, 0.05), axis=(0.0, 1.0, 0.0)))
    return system


def same_component(one: mb.System, other: mb.System) -> bool:
    """Whether the blocks of two systems agree in every bit."""
    a, b = one["block"].modes, other["block"].modes
    arrays = [(a.shapes, b.shapes), (a.component.nodes, b.component.nodes)]
    for name in ("mass_matrix", "stiffness_matrix"):
        first, second = getattr(a.component, name), getattr(b.component, name)
        arrays += [(first.data, second.data), (first.indices, second.indices), (first.indptr, second.indptr)]
    arrays.append((a.component.triangles, b.component.triangles))
    return all(np.array_equal(first, second) for first, second in arrays)


def test_a_model_with_a_large_solid_comes_back(solid: mb.System, tmp_path: Path) -> None:
    path = tmp_path / "block.json"
    mb.save(solid, path)
    assert same_component(mb.load(path), solid)
    names = {}
    exec(mb.to_python(solid), names)
    assert same_component(names["system"], solid)


@pytest.mark.sample(1)
@pytest.mark.parametrize("stiffening", [False, True], ids=["linear", "stiffened"])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_result_with_a_large_solid_comes_back(
    solid: mb.System, tmp_path: Path, streamed: bool, stiffening: bool, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "run.h5"
    solid["block"].geometric_stiffening = stiffening
    request.addfinalizer(lambda: solid["block"].update(geometric_stiffening=False))
    result = mb.simulate(solid, 2e-3, t_eval=np.linspace(0.0, 2e-3, 3), output=path if streamed else None)
    if not streamed:
        result.save(path)
    loaded = mb.load_result(path)
    assert np.array_equal(loaded.q, result.q)
    assert same_component(loaded.system, solid)
    corner = {"local_point": (1.0, 0.1, 0.1)}
    assert np.array_equal(loaded.position("block", **corner), result.position("block", **corner))
    assert np.array_equal(mb.simulate(loaded.system, 2e-3, t_eval=result.t).q, result.q)
    assert np.allclose(loaded.reaction("hinge").force, result.reaction("hinge").force, rtol=1e-12, atol=1e-10)
    with h5py.File(path) as file:
        assert len(file["model"][()]) < 100_000  # the arrays are not in it
        assert file["arrays"]["0"].dtype in (np.float64, np.int64)
    loaded.save(tmp_path / "again.h5")
    assert same_component(mb.load_result(tmp_path / "again.h5").system, solid)


def test_long_tables_and_many_instants_come_back(tmp_path: Path) -> None:
    """In models and results; 120,000 points are 5 MB of digits."""
    system = mb.System("shaken", gravity=(0.0, 0.0, 0.0))
    stone = system.add(mb.PointMass("stone", mass=1.0))
    x = np.linspace(0.0, 1.0, 120_000)
    noise = np.random.default_rng(5).standard_normal(len(x))
    system.add(mb.PointForce("shake", stone, force=(mb.Function.piecewise_linear(x, noise), 0.0, 0.0)))
    instants = np.linspace(0.0, 0.01, 1500)
    mb.save(system, tmp_path / "model.json", simulation={"t_end": 0.01, "t_eval": instants})
    again = mb.load(tmp_path / "model.json")
    assert again["shake"].force[0].source["piecewise_linear"] == [x.tolist(), noise.tolist()]
    assert np.array_equal(mb.load_settings(tmp_path / "model.json")["t_eval"], instants)
    result = mb.simulate(system, 0.01, t_eval=instants, output=tmp_path / "run.h5")
    loaded = mb.load_result(tmp_path / "run.h5")
    assert loaded.system["shake"].force[0].source["piecewise_linear"] == [x.tolist(), noise.tolist()]
    assert np.array_equal(loaded.acceleration("stone"), result.acceleration("stone"))


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.0, -0.0, 5e-324, -1.7976931348623157e308, np.pi]),
        np.arange(12, dtype=np.int32).reshape(3, 4) - 2**31 // 3,
        np.zeros((0, 3)),
        np.random.default_rng(1).standard_normal((2, 3, 5))[:, ::-1],
    ],
)
def test_packing_keeps_every_bit(array: np.ndarray) -> None:
    found = unpacked(json.loads(json.dumps(packed(array))))
    assert found.shape == array.shape
    assert found.tobytes() == np.ascontiguousarray(array, dtype=found.dtype).tobytes()


DAMAGED = {
    "unknown type": {"packed": "object"},
    "a type that is a list": {"packed": ["float64"]},
    "negative shape": {"shape": [-1]},
    "shape of floats": {"shape": [1e3]},
    "shape of another size": {"shape": [PACKED_FROM + 1]},
    "shape of less": {"shape": [PACKED_FROM - 1]},
    "shape beyond all memory": {"shape": [2**39, 2**39, 2**39, 2**39]},
    "no base64": {"data": "!" * 2000},
    "no zlib": {"data": "AAAA" * 500},
    "no text": {"data": 7},
}


@pytest.mark.parametrize("change", DAMAGED.values(), ids=DAMAGED.keys())
def test_damaged_packed_arrays_are_problems(tmp_path: Path, change: dict[str, object]) -> None:
    system = mb.System("empty")
    content = document(system, {"t_end": 1.0, "t_eval": np.linspace(0.0, 1.0, PACKED_FROM)})
    content["simulation"]["t_eval"] |= change
    (tmp_path / "model.json").write_text(json.dumps(content))
    with pytest.raises(mb.ModelError, match=r"\$\.simulation\.t_eval"):
        mb.load_settings(tmp_path / "model.json")


def test_what_would_fill_the_memory_is_refused_before_it_does(tmp_path: Path) -> None:
    """A packed array of zeros is a thousand times as long as its text, and so are a million of empty lists."""
    content = document(mb.System("empty"), {"t_end": 1.0, "t_eval": np.zeros(3_000_000)})
    text = dumps(content)
    assert len(text) < 200_000
    (tmp_path / "model.json").write_text(text)
    assert len(mb.load_settings(tmp_path / "model.json")["t_eval"]) == 3_000_000
    with mb.import_limits(memory=20e6), pytest.raises(mb.ModelError, match=r"24 MB.*allowed are 20 MB.*import_limits"):
        mb.load_settings(tmp_path / "model.json")
    lists = b"[" + b"[]," * 200_000 + b"[]]"
    with mb.import_limits(memory=20e6), pytest.raises(mb.ModelError, match="allowed are 20 MB"):
        parse(lists, "lists")
    assert len(parse(lists, "lists")) == 200_001


def test_the_estimate_of_memory_is_none_too_low() -> None:
    import tracemalloc

    samples = [[0.5] * 9_000, [[]] * 9_000, [{}] * 9_000, [{"a": 1.5}] * 9_000, ["ab"] * 9_000, ["a" * 9_999] * 30]
    for value in samples:
        text = json.dumps(value, separators=(",", ":"))
        tracemalloc.start()
        kept = parse(text, "sample")
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert used <= parsed_bytes(text), kept[:1]


def test_nothing_is_written_that_would_not_be_read(tmp_path: Path) -> None:
    system = mb.System("empty")
    with mb.import_limits(memory=1e5):
        with pytest.raises(mb.ModelError, match="would be written but not read again"):
            mb.save(system, tmp_path / "model.json", simulation={"t_end": 1.0, "t_eval": np.linspace(0, 1, 50_000)})
        stone = system.add(mb.PointMass("stone", mass=1.0))
        x = np.linspace(0.0, 1.0, 50_000)
        system.add(mb.PointForce("pull", stone, force=(mb.Function.piecewise_linear(x, x), 0.0, 0.0)))
        reached: list[float] = []
        with pytest.raises(mb.ModelError, match="not be read again"):
            mb.simulate(system, 1.0, output=tmp_path / "run.h5", progress=reached.append)
    assert reached == []  # refused before the run
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"memory": -1.0}, {"memory": "1 GB"}, {"seconds": float("nan")}])
def test_limits_are_numbers_above_zero(wrong: dict[str, object]) -> None:
    with pytest.raises(mb.ModelError, match=next(iter(wrong))), mb.import_limits(**wrong):
        pass


def test_the_schema_knows_packed_arrays() -> None:
    import jsonschema

    system = mb.System("shaken")
    stone = system.add(mb.PointMass("stone", mass=1.0))
    x = np.linspace(0.0, 1.0, PACKED_FROM)
    force = (mb.Function.table(x, x), mb.Function.polynomial(1e-3 * x), 0.0)
    system.add(mb.PointForce("shake", stone, force=force))
    content = document(system, {"t_end": 1.0, "t_eval": x})
    jsonschema.validate(content, schema())
    content["simulation"]["t_eval"] |= {"packed": "object"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, schema())


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '[{"b": {"a": 1, "b": 3, "a": 2}}]',
        '{"x": "\\u003a", "a": 1, "a": 2}',  # as many colons as if no key occurred twice
        '{"\\u003A": 1, "a": 1, "a": ":"}',
        '{"a": "x:y", "a": 2}',
    ],
)
def test_keys_that_occur_twice_are_found(text: str) -> None:
    with pytest.raises(mb.ModelError, match="occurs twice"):
        parse(text, "text")


@pytest.mark.parametrize("text", ['{"a:b": ":", "c": ["::", {"d": ":"}]}', '{"\\u003a": "\\u003A"}', '":"', "{}"])
def test_colons_in_texts_are_no_keys(text: str) -> None:
    assert parse(text, "text") == json.loads(text)


def test_collection_of_garbage_goes_on_after_reading() -> None:
    for text in ("[[1], [2]]", "[", "NaN", '{"a": 1, "a": 2}'):
        with contextlib.suppress(mb.ModelError):
            parse(text, "text")
        assert gc.isenabled()


def test_equal_expressions_of_a_file_are_parsed_once(tmp_path, monkeypatch):
    """They were parsed twice each, which was most of the time for models with many loads."""
    system = mb.System()
    for k in range(5):
        body = system.add(mb.RigidBody(f"body {k}", mass=1.0, inertia=(1.0, 1.0, 1.0)))
        system.add(mb.PointForce(f"force {k}", body, force=("3.75*sin(t)", "0", "0")))
    mb.save(system, tmp_path / "model.json")
    parsed, begin = [], expressions.Compiler.__init__

    def noted(self, text, *more):
        parsed.append(text)
        begin(self, text, *more)

    monkeypatch.setattr(expressions.Compiler, "__init__", noted)
    mb.Function._known.cache_clear()
    expressions._pattern.cache_clear()
    again = mb.load(tmp_path / "model.json")
    assert sorted(parsed) == ["1.e0", "1.e0*sin(t)"]  # whatever the numbers are
    assert [part(0.5) for part in again["force 4"].force] == [3.75 * math.sin(0.5), 0.0, 0.0]
