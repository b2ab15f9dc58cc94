"""Tensor core MMAs: `mma.sync` (version 2 of NVIDIA's matrix instructions), PTX ISA 8.7, section 9.7.14.5.

    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};

Which registers of the tensors are operands of which instruction is planned from their layouts (`layout.mma`);
here elements become the 32-bit registers that instructions take: two halves, four bytes, one tf32 in each.

The instructions of one tile of the result accumulate along K in order; those of all other tiles are interleaved, so
that no instruction waits for its predecessor.

`maxNumImpreciseAcc` bounds the number of fp8 products accumulated with reduced precision: the tensor cores accumulate
fp8 in fewer bits than f32. Where K is longer than the bound, partial accumulators start from zero and are added as f32.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from ....dialects import arith
from ....hardware.nvidia_features import F64_MMA_16X8, FP8_MMA_SYNC, MMA_SYNC, Feature
from ....ir import FloatType, Type, f16, f32
from ....layout import LinearLayout
from ....layout.mma import MmaPlan, MmaStep, copies_of, plan_mma
from ....support import UnsupportedOperation
from ..context import FunctionContext
from ..target_info import require
from ..types import llvm_type

__all__ = ["INSTRUCTIONS", "Instruction", "instruction_for", "mma_sync"]


class Instruction(NamedTuple):
    """One shape of `mma.sync`: rows and depth (all have 8 columns), the GPUs that have it."""

    rows: int
    depth: int
    feature: Feature


_16_BITS, _8_BITS = Instruction(16, 16, MMA_SYNC), Instruction(16, 32, MMA_SYNC)
_TF32, _F64 = Instruction(16, 8, MMA_SYNC), Instruction(8, 4, MMA_SYNC)
_FP8 = Instruction(16, 32, FP8_MMA_SYNC)

#: (a, b, c and d) as MLIR names element types -> the instruction that takes them.
INSTRUCTIONS: dict[tuple[str, str, str], Instruction] = {
    ("f16", "f16", "f32"): _16_BITS,
    ("f16", "f16", "f16"): _16_BITS,
    ("bf16", "bf16", "f32"): _16_BITS,
    ("f32", "f32", "f32"): _TF32,
    ("f64", "f64", "f64"): _F64,
    ("i8", "i8", "i32"): _8_BITS,
} | {(a, b, d): _FP8 for a in ("f8E5M2", "f8E4M3FN") for b in ("f8E5M2", "f8E4M3FN") for d in ("f32", "f16")}

_PTX = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "tf32",
    "f64": "f64",
    "i8": "s8",
    "f8E5M2": "e5m2",
    "f8E4M3FN": "e4m3",
}
_PTX_RESULT = {"f16": "f16", "f32": "f32", "f64": "f64", "i32": "s32"}

#: What a register of operands or results is for inline assembly: constraint and LLVM type.
_REGISTERS = {"f32": ("f", "float"), "f64": ("d", "double"), "i32": ("r", "i32"), "f16": ("r", "i32")}


def instruction_for(e: FunctionContext, op: Any) -> Instruction:
    """The instruction for a `tt.dot`; UnsupportedOperation if the target has none for its types."""
    types = tuple(str(v.type.element) for v in (op.a, op.b, op.d))
    found = INSTRUCTIONS.get(types)  # type: ignore[arg-type]
    a, b, d = types
    if found is None:
        raise UnsupportedOperation(op, f"of {a} and {b} with accumulator type {d} has no mma.sync instruction")
    require(e, op, found.feature, f"of {a} and {b} as mma.sync ")
    return found


@functools.lru_cache(256)
def _planned(a: LinearLayout, b: LinearLayout, d: LinearLayout, width: int, shape: Instruction) -> MmaPlan:
    return plan_mma(a, b, d, width, (shape.depth // (4 * width)).bit_length() - 1, shape.rows)


def mma_sync(e: FunctionContext, op: Any) -> list[str]:
    """The parts of d = a @ b + c."""
    shape = instruction_for(e, op)
    width = max(1, 32 // op.a.type.element.width)
    if shape is _F64 and e.module.gpu.has(F64_MMA_16X8):
        shape = _larger_f64(e.layout(op.a))
    try:
        plan = _planned(e.layout(op.a), e.layout(op.b), e.layout(op.d), width, shape)
    except ValueError as error:
        raise UnsupportedOperation(op, f"has operands that mma.sync does not support: {error}") from None
    return _Writer(e, op, shape, width, plan).parts()


def _larger_f64(a: LinearLayout) -> Instruction:
    """The largest instruction of Hopper for f64 operands: 16 rows and up to 16 along K, as registers allow.

    The layouts are made for m8n8k4, but on Hopper it runs at a fraction of the speed of the larger ones.
    """
    moving = [tuple(v)[-2:] for v in a.bases["register"]]
    if not any(row for row, _ in moving):
        return _F64
    return Instruction(16, 4 << min(2, sum(k > 0 for _, k in moving)), F64_MMA_16X8)


class _Writer:
    """The instructions of one dot."""

    def __init__(self, e: FunctionContext, op: Any, shape: Instruction, width: int, plan: MmaPlan) -> None:
        self.e, self.op, self.shape, self.width, self.plan = e, op, shape, width, plan
        self.element, self.result = op.a.type.element, op.d.type.element
        self.constraint, self.register = _REGISTERS[str(self.result)]
        self.packed: dict[tuple[str, tuple[int | None, ...]], str] = {}
        self.ready = e.op(f"icmp eq i32 {e.op(f'and i32 {e.lane}, {plan.idle}')}, 0") if plan.idle else ""

    def parts(self) -> list[str]:
        """Emit all instructions; the registers of the result."""
        e, sums = self.e, self.e(self.op.c)
        group = self.precise_group()
        out = list(sums)
        partial: dict[tuple[int, ...], int] = {}
        for step in self.plan.steps:
            if not group:
                self.store(out, step.d, self.instruction(step, [out[i] for i in step.d]))
                continue
            n = partial[step.d] = partial.get(step.d, 0) + 1
            begins, ends = n % group == 1 or group == 1, n % group == 0 or n == self.plan.steps_along_k
            if begins:
                self.rest = {**getattr(self, "rest", {}), step.d: [out[i] for i in step.d]}
            so_far = [self.zero()] * len(step.d) if begins else [out[i] for i in step.d]
            found = self.instruction(step, so_far)
            if ends:
                found = [e.op(f"fadd float {x}, {y}") for x, y in zip(self.rest[step.d], found)]
            self.store(out, step.d, found)
        copies = copies_of(e.layout(self.op.d))
        return [out[i & ~copies] for i in range(len(out))]

    @staticmethod
    def store(out: list[str], registers: Sequence[int], values: Sequence[str]) -> None:
        """Of registers that occur several times in an instruction, the first one counts."""
        for i, value in reversed(list(zip(registers, values))):
            out[i] = value

    def precise_group(self) -> int:
        """The maximum number of instructions per partial accumulator; 0: no limit."""
        op, depth = self.op, self.shape.depth
        is_fp8 = isinstance(self.element, FloatType) and self.element.width == 8
        if not is_fp8 or self.result is not f32 or op.maxNumImpreciseAcc > op.a.type.shape[-1]:
            return 0
        group = max(1, op.maxNumImpreciseAcc // depth)
        return 0 if group >= self.plan.steps_along_k > 1 else group

    def zero(self) -> str:
        return "0.000000e+00" if self.result is not f16 else "0xH0000"

    # -- one instruction ------------------------------------------------------------------------------------------

    def instruction(self, step: MmaStep, sums: list[str]) -> list[str]:
        """The results of one instruction, a part each."""
        e = self.e
        a = self.operands("a", self.op.a, step.a)
        b = self.operands("b", self.op.b, step.b)
        c = self.sums_in(sums)
        n = len(c)
        groups, at = [], 0
        for count in (n, len(a), len(b), n):
            groups.append("{" + ", ".join(f"${i}" for i in range(at, at + count)) + "}")
            at += count
        kind = "d" if self.register == "double" else "r"
        # Accumulators stay in their registers: without this, ptxas moves hundreds of them in a loop of many MMAs.
        constraints = ",".join([f"={self.constraint}"] * n + [kind] * (len(a) + len(b)) + [str(i) for i in range(n)])
        taken = "double" if kind == "d" else "i32"
        operands = [(taken, v) for v in (*a, *b)] + [(self.register, v) for v in c]
        struct = f"{{ {', '.join([self.register] * n)} }}"
        out = e.asm(f"{self.name()} {', '.join(groups)};", constraints, operands, struct)
        return self.sums_out(e.fields(struct, out, n))

    def name(self) -> str:
        """`mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`. Integer accumulation wraps around, as
        with `wgmma` and everywhere else; sums from zero cannot, and have Triton's name."""
        a, b, d = self.op.a.type.element, self.op.b.type.element, _PTX_RESULT[str(self.result)]
        shape = f"m{self.shape.rows}n8k{self.shape.depth}"
        stop = ".satfinite" if d == "s32" and arith.is_zero(self.op.c) else ""
        return f"mma.sync.aligned.{shape}.row.col{stop}.{d}.{_PTX[str(a)]}.{_PTX[str(b)]}.{d}"

    def operands(self, name: str, value: Any, registers: tuple[int | None, ...]) -> list[str]:
        """The registers of a fragment, `width` elements in each."""
        parts = self.e(value)
        out = []
        for i in range(0, len(registers), self.width):
            group = registers[i : i + self.width]
            key = (name, group)
            if key not in self.packed:
                self.packed[key] = self.pack(value.type.element, [None if r is None else parts[r] for r in group])
            out.append(self.packed[key])
        return out

    def pack(self, ty: Type, parts: list[str | None]) -> str:
        """One register of neighbours along K; those that are missing, and all of lanes beyond K, are zero."""
        e, llvm = self.e, llvm_type(ty)
        if all(part is None for part in parts):
            return "0" if llvm != "double" else "0.000000e+00"
        if llvm == "double":
            value = str(parts[0])
        elif len(parts) == 1:
            value = e.op(f"bitcast {llvm} {parts[0]} to i32")
        elif None not in parts and tuple(map(str, parts)) in e.words:
            value = e.words[tuple(map(str, parts))]
        else:
            value = "zeroinitializer" if None in parts else "poison"
            vector = f"<{len(parts)} x {llvm}>"
            for i, part in enumerate(parts):
                if part is not None:
                    value = e.op(f"insertelement {vector} {value}, {llvm} {part}, i32 {i}")
            value = e.op(f"bitcast {vector} {value} to i32")
        if not self.ready:
            return value
        whole, zero = ("double", "0.000000e+00") if llvm == "double" else ("i32", "0")
        return e.op(f"select i1 {self.ready}, {whole} {value}, {whole} {zero}")

    def sums_in(self, sums: list[str]) -> list[str]:
        """The accumulators as operands of the instruction: f16 values in pairs."""
        if self.result is not f16:
            return sums
        out = []
        for low, high in zip(sums[::2], sums[1::2]):
            pair = self.e.op(f"insertelement <2 x half> poison, half {low}, i32 0")
            pair = self.e.op(f"insertelement <2 x half> {pair}, half {high}, i32 1")
            out.append(self.e.op(f"bitcast <2 x half> {pair} to i32"))
        return out

    def sums_out(self, registers: list[str]) -> list[str]:
        """The sums of the instruction's registers."""
        if self.result is not f16:
            return registers
        out = []
        for register in registers:
            pair = self.e.op(f"bitcast i32 {register} to <2 x half>")
            out += [self.e.op(f"extractelement <2 x half> {pair}, i32 {i}") for i in range(2)]
        return out
