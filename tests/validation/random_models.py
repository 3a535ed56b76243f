"""Random models from the declared parameters of all classes: what a file must be able to hold.

Every class gives an example in general position. Here it is placed between random bodies, and then its parameters are
changed to random values, as far as the class allows it: so the models are valid, and a new class needs nothing here.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.files.catalogue import ADDED, arguments, fields, settings_of, takes_formulation
from mbframe.files.reader import STRATEGY_SETTINGS
from mbframe.parameters import Parameter
from mbframe.registry import built_in, strategy_base
from mbframe.signals import Signal

# Joints attach to nodes of flexible bodies, and random points are none.
BODIES = [cls for cls in built_in(mb.Body).values() if not issubclass(cls, mb.FlexibleBody)]
CONNECTIONS = [cls for base in ADDED if base not in (mb.Body, Signal) for cls in built_in(base).values()]
IN_PLANE = [cls for cls in CONNECTIONS if cls.planar]
SHAPES = list(built_in(mb.Shape).values())

names = st.text(min_size=1, max_size=8).filter(lambda name: name.strip() and name != "ground")
moderate = st.floats(-4.0, 4.0)
# What rounding, printing and comparing may get wrong: the sign of zero, the smallest and some large numbers.
odd = st.sampled_from([0.0, -0.0, 5e-324, -1.1754943508222875e-38, 1e-5, 0.1, 1 / 3, 0.1, 2.0, 123456789.123456789])
numbers = st.one_of(moderate, moderate, moderate, odd)
expressions = st.sampled_from(
    ["1 + sin(2*{v})", "{v}**2 - 3*{v}", "if({v} < 0.5, 0, 1e-3*{v})", "pi", "step({v},0,0,1,2)"]
)


@st.composite
def functions(draw: st.DrawFn, variables: tuple[str, ...]) -> Any:
    """Of every kind, in the variables of the parameter or in own ones."""
    own = draw(st.sampled_from([variables[0], "t", "u_1"]))
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return draw(numbers)
    text = draw(expressions)
    if kind == 1:
        return text.format(v=variables[0])
    if kind == 2:
        return mb.Function(text.format(v=own), (own,), breakpoints=draw(st.lists(numbers, max_size=2)))
    if kind == 3:
        return mb.Function.polynomial(draw(st.lists(numbers, min_size=1, max_size=4)), own)
    y = draw(st.lists(numbers, min_size=2, max_size=15))
    x = np.cumsum([0.1 + abs(value) for value in y]) - 3.0
    if kind == 4:
        return mb.Function.table(x, y, own, interpolation=draw(st.sampled_from(["monotone", "spline"])))
    return mb.Function.piecewise_linear(x, y, own)


@st.composite
def rotations(draw: st.DrawFn) -> Any:
    """Any, and those of special numbers."""
    vector = draw(st.tuples(moderate, moderate, moderate))
    return draw(st.sampled_from([np.eye(3), np.diag([-1.0, -1.0, 1.0]), Rotation.from_rotvec(vector)]))


@st.composite
def shapes(draw: st.DrawFn) -> Any:
    """Of every class."""
    cls = draw(st.sampled_from(SHAPES))
    given: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.default is dataclasses.MISSING or draw(st.booleans()):
            p = field.metadata.get("parameter")
            other = {"color": st.sampled_from(["red", "#102030", (0.1, 0.2, 1.0), None]), "path": names}
            given[field.name] = draw(values(p) if p is not None else other[field.name])
    return cls(**given)


@cache
def values(p: Parameter) -> st.SearchStrategy:
    """Values of a parameter, by its kind; a few of them may be refused."""
    found = _values(p)
    return st.one_of(st.none(), found) if p.optional else found


def _values(p: Parameter) -> st.SearchStrategy:
    bounds = [bound for bound in (p.minimum, p.above, p.maximum) if bound is not None]
    least, most = (-4.0 if p.minimum is None else p.minimum), (5.0 if p.maximum is None else p.maximum)
    number = st.floats(least if p.above is None else p.above + 1e-3, most) if bounds else numbers
    size = tuple(n or 3 for n in p.shape or ())
    count = int(np.prod(size))
    match p.kind:
        case "number" | "angle":
            return number
        case "numbers":
            return st.one_of(number, st.lists(number, min_size=1, max_size=3))
        case "integer":
            return st.integers(int(p.minimum or 0), int(p.maximum or 3))
        case "flag":
            return st.booleans()
        case "choice":
            return st.sampled_from(p.choices or ())
        case "rotation":
            return rotations()
        case "inertia":
            return st.sampled_from([(0.3, 0.4, 0.5), (1 / 3, 0.5, 0.6, 0.02, -0.03, -0.0), np.diag([2.0, 3.0, 4.0])])
        case "function":
            return functions(p.variables)
        case "axial functions" if p.shape == (2,):
            return functions(p.variables)
        case "functions" | "vector functions" | "axial functions":
            return st.tuples(*[functions(p.variables)] * count)
        case "shapes":
            return st.lists(shapes(), max_size=2)
        case "list":
            return st.lists(st.one_of(numbers, names, st.booleans()), max_size=3)
    array = st.lists(number, min_size=count, max_size=count).map(lambda a: np.reshape(a, size))
    diagonal = st.lists(number, min_size=size[0], max_size=size[0])
    return st.one_of(array, diagonal) if p.kind == "matrix" else array


@st.composite
def strategies(draw: st.DrawFn, setting: str) -> Any:
    """A formulation or strategy of any class with random parameters."""
    cls = draw(st.sampled_from(list(built_in(strategy_base(setting)).values())))
    if issubclass(cls, mb.Formulation):
        known = {"sequence": st.sampled_from(["ZXY", "XYZ", "ZXZ"]), "offset": st.one_of(st.none(), rotations())}
        return cls(**{key: draw(known[key]) for key in settings_of(cls) if key in known and draw(st.booleans())})
    chosen = cls()
    draw_parameters(draw, chosen)
    return chosen


def draw_parameters(draw: st.DrawFn, element: Any, dimension: int = 3) -> None:
    """Change parameters to random values; those that do not go with the others are left."""
    for name, p in element.parameters().items():
        p = p.of(dimension)
        if p.kind != "reference" and draw(st.integers(0, 2)) == 0:
            try:
                element.update(**{name: draw(values(p))})
            except mb.ModelError:
                continue


def example(cls: Any, bodies: list[Any], joints: list[Any]) -> Any:
    """An example of a class between bodies or, if it wants these, joints."""
    for pair in (bodies, joints, joints[::-1], joints[:1]):
        try:
            return cls.example(*pair)
        except (mb.ModelError, TypeError, AttributeError, ValueError):
            continue
    raise AssertionError(f"{cls.__name__} has no example between two bodies or two joints")


def planar_example(cls: Any, bodies: list[Any]) -> Any:
    """An example of a class between bodies of the plane: that of space, without third components."""
    stand_ins = [mb.RigidBody(name, mass=1.0, inertia=(1.0, 1.0, 1.0)) for name in ("first", "second")]
    twins = dict(zip(("first", "second"), bodies, strict=True))
    return flat(example(cls, stand_ins, guides(cls, stand_ins)), twins)


def flat(element: Any, twins: dict[str, Any]) -> Any:
    """A copy of an element of space in the plane, between the twins of its bodies and copies of what it refers to."""
    cls, values = type(element), {}
    for key, p in fields(cls).items():
        value = getattr(element, p.name)
        if p.kind == "reference":
            value = value and (twins.get(value.name) or flat(value, twins))
        elif p.kind == "axis" and value is not None and not np.any(value[:2]):
            continue
        elif p.kind in ("point", "axis", "free vector", "vector functions") and value is not None:
            value = value[:2]
        elif p.kind == "axial functions":
            value = value[2]
        values[key] = value
    if cls.planar_axis == "normal":
        values.pop("axis", None)
    if cls is mb.KnifeEdge:
        del values["normal"]
    if cls is mb.Tire:
        values["direction"] = (2.0, -1.0)  # along the road, whose normal is (1, 2)
    if cls is mb.PointDriver:
        del values["z"]
    if (markers := getattr(element, "given_markers", None)) is None:
        return cls(element.name, **values)
    sides = [mb.Marker(twins[marker.body.name], at=marker.at[:2]) for marker in markers]
    return cls(*sides, **{key: value for key, value in values.items() if key not in ("i", "j", "at", "axis")})


@st.composite
def systems(draw: st.DrawFn, dimension: int = 3) -> mb.System:
    """One or two bodies, one to three further elements of any class."""
    system = mb.System(draw(names), dimension=dimension, gravity=draw(st.tuples(*[moderate] * dimension)))
    if draw(st.integers(0, 3)) == 0:
        system.ground.update(shapes=draw(st.lists(shapes(), max_size=1)))
        rename(draw, system, system.ground)
    kinds = [cls for cls in BODIES if cls.dimension == dimension]
    for cls in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2)):
        body = cls.example()
        draw_parameters(draw, body, dimension)
        if takes_formulation(cls):
            fitting = strategies("formulation").filter(lambda formulation: formulation.dimension == dimension)
            body.formulation = draw(st.one_of(st.none(), fitting))
        rename(draw, system, body)
        system.add(body)
    for cls in draw(st.lists(st.sampled_from(CONNECTIONS if dimension == 3 else IN_PLANE), min_size=1, max_size=3)):
        pair = draw(st.permutations([system.ground, *system.bodies]))[:2]
        if pair[1] is system.ground:
            pair.reverse()
        if getattr(cls, "only_turns", False) and any(isinstance(body, mb.PointMass) for body in pair):
            continue  # which takes no torque
        element = example(cls, pair, guides(cls, pair)) if dimension == 3 else planar_example(cls, pair)
        draw_parameters(draw, element, dimension)
        rename(draw, system, element)
        place(system, element)
    return system


def guides(cls: Any, pair: list[Any]) -> list[Any]:
    """Two joints between the bodies, of the kinds that the class couples if it is such a class."""
    kinds = [getattr(cls, f"{which}_kind", (mb.RevoluteJoint,))[0] for which in ("first", "second")]
    points = ((0.1, 0.2, 0.3), (0.4, -0.2, 0.1))
    return [
        kind(f"guide {n}", *pair, at=at, axis=(1.0, 2.0, 2.0))
        for n, (kind, at) in enumerate(zip(kinds, points, strict=True))
    ]


def place(system: mb.System, element: Any) -> None:
    """Add an element, and before it what it refers to."""
    for name in arguments(type(element)).values():
        other = getattr(element, name)
        if other is not None and other not in system:
            while other.name in system:
                other.name += "'"
            place(system, other)
    while element.name in system:
        element.name += "'"
    system.add(element)


def rename(draw: st.DrawFn, system: mb.System, element: Any) -> None:
    """Give an element a free random name."""
    name = draw(names)
    while name in system:
        name += "'"
    element.name = name


@st.composite
def settings(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `simulate`."""
    found: dict[str, Any] = {"t_end": 1.0 + draw(st.floats(0.0, 1.0)), "dt": draw(st.one_of(st.none(), st.just(1e-3)))}
    for setting in STRATEGY_SETTINGS:
        found[setting] = draw(st.one_of(st.none(), strategies(setting)))
    return found
