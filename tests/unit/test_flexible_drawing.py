"""Pictures of flexible bodies: deformed with their nodes, coloured by displacement, morph targets in GLB."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import mbframe as mb
from mbframe.render.flexible import COLORS, flexible_parts
from mbframe.render.geometry import drawing
from mbframe.render.parts import Sketch
from mbframe.render.placement import Poses


@pytest.fixture(scope="module")
def result() -> mb.Result:
    return mb.simulate(mb.examples.flexible_pendulum(young=5e7), 0.3, t_eval=np.linspace(0.0, 0.3, 16))


def test_the_drawn_beam_follows_its_nodes(result: mb.Result) -> None:
    (part,) = [p for p in drawing(result.system) if p.element == "bar"]
    state = result.state(-1)
    assert part.deformed is not None
    vertices = np.asarray(part.deformed(state), float)
    motion = state.motion("bar")
    moved = motion.position + vertices @ motion.rotation.T
    rest = np.asarray(part.surface.vertices, float)
    for x in (0.0, 0.5, 1.0):
        ring = np.isclose(rest[:, 0], x)
        tip = result.position("bar", local_point=(x, 0, 0))[-1]
        assert moved[ring].mean(axis=0) == pytest.approx(tip, abs=1e-6)
    bent = result.position("bar", local_point=(1, 0, 0))[-1] - (motion.position + motion.rotation @ [1.0, 0.0, 0.0])
    assert np.linalg.norm(bent) > 1e-3
    # sections turn with their nodes, so the tube keeps its thickness
    ends = np.isclose(rest[:, 0], 1.0)
    spread = [np.ptp(v[ends], axis=0).max() for v in (rest, vertices)]
    assert spread[0] == pytest.approx(spread[1], rel=0.05)


def test_colours_show_where_it_moved(result: mb.Result) -> None:
    (part,) = [p for p in drawing(result.system) if p.element == "bar"]
    assert part.colored is not None
    still = part.colored(mb.Equations(result.system).described())
    assert still == pytest.approx(np.tile(COLORS[0], (len(still), 1)), abs=1e-12)
    now = part.colored(result.state(-1))
    assert now.min() >= 0.0
    assert now.max() <= 1.0
    assert np.abs(now - COLORS[0]).max() > 0.1


def test_normals_of_tubes_and_solids_point_outwards() -> None:
    nodes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    values = np.random.default_rng(0)
    stiffness = np.zeros((12, 12))
    for a in range(4):
        for b in range(a):
            row = np.zeros(12)
            e = (nodes[a] - nodes[b]) / np.linalg.norm(nodes[a] - nodes[b])
            row[3 * a : 3 * a + 3], row[3 * b : 3 * b + 3] = e, -e
            stiffness += values.uniform(1.0, 2.0) * 1e4 * np.outer(row, row)
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    solid = mb.flexible.Component(nodes, np.eye(12), stiffness, triangles=triangles)
    system = mb.System("bodies")
    system.add(mb.FlexibleBody("solid", mb.flexible.free_modes(solid, n_modes=3)))
    system.add(mb.examples.flexible_pendulum()["bar"])
    for body, centre in (("solid", nodes.mean(axis=0)), ("bar", None)):
        (part,) = flexible_parts(system[body], Sketch(system), (0.5, 0.5, 0.5))
        s = part.surface
        a, b, c = (s.vertices[s.faces[:, k]] for k in range(3))
        across = np.cross(b - a, c - a)
        assert np.all(np.sum(across * s.normals[s.faces[:, 0]], axis=1) > 0.0)
        middle = (a + b + c) / 3.0
        along = np.column_stack([np.clip(middle[:, 0], 0.01, 0.99), 0 * middle[:, 1:]])
        inside = along if centre is None else centre
        assert np.all(np.sum(across * (middle - inside), axis=1) > 0.0)


def test_glb_has_morph_targets(result: mb.Result, tmp_path: Path) -> None:
    path = tmp_path / "motion.glb"
    mb.render.export(result, path, fps=50)
    content = path.read_bytes()
    size = struct.unpack("<I", content[12:16])[0]
    document = json.loads(content[20 : 20 + size])
    meshes = [mesh for mesh in document["meshes"] if mesh["name"].startswith("bar")]
    assert len(meshes[0]["primitives"][0]["targets"]) >= 1
    paths = [c["target"]["path"] for c in document["animations"][0]["channels"]]
    assert "weights" in paths


def test_what_slides_on_a_bent_axis_is_drawn_where_it_is() -> None:
    """The rider moves with the trolley; the girder itself is the rail."""
    system = mb.examples.crane_trolley()
    parts = [p for p in drawing(system) if p.element == "run"]
    assert [p.name for p in parts] == ["run/rider"]
    result = mb.simulate(system, 1.0, t_eval=[0.0, 1.0])
    place = parts[0].placement.transform(Poses.of_state(result.state(-1))).translation
    assert place == pytest.approx(result.position("trolley")[-1], abs=1e-12)
    assert place[2] < -0.05  # the girder sags
