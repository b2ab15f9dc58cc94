"""Tensor maps of descriptors that a kernel makes from its arguments: the launcher computes and encodes them.

`transforms/host_tensor_maps` makes parameters of such descriptors, after all others; the metadata `argument_maps` has
what each is made from, as expressions of the arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .errors import ArgumentError
from .tensor_maps import Encode, MapEncoder, Metadata, NotEncodable

__all__ = ["HostMaps", "host_maps_of"]


class _Descriptor(NamedTuple):
    """A `TensorDescriptor` of an address; elements were checked by the compiler."""

    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str
    base: None = None
    round_f32_to_tf32: bool = False

    def has_uneven_rows(self, size: int) -> bool:
        """False: kernels for such rows are the same."""
        return False


class _Node(NamedTuple):
    """`name` of `operands`, as a signed integer of `bits` bits; an argument has its index as operand."""

    name: str
    bits: int
    operands: Sequence[Expression]


Expression = int | _Node
Arguments = Mapping[int, int] | Sequence[int]


class _Row(NamedTuple):
    """What a descriptor is made from."""

    base: Expression
    shape: list[Expression]
    strides: list[Expression]
    padding: str
    encoder: MapEncoder


class HostMaps:
    """`maps(arguments)`: the map of each descriptor, in the order of the kernel's parameters.

    `rows` is the metadata `argument_maps`, `encode` makes the 128 bytes of a map. The arguments are the kernel's
    parameters, addresses as integers; `arguments` has the indices of those that are used.
    """

    def __init__(self, rows: Sequence[Metadata], encode: Encode) -> None:
        self._rows = [_row(row["map"], MapEncoder(row["type"], row["meta"], encode)) for row in rows]
        found = {i for row in self._rows for i in _arguments([row.base, *row.shape, *row.strides])}
        self.arguments = sorted(found)

    def __len__(self) -> int:
        return len(self._rows)

    def __call__(self, arguments: Arguments) -> list[bytes]:
        """Raises NotEncodable."""
        out: list[bytes] = []
        for row in self._rows:
            try:
                shape, strides = ([_evaluate(x, arguments) for x in values] for values in (row.shape, row.strides))
                address = _evaluate(row.base, arguments) & (1 << 64) - 1
                made = _Descriptor(shape, strides, row.encoder.block, row.padding)
                out.append(row.encoder(made, address, "")[0])
            except (ArgumentError, ArithmeticError) as error:
                raise NotEncodable from error
        return out


def host_maps_of(values: Metadata, encode: Encode) -> HostMaps | None:
    """Those of a kernel with the metadata `values`; None without any."""
    rows = values.get("argument_maps")
    return HostMaps(rows, encode) if rows else None


def _row(text: str, encoder: MapEncoder) -> _Row:
    """The attribute of a parameter, read: JSON with single quotes."""
    row = json.loads(text.replace("'", '"'))
    shape, strides = ([_expression(x) for x in row[name]] for name in ("shape", "strides"))
    return _Row(_expression(row["base"]), shape, strides, "nan" if row["nan"] else "zero", encoder)


def _expression(x: object) -> Expression:
    """An expression of JSON."""
    if isinstance(x, list):
        return _Node(x[0], x[1], [_expression(v) for v in x[2:]])
    assert isinstance(x, int), x
    return x


def _arguments(expressions: Sequence[Expression]) -> Iterator[int]:
    """The indices of the arguments in expressions."""
    for x in expressions:
        if isinstance(x, _Node) and x.name == "arg":
            yield from (i for i in x.operands if isinstance(i, int))
        elif isinstance(x, _Node):
            yield from _arguments(x.operands)


def _evaluate(x: Expression, arguments: Arguments) -> int:
    """The value of an expression; ArithmeticError for a division by zero."""
    if isinstance(x, int):
        return x
    operands = [_evaluate(v, arguments) for v in x.operands]
    value = int(arguments[operands[0]]) if x.name == "arg" else _OPERATIONS[x.name](*operands)
    if x.name == "zext":
        return value & (1 << x.bits) - 1
    half = 1 << (x.bits - 1)
    return (value + half & 2 * half - 1) - half


def _quotient(a: int, b: int) -> int:
    """a / b towards zero."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b


_OPERATIONS: dict[str, Callable[..., int]] = {
    "wrap": lambda a: a,
    "zext": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _quotient,
    "rem": lambda a, b: a - b * _quotient(a, b),
    "min": min,
    "max": max,
}
