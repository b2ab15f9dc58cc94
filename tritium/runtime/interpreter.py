"""The patchable interpreter: `triton.runtime.interpreter`, whose parts sanitizers, profilers and tracers replace.

`InterpretedFunction(fn)[grid](...)` runs the Python function `fn` itself for one program after the other. Functions of
the language that it calls execute at once on `TensorHandle`s, each operation by a method of `interpreter_builder`.
Clients replace these methods, `GridExecutor.__call__`, methods of `ASTTransformer`, or functions of the language.

Launches under TRITON_INTERPRET=1 take the other interpreter, which has positions for all errors (docs/interpreter.md).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from .. import language as tl
from ..frontend.callee import LanguageFunction, SourceFunction, python_calls
from ..frontend.errors import CallFrame, LanguageError
from ..frontend.language.builtin import is_builtin
from ..frontend.source import SourceText
from ..interpreter.handle_builder import ExtraFunctions, InterpreterBuilder, InterpreterOptions
from ..interpreter.handle_semantic import interpreter_builder, interpreter_semantic
from ..interpreter.handles import BlockPointerHandle, TensorDescHandle, TensorHandle, numpy_dtype, signed_numpy_dtype
from ..interpreter.kernels import InterpreterError
from ..ir import Value
from ..support import TritiumError, settings
from ..support.errors import interrupts
from .arrays import TensorWrapper, is_array, refuse_marked
from .interpreted import Arrays
from .interpreter_frames import name_frames
from .interpreter_rewriting import ASTTransformer, FunctionRewriter
from .jit import JITFunction, KernelInterface
from .specialize import mangle_type
from .tensor_descriptor import TensorDescriptor

__all__ = [
    "ASTTransformer",
    "BlockPointerHandle",
    "ExtraFunctions",
    "FunctionRewriter",
    "GridExecutor",
    "InterpretedFunction",
    "InterpreterBuilder",
    "InterpreterError",
    "InterpreterOptions",
    "ReduceOps",
    "ReduceScanOpInterface",
    "ScanOps",
    "TensorDescHandle",
    "TensorHandle",
    "interpreter_builder",
    "interpreter_semantic",
]

T = TypeVar("T")
_MISSING = object()

# names under which clients import objects with other names here
_get_np_dtype = numpy_dtype
_get_signed_np_dtype = signed_numpy_dtype


# -- functions of the language called from Python -----------------------------------------------------------------


class _LangPatchScope:
    """Replaced attributes, and their original values."""

    def __init__(self) -> None:
        self._changes: list[tuple[object, str, object]] = []

    def set_attr(self, obj: object, name: str, value: object) -> None:
        """Set an attribute until `restore`."""
        self._changes.append(
            (obj, name, vars(obj).get(name, _MISSING) if isinstance(obj, type) else getattr(obj, name, _MISSING))
        )
        setattr(obj, name, value)

    def restore(self) -> None:
        """Undo all changes, the last one first."""
        while self._changes:
            obj, name, original = self._changes.pop()
            if original is _MISSING:
                delattr(obj, name)
            else:
                setattr(obj, name, original)


def _call_from_python(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Execute a call of a function of the language: library functions by operations, the user's as Python."""
    if isinstance(fn, SourceFunction) and not isinstance(fn, LanguageFunction):
        return InterpretedFunction(fn.fn)(*args, **kwargs)
    return interpreter_semantic.call(fn, args, kwargs)


def _patch_attr(obj: Any, name: str, member: Any, builder: Any, scope: _LangPatchScope) -> None:
    def replacement(*args: Any, member: Any = member, **kwargs: Any) -> Any:
        return interpreter_semantic.call(member, args, kwargs)

    scope.set_attr(obj, name, replacement)


def _patch_builtin(pkg: Any, builder: Any, scope: _LangPatchScope) -> None:
    """Make the builtin functions of a module or class execute at once."""
    for name, member in inspect.getmembers(pkg):
        if is_builtin(member):
            _patch_attr(pkg, name, member, builder, scope)


