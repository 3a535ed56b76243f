"""What accelerations, stabilizations and integrators have in common: a Python method, and a compiled stage for our
own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..equations.equations import Equations, Strategy
from ..kernels.compiler.compile import PythonStage
from ..parameters import Element


class SolverStrategy(Element):
    """Base class of strategies. Their parameters are declared like those of elements; they need no name.

    `method` names the Python method that a user's subclass overrides. Our own classes give `stage(eq)` instead, which
    binds a compiled stage; a subclass that overrides the method below such a class is called from the compiled loop.
    """

    method: ClassVar[str]

    def __init__(self, **values: Any) -> None:
        super().__init__(type(self).__name__, **values)

    def __str__(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        inner = super().__repr__().split("(", 1)[1].removeprefix(repr(self.name)).removeprefix(", ")
        return f"{type(self).__name__}({inner}"

    def bound(self, eq: Equations) -> Strategy:
        """The strategy as a stage of these equations."""
        for owner in type(self).__mro__:
            if "stage" in vars(owner):
                return self.stage(eq)
            if self.method in vars(owner):
                python = PythonStage(self.callback(eq))
                return Strategy(python.address, python=python, label=f"{type(self).__name__}.{self.method}")
        raise TypeError(f"{type(self).__name__} defines neither {self.method} nor stage")

    def stage(self, eq: Equations) -> Strategy:
        """The compiled strategy, by which also Python's `method` of a class that has one works."""
        raise TypeError(f"{type(self).__name__} defines neither {self.method} nor stage")

    def callback(self, eq: Equations) -> Callable[[float, int], None]:
        """The Python method as a stage: reads the current state of `eq`, writes the new one."""
        raise NotImplementedError
