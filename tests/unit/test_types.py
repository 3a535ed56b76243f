"""Names, signatures and docstrings that editors, type checkers and `help` see."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mbframe as mb
from mbframe.parameters import REQUIRED, Element
from mbframe.registry import ours
from mbframe.signatures import declared, default

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WRONG = (HERE / "users_code" / "wrong.py").read_text().splitlines()
CLASSES = [cls for cls in ours(Element) if cls.parameters()]


def test_the_stub_is_what_the_classes_declare() -> None:
    description = importlib.util.spec_from_file_location("stubs", ROOT / "scripts" / "asset_makers" / "stubs.py")
    assert description is not None
    assert description.loader is not None
    stubs = importlib.util.module_from_spec(description)
    description.loader.exec_module(stubs)
    assert (ROOT / "mbframe" / "__init__.pyi").read_text() == stubs.formatted(), "run scripts/assets stubs and commit"


def checked(sample: str) -> set[tuple[str, int]]:
    """File and line of what mypy says about a sample of users' code, as strict as it can be."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent"]
    command += ["--ignore-missing-imports", f"--cache-dir={ROOT / '.mypy_cache' / 'users'}", f"users_code/{sample}"]
    found = subprocess.run(command, cwd=HERE, env={"MYPYPATH": str(ROOT)}, capture_output=True, text=True, timeout=500)
    assert found.returncode in (0, 1), found.stderr
    return {(m[1], int(m[2])) for m in re.finditer(r"^(.+?):(\d+): error:", found.stdout, re.MULTILINE)}


def test_right_code_is_accepted() -> None:
    assert checked("right.py") == set()


def test_every_wrong_line_is_seen() -> None:
    expected = {("users_code/wrong.py", k) for k, line in enumerate(WRONG, 1) if "  # " in line}
    assert len(expected) == 17
    assert checked("wrong.py") == expected


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_signature_and_docstring_tell_every_parameter(cls: Any) -> None:
    signature = inspect.signature(cls)
    assert all(a.kind not in (a.VAR_KEYWORD, a.VAR_POSITIONAL) for a in signature.parameters.values())
    text = inspect.getdoc(cls)
    assert text is not None
    assert text.count("Parameters\n----------") == 1
    section = text.partition("Parameters\n----------\n")[2]
    for name, p in declared(cls).items():
        assert (signature.parameters[name].default is inspect.Parameter.empty) is (default(p) is REQUIRED)
        assert re.search(rf"^{name}\b", section, re.MULTILINE), name
        if "\n\nParameters" in text and cls is not mb.System:
            assert p.help in section


def test_the_section_has_default_unit_bounds_and_help() -> None:
    text = inspect.getdoc(mb.SpringDamper) or ""
    assert text.startswith("Spring and damper along the line between two points.\n\n")
    assert "\n\nParameters\n----------\nname : str\ni : Body\nj : Body\n" in text
    assert "stiffness : a finite number at least 0 (N/m), default 0.0\n    k.\n" in text
    hinge = inspect.getdoc(mb.RevoluteJoint) or ""
    assert "not all zero, default (0.0, 0.0, 1.0) in the plane, none in space\n" in hinge
    assert "axes : one of 'global', 'body', default 'global'\n" in (inspect.getdoc(mb.Torque) or "")


def test_a_class_of_a_user_has_them_too() -> None:
    class Magnet(mb.ForceElement):
        """An attraction."""

        strength = mb.parameter(2.0, unit="N", minimum=0.0, help="at one metre")

    class Stronger(Magnet):
        strength = mb.parameter(20.0, unit="N", minimum=0.0, help="at one metre")

    assert str(inspect.signature(Magnet)).startswith("(name: 'str', i: 'Body', j: 'Body', *, ")
    assert inspect.signature(Stronger).parameters["strength"].default == 20.0
    assert "strength : a finite number at least 0 (N), default 2.0\n    at one metre." in (Magnet.__doc__ or "")
    assert Stronger.__doc__ is None  # `help` takes that of its base
