"""Hints to the compiler, prints, assertions, inline assembly, external functions."""

from __future__ import annotations

from typing import Any

from ..constexpr import constexpr, unwrap
from ..errors import LanguageError
from ..tensor import tensor, value_text
from ..tuples import tuple as tl_tuple
from .builtin import builtin, check_dtype, flag, static_int, text, truth, unwrap_sequence

__all__ = [
    "assume",
    "debug_barrier",
    "device_assert",
    "device_print",
    "extern_elementwise",
    "inline_asm_elementwise",
    "max_constancy",
    "max_contiguous",
    "multiple_of",
    "static_assert",
    "static_print",
]


@builtin
def multiple_of(input: Any, values: Any, _semantic: Any = None) -> tensor:
    """Hint: the first elements along each dimension are multiples of `values`."""
    return _semantic.hint("tt.divisibility", "multiple_of", input, unwrap_sequence(values))


@builtin
def max_contiguous(input: Any, values: Any, _semantic: Any = None) -> tensor:
    """Hint: the elements along each dimension are contiguous (increase by one) in runs of `values`."""
    return _semantic.hint("tt.contiguity", "max_contiguous", input, unwrap_sequence(values))


@builtin
def max_constancy(input: Any, values: Any, _semantic: Any = None) -> tensor:
    """Hint: the elements along each dimension are equal in runs of `values`."""
    return _semantic.hint("tt.constancy", "max_constancy", input, unwrap_sequence(values))


@builtin
def assume(cond: Any, _semantic: Any = None) -> None:
    """Hint: the scalar `cond` is true."""
    if cond.__class__ is not tensor and isinstance(unwrap(cond), bool):
        return
    _semantic.assume(cond)


@builtin
def debug_barrier(_semantic: Any = None) -> None:
    """A barrier of all threads of a program; nothing on CPUs, where a program is one thread."""
    if getattr(_semantic.options, "backend_name", "cpu") != "cpu":
        _semantic.barrier()


@builtin
def static_assert(cond: Any, msg: Any = "", _semantic: Any = None) -> None:
    """Raise a compilation error unless the compile-time `cond` is true."""
    if not truth(cond):
        raise LanguageError(f"static assertion failed{f': {unwrap(msg)}' if unwrap(msg) else ''}")


@builtin
def static_print(
    *values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False, _semantic: Any = None
) -> None:
    """Print at compile time."""
    print(*map(unwrap, values), sep=unwrap(sep), end=unwrap(end), file=file, flush=flush)


@builtin
def device_print(prefix: Any, *args: Any, hex: Any = False, _semantic: Any = None) -> None:
    """Print `prefix` and the values of `args` at run time; `hex` prints integers in hexadecimal."""
    prefix = unwrap(prefix)
    if not isinstance(prefix, str):
        if prefix.__class__ is tensor or args:
            raise LanguageError(
                f"TypeError: the first argument of tl.device_print must be a string, got {value_text(prefix)}",
                'write tl.device_print("x", x)',
            )
        prefix = str(prefix)
    if not prefix.isascii() or not prefix.isprintable():
        raise LanguageError(f"ValueError: the prefix of tl.device_print must be printable ASCII, got {prefix!r}")
    values = [_semantic.to_tensor(a) for a in args]
    _semantic.device_print(prefix, values, flag(hex))


@builtin
def device_assert(cond: Any, msg: Any = "", mask: Any = None, _semantic: Any = None) -> None:
    """Stop the launch with `msg` unless `cond` holds everywhere (where `mask`); only with debug=True."""
    message = unwrap(msg)
    _semantic.device_assert(cond, "" if message is None else str(message), unwrap(mask))


@builtin
def inline_asm_elementwise(
    asm: Any, constraints: Any, args: Any, dtype: Any, is_pure: Any, pack: Any, _semantic: Any = None
) -> Any:
    """Assembly with `constraints` applied to `pack` elements of `args` at a time; `dtype` of the result, or a tuple."""
    types = unwrap(dtype)
    several = isinstance(types, (tl_tuple, list, tuple))
    wanted = [check_dtype(t) for t in unwrap_sequence(types)]
    results = _semantic.inline_asm(
        text(asm, "asm"),
        text(constraints, "constraints"),
        unwrap_sequence(args),
        wanted,
        flag(is_pure),
        static_int(pack, "pack"),
    )
    return tl_tuple(results) if several else results[0]


@builtin
def extern_elementwise(
    lib_name: Any, lib_path: Any, args: Any, arg_type_symbol_dict: Any, is_pure: Any, _semantic: Any = None
) -> tensor:
    """Call the function of a bitcode library that `arg_type_symbol_dict` has for the dtypes of `args`.

    The dictionary maps tuples of dtypes to (symbol, dtype of the result).
    """
    library, path = str(unwrap(lib_name)), str(unwrap(lib_path))
    table = {tuple(map(unwrap, types)): found for types, found in unwrap(arg_type_symbol_dict).items()}
    return library_call("extern_elementwise", table, unwrap_sequence(args), _semantic, library, path, flag(is_pure))


def library_call(
    name: str, table: dict[Any, Any], args: list[Any], sem: Any, library: str = "", path: str = "", pure: bool = True
) -> tensor:
    """Call the library function that `table` has for the dtypes of `args`, per element of their common shape."""
    values, symbol, result = choose_overload(name, table, args, sem)
    values = list(sem.broadcast_tensors(*values))
    return sem.extern_elementwise(library, path, symbol, values, check_dtype(result), pure)


def choose_overload(name: str, table: dict[Any, Any], args: list[Any], sem: Any) -> tuple[list[tensor], str, Any]:
    """(arguments, symbol, dtype of the result) of the overload in `table` for the dtypes of `args`.

    Types that are not in the table are promoted as operands of an operator are.
    """
    values = [sem.to_tensor(a) for a in args]
    count = len(next(iter(table), ()))
    if len(values) != count:
        raise LanguageError(f"ValueError: {name} takes {count} argument{'s' * (count != 1)}, got {len(values)}")
    found = table.get(tuple(v.dtype for v in values))
    if found is None:
        wide = values[0]
        for v in values[1:]:
            wide, _ = sem.binary_operands(wide, v)
        promoted = [sem.binary_operands(v, wide)[0] for v in values]
        found = table.get(tuple(v.dtype for v in promoted))
        if found is None:
            types = ", ".join(str(v.dtype) for v in values)
            known = " or ".join(f"({', '.join(map(str, key))})" for key in table)
            raise LanguageError(
                f"ValueError: input arg type does not match: {name} takes {known}, got ({types})",
                "cast the arguments: x.to(dtype)",
            )
        values = promoted
    return values, *found


CONSTEXPR_0 = constexpr(0)
