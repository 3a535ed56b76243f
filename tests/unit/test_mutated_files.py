"""Thousands of damaged model files and expressions: a `ModelError` or a model, and nothing else.

The damage is random with fixed seeds. An audit hook watches that reading never imports, compiles, executes or opens
anything.
"""

from __future__ import annotations

import copy
import json
import random
import string
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mbframe as mb
from mbframe.files.json_text import MAX_TEXT, dumps, parse
from mbframe.files.model import document, system_from
from mbframe.functions import Function
from mbframe.plug_ins import offered

NESTED_EXPRESSION = "(" * 5000 + "t" + ")" * 5000

EXPRESSIONS = [
    "__import__('os').system('true')",
    "t.__class__.__mro__",
    "().__class__",
    "getattr(t, 'x')",
    "__builtins__",
    "lambda: 0",
    "[t for t in (1,)]",
    "t if t else 0",
    "exec(t)",
    "9**9**9**9",
    "10.0**400",
    "-9**0.5**-9e99",
    "2**(2**(2**(2**(2**t))))",
    "1e999",
    "1e-999 / 0",
    "0/0",
    "log(-1)",
    "t" * 9999,
    "t+" * 4999 + "t",
    "-" * 9999 + "t",
    "sin(" * 2000 + "t",
    NESTED_EXPRESSION,
    "max(" + "t," * 3000 + "t)",
    "if(t,if(t," * 40,
    "t; t",
    "t\nt",
    "t\x00",
    "\ud800",
    "𝒕",
    "１",
    "0x10",
    "1_000",
    "1j",
    "",
    " ",
    "nan",
    "inf",
    "step(t, 1, 0, 0, 1)",
    "atan2(0, 0)",
    "sqrt(t - 1e308*1e308)",
]

JUNK: list[Any] = [
    *(None, True, False, 0, -1, 1, 0.0, -0.0, 1e308, -1e308, 5e-324, 2**53, 2**200, 10**400, "", " ", "ground", "x"),
    *([], {}, [[]], [{}], [None], [True, False, True], ["a", "b", "c"], [1, 2], [1, 2, 3], [0, 0, 0], [1e308] * 3),
    *([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0], [0, 1]], [[1, 0, 0], [0, 1]], [1e308] * 4, [[1e200] * 3] * 3),
    *({"type": "Box"}, {"type": "os.system"}, {"type": ["Box"]}, {"table": [[0, 1], [1e308, -1e308]]}),
    *({"table": [[0, 0], [1, 1]]}, {"table": [[1, 2, 3]]}, {"table": "t"}, {"table": [[0.0] * 1000, [1.0] * 1000]}),
    *({"table": [[0.0, 5e-324, 1.0], [1e300, -1e300, 1.0]]}, {"polynomial": []}, {"polynomial": [1e308] * 300}),
    *({"expression": 3}, {"expression": "u", "variables": ["u", "u"]}, {"expression": "u", "variables": [["u"]]}),
    *({"constant": "1"}, {"constant": 1, "expression": "1"}, {"piecewise_linear": [[0, 1], [0]]}, {"callable": "f"}),
    *({"body": "ground", "at": [0, 0, 0]}, {"body": "nobody", "at": [1], "axes": 3}, "\ud800", "a" * 20_000),
    *("__class__", "os.system", "mbframe.system.System", "NaN", "1e5", "\u0000", "RigidBody", "DormandPrince"),
    *EXPRESSIONS[:12],
]


class Watch:
    """Notes what must not happen while a file is read."""

    FORBIDDEN = ("exec", "compile", "import", "open", "subprocess.Popen", "os.system", "os.exec", "socket.connect")

    def __init__(self) -> None:
        self.active, self.seen = False, []  # type: ignore[var-annotated]
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.active and event in self.FORBIDDEN:
            self.seen.append((event, str(arguments)[:200]))


@pytest.fixture(scope="module")
def watch() -> Watch:
    system_from(parse(dumps(document(model(), {"t_end": 1.0, "integrator": mb.RungeKutta4()})), "text"))
    Function.table([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], interpolation="spline")  # what is imported lazily is imported now
    return Watch()


