"""The file that the sheet of all examples is written to."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def contact_sheet() -> ModuleType:
    pytest.importorskip("PIL")
    path = Path(__file__).parents[2] / "scripts" / "asset_makers" / "contact_sheet.py"
    specification = importlib.util.spec_from_file_location("contact_sheet", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_name_without_an_ending_is_a_png(contact_sheet: ModuleType) -> None:
    assert contact_sheet.picture("sheets/all") == Path("sheets/all.png")
    assert contact_sheet.picture("all.jpg") == Path("all.jpg")
    with pytest.raises(argparse.ArgumentTypeError, match=r"\.sheet is no ending of a picture"):
        contact_sheet.picture("all.sheet")
