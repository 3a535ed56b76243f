"""The public names: exactly those that are meant, each with a docstring, each parameter with its meaning and unit.

`public_names.txt` lists them. What joins or leaves it changes what users can rely on, and belongs into the changelog.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mbframe as mb

LISTING = Path(__file__).with_name("public_names.txt")
MODULES = {
    "": mb,
    "examples.": mb.examples,
    "flexible.": mb.flexible,
    "formulations.": mb.formulations,
    "render.": mb.render,
}
MEASURED = ("number", "numbers", "vector", "point", "matrix", "inertia", "function", "functions", "vector functions")
WITHOUT_UNIT = {
    # numbers without a dimension
    *("coefficient", "constant", "damping_ratios", "exponent", "friction", "mu", "ratio", "restitution"),
    *("rho_infinity", "rtol", "turns", "tolerance", "atol", "alpha", "penalty", "modal_coordinates"),
    # of mixed dimensions, or those of a measure
    *("stiffness", "damping", "lower", "upper", "motion", "start"),
}


def public() -> Iterator[tuple[str, Any]]:
    for prefix, module in MODULES.items():
        for name in module.__all__:
            yield prefix + name, getattr(module, name)


def test_the_listing_is_complete_and_has_nothing_else() -> None:
    assert [name for name, _ in public()] == LISTING.read_text().split()


def test_what_is_shown_is_what_is_public() -> None:
    assert dir(mb) == sorted(mb.__all__)


@pytest.mark.parametrize("prefix", [prefix for prefix in MODULES if prefix])
def test_packages_show_what_is_public_and_their_modules(prefix: str) -> None:
    package = MODULES[prefix]
    others = [name for name in dir(package) if not name.startswith("_") and name not in package.__all__]
    strange = [
        name for name in others if getattr(getattr(package, name), "__name__", "") != f"{package.__name__}.{name}"
    ]
    assert strange == []


def test_every_public_thing_is_ours() -> None:
    for name, value in public():
        origin = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "mbframe")
        assert origin.startswith("mbframe"), name


def test_every_public_thing_has_a_docstring() -> None:
    """Methods too; those that a base class asks for are described there, by their names in its docstring."""
    missing = []
    for name, value in public():
        if not callable(value):
            continue
        if not value.__doc__:
            missing.append(name)
        for key, member in vars(value).items() if inspect.isclass(value) else ():
            found = getattr(value, key)
            is_method = isinstance(member, classmethod | staticmethod | property) or inspect.isfunction(member)
            asked_for = any(key in (base.__doc__ or "") for base in value.__mro__[:-1])
            if is_method and not key.startswith("_") and not asked_for and not inspect.getdoc(found):
                missing.append(f"{name}.{key}")
    assert missing == []


def test_every_parameter_says_what_it_is_and_in_which_unit() -> None:
    missing = []
    for name, value in public():
        if inspect.isclass(value) and issubclass(value, mb.Element):
            for key, p in value.parameters().items():
                if not p.help or (p.kind in MEASURED and not p.unit and key not in WITHOUT_UNIT):
                    missing.append(f"{name}.{key}")
    assert missing == []
