"""Specialization: the properties of an argument on which the compiled code may depend.

| argument | type | key |
|---|---|---|
| parameter annotated `tl.constexpr` | `constexpr` | the value |
| None, and the integer 1 | `constexpr` | the value |
| integer in the range of i32 / i64 / u64 | `i32` / `i64` / `u64` | `D` if divisible by 16, and not the divisor 0 |
| bool | `u1` | |
| float | `fp32` | |
| array | `*fp32` | `D` if its address is divisible by 16 |
| TensorDescriptor | `tensordesc<fp32[32, 32]>`, `, nan` and `, uneven` after the block | |
| tuple | tuple of types | tuple of keys |

A parameter in `do_not_specialize` has no key and is never a constant; one in `do_not_specialize_on_alignment` has no
`D`. A parameter annotated with a type has that type (and a range check); floats and bools have no key anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from ..frontend.identity import identity
from ..support.patterns import pattern
from .arrays import describe
from .errors import ArgumentError, IntegerOverflowError
from .tensor_descriptor import TensorDescriptor, element_bytes

__all__ = [
    "ALIGNED",
    "ParameterRule",
    "constant_key",
    "describe_specialization",
    "integer_range",
    "mangle_type",
    "parameter_rules",
    "possible_divisors",
    "specialize",
    "type_of",
]

ALIGNED = "D"
_ALIGNMENT = 16

_SCALARS = {
    "bool": "u1",
    "i1": "u1",
    "int1": "u1",
    "u1": "u1",
    "uint1": "u1",
    "int": "i32",
    "float": "fp32",
    "half": "fp16",
    "double": "fp64",
    "bfloat16": "bf16",
    "bf16": "bf16",
    **{f"float{n}": f"fp{n}" for n in (16, 32, 64)},
    **{f"fp{n}": f"fp{n}" for n in (16, 32, 64)},
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"i{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"u{n}" for n in (8, 16, 32, 64)},
}


class ParameterRule:
    """How one parameter is specialized."""

    __slots__ = ("alignment", "const", "constexpr", "divides", "name", "special", "type")

    def __init__(
        self, name: str, constexpr: bool, const: bool, special: bool, alignment: bool, ty: str, divides: bool = False
    ) -> None:
        self.name = name
        self.constexpr = constexpr
        self.const = const  # a pointer that is not stored to
        self.special = special  # whether values may become constants
        self.alignment = alignment  # whether divisibility is used
        self.type = ty  # from an annotation; "" without one
        self.divides = divides  # whether it may be a divisor: then 0 has no `D`


def parameter_rules(
    params: Iterable[Any],
    do_not_specialize: Sequence[int | str],
    not_on_alignment: Sequence[int | str],
    source: str = "",
    names_in_scope: Mapping[str, object] | None = None,
) -> list[ParameterRule]:
    """The rule of each parameter. The sequences have names or indices of parameters; ArgumentError for unknown ones.

    `source` is the function's text, in which divisors are looked for; functions that it calls are looked up in
    `names_in_scope`.
    """
    params = list(params)
    names = {p.name for p in params} | set(range(len(params)))
    for label, listed in (
        ("do_not_specialize", do_not_specialize),
        ("do_not_specialize_on_alignment", not_on_alignment),
    ):
        for item in listed:
            if item not in names:
                raise ArgumentError(f"{label}: there is no parameter {item!r}")
    rules, divisors = [], possible_divisors(source, names_in_scope)
    for number, p in enumerate(params):
        special = number not in do_not_specialize and p.name not in do_not_specialize
        alignment = special and number not in not_on_alignment and p.name not in not_on_alignment
        given = (p.is_constexpr, p.is_const, special, alignment, _annotated(p.annotation))
        rules.append(ParameterRule(p.name, *given, p.name in divisors))
    return rules


_OPERAND = r"[-+~\s]*[\w.]*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\[\]]*\])*"
_DIVISION = pattern(rf"(?://|%)=?({_OPERAND})")
_CALL = pattern(r"(?<![\w.])(?<!def )(?!range\b|def\b)([A-Za-z_]\w*)(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))")
_ARGUMENT = pattern(
    r"\s*(?:([A-Za-z_]\w*)\s*=(?!=))?((?:[^,()\[\]]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\[\]]*\])+)(?:,|$)"
)
_NAME = pattern(r"[A-Za-z_]\w*")
_COMMENT = pattern(r"#[^\n]*")


def possible_divisors(source: str, scope: Mapping[str, object] | None = None, depth: int = 0) -> set[str]:
    """Names in divisors of a source text, and in arguments of functions, which may divide.

    Of a JIT function in `scope` only those arguments count that its own text may divide by.

    >>> sorted(possible_divisors("at % (M * n[0]) + at // K * tile(stride) + tl.load(p)"))
    ['K', 'M', 'n', 'stride']
    """
    source = _COMMENT.sub("", source)
    operands = list(_DIVISION.findall(source))
    for name, arguments in _CALL.findall(source):
        operands += _dividing_arguments(arguments, (scope or {}).get(name), scope, depth)
    return {name for operand in operands for name in _NAME.findall(operand)}


def _dividing_arguments(text: str, callee: object, scope: Mapping[str, object] | None, depth: int) -> list[str]:
    """Of the arguments of a call, in parentheses, those that may be divided by; all where the callee is not known."""
    params, source = getattr(callee, "arg_names", None), getattr(callee, "src", None)
    given = list(_ARGUMENT.findall(text[1:-1]))
    if not isinstance(source, str) or params is None or depth > 8 or "*" in text:
        return [text]
    inner = getattr(getattr(callee, "fn", None), "__globals__", None)
    dividing = possible_divisors(source, inner, depth + 1)
    out = []
    for at, (keyword, value) in enumerate(given):
        name = keyword or (params[at] if at < len(params) else "")
        out += [value] if name in dividing or name not in params else sorted(possible_divisors(value, scope, depth + 1))
    return out


def _annotated(annotation: str) -> str:
    """The scalar type an annotation names (`tl.int64`, "i64", int, float, bool), or ""."""
    text = annotation.strip("'\" ").rsplit(".", 1)[-1]
    if text in ("int",):
        return ""  # carries no more information than the value
    return _SCALARS.get(text, "")


_INTEGER = pattern(r"([iu])(\d+)$")


def integer_range(ty: str) -> tuple[int, int] | None:
    """The smallest and largest value of an integer type; None for other types."""
    if ty == "u1":
        return 0, 1
    match = _INTEGER.match(ty)
    if match is None:
        return None
    bits = int(match[2])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if match[1] == "i" else (0, (1 << bits) - 1)


def constant_key(value: Any) -> Any:
    """A hashable key of a compile-time value that differs where the value's meaning does (1, True and 1.0)."""
    if isinstance(value, float):
        return (float, value.hex())
    if isinstance(value, (list, tuple)):
        return (type(value), tuple(map(constant_key, value)))
    if type(value).__name__ == "constexpr" and hasattr(value, "value"):
        return constant_key(value.value)
    if isinstance(value, type) and "tritium_members" in vars(value):
        return (type(value), _aggregate_key(value))
    meaning = getattr(value, "cache_key", None)  # a function, whose source may be replaced
    return (type(value), value) if meaning is None else (type(value), value, meaning)


