"""Robots from URDF files as systems."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies import Body, RigidBody
from ..disk.atomic import FilePath
from ..errors import ModelError, Problem
from ..forces import AngleLimit, Bushing, DisplacementLimit, TorsionalSpringDamper
from ..joints import FixedJoint, GearJoint, Joint, PlanarJoint, RevoluteJoint, TranslationalJoint
from ..limits import allowed, no_collection, within_time
from ..shapes import MESH_SUFFIXES, Box, Cylinder, Mesh, Shape, Sphere
from ..system import System
from .meshes import within
from .urdf import Frame, Inertial, Robot, RobotJoint, Visual, read_urdf

Array = NDArray[np.float64]


class UrdfNotice(UserWarning):
    """What a URDF file says and the system made of it does not."""


def import_urdf(
    path: FilePath,
    *,
    fixed_base: bool = True,
    configuration: Mapping[str, float] | None = None,
    packages: Mapping[str, FilePath] | None = None,
    stop_stiffness: tuple[float, float] = (1e3, 1e5),
    notices: list[str] | None = None,
) -> System:
    """A system from a robot description (URDF).

    Links become rigid bodies with the link's frame. A link without mass becomes part of the link it is fixed to, or
    what is fixed to it part of it; a root without mass is the ground. Joints keep their names, revolute and prismatic
    ones get stops at their limits and their viscous damping, mimicking hinges become gears.

    Parameters
    ----------
    path
        The file.
    fixed_base
        Whether a root link with mass is fixed to the ground; otherwise it floats.
    configuration
        Values of joints, rad or m, in which the robot is described; others are at zero, or at the limit next to it.
    packages
        Folders of the packages that meshes name as ``package://name/...``. The package that the file is part of (the
        folder around it with that name and a `package.xml`) is found anyway. Other meshes are read from the folder of
        the file and below it only, and from `import_limits(mesh_folders=[...])`.
    stop_stiffness
        Stiffness of the stops of revolute, N m/rad, and prismatic joints, N/m, which the format does not know.
    notices
        A list that takes sentences about what has no counterpart here; without one they are a warning (`UrdfNotice`).

    Raises
    ------
    ModelError
        With all problems of the file.
    """
    found: list[str] = []

    def read() -> System:
        with no_collection():  # of garbage, among all elements again and again
            builder = _Builder(read_urdf(path), Path(path).expanduser(), dict(packages or {}), found)
            return builder.build(fixed_base, dict(configuration or {}), stop_stiffness)

    system = within_time(f"file {str(path)!r}", read)
    if notices is not None:
        notices += found
    elif found:
        listed = "".join(f"\n- {notice}" for notice in found)
        warnings.warn(f"{str(path)!r} says more than the system made of it:{listed}", UrdfNotice, stacklevel=2)
    return system


@dataclass
class _Part:
    """Links that are one body: those fixed to each other of which one has no mass. `frame` is that of its top link."""

    name: str
    frame: Frame
    inertials: list[Inertial]
    visuals: list[Visual]
    into: _Part | None = None
    """What it became part of."""

    @property
    def whole(self) -> _Part:
        """The part that it belongs to now."""
        found = self
        while found.into is not None:
            found = found.into
        if found is not self:
            self.into = found  # the next one who asks need not go all the way
        return found


class _Builder:
    def __init__(self, robot: Robot, path: Path, packages: dict[str, FilePath], notices: list[str]) -> None:
        self.robot, self.path, self.packages, self.notices = robot, path, packages, notices
        notices += robot.left_out

    def build(self, fixed_base: bool, given: dict[str, float], stop_stiffness: tuple[float, float]) -> System:
        values = self._values(given)
        frames = self._frames(values)
        parts = self._parts(frames, fixed_base)
        system = System(self.robot.name)
        bodies = self._bodies(system, parts)
        if fixed_base and bodies[self.robot.root] is not system.ground:
            base = bodies[self.robot.root]
            system.add(FixedJoint(self._free(system, "base"), system.ground, base, at=base.position))
        joints: dict[str, Joint] = {}
        for joint in self._by_depth():
            if bodies[joint.parent] is not bodies[joint.child]:
                self._add_joint(system, bodies, joint, frames[joint.child], values[joint.name], stop_stiffness, joints)
        self._add_gears(system, joints)
        return system

    # --- configuration ------------------------------------------------------------------------------------------------

    def _values(self, given: dict[str, float]) -> dict[str, float]:
        """The value of every joint in the described configuration."""
        unknown = [name for name in given if name not in self.robot.joints]
        if unknown:
            known = ", ".join(self.robot.joints) or "none"
            message = f"found {', '.join(map(repr, unknown))}; the joints of the file are {known}"
            raise ModelError([Problem("import_urdf", "configuration", message)])
        values = {}
        for joint in self.robot.joints.values():
            value = float(given.get(joint.name, 0.0))
            if joint.limits is not None and joint.name not in given:
                value = min(max(value, joint.limits.lower), joint.limits.upper)
            values[joint.name] = value
        for joint in self.robot.joints.values():
            if joint.mimic is not None:
                other, factor, offset = joint.mimic
                values[joint.name] = factor * values[other] + offset
        return values

    def _by_depth(self) -> list[RobotJoint]:
        """The joints, those nearer to the root first."""
        below: dict[str, list[RobotJoint]] = {}
        for joint in self.robot.joints.values():
            below.setdefault(joint.parent, []).append(joint)
        ordered, ahead = [], [self.robot.root]
        for link in ahead:
            for joint in below.get(link, []):
                ordered.append(joint)
                ahead.append(joint.child)
        return ordered

    def _frames(self, values: dict[str, float]) -> dict[str, Frame]:
        """The pose of every link."""
        frames = {self.robot.root: Frame()}
        for joint in self._by_depth():
            frames[joint.child] = frames[joint.parent] @ joint.frame @ _moved(joint, values[joint.name])
        return frames

    # --- bodies -------------------------------------------------------------------------------------------------------

    def _parts(self, frames: dict[str, Frame], fixed_base: bool) -> dict[str, _Part]:
        """The part of every link."""
        part_of = {}
        for name, link in self.robot.links.items():
            inertials = [] if link.inertial is None else [link.inertial]
            part_of[name] = _Part(name, frames[name], inertials, list(link.visuals))
        fixed = [joint for joint in self._by_depth() if joint.kind == "fixed"]
        for joint in fixed:  # from the root outwards: a frame for a tool becomes part of what carries it
            if not part_of[joint.child].whole.inertials:
                _merge(part_of, joint)
        bare = {id(part) for part in part_of.values() if part.into is None and not part.inertials}
        grounded = part_of[self.robot.root] if fixed_base else None
        for joint in reversed(fixed):  # a moving link that is only a frame takes what is fixed to it
            parent = part_of[joint.parent].whole
            if id(parent) in bare and parent is not part_of[joint.child].whole and parent is not grounded:
                _merge(part_of, joint)
        return {name: part.whole for name, part in part_of.items()}

    def _bodies(self, system: System, part_of: dict[str, _Part]) -> dict[str, Body]:
        bodies: dict[int, Body] = {}
        problems = []
        root = part_of[self.robot.root]
        for part in part_of.values():
            if id(part) in bodies:
                continue
            shapes = [shape for v in part.visuals if (shape := self._shape(v, part.name)) is not None]
            if part.inertials:
                mass, center, tensor = _combined(part.inertials)
                place: dict[str, Any] = {
                    "position": part.frame.position,
                    "rotation": part.frame.rotation,
                    "shapes": shapes,
                }
                name = self._free(system, part.name)
                body = RigidBody(name, mass=mass, inertia=tensor, center_of_mass=center, **place)
                bodies[id(part)] = system.add(body)
            elif part is root:
                bodies[id(part)] = system.ground
                system.ground.update(shapes=shapes)
            else:
                message = "is missing, but the link moves; give the link a mass, or fix it to a link that has one"
                problems.append(Problem(f"file {str(self.path)!r}, link {part.name!r}", "inertial", message))
        if problems:
            raise ModelError(problems)
        return {name: bodies[id(part)] for name, part in part_of.items()}

    def _shape(self, visual: Visual, link: str) -> Shape | None:
        look: dict[str, Any] = {"position": visual.frame.position, "rotation": visual.frame.rotation}
        if visual.color is not None:
            look |= {"color": visual.color[:3], "opacity": visual.color[3]}
        values = visual.values
        if visual.kind == "box":
            return Box(size=values["size"], **look)
        if visual.kind == "cylinder":
            return Cylinder(radius=values["radius"], length=values["length"], **look)
        if visual.kind == "sphere":
            return Sphere(radius=values["radius"], **look)
        file, scale = self._mesh_file(values["filename"]), values["scale"]
        if isinstance(file, str):
            self.notices.append(f"mesh of link {link!r}, filename: {file}")
        elif file.suffix.lower() not in MESH_SUFFIXES:
            allowed = ", ".join(MESH_SUFFIXES)
            self.notices.append(f"mesh of link {link!r}: {file.name!r} is of a kind that is not read ({allowed} are)")
        elif not (scale[0] > 0.0 and np.all(scale == scale[0])):
            self.notices.append(
                f"mesh of link {link!r}: its scale {tuple(map(float, scale))} is not uniform and positive"
            )
        else:
            return Mesh(path=str(file), scale=float(scale[0]), **look)
        return None

    def _mesh_file(self, name: str) -> Path | str:
        """The file that a URDF means: a path from its folder, or one inside a package; else why there is none."""
        folder = self.path.resolve().parent
        scheme, _, rest = name.rpartition("://")
        homes, inside, remedy = [folder], rest, "copy it there"
        if scheme in ("package", "model"):
            package, _, inside = rest.partition("/")
            homes = self._package_folders(package, folder)
            remedy = f"give the folder of the package: packages={{{package!r}: ...}}"
        places = [(os.path.normpath(os.path.join(home, inside)), home) for home in homes]
        permitted = [place for place, home in places if within(place, home, *allowed().mesh_folders)]
        if not permitted:
            remedy += f", or allow its folder: with mb.import_limits(mesh_folders=[{os.path.dirname(places[0][0])!r}])"
            return f"{name!r} lies outside of the folder {str(homes[0])!r} and is not read; {remedy}: ..."
        file = next((Path(place) for place in permitted if os.path.isfile(place)), None)
        return f"{name!r} was not found; {remedy}" if file is None else file

    def _package_folders(self, package: str, folder: Path) -> list[Path]:
        """Where a package may be: what was given, the package of the file itself, or a folder beside the file."""
        if package in self.packages:
            return [Path(self.packages[package]).expanduser().absolute()]
        own = [f for f in folder.parents if f.name == package and (f / "package.xml").is_file()]
        given = [Path(f) for f in allowed().mesh_folders]
        named = [f for f in (folder, *given) if f.name == package]
        beside = [f / package for f in (folder, *given)] if package not in ("", ".", "..") else []
        return [*own, *named, *beside] or [folder]

    # --- joints -------------------------------------------------------------------------------------------------------

    def _add_joint(
        self,
        system: System,
        bodies: dict[str, Body],
        joint: RobotJoint,
        frame: Frame,
        value: float,
        stop_stiffness: tuple[float, float],
        joints: dict[str, Joint],
    ) -> None:
        i, j = bodies[joint.parent], bodies[joint.child]
        place = {"at": frame.position, "axis": frame.rotation @ joint.axis}
        name = self._free(system, joint.name)
        if joint.kind == "floating":
            return
        if joint.kind == "fixed":
            joints[joint.name] = system.add(FixedJoint(name, i, j, at=frame.position))
        elif joint.kind == "planar":
            joints[joint.name] = system.add(PlanarJoint(name, i, j, **place))
        elif joint.kind == "prismatic":
            joints[joint.name] = system.add(TranslationalJoint(name, i, j, **place))
        else:
            joints[joint.name] = system.add(RevoluteJoint(name, i, j, **place))
        if joint.damping > 0.0:
            self._add_damping(system, i, j, joint, place)
        if joint.limits is not None:
            lower, upper = joint.limits.lower - value, joint.limits.upper - value
            turning = joint.kind == "revolute"
            cls, stiffness = (AngleLimit, stop_stiffness[0]) if turning else (DisplacementLimit, stop_stiffness[1])
            stop = self._free(system, f"{joint.name} stop")
            system.add(cls(stop, i, j, **place, lower=lower, upper=upper, stiffness=stiffness))

    def _add_damping(self, system: System, i: Body, j: Body, joint: RobotJoint, place: dict[str, Any]) -> None:
        name = self._free(system, f"{joint.name} damping")
        if joint.kind in ("revolute", "continuous"):
            system.add(TorsionalSpringDamper(name, i, j, **place, damping=joint.damping))
        elif joint.kind == "prismatic":
            system.add(Bushing(name, i, j, **place, damping=(0.0, 0.0, joint.damping, 0.0, 0.0, 0.0)))
        else:
            self.notices.append(f"damping of joint {joint.name!r}: only hinges and slides have one here")

    def _add_gears(self, system: System, joints: dict[str, Joint]) -> None:
        for joint in self.robot.joints.values():
            if joint.mimic is None:
                continue
            other, factor, _ = joint.mimic
            first, second = joints.get(joint.name), joints.get(other)
            if isinstance(first, RevoluteJoint) and isinstance(second, RevoluteJoint) and factor != 0.0:
                system.add(GearJoint(self._free(system, f"{joint.name} gear"), first, second, ratio=factor))
            else:
                self.notices.append(f"joint {joint.name!r} mimics {other!r}: only hinges can follow hinges here")

    def _free(self, system: System, name: str) -> str:
        """The name, or one like it: links and joints of a robot may have the same, elements of a system may not."""
        if name not in system:
            return name
        other = next(f"{name} {k}" for k in range(2, len(system) + 3) if f"{name} {k}" not in system)
        self.notices.append(f"the name {name!r} occurs twice; the second is {other!r} here")
        return other


def _merge(part_of: dict[str, _Part], joint: RobotJoint) -> None:
    """Make the part of a joint's child one with that of its parent."""
    parent, child = part_of[joint.parent].whole, part_of[joint.child].whole
    there = _inverse(parent.frame) @ child.frame
    parent.inertials += [replace(i, frame=there @ i.frame) for i in child.inertials]
    parent.visuals += [replace(v, frame=there @ v.frame) for v in child.visuals]
    child.into = parent


def _moved(joint: RobotJoint, value: float) -> Frame:
    """What the joint's value adds to its frame."""
    if value == 0.0 or joint.kind in ("fixed", "floating", "planar"):
        return Frame()
    if joint.kind == "prismatic":
        return Frame(value * joint.axis)
    x, y, z = joint.axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return Frame(rotation=np.eye(3) + np.sin(value) * skew + (1.0 - np.cos(value)) * skew @ skew)


def _inverse(frame: Frame) -> Frame:
    return Frame(-frame.rotation.T @ frame.position, frame.rotation.T)


def _combined(inertials: list[Inertial]) -> tuple[float, Array, Array]:
    """Mass, centre and tensor about it of several masses: sums and the parallel-axis theorem."""
    if len(inertials) == 1:
        one, turn = inertials[0], inertials[0].frame.rotation
        return one.mass, one.frame.position, turn @ one.tensor @ turn.T
    mass = sum(part.mass for part in inertials)
    center = np.sum([part.mass * part.frame.position for part in inertials], axis=0) / mass
    tensor = np.zeros((3, 3))
    for part in inertials:
        d = part.frame.position - center
        turned = part.frame.rotation @ part.tensor @ part.frame.rotation.T
        tensor += turned + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, center, tensor
