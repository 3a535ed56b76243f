"""Animated GLB: read back independently, validated by the Khronos validator."""

import json
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.render.frames import Frames
from mbframe.render.gltf import animated
from mbframe.render.parts import Part
from mbframe.render.placement import Anchor, Fixed
from mbframe.render.surfaces import tube

TYPES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
COMPONENTS = {5126: np.float32, 5125: np.uint32}


class Model:
    """As much of a GLB file as these tests look at."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        magic, version, length = struct.unpack_from("<4sII", content)
        assert (magic, version, length) == (b"glTF", 2, len(content))
        text_length, kind = struct.unpack_from("<I4s", content, 12)
        assert kind == b"JSON"
        self.document = json.loads(content[20 : 20 + text_length])
        self.binary = content[28 + text_length :]
        self.nodes = self.document["nodes"]
        (self.animation,) = self.document["animations"]

    def accessor(self, index: int) -> np.ndarray:
        accessor = self.document["accessors"][index]
        view = self.document["bufferViews"][accessor["bufferView"]]
        width = TYPES[accessor["type"]]
        flat = np.frombuffer(
            self.binary, COMPONENTS[accessor["componentType"]], accessor["count"] * width, view["byteOffset"]
        )
        return flat.reshape(-1, width)

    def index(self, name: str) -> int:
        (found,) = [k for k, node in enumerate(self.nodes) if node["name"] == name]
        return found

    def course(self, node: int, path: str) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of an animated property."""
        (channel,) = [c for c in self.animation["channels"] if c["target"] == {"node": node, "path": path}]
        sampler = self.animation["samplers"][channel["sampler"]]
        return self.accessor(sampler["input"])[:, 0], self.accessor(sampler["output"])


@pytest.fixture(scope="module")
def swing() -> mb.Result:
    """A bar on a ball joint, held by a spring, stored at multiples of 1/60 s."""
    system = mb.System("swing")
    bar = system.add(
        mb.RigidBody("bar", mass=2.0, inertia=(0.05, 2.7, 2.7), position=(2.0, 0.0, 0.0), angular_velocity=(9.0, 0, 0))
    )
    system.add(mb.SphericalJoint("A", system.ground, bar, at=(0.0, 0.0, 0.0)))
    points = {"at_i": (4.0, 0.0, 3.0), "at_j": (4.0, 0.0, 0.0)}
    system.add(mb.SpringDamper("spring", system.ground, bar, **points, stiffness=50.0, free_length=1.0))
    return mb.simulate(system, 2.0, t_eval=np.arange(121) / 60.0)


def test_poses_at_every_key_frame_are_those_of_the_result(swing, tmp_path):
    (path,) = mb.render.export(swing, tmp_path / "swing.glb", fps=60)
    model = Model(path)
    node = model.index("bar")
    times, translation = model.course(node, "translation")
    _, rotation = model.course(node, "rotation")
    np.testing.assert_allclose(times, swing.t, atol=1e-6)
    np.testing.assert_allclose(translation, swing.position("bar"), atol=1e-5)
    np.testing.assert_allclose(Rotation.from_quat(rotation).as_matrix(), swing.rotation("bar").as_matrix(), atol=1e-5)


def test_speed_and_window_change_the_key_times_only(swing, tmp_path):
    (path,) = mb.render.export(swing, tmp_path / "part.glb", fps=30, speed=0.5, start=0.5, end=1.0)
    times, translation = Model(path).course(Model(path).index("bar"), "translation")
    assert len(times) == 31  # 0.5 s at half speed are 1 s
    np.testing.assert_allclose(times, np.arange(31) / 30.0, atol=1e-6)
    np.testing.assert_allclose(translation, swing.position("bar")[30:61], atol=1e-5)


def test_rotations_do_not_jump_between_key_frames(swing, tmp_path):
    """p and -p are the same rotation, but a viewer that interpolates from one to the other turns the body round."""
    (path,) = mb.render.export(swing, tmp_path / "swing.glb", fps=60)
    model = Model(path)
    for channel in model.animation["channels"]:
        if channel["target"]["path"] == "rotation":
            _, values = model.course(channel["target"]["node"], "rotation")
            assert all(before @ after > 0.0 for before, after in pairwise(values))
            np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1.0, atol=1e-6)


