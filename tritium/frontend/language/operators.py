"""Operators as methods of tensors, and as functions with the option `sanitize_overflow`."""

from __future__ import annotations

from typing import Any

from ..tensor import tensor
from .builtin import builtin, flag

__all__ = ["add", "mul", "sub"]


@builtin
def add(x: object, y: object, sanitize_overflow: Any = True, _semantic: Any = None) -> tensor:
    """x + y"""
    return _semantic.add(x, y, flag(sanitize_overflow))


@builtin
def sub(x: object, y: object, sanitize_overflow: Any = True, _semantic: Any = None) -> tensor:
    """x - y"""
    return _semantic.sub(x, y, flag(sanitize_overflow))


@builtin
def mul(x: object, y: object, sanitize_overflow: Any = True, _semantic: Any = None) -> tensor:
    """x * y"""
    return _semantic.mul(x, y, flag(sanitize_overflow))


def _binary(name: str, reflected: bool) -> Any:
    def operator(self: object, other: object, _semantic: Any = None) -> tensor:
        return _semantic.binary(name, other, self) if reflected else _semantic.binary(name, self, other)

    operator.__name__ = f"__{'r' if reflected else ''}{name.rstrip('_')}__"
    return builtin(operator)


def _unary(name: str) -> Any:
    def operator(self: object, _semantic: Any = None) -> tensor:
        return getattr(_semantic, name)(self)

    operator.__name__ = name
    return builtin(operator)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "lshift", "rshift", "and_", "or_", "xor_"):
    for _reflected in (False, True):
        _fn = _binary(_name, _reflected)
        setattr(tensor, _fn.__name__, _fn)
for _name in ("lt", "le", "gt", "ge"):
    setattr(tensor, f"__{_name}__", _binary(_name, False))
# == and != of the class compare identity, which the compiler uses; the visitor compiles the operators
tensor.logical_and = _binary("logical_and", False)
tensor.logical_or = _binary("logical_or", False)
tensor.__neg__ = _unary("neg")
tensor.__invert__ = _unary("invert")
tensor.__not__ = _unary("not_")
