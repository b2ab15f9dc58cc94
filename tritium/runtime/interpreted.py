"""Launches that interpret the kernel's Python code (`TRITON_INTERPRET=1`): arguments and their memory.

Kernels access the arrays in place; arrays of a GPU are copied to the CPU and back. An access may reach the whole
storage of an array that is a view, as in compiled kernels, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..compiler import make_backend
from ..frontend.semantics import Semantic
from ..interpreter import Memory, TensorDesc
from ..interpreter.kernels import FailedAssertion, Launch
from ..support import OptionError
from ..support.lazy import LazyModule
from .arrays import HOST, TensorWrapper, describe, extent, is_array, is_read_only
from .errors import ArgumentError, DeviceAssertError
from .grid import normalize_grid
from .tensor_descriptor import TensorDescriptor

__all__ = ["launch"]

_gluon = LazyModule("..frontend.gluon.semantic", __package__)


class Arrays:
    """The memory of a launch's arrays, and the copies to write back."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = Memory() if memory is None else memory
        self.copies: dict[int, tuple[Any, Any]] = {}

    def address(self, value: Any, name: str) -> int:
        """The address of an array's first element for the interpreter; `name` is the argument's, for errors."""
        if isinstance(value, TensorWrapper):
            return self.address(value.base, name)
        if isinstance(value, np.ndarray):
            return self.memory.add(value, name)
        if hasattr(value, "untyped_storage"):
            return self._of_torch(value)
        info = describe(value)
        assert info is not None
        if info.device != HOST:
            raise ArgumentError(
                f"the interpreter reads torch's arrays on GPUs only, not those of {type(value).__name__}"
            )
        low, high = extent(value)
        self.memory.add_range(low, high, value, not is_read_only(info.owner), name)
        return info.address

    def _of_torch(self, value: Any) -> int:
        """A tensor that covers the storage of a view."""
        storage = value.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if not value.is_cpu:
            if start not in self.copies:
                self.copies[start] = storage, storage.cpu()
            storage = self.copies[start][1]
        self.memory.add_range(storage.data_ptr(), storage.data_ptr() + size, storage)
        return storage.data_ptr() + value.data_ptr() - start

    def finish(self) -> None:
        """Copy the arrays of GPUs back."""
        for original, copy in self.copies.values():
            original.copy_(copy)


def launch(
    fn: Any,
    grid: Any,
    arguments: Mapping[str, Any],
    types: tuple[dict[str, Any], dict[Any, Any], dict[Any, Any]],
    target: Any,
    options: Mapping[str, Any],
) -> None:
    """Interpret a launch of `fn` with the values of its parameters; `types` are signature, constants and attributes."""
    try:
        chosen = make_backend(target).parse_options(options)
    except OptionError as error:
        raise type(error)(f"kernel {fn.__name__}: {error}") from None
    sizes = normalize_grid(grid, lambda: {**arguments, **options}, fn.__name__)
    arrays = Arrays()
    signature, constants, attrs = types
    values = list(_values(arguments, signature, arrays))
    rules = _gluon.GluonSemantic if fn.is_gluon() else Semantic
    run = Launch(fn, signature, constants, attrs, chosen, arrays.memory, values, rules)
    try:
        if min(sizes) > 0:
            run.run(sizes)
    except FailedAssertion as error:
        raise DeviceAssertError(str(error), fn.__name__, program=error.program) from None
    finally:
        arrays.finish()


def _values(arguments: Mapping[str, Any], signature: Mapping[str, Any], arrays: Arrays) -> Iterator[Any]:
    """The run-time values of the arguments, in order."""
    for name, ty in signature.items():
        yield from _parts(arguments[name], ty, arrays, name)


def _parts(value: Any, ty: Any, arrays: Arrays, name: str) -> Iterator[Any]:
    if ty == "constexpr":
        return
    if not isinstance(ty, str):
        for inner, inner_type in zip(value, ty):
            yield from _parts(inner, inner_type, arrays, name)
    elif isinstance(value, TensorDescriptor):
        shape, strides = _numbers(value.shape), _numbers(value.strides)
        yield TensorDesc(arrays.address(value.base, name), shape, strides, value.padding)
        yield from (*shape, *strides)
    elif is_array(value):
        yield arrays.address(value, name)
    else:
        yield value


def _numbers(values: Sequence[Any]) -> tuple[int, ...]:
    return tuple(int(v) for v in values)