def test_a_spring_stretches_from_end_to_end(swing, tmp_path):
    """Some part of the spring has its origin at one end and its unit length along z scaled to the other."""
    (path,) = mb.render.export(swing, tmp_path / "swing.glb", fps=60)
    model = Model(path)
    end = swing.position("bar", (2.0, 0.0, 0.0))
    length = np.linalg.norm(end - (4.0, 0.0, 3.0), axis=1)
    stretching = []
    for channel in model.animation["channels"]:
        node, path_name = channel["target"]["node"], channel["target"]["path"]
        if path_name == "scale" and "spring" in model.nodes[node]["name"]:
            scale = model.course(node, "scale")[1]
            tip = model.course(node, "translation")[1] + Rotation.from_quat(model.course(node, "rotation")[1]).apply(
                np.array([0.0, 0.0, 1.0]) * scale
            )
            if np.allclose(scale[:, 2], length, rtol=1e-5):
                stretching.append(tip)
    assert any(np.allclose(tip, end, atol=1e-4) or np.allclose(tip, (4.0, 0.0, 3.0), atol=1e-4) for tip in stretching)


def test_the_vertical_of_the_model_points_up(swing, tmp_path):
    """glTF's up is y, ours is z; all bodies hang below the node that turns one into the other."""
    (path,) = mb.render.export(swing, tmp_path / "swing.glb")
    model = Model(path)
    (root,) = model.document["scenes"][0]["nodes"]
    turn = Rotation.from_quat(model.nodes[root]["rotation"])
    np.testing.assert_allclose(turn.apply([0.0, 0.0, 1.0]), [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(turn.apply([1.0, 0.0, 0.0]), [1.0, 0.0, 0.0], atol=1e-12)
    assert model.index("bar") in model.nodes[root]["children"]


def test_colours_are_linear(tmp_path):
    """#808080 in sRGB is 0.2159 in linear light (IEC 61966-2-1)."""
    system = mb.System("grey")
    box = mb.Box(size=(1.0, 1.0, 1.0), color="#808080", opacity=0.5)
    system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), shapes=[box]))
    (path,) = mb.render.export(mb.simulate(system, 0.1), tmp_path / "grey.glb")
    materials = Model(path).document["materials"]
    np.testing.assert_allclose(
        materials[0]["pbrMetallicRoughness"]["baseColorFactor"], [0.2159, 0.2159, 0.2159, 0.5], atol=1e-4
    )
    assert materials[0]["alphaMode"] == "BLEND"


def bending(frames: Frames) -> tuple[Part, np.ndarray]:
    """A tube that bends and breathes, and its vertices at all frames."""
    rest = tube(0.2, 0.1, 2.0)
    z = rest.vertices[:, 2:].astype(float)

    def vertices(state: mb.State) -> np.ndarray:
        bend = np.hstack([0.3 * z**2, 0.1 * z**3, 0.0 * z])
        swell = rest.vertices * (1.0, 1.0, 0.0)
        return rest.vertices + np.sin(3.0 * state.t) * bend + 0.2 * np.cos(7.0 * state.t) * swell

    part = Part("tube", "bar", rest, Fixed(Anchor("bar", np.zeros(3))), (0.5, 0.5, 0.5), deformed=vertices)
    return part, np.array([vertices(state) for state in frames])


def test_a_deforming_part_is_a_sum_of_its_modes(swing, tmp_path):
    frames = Frames.of(swing, 30.0, 1.0, None, None)
    part, expected = bending(frames)
    path = tmp_path / "bending.glb"
    path.write_bytes(animated("bending", frames, [part], (0.0, 0.0, 1.0), "test"))
    model = Model(path)
    node = model.index("tube")
    (primitive,) = model.document["meshes"][model.nodes[node]["mesh"]]["primitives"]
    targets = np.array([model.accessor(target["POSITION"]) for target in primitive["targets"]])
    times, flat = model.course(node, "weights")
    weights = flat.reshape(len(times), -1)
    assert weights.shape == (len(frames), 2)  # bending and breathing
    rest = model.accessor(primitive["attributes"]["POSITION"])
    np.testing.assert_allclose(rest + np.einsum("tk,kni->tni", weights, targets), expected, atol=1e-5)


def test_a_still_is_a_valid_animation(tmp_path):
    (path,) = mb.render.export(mb.evaluate(mb.examples.triple_pendulum()), tmp_path / "still.glb")
    times, _ = Model(path).course(Model(path).index("bar 1"), "translation")
    assert times.tolist() == [0.0]