def _truth(self: Any) -> bool:
    if isinstance(self.handle, Value):
        raise TypeError("the truth of a run-time value is not known while compiling")
    data = self.handle.data
    if data.size == 1:
        return bool(data)
    if isinstance(self.handle, TensorHandle):
        raise ValueError(f"the truth of a block of shape {list(data.shape)} is ambiguous: use tl.max or tl.min on it")
    return True


def _equality(name: str) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: Any) -> Any:
        if isinstance(self.handle, Value) or isinstance(getattr(other, "handle", None), Value):
            return (self is other) == (name == "eq")  # the compiler compares identities
        return interpreter_semantic.binary(name, self, other)

    return compare


def _patch_lang_tensor(tensor: Any, scope: _LangPatchScope) -> None:
    """Make tensors behave like numbers where Python needs one."""
    scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.squeeze()))
    scope.set_attr(tensor, "__int__", lambda self: int(self.handle.data.squeeze()))
    scope.set_attr(tensor, "__float__", lambda self: float(self.handle.data.squeeze()))
    scope.set_attr(tensor, "__bool__", _truth)
    scope.set_attr(tensor, "__repr__", lambda self: repr(self.handle.data))
    scope.set_attr(tensor, "__str__", lambda self: str(self.handle.data))
    scope.set_attr(tensor, "__eq__", _equality("eq"))
    scope.set_attr(tensor, "__ne__", _equality("ne"))
    scope.set_attr(tensor, "__hash__", object.__hash__)
    scope.set_attr(tensor, "T", property(lambda self: interpreter_semantic.call(tl.trans, (self,), {})))


class ReduceScanOpInterface:
    """A reduction or scan of tensors along `axis` by the function `combine_fn`."""

    def __init__(self, axis: Any, combine_fn: Any) -> None:
        self.axis = axis
        self.combine_fn = combine_fn

    def check_axis(self, shape: Sequence[int], axis: int | None) -> None:
        """ValueError for an axis that the shape does not have."""
        if axis is not None and not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis {axis} out of bounds for shape {list(shape)}")

    def check_tensor(self, input: Sequence[Any]) -> None:
        """ValueError unless all inputs are tensors that have the axis."""
        for x in input:
            if not isinstance(x, tl.tensor):
                raise ValueError(f"input must be a tensor, got {type(x)}")
            self.check_axis(x.type.shape, self.axis)

    def to_tensor(self, ret: Any, dtype: Any) -> Any:
        """A NumPy array, or a number, as a tensor of type `dtype`."""
        array = np.asarray(ret)
        data = (array if array.ndim else array.reshape(1)).astype(numpy_dtype(dtype))
        ty = tl.block_type(dtype.scalar, array.shape) if array.ndim else dtype.scalar
        handle: Any = TensorHandle(data, dtype.scalar)
        return tl.tensor(handle, ty)

    def apply_impl(self, input: tuple[Any, ...]) -> Any:
        """The results, one for each input."""
        raise NotImplementedError("apply_impl is a method of ReduceOps and ScanOps")

    def apply(self, input: Any) -> Any:
        """The result for a tensor, a tuple of results for a tuple of tensors."""
        if not isinstance(input, tuple):
            return self.apply((input,))[0]
        self.check_tensor(input)
        made = self.apply_impl(input)
        return tuple(made) if isinstance(made, (tuple, list)) else (made,)


class ReduceOps(ReduceScanOpInterface):
    """A reduction; with `keep_dims` the axis stays, with size 1."""

    def __init__(self, axis: Any, combine_fn: Any, keep_dims: bool) -> None:
        super().__init__(axis, combine_fn)
        self.keep_dims = keep_dims

    def apply_impl(self, input: tuple[Any, ...]) -> Any:
        """Combine the elements along the axis."""
        return interpreter_semantic.call(_reduce, (input, self.axis, self.combine_fn, self.keep_dims), {})


class ScanOps(ReduceScanOpInterface):
    """An inclusive scan, from the end with `reverse`."""

    def __init__(self, axis: Any, combine_fn: Any, reverse: bool) -> None:
        super().__init__(axis, combine_fn)
        self.reverse = reverse

    def apply_impl(self, input: tuple[Any, ...]) -> Any:
        """Combine each element with those before it along the axis."""
        return interpreter_semantic.call(_scan, (input, self.axis, self.combine_fn, self.reverse), {})