_AGGREGATES: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def _aggregate_key(cls: type) -> str:
    """The content of an aggregate: a function that makes one at each call passes the same constant each time."""
    found = _AGGREGATES.get(cls)
    if found is None:
        found = _AGGREGATES[cls] = identity(cls)
    return found


def _integer(value: int, rule: ParameterRule) -> tuple[Any, Any]:
    if rule.type:
        return _annotated_number(value, rule)
    if value == 1 and rule.special:
        return "constexpr", 1
    key = _alignment(value, rule)
    if -(1 << 31) <= value < 1 << 31:
        return "i32", key
    if -(1 << 63) <= value < 1 << 63:
        return "i64", key
    if value < 1 << 64 and value > 0:
        return "u64", key
    raise IntegerOverflowError(f"argument {rule.name!r}: {value} does not fit into 64 bits")


def _annotated_number(value: Any, rule: ParameterRule) -> tuple[Any, Any]:
    limits = integer_range(rule.type)
    if limits is None:
        return rule.type, ""
    if isinstance(value, float):
        raise ArgumentError(f"argument {rule.name!r} is annotated {rule.type}, but {value!r} is a float")
    if rule.type != "u1" and not limits[0] <= value <= limits[1]:
        raise ArgumentError(f"argument {rule.name!r}: {value} does not fit into {rule.type}")
    if rule.type == "u1":
        return "u1", ""
    if value == 1 and rule.special:
        return "constexpr", 1
    return rule.type, _alignment(value, rule)


def _alignment(value: Any, rule: ParameterRule) -> str:
    """The key of an integer; a divisor must not be 0, on which `analysis/axis_rules` relies."""
    return ALIGNED if rule.alignment and value % _ALIGNMENT == 0 and (value or not rule.divides) else ""


def _float(value: float, rule: ParameterRule) -> tuple[Any, Any]:
    return _annotated_number(value, rule) if rule.type else ("fp32", "")


def _bool(value: bool, rule: ParameterRule) -> tuple[Any, Any]:
    return (rule.type, "") if rule.type else ("u1", "")


def _none(value: None, rule: ParameterRule) -> tuple[Any, Any]:
    return "constexpr", None


def _tuple(value: tuple[Any, ...], rule: ParameterRule) -> tuple[Any, Any]:
    pairs = [specialize(item, rule) for item in value]
    types, keys = [p[0] for p in pairs], tuple(p[1] for p in pairs)
    if hasattr(value, "_fields"):
        return type(value)(*types), keys
    return tuple(types), keys


