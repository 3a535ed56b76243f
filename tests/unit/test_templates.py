"""Templates: what they read is what they list, and a missing binding is an error that names it."""

from __future__ import annotations

import dis
import importlib
import pkgutil

import pytest

from mbframe import kernels
from mbframe.kernels import free
from mbframe.kernels.compiler.templates import Free, Template, specialize, template
from mbframe.kernels.free import EQUATIONS, ROW

MODULES = [importlib.import_module(m.name) for m in pkgutil.walk_packages(kernels.__path__, "mbframe.kernels.")]
TEMPLATES = {
    f"{value.function.__module__}.{name}": value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, Template)
}


@pytest.mark.parametrize("found", TEMPLATES.values(), ids=TEMPLATES.keys())
def test_a_template_lists_just_the_free_names_that_it_reads(found):
    instructions = dis.get_instructions(found.function)
    read = {i.argval for i in instructions if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    names = found.function.__globals__
    assert {name for name in read if isinstance(names.get(name), Free)} == set(found.names)


def test_every_free_name_is_read_and_called_by_its_name():
    names = {name: value for name, value in vars(free).items() if isinstance(value, Free)}
    assert all(name == value.name for name, value in names.items())
    assert set(names) == {name for found in TEMPLATES.values() for name in found.names}


@template(ROW, EQUATIONS)
def loop(t, work, table, n):
    return EQUATIONS


def test_what_is_not_bound_is_named():
    with pytest.raises(TypeError, match=r"test_templates\.loop for spring: EQUATIONS is not bound$"):
        specialize(loop, "spring", False, ROW=None)


def test_what_is_not_free_is_named():
    with pytest.raises(TypeError, match=r"N_Q is not free"):
        specialize(loop, "spring", False, ROW=None, EQUATIONS=1, N_Q=7)


def test_a_bound_template_is_made_once():
    first = specialize(loop, "spring", False, ROW=None, EQUATIONS=2)
    assert first is specialize(loop, "spring", False, ROW=None, EQUATIONS=2)
    assert first.function(0.0, 0, 0, 0) == 2
