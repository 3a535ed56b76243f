"""Robots from URDF files: three robots in the manner of public ones, and what is wrong with others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.cli import main

# A pendulum of two rods as a robot: one link hangs on the next, its frame at the hinge, its mass half-way down.
ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="world"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
      <inertia ixx="0.17" iyy="0.17" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 -0.5"/><geometry><cylinder radius="0.03" length="1"/></geometry>
      <material name="blue"><color rgba="0 0 0.8 1"/></material></visual>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 -0.4" rpy="0 0 0.3"/><mass value="1.5"/>
      <inertia ixx="0.08" iyy="0.0805" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="continuous">
    <parent link="world"/><child link="upper"/><origin xyz="0 0 2"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 -1"/><axis xyz="0 2 0"/>
    <limit lower="-2" upper="2.5" effort="30" velocity="4"/><dynamics damping="0.2" friction="0.1"/>
  </joint>
</robot>"""

# A base that stands, a turned column, a lift, a flange without mass, and a gripper whose fingers move together.
GRIPPER = """<robot name="gripper">
  <material name="grey"><color rgba="0.5 0.5 0.5 0.5"/></material>
  <link name="base">
    <inertial><mass value="10"/><inertia ixx="0.4" iyy="0.4" izz="0.5"/></inertial>
    <collision><geometry><box size="0.4 0.4 0.1"/></geometry></collision>
  </link>
  <link name="column">
    <inertial><origin xyz="0.02 0 0.3"/><mass value="4"/><inertia ixx="0.2" iyy="0.21" izz="0.03"/></inertial>
    <visual><geometry>
      <mesh filename="package://gripper_meshes/parts/column.stl" scale="0.001 0.001 0.001"/></geometry></visual>
    <visual><geometry><mesh filename="missing.stl"/></geometry></visual>
    <visual><geometry><capsule radius="1" length="2"/></geometry></visual>
  </link>
  <link name="carriage">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <visual><origin xyz="0.1 0 0"/><geometry><box size="0.2 0.1 0.1"/></geometry><material name="grey"/></visual>
  </link>
  <link name="flange"/>
  <link name="camera"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/>
    <inertia ixx="0.001" iyy="0.002" izz="0.0025"/></inertial></link>
  <link name="left"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
  <link name="right"/>
  <link name="tip"><inertial><mass value="0.06"/><inertia ixx="1e-4" iyy="1.5e-4" izz="1e-4"/></inertial></link>
  <link name="pad"><inertial><mass value="0.04"/><inertia ixx="1e-4" iyy="2e-4" izz="1e-4"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="column"/>
    <origin xyz="0 0 0.1" rpy="0.1 -0.2 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-3.5" upper="3.5" effort="1" velocity="1"/></joint>
  <joint name="lift" type="prismatic"><parent link="column"/><child link="carriage"/>
    <origin xyz="0.05 0 0.2" rpy="0 0 1.2"/><axis xyz="0 0 1"/><limit lower="0.1" upper="0.6" effort="1" velocity="1"/>
    <dynamics damping="5"/></joint>
  <joint name="mount" type="fixed"><parent link="carriage"/><child link="flange"/>
    <origin xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/></joint>
  <joint name="view" type="fixed"><parent link="flange"/><child link="camera"/><origin xyz="0 0 0.05"/></joint>
  <joint name="left" type="revolute"><parent link="flange"/><child link="left"/>
    <origin xyz="0 0.04 0"/><axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="right finger" type="revolute"><parent link="flange"/><child link="right"/>
    <origin xyz="0 -0.04 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="0" effort="1" velocity="1"/>
    <mimic joint="left" multiplier="-1"/></joint>
  <joint name="tip mount" type="fixed"><parent link="right"/><child link="tip"/><origin xyz="0 0 0.05"/></joint>
  <joint name="pad mount" type="fixed"><parent link="right"/><child link="pad"/>
    <origin xyz="0 0 -0.01" rpy="0 0 1.5707963267948966"/></joint>
  <transmission name="t"/>
</robot>"""

