"""Every formulation, acceleration, stabilization and integrator on examples: the full product, with a page for each."""

from __future__ import annotations

import argparse
from pathlib import Path

import mbframe as mb

SPATIAL = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute()]
PLANAR = [mb.PlanarAngle(), mb.PlanarEulerParameters(), mb.PlanarNatural()]
ACCELERATIONS = [
    mb.AugmentedFormulation(),
    mb.UdwadiaKalaba(),
    mb.ProjectionMatrix(),
    mb.AugmentedLagrangian(),
    mb.Penalty(),
]
STABILIZATIONS = [
    mb.NoStabilization(),
    mb.Baumgarte(),
    mb.DirectCorrection(),
    mb.CoordinatePartitioning(),
    mb.CoordinatePartitioning(redundancy="every step", integrate="independent"),
    mb.MassOrthogonalProjection(),
]
INTEGRATORS = [mb.RungeKutta4(), mb.AdamsBashforth(order=4), mb.DormandPrince(rtol=1e-8)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/assets laboratory", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", default=["four_bar_marques", "triple_pendulum", "bricard"])
    parser.add_argument("--t-end", type=float, default=1.0, help="end of the simulations, s")
    parser.add_argument("--dt", type=float, default=1e-3, help="step, s")
    parser.add_argument("--output", type=Path, default=Path("build/laboratory"), help="folder of the pages")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        system = getattr(mb.examples, name)()
        found = mb.compare(
            system,
            options.t_end,
            options.dt,
            formulations=PLANAR if system.dimension == 2 else SPATIAL,
            accelerations=ACCELERATIONS,
            stabilizations=STABILIZATIONS,
            integrators=INTEGRATORS,
            steps=[options.dt],
            repeats=1,
            progress=True,
        )
        page = options.output / f"{name}.html"
        found.report(page)
        print(found.table(sort="error"))
        print(f"{len(found.failures())} of {len(found.outcomes)} failed; written to {page}")


if __name__ == "__main__":
    main()
