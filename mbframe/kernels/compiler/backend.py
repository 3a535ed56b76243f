"""Which compiler makes the stages: mbframe's own (`pipeline`), or numba's by its documented interface (`documented`).

Both make the same machine code; the own one takes half of the time, but uses parts of numba that are not documented.
So it is taken with versions of numba that it was tried with, and the other one with all that come later.
`MBFRAME_COMPILER` says otherwise: "own" or "numba".
"""

from __future__ import annotations

import os
from types import ModuleType

import numba

from .notices import say_once

CHOICE = "MBFRAME_COMPILER"
TRIED = ((0, 65), (0, 68))
"""The first and the last numba that the own compiler was tried with (`scripts/stress versions`)."""


def chosen(wish: str, version: str) -> tuple[str, ModuleType]:
    """The name of the compiler and its module, by what the user wishes ("" if nothing) and the version of numba."""
    from . import documented

    if wish not in ("", "own", "numba"):
        raise ImportError(f"{CHOICE} is {wish!r}; allowed are 'own' and 'numba'; or unset it")
    slow = "stages are compiled by numba's documented interface: the same results, about twice the time of compiling"
    first, last = TRIED
    if wish == "" and not first <= tuple(map(int, version.split(".")[:2])) <= last:
        say_once(f"numba {version} is none of those that mbframe's own compiler was tried with; {slow}")
        wish = "numba"
    if wish != "numba":
        try:
            from . import pipeline
        except Exception as error:  # whatever another version lacks, or refuses when it is asked for
            if wish == "own":
                raise
            say_once(f"mbframe's own compiler does not work with numba {version}; {slow}", error)
        else:
            return "own", pipeline
    return "numba", documented


COMPILER, _module = chosen(os.environ.get(CHOICE, ""), numba.__version__)
inner, compiled_stage = _module.inner, _module.compiled_stage