# A carriage with four wheels that floats until it is put on the ground.
ROVER = """<robot name="rover">
  <link name="chassis"><inertial><mass value="20"/>
    <inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="-0.05" iyz="0.02"/></inertial></link>
  {wheels}
</robot>"""
WHEEL = """<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.02" izz="0.01"/></inertial>
  <visual><origin rpy="1.5707963267948966 0 0"/>
    <geometry><cylinder radius="0.15" length="0.05"/></geometry></visual></link>
  <joint name="{name} axle" type="continuous"><parent link="chassis"/><child link="{name}"/>
  <origin xyz="{x} {y} -0.1"/><axis xyz="0 1 0"/></joint>"""


@pytest.fixture
def robot(tmp_path):
    def written(text, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_arm_moves_as_the_same_pendulum_built_by_hand(robot):
    notices = []
    arm = mb.import_urdf(robot(ARM), configuration={"shoulder": 0.4, "elbow": -0.6}, notices=notices)
    assert [b.name for b in arm.bodies] == ["upper", "lower"]  # the massless root is the ground
    upper, lower = arm["upper"], arm["lower"]
    tip = np.array([-np.sin(0.4), 0.0, 2.0 - np.cos(0.4)])  # Ry(0.4) takes (0, 0, -1) there
    np.testing.assert_allclose(lower.position, tip, atol=1e-15)
    np.testing.assert_allclose(lower.rotation, Rotation.from_rotvec([0, -0.2, 0]).as_matrix(), atol=1e-15)
    hand = mb.System("pendulum")
    a = hand.add(
        mb.RigidBody("a", mass=2, inertia=(0.17, 0.17, 0.002), center_of_mass=(0, 0, -0.5), position=(0, 0, 2))
    )
    a.rotation = Rotation.from_rotvec([0, 0.4, 0])
    turned = Rotation.from_rotvec([0, 0, 0.3]).as_matrix()
    b = hand.add(mb.RigidBody("b", mass=1.5, inertia=turned @ np.diag([0.08, 0.0805, 0.001]) @ turned.T, position=tip))
    b.update(center_of_mass=(0, 0, -0.4), rotation=Rotation.from_rotvec([0, -0.2, 0]))
    hand.add(mb.RevoluteJoint("A", hand.ground, a, at=(0, 0, 2), axis=(0, 1, 0)))
    hand.add(mb.RevoluteJoint("B", a, b, at=tip, axis=(0, 1, 0)))
    hand.add(mb.TorsionalSpringDamper("d", a, b, at=tip, axis=(0, 1, 0), damping=0.2))
    tight = {"integrator": mb.DormandPrince(order=8, rtol=1e-11, atol=1e-12), "t_eval": np.linspace(0, 0.5, 6)}
    ours, theirs = mb.simulate(arm, 0.5, **tight), mb.simulate(hand, 0.5, **tight)
    np.testing.assert_allclose(ours.position(lower), theirs.position(b), atol=1e-9)
    assert not np.allclose(ours.position(lower)[-1], tip, atol=0.05)  # it moved
    assert upper.shapes == (mb.Cylinder(radius=0.03, length=1.0, position=(0, 0, -0.5), color=(0.0, 0.0, 0.8)),)
    assert {n.split(":")[0] for n in notices} == {
        "limits of effort",
        "limits of velocity",
        "dry friction of joints (add Friction or a law of your own)",
    }


def test_stops_act_at_the_limits_of_the_file(robot):
    arm = mb.import_urdf(robot(ARM), configuration={"elbow": 0.5}, notices=[])
    stop = arm["elbow stop"]
    assert (stop.lower, stop.upper) == (-2.5, 2.0)  # measured from the described elbow of 0.5
    assert arm["elbow damping"].damping == 0.2
    np.testing.assert_allclose(arm["elbow"].axis, (0, 1, 0), atol=1e-15)


def test_fixed_links_without_mass_become_part_of_their_neighbours(robot, tmp_path):
    package = tmp_path / "gripper_meshes" / "parts"
    package.mkdir(parents=True)
    (package / "column.stl").write_text("solid empty\nendsolid empty\n")
    notices = []
    system = mb.import_urdf(robot(GRIPPER), notices=notices)
    assert [b.name for b in system.bodies] == ["base", "column", "carriage", "camera", "left", "right"]
    # The carriage carries the flange; the camera hangs on the flange. World poses by SciPy, fixed axes x, y, z.
    column = Rotation.from_euler("xyz", (0.1, -0.2, 0.3))
    np.testing.assert_allclose(system["column"].rotation, column.as_matrix(), atol=1e-15)
    carriage = np.array([0, 0, 0.1]) + column.apply([0.05, 0, 0.2 + 0.1])  # the lift stands at its lower limit
    np.testing.assert_allclose(system["carriage"].position, carriage, atol=1e-15)
    wrist = column * Rotation.from_euler("z", 1.2)
    left = carriage + wrist.apply([0.2, 0, 0]) + (wrist * Rotation.from_euler("y", np.pi / 2)).apply([0, 0.04, 0])
    np.testing.assert_allclose(system["left"].position, left, atol=1e-15)
    camera = carriage + wrist.apply([0.2 + 0.05, 0, 0])  # the flange's z is the carriage's x
    np.testing.assert_allclose(system["camera"].position, camera, atol=1e-15)
    assert isinstance(system["view"], mb.FixedJoint)
    # The right finger is its tip and its pad, 0.06 m apart: parallel-axis theorem; the pad is turned by a right angle.
    right = system["right"]
    np.testing.assert_allclose(right.mass, 0.1, rtol=1e-15)
    np.testing.assert_allclose(right.center_of_mass, [0, 0, 0.026], atol=1e-15)
    reduced = 0.06 * 0.04 / 0.1 * 0.06**2
    np.testing.assert_allclose(right.inertia, np.diag([3e-4 + reduced, 2.5e-4 + reduced, 2e-4]), atol=1e-15)
    assert system["carriage"].shapes[0].opacity == 0.5
    assert system["column"].shapes[0].path == str(package / "column.stl")
    assert system["column"].shapes[0].scale == 0.001
    assert (system["lift stop"].lower, system["lift stop"].upper) == (0.0, 0.5)
    assert (system["turn stop"].lower, system["turn stop"].upper) == (-3.5, 3.5)  # beyond half a turn
    assert system["lift damping"].damping[2, 2] == 5.0
    assert system["right finger gear"].ratio == -1.0
    text = "\n".join(notices)
    for said in (
        "collision geometry",
        "capsule",
        "missing.stl",
        "'left' occurs twice",
        "<transmission>",
    ):
        assert said in text
    assert mb.degrees_of_freedom(system).count == 3  # turn, lift, and the fingers as one
    with pytest.warns(mb.UrdfNotice, match="missing.stl"):
        mb.import_urdf(robot(GRIPPER))


def test_mimicking_fingers_move_against_each_other(robot):
    system = mb.import_urdf(robot(GRIPPER), configuration={"left": 0.3}, notices=[])
    result = mb.simulate(system, 0.2)
    wrist, left, right = (result.rotation(system[name])[-1] for name in ("carriage", "left", "right"))
    mount = Rotation.from_euler("y", np.pi / 2)
    angles = [((wrist * mount).inv() * finger).as_rotvec() for finger in (left, right)]
    np.testing.assert_allclose(angles[0], -angles[1], atol=1e-8)
    assert abs(angles[0][0] - 0.3) > 1e-4  # they moved


def test_rover_floats_with_turning_wheels(robot):
    places = [
        ("front left", 0.3, 0.2),
        ("front right", 0.3, -0.2),
        ("rear left", -0.3, 0.2),
        ("rear right", -0.3, -0.2),
    ]
    text = ROVER.format(wheels="\n".join(WHEEL.format(name=n, x=x, y=y) for n, x, y in places))
    rover = mb.import_urdf(robot(text), fixed_base=False)
    assert mb.degrees_of_freedom(rover).count == 6 + 4
    expected = [[1, 0.1, -0.05], [0.1, 2, 0.02], [-0.05, 0.02, 2.5]]
    np.testing.assert_array_equal(rover["chassis"].inertia, expected)
    assert mb.degrees_of_freedom(mb.import_urdf(robot(text))).count == 4
    fall = mb.simulate(rover, 0.3, t_eval=[0.0, 0.3])
    np.testing.assert_allclose(fall.position("chassis")[-1], [0, 0, -0.5 * 9.81 * 0.09], atol=1e-9)


def test_imported_robots_are_models_like_others(robot, tmp_path):
    arm = mb.import_urdf(robot(ARM), notices=[])
    mb.save(arm, tmp_path / "arm.json")
    assert mb.to_python(mb.load(tmp_path / "arm.json")) == mb.to_python(arm)


def test_command_line_reads_robots(robot, capsys):
    assert main(["check", str(robot(ARM))]) == 0
    assert "left out: limits of effort: elbow" in capsys.readouterr().err


BAD = {
    "no file": (None, "there is no such file"),
    "no xml": ("<robot>", "is no XML"),
    "another format": ("<sdf/>", "allowed is <robot>"),
    "entities": ('<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>', "document type"),
    "no links": ("<robot name='r'/>", "there is no link"),
    "name twice": ("<robot><link name='a'/><link name='a'/></robot>", "occurs twice"),
    "text for a number": (ARM.replace('mass value="2"', 'mass value="heavy"'), "found 'heavy'"),
    "negative mass": (ARM.replace('mass value="2"', 'mass value="-2"'), "not below 0"),
    "two numbers": (ARM.replace('xyz="0 0 2"', 'xyz="0 2"'), "allowed are 3 finite numbers"),
    "infinite": (ARM.replace('xyz="0 0 2"', 'xyz="0 0 1e999"'), "allowed are 3 finite numbers"),
    "unknown type": (ARM.replace('"continuous"', '"ball"'), "found 'ball'; allowed are revolute"),
    "unknown link": (ARM.replace('child link="upper"', 'child link="uper"'), "found 'uper', which is no link"),
    "no limit": (
        ARM.replace('<limit lower="-2" upper="2.5" effort="30" velocity="4"/>', ""),
        "a revolute joint needs one",
    ),
    "limits reversed": (ARM.replace('upper="2.5"', 'upper="-3"'), "not below lower = -2"),
    "axis zero": (ARM.replace('axis xyz="0 2 0"', 'axis xyz="0 0 0"'), "has no length"),
    "two roots": (ARM.replace("</robot>", "<link name='lost'/></robot>"), "'world', 'lost'"),
    "a circle": (
        "<robot><link name='a'/><link name='b'/>"
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
        "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
        "the joints form a circle",
    ),
    "a circle apart": (
        "<robot><link name='r'/><link name='a'/><link name='b'/>"
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
        "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
        "'a', 'b'; a robot is a tree",
    ),
    "massless and moving": (ARM.replace('<mass value="1.5"/>', '<mass value="0"/>'), "link 'lower', inertial"),
    "a nameless link": ("<robot><link name='a'/><link/></robot>", "give every one a name"),
    "two parents": (
        "<robot><link name='a'/><link name='b'/><link name='c'/>"
        "<joint name='j' type='fixed'><parent link='a'/><child link='c'/></joint>"
        "<joint name='k' type='fixed'><parent link='b'/><child link='c'/></joint></robot>",
        "'c' is also the child of 'j'",
    ),
    "mimics nobody": (
        ARM.replace("</joint>", '<mimic joint="nobody"/></joint>', 1),
        "found 'nobody', which is no joint",
    ),
    "a mesh without a file": (
        "<robot><link name='a'><visual><geometry><mesh/></geometry></visual></link></robot>",
        "give the name of the mesh file",
    ),
    "impossible inertia": (ARM.replace('ixx="0.17" iyy="0.17"', 'ixx="-0.17" iyy="0.17"'), "inertia"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_with_the_place_and_the_remedy(case, robot, tmp_path):
    text, said = BAD[case]
    path = tmp_path / "nothing.urdf" if text is None else robot(text)
    with pytest.raises(mb.ModelError) as raised:
        mb.import_urdf(path)
    assert said in str(raised.value)


def test_a_number_that_is_none_is_one_problem_and_thousands_are_five_hundred(robot):
    shape = "<visual><geometry><sphere radius='wide'/></geometry></visual>"
    with pytest.raises(mb.ModelError) as raised:
        mb.import_urdf(robot(f"<robot><link name='a'>{shape}</link></robot>"))
    assert [problem.field for problem in raised.value.problems] == ["radius"]
    links = "".join(f"<link name='l{k}'><inertial><mass value='-1'/></inertial></link>" for k in range(2000))
    with pytest.raises(mb.ModelError, match="500 problems or more") as raised:
        mb.import_urdf(robot(f"<robot>{links}</robot>"))
    assert len(raised.value.problems) == 501


def test_unknown_joint_in_the_configuration(robot):
    with pytest.raises(mb.ModelError, match="the joints of the file are shoulder, elbow"):
        mb.import_urdf(robot(ARM), configuration={"wrist": 1.0})


BODY = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"


def test_all_kinds_of_joints_and_what_is_left_out(robot):
    """A table that floats over the ground, a puck on it, and a foot with looks that cannot be read."""
    notices: list[mb.UrdfNotice] = []
    system = mb.import_urdf(
        robot(
            f"""<robot name="kinds"><link name="world"/><link name="table">{BODY}</link><link name="puck">{BODY}
            <visual><geometry><sphere radius="0.1"/></geometry></visual>
            <visual><geometry><mesh filename="foot.blend"/></geometry></visual></link>
            <joint name="free" type="floating"><parent link="world"/><child link="table"/></joint>
            <joint name="slide" type="planar"><parent link="table"/><child link="puck"/><axis xyz="0 0 1"/>
            <dynamics damping="0.5"/><calibration rising="0"/></joint></robot>"""
        ),
        notices=notices,
    )
    assert [type(joint) for joint in system.joints] == [mb.PlanarJoint]
    assert [type(shape) for shape in system["puck"].shapes] == [mb.Sphere]
    assert mb.degrees_of_freedom(system).count == 6 + 3
    told = "\n".join(str(notice) for notice in notices)
    for part in ("foot.blend", "calibration", "only hinges and slides"):
        assert part in told


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "robot.urdf").write_bytes(b"<robot name='\xff'/>")
    with pytest.raises(mb.ModelError, match="byte 14 is no UTF-8"):
        mb.import_urdf(tmp_path / "robot.urdf")


def instructions(file: Path) -> int:
    """How many instructions of the importer run for a robot."""
    from mbframe.files import robots

    counted = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal counted
        if frame.f_code.co_filename != robots.__file__:
            return None
        frame.f_trace_opcodes = True
        counted += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        robots.import_urdf(file, notices=[])
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize(("massive", "star"), [(3, False), (2, False), (1000, False), (1000, True)])
def test_the_effort_grows_with_the_number_of_links(tmp_path: Path, massive: int, star: bool) -> None:
    """Every `massive`-th link has mass, and the others are fixed to it, in a chain or around the first."""
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    efforts = []
    for count in (60, 120, 240):
        parts = []
        for k in range(count):
            parts.append(f'<link name="l{k}">{mass if k % massive == 0 else ""}</link>')
            kind, parent = "fixed" if k % massive else "continuous", 0 if star else k - 1
            if k:
                parts.append(f'<joint name="j{k}" type="{kind}"><parent link="l{parent}"/><child link="l{k}"/></joint>')
        (tmp_path / "r.urdf").write_text(f'<robot name="r">{"".join(parts)}</robot>')
        efforts.append(instructions(tmp_path / "r.urdf"))
    assert efforts[2] - efforts[1] < 2.2 * (efforts[1] - efforts[0])
