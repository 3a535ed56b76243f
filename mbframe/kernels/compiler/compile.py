"""Compilation on demand: plain functions become compiled stages, cached between processes.

Every piece of the simulation loop is a *stage*: a function with the one signature

    int32 stage(double t, intp work, intp data, intp n)

called by address, so that what is in the loop is data and the loop itself compiles once. `work` is the address of the
workspace record, `data` that of the stage's own table or record, `n` its number of rows; the returned status is 0 or
one of the codes in `kernels.workspace`.

Formulas are written once, as plain Python methods of the elements. `jitted` compiles such a method unchanged (and the
plain functions it calls); `templates.specialize` binds it into a loop, which then runs over all elements of a type.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import logging
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any
from weakref import WeakValueDictionary

import numba
from llvmlite import ir
from numba import cfunc, njit, types
from numba.extending import intrinsic

from ..programs import expressions
from . import arrays, memory
from .backend import COMPILER, compiled_stage, inner

log = logging.getLogger("mbframe")
OVERLOADED = expressions.REPLACED  # plain functions that numba knows (see `kernels.programs.overloads`)

ABANDONED = 3600.0  # s, after which a temporary file of the cache is that of a killed process: writing takes no time
SIGNATURE = types.int32(types.float64, types.intp, types.intp, types.intp)
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_ssize_t)


@intrinsic
def call(typingctx, address, t, work, data, n):
    """Call the stage at `address`."""

    def generate(context, builder, signature, args):
        stage = ir.FunctionType(ir.IntType(32), [ir.DoubleType(), *[ir.IntType(64)] * 3])
        return builder.call(builder.inttoptr(args[0], stage.as_pointer()), args[1:])

    return types.int32(types.intp, types.float64, types.intp, types.intp, types.intp), generate


# What has no part in compiled code: changing it keeps the cache. A name missing here only costs compilation.
NEVER_COMPILED = {
    *("analysis", "cli", "disk", "examples", "files", "plots", "render", "solvers"),
    *(
        "applications.py",
        "errors.py",
        "limits.py",
        "packed.py",
        "quantities.py",
        "results.py",
        "state.py",
        "stored_states.py",
    ),
    *("expression_trees.py", "features.py", "poles.py"),
}


def source_hash(package: Path) -> str:
    """Identifies all sources that compiled code or the layout of its tables can come from."""
    digest = hashlib.sha256(f"{COMPILER} {numba.__version__} {sys.version}".encode())
    for source in sorted(package.rglob("*.py")):
        if source.relative_to(package).parts[0] not in NEVER_COMPILED:
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


# Taken when the sources are loaded: an edit made later must not file the old code under the new name.
SOURCES = source_hash(Path(__file__).resolve().parents[2])


@cache
def cache_directory() -> Path:
    """Where compiled code is kept: one folder per version of the sources.

    numba's own cache does not notice that a function *called* from another file was edited, so the folder's name
    contains a hash of the sources. `MBFRAME_CACHE_DIR` overrides the place.
    """
    given = os.environ.get("MBFRAME_CACHE_DIR")
    base = Path(given) if given else _user_cache() / "mbframe"
    directory = base / SOURCES
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK):
            raise PermissionError(f"{directory} is not writable")
        for rest in directory.rglob("*.tmp.*"):
            with suppress(OSError):
                if abs(time.time() - rest.stat().st_mtime) > ABANDONED:
                    rest.unlink()
    except OSError as error:
        with suppress(OSError):  # without any place it stays in memory
            directory = Path(tempfile.mkdtemp(prefix="mbframe-cache-"))
        log.warning(
            "compiled code cannot be kept (%s): it is compiled anew in each session; set MBFRAME_CACHE_DIR", error
        )
    return directory


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home())))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"))


@contextmanager
def _caching_in(directory: Path) -> Iterator[None]:
    # numba looks at its configuration when a function is decorated; a user's own numba code keeps its own place.
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(directory)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    # Compilation makes millions of objects that live on: looking for garbage among them costs a tenth of its time.
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _hearing_ctrl_c() -> Iterator[None]:
    # LLVM calls back, and what is raised in there is lost: compiling goes on, and fails for want of what it was to get.
    usual, lost = sys.unraisablehook, []

    def note(found: Any) -> None:
        if issubclass(found.exc_type, KeyboardInterrupt):
            lost.append(found.exc_type)
        else:
            usual(found)

    sys.unraisablehook = note
    try:
        yield
    except Exception:
        if not lost:
            raise
    finally:
        sys.unraisablehook = usual
    if lost:
        raise KeyboardInterrupt


_dispatchers: dict[tuple[Callable, type | None, bool], Any] = {}


def jitted(function: Callable, owner: type | None = None, complex_steps: bool = False) -> Any:
    """`function` compiled unchanged when first called, with the plain functions of its module that it calls.

    `owner`, the class whose rows it is called with, keeps a method apart that several classes inherit: numba would
    take the rows of one for those of another that begin alike, and warn. With `complex_steps` it takes arguments with
    imaginary parts, and functions that these pass through (`programs.analytic`) in the place of some of numpy's.
    """
    key = function, owner, complex_steps
    if key not in _dispatchers:
        callees = {
            name: memory.matrix if value is arrays.numbers else jitted(value, complex_steps=complex_steps)
            for name in function.__code__.co_names
            if isinstance(value := function.__globals__.get(name), FunctionType)
            and value is not function
            and value not in OVERLOADED
            and not (value.__module__ or "").startswith("numpy")
        }
        if complex_steps:
            from ..programs import analytic  # which is not needed where nobody has written a constraint

            callees |= analytic.replacements(function)
        ours = (function.__module__ or "").startswith("mbframe.")  # code run by exec may belong to no module
        # A user's index out of bounds is an IndexError, as in Python, and not a number from elsewhere.
        decorate = inner if ours else njit(nogil=True, boundscheck=True)
        _dispatchers[key] = decorate(rebound(function, function.__qualname__, callees))
    return _dispatchers[key]


@cache
def callable_from_python(function: Callable) -> Any:
    """`function` compiled so that Python can call it, as tests do."""
    return njit(error_model="numpy")(jitted(function).py_func)


@cache
def called_by_stages(function: Callable) -> Any:
    """A bound stage compiled so that another one can call it."""
    return njit(nogil=True, error_model="numpy")(function)


def rebound(function: Callable, qualname: str, names: dict[str, Any]) -> FunctionType:
    """A function with some of its global names bound."""
    bound = FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    bound.__qualname__ = qualname
    bound.__module__ = function.__module__
    return bound


_made: WeakValueDictionary[int, Stage | PythonStage | StageOnDemand] = WeakValueDictionary()


def made_at(address: int) -> Any:
    """The stage that begins at an address."""
    return _made[address]


class Stage:
    """A plain function with the stage signature, compiled when its address is first asked for.

    (`@cfunc` itself would compile at import.) `cached=False` is for what depends on a user's class.
    """

    def __init__(self, function: Callable, cached: bool = True) -> None:
        self.function = function
        self.cached = cached
        self._compiled: Any = None

    @property
    def compiled(self) -> bool:
        """Whether its address is at hand."""
        return self._compiled is not None

    @property
    def address(self) -> int:
        if self._compiled is None:
            self._compiled = self._compile()
            _made[self._compiled.address] = self
        return self._compiled.address

    @property
    def origin(self) -> str:
        """Where its code comes from."""
        if not self.cached:
            return "compiled for this process"
        return "compiled, from the cache" if self._compiled and self._compiled.cache_hits else "compiled just now"

    def _compile(self) -> Any:
        if not self.cached:
            began = time.process_time()
            with _seldom_collecting(), _hearing_ctrl_c():
                compiled = cfunc(SIGNATURE, nogil=True, error_model="numpy")(self.function)
            log.info("compiled %s in %.1f s", self.function.__qualname__, time.process_time() - began)
            return compiled
        directory = cache_directory()
        # Our own mark of what is in the cache, so that the notice comes before the wait and not after it.
        mark = directory / f"{self.function.__module__}.{self.function.__qualname__}.ready"
        cold = not mark.exists()
        if cold:
            _announce()
        began = time.process_time()
        with _caching_in(directory), _seldom_collecting(), _hearing_ctrl_c():
            compiled = compiled_stage(self.function, SIGNATURE, kept=directory.is_dir())
        if cold:
            with suppress(OSError):
                mark.touch()
            log.info("compiled %s in %.1f s", self.function.__qualname__, time.process_time() - began)
        return compiled


@cache
def _announce() -> None:
    log.warning(
        "mbframe is compiling its solver for first use; this is kept for the next time (or run: mbframe warmup)"
    )


class PythonStage:
    """A plain Python function as a stage. An exception in it ends the loop and waits in `raised` with its traceback."""

    FAILED = -1
    origin = "called from Python"

    def __init__(self, function: Callable[[float, int], None]) -> None:
        self.function = function
        self.raised: list[BaseException] = []

        def trampoline(t: float, work: int, data: int, n: int) -> int:
            try:
                function(t, n)
                return 0
            except BaseException as error:  # also Ctrl-C: it must reach the caller of the compiled loop
                self.raised.append(error)
                return self.FAILED

        self._callback = CALLBACK(trampoline)
        address = ctypes.cast(self._callback, ctypes.c_void_p).value
        assert address is not None
        self.address: int = address
        _made[address] = self


class StageOnDemand:
    """A stage that is compiled when another stage first calls it: for what few models need.

    `place` is where in the workspace the other stage finds its address (bytes), to put the compiled one there. One
    object serves all workspaces of the process: to make what compiled code can call costs more than it looks.
    """

    def __init__(self, stage: Stage, place: int) -> None:
        def trampoline(t: float, work: int, data: int, n: int) -> int:
            try:
                ctypes.c_int64.from_address(work + place).value = stage.address
                return run_stage(stage.address, t, work, data, n)
            except BaseException as error:  # as in PythonStage
                self._told.error = error
                return PythonStage.FAILED

        self._stage, self.function = stage, stage.function
        self._told = threading.local()  # runs of several threads share this stage
        self._callback = CALLBACK(trampoline)
        address = ctypes.cast(self._callback, ctypes.c_void_p).value
        assert address is not None
        self._trampoline: int = address
        _made[address] = self

    @property
    def origin(self) -> str:
        """Where its code comes from."""
        return self._stage.origin if self._stage.compiled else "compiled when it is needed"

    @property
    def address(self) -> int:
        """What to call: the stage itself once it is compiled."""
        return self._stage.address if self._stage.compiled else self._trampoline

    def raised(self) -> BaseException | None:
        """What went wrong in the last call by this thread, told once."""
        error = getattr(self._told, "error", None)
        self._told.error = None
        return error


def run_stage(address: int, t: float, work: int, data: int, n: int) -> int:
    """Call a stage from Python; the interpreter lock is released meanwhile."""
    return CALLBACK(address)(t, work, data, n)