def model() -> mb.System:
    """Something of everything."""
    system = mb.examples.spatial_slider_crank()
    crank, rod, slider = system.bodies
    system.add(
        mb.SpringDamper("spring", crank, rod, stiffness=10.0, force="3*x**2", damping_force=0.5, free_length=0.0)
    )
    system.add(mb.PointForce("push", rod, force=(1.0, "sin(t)", mb.Function.table([0.0, 1.0, 2.0], [0.0, 1.0, 0.0]))))
    system.add(mb.Torque("twist", slider, torque=(0, 0, mb.Function.polynomial([1.0, 2.0]))))
    system.add(mb.Bushing("bushing", system.ground, slider, at=(0, 0, 0), stiffness=(1, 2, 3, 4, 5, 6)))
    system.add(mb.Friction("rub", system["D"], coefficient=0.2))
    system.add(mb.FixedDistance(mb.Marker(crank, at=(0, 0, 1)), mb.Marker(rod, at=(0, 0, 2)), distance=1.0))
    system.add(mb.Distance("gap", crank, slider))
    system.ground.update(shapes=[mb.Box(size=(1, 1, 1), color="red")])
    rod.formulation = mb.EulerAngles("XYZ")
    return system


def outcome(watch: Watch, read: Callable[[], Any]) -> str:
    """ "model" or "error"; anything else that happens is a failure of the test."""
    watch.seen.clear()
    watch.active = True
    try:
        read()
        result = "model"
    except mb.ModelError as error:
        result = "error"
        text = str(error)
        assert text
        assert len(text) < 2_000_000
    finally:
        watch.active = False
    assert not watch.seen
    return result