def _descriptor(value: TensorDescriptor, rule: ParameterRule) -> tuple[Any, Any]:
    info = describe(value.base)
    if info is None:
        raise ArgumentError(f"argument {rule.name!r}: the base of a TensorDescriptor must be an array")
    value.check_block()
    block = ", ".join(map(str, value.block_shape))
    # The padding value is part of the kernel, and so is whether TMA may write the last bytes of a row.
    padding = ", nan" if value.padding == "nan" else ""
    uneven = ", uneven" if value.has_uneven_rows(element_bytes(info.element)) else ""
    return f"{value.type_name}<{info.element}[{block}]{padding}{uneven}{value.type_suffix}>", value.padding + uneven


_BY_CLASS: dict[type, Any] = {
    int: _integer,
    bool: _bool,
    float: _float,
    type(None): _none,
    tuple: _tuple,
    TensorDescriptor: _descriptor,
}


def specialize(value: Any, rule: ParameterRule) -> tuple[Any, Any]:
    """(type, key) of a value, as in the table above; ArgumentError naming the parameter for unsupported values."""
    if rule.constexpr:
        return "constexpr", _plain(value)
    by_class = _BY_CLASS.get(value.__class__)
    if by_class is not None:
        return by_class(value, rule)
    try:
        info = describe(value)
    except ArgumentError as error:
        raise ArgumentError(f"argument {rule.name!r}: {error}") from None
    if info is not None:
        aligned = rule.alignment and info.address % _ALIGNMENT == 0
        return f"*{'k' if rule.const else ''}{info.element}", ALIGNED if aligned else ""
    return _other(value, rule)


def _plain(value: Any) -> Any:
    """A compile-time value; a NumPy number becomes a Python number, since sizes may be computed with NumPy."""
    cls = type(value)
    return value.item() if cls.__module__ == "numpy" and cls.__name__ != "ndarray" and hasattr(value, "item") else value


def _other(value: Any, rule: ParameterRule) -> tuple[Any, Any]:
    """Numbers of other libraries, compile-time values, and errors for other values."""
    cls = type(value)
    kind = next((_BY_CLASS[c] for c in cls.__mro__ if c in _BY_CLASS), None)
    if kind is not None:
        return kind(value, rule)
    if cls.__name__ == "constexpr" and hasattr(value, "value"):
        return "constexpr", value.value
    if hasattr(value, "cache_key") or (cls.__name__ == "dtype" and hasattr(value, "primitive_bitwidth")):
        return "constexpr", value  # functions and element types are compile-time values only
    if cls.__module__ == "numpy" and cls.__name__.startswith("bool"):
        return _bool(bool(value), rule)
    if hasattr(value, "__index__"):
        return _integer(value.__index__(), rule)
    if hasattr(value, "__float__") and not hasattr(value, "shape"):
        return _float(float(value), rule)
    if cls.__module__ == "numpy" and hasattr(value, "item"):
        item = value.item()
        if isinstance(item, float):
            return _float(item, rule)
    hint = (
        "annotate the parameter with tl.constexpr to pass it at compile time"
        if isinstance(value, str)
        else (
            "kernels take numbers, None, tuples, and arrays of torch, NumPy, or with __dlpack__ or data_ptr() and dtype"
        )
    )
    raise ArgumentError(f"argument {rule.name!r}: a kernel cannot take a value of type {_full_name(cls)}\nhint: {hint}")


def _full_name(cls: type) -> str:
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


def type_of(value: Any) -> str:
    """The signature's type of a value that is not specialized: "i32", "*fp32", ..."""
    return specialize(value, ParameterRule("value", False, False, False, False, ""))[0]


_pair_of = specialize


def mangle_type(arg: Any, specialize: bool = False) -> Any:
    """`type_of(arg)`; with `specialize`, "constexpr" for values that are compiled in: 1 and None."""
    return _pair_of(arg, ParameterRule("value", False, False, specialize, specialize, ""))[0]


def describe_specialization(
    names: Sequence[str], pairs: Sequence[tuple[Any, Any]]
) -> tuple[dict[str, Any], dict[tuple[int, ...], Any], dict[tuple[int, ...], list[list[Any]]]]:
    """Signature, constants and attributes (as ASTSource takes them) from the (type, key) of each argument."""
    signature: dict[str, Any] = {}
    constants: dict[tuple[int, ...], Any] = {}
    attrs: dict[tuple[int, ...], list[list[Any]]] = {}

    def visit(path: tuple[int, ...], ty: Any, key: Any) -> None:
        if not isinstance(ty, str):
            for i, (inner, inner_key) in enumerate(zip(ty, key)):
                visit((*path, i), inner, inner_key)
        elif ty == "constexpr":
            constants[path] = getattr(key, "value", key) if type(key).__name__ == "constexpr" else key
        elif key == ALIGNED:
            attrs[path] = [["tt.divisibility", 16]]

    for i, (name, (ty, key)) in enumerate(zip(names, pairs)):
        signature[name] = ty
        visit((i,), ty, key)
    return signature, constants, attrs
