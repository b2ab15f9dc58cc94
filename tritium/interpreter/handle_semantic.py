"""Functions of the language called from Python on tensors that have handles: the patchable interpreter's semantics."""

from __future__ import annotations

import builtins
import threading
from types import FunctionType
from typing import Any

from ..frontend.callee import SourceFunction, language_function
from ..frontend.constexpr import constexpr
from ..frontend.language.builtin import is_builtin
from ..frontend.semantics import Semantic
from ..frontend.tensor import tensor, tensor_descriptor
from ..frontend.tuples import tuple as tl_tuple
from ..frontend.visitor.calls import apply
from ..frontend.visitor.core import Visitor
from ..frontend.visitor.values import wrap
from ..ir import Value
from .handle_builder import InterpreterBuilder
from .handle_dispatch import HandleBuilder
from .handle_values import Held
from .handles import retyped
from .kernels import Unit as InterpreterUnit

__all__ = ["InterpreterSemantic", "interpreter_builder", "interpreter_semantic"]


@language_function
def _outermost() -> None:
    pass


class _Unit(InterpreterUnit):
    """Runs functions of the language statement by statement too, so that each operation is a call of the builder."""

    def __init__(self, target: InterpreterBuilder) -> None:
        super().__init__(target.options, target.evaluator, HandleBuilder(target))

    def runs_in_python(self, callee: SourceFunction) -> bool:
        """Every function outside of the region of an operation."""
        return True


class _Threads(threading.local):
    """Per-thread state: a region is built by one thread at a time."""

    def __init__(self, target: InterpreterBuilder) -> None:
        self.unit = _Unit(target)
        self.visitor = Visitor(self.unit, _outermost, {})  # type: ignore[arg-type]


# -- the boundary -------------------------------------------------------------------------------------------------


def lowered(value: Any) -> Any:
    """A value of Python as the semantics take it: handles become IR values."""
    kind = value.__class__
    if kind is tensor:
        handle = value.handle
        return value if isinstance(handle, Value) else tensor(Held(value.type.to_ir(), handle), value.type)
    if isinstance(value, tensor_descriptor) and not isinstance(value.handle, Value):
        parts = (lowered(value.shape), lowered(value.strides))
        return tensor_descriptor(Held(value.type.to_ir(), value.handle), *parts, value.type)
    if kind is tl_tuple:
        fields = getattr(value.type, "fields", None)
        items = [lowered(v) for v in value.values]
        return tl_tuple(items, fields=fields) if fields else tl_tuple(items)
    if kind in (builtins.tuple, list):
        return kind(map(lowered, value))
    if isinstance(value, builtins.tuple) and hasattr(value, "_fields"):
        return kind(*map(lowered, value))
    if isinstance(value, FunctionType) and not is_builtin(value):
        return _function(value)
    fn = getattr(value, "interpreted_callee", None)
    return value if fn is None else fn


_functions: dict[FunctionType, SourceFunction] = {}


def _function(fn: FunctionType) -> SourceFunction:
    """A plain Python function, given to a reduction for example, as one of the language."""
    found = _functions.get(fn)
    if found is None:
        found = _functions[fn] = SourceFunction(fn)
    return found


def raised(value: Any) -> Any:
    """Convert results of the semantics for Python: IR values become handles, constexprs their values."""
    kind = value.__class__
    if kind is tensor:
        handle = value.handle
        return tensor(retyped(handle.handle, value.dtype), value.type) if handle.__class__ is Held else value
    if isinstance(value, tensor_descriptor) and value.handle.__class__ is Held:
        parts = (tl_tuple([raised(v) for v in part.values]) for part in (value.shape, value.strides))
        return tensor_descriptor(value.handle.handle, *parts, value.type)
    if kind is constexpr:
        return value.value
    if kind is tl_tuple:
        return builtins.tuple(map(raised, value.values))
    if kind in (builtins.tuple, list):
        return kind(map(raised, value))
    return value


class InterpreterSemantic(Semantic):
    """The semantics of the language on tensors whose handles are those of the interpreter."""

    def __init__(self, builder: InterpreterBuilder) -> None:
        self.builder: Any = builder
        self.options = builder.options
        self._threads = _Threads(builder)

    @property
    def inner(self) -> Semantic:
        """The semantics of this thread, on IR values."""
        return self._threads.unit.semantic

    def to_tensor(self, x: Any, check_type: bool = True) -> Any:
        """A number as a scalar tensor; what is no number is returned as it is unless `check_type`."""
        if not check_type and not isinstance(x, (bool, int, float, constexpr)):
            return x
        if isinstance(x, constexpr) and not isinstance(x.value, (bool, int, float)):
            return x.value
        return raised(self.inner.to_tensor(lowered(x)))

    def call(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """Call a builtin or a function of the language on values of Python."""
        given = [wrap(lowered(a)) for a in args]
        named = {k: wrap(lowered(v)) for k, v in kwargs.items() if k not in ("_semantic", "_generator")}
        return raised(apply(self._threads.visitor, fn, given, named))


def _facade(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        named = {k: lowered(v) for k, v in kwargs.items()}
        return raised(getattr(self.inner, name)(*map(lowered, args), **named))

    method.__name__, method.__qualname__ = name, f"InterpreterSemantic.{name}"
    method.__doc__ = getattr(Semantic, name).__doc__
    return method


for _name in dir(Semantic):
    if not _name.startswith("_") and _name not in vars(InterpreterSemantic) and callable(getattr(Semantic, _name)):
        setattr(InterpreterSemantic, _name, _facade(_name))

interpreter_builder = InterpreterBuilder()
interpreter_semantic = InterpreterSemantic(interpreter_builder)