# ---- damaged documents ----


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """All containers of a document with the keys in them."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def damage(content: Any, rng: random.Random) -> None:
    """Change one place of a document."""
    container, key = rng.choice(list(places(content)))
    action = rng.randrange(6)
    if action == 0:
        del container[key]
    elif action == 1 and isinstance(container, dict):
        container[misspelled(key, rng)] = container.pop(key)
    elif action == 2:
        other, where = rng.choice(list(places(content)))
        container[key] = copy.deepcopy(other[where])
    elif action == 3 and isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    elif action == 4 and isinstance(container[key], str):
        container[key] = misspelled(container[key], rng)
    else:
        container[key] = copy.deepcopy(rng.choice(JUNK))


def misspelled(word: str, rng: random.Random) -> str:
    letters = list(word or "x")
    where = rng.randrange(len(letters))
    letters[where : where + rng.randrange(2)] = rng.choice([*string.printable, "é", "\u2028"])
    return "".join(letters)


def test_damaged_documents(watch: Watch) -> None:
    rng = random.Random(1)
    offered()  # what installed packages have is read once, when a file names a class that nobody knows
    whole = document(model(), {"t_end": 1.0, "dt": 0.01, "integrator": mb.DormandPrince(rtol=1e-8)})
    found = []
    for _ in range(1000):
        content = copy.deepcopy(whole)
        for _ in range(rng.choice([1, 1, 2, 5])):
            damage(content, rng)
        text = json.dumps(content)
        found.append(outcome(watch, lambda text=text: system_from(parse(text, "text"))))
    assert found.count("error") > 500
    assert found.count("model") > 50  # harmless damage: other numbers, other names


def test_damaged_bytes(watch: Watch) -> None:
    rng = random.Random(2)
    whole = dumps(document(model())).encode()
    found = []
    for _ in range(600):
        content = bytearray(whole)
        for _ in range(rng.choice([1, 1, 3, 10])):
            where = rng.randrange(len(content))
            action = rng.randrange(4)
            if action == 0:
                content[where] = rng.randrange(256)
            elif action == 1:
                del content[where : where + rng.randrange(1, 50)]
            elif action == 2:
                content[where:where] = rng.choice(
                    [b"[", b"{", b'"', b"\\", b"-", b"e", b"NaN", b"\xff\xfe", b",", b"\x00"]
                )
            else:
                source = rng.randrange(len(content))
                content[where:where] = content[source : source + rng.randrange(1, 200)]
        found.append(outcome(watch, lambda data=bytes(content): system_from(parse(data, "bytes"))))
    assert found.count("error") > 400


# ---- expressions ----


def test_expressions_that_try_something(watch: Watch) -> None:
    for text in EXPRESSIONS:
        outcome(watch, lambda text=text: Function(text)(0.5))
    assert {outcome(watch, lambda text=text: Function(text)(0.5)) for text in EXPRESSIONS[:12]} == {"error"}


def test_damaged_expressions(watch: Watch) -> None:
    rng = random.Random(3)
    pieces = [
        *("t", "1", "2.5e3", "pi", "e", "+", "-", "*", "/", "**", "(", ")", ",", "<", "==", "!=", " ", ".", "_", "__"),
        *("sin(", "if(", "max(", "step(", "atan2(", "sqrt(", "log(", "exp(", "1e308", "9e99", "0", "t.", "[", "'", "@"),
    ]
    found = []
    for _ in range(1000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 30)))
        found.append(outcome(watch, lambda text=text: Function(text)(rng.choice([0.0, -1.0, 1e300]))))
    good = ["sin(2*t)", "if(t < 1, t**2, exp(-t))", "step(t, 0, 0, 1, 5)", "max(1, t, 2)", "-t**-2", "atan2(t, 1 + t)"]
    for _ in range(500):
        text = misspelled(rng.choice(good), rng)
        found.append(outcome(watch, lambda text=text: Function(text)(0.5)))
    assert found.count("model") > 20
    assert found.count("error") > 500


# ---- single files that could stop a reader ----


def element(**members: Any) -> str:
    body = {"type": "RigidBody", "name": "b", "mass": 1, "inertia": [1, 1, 1]} | members
    return json.dumps({"format": "mbframe model", "version": 1, "name": "m", "elements": [body]})


def many(count: int, **members: Any) -> str:
    elements = [{"type": "RigidBody", "name": f"b{n}", **members} for n in range(count)]
    return json.dumps({"format": "mbframe model", "version": 1, "name": "m", "elements": elements})


HOSTILE = {
    "nothing": b"",
    "null bytes": b"\x00" * 100,
    "UTF-16": element().encode("utf-16"),
    "Latin-1": element(name="Räder").encode().replace(b"\\u00e4", b"\xe4"),
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep and closed": b"[" * 900 + b"]" * 900,
    "many empty lists": b"[" + b"[]," * 9_000_000 + b"[]]",
    "huge integer": element(mass=10**4200).encode(),
    "longer integer": b'{"version": ' + b"9" * 5000 + b"}",
    "huge float": element().replace('"mass": 1', '"mass": 1e400').encode(),
    "NaN": element().replace('"mass": 1', '"mass": NaN').encode(),
    "minus infinity": element().replace('"mass": 1', '"mass": -Infinity').encode(),
    "key twice": element().replace('"mass": 1', '"mass": 1, "mass": 2').encode(),
    "half a surrogate": element(name="\ud800").encode(),
    "long name": element(name="n" * (MAX_TEXT + 1)).encode(),
    "long key": element(**{"k" * 9000: 1}).encode(),
    "many unknown keys": element(**{f"key{n}": n for n in range(20_000)}).encode(),
    "huge table": element(mass={"table": [[0.0] * 300_000, [0.0] * 300_000]}).encode(),
    "huge vector": element(position=[0.5] * 500_000).encode(),
    "nested vector": element(position=[[[[[[[[1.0]]]]]]]]).encode(),
    "lists for bodies": element(type="RevoluteJoint", i=["ground"], j={"body": [["b"]]}).encode(),
    "many broken elements": many(20_000).encode(),
    "many nameless elements": many(50_000, name="").encode(),
    "chain of references": json.dumps(
        {
            "format": "mbframe model",
            "version": 1,
            "name": "m",
            "elements": [
                {"type": "GearJoint", "name": f"g{n}", "first": f"g{n + 1}", "second": f"g{n + 2}", "ratio": 1}
                for n in range(5000)
            ],
        }
    ).encode(),
    "circle of references": json.dumps(
        {
            "format": "mbframe model",
            "version": 1,
            "name": "m",
            "elements": [
                {"type": "GearJoint", "name": "g1", "first": "g2", "second": "g2", "ratio": 1},
                {"type": "GearJoint", "name": "g2", "first": "g1", "second": "g1", "ratio": 1},
                {"type": "Friction", "name": "g3", "joint": "g3"},
            ],
        }
    ).encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, watch: Watch) -> None:
    assert outcome(watch, lambda: system_from(parse(HOSTILE[name], "bytes"))) == "error"


def test_a_large_table_is_read_in_time(watch: Watch) -> None:
    points = [0.001 * n for n in range(50_000)]
    push = {"type": "PointForce", "name": "f", "body": "b", "force": [0, 0, {"table": [points, points]}]}
    content = json.loads(element())
    content["elements"].append(push)
    assert outcome(watch, lambda: system_from(parse(json.dumps(content), "text"))) == "model"
