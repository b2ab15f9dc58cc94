"""Tensor maps of descriptors that a kernel makes from its arguments: the launcher computes and encodes them.

`transforms/host_tensor_maps` makes parameters of such descriptors, after all others; the metadata `argument_maps` has
what each is made from, as expressions of the arguments. Where loads by pointers became loads by such descriptors
(`transforms/raise_loads_to_tma`), the metadata `launch_predicate` has the conditions on a launch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from operator import itemgetter
from typing import NamedTuple

from ..support.launch_predicate import LaunchPredicate
from .errors import ArgumentError
from .tensor_maps import Encode, MapEncoder, Metadata, NotEncodable

__all__ = ["HostMaps", "function_of", "host_maps_of"]

_KEPT = 2048  # maps that are memoized, of each descriptor


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


Arguments = Mapping[int, int] | Sequence[int]

_PASSED: dict[str, Callable[[Sequence[int]], int]] = {
    "programs": prod,
    "programs_x": itemgetter(0),
    "programs_y": itemgetter(1),
    "programs_z": itemgetter(2),
}
"""What the launcher passes to a persistent kernel, by its name (`analysis/tma`), of the grid."""


class _Row(NamedTuple):
    """A descriptor: `values` computes its address, shape and strides from the arguments."""

    values: Callable[[Arguments], tuple[int, ...]]
    padding: str
    encoder: MapEncoder
    known: dict[tuple[int, ...], bytes]


class HostMaps:
    """`maps(arguments, grid)`: the map of each descriptor, in the order of the kernel's parameters.

    `rows` is the metadata `argument_maps`, `encode` makes the 128 bytes of a map, `predicate` is whether the kernel may
    run for a launch (`conditional`: there is one). `passed`: what precedes the maps of a persistent kernel, the number
    of programs ("programs") and the extents of the grid ("programs_x", …). The arguments are the kernel's parameters,
    addresses as integers; `arguments` has the indices of those that are used.
    """

    def __init__(
        self,
        rows: Sequence[Metadata],
        encode: Encode,
        predicate: LaunchPredicate | None = None,
        passed: Sequence[str] = (),
    ) -> None:
        self._predicate = predicate
        self.passed = passed
        self._rows: list[_Row] = []
        found: set[int] = set()
        for row in rows:
            made = json.loads(row["map"].replace("'", '"'))
            numbers = [made["base"], *made["shape"], *made["strides"]]
            found.update(i for x in numbers for i in _arguments(x))
            padding = "nan" if made["nan"] else "zero"
            self._rows.append(_Row(function_of(numbers), padding, MapEncoder(row["type"], row["meta"], encode), {}))
        self.arguments = sorted(found.union(predicate.arguments if predicate is not None else ()))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def conditional(self) -> bool:
        """Whether only some launches may run the kernel."""
        return self._predicate is not None

    def __call__(self, arguments: Arguments, grid: Sequence[int] | None = None) -> list[bytes | int]:
        """Raises NotEncodable, also for a launch with `grid` that may not run the kernel."""
        if self._predicate is not None and grid is not None and not self._predicate(arguments, grid):
            raise NotEncodable
        out: list[bytes | int] = [_PASSED[name](grid or (1, 1, 1)) for name in self.passed]
        for row in self._rows:
            try:
                numbers = row.values(arguments)
                out.append(row.known.get(numbers) or _encoded(row, numbers))
            except (ArgumentError, ArithmeticError) as error:
                raise NotEncodable from error
        return out


def _encoded(row: _Row, numbers: tuple[int, ...]) -> bytes:
    """The map of a descriptor, memoized."""
    rank = len(row.encoder.block)
    address, shape, strides = numbers[0], numbers[1 : rank + 1], numbers[rank + 1 :]
    made = _Descriptor([*shape], [*strides], row.encoder.block, row.padding)
    row.encoder.check(made, address % (1 << 64), "")
    if len(row.known) >= _KEPT:
        row.known.clear()
    found = row.known[numbers] = row.encoder.map(made, address % (1 << 64), "")
    return found


def host_maps_of(values: Metadata, encode: Encode) -> HostMaps | None:
    """Those of a kernel with the metadata `values`; None without any."""
    rows, text = values.get("argument_maps"), values.get("launch_predicate")
    passed = values.get("persistent_grid") or ()
    if not rows and not passed:
        return None
    return HostMaps(rows or (), encode, LaunchPredicate(text) if text else None, passed)


def _arguments(x: object) -> Iterator[int]:
    """The indices of the arguments in an expression."""
    if isinstance(x, list) and x[0] == "arg":
        yield x[2]
    elif isinstance(x, list):
        for operand in x[2:]:
            yield from _arguments(operand)


def function_of(expressions: Sequence[object]) -> Callable[[Arguments], tuple[int, ...]]:
    """A function of the arguments that returns the values of expressions; ArithmeticError for a division by zero.

    >>> function_of([["add", 8, ["arg", 8, 0], 100], 7])([100])
    (-56, 7)
    """
    values = ", ".join(map(_text, expressions))
    function: Callable[[Arguments], tuple[int, ...]] = eval(f"lambda a: ({values},)", {"quotient": _quotient})
    return function


def _text(x: object) -> str:
    """An expression in Python: integers of `bits` bits wrap around."""
    if not isinstance(x, list):
        return repr(x)
    name, bits, *operands = x
    value = f"a[{operands[0]}]" if name == "arg" else _OPERATIONS[name].format(*map(_text, operands))
    if name == "zext":
        return f"({value} & {(1 << bits) - 1})"
    half = 1 << (bits - 1)
    return f"(({value} + {half} & {2 * half - 1}) - {half})"


def _quotient(a: int, b: int) -> int:
    """a / b towards zero."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b


_OPERATIONS = {
    "wrap": "{0}",
    "zext": "{0}",
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "div": "quotient({0}, {1})",
    "rem": "({0} - {1} * quotient({0}, {1}))",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
}
