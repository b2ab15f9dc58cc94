"""Inline PTX, calls of library functions, and `tt.map_elementwise`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import tt, ttg
from ...dialects.ttg_memory import MemDescType
from ...ir import TensorType, Type
from ...support import UnsupportedOperation
from ...support.patterns import pattern
from ..llvm.control import lower_region
from .context import FunctionContext, elementwise, lowers
from .types import bit_width, llvm_type, types_of

__all__ = ["emit_user_asm"]


@lowers(tt.ExternElementwise)
def _library(e: FunctionContext, op: tt.ExternElementwise) -> None:
    ty = llvm_type(op.result.type)
    operands = [llvm_type(v.type) for v in op.srcs]
    elementwise(e, op, lambda *row: e.target.library_function(e, op, op.symbol, op.pure, ty, list(zip(operands, row))))


# -- inline PTX ---------------------------------------------------------------------------------------------------


def emit_user_asm(e: FunctionContext, op: Any, operands: Sequence[tuple[str, str]], struct: str) -> str:
    """The user's inline assembly; pure assembly may still read memory."""
    attributes = "" if op.pure else " #1"
    return e.asm(op.asm_string, op.constraints.replace(" ", ""), operands, struct, not op.pure, attributes)


@lowers(tt.InlineAsm)
def _inline_asm(e: FunctionContext, op: tt.InlineAsm) -> None:
    """The text once for each group of `packed_element` registers; the last group is padded with poison."""
    pack = op.packed_element
    count = len(types_of(op.results[0].type))
    _check_operands(op)
    columns = [[*e(v), *["poison"] * (-count % pack)] for v in op.args]
    results: list[list[str]] = [[] for _ in op.results]
    for first in range(0, count, pack):
        operands = []
        for value, parts in zip(op.args, columns):
            operands += _grouped(e, parts[first : first + pack], value.type)
        for parts, more in zip(results, _asm_once(e, op, operands)):
            parts += more
    for result, parts in zip(op.results, results):
        e.bind(result, parts[:count])


_NUMBERED = pattern(r"\$\$|\$\{?(\d+)")


def _check_operands(op: tt.InlineAsm) -> None:
    """UnsupportedOperation where the numbers of constraints, operands and placeholders in the text differ."""
    letters = [c for c in op.constraints.replace(" ", "").split(",") if c and not c.startswith("~")]
    outputs = sum(c.startswith("=") for c in letters)
    for what, stated, values in (
        ("outputs", outputs, op.results),
        ("inputs", len(letters) - outputs, op.args),
    ):
        needed = sum(op.packed_element // _per_register(v.type, op.packed_element) for v in values)
        if stated != needed:
            raise UnsupportedOperation(
                op,
                f"has {stated} {what} in its constraints {op.constraints!r}, and its {len(values)} "
                f"{'results' if what == 'outputs' else 'arguments'} take {needed} registers with "
                f"pack={op.packed_element}",
            )
    highest = max((int(m[1]) for m in _NUMBERED.finditer(op.asm_string) if m[1]), default=-1)
    if highest >= len(letters):
        raise UnsupportedOperation(
            op, f"names an operand ${highest}, and its constraints {op.constraints!r} have $0 to ${len(letters) - 1}"
        )


def _per_register(ty: Type, pack: int) -> int:
    """How many elements of a group go into one register of 32 bits."""
    return min(max(32 // bit_width(ty), 1), pack)


def _grouped(e: FunctionContext, values: Sequence[str], ty: Type) -> list[tuple[str, str]]:
    """Elements as operands: those of less than 32 bits together in one register."""
    each, element = _per_register(ty, len(values)), llvm_type(ty)
    if each == 1:
        return [(element, v) for v in values]
    vector, out = f"<{each} x {element}>", []
    for first in range(0, len(values), each):
        whole = "poison"
        for i, v in enumerate(values[first : first + each]):
            whole = e.op(f"insertelement {vector} {whole}, {element} {v}, i32 {i}")
        out.append((vector, whole))
    return out


def _asm_once(e: FunctionContext, op: tt.InlineAsm, operands: list[tuple[str, str]]) -> list[list[str]]:
    """For each result the elements of one group."""
    shapes = []  # (elements in a register, registers, type of an element) of each result
    for result in op.results:
        each = _per_register(result.type, op.packed_element)
        shapes.append((each, op.packed_element // each, llvm_type(result.type)))
    types = [ty if each == 1 else f"<{each} x {ty}>" for each, n, ty in shapes for _ in range(n)]
    struct = types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"
    value = emit_user_asm(e, op, operands, struct)
    registers = iter([value] if len(types) == 1 else e.fields(struct, value, len(types)))
    out = []
    for each, n, ty in shapes:
        parts: list[str] = []
        for _ in range(n):
            register = next(registers)
            vector = f"<{each} x {ty}>"
            if each == 1:
                parts.append(register)
            else:
                parts += [e.op(f"extractelement {vector} {register}, i32 {i}") for i in range(each)]
        out.append(parts)
    return out


# -- functions applied element by element -------------------------------------------------------------------------


@lowers(tt.MapElementwise)
def _map(e: FunctionContext, op: tt.MapElementwise) -> None:
    """The region, branches and all, once for each `pack` registers; a thread with fewer repeats its last one."""
    region, pack = op.regions[0], op.pack
    columns = [e(v) for v in op.srcs]
    results: list[list[str]] = [[] for _ in op.results]
    for first in range(0, len(columns[0]), pack):
        last = len(columns[0]) - 1
        arguments = [parts[min(first + i, last)] for parts in columns for i in range(pack)]
        for argument, part in zip(region.entry.args, arguments):
            e.bind(argument, [part])
        e.joins.append((e.fresh_label("joined"), []))
        lower_region(e, region)
        label, edges = e.joins.pop()
        e.label(label)
        for k, result in enumerate(op.results):
            ty = llvm_type(result.type)
            for i in range(k * pack, k * pack + pack):
                incoming = ", ".join(f"[ {values[i][0]}, %{block} ]" for values, block in edges)
                results[k].append(e.op(f"phi {ty} {incoming}"))
    for result, parts in zip(op.results, results):
        assert isinstance(result.type, TensorType)
        e.bind(result, parts[: len(columns[0])])


@lowers(tt.MapElementwiseReturn)
def _return(e: FunctionContext, op: Any) -> None:
    label, edges = e.joins[-1]
    edges.append(([[e.scalar(v)] for v in op.values], e.block))
    e.stmt(f"br label %{label}")


@lowers(ttg.InlineAsm)
def _thread_asm(e: FunctionContext, op: ttg.InlineAsm) -> None:
    """Once per thread: its operands are all elements that the thread holds, or the address of a buffer."""
    operands: list[tuple[str, str]] = []
    for arg in op.args:
        pairs = list(zip(types_of(arg.type), e(arg)))
        operands += pairs[:1] if isinstance(arg.type, MemDescType) else pairs
    types = [ty for result in op.results for ty in types_of(result.type)]
    struct = "void" if not types else types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"
    value = emit_user_asm(e, op, operands, struct)
    parts = iter([value] if len(types) == 1 else e.fields(struct, value, len(types)))
    for result in op.results:
        e.bind(result, [next(parts) for _ in types_of(result.type)])
