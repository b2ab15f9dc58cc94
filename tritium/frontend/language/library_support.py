"""Support for authors of kernel libraries: base classes, calls of external functions, checks of operands."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from warnings import warn

from ..constexpr import unwrap
from ..errors import LanguageError
from ..scalar_types import BaseType
from ..tensor import tensor

__all__ = [
    "base_type",
    "base_value",
    "binary_op_type_legalization",
    "check_bit_width",
    "dataclass_transform",
    "dispatch",
    "is_enabled",
    "is_negative_zero",
    "slice",
    "slice_type",
]

Function = TypeVar("Function", bound=Callable[..., object])

base_type = BaseType
slice = builtins.slice  # the slices of kernels are Python's


class _Values(type):
    """Any class with IR values is a virtual subclass."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is base_value:
            return hasattr(instance, "_flatten_ir") and not isinstance(instance, type)
        return super().__instancecheck__(instance)


class base_value(metaclass=_Values):
    """Values that exist while a kernel runs: tensors, descriptors, tuples and aggregates of them.

    A user-defined class has a `type` and appends its IR values to a list in `_flatten_ir(handles)`.
    """

    type: Any

    def _flatten_ir(self, handles: list[Any]) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not define _flatten_ir(handles)")


class slice_type(BaseType):
    """The type of a slice, which has no IR values."""

    __slots__ = ()
    name = "slice_type"

    def mangle(self) -> str:
        """`slice`"""
        return "slice"

    def _flatten_ir_types(self, out: list[Any]) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, slice_type)

    def __hash__(self) -> int:
        return hash(slice_type)

    def __repr__(self) -> str:
        return self.name


def _tensor_member_fn(fn: Function) -> Function:
    """Make a function of the language, or a kernel function, a method of blocks, too (a decorator)."""
    setattr(tensor, fn.__name__, fn)
    return fn


def is_enabled(options: Any, name: str) -> bool:
    """Does the option `instrumentation_mode` (of a mapping or an options object) list `name`?

    >>> is_enabled({"instrumentation_mode": "consan, iisan"}, "iisan")
    True
    """
    if options is None:
        return False
    found = options.get("instrumentation_mode") if isinstance(options, Mapping) else None
    found = getattr(options, "instrumentation_mode", "") if found is None else found
    return name in [part.strip() for part in (found or "").split(",")]


def check_bit_width(value: Any, shift_value: Any) -> None:
    """Warn of a shift by a compile-time count that is not less than the width of the tensor `value`."""
    count = unwrap(shift_value)
    if isinstance(value, tensor) and isinstance(count, int) and count >= value.dtype.primitive_bitwidth:
        warn(
            f"a shift by {count} of {value.dtype}, which has {value.dtype.primitive_bitwidth} bits, is undefined",
            stacklevel=2,
        )


def dispatch(
    func: Any,
    lib_name: str,
    lib_path: str,
    args: Sequence[Any],
    arg_type_symbol_dict: Mapping[tuple[Any, ...], tuple[str, Any]],
    ret_type: Any,
    is_pure: bool,
    _semantic: Any,
) -> tensor:
    """Call `func(lib_name, lib_path, symbol, handles, type, is_pure)`, a method of a builder, with the symbol that
    `arg_type_symbol_dict` has for the dtypes of `args`; its result as a tensor of type `ret_type`.

    LanguageError for other dtypes or another number of arguments.
    """
    if not arg_type_symbol_dict:
        raise LanguageError("ValueError: arg_type_symbol_dict is empty")
    count = len(next(iter(arg_type_symbol_dict)))
    if len(args) != count:
        raise LanguageError(f"ValueError: the function takes {count} argument{'s' * (count != 1)}, got {len(args)}")
    types = builtins.tuple(a.dtype if isinstance(a, tensor) else type(a) for a in args)
    if types not in arg_type_symbol_dict:
        raise LanguageError(
            f"ValueError: input arg type does not match: one of {list(arg_type_symbol_dict)} is expected, got {types}",
            "cast the arguments: x.to(dtype)",
        )
    symbol = arg_type_symbol_dict[types][0]
    handles = [a.handle if isinstance(a, tensor) else a for a in args]
    return tensor(func(lib_name, lib_path, symbol, handles, ret_type.to_ir(_semantic.builder), is_pure), ret_type)


def binary_op_type_legalization(lhs: Any, rhs: Any, semantic: Any) -> tuple[tensor, tensor]:
    """Both operands in one type and shape."""
    return semantic.binary_operands(lhs, rhs)  # type: ignore[no-any-return]


def is_negative_zero(x: float) -> bool:
    """
    >>> is_negative_zero(-0.0), is_negative_zero(0.0), is_negative_zero(-1.0)
    (True, False, False)
    """
    return x == 0.0 and math.copysign(1.0, x) < 0


def dataclass_transform(**kwargs: Any) -> Any:
    """`typing.dataclass_transform`, which Python 3.10 lacks: tells type checkers that a decorator behaves like
    `dataclass`."""

    def decorator(fn: Any) -> Any:
        fn.__dataclass_transform__ = kwargs
        return fn

    return decorator
