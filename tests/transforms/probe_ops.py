"""A dialect that only tests define: a view, and accesses to global and shared memory, with evaluation and lowering.

No pass, analysis, printer or evaluator names these ops. What passes know of them is what their classes declare.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tritium.conversion.ttg_to_llvm import memory, shared_memory
from tritium.conversion.ttg_to_llvm.context import FunctionContext, lowers
from tritium.conversion.ttg_to_llvm.types import llvm_type
from tritium.dialects.tt_types import pointee_type
from tritium.interpreter.evaluator import Buffer
from tritium.interpreter.meanings import meaning
from tritium.ir import (
    PURE,
    READ,
    WRITE,
    Access,
    AnyAttr,
    Attribute,
    BufferAccess,
    Flag,
    Memory,
    Op,
    Operand,
    OptionalOperand,
    PlainLoad,
    PointerAccess,
    Result,
    Type,
    Value,
    ViewLike,
)

__all__ = ["BufferLoad", "BufferStore", "DoubledLoad", "Load", "Store", "View"]

_OPERANDS = "attr-dict `:` "


class Load(
    PlainLoad,
    Op,
    name="probe.load",
    traits=READ,
    assembly="$ptr (`,` $mask^)? (`,` $other^)? attr-dict `:` type($ptr)",
):
    """result = *ptr where `mask`, `other` elsewhere."""

    accesses = (Access("ptr", READ, Memory.GLOBAL),)

    ptr: Operand
    mask: OptionalOperand
    other: OptionalOperand
    cachePolicy: AnyAttr = None
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The pointee type in the shape of the pointer."""
        return [pointee_type(operands[0].type)]


class DoubledLoad(
    PointerAccess,
    Op,
    name="probe.doubled_load",
    traits=READ,
    assembly="$ptr (`,` $mask^)? attr-dict `:` type($ptr)",
):
    """result = 2 * *ptr where `mask`: a load that no copy can replace."""

    accesses = (Access("ptr", READ, Memory.GLOBAL),)

    ptr: Operand
    mask: OptionalOperand
    result: Result

    # for the lowering, which it shares with `Load`
    other = cachePolicy = None

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The pointee type in the shape of the pointer."""
        return [pointee_type(operands[0].type)]


class Store(
    PointerAccess,
    Op,
    name="probe.store",
    traits=WRITE,
    assembly="$ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)",
):
    """*ptr = value where `mask`."""

    accesses = (Access("ptr", WRITE, Memory.GLOBAL),)

    ptr: Operand
    value: Operand
    mask: OptionalOperand
    cachePolicy: AnyAttr = None
    ignore_cta: Flag = None


class View(
    ViewLike,
    Op,
    name="probe.view",
    traits=PURE,
    assembly="$src attr-dict `:` qualified(type($src))",
):
    """result = the buffer `src` under another name."""

    src: Operand
    result: Result


class BufferLoad(
    BufferAccess,
    Op,
    name="probe.buffer_load",
    traits=READ,
    assembly="$src attr-dict `:` qualified(type($src)) `->` type($result)",
):
    """result = the contents of the buffer `src`."""

    accesses = (Access("src", READ, Memory.SHARED),)

    src: Operand
    result: Result


class BufferStore(
    BufferAccess,
    Op,
    name="probe.buffer_store",
    traits=WRITE,
    assembly="$src `,` $dst attr-dict `:` type($src) `->` qualified(type($dst))",
):
    """The buffer `dst` holds `src`."""

    accesses = (Access("dst", WRITE, Memory.SHARED),)

    src: Operand
    dst: Operand


# -- evaluation ---------------------------------------------------------------------------------------------------


@meaning("probe.load")
def _evaluate_load(ev: Any, op: Any, ptr: Any, *rest: Any) -> Any:
    values = list(rest)
    mask = values.pop(0) if op.mask is not None else None
    other = values.pop(0) if op.other is not None else None
    return ev.memory.load(np.asarray(ptr), mask, other, op.result.type, 0)


@meaning("probe.doubled_load")
def _evaluate_doubled_load(ev: Any, op: Any, ptr: Any, mask: Any = None) -> Any:
    return 2 * ev.memory.load(np.asarray(ptr), mask, None, op.result.type, 0)


@meaning("probe.store")
def _evaluate_store(ev: Any, op: Any, ptr: Any, value: Any, mask: Any = None) -> None:
    ev.memory.store(np.asarray(ptr), value, mask, op.value.type)


@meaning("probe.view")
def _evaluate_view(ev: Any, op: Any, buffer: Buffer) -> Buffer:
    return Buffer(buffer.array)


@meaning("probe.buffer_load")
def _evaluate_buffer_load(ev: Any, op: Any, buffer: Buffer) -> Any:
    return buffer.array.copy()


@meaning("probe.buffer_store")
def _evaluate_buffer_store(ev: Any, op: Any, src: Any, buffer: Buffer) -> None:
    buffer.array[...] = src


# -- lowering -----------------------------------------------------------------------------------------------------


@lowers(Load)
def _lower_load(e: FunctionContext, op: Load) -> None:
    e.bind(op.result, memory.load_parts(e, op, op.ptr, op.result.type))


@lowers(DoubledLoad)
def _lower_doubled_load(e: FunctionContext, op: DoubledLoad) -> None:
    parts, ty = memory.load_parts(e, op, op.ptr, op.result.type), llvm_type(op.result.type)
    e.bind(op.result, [e.op(f"fadd {ty} {v}, {v}") for v in parts])


@lowers(Store)
def _lower_store(e: FunctionContext, op: Store) -> None:
    memory.lower_store(e, op)


@lowers(View)
def _lower_view(e: FunctionContext, op: View) -> None:
    e.bind(op.result, e(op.src))


@lowers(BufferLoad)
def _lower_buffer_load(e: FunctionContext, op: BufferLoad) -> None:
    e.bind(op.result, shared_memory.load(e, op, op.result.type, op.src))


@lowers(BufferStore)
def _lower_buffer_store(e: FunctionContext, op: BufferStore) -> None:
    shared_memory.store(e, op, e(op.src), op.src.type, op.dst)
