"""Python functions of native code, without a C compiler."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

__all__ = ["native_function"]

_new = ctypes.pythonapi.PyCFunction_NewEx
_new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
_new.restype = ctypes.py_object


class _ModuleName(str):
    """The name of a module, which keeps further objects alive."""

    __slots__ = ("keep",)

    keep: object


def native_function(method: int, data: int, module: str, keep: object) -> Callable[..., Any]:
    """A builtin function for the `PyMethodDef` at address `method`, whose `self` is the integer `data`.

    `keep` lives as long as the function: `__module__` is the only slot for an object that the call does not use. It
    is a string, since programs that inspect functions (torch.compile among them) split it.
    """
    name = _ModuleName(module)
    name.keep = keep
    return _new(method, data, name)  # type: ignore[no-any-return]
