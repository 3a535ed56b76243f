"""The JSON Schema of model files, generated from the declared parameters; `mbframe schema` prints it.

Editors complete and check model files with it. It says what the form of a file can say; that names exist, that an
inertia can be one, and the like is left to `load`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..constraints.base import BasicConstraint
from ..functions import INTERPOLATIONS
from ..packed import KEYS, TYPES
from ..parameters import REQUIRED, Element, Parameter
from ..registry import built_in, strategy_base
from ..shapes import Shape
from ..system import System
from .catalogue import ADDED, fields, settings_of, takes_formulation
from .reader import FORMAT, SETTINGS, STRATEGY_SETTINGS, VERSION
from .values import encoded

NAME: Final = {"type": "string", "pattern": r"\S"}
NUMBER: Final = {"type": "number"}
USER_CLASS: Final = {"type": "string", "pattern": r"\.", "description": "qualified name of a class of your own"}


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the files that `save` writes and `load` reads."""
    elements = {name: cls for base in ADDED for name, cls in built_in(base).items()}
    definitions: dict[str, Any] = {"function": _FUNCTION, "marker": _MARKER, "packed": _PACKED}
    definitions |= {name: _element(cls) for name, cls in sorted(elements.items())}
    definitions |= {name: _shape(cls) for name, cls in built_in(Shape).items()}
    for setting in STRATEGY_SETTINGS:
        base = strategy_base(setting)
        definitions |= {name: _strategy(cls) for name, cls in built_in(base).items()}
        definitions[setting] = _strategies(base)
    definitions["shape"] = _one_of(built_in(Shape), "how a body looks, in its axes")
    ground = {"name": NAME, "shapes": {"type": "array", "items": {"$ref": "#/$defs/shape"}}}
    settings = {key: _property(p) for key, p in SETTINGS.items()}
    settings |= {key: {"$ref": f"#/$defs/{key}"} for key in STRATEGY_SETTINGS}
    properties = {
        "$schema": {"type": "string"},
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "name": NAME,
        **_properties(System),
        "ground": _object(ground, description="the fixed frame, if it has another name or looks like something"),
        "elements": {
            "type": "array",
            "items": _one_of(elements, "bodies, joints, constraints, forces, measures, inputs"),
        },
        "simulation": _object(settings, description="arguments of simulate"),
        "classes": {
            "type": "object",
            "description": "where users' classes came from; told to whoever lacks them, and used for nothing else",
            "additionalProperties": _object({"module": NAME, "file": NAME}),
        },
    }
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:mbframe:model:{VERSION}",
        "title": "A model of mbframe",
        "description": "SI units; points and axes are global, in the configuration in which the model is described.",
    }
    return head | _object(properties, ("format", "version", "name", "elements")) | {"$defs": definitions}


