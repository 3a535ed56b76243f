"""numba's compiler with what kernels need of it: less than half of the time of the whole.

- Functions that stages call are linked into them, and optimized and turned into machine code there and nowhere else.
  numba would do so for each function by itself, with all that it calls, and again with each of its callers.
- What an operator returns is found once for each kind of operands, and then remembered: numba tries dozens of
  definitions at every `a * b`, when it infers types and once more when it lowers the expression.
- Passes are left out that look for what no kernel contains: closures, array expressions, `with`, generators.

- References are not counted: kernels allocate nothing.
- A stage that is in the cache is loaded without preparing numba for compilation.

Methods of users' classes may contain anything: they are left to numba's own compiler.
"""

from __future__ import annotations

import hashlib
import io
import operator
import os
import pickle
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

from numba import _dynfunc, njit, types  # type: ignore[attr-defined]
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.errors import TypingError
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)
from numba.extending import models, register_model

from .notices import NOT_KEPT, UNUSABLE, say_once

SEAL_BYTES = hashlib.sha256().digest_size


class _Library(JITCodeLibrary):
    """The code of a function and of all that it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout  # the optimization of the whole stage comes later


class _PartOfStage(_Library):
    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True  # there is no machine code


class _WholeStage(_Library):
    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _RememberingFunction(types.Function):
    """A function that numba knows, such as `operator.mul`, with what calls of it return."""

    def __init__(self, function: types.Function) -> None:
        super().__init__(function.templates)
        self._found: dict[tuple, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        key = (*args, *kws.items())
        if key not in self._found:
            try:
                self._found[key] = super().get_call_type(getattr(context, "plain", context), args, kws)
            except TypingError as error:
                self._found[key] = error
        found = self._found[key]
        if isinstance(found, TypingError):
            raise found
        return found


register_model(_RememberingFunction)(models.OpaqueModel)


class _RememberingContext:
    """A typing context in which functions remember what their calls return."""

    def __init__(self, plain: Any) -> None:
        self.plain = plain
        self._functions: dict[Any, _RememberingFunction] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    def resolve_value_type(self, value: Any) -> Any:
        if not callable(value):
            return self.plain.resolve_value_type(value)
        if value not in self._functions:
            kind = self.plain.resolve_value_type(value)
            if type(kind) is not types.Function:
                return kind
            self._functions[value] = _RememberingFunction(kind)
        return self._functions[value]

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        known = self.resolve_value_type(func) if isinstance(func, BuiltinFunctionType) else func
        return self.plain.resolve_function_type(known, args, kws)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        return self.resolve_function_type(operator.setitem, (target, index, value), {})


_remembering = cache(_RememberingContext)


@register_pass(mutates_CFG=True, analysis_only=False)
class _TypeInference(NopythonTypeInference):
    _name = "kernel_type_inference"

    def run_pass(self, state: Any) -> bool:
        state.typingctx = _remembering(state.typingctx)
        state.targetctx = state.targetctx.subtarget(typing_context=state.typingctx)
        return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    _name = "lower_part_of_stage"

    def run_pass(self, state: Any) -> bool:
        state.library = _PartOfStage(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state.cr
        module, name = lowered.fndesc.lookup_module(), lowered.fndesc.qualname
        entry = _dynfunc.make_function(module, name, "linked into stages", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state.cr = lowered._replace(cfunc=entry)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerStage(NativeLowering):
    _name = "lower_stage"

    def run_pass(self, state: Any) -> bool:
        state.library = _WholeStage(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


class _PartCompiler(Compiler):
    lowering: type[NativeLowering] = _LowerPart

    def define_pipelines(self) -> list[Any]:
        passes = PassManager("kernel")
        for step in (
            TranslateByteCode,
            FixupArgs,
            IRProcessing,
            RewriteSemanticConstants,
            DeadBranchPrune,
            GenericRewrites,
            ReconstructSSA,
            _TypeInference,
            PreLowerStripPhis,
            IRLegalization,
            AnnotateTypes,
            self.lowering,
            NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]


class _StageCompiler(_PartCompiler):
    lowering = _LowerStage


class _SealedFile(IndexDataCacheFile):
    """Files of the cache that end with a checksum of the rest: code with a wrong bit would end the process."""

    def _load_index(self) -> Any:
        content = _unsealed(self._index_path)
        if content is None:
            return {}
        file = io.BytesIO(content)
        try:
            if pickle.load(file) != self._version:
                return {}
            stamp, entries = pickle.load(file)
        except Exception as error:  # whole, and something else
            say_once(UNUSABLE, error)
            return {}
        return entries if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        content = _unsealed(self._data_path(name))
        if content is None:
            raise FileNotFoundError(name)
        return pickle.loads(content)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        whole = io.BytesIO()
        yield whole
        content = whole.getvalue()
        with super()._open_for_write(filepath) as file:
            file.write(content + hashlib.sha256(content).digest())


def _unsealed(path: str) -> bytes | None:
    """The content of a file of the cache; None if it is not there or damaged."""
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)  # a pipe would wait for its writer
        sealed = Path(path).read_bytes() if regular else b""
    except FileNotFoundError:
        return None
    except OSError:
        sealed = b""
    content, seal = sealed[:-SEAL_BYTES], sealed[-SEAL_BYTES:]
    if hashlib.sha256(content).digest() == seal:
        return content
    say_once("compiled code in the cache is damaged and is compiled again")
    return None


class _Cache(FunctionCache):
    """A cache whose faults cost time and nothing else."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _SealedFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # Without `target_context.refresh()`: half of the time of a first simulation with a filled cache.
        try:
            return self._load_overload(sig, target_context)
        except Exception as error:  # an entry that is whole and cannot be used, such as another version's
            say_once(UNUSABLE, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._save_overload(sig, data)
        except OSError as error:
            say_once(NOT_KEPT, error)


# Division by zero gives inf or nan, as in NumPy; statuses report what matters.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}

# For the functions that stages call. Python cannot call them (see `compile.callable_from_python`).
_WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner: Any = njit(pipeline_class=_PartCompiler, **_WITHOUT_WRAPPERS, **_OPTIONS)


def compiled_stage(function: Callable, signature: Any, kept: bool) -> Any:
    """A stage from the cache, or compiled and put there; without one it stays in memory."""
    stage: Any = CFunc(function, (signature.args, signature.return_type), {}, dict(_OPTIONS), _StageCompiler)
    if kept:
        stage._cache = _Cache(function)
    stage.compile()
    return stage