_reduce, _scan = tl.reduce, tl.associative_scan


def _patch_reduce_scan(scope: _LangPatchScope) -> None:
    def reduce(input: Any, axis: Any, combine_fn: Any, keep_dims: bool = False, **kwargs: Any) -> Any:
        return ReduceOps(axis, combine_fn, keep_dims).apply(input)

    def scan(input: Any, axis: Any, combine_fn: Any, reverse: bool = False, **kwargs: Any) -> Any:
        return ScanOps(axis, combine_fn, reverse).apply(input)

    for module in (tl, tl.core):
        scope.set_attr(module, "reduce", reduce)
        scope.set_attr(module, "associative_scan", scan)


def _python_range(arg1: Any, arg2: Any = None, step: Any = None, **hints: Any) -> Any:
    start, end = (0, arg1) if arg2 is None else (arg1, arg2)
    return range(int(start), int(end), 1 if step is None else int(step))


def _python_static_assert(cond: Any, msg: str = "") -> None:
    assert cond, msg


def _attribute(name: str) -> Callable[[Any, Any], Any]:
    def attach(input: Any, values: Any) -> Any:
        if not isinstance(input, tl.tensor):
            return input
        listed = [getattr(v, "value", v) for v in (values if isinstance(values, (list, tuple)) else [values])]
        if len(listed) != max(1, len(input.type.shape)):
            raise ValueError(f"{name}: {len(listed)} values for a tensor of rank {len(input.type.shape)}")
        input.handle.set_attr(name, listed)
        return input

    return attach


def _patch_lang_core(lang: Any, scope: _LangPatchScope) -> None:
    """Replace functions without an operation: loops, static assertions and prints, hints."""
    scope.set_attr(lang, "range", _python_range)
    scope.set_attr(lang, "static_range", _python_range)
    scope.set_attr(lang.condition, "__bool__", lambda self: bool(self.condition))
    scope.set_attr(lang, "static_assert", _python_static_assert)
    scope.set_attr(lang, "static_print", print)
    for name, hint in (
        ("multiple_of", "divisibility"),
        ("max_contiguous", "contiguity"),
        ("max_constancy", "constancy"),
    ):
        scope.set_attr(lang, name, _attribute(f"tt.{hint}"))
    _patch_reduce_scan(scope)


def _patch_lang(fn: Any) -> _LangPatchScope:
    """Make functions of the language execute at once until `restore()` of the result."""
    name_frames()
    scope = _LangPatchScope()
    scope.set_attr(python_calls, "execute", _call_from_python)
    _patch_lang_tensor(tl.tensor, scope)
    for lang in (tl, tl.core):
        _patch_lang_core(lang, scope)
    return scope


# -- arguments ----------------------------------------------------------------------------------------------------


def _tuple_create(arg: Any, contents: Any) -> Any:
    """A tuple of the class of `arg` with other elements."""
    return type(arg)(*contents) if hasattr(arg, "_fields") else type(arg)(contents)


def _unwrap_tensor(t: Any) -> Any:
    return t.base if isinstance(t, TensorWrapper) else t


def _rewrap_tensor(t: Any, original_tensor: Any) -> Any:
    return TensorWrapper(t, original_tensor.dtype) if isinstance(original_tensor, TensorWrapper) else t


def _implicit_cvt(arg: Any) -> Any:
    """An argument of a launch as a tensor of the language: arrays become pointers, integers scalars."""
    if isinstance(arg, bool) or (isinstance(arg, int) and not isinstance(arg, bool)):
        ty = tl.str_to_ty(mangle_type(arg), None)
        handle: Any = TensorHandle(np.array([arg], numpy_dtype(ty)), ty)
        return tl.tensor(handle, ty)
    if isinstance(arg, tuple):
        return _tuple_create(arg, map(_implicit_cvt, arg))
    if isinstance(arg, TensorDescriptor):
        return _descriptor(arg)
    if hasattr(arg, "data_ptr") or is_array(arg):
        ty = tl.str_to_ty(mangle_type(arg), None)
        handle = TensorHandle(np.array([_address(arg)], np.uint64), ty)
        return tl.tensor(handle, ty)
    return arg


