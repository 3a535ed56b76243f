"""Robot descriptions (URDF) as plain data: what a file says, checked, before it becomes a system.

Lengths are in metres, angles in radians, as the format prescribes. `rpy` turns about the fixed x, y and z axes in that
order, so R = Rz(yaw) Ry(pitch) Rx(roll).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..disk.atomic import FilePath, refused
from ..disk.inputs import contents
from ..errors import ModelError, Problem

Array = NDArray[np.float64]

MAX_BYTES: Final = 16_000_000
JOINT_TYPES: Final = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
GEOMETRIES: Final = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",), "mesh": ("filename",)}

MAX_PROBLEMS: Final = 500
"""After so many a file is not read further."""
TENSOR: Final = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


@dataclass(frozen=True)
class Frame:
    """A pose: the origin and the rotation matrix of one frame in another."""

    position: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))

    def __matmul__(self, inner: Frame) -> Frame:
        """The pose of a frame that is given in this one."""
        return Frame(self.point(inner.position), self.rotation @ inner.rotation)

    def point(self, local: Array) -> Array:
        """A point given in this frame, in the outer one."""
        return self.position + self.rotation @ local


@dataclass(frozen=True)
class Inertial:
    """Mass, kg, and the tensor of inertia about the centre of mass in the axes of `frame`, whose origin it is."""

    frame: Frame
    mass: float
    tensor: Array


@dataclass(frozen=True)
class Visual:
    """A geometry: one of `GEOMETRIES` with its numbers, in the link's frame; red, green, blue and opacity if given."""

    frame: Frame
    kind: str
    values: dict[str, Any]
    color: tuple[float, float, float, float] | None


@dataclass(frozen=True)
class Link:
    """A link; one without `inertial` has no mass."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Visual, ...]


@dataclass(frozen=True)
class Limits:
    """Range of a joint, rad or m; None where the format gives none."""

    lower: float
    upper: float


@dataclass(frozen=True)
class RobotJoint:
    """A joint: `frame` is the child's frame in the parent's, where the joint is at zero; `axis` is in the child's."""

    name: str
    kind: str
    parent: str
    child: str
    frame: Frame
    axis: Array
    limits: Limits | None
    damping: float
    mimic: tuple[str, float, float] | None


@dataclass(frozen=True)
class Robot:
    """All of a file, and in `left_out` sentences about what it says that has no counterpart here."""

    name: str
    links: dict[str, Link]
    joints: dict[str, RobotJoint]
    left_out: tuple[str, ...]

    @property
    def root(self) -> str:
        """The link that is no joint's child."""
        children = {joint.child for joint in self.joints.values()}
        return next(name for name in self.links if name not in children)


def read_urdf(path: FilePath) -> Robot:
    """Read a robot description; everything that is wrong in it is a problem of one `ModelError`."""
    try:
        text = contents(path, MAX_BYTES).decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise refused(path, f"byte {error.start + 1} is no UTF-8; save the file as UTF-8 text") from None
    # Entities can grow a small file into gigabytes, and a description needs none.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise refused(path, "declares a document type or entities, which are not read; remove these declarations")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, RecursionError) as error:
        raise refused(path, f"is no XML: {error}; expand xacro files first, then check the line named") from None
    if root.tag != "robot":
        raise refused(path, f"begins with <{root.tag[:60]}>; allowed is <robot>: give a URDF file, not SDF or xacro")
    return _Reader(f"file {str(path)!r}").robot(root)


