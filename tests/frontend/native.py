"""Running kernels as plain Python: the reference for control flow.

A kernel over scalars means the same as the Python function it is written as, as long as no integer leaves its type
and `//`, `%` see no negative number. So the function runs with a small `tl` of Python numbers, and what it stores is
compared with what the compiled program stores.
"""

import builtins
import types

import scalar

from tritium.frontend.callee import ConstexprFunction, SourceFunction
from tritium.frontend.visitor import ast_to_ttir


class Pointer:
    """An address into a list, element-wise."""

    def __init__(self, data, offset=0):
        self.data = data
        self.offset = offset

    def __add__(self, offset):
        return Pointer(self.data, self.offset + offset)


def _store(pointer, value, mask=True):
    if mask:
        pointer.data[pointer.offset] = value


TL = types.SimpleNamespace(
    constexpr=int,
    store=_store,
    load=lambda pointer: pointer.data[pointer.offset],
    range=lambda *args, **kwargs: builtins.range(*args),
    static_range=builtins.range,
    static_assert=lambda condition, message="": None,
    cdiv=lambda a, b: (a + b - 1) // b,
    minimum=builtins.min,
    maximum=builtins.max,
)


def as_python(fn):
    """The Python function behind a kernel at module level, with the functions it calls turned the same way."""
    code = fn.fn.__code__
    scope = {}
    for name in code.co_names:
        value = TL if name == "tl" else fn.fn.__globals__.get(name)
        if isinstance(value, SourceFunction):
            value = as_python(value)
        elif isinstance(value, ConstexprFunction):
            value = value.fn
        elif type(value).__name__ == "constexpr":
            value = value.value
        if value is not None:
            scope[name] = value
    made = types.FunctionType(code, scope, fn.fn.__name__, fn.fn.__defaults__)
    made.__kwdefaults__ = fn.fn.__kwdefaults__
    return made


def run_python(fn, size, *args, **constants):
    """What `fn(out, *args)` stores into a list of zeros."""
    data = [0] * size
    as_python(fn)(Pointer(data), *args, **constants)
    return data


def compile_scalar(fn, *args, **constants):
    """The module of `fn(out: *i32, *args: i32 or fp32)`."""
    names = [n for n in fn.arg_names if n not in constants]
    kinds = ["*i32", *("i1" if isinstance(a, bool) else "i32" if isinstance(a, int) else "fp32" for a in args)]
    signature = dict(zip(names, kinds))
    return ast_to_ttir(fn, signature, constants)


def run_compiled(fn, size, *args, **constants):
    """What the compiled kernel stores into a list of zeros."""
    out = [0] * size
    scalar.run(compile_scalar(fn, *args, **constants), out, *args)
    return out


def check(fn, size, *args, **constants):
    """Python and the compiled program store the same."""
    assert run_compiled(fn, size, *args, **constants) == run_python(fn, size, *args, **constants), args
