"""Which stages a model is made of, in the order in which the march calls them, and where their sources are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..equations.equations import Equations
from ..equations.stages import BoundStage
from ..kernels.compiler.compile import Stage, made_at
from ..kernels.integrators.march import march
from ..kernels.stages import planar
from ..system import System
from .prepare import prepared
from .run import Run

HOME: Final = Path(__file__).resolve().parents[2]
"""The folder from which places in the sources of mbframe are told."""
KERNELS: Final = "mbframe.kernels."


@dataclass(frozen=True)
class StageLine:
    """A stage of a model."""

    level: int
    """How deep it is called: the march is 0, what it calls 1."""
    role: str
    """What it is called for."""
    name: str
    rows: int | None
    """Of its table; None for a step of an algorithm."""
    origin: str
    """Compiled or called from Python."""
    sources: tuple[str, ...]
    """File and line of the stage, then those of the methods that it calls."""

    def __str__(self) -> str:
        rows = "" if self.rows is None else f", {self.rows} row{'s'[: self.rows != 1]}"
        return f"{'  ' * self.level}{self.role}: {self.name}{rows}, {self.origin}\n" + "\n".join(
            f"{'  ' * self.level}    {source}" for source in self.sources
        )


def explain(system: System, *, t_end: float | None = None, dt: float | None = None, **methods: Any) -> list[StageLine]:
    """The stages that `simulate` with these arguments runs; nothing is simulated."""
    chosen: dict[str, Any] = dict.fromkeys(("formulation", "acceleration", "stabilization", "integrator"), None)
    chosen |= methods
    nothing: dict[str, Any] = {"initial": None, "t_eval": None, "events": (), "output": None}
    return list(_lines(prepared("explain", system, t_end, dt, **chosen, **nothing).begin()))


def _lines(run: Run) -> Iterator[StageLine]:
    """Depth first, as they are called."""
    eq = run.eq
    yield _line(0, "march", made_at(march.address))
    yield _of_strategy(1, "step", eq, run.integrator)
    yield _of_strategy(2, "accelerate", eq, run.acceleration, "own_accelerate" if eq.tables.drives else "accelerate")
    yield _by_role(3, "evaluate", eq)
    yield from _of_elements(4, eq.stages.evaluation)
    for role in ("project", "project_velocity", "apply"):
        if eq.work[role]:
            yield _by_role(5, role, eq)
    for role in ("factorize", "eliminate", "solve", "share"):
        yield _by_role(3, role, eq)
    if eq.stages.reactive:
        yield _by_role(3, "settle", eq)
        yield from _of_elements(4, eq.stages.reactive)
    yield _of_strategy(1, "correct", eq, run.stabilization)
    for address, table in zip(eq.stages.moves, eq.tables.body_tables, strict=True):
        yield _line(2, f"displacement, {table.type.__name__}", made_at(address), len(table.rows))
    yield from _of_elements(1, eq.stages.accepts, "accepted step")
    if eq.work["interpolate"]:
        yield _by_role(1, "interpolate", eq)
    yield from _of_elements(0, eq.stages.energies)


def _by_role(level: int, role: str, eq: Equations) -> StageLine:
    return _line(level, role.replace("_", " "), made_at(int(eq.work[role])))


def _of_strategy(level: int, role: str, eq: Equations, strategy: Any, at: str = "") -> StageLine:
    """The stage of a strategy, which may be a method that a user wrote."""
    made = made_at(int(eq.work[at or role]))
    method = () if isinstance(made, Stage) else (getattr(type(strategy), strategy.method),)
    return _line(level, f"{role}, {type(strategy).__name__}", made, None, method)


def _of_elements(level: int, stages: list[BoundStage], otherwise: str = "all") -> Iterator[StageLine]:
    """Loops over elements of one type, and over what several types have."""
    for bound in stages:
        parts = [getattr(element, "formulation", element) for element in bound.elements]
        kinds = sorted({type(part).__name__ for part in parts})
        rows = len(bound.elements) if bound.python is not None else bound.count
        methods = (getattr(type(bound.elements[0]), bound.method),) if bound.python is not None else ()
        yield _line(level, ", ".join(kinds) or otherwise, made_at(bound.address), rows, methods)


def _line(level: int, role: str, stage: Any, rows: int | None = None, methods: tuple[Any, ...] = ()) -> StageLine:
    """A stage, with the methods that it calls; `methods` are those that Python calls in its place."""
    own = () if methods else (_place(stage.function),)
    called = methods or tuple(_methods(stage.function))
    sources = (*own, *(f"{method.__name__}: {_place(method)}" for method in called))
    name = methods[0].__qualname__ if methods else stage.function.__qualname__.split("[")[0]
    return StageLine(level, role, name, rows, stage.origin, sources)


def _methods(function: Any) -> Iterator[Callable[..., Any]]:
    """The methods of elements that are bound to the free names of a template."""
    for name in function.__code__.co_names:
        bound = getattr(function.__globals__.get(name), "py_func", None)
        if name == "LOOP":
            yield from _methods(bound)
        elif bound is not None and not bound.__module__.startswith(KERNELS):
            of_plane = bound.__globals__.get("method") if bound.__code__.co_filename == planar.__file__ else None
            yield getattr(of_plane, "py_func", of_plane) or bound


def _place(function: Callable[..., Any]) -> str:
    """File and line of a function."""
    code = function.__code__
    path = Path(code.co_filename)
    shown = path.relative_to(HOME).as_posix() if path.is_relative_to(HOME / "mbframe") else str(path)
    return f"{shown}:{code.co_firstlineno}"