class _Reader:
    """Reads the elements of one file and collects what is wrong and what is left out."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.left_out: dict[str, list[str]] = {}

    def robot(self, root: ElementTree.Element) -> Robot:
        self.materials = {m.get("name", ""): self.color(m) for m in root.findall("material")}
        links = self.named("link", root, self.link)
        joints = self.named("joint", root, self.joint)
        if not links:
            self.bad("robot", "link", "there is no link; describe at least one")
        self.tree(links, joints)
        known = {"link", "joint", "material"}
        for tag in sorted({child.tag for child in root} - known):
            self.skip(f"elements <{tag}>", "")
        if self.problems:
            raise ModelError(self.problems)
        left_out = tuple(f"{what}: {', '.join(filter(None, at))}" if any(at) else what for what, at in self._skipped())
        return Robot(root.get("name") or "robot", links, joints, left_out)

    def _skipped(self) -> Iterator[tuple[str, list[str]]]:
        for what, places in self.left_out.items():
            yield what, places if len(places) <= 8 else [*places[:8], f"and {len(places) - 8} more"]

    # --- elements -----------------------------------------------------------------------------------------------------

    def named(self, tag: str, root: ElementTree.Element, read: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for element in root.findall(tag):
            name = (element.get("name") or "").strip()
            if not name:
                self.bad(tag, "name", "is missing; give every one a name")
            elif name in found:
                self.bad(f"{tag} {name!r}", "name", f"occurs twice; give each {tag} a name of its own")
            else:
                found[name] = read(element, name)
        return found

    def link(self, element: ElementTree.Element, name: str) -> Link:
        place = f"link {name!r}"
        if element.find("collision") is not None:
            self.skip("collision geometry (contacts are force elements here)", name)
        visuals = [self.visual(visual, place) for visual in element.findall("visual")]
        return Link(name, self.inertial(element.find("inertial"), place), tuple(v for v in visuals if v is not None))

    def inertial(self, element: ElementTree.Element | None, place: str) -> Inertial | None:
        if element is None:
            return None
        mass_element, inertia = element.find("mass"), element.find("inertia")
        mass = self.number(mass_element, "value", f"{place}, mass", minimum=0.0)
        terms = {key: self.number(inertia, key, f"{place}, inertia", 0.0) for key in TENSOR}
        if mass == 0.0:
            return None
        xx, yy, zz, xy, xz, yz = terms.values()
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return Inertial(self.frame(element, f"{place}, inertial"), mass, tensor)

    def visual(self, element: ElementTree.Element, place: str) -> Visual | None:
        geometry = element.find("geometry")
        shapes = [] if geometry is None else list(geometry)
        if len(shapes) != 1 or shapes[0].tag not in GEOMETRIES:
            found = ", ".join(shape.tag for shape in shapes) or "nothing"
            self.skip(f"visual geometry other than {', '.join(GEOMETRIES)}", f"{place} ({found})")
            return None
        shape = shapes[0]
        where = f"{place}, {shape.tag}"
        values: dict[str, Any] = {}
        for key in GEOMETRIES[shape.tag]:
            if key == "size":
                values[key] = self.triple(shape, key, where, None)
            elif key == "filename":
                values[key] = (shape.get(key) or "").strip()
                if not values[key]:
                    self.bad(where, key, "is missing; give the name of the mesh file")
            else:
                values[key] = self.number(shape, key, where, above=0.0)
        if shape.tag == "mesh":
            values["scale"] = self.triple(shape, "scale", where, (1.0, 1.0, 1.0))
        material = element.find("material")
        color = None
        if material is not None:
            color = self.color(material) or self.materials.get(material.get("name", ""))
        return Visual(self.frame(element, place), shape.tag, values, color)

    def color(self, material: ElementTree.Element) -> tuple[float, float, float, float] | None:
        element = material.find("color")
        if element is None:
            return None
        values = self.numbers(element, "rgba", f"material {material.get('name', '')!r}", 4, None)
        r, g, b, a = np.clip(values, 0.0, 1.0)
        return float(r), float(g), float(b), float(a)

    def joint(self, element: ElementTree.Element, name: str) -> RobotJoint:
        place = f"joint {name!r}"
        kind = element.get("type", "")
        if kind not in JOINT_TYPES:
            self.bad(place, "type", f"found {kind!r}; allowed are {', '.join(JOINT_TYPES)}")
        ends = {}
        for side in ("parent", "child"):
            end = element.find(side)
            ends[side] = "" if end is None else (end.get("link") or "").strip()
        limit, dynamics, mimic = element.find("limit"), element.find("dynamics"), element.find("mimic")
        axis = self.triple(element.find("axis"), "xyz", f"{place}, axis", (1.0, 0.0, 0.0))
        length = float(np.linalg.norm(axis))
        if kind in ("revolute", "continuous", "prismatic", "planar") and not length > 0.0:
            self.bad(place, "axis", "has no length; give a direction")
        for tag, what in (("safety_controller", "safety controllers"), ("calibration", "calibrations")):
            if element.find(tag) is not None:
                self.skip(what, name)
        return RobotJoint(
            name,
            kind,
            ends["parent"],
            ends["child"],
            self.frame(element, place),
            axis / length if length > 0.0 else axis,
            self.limits(limit, kind, place, name),
            self.dynamics(dynamics, place, name),
            None if mimic is None else self.mimic(mimic, place),
        )

    def limits(self, element: ElementTree.Element | None, kind: str, place: str, name: str) -> Limits | None:
        if element is not None:
            for key in ("effort", "velocity"):
                if element.get(key) is not None:
                    self.skip(f"limits of {key}", name)
        if kind not in ("revolute", "prismatic"):
            return None
        if element is None:
            self.bad(place, "limit", f"is missing; a {kind} joint needs one (continuous joints have none)")
            return None
        lower = self.number(element, "lower", f"{place}, limit", 0.0)
        upper = self.number(element, "upper", f"{place}, limit", 0.0)
        if lower > upper:
            self.bad(f"{place}, limit", "upper", f"found {upper:g}; allowed is a number not below lower = {lower:g}")
        # The format's defaults are zero; a range of zero width is how files say that they know none.
        return Limits(lower, upper) if lower < upper else None

    def dynamics(self, element: ElementTree.Element | None, place: str, name: str) -> float:
        if element is None:
            return 0.0
        if self.number(element, "friction", f"{place}, dynamics", 0.0, minimum=0.0) > 0.0:
            self.skip("dry friction of joints (add Friction or a law of your own)", name)
        return self.number(element, "damping", f"{place}, dynamics", 0.0, minimum=0.0)

    def mimic(self, element: ElementTree.Element, place: str) -> tuple[str, float, float]:
        where = f"{place}, mimic"
        factor = self.number(element, "multiplier", where, 1.0)
        return (element.get("joint") or "").strip(), factor, self.number(element, "offset", where, 0.0)

    def tree(self, links: dict[str, Link], joints: dict[str, RobotJoint]) -> None:
        """The joints must connect all links to one tree."""
        parents: dict[str, str] = {}
        for joint in joints.values():
            place = f"joint {joint.name!r}"
            for side, link in (("parent", joint.parent), ("child", joint.child)):
                if link not in links:
                    self.bad(place, side, f"found {link!r}, which is no link; name one of the file")
            if joint.child in parents:
                self.bad(place, "child", f"{joint.child!r} is also the child of {parents[joint.child]!r}; remove one")
            parents[joint.child] = joint.name
            if joint.mimic is not None and joint.mimic[0] not in joints:
                self.bad(place, "mimic", f"found {joint.mimic[0]!r}, which is no joint; name one of the file")
        if self.problems:
            return
        roots = [name for name in links if name not in parents]
        if len(roots) != 1:
            found = ", ".join(map(repr, roots[:8])) or "none: the joints form a circle"
            self.bad("robot", "link", f"found these links without a parent: {found}; allowed is exactly one")
            return
        below: dict[str, list[str]] = {}
        for joint in joints.values():
            below.setdefault(joint.parent, []).append(joint.child)
        reached, ahead = set(roots), list(roots)
        while ahead:
            children = below.get(ahead.pop(), [])
            reached.update(children)
            ahead.extend(children)
        if len(reached) < len(links):
            lost = ", ".join(repr(name) for name in links if name not in reached)
            self.bad("robot", "joint", f"these links hang together in a circle: {lost}; a robot is a tree")

    # --- numbers ------------------------------------------------------------------------------------------------------

    def frame(self, element: ElementTree.Element, place: str) -> Frame:
        origin = element.find("origin")
        if origin is None:
            return Frame()
        xyz = self.triple(origin, "xyz", f"{place}, origin", (0.0, 0.0, 0.0))
        if origin.get("rpy") is None:
            return Frame(xyz)
        return Frame(xyz, rotation_of(*self.triple(origin, "rpy", f"{place}, origin", (0.0, 0.0, 0.0))))

    def triple(
        self, element: ElementTree.Element | None, key: str, place: str, default: tuple[float, ...] | None
    ) -> Array:
        return self.numbers(element, key, place, 3, default)

    def numbers(
        self, element: ElementTree.Element | None, key: str, place: str, count: int, default: tuple[float, ...] | None
    ) -> Array:
        found = self.floats(element, key, place, count, default)
        return np.array((0.0,) * count if found is None else found)

    def floats(
        self, element: ElementTree.Element | None, key: str, place: str, count: int, default: tuple[float, ...] | None
    ) -> Sequence[float] | None:
        """The numbers of an attribute; None, with the problem noted, if they are wrong."""
        text = None if element is None else element.get(key)
        if text is None and default is not None:
            return default
        try:
            values = [float(word) for word in (text or "").split()]
        except ValueError:
            values = []
        if len(values) == count and all(map(math.isfinite, values)):
            return values
        self.bad(place, key, f"found {(text or '')[:60]!r}; allowed are {count} finite numbers")
        return None

    def number(
        self,
        element: ElementTree.Element | None,
        key: str,
        place: str,
        default: float | None = None,
        minimum: float = -math.inf,
        above: float = -math.inf,
    ) -> float:
        found = self.floats(element, key, place, 1, None if default is None else (default,))
        if found is None:
            return 0.0
        value = found[0]
        if value < minimum or (above > -math.inf and not value > above):
            bound = f"not below {minimum:g}" if value < minimum else f"above {above:g}"
            self.bad(place, key, f"found {value:g}; allowed is a number {bound}")
        return value

    def bad(self, place: str, key: str, message: str) -> None:
        self.problems.append(Problem(f"{self.source}, {place}", key, message))
        if len(self.problems) == MAX_PROBLEMS:
            rest = Problem(self.source, "", f"there are {MAX_PROBLEMS} problems or more; correct these first")
            raise ModelError([*self.problems, rest])

    def skip(self, what: str, where: str) -> None:
        self.left_out.setdefault(what, []).append(where)


def rotation_of(roll: float, pitch: float, yaw: float) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
