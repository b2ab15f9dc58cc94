"""`tt.dot` by matrix instructions of AMD GPUs: MFMA (CDNA) and WMMA (RDNA).

    %d = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half> %a, <4 x half> %b, <16 x float> %c, i32 0, …)

Which registers of the tensors are operands of which instruction is planned from their layouts (`layout.amd_mma`); here
they become the vectors that the intrinsics take. An accumulator is made a vector once, passes through all instructions
along K, and becomes registers again at the end; instructions of one k are adjacent, so that none waits for its
predecessor.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ...analysis.matrix_instructions import MatrixInstruction, mfma_named, shapes_of, wmma_for
from ...dialects import tt
from ...dialects.ttg_context import target_of
from ...dialects.ttg_layouts import AmdMfma, AmdWmma
from ...hardware.amd import amd_gpu
from ...ir import TensorType, Type, Value, element_type
from ...layout import LinearLayout
from ...layout.amd_mma import MatrixPlan, plan_matrix, result_vectors
from ...layout.mma import copies_of
from ...support import UnsupportedOperation
from .context import FunctionContext
from .types import llvm_type

__all__ = ["instruction_of", "matrix_dot"]


def layout_of(op: tt.Dot) -> AmdMfma | AmdWmma:
    """The layout of the result of a dot by matrix instructions."""
    layout = op.d.type.encoding if isinstance(op.d.type, TensorType) else None
    assert isinstance(layout, (AmdMfma, AmdWmma))
    return layout


def instruction_of(op: tt.Dot) -> MatrixInstruction:
    """The matrix instruction of a `tt.dot` with a layout of MFMA or WMMA; UnsupportedOperation if there is none."""
    layout = layout_of(op)
    _check_target(op, layout)
    types = str(element_type(op.a.type)), str(element_type(op.b.type))
    if isinstance(layout, AmdMfma):
        found = mfma_named(layout.version, types, layout.instrShape)
        if found is None and types == ("f32", "f32"):
            found = mfma_named(layout.version, ("tf32", "tf32"), layout.instrShape)
        name = "x".join(map(str, layout.instrShape))
    else:
        found, name = wmma_for(layout.version, types), "16x16x16"
    if found is None:
        kind = "MFMA" if isinstance(layout, AmdMfma) else "WMMA"
        known = shapes_of(layout.version, types) if isinstance(layout, AmdMfma) else []
        which = f"{kind} {name} of version {layout.version}" + (f", there are {', '.join(known)}" if known else "")
        raise UnsupportedOperation(op, f"of {types[0]} and {types[1]} has no instruction {which}")
    result = found.intrinsic.split(".")[1]
    if str(element_type(op.d.type)) != result:
        raise UnsupportedOperation(
            op, f"has an accumulator of {element_type(op.d.type)}; that of {found.intrinsic} is {result}"
        )
    return found


def _check_target(op: tt.Dot, layout: AmdMfma | AmdWmma) -> None:
    """Raise UnsupportedOperation for the layout of an instruction that the target does not have."""
    kind, _, arch = target_of(op).partition(":")
    if not kind:
        return
    gpu = amd_gpu(arch) if kind == "hip" else None
    name = "MFMA" if isinstance(layout, AmdMfma) else "WMMA"
    version = 0 if gpu is None else gpu.mfma_version if name == "MFMA" else gpu.wmma_version
    if layout.version != version:
        has = f"it has {name} of version {version}" if version else f"it has no {name}"
        raise UnsupportedOperation(
            op, f"has the layout {layout}, of {name} of version {layout.version}: not on {kind}:{arch}, {has}"
        )


@functools.lru_cache(256)
def _planned(
    a: LinearLayout, b: LinearLayout, d: LinearLayout, width: int, vectors: tuple[int, ...], transposed: bool, side: int
) -> MatrixPlan:
    return plan_matrix(a, b, d, width, vectors, transposed, side)


def matrix_dot(e: FunctionContext, op: tt.Dot) -> list[str]:
    """The parts of d = a @ b + c."""
    layout = layout_of(op)
    found = instruction_of(op)
    if isinstance(layout, AmdMfma):
        vectors, transposed = result_vectors("mfma", found.m, layout.elementBitWidth), layout.isTransposed
        side = found.m
    else:
        vectors, transposed = result_vectors(f"wmma{layout.version}", found.m), layout.isTranspose
        side = 32 if layout.version == 1 else 16
    try:
        plan = _planned(e.layout(op.a), e.layout(op.b), e.layout(op.d), found.width, vectors, transposed, side)
    except ValueError as error:
        raise UnsupportedOperation(op, f"has operands that {found.intrinsic} does not support: {error}") from None
    return _Writer(e, op, found, plan, transposed).parts()


class _Writer:
    """The instructions of one dot."""

    def __init__(
        self, e: FunctionContext, op: tt.Dot, instruction: MatrixInstruction, plan: MatrixPlan, transposed: bool
    ) -> None:
        self.e, self.op, self.instruction, self.plan, self.transposed = e, op, instruction, plan, transposed
        self.element = llvm_type(element_type(op.d.type))
        self.count = len(plan.steps[0].d)
        self.result = f"<{self.count} x {self.element}>"
        self.packed: dict[tuple[str, tuple[int | None, ...]], str] = {}
        self.takes_part = e.op(f"icmp eq i32 {e.op(f'and i32 {e.lane}, {plan.idle}')}, 0") if plan.idle else ""

    def parts(self) -> list[str]:
        """Emit all instructions; the registers of the result."""
        e, sums = self.e, self.e(self.op.c)
        vectors: dict[tuple[int, ...], str] = {}
        for step in self.plan.steps:
            if step.d not in vectors:
                vectors[step.d] = self.vector(self.element, [sums[r] for r in step.d])
            a, b = self.operand("a", self.op.a, step.a), self.operand("b", self.op.b, step.b)
            vectors[step.d] = self.call(*((b, a) if self.transposed else (a, b)), vectors[step.d])
        if self.instruction.intrinsic.startswith("wmma"):
            self.keep_in_block(vectors.values())
        out = list(sums)
        for registers, vector in vectors.items():
            for i in reversed(range(self.count)):  # of registers that occur several times the first one counts
                out[registers[i]] = e.op(f"extractelement {self.result} {vector}, i32 {i}")
        copies = copies_of(e.layout(self.op.d))
        return [out[i & ~copies] for i in range(len(out))]

    def keep_in_block(self, vectors: Iterable[str]) -> None:
        """Keep WMMAs where all lanes are active: LLVM 22 sinks them, with their operands, into a branch that alone uses
        the result (a store by some of the lanes), since it does not mark the instruction as convergent. It does not
        sink what has a use before the branch."""
        self.e.module.declare("declare void @llvm.fake.use(...)")
        for vector in vectors:
            self.e.stmt(f"call void (...) @llvm.fake.use({self.result} {vector})")

    def call(self, a: str, b: str, c: str) -> str:
        """One instruction, with its operands in the instruction's order."""
        name, operand = f"llvm.amdgcn.{self.instruction.intrinsic}", self.instruction.operand
        if ".iu8." in name:  # both operands signed, without clamping
            signed = ("i1", "true")
            operands = [signed, (operand, a), signed, (operand, b), (self.result, c), ("i1", "false")]
        else:
            operands = [(operand, a), (operand, b), (self.result, c)]
        if name.startswith("llvm.amdgcn.mfma"):
            operands += [("i32", "0")] * 3  # cbsz, abid, blgp: no broadcast, no permutation
        return self.e.call(self.result, name, *operands)

    def operand(self, name: str, value: Value, registers: tuple[int | None, ...]) -> str:
        """The operand that consists of these registers; missing ones, and all of idle lanes, are zero."""
        key = (name, registers)
        if key not in self.packed:
            parts = self.e(value)
            self.packed[key] = self.pack(element_type(value.type), [None if r is None else parts[r] for r in registers])
        return self.packed[key]

    def pack(self, ty: Type, parts: list[str | None]) -> str:
        e, llvm, wanted = self.e, llvm_type(ty), self.instruction.operand
        zero = "zeroinitializer" if wanted.startswith("<") else "0" if wanted.startswith("i") else "0.000000e+00"
        if all(part is None for part in parts):
            return zero
        value = self.vector(llvm, parts) if len(parts) > 1 else str(parts[0])
        source = f"<{len(parts)} x {llvm}>" if len(parts) > 1 else llvm
        if source != wanted:
            value = e.op(f"bitcast {source} {value} to {wanted}")
        return e.op(f"select i1 {self.takes_part}, {wanted} {value}, {wanted} {zero}") if self.takes_part else value

    def vector(self, element: str, parts: list[str | None] | list[str]) -> str:
        """A vector of parts, zero where there is none."""
        out = "zeroinitializer" if None in parts else "poison"
        for i, part in enumerate(parts):
            if part is not None:
                out = self.e.op(f"insertelement <{len(parts)} x {element}> {out}, {element} {part}, i32 {i}")
        return out
