"""Digests of every example's motion: equal lines before and after a change mean equal bits.

    python scripts/digest.py > before.txt
    python scripts/digest.py | diff before.txt -

A digest covers instants, coordinates, velocities, own states and multipliers. Bits depend on the processor and on the
versions of numba and numpy, so digests are compared on one machine and are not kept.
"""

from __future__ import annotations

import argparse
import hashlib
import warnings
from typing import Any

import numpy as np

import mbframe as mb

SECONDS = 0.2


METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "RungeKutta4": {"dt": 1e-3, "integrator": mb.RungeKutta4()},
    "GeneralizedAlpha": {"dt": 1e-3, "integrator": mb.GeneralizedAlpha()},
}
"""How each example is run: adaptive, with fixed steps, implicit."""


def digest(result: mb.Result) -> str:
    """The first digits of a checksum over all numbers of a run."""
    found = hashlib.sha256()
    for values in (result.t, result.q, result.v, result.z, result.multipliers):
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", metavar="name", default=mb.examples.names(), help="examples; all of them by default"
    )
    warnings.simplefilter("ignore")
    for name in parser.parse_args().names:
        for label, options in METHODS.items():
            try:
                result = mb.simulate(getattr(mb.examples, name)(), SECONDS, **options)
            except mb.MbframeError as error:
                line = f"refused: {str(error).splitlines()[0][:60]}"
            else:
                line = f"{len(result):6d} instants  {digest(result)}"
            print(f"{name:26s} {label:18s} {line}", flush=True)


if __name__ == "__main__":
    main()
