"""`mbframe check`, `eig` and `explain`: what can be said about a model."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from typing import Any

from ..errors import ModelError, Problem
from ..files.reader import STRATEGY_SETTINGS
from ..system import System
from ..unknown import Unknown
from .models import add_method_options, add_model_argument, model, unknown_in
from .outcome import OK, WRONG, NotAvailableError, add_output_options, tell


def add_commands(commands: Any) -> None:
    """check, eig, explain."""
    check_parser = commands.add_parser(
        "check",
        help="validate a model; print its freedoms, redundant constraints and warnings",
        description="Read a model with all its problems, close its joints, count its freedoms.",
    )
    eig_parser = commands.add_parser(
        "eig",
        help="eigenvalues and stability of a model where it is described",
        description="Linearize a model about the state in which it is described, and print its roots.",
    )
    explain_parser = commands.add_parser(
        "explain",
        help="print which compiled stages a model is made of, and where their sources are",
        description="List the stages that a simulation calls, in that order, with their rows, origin and sources.",
    )
    explain_parser.add_argument("--dt", type=float, metavar="S", help="step, as for run")
    add_method_options(explain_parser, *(name for name in STRATEGY_SETTINGS if name != "formulation"))
    for parser, command in ((check_parser, check), (eig_parser, eig), (explain_parser, explain)):
        add_model_argument(parser)
        add_method_options(parser, "formulation")
        add_output_options(parser)
        parser.set_defaults(command=command)


def engine(name: str) -> Any:
    """A function of `mbframe` that may not be there yet."""
    import mbframe

    found = getattr(mbframe, name, None)
    if found is None:
        raise NotAvailableError(f"this version of mbframe has no {name} yet")
    return found


def check(options: Namespace) -> int:
    """Validate a model and print what follows from its description."""
    from ..analysis.mobility.freedom import degrees_of_freedom
    from ..equations import Equations
    from ..solvers.starting import assembled

    system, settings = model(options)
    formulation = settings.get("formulation")
    counts = contents(system)
    if system.unknown:
        return _unknown(options, system, counts, settings)
    if not system.bodies:
        raise ModelError([Problem(str(system), "", "has no bodies; add one before it can move")])
    eq = Equations(system, formulation)
    y, moved = assembled(eq, eq.described())
    freedom = degrees_of_freedom(system, eq.state(0.0, y), formulation=formulation)
    warnings = [*eq.notices, *moved, *unknown_in(system, settings)]
    if freedom.redundant:
        warnings.append("reactions of the joints in a dependency are not unique; the motion is")
    data = {
        "model": system.name,
        "elements": counts,
        "freedom": vars(freedom),
        "warnings": warnings,
        "simulation": sorted(settings),
    }
    listed = ", ".join(f"{number} {cls}" for cls, number in counts.items())
    lines = [f"{system.name}: {listed}", str(freedom), *(f"warning: {warning}" for warning in warnings)]
    tell(options, data, "\n".join(lines).replace("\n", "\n  "))
    return OK


def _unknown(options: Namespace, system: System, counts: dict[str, int], settings: dict[str, Any]) -> int:
    """Say which elements are of unknown classes; nothing else can be said of such a model."""
    unknown = [
        {"name": e.name, "type": e.type, "joined": e.joined, "parameters": e.parameters, "reason": e.reason}
        for e in system.unknown
    ]
    listed = ", ".join(f"{number} {cls}" for cls, number in counts.items())
    lines = [f"{system.name}: {listed}", *unknown_in(system, settings)]
    data = {"model": system.name, "elements": counts, "unknown": unknown}
    tell(options, data, "\n".join(lines).replace("\n", "\n  "))
    return WRONG


def contents(system: System) -> dict[str, int]:
    """How many elements of each class there are."""
    names = [e.type if isinstance(e, Unknown) else type(e).__name__ for e in system if e is not system.ground]
    return dict(Counter(names))


def eig(options: Namespace) -> int:
    """Linearize a model and print its roots."""
    linearize = engine("linearize")
    system, settings = model(options)
    chosen = {"formulation": settings["formulation"]} if "formulation" in settings else {}
    found = linearize(system, **chosen)
    modes = [
        {
            "eigenvalue": [float(mode.eigenvalue.real), float(mode.eigenvalue.imag)],
            "frequency": float(mode.frequency),
            "damping_ratio": float(mode.damping_ratio),
        }
        for mode in found.modes
    ]
    roots = [[float(root.real), float(root.imag)] for root in found.eigenvalues]
    data = {
        "model": system.name,
        "stability": found.stability,
        "stable": found.stable,
        "unstable_count": found.unstable_count,
        "eigenvalues": roots,
        "modes": modes,
    }
    tell(options, data, str(found))
    return OK


def explain(options: Namespace) -> int:
    """Print the stages that a simulation of a model calls."""
    from ..solvers.explain import explain as stages_of

    system, settings = model(options)
    known = {key: settings[key] for key in ("t_end", "dt", *STRATEGY_SETTINGS) if key in settings}
    stages = stages_of(system, **known)
    tell(options, {"model": system.name, "stages": [vars(stage) for stage in stages]}, *map(str, stages))
    return OK
