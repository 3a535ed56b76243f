"""The geometry of systems: data that needs neither a window nor OpenGL."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.forces.base import OnBody
from mbframe.joints import GearJoint, RackAndPinionJoint
from mbframe.registry import built_in
from mbframe.render import Part, Poses, drawing
from mbframe.render.parts import Sketch, box_of_inertia
from mbframe.render.placement import Anchor, Between, Fixed, point3, rotation3
from mbframe.state import Motion, State

RNG = np.random.default_rng(7)


def two_bodies() -> tuple[mb.System, mb.RigidBody, mb.RigidBody]:
    system = mb.System("two")
    one = system.add(mb.RigidBody("one", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    two = system.add(mb.RigidBody("two", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0.4, 0.2)))
    return system, one, two


def system_with(cls: type) -> mb.System:
    system, one, two = two_bodies()
    if cls in (GearJoint, RackAndPinionJoint):
        kinds = {GearJoint: mb.RevoluteJoint, RackAndPinionJoint: mb.TranslationalJoint}
        first = system.add(mb.RevoluteJoint("first", system.ground, one, at=(0, 0, 0), axis=(0, 1, 0)))
        second = system.add(kinds[cls]("second", system.ground, two, at=(1, 0, 0), axis=(0, 1, 0)))
        system.add(cls.example(first, second))  # type: ignore[attr-defined]
        return system
    element = cls.example(one, two)  # type: ignore[attr-defined]
    for name, p in element.parameters().items():
        if p.kind == "reference" and isinstance(other := getattr(element, name), mb.Joint | mb.Measure):
            system.add(other)
    system.add(element)
    return system


def random_poses(system: mb.System, n: int = 5) -> Poses:
    return Poses({b.name: (RNG.normal(size=(n, 3)), Rotation.random(n, rng=RNG).as_matrix()) for b in system.bodies})


ELEMENTS = [
    cls
    for base in (mb.Joint, mb.BasicConstraint, mb.ForceElement)
    for cls in built_in(base).values()
    if not issubclass(cls, OnBody)  # see test_loads
]


@pytest.mark.parametrize("cls", ELEMENTS)
def test_every_element_can_be_drawn(cls: type):
    system = system_with(cls)
    parts = drawing(system)
    assert len({part.name for part in parts}) == len(parts)
    poses = random_poses(system)
    for part in parts:
        assert part.element in system
        assert len(part.surface.faces)
        assert np.all(np.isfinite(part.surface.vertices))
        transform = part.transform(poses)
        turned = np.broadcast_to(transform.rotation, (5, 3, 3))
        np.testing.assert_allclose(turned @ np.swapaxes(turned, -1, -2), np.tile(np.eye(3), (5, 1, 1)), atol=1e-12)
        np.testing.assert_allclose(np.linalg.det(turned), 1.0)


@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_a_tire_is_a_wheel_on_a_road_that_passes_by(speed: float):
    system = mb.System("quarter car", dimension=2)
    wheel = system.add(mb.PlanarBody("wheel", mass=1.0, inertia=0.1, position=(0.5, 0.3), angle=0.4))
    system.add(mb.Tire("tire", system.ground, wheel, radius=0.3, stiffness=1e4, profile="0.1*sin(4*x)", speed=speed))
    parts = drawing(system)
    (road,) = [part for part in parts if part.role == "road"]
    heights = {0.0: road.surface.vertices}
    if speed:
        heights[1.5] = road.deformed(State(1.5, {}))
    else:
        assert road.deformed is None
    for t, vertices in heights.items():
        placed = vertices @ road.placement.axes.T
        assert placed[:, 0].min() < 0.2
        assert placed[:, 0].max() > 0.8  # under the whole wheel
        np.testing.assert_allclose(placed[:, 1], 0.1 * np.sin(4.0 * (placed[:, 0] + speed * t)), atol=0.01)
    rubber = next(part for part in parts if part.element == "wheel")
    around = rubber.surface.vertices  # in body axes, which turn about the axle
    np.testing.assert_allclose(np.hypot(around[:, 0], around[:, 1]).max(), 0.3, rtol=1e-6)


def test_drives_look_like_what_they_drive():
    system = mb.System("driven", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=1.0, inertia=0.1, position=(0.5, 0.0)))
    pin = system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0)))
    system.add(mb.Driver("motor", pin, angle="t"))
    length = system.add(mb.Distance("length", system.ground, bar, at_i=(0.5, -1.0)))
    system.add(mb.Prescribed("jack", length, value="1 + 0.1*t"))
    system.add(mb.PointDriver("path", system.ground, bar, at=(0.5, 0.0), y="t**2"))
    parts = {part.name: part for part in drawing(system)}
    assert {"motor/motor", "jack/barrel", "jack/piston", "path/point", "path/directions"} <= set(parts)
    described = Poses.described(system)
    start, end = (parts[f"jack/{name}"].transform(described).translation for name in ("barrel", "piston"))
    np.testing.assert_allclose(start, (0.5, -1.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(end, (0.5, 0.0, 0.0), atol=1e-15)
    low, high = np.ptp(parts["path/directions"].surface.vertices, axis=0)[:2]
    assert high > 3.0 * low  # one arrow, along y
    assert parts["motor/motor"].surface.vertices[:, 2].max() < 0.0  # behind the mechanism


PLANAR = [name for name in mb.examples.names() if getattr(mb.examples, name)().dimension == 2]


@pytest.mark.parametrize("name", PLANAR)
def test_planar_examples_stay_in_their_plane(name: str):
    """Bars lie in layers over the plane, and what holds them reaches no farther than a few of their thicknesses."""
    sketch = Sketch(getattr(mb.examples, name)())
    parts = drawing(sketch.system)
    assert {part.element for part in parts} >= {body.name for body in sketch.system.bodies}
    for part in parts:
        transform = part.transform(sketch.described)
        corners = (transform.rotation * transform.scale) @ part.surface.vertices.T + transform.translation[:, None]
        assert np.abs(corners[2]).max() < 0.25 * sketch.extent, part.name


def test_loads_that_name_inputs_and_controllers_are_drawn():
    """Towards where they would act if what they name were 1."""
    system, one, _ = two_bodies()
    system.add(mb.Input("push"))
    system.add(mb.StateFeedback("c", measures=["one.position.x"], gain=[[1.0, 0.0]]))
    system.add(mb.PointForce("f", one, force=(0, "-2*push", "0*c.force")))
    (force,) = (part for part in drawing(system) if part.role == "force")
    assert force.transform(random_poses(system)).rotation[2][:, 2] == pytest.approx([0.0, -1.0, 0.0])


def test_loads():
    system, one, _ = two_bodies()
    system.add(mb.PointForce("push", one, force=(0, "2 + t", 0)))
    system.add(mb.Torque("twist", one, torque=(0, 0, 1.0), axes="body"))
    push, twist = (part for part in drawing(system) if part.role == "force")
    poses = random_poses(system)
    _, rotation = poses.of("one")
    # A global force keeps its direction while the body turns; a torque in body axes turns with it.
    assert push.transform(poses).rotation[2][:, 2] == pytest.approx([0.0, 1.0, 0.0])
    np.testing.assert_allclose(twist.transform(poses).rotation[:, :, 2], rotation[:, :, 2], atol=1e-12)


def test_elements_of_users_have_a_look():
    class Magnet(mb.ForceElement):
        def wrench(self, t, i, j):
            return np.zeros(3), np.zeros(3)

    class Odd(mb.Joint):
        def constraints(self):
            return [mb.Coincident(self.i, self.j)]

    system, one, two = two_bodies()
    system.add(Magnet("magnet", one, two, at_i=(0, 0, 0), at_j=(1, 0, 0)))
    system.add(Odd("odd", system.ground, one, at=(0, 0, -1), axis=(0, 1, 0)))
    assert {part.element for part in drawing(system)} == {"one", "two", "magnet", "odd"}


# --- placement --------------------------------------------------------------------------------------------------------


def test_part_on_a_body_follows_it():
    point, axes = np.array([0.3, -0.2, 0.5]), Rotation.from_euler("xyz", (0.3, -0.8, 1.2)).as_matrix()
    origin, rotation = np.array([1.0, 2.0, 3.0]), Rotation.from_euler("z", 0.7).as_matrix()
    matrix = Fixed(Anchor("b", point), axes).transform(Poses({"b": (origin, rotation)})).matrix
    own = np.array([0.1, 0.4, -0.6])
    np.testing.assert_allclose((matrix @ [*own, 1.0])[:3], origin + rotation @ (point + axes @ own), atol=1e-14)


def test_part_between_points_reaches_from_one_to_the_other():
    i, j = Anchor("a", np.array([0.1, 0.0, 0.2])), Anchor("b", np.array([0.0, -0.3, 0.0]))
    rotations = [Rotation.random(9, rng=RNG).as_matrix() for _ in range(2)]
    poses = Poses({"a": (RNG.normal(size=(9, 3)), rotations[0]), "b": (RNG.normal(size=(9, 3)), rotations[1])})
    matrix = Between(i, j).transform(poses).matrix
    np.testing.assert_allclose(matrix[:, :3, 3], poses.point("a", i.point))
    np.testing.assert_allclose((matrix @ [0.0, 0.0, 1.0, 1.0])[:, :3], poses.point("b", j.point), atol=1e-12)
    rigid = Between(i, j, stretches=False).transform(poses)
    np.testing.assert_allclose(rigid.scale, 1.0)
    np.testing.assert_allclose(np.linalg.det(rigid.rotation), 1.0)


def test_points_that_meet_can_be_drawn():
    same = Anchor(None, np.zeros(3))
    transform = Between(same, same).transform(Poses({}))
    assert np.all(np.isfinite(transform.matrix))
    assert transform.scale[2] > 0.0


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_a_spring_of_any_length_at_rest_can_be_drawn(damping: float):
    system = mb.examples.four_bar()
    end = system.bodies[0]
    system.add(mb.SpringDamper("s", system.ground, end, stiffness=1.0, damping=damping, free_length=1e300))
    for part in drawing(system):
        assert np.all(np.isfinite(part.surface.vertices))
        assert np.abs(part.surface.vertices).max() < 1e3


def test_a_spring_does_not_jump_about_its_axis():
    """Its end goes around in a circle; the frame turns with it and never by more than the step."""
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    path = np.column_stack([np.cos(angle), np.sin(angle), np.full(100, 0.2)])
    poses = Poses({"b": (path, np.tile(np.eye(3), (100, 1, 1)))})
    spring = Between(Anchor(None, np.zeros(3)), Anchor("b", np.zeros(3)))
    turned = Rotation.from_matrix(spring.transform(poses).rotation)
    steps = (turned[1:] * turned[:-1].inv()).magnitude()
    assert steps.max() < 0.35


def test_the_plane_is_lifted_into_space_in_one_place():
    np.testing.assert_array_equal(point3([[1.0, 2.0]]), [[1.0, 2.0, 0.0]])
    np.testing.assert_allclose(rotation3(0.3), Rotation.from_euler("z", 0.3).as_matrix())
    np.testing.assert_allclose(rotation3(rotation3(0.3)[:2, :2]), rotation3(0.3))
    np.testing.assert_allclose(rotation3(np.array([0.1, 0.2]))[1], rotation3(0.2))
    state = SimpleNamespace(motions={"b": SimpleNamespace(position=np.array([1.0, 2.0]), angle=0.3)})
    origin, rotation = Poses.of_state(state).of("b")
    np.testing.assert_allclose(origin, [1.0, 2.0, 0.0])
    np.testing.assert_allclose(rotation, rotation3(0.3))


def test_poses_of_a_state_and_of_a_description_agree():
    system, one, two = two_bodies()
    motions = {b.name: Motion(b.position, b.rotation, b.velocity, b.angular_velocity) for b in (one, two)}
    state, described = Poses.of_state(State(0.0, motions)), Poses.described(system)
    for name in ("one", "two", None):
        for a, b in zip(state.of(name), described.of(name), strict=True):
            np.testing.assert_array_equal(a, b)


# --- bodies without shapes --------------------------------------------------------------------------------------------


def only(parts: list[Part], element: str) -> Part:
    (part,) = (part for part in parts if part.element == element)
    return part


def test_box_of_inertia():
    a, b, c, mass = 0.3, 0.5, 1.1, 2.0
    inertia = mass / 12.0 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    turn = Rotation.from_euler("xyz", (0.4, 0.5, 0.6)).as_matrix()
    body = mb.RigidBody("b", mass=mass, inertia=turn @ np.diag(inertia) @ turn.T)
    size, axes = box_of_inertia(body)
    np.testing.assert_allclose(sorted(size), [a, b, c])
    np.testing.assert_allclose(np.abs(axes[:, np.argmax(size)] @ turn[:, 2]), 1.0)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_a_free_body_is_drawn_as_the_box_of_its_inertia():
    system = mb.System("free")
    system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.0266667, 2.68, 2.68)))  # 4 m x 0.283 m x 0.283 m
    size = np.ptp(only(drawing(system), "bar").surface.bounds, axis=0)
    assert size[0] == pytest.approx(np.sqrt(6.0 / 2.0 * (2.0 * 2.68 - 0.0266667)), rel=1e-3)


def test_a_link_is_drawn_between_its_joints():
    system = mb.System("link")
    link = system.add(mb.RigidBody("link", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(0.5, 0, 0)))
    system.add(mb.RevoluteJoint("A", system.ground, link, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.RevoluteJoint("B", link, system.ground, at=(1, 0, 0), axis=(0, 1, 0)))
    low, high = only(drawing(system), "link").surface.bounds
    bar = Sketch(system).bar
    np.testing.assert_allclose([low[0], high[0]], [-0.5 - bar / 2, 0.5 + bar / 2], rtol=0.01)
    assert high[1] - low[1] < bar  # flat across the pins


def test_a_wheel_has_the_radius_of_its_contact():
    system = mb.System("wheel")
    wheel = system.add(mb.RigidBody("wheel", mass=1.0, inertia=(0.1, 0.2, 0.1), position=(0, 0, 0.5)))
    system.add(mb.RollingDisk("contact", system.ground, wheel, at=(0, 0, 0.5), axis=(0, 1, 0), radius=0.5))
    bounds = np.array([part.surface.bounds for part in drawing(system) if part.element == "wheel"])
    np.testing.assert_allclose(bounds[:, 1].max(axis=0)[[0, 2]], 0.5, rtol=0.01)


@pytest.mark.parametrize("turned", [False, True])
def test_rails_are_on_the_ground_and_cover_the_motion(turned: bool):
    system = mb.System("slide")
    block = system.add(
        mb.RigidBody("block", mass=1.0, inertia=(0.01, 0.01, 0.01), shapes=[mb.Box(size=(0.2, 0.2, 0.2))])
    )
    pair = (block, system.ground) if turned else (system.ground, block)
    system.add(mb.TranslationalJoint("rail", *pair, at=(0, 0, 0), axis=(1, 0, 0)))
    path = np.column_stack([np.linspace(0.0, 3.0, 20), np.zeros((20, 2))])
    motion = Poses({"block": (path, np.tile(np.eye(3), (20, 1, 1)))})
    (rail,) = (part for part in drawing(system, motion) if part.name == "rail/rail")
    assert rail.body is None
    x = (rail.transform(motion).matrix @ [0, 0, rail.surface.bounds[1, 2], 1.0])[0]
    assert 3.0 < x < 4.0


def test_bodies_that_meet_in_the_plane_lie_in_different_layers():
    system, one, two = two_bodies()
    system.add(mb.RevoluteJoint("A", one, two, at=(0.5, 0, 0), axis=(0.0, 0.0, 1.0)))
    assert Sketch(system).layers == {}
    planar = Sketch(system)
    planar.__dict__["planar"] = True
    assert planar.layers["one"] != planar.layers["two"]


# --- mesh files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply"])
def test_mesh_files(tmp_path: Path, suffix: str):
    pyvista = pytest.importorskip("pyvista")
    path = tmp_path / f"part.{suffix}"
    pyvista.Cube(x_length=1000.0, y_length=2000.0, z_length=3000.0).triangulate().save(path)
    part = only(drawing(with_mesh(path, scale=0.001)), "body")
    np.testing.assert_allclose(part.surface.bounds, [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(part.surface.normals, axis=1), 1.0, rtol=1e-5)


def test_glb_files(tmp_path: Path):
    pytest.importorskip("pyvista")
    path = tmp_path / "part.glb"
    corners = np.array([(0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 4)], "<f4")
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], "<u2")
    data = corners.tobytes() + faces.tobytes()
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(data)}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": corners.nbytes},
            {"buffer": 0, "byteOffset": corners.nbytes, "byteLength": faces.nbytes},
        ],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": 5126,
                "count": 4,
                "type": "VEC3",
                "min": corners.min(axis=0).tolist(),
                "max": corners.max(axis=0).tolist(),
            },
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
    }
    head = json.dumps(document).encode()
    head += b" " * (-len(head) % 4)
    chunks = struct.pack("<I4s", len(head), b"JSON") + head + struct.pack("<I4s", len(data), b"BIN\0") + data
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    part = only(drawing(with_mesh(path)), "body")
    np.testing.assert_allclose(part.surface.bounds, [[0, 0, 0], [2, 3, 4]])
    assert len(part.surface.faces) == 4


def with_mesh(path: Path, scale: float = 1.0) -> mb.System:
    system = mb.System("mesh")
    shape = mb.Mesh(str(path), scale=scale)
    system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), shapes=[shape]))
    return system


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("part.step", "", "suffix"),
        ("missing.stl", None, "not there"),
        ("part.obj", "nothing that is a mesh\n", "no triangles|cannot be read"),
    ],
)
def test_unusable_mesh_files(tmp_path: Path, name: str, content: str | None, message: str):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(mb.ModelError, match=message):
        drawing(with_mesh(tmp_path / name))


def test_colors():
    system = mb.System("colours")
    shapes = [mb.Sphere(1.0, color=c) for c in ("red", "#0080ff", (0.1, 0.2, 0.3), None)]
    system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1), shapes=shapes))
    red, blue, given, default = (part.color for part in drawing(system))
    assert red == (1.0, 0.0, 0.0)
    assert blue == pytest.approx((0.0, 128 / 255, 1.0))
    assert given == (0.1, 0.2, 0.3)
    assert default == Sketch(system).color("body")
    odd = mb.System("odd")
    odd.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1), shapes=[mb.Sphere(1.0, color="reddish")]))
    with pytest.raises(mb.ModelError, match="reddish"):
        drawing(odd)


@pytest.mark.parametrize("size", [1e13, 1e160, 1e300])
def test_what_no_picture_can_show_is_named(size: float) -> None:
    """Numbers of a stranger's model; the window says so instead of ending."""
    system = mb.System("far", gravity=(0.0, 0.0, -1e300))
    system.add(mb.RigidBody("moon", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(size, 0.0, 0.0)))
    sketch = Sketch(system)
    assert sketch.up.tolist() == [0.0, 0.0, 1.0]
    with pytest.raises(mb.ModelError, match=r"RigidBody 'moon', position: reaches .* check its numbers"):
        sketch.extent  # noqa: B018
    small = mb.System("small")
    small.add(mb.PointMass("dust", mass=1.0, position=(0.0, 0.0, 1e-200)))
    assert Sketch(small).extent == 1.0


@pytest.mark.parametrize("name", ["slider_crank", "quick_return", "double_inverted_pendulum", "four_bar"])
def test_in_the_plane_supports_are_behind_what_turns(name: str):
    """A rod passed through the near post of the slider's rail, and through a cheek of the crank's bearing."""
    system = getattr(mb.examples, name)()
    sketch = Sketch(system)

    def heights(part: Part) -> np.ndarray:
        matrix = part.transform(sketch.described).matrix
        return part.surface.vertices @ matrix[2, :3] + matrix[2, 3]

    parts = drawing(system)
    supports = [part for part in parts if part.name.endswith("/support") and part.role == "joint"]
    assert supports
    for part in supports:
        assert (
            heights(part).max() <= 1e-6 * sketch.extent
        )  # in single precision; a pin or a peg reaches to what it holds, no further
        assert heights(part).min() < sketch.back
