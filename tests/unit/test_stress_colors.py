"""Stress as colours: values and palette, the legend in pictures, colours over time in GLB, grids for ParaView."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import mbframe as mb
from mbframe.errors import ModelError
from mbframe.render.coloring import PALETTE, Coloring, rounded_up

STEEL = {"young": 2.1e11, "shear": 8.1e10, "density": 7850.0}


@pytest.fixture(scope="module")
def result() -> mb.Result:
    """A flexible pendulum in the plane that carries a rigid bob."""
    part = mb.flexible.beam(length=1.0, elements=4, **STEEL, **mb.flexible.rectangle(0.02, 0.01))
    system = mb.System("pendulum", dimension=2, gravity=(0, -9.81))
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 4], n_modes=2)
    rod = system.add(mb.PlanarFlexibleBody("rod", modes, damping_ratios=0.02))
    bob = system.add(mb.PlanarBody("bob", mass=0.2, inertia=1e-3, position=(1, 0)))
    system.add(mb.RevoluteJoint("A", system.ground, rod, at=(0, 0)))
    system.add(mb.FixedJoint("B", rod, bob, at=(1, 0)))
    return mb.simulate(system, 0.2, t_eval=np.linspace(0.0, 0.2, 5))


@pytest.fixture(scope="module")
def coloring(result: mb.Result) -> Coloring:
    return Coloring.of(result, "stress", result.t)


def test_values_are_the_stresses_of_the_result(result: mb.Result, coloring: Coloring) -> None:
    stress = result.stress("rod")
    assert np.array([coloring.at("rod", t) for t in result.t]) == pytest.approx(stress)
    between = coloring.at("rod", 0.5 * (result.t[1] + result.t[2]))
    assert between == pytest.approx(0.5 * (stress[1] + stress[2]))
    body, node, t, value = coloring.peak()
    peak = result.stress_peak("rod")
    assert (body, node, t, value) == ("rod", peak.node, peak.t, pytest.approx(peak.value))
    assert coloring.low == 0.0
    assert peak.value <= coloring.high <= 1.34 * peak.value


def test_only_the_instants_that_are_shown_are_looked_at(result: mb.Result) -> None:
    some = Coloring.of(result, "stress", np.array([0.06, 0.07]))
    assert some.times.tolist() == result.t[1:3].tolist()
    whole = Coloring.of(result, "stress", np.array([0.07]), limits=(-1e6, 3e6))
    assert (whole.low, whole.high) == (-1e6, 3e6)


def test_colours_go_from_dark_to_light_and_what_is_unknown_is_grey(coloring: Coloring) -> None:
    ends = coloring.colors(np.array([coloring.low - 1.0, coloring.low, coloring.high, 2.0 * coloring.high, np.nan]))
    assert ends[:4] == pytest.approx(PALETTE[[0, 0, -1, -1]])
    assert ends[4] == pytest.approx(coloring.plain)
    light = PALETTE @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(light) > 0.02), "colours that are told apart in grey are by all kinds of colour vision"


def test_the_legend_has_short_numbers_and_a_fitting_unit(coloring: Coloring) -> None:
    made = Coloring("stress", coloring.times, coloring.values, 0.0, rounded_up(1.17e7))
    assert made.title == "von Mises stress, MPa"
    assert made.ticks == ["0", "3", "6", "9", "12"]
    assert [rounded_up(x) for x in (0.0, 1.0, 1.01, 9.9e8)] == pytest.approx([1.0, 1.0, 1.2, 1e9])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"color": "strain"}, "allowed is 'stress'"),
        ({"color": "stress", "color_range": (1, 1)}, "two different numbers"),
    ],
    ids=["field", "range"],
)
def test_what_cannot_be_coloured_is_told(result: mb.Result, tmp_path: Path, options: dict, told: str) -> None:
    with pytest.raises(ModelError, match=told):
        mb.render.export(result, tmp_path / "a.glb", **options)


def test_a_result_without_stresses_is_told(tmp_path: Path) -> None:
    result = mb.evaluate(mb.examples.triple_pendulum())
    with pytest.raises(ModelError, match="no body of this result tells its stress"):
        mb.render.export(result, tmp_path / "a.html", color="stress")


def test_a_model_has_the_colours_over_time(result: mb.Result, coloring: Coloring, tmp_path: Path) -> None:
    (path,) = mb.render.export(result, tmp_path / "a.glb", color="stress", fps=20)
    content = path.read_bytes()
    length = struct.unpack_from("<I", content, 12)[0]
    document, binary = json.loads(content[20 : 20 + length]), content[28 + length :]

    def numbers(index: int) -> np.ndarray:
        accessor = document["accessors"][index]
        width, view = {"SCALAR": 1, "VEC3": 3}[accessor["type"]], document["bufferViews"][accessor["bufferView"]]
        flat = np.frombuffer(binary, np.float32, accessor["count"] * width, view["byteOffset"])
        return flat.reshape(-1, width).astype(float)

    (mesh,) = [mesh for mesh in document["meshes"] if mesh["name"].startswith("rod")]
    primitive = mesh["primitives"][0]
    node = next(k for k, one in enumerate(document["nodes"]) if one["name"].startswith("rod/"))
    (channel,) = [c for c in document["animations"][0]["channels"] if c["target"] == {"node": node, "path": "weights"}]
    weights = numbers(document["animations"][0]["samplers"][channel["sampler"]]["output"])
    weights = weights.reshape(-1, len(mesh["weights"]))
    targets = np.array([numbers(target["COLOR_0"]) for target in primitive["targets"]])
    found = numbers(primitive["attributes"]["COLOR_0"]) + np.einsum("tk,kni->tni", weights, targets)
    srgb = np.where(found <= 0.0031308, 12.92 * found, 1.055 * np.clip(found, 1e-9, None) ** (1 / 2.4) - 0.055)
    rest = numbers(primitive["attributes"]["POSITION"])
    for frame, t in enumerate(np.arange(5) / 20.0):
        for node_number in range(5):
            ring = np.abs(rest[:, 0] - 0.25 * node_number) < 1e-6
            expected = coloring.colors(coloring.at("rod", t)[[node_number]])[0]
            assert srgb[frame, ring] == pytest.approx(np.tile(expected, (ring.sum(), 1)), abs=0.03)


def test_a_page_has_the_legend(result: mb.Result, coloring: Coloring, tmp_path: Path) -> None:
    (path,) = mb.render.export(result, tmp_path / "a.html", color="stress", fps=10)
    text = path.read_text(encoding="utf-8")
    assert coloring.title in text
    assert '"ticks":["0"' in text
    (plain,) = mb.render.export(result, tmp_path / "b.html", fps=10)
    assert '"legend":null' in plain.read_text(encoding="utf-8")


def test_a_series_for_paraview_has_the_nodes_and_their_fields(result: mb.Result, tmp_path: Path) -> None:
    pv = pytest.importorskip("pyvista")
    path, *grids = mb.render.export(result, tmp_path / "run.pvd", fps=20)
    assert [file.name for file in grids] == [f"run_{k:04d}.vtu" for k in range(5)]
    reader = pv.get_reader(path)
    assert reader.time_values == pytest.approx(result.t)
    for k, file in enumerate(grids):
        grid = pv.read(file)
        own = np.arange(5)  # the nodes of the rod come first
        assert grid["stress"][own] == pytest.approx(result.stress("rod")[k], rel=1e-9)
        assert np.isnan(grid["stress"][5:]).all()
        tip = [getattr(result, name)("rod", local_point=(1, 0))[k] for name in ("position", "velocity")]
        assert grid.points[4, :2] == pytest.approx(tip[0], abs=1e-9)
        assert grid["velocity"][4, :2] == pytest.approx(tip[1], abs=1e-9)
        bent = tip[0] - result.position("rod")[k] - [np.cos(result.angle("rod")[k]), np.sin(result.angle("rod")[k])]
        assert grid["displacement"][4, :2] == pytest.approx(bent, abs=1e-9)
        assert list(grid.field_data["bodies"]) == ["rod", "bob"]


def test_solid_elements_are_written_whole(tmp_path: Path) -> None:
    pv = pytest.importorskip("pyvista")
    skfem = pytest.importorskip("skfem")
    axes = (np.linspace(0.0, 0.6, 3), np.array([0.0, 0.1]), np.array([0.0, 0.15]))
    for mesh, order in ((skfem.MeshHex.init_tensor(*axes), 2), (skfem.MeshTet.init_tensor(*axes), 2)):
        part = mb.flexible.solid(mesh, young=2e8, poisson=0.3, density=2000.0, order=order)
        system = mb.System("block", gravity=(0, 0, 0))
        system.add(mb.FlexibleBody("block", mb.flexible.free_modes(part, n_modes=2)))
        _, grid = mb.render.export(mb.evaluate(system), tmp_path / f"a{order}.pvd")
        sizes = pv.read(grid).compute_cell_sizes()["Volume"]
        assert sizes.min() > 0.0
        assert sizes.sum() == pytest.approx(0.6 * 0.1 * 0.15, rel=1e-9)


def test_a_picture_has_the_legend(result: mb.Result, tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    from PIL import Image

    if not mb.render.can_draw():
        pytest.skip("no OpenGL")
    pictures = [
        mb.render.export(result, tmp_path / f"{theme}.png", color="stress", fps=1, size=(320, 180), theme=theme)[0]
        for theme in ("light", "dark")
    ]
    for path in pictures:
        pixels = np.asarray(Image.open(path).convert("RGB"), float)[:, 240:] / 255.0
        for color in PALETTE[[1, 4, 7]]:
            assert (np.abs(pixels - color).max(axis=2) < 0.04).sum() > 10