def _address(arg: Any) -> int:
    """The address of an array's first element. CPU memory becomes accessible."""
    base = _unwrap_tensor(arg)
    if isinstance(base, np.ndarray) or hasattr(base, "untyped_storage"):
        return Arrays(interpreter_builder.arguments_memory()).address(base, "")
    if hasattr(base, "data_ptr"):  # a placeholder of a client: only its address is known
        return int(base.data_ptr())
    return Arrays(interpreter_builder.arguments_memory()).address(base, "")


def _descriptor(arg: TensorDescriptor) -> Any:
    strides = [*(_implicit_cvt(int(s)) for s in arg.strides[:-1]), 1]
    desc = interpreter_semantic.make_tensor_descriptor(
        _implicit_cvt(arg.base), [_implicit_cvt(int(s)) for s in arg.shape], strides, list(arg.block_shape), arg.padding
    )
    desc.handle.round_f32_to_tf32 = arg.round_f32_to_tf32
    return desc


# -- launches -----------------------------------------------------------------------------------------------------


class GridExecutor:
    """Runs `fn`, a rewritten kernel, for every program of `grid`: `GridExecutor(fn, arg_names, grid)(*args)`."""

    def __init__(
        self, fn: Callable[..., Any], arg_names: Sequence[str], grid: Any, pre_run_hooks: Sequence[Any] = ()
    ) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.grid = grid
        self.pre_run_hooks = pre_run_hooks
        annotations = getattr(fn, "__annotations__", {})
        self.constexprs = [name for name in arg_names if _is_constexpr(annotations.get(name, ""))]

    def _init_args_hst(self, args_dev: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments on the CPU: tensors of other devices are copied, with the storage they are views of."""
        storages: dict[int, Any] = {}

        def to_cpu(arg: Any) -> Any:
            if isinstance(arg, tuple):
                return _tuple_create(arg, map(to_cpu, arg))
            if isinstance(arg, TensorDescriptor):
                parts = (arg.shape, arg.strides, arg.block_shape, arg.padding, arg.round_f32_to_tf32)
                return TensorDescriptor(to_cpu(arg.base), *parts)
            tensor = _unwrap_tensor(arg)
            if not hasattr(tensor, "untyped_storage") or tensor.is_cpu:
                return arg
            refuse_marked(tensor)
            storage = tensor.untyped_storage()
            copy = storages.setdefault(storage.data_ptr(), storage.cpu())
            view = tensor.new_empty(0, device="cpu")
            view.set_(copy, tensor.storage_offset(), tensor.size(), tensor.stride())
            return _rewrap_tensor(view, arg)

        return [to_cpu(a) for a in args_dev], {k: to_cpu(v) for k, v in kwargs.items()}

    def _restore_args_dev(
        self, args_dev: Sequence[Any], args_hst: Sequence[Any], kwargs: Mapping[str, Any], kwargs_hst: Mapping[str, Any]
    ) -> None:
        """Copy back what `_init_args_hst` copied."""
        done: dict[int, tuple[Any, Any]] = {}

        def collect(dev: Any, hst: Any) -> None:
            if isinstance(dev, tuple):
                for pair in zip(dev, hst):
                    collect(*pair)
            elif isinstance(dev, TensorDescriptor):
                collect(dev.base, hst.base)
            elif dev is not hst and hasattr(_unwrap_tensor(dev), "untyped_storage"):
                storage = _unwrap_tensor(dev).untyped_storage()
                done[storage.data_ptr()] = storage, _unwrap_tensor(hst).untyped_storage()

        for pair in zip(args_dev, args_hst):
            collect(*pair)
        for name, dev in kwargs.items():
            collect(dev, kwargs_hst[name])
        for storage, copy in done.values():
            storage.copy_(copy)

    def __call__(self, *args_dev: Any, **kwargs: Any) -> None:
        """Run all programs. InterpreterError with the line of the kernel where one fails."""
        names = inspect.getfullargspec(self.fn)
        kwargs = {k: v for k, v in kwargs.items() if k in names.args or k in names.kwonlyargs}
        args_hst, kwargs_hst = self._init_args_hst(args_dev, kwargs)
        for hook in self.pre_run_hooks:
            hook(*args_hst, **kwargs_hst)
        scope = _patch_lang(self.fn)
        try:
            given = inspect.getcallargs(self.fn, *args_hst, **kwargs_hst)
            args = {name: a if name in self.constexprs else _implicit_cvt(a) for name, a in given.items()}
            grid = self.grid(args) if callable(self.grid) else self.grid
            sizes = tuple(int(n) for n in (grid if isinstance(grid, (tuple, list)) else (grid,)))
            if len(sizes) > 3:
                raise ValueError(f"a grid has at most 3 dimensions, not {len(sizes)}")
            self._run(sizes + (1,) * (3 - len(sizes)), args)
        finally:
            scope.restore()
        self._restore_args_dev(args_dev, args_hst, kwargs, kwargs_hst)

    def _run(self, grid: tuple[int, ...], args: dict[str, Any]) -> None:
        interpreter_builder.set_grid_dim(*grid)
        with np.errstate(all="ignore"):
            for index in np.ndindex(*grid):
                interpreter_builder.set_grid_idx(*index)
                try:
                    self.fn(**args)
                except interrupts():
                    raise
                except Exception as error:
                    if settings.compilation.front_end_debugging:
                        raise
                    raise _located(self.fn, error, index) from error


def _is_constexpr(annotation: Any) -> bool:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return "constexpr" in text


def _located(fn: Any, error: Exception, program: tuple[int, ...]) -> InterpreterError:
    """An error of a program with the line of the kernel that was executing."""
    if isinstance(error, InterpreterError) and error.frames:
        return error
    text = error.message if isinstance(error, LanguageError) else getattr(error, "error_message", None)
    if text is None:
        text = str(error) if isinstance(error, (TritiumError, AssertionError)) else f"{type(error).__name__}: {error}"
    hint = getattr(error, "hint", None)
    hint = f"{hint}; this is program {program}" if hint else f"this is program {program}"
    frames, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code is fn.__code__:
            frames = [CallFrame(fn.__name__, SourceText(fn), ast.Pass(lineno=trace.tb_lineno, col_offset=0))]
        trace = trace.tb_next
    found = InterpreterError(text, frames, hint)
    found.program = program  # type: ignore[assignment]
    return found


class InterpretedFunction(KernelInterface[T]):
    """A kernel that is always interpreted: its Python runs on the CPU, one program after the other.

    Functions are rewritten once (`rewritten_fn`). Called in a kernel that is interpreted, it is a device function.
    """

    rewritten_fn: dict[Callable[..., Any], Callable[..., Any]] = {}

    def __init__(self, fn: FunctionType, **kwargs: Any) -> None:
        self.fn = fn
        self.rewriter = FunctionRewriter(fn, **kwargs)
        self.kwargs = kwargs
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self.arg_names = list(inspect.signature(fn).parameters)

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return self.fn.__name__

    @property
    def interpreted_callee(self) -> SourceFunction:
        """The function as one that a reduction can combine with."""
        return JITFunction(self.fn)

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Call `hook(*args, **kwargs)` with the arguments of each launch before it."""
        self.pre_run_hooks.append(hook)

    def rewrite(self) -> Callable[..., Any]:
        """The function that runs."""
        if self.fn not in self.rewritten_fn:
            self.rewritten_fn[self.fn] = self.rewriter.rewrite_ast()
        return self.rewritten_fn[self.fn]

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launch; nothing is compiled, so that `warmup` does nothing."""
        if warmup:
            return None
        return GridExecutor(self.rewrite(), self.arg_names, grid, self.pre_run_hooks)(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The call of a device function. LaunchError outside of a kernel that is interpreted."""
        if python_calls.execute is None:
            return super().__call__(*args, **kwargs)
        return self.rewrite()(*args, **kwargs)