def _object(properties: Mapping[str, Any], required: tuple[str, ...] = (), description: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object"}
    if description:
        found["description"] = description
    found["properties"] = dict(properties)
    if required:
        found["required"] = list(required)
    return found | {"additionalProperties": False}


def _one_of(classes: Mapping[str, Any], description: str) -> dict[str, Any]:
    """An object of one of the classes, or of a class of a user, about which nothing is known."""
    own = {"type": "object", "properties": {"type": USER_CLASS}, "required": ["type"]}
    return {"description": description, "anyOf": [*({"$ref": f"#/$defs/{name}"} for name in classes), own]}


def _element(cls: Any) -> dict[str, Any]:
    properties: dict[str, Any] = {"type": {"const": cls.__name__}, "name": NAME, **_properties(cls)}
    in_plane = _in_plane(cls)
    required = [key for key, p in fields(cls).items() if p.default is REQUIRED and in_plane[key].default is REQUIRED]
    if takes_formulation(cls):
        properties["formulation"] = {"$ref": "#/$defs/formulation"}
    if issubclass(cls, BasicConstraint):
        # made from two markers it needs no point of its own
        properties |= {side: {"anyOf": [NAME, {"$ref": "#/$defs/marker"}]} for side in "ij"}
        required.remove("at")
    lifted = [key for key in required if fields(cls)[key].unless]
    if lifted:
        flag = fields(cls)[lifted[0]].unless
        required = [key for key in required if key not in lifted]
        told = {"properties": {flag: {"const": True}}, "required": [flag]}
        found = _object(properties, ("type", "name", *required), _first_paragraph(cls))
        return found | {"anyOf": [{"required": lifted}, told]}
    return _object(properties, ("type", "name", *required), _first_paragraph(cls))


def _shape(cls: Any) -> dict[str, Any]:
    known = {field.name: field for field in dataclasses.fields(cls)}
    required = [name for name, field in known.items() if field.default is dataclasses.MISSING]
    properties: dict[str, Any] = {"type": {"const": cls.__name__}}
    for name, field in known.items():
        p = field.metadata.get("parameter")
        properties[name] = _property(p) if p is not None else _SHAPE_FIELDS.get(name, {})
    return _object(properties, ("type", *required), _first_paragraph(cls))


def _strategies(base: type[Any]) -> dict[str, Any]:
    """A strategy may be given by its name alone, with its default parameters."""
    found = _one_of(built_in(base), _first_paragraph(base))
    return found | {"anyOf": [{"enum": list(built_in(base))}, USER_CLASS, *found["anyOf"]]}


def _strategy(cls: Any) -> dict[str, Any]:
    properties: dict[str, Any] = {"type": {"const": cls.__name__}}
    if issubclass(cls, Element):
        properties |= _properties(cls)
    else:
        properties |= {key: {} for key in settings_of(cls)}
    return _object(properties, ("type",), _first_paragraph(cls))


def _first_paragraph(cls: type[Any]) -> str:
    return " ".join((inspect.getdoc(cls) or cls.__name__).partition("\n\n")[0].split())


def _properties(cls: Any) -> dict[str, Any]:
    """What the parameters of a class allow, in space and, if it has a meaning there, in the plane."""
    in_plane = _in_plane(cls)
    return {key: _property(p, in_plane[key]) for key, p in fields(cls).items()}


def _in_plane(cls: Any) -> dict[str, Any]:
    """The parameters of a class as they are in the plane, if it has a meaning there."""
    return fields(cls, 2 if getattr(cls, "planar", True) else 3)


def _property(p: Parameter, in_plane: Parameter | None = None) -> dict[str, Any]:
    """What a parameter allows, with its help, unit and default; another form in the plane has a default of its own."""
    both = (p, in_plane or p)
    forms = [dict(_KINDS[one.kind](one)) if one.kind in _KINDS else {} for one in both]
    defaults = [{} if one.default is REQUIRED else {"default": encoded(one, one.default)} for one in both]
    if defaults[0] != defaults[1]:
        forms = [form | default for form, default in zip(forms, defaults, strict=True)]
    forms = forms[:1] if forms[0] == forms[1] else forms
    if p.optional:
        forms.append({"type": "null"})
    found: dict[str, Any] = forms[0] if len(forms) == 1 else {"anyOf": forms}
    words = f"{p.help}{f' ({p.unit})' if p.unit else ''}".strip()
    if words:
        found["description"] = words
    return found | (defaults[0] if defaults[0] == defaults[1] else {})


def _bounds(p: Parameter) -> dict[str, Any]:
    words = {"minimum": p.minimum, "maximum": p.maximum, "exclusiveMinimum": p.above}
    return {word: bound for word, bound in words.items() if bound is not None}


def _array(items: Mapping[str, Any], count: int | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "array", "items": dict(items)}
    return found if count is None else found | {"minItems": count, "maxItems": count}


def _vector(p: Parameter) -> dict[str, Any]:
    found: dict[str, Any] = NUMBER | _bounds(p)
    for count in reversed(p.shape or (None,)):
        found = _array(found, count)
    return {"anyOf": [found, _LONG]} if p.shape == (None,) else found


def _matrix(p: Parameter) -> dict[str, Any]:
    rows, columns = p.shape or (None, None)
    return {"anyOf": [_array(NUMBER, rows), _array(_array(NUMBER, columns), rows)]}


def _inertia(p: Parameter) -> dict[str, Any]:
    return {"anyOf": [_array(NUMBER, 3), _array(NUMBER, 6), _array(_array(NUMBER, 3), 3)]}


def _function(p: Parameter) -> dict[str, Any]:
    return {"$ref": "#/$defs/function"}


def _functions(p: Parameter) -> dict[str, Any]:
    return _array(_function(p), (p.shape or (None,))[0])


_LONG: Final = {"$ref": "#/$defs/packed"}
_ROTATION: Final = {"anyOf": [_array(NUMBER, 4), _array(_array(NUMBER, 3), 3)]}
_KINDS: Final[dict[str, Callable[[Parameter], Mapping[str, Any]]]] = {
    "number": lambda p: NUMBER | _bounds(p),
    "angle": lambda p: NUMBER | _bounds(p),
    "integer": lambda p: {"type": "integer"} | _bounds(p),
    "flag": lambda p: {"type": "boolean"},
    "text": lambda p: {"type": "string"},
    "choice": lambda p: {"enum": list(p.choices or ())},
    "vector": _vector,
    "numbers": lambda p: {"anyOf": [NUMBER | _bounds(p), _array(NUMBER | _bounds(p))]},
    "point": _vector,
    "axis": _vector,
    "free vector": _vector,
    "matrix": _matrix,
    "rotation": lambda p: _ROTATION,
    "inertia": _inertia,
    "function": _function,
    "functions": _functions,
    "vector functions": _functions,
    "axial functions": lambda p: _function(p) if p.shape == (2,) else _functions(p),
    "reference": lambda p: NAME,
    "shape": lambda p: {"$ref": "#/$defs/shape"},
    "shapes": lambda p: _array({"$ref": "#/$defs/shape"}),
    "modes": lambda p: {"type": "object"},
    "list": lambda p: {"type": "array"},
    "seen": lambda p: _array(NAME),
    "units": lambda p: {"type": "object", "additionalProperties": {"type": "string"}},
    "state space": lambda p: _array(_array(_array(NUMBER)), 4),
}
_SHAPE_FIELDS: Final = {
    "color": {"anyOf": [NAME, _array(NUMBER | {"minimum": 0, "maximum": 1}, 3), {"type": "null"}]},
    "path": NAME,
}
_MARKER: Final = _object({"body": NAME, "at": _array(NUMBER), "axes": _ROTATION}, ("body", "at"), "a point of a body")
_VARIABLES: Final = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_PACKED: Final = _object(
    {
        "packed": {"enum": list(TYPES)},
        "shape": _array({"type": "integer", "minimum": 0}),
        "data": {"type": "string", "contentEncoding": "base64"},
    },
    tuple(sorted(KEYS)),
    "an array of many numbers: base64 of zlib of their bytes, little endian, all first bytes first",
)
_NUMBERS: Final = {"anyOf": [_array(NUMBER), _LONG]}
_DATA: Final = {
    "constant": NUMBER,
    "expression": {"type": "string"},
    "polynomial": {"anyOf": [_array(NUMBER) | {"minItems": 1}, _LONG]},
    "table": _array(_NUMBERS, 2),
    "piecewise_linear": _array(_NUMBERS, 2),
}
_MORE: Final[dict[str, Any]] = {
    "table": {"interpolation": {"enum": list(INTERPOLATIONS), "description": "left out: spline"}},
    "expression": {"breakpoints": _array(NUMBER)},
}
_FUNCTION: Final = {
    "description": "a number, an expression such as 'sin(2*t)', or an object with other data or variables",
    "anyOf": [
        NUMBER,
        {"type": "string"},
        *(
            _object({kind: data, **_MORE.get(kind, {}), "variables": _VARIABLES}, (kind,))
            for kind, data in _DATA.items()
        ),
    ],
}
