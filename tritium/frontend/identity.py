"""Identity of Python values that kernels read at compile time, as text that is the same in every process.

Kernels may call Python functions and read classes and objects while they are compiled; a kernel compiled with old code
must not be reused with new code. So the identity of a function is its bytecode and what that reads, of a class its
members, of an object its parts. Code of the standard library and of array libraries is identified by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..support.errors import interrupts
from ..support.hashing import sha256

__all__ = ["code_identity", "identity", "unwrap_callee"]

_OUTSIDE = frozenset((*sys.stdlib_module_names, "tritium", "triton", "numpy", "torch")) - {"__main__"}

#: Functions and classes that one value may lead to; further ones are identified by name. (A kernel with a helper that
#: imports a large library is recompiled when the helper changes, not when the library does.)
_BUDGET = 400

# attributes that Python sets on classes
_UNSAID = frozenset(("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__hash__"))
_UNSAID |= {"__firstlineno__", "__static_attributes__", "__parameters__", "__abstractmethods__", "_abc_impl"}


def unwrap_callee(value: Any) -> Any:
    """The function inside wrappers that kernels are launched through (autotuners, heuristics); others unchanged."""
    seen = 0
    while not isinstance(value, (FunctionType, type, ModuleType)) and not _has_key(value) and seen < 8:
        inner = getattr(value, "fn", None)
        if not _has_key(inner) and getattr(inner, "fn", None) is None:
            return value
        value, seen = inner, seen + 1
    return value


def _has_key(value: Any) -> bool:
    return isinstance(getattr(type(value), "meaning_key", None), property)


def identity(value: Any, met: list[Any] | None = None) -> str:
    """The identity of a value that a kernel refers to; functions of the language in it are added to `met`.

    >>> identity((1, 1.0, True, None)), identity({"b", "a"})
    ('tuple(int:1,float:1.0,bool:True,NoneType:None)', "set(str:'a',str:'b')")
    """
    return _Walk(met).text(value)


def code_identity(fn: Callable[..., Any]) -> str:
    """A hash of a Python function: its code, defaults, and the values it reads."""
    return sha256(_Walk().code_of(fn).encode()).hexdigest()


class _Walk:
    """A walk over the values that a value refers to; a value that occurs again is written by reference."""

    def __init__(self, met: list[Any] | None = None) -> None:
        self.met: list[Any] = [] if met is None else met
        self.seen: dict[int, tuple[int, Any]] = {}  # keeps the values alive, so that ids stay unique

    def text(self, value: Any) -> str:
        value = unwrap_callee(value)
        if _has_key(value):
            self.met.append(value)
            return value.meaning_key
        members = getattr(value, "tritium_members", None)  # an aggregate: its methods are part of its identity
        if members is not None:
            return f"{_name(value)}({','.join(map(self.text, members))})"
        for cls in type(value).__mro__:
            writer = _WRITERS.get(cls)
            if writer is not None:
                return writer(self, value)
        return self.object(value)

    def once(self, value: Any, write: Callable[[Any], str]) -> str:
        """`write(value)`; the name of a value that occurred before, or that is not of the user."""
        known = self.seen.get(id(value))
        if known is not None:
            return f"#{known[0]}"
        if _is_outside(value) or len(self.seen) >= _BUDGET:
            return _name(value)
        self.seen[id(value)] = len(self.seen), value
        return f"{_name(value)}{{{write(value)}}}"

    def sequence(self, values: Any) -> str:
        fields = ",".join(getattr(type(values), "_fields", ()))
        return f"{type(values).__name__}{fields and '[' + fields + ']'}({','.join(map(self.text, values))})"

    def unordered(self, values: Any) -> str:
        return f"{type(values).__name__}({','.join(sorted(map(self.text, values)))})"

    def mapping(self, values: Any) -> str:
        return f"{type(values).__name__}({','.join(f'{self.text(k)}:{self.text(v)}' for k, v in values.items())})"

    def named(self, value: Any) -> str:
        return value.__name__

    def function(self, fn: FunctionType) -> str:
        return self.once(fn, self.code_of)

    def class_named(self, cls: type) -> str:
        return self.once(cls, self.class_of)

    def method(self, bound: MethodType) -> str:
        return f"{self.text(bound.__func__)} of {self.text(bound.__self__)}"

    def partial(self, value: Any) -> str:
        return f"partial({self.text(value.func)},{self.text(value.args)},{self.text(value.keywords)})"

    def code_of(self, fn: Any) -> str:
        """Bytecode, defaults, cells, and the globals and members of modules that the bytecode names."""
        if not isinstance(fn, FunctionType):
            return self.object(fn)
        parts = [self.bytecode(fn.__code__), self.text(fn.__defaults__), self.text(fn.__kwdefaults__)]
        for cell in fn.__closure__ or ():
            try:
                parts.append(self.text(cell.cell_contents))
            except ValueError:  # not assigned yet
                parts.append("empty")
        names = sorted(_names(fn.__code__))
        for name in names:
            if name in fn.__globals__:
                parts.append(f"{name}={self.read(fn.__globals__[name], names)}")
        return ";".join(parts)

    def read(self, value: Any, names: list[str]) -> str:
        """The parts of a global that are read: of a module of the user, the members that are named."""
        if not isinstance(value, ModuleType) or _is_outside(value):
            return self.text(value)
        members = vars(value)
        return "module(" + ",".join(self.once(members[n], self.text) for n in names if n in members) + ")"

    def bytecode(self, code: CodeType) -> str:
        consts = (self.bytecode(c) if isinstance(c, CodeType) else self.text(c) for c in code.co_consts)
        return f"{code.co_code.hex()}({','.join(consts)})({','.join(code.co_names + code.co_varnames)})"

    def class_of(self, cls: type) -> str:
        members = (f"{n}={self.text(_plain(v))}" for n, v in sorted(vars(cls).items()) if n not in _UNSAID)
        return f"{','.join(map(self.text, cls.__bases__))};{','.join(members)}"

    def object(self, value: Any) -> str:
        """Its `repr` unless that contains an address, else its class and attributes."""
        if type(value).__name__ == "constexpr":
            return f"constexpr({self.text(value.value)})"
        try:
            text = repr(value)
        except interrupts():
            raise
        except Exception:  # a __repr__ that fails
            text = " at 0x"
        if " at 0x" not in text:
            return f"{type(value).__qualname__}:{text}"
        if _is_outside(type(value)):
            return _name(type(value))
        return self.once(value, lambda v: f"{self.text(type(v))};{self.text(dict(getattr(v, '__dict__', {})))}")


_WRITERS: dict[type, Callable[[_Walk, Any], str]] = {
    tuple: _Walk.sequence,
    list: _Walk.sequence,
    set: _Walk.unordered,
    frozenset: _Walk.unordered,
    dict: _Walk.mapping,
    FunctionType: _Walk.function,
    MethodType: _Walk.method,
    partial: _Walk.partial,
    type: _Walk.class_named,
    ModuleType: _Walk.named,
    BuiltinFunctionType: _Walk.named,
}


def _name(value: Any) -> str:
    found = value if hasattr(value, "__qualname__") else type(value)
    return f"{getattr(found, '__module__', '')}.{found.__qualname__}"


def _is_outside(value: Any) -> bool:
    """Is it of the standard library, of an array library, or of this package?"""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return not isinstance(module, str) or module.partition(".")[0] in _OUTSIDE


def _names(code: CodeType) -> set[str]:
    """The names that a function's code and the code inside of it mention."""
    found = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            found |= _names(const)
    return found


def _plain(member: Any) -> Any:
    """The function inside a class's member."""
    if isinstance(member, property):
        return (member.fget, member.fset)
    return getattr(member, "__func__", member)
