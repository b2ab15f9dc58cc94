"""The nvg dialect: single instructions of NVIDIA GPUs on values of the llvm dialect."""

from __future__ import annotations

import enum
from typing import Annotated

from ..ir import (
    I32,
    PURE,
    READ,
    WRITE,
    Attribute,
    Op,
    Operand,
    OptionalOperand,
    Result,
    Type,
    Value,
    enum_field,
    i32,
)
from .llvm_types import PointerType
from .tt_types import ScopeField, SemField

__all__ = [
    "ClusterCTAId",
    "LoadAcquire",
    "TensorMemoryBase",
    "WGMMA",
    "WGMMAEltType",
    "WGMMALayout",
    "WGMMAWaitGroup",
    "WarpGroupBarrierId",
]


TENSOR_MEMORY = 6  # the number of this address space in LLVM


class WGMMALayout(enum.IntEnum):
    """The major dimension of a matrix in shared memory."""

    row = 0
    col = 1


class WGMMAEltType(enum.IntEnum):
    """The element types of WGMMA."""

    s8 = 0
    s32 = 1
    e4m3 = 2
    e5m2 = 3
    f16 = 4
    bf16 = 5
    tf32 = 6
    f32 = 7


LayoutField = Annotated[WGMMALayout, enum_field(WGMMALayout)]
EltTypeField = Annotated[WGMMAEltType, enum_field(WGMMAEltType)]


class _Number:
    """Mixin: the result is i32."""

    __slots__ = ()

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i32"""
        return [i32]


class WGMMA(
    Op,
    name="nvg.wgmma",
    traits=READ | WRITE,
    assembly="$opA `,` $opB `,` $useC (`,` $opC^)? attr-dict `:` functional-type(operands, $res)",
):
    """res = opA * opB + (useC ? opC : 0): one `wgmma.mma_async` of size m x n x k by a warpgroup.

    Operands are descriptors of matrices in shared memory (i64), or structs of registers.
    """

    opA: Operand
    opB: Operand
    useC: Operand
    opC: OptionalOperand
    m: I32
    n: I32
    k: I32
    eltTypeC: EltTypeField
    eltTypeA: EltTypeField
    eltTypeB: EltTypeField
    layoutA: LayoutField
    layoutB: LayoutField
    res: Result


class WGMMAWaitGroup(
    Op, name="nvg.wgmma_wait_group", traits=READ | WRITE, assembly="$input attr-dict `:` type($input)"
):
    """output = input, after waiting until at most `pendings` WGMMA groups are pending."""

    input: Operand
    pendings: I32
    output: Result

    def verify_op(self) -> list[str]:
        """One type."""
        a, b = self.operands[0].type, self.results[0].type
        return [] if a is b else [f"the result must have the type of the operand, not {a} and {b}"]


class ClusterCTAId(_Number, Op, name="nvg.cluster_id", traits=PURE, assembly="attr-dict"):
    """result = the rank of this CTA in its cluster."""

    result: Result


class WarpGroupBarrierId(_Number, Op, name="nvg.warp_group_barrier_id", traits=PURE, assembly="attr-dict"):
    """result = the id of the named barrier of this warpgroup."""

    result: Result


class LoadAcquire(
    Op,
    name="nvg.ld_acquire",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $addr (`,` $mask^)? attr-dict `:` functional-type($addr, $result)",
):
    """result = *addr where `mask`, with memory order `sem` at `scope`."""

    addr: Operand
    mask: OptionalOperand
    sem: SemField
    scope: ScopeField
    result: Result


class TensorMemoryBase(Op, name="nvg.tensor_memory_base", traits=PURE, assembly="attr-dict"):
    """result = the base address of the kernel's tensor memory."""

    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """!llvm.ptr<6>"""
        return [PointerType(TENSOR_MEMORY)]
