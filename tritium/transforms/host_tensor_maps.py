"""host-tensor-maps: Make tensor descriptors parameters whose tensor maps the launcher encodes.

    tt.func @k(%x: !tt.ptr<f16>, %n: i32) {             tt.func @k(%x: …, %n: …, %d: !tt.tensordesc<64x64xf16>
      %m = arith.muli %n, %c64                    =>                 {tritium.host_map = "…"}) {
      %d = tt.make_tensor_descriptor %x, [%m, %c64],      …
             [%c64_i64, %c1_i64]                        }
    }

A descriptor made in the kernel costs each program a map in global memory, a fence, and the latency of both before its
first copy. Where base, shape and strides are functions of the kernel's arguments, it is the same for all programs, and
the launcher can encode the map once, as for a descriptor that it is passed: a parameter of 128 bytes.

The attribute `tritium.host_map` of such a parameter is what the launcher computes, as JSON with single quotes: `base`,
`shape`, `strides` (expressions, see `_Expressions`), and `nan`, whether elements out of bounds are NaN. Parameters are
added at the end.

Descriptors that are made from loaded values, program ids or values of loops stay where they are, as do those of kernels
whose own descriptor parameters were lowered to several parameters each, and those of functions that are called. A
launcher that cannot encode a map, as the hardware's restrictions on a descriptor that no program uses need not be met,
runs the kernel compiled without this pass.
"""

from __future__ import annotations

import json

from ..analysis.tma import EXPANDED, HOST_MAP, LAUNCH_VALUE
from ..dialects import arith, tt
from ..dialects.constraints import bit_width
from ..dialects.tt_types import PointerType
from ..dialects.ttg_switches import is_on
from ..ir import (
    ArrayAttr,
    BlockArgument,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    Operation,
    StringAttr,
    TypeAttr,
    Value,
    constant_of,
    count,
    functions_of,
    may_change,
    pass_on,
)

__all__ = ["host_tensor_maps"]

MAX_MAPS = 12
"""1.5 KB of the 4 KB that the parameters of a kernel may have before CUDA 12.1."""


@pass_on("module", statistics={"maps": "tensor maps that the launcher encodes"})
def host_tensor_maps(module: Operation) -> bool:
    """Make parameters of the descriptors of a module's kernel that are functions of its arguments."""
    kernels = [f for f in functions_of(module) if isinstance(f, tt.Func) and f.sym_visibility != "private"]
    if len(kernels) != 1 or EXPANDED in kernels[0].attributes or not is_on(module, "host-maps"):
        return False
    (kernel,) = kernels
    made = [op for op in kernel.walk() if isinstance(op, tt.MakeTensorDescriptor)]
    found = [(op, text) for op in made if (text := _map_of(kernel, op)) is not None][:MAX_MAPS]
    found = [(op, text) for op, text in found if may_change("host-tensor-maps", op)]
    if found:
        _add_parameters(kernel, found)
        count("maps", len(found))
    return bool(found)


def _add_parameters(kernel: tt.Func, found: list[tuple[tt.MakeTensorDescriptor, str]]) -> None:
    entry = kernel.entry
    rows = [DictionaryAttr({})] * len(entry.args) if kernel.arg_attrs is None else list(kernel.arg_attrs.elements)
    for op, text in found:
        parameter = entry.add_argument(op.result.type, op.loc)
        parameter.hint = op.result.hint
        rows.append(DictionaryAttr({HOST_MAP: StringAttr(text)}))
        op.replace_with([parameter])
    kernel.attributes["arg_attrs"] = ArrayAttr(tuple(rows))
    ty = FunctionType(tuple(a.type for a in entry.args), kernel.function_type.results)
    kernel.attributes["function_type"] = TypeAttr(ty)


def _map_of(kernel: tt.Func, op: tt.MakeTensorDescriptor) -> str | None:
    """The attribute of a descriptor; None where an operand is no function of the kernel's arguments."""
    expressions = _Expressions(kernel)
    try:
        row = {
            "base": expressions.pointer(op.base),
            "shape": [expressions.integer(v) for v in op.shape],
            "strides": [expressions.integer(v) for v in op.strides],
            "nan": op.padding == tt.PaddingOption.pad_nan,
        }
    except _NotOfArguments:
        return None
    return json.dumps(row, separators=(",", ":")).replace('"', "'")


class _NotOfArguments(Exception):
    """A value depends on more than the kernel's arguments."""


_BINARY = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.divsi": "div",
    "arith.remsi": "rem",
    "arith.minsi": "min",
    "arith.maxsi": "max",
}
MAX_OPERATIONS = 64  # of one descriptor: a launch evaluates them for each new set of arguments


class _Expressions:
    """Expressions of the arguments of a block, evaluated by `runtime.host_maps`.

    An integer, `["arg", bits, index]`, `["wrap", bits, x]` (to a signed integer), `["zext", bits, x]` (of an unsigned
    one), or `[name, bits, x, y]` with a name of `_BINARY`: on signed integers that wrap around at `bits` bits.
    """

    def __init__(self, kernel: tt.Func) -> None:
        self._entry = entry = kernel.entry
        rows = [] if kernel.arg_attrs is None else kernel.arg_attrs.elements
        self._hidden = [arg for arg, row in zip(entry.args, rows) if row.get(LAUNCH_VALUE) is not None]
        self._left = MAX_OPERATIONS

    def integer(self, value: Value) -> object:
        """The expression of an integer; raises `_NotOfArguments`."""
        number, ty = constant_of(value), value.type
        if isinstance(number, IntegerAttr):
            return number.value
        if isinstance(value, BlockArgument):
            return self._argument(value)
        op = self._next(value)
        if not isinstance(ty, IntegerType) or ty.width < 8:
            raise _NotOfArguments
        if isinstance(op, (arith.ExtSI, arith.TruncI)):
            return ["wrap", ty.width, self.integer(op.in_)]
        if isinstance(op, arith.ExtUI):
            return ["zext", bit_width(op.in_.type), self.integer(op.in_)]
        if op.name not in _BINARY:
            raise _NotOfArguments
        return [_BINARY[op.name], ty.width, *map(self.integer, op.operands)]

    def pointer(self, value: Value) -> object:
        """The expression of an address."""
        if isinstance(value, BlockArgument):
            return self._argument(value)
        op = self._next(value)
        if isinstance(op, tt.Bitcast):
            return self.pointer(op.src)
        if not isinstance(op, tt.AddPtr) or not isinstance(value.type, PointerType):
            raise _NotOfArguments
        size = ["mul", 64, self.integer(op.offset), max(1, bit_width(value.type.pointee) // 8)]
        return ["add", 64, self.pointer(op.ptr), size]

    def _next(self, value: Value) -> Operation:
        self._left -= 1
        if self._left < 0 or value.defining_op is None:
            raise _NotOfArguments
        return value.defining_op

    def _argument(self, value: BlockArgument) -> object:
        if value.owner is not self._entry or value in self._hidden:
            raise _NotOfArguments
        bits = 64 if isinstance(value.type, PointerType) else bit_width(value.type)
        if bits < 8 or not isinstance(value.type, (IntegerType, PointerType)):
            raise _NotOfArguments
        return ["arg", bits, value.index]
