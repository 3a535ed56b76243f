"""What counting the degrees of freedom finds. It is apart from the counting, which needs a solver and SciPy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Freedom:
    """What the constraints leave free.

    Parameters
    ----------
    count
        Number of independent velocities.
    redundant
        Number of equations that follow from others.
    rank
        Number of independent equations.
    equations
        Number of equations of the joints; normalizations of coordinates do not count.
    joints_involved
        Joints whose equations take part in a dependency.
    dependencies
        One for each redundant equation: how strongly joints take part in it, 1 for the one that does most.
    unique_reactions
        Joints whose reactions are determined by the motion and the loads. Those of the others are not: rigid bodies
        share loads along a dependency in a way that only their elasticity could decide.
    singular
        Empty, or what is special about this position: nearby more equations are independent.
    """

    count: int
    redundant: int
    rank: int
    equations: int
    joints_involved: list[str]
    dependencies: list[dict[str, float]]
    unique_reactions: list[str]
    singular: str = ""

    def __str__(self) -> str:
        equations = number(self.equations, "equation")
        lines = [f"{number(self.count, 'degree')} of freedom: {equations}, {self.rank} independent"]
        if self.redundant:
            lines.append(f"{number(self.redundant, 'dependency', 'dependencies')} between equations of the joints:")
            alike = Counter(", ".join(f"{n} ({w:.2g})" for n, w in parts.items()) for parts in self.dependencies)
            lines += [f"  {times} x  {parts}" for parts, times in alike.items()]
            lines.append(f"unique reactions: {', '.join(self.unique_reactions) or 'none'}")
        if self.singular:
            lines.append(f"singular position: {self.singular}")
        return "\n".join(lines)


def number(n: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{n} {one if n == 1 else many or one + 's'}"
