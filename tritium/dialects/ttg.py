"""The ttg dialect: tiles with layouts, buffers in shared memory, asynchronous copies, warps that do different things.

Tensors here say by their layout which thread of which warp holds which element (`ttg_layouts`); buffers in shared
memory are values of the type `!ttg.memdesc` (`ttg_memory`). The operations of the tt dialect stay, on tensors with
layouts. A module says in attributes what it is compiled for: `ttg.num-warps` warps of `ttg.threads-per-warp` threads a
block, `ttg.num-ctas` blocks a cluster, and the `ttg.target`.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from ..ir import (
    ALLOC,
    ORDERING,
    PURE,
    READ,
    REARRANGES,
    RETURN_LIKE,
    SINGLE_BLOCK,
    TERMINATOR,
    WRITE,
    Access,
    AnyAttr,
    Attribute,
    Body,
    Bool,
    BufferAccess,
    Completion,
    Flag,
    I32Array,
    IntegerAttr,
    Memory,
    MemoryAccess,
    Op,
    Operand,
    Operation,
    OptionalI32,
    OptionalOperand,
    PointerAccess,
    RegionBranch,
    RegionEdge,
    Result,
    Str,
    Type,
    Value,
    VariadicOperand,
    VariadicResult,
    ViewLike,
    WaitLike,
    i1,
    i32,
)
from ..ir import I32 as I32Field
from . import ttg_checks
from .tt_types import AtomicField
from .ttg_memory import AsyncTokenType, MemDescType
from .ttg_warps import WarpReturn, WarpSpecialize, WarpSpecializePartitions, WarpYield

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = [
    "AddrSpace",
    "AsyncCommitGroup",
    "AsyncCopyGlobalToLocal",
    "AsyncWait",
    "Barrier",
    "ConvertLayout",
    "Fp4ToFp",
    "GlobalScratchAlloc",
    "InlineAsm",
    "LocalAlloc",
    "LocalAtomicScatterRmw",
    "LocalDealloc",
    "LocalGather",
    "LocalLoad",
    "LocalScatter",
    "LocalStore",
    "Mask",
    "MaskReturn",
    "MemDescIndex",
    "MemDescReinterpret",
    "MemDescReshape",
    "MemDescSubslice",
    "MemDescTrans",
    "PredicateStage",
    "WarpId",
    "WarpReturn",
    "WarpSpecialize",
    "WarpSpecializePartitions",
    "WarpYield",
]

_TO = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))"
_token = AsyncTokenType()
_FILL = (Access("result", WRITE, Memory.SHARED),)


class ConvertLayout(Op, name="ttg.convert_layout", traits=PURE | REARRANGES, assembly=_TO):
    """result = src, converted to the layout of the result type.

    `force_warp_shuffle`: elements must not move between warps, nor through memory.
    """

    verify_op = ttg_checks.convert_layout

    src: Operand
    force_warp_shuffle: Flag = False
    result: Result


class Fp4ToFp(Op, name="ttg.fp4_to_fp", traits=PURE, assembly=_TO):
    """result[…, 2i + k, …] = the e2m1 value in bits 4k to 4k + 3 of src[…, i, …], along `axis`."""

    verify_op = ttg_checks.fp4_to_fp

    src: Operand
    axis: I32Field
    result: Result


class InlineAsm(
    Op,
    name="ttg.inline_asm",
    assembly="$asm_string attr-dict ($args^)? `:` functional-type($args, $result)",
):
    """result = inline assembly executed once per thread, on the thread's elements of `args` in register order.

    Scalars and buffers count as one operand each, buffers by their address.
    """

    verify_op = ttg_checks.inline_asm

    asm_string: Str
    constraints: Str
    pure: Bool
    args: VariadicOperand
    result: VariadicResult

    @property
    def effects(self) -> int:
        """None if it is `pure`."""
        return 0 if self.pure else READ | WRITE


class GlobalScratchAlloc(
    Op, name="ttg.global_scratch_alloc", traits=ALLOC, assembly="attr-dict `:` qualified(type($result))"
):
    """result = a pointer to `nbytes` bytes of global memory private to this program, aligned to `alignment`."""

    nbytes: I32Field
    alignment: I32Field
    third_party_allocation: Flag = False
    shared_cluster_state: Flag = False
    result: Result


# -- buffers ------------------------------------------------------------------------------------------------------


class LocalAlloc(
    MemoryAccess,
    Op,
    name="ttg.local_alloc",
    traits=ALLOC,
    assembly="($src^)? attr-dict `:` functional-type(operands, results)",
):
    """result = a new buffer in shared memory, initialized with `src` if present.

    A buffer that is not mutable is never written again, so that it is a value like any other: two of the same source
    are one, and one without uses is none.
    """

    verify_op = ttg_checks.local_alloc

    src: OptionalOperand
    alignment: OptionalI32 = None
    result: Result

    @property
    def accesses(self) -> tuple[Access, ...]:
        """The write of the initial contents, where there are some."""
        return _FILL if self.operands else ()

    @property
    def effects(self) -> int:
        """None for a buffer that is not mutable, until it has its place in memory."""
        ty = self.results[0].type
        if isinstance(ty, MemDescType) and not ty.mutable and "allocation.offset" not in self.attributes:
            return 0
        return ALLOC | WRITE if self.operands else ALLOC


class LocalDealloc(
    MemoryAccess, Op, name="ttg.local_dealloc", traits=WRITE, assembly="$src attr-dict `:` qualified(type($src))"
):
    """Deallocate a buffer. Optional: by default a buffer is deallocated after its last use."""

    src: Operand


class LocalLoad(
    BufferAccess,
    Op,
    name="ttg.local_load",
    traits=READ,
    assembly="$src (`token` $token^)? attr-dict `:` qualified(type($src)) `->` type($result)",
):
    """result = the contents of the buffer `src`; `token` is that of the wait it depends on."""

    verify_op = ttg_checks.local_load
    accesses = (Access("src", READ, Memory.SHARED), Access("token", READ, Memory.SHARED))

    src: Operand
    token: OptionalOperand
    result: Result


class LocalStore(
    BufferAccess,
    Op,
    name="ttg.local_store",
    traits=WRITE,
    assembly="$src `,` $dst attr-dict `:` type($src) `->` qualified(type($dst))",
):
    """dst = src, from registers to a buffer."""

    verify_op = ttg_checks.local_store
    accesses = (Access("dst", WRITE, Memory.SHARED),)

    src: Operand
    dst: Operand


class LocalGather(
    MemoryAccess,
    Op,
    name="ttg.local_gather",
    traits=READ,
    assembly="$src `[` $indices `]` (`token` $token^)? attr-dict"
    " `:` qualified(type($src)) `,` type($indices) `->` type($result)",
):
    """result[i…] = src[i… with the coordinate at `axis` replaced by indices[i…]], from a buffer."""

    verify_op = ttg_checks.local_gather
    accesses = (Access("src", READ, Memory.SHARED), Access("token", READ, Memory.SHARED))

    src: Operand
    indices: Operand
    axis: I32Field
    token: OptionalOperand
    result: Result


class LocalScatter(
    MemoryAccess,
    Op,
    name="ttg.local_scatter",
    traits=WRITE,
    assembly="$dst `[` $indices `]` `,` $values (`token` $token^)? attr-dict"
    " `:` qualified(type($dst)) `,` type($indices) `,` type($values)",
):
    """dst[i… with the coordinate at `axis` replaced by indices[i…]] = values[i…], into a buffer."""

    verify_op = ttg_checks.local_scatter
    accesses = (Access("dst", WRITE, Memory.SHARED), Access("token", WRITE, Memory.SHARED))

    dst: Operand
    values: Operand
    indices: Operand
    axis: I32Field
    token: OptionalOperand


class LocalAtomicScatterRmw(
    MemoryAccess,
    Op,
    name="ttg.local_atomic_scatter_rmw",
    traits=READ | WRITE,
    assembly="$atomic_rmw_op `,` $dst `[` $indices `]` `,` $values (`,` $mask^)? attr-dict"
    " `:` functional-type(operands, results)",
):
    """result[i…] = dst[j…], then dst[j…] = rmw(dst[j…], values[i…]), where mask[i…]; j is i with indices[i…] at `axis`.

    Each element's read and write are one atomic step. Where the mask is false, the result is undefined.
    """

    verify_op = ttg_checks.local_atomic_scatter_rmw
    accesses = (Access("dst", READ | WRITE, Memory.SHARED),)
    atomic = True

    atomic_rmw_op: AtomicField
    dst: Operand
    values: Operand
    indices: Operand
    mask: OptionalOperand
    axis: I32Field
    result: Result


# -- views of buffers ---------------------------------------------------------------------------------------------


class MemDescIndex(
    ViewLike,
    Op,
    name="ttg.memdesc_index",
    traits=PURE,
    assembly="$src `[` $index `]` attr-dict `:` qualified(type($src)) `->` qualified(type($result))",
):
    """result = the buffer src[index]: one of several along dimension 0."""

    verify_op = ttg_checks.memdesc_index

    src: Operand
    index: Operand
    result: Result


class MemDescSubslice(
    ViewLike,
    Op,
    name="ttg.memdesc_subslice",
    traits=PURE,
    assembly="$src `` $offsets attr-dict `:` qualified(type($src)) `->` qualified(type($result))",
):
    """result = the part of the buffer `src` that begins at `offsets`, of the result's shape."""

    verify_op = ttg_checks.memdesc_subslice

    src: Operand
    offsets: I32Array
    result: Result


class MemDescTrans(ViewLike, Op, name="ttg.memdesc_trans", traits=PURE, assembly=_TO):
    """result = a view of the buffer `src` with dimensions permuted by `order`."""

    verify_op = ttg_checks.memdesc_trans

    src: Operand
    order: I32Array
    result: Result


class MemDescReshape(ViewLike, Op, name="ttg.memdesc_reshape", traits=PURE, assembly=_TO):
    """result = a view of the buffer `src` in another shape."""

    verify_op = ttg_checks.memdesc_reshape

    src: Operand
    result: Result


class MemDescReinterpret(ViewLike, Op, name="ttg.memdesc_reinterpret", traits=PURE, assembly=_TO):
    """result = a view of the bytes of the buffer `src` as another type and shape."""

    verify_op = ttg_checks.memdesc_reinterpret

    src: Operand
    result: Result


# -- asynchronous copies ------------------------------------------------------------------------------------------


class _GivesToken(Op):
    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """A token."""
        return [_token]


class AsyncCopyGlobalToLocal(
    PointerAccess,
    _GivesToken,
    name="ttg.async_copy_global_to_local",
    traits=READ | WRITE,
    assembly="$src `,` $result (`mask` $mask^)? (`other` $other^)? former<CachePolicy>($cachePolicy) attr-dict"
    " `:` type($src) `->` stripped(`!ttg.memdesc`, $result)",
):
    """result[i…] = mask[i…] ? *src[i…] : other[i…], an asynchronous copy into the buffer `result`.

    The copy belongs to the group that the next `ttg.async_commit_group` closes, and is done when that was waited for.
    `contiguity`: so many elements in a row may be copied at once. With `ttg.predicated` nothing is copied, and the
    elements are undefined, where the uniform part of the mask, a splat, is false.
    """

    PREDICATED = "ttg.predicated"
    verify_op = ttg_checks.async_copy_global_to_local
    accesses = (Access("src", READ, Memory.GLOBAL), Access("result", WRITE, Memory.SHARED))
    completes = Completion.COPY_GROUP

    src: Operand
    result: Operand
    mask: OptionalOperand
    other: OptionalOperand
    cachePolicy: AnyAttr = None
    isVolatile: Bool = False
    contiguity: I32Field = 1
    token: Result


class AsyncCommitGroup(
    MemoryAccess,
    _GivesToken,
    name="ttg.async_commit_group",
    traits=READ | WRITE | ORDERING,
    assembly="(`tokens` $inputTokens^)? attr-dict",
):
    """Commit the copies since the last commit as a group; asyncToken represents it."""

    asyncToken: Result
    inputTokens: VariadicOperand


class AsyncWait(
    WaitLike,
    MemoryAccess,
    _GivesToken,
    name="ttg.async_wait",
    traits=READ | WRITE | ORDERING,
    assembly="($asyncToken^)? attr-dict",
):
    """Wait until at most `num` copy groups of this thread are pending."""

    accesses = (Access("asyncToken", READ | WRITE, Memory.SHARED),)
    waits_for = Completion.COPY_GROUP

    asyncToken: VariadicOperand
    num: I32Field
    retToken: Result


# -- synchronization ----------------------------------------------------------------------------------------------


class AddrSpace(enum.IntFlag):
    """The memories whose accesses a barrier orders."""

    none = 0
    local = 1
    global_read = 2
    global_write = 4
    tensor_read = 8
    tensor_write = 16
    all = 31


_SPACES = (1, 2, 4, 8, 16)


class Barrier(Op, name="ttg.barrier", traits=READ | WRITE):
    """CTA barrier; accesses to the memories `addrSpace` before it are visible to all threads after it."""

    addrSpace: I32Field

    def verify_op(self) -> list[str]:
        """Only memory there is."""
        return [] if 0 <= self.addrSpace <= AddrSpace.all else [f"addrSpace {self.addrSpace} names no memory"]

    def print_assembly(self, printer: Printer) -> None:
        """`ttg.barrier local|global_read`"""
        bits = self.addrSpace
        if bits in (AddrSpace.none, AddrSpace.all):
            words = str(AddrSpace(bits).name)
        else:
            words = "|".join(str(AddrSpace(b).name) for b in _SPACES if bits & b)
        printer.write(f"ttg.barrier {words}")
        printer.write(printer.attr_dict(self.attributes, ("addrSpace",)))

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Barrier:
        """The same, read."""
        bits = 0
        while True:
            at = parser.pos
            word = parser.string() if parser.peek('"') else parser.word("a kind of memory")
            if word not in AddrSpace.__members__:
                known = ", ".join(AddrSpace.__members__)
                raise parser.error(f"'{word}' is no kind of memory", at, f"there are {known}")
            bits |= AddrSpace[word]
            if not parser.accept("|"):
                break
        return cls.create([], [], {"addrSpace": IntegerAttr(bits, i32)} | parser.attr_dict())


class WarpId(Op, name="ttg.warp_id", traits=PURE, assembly="attr-dict"):
    """result = the index of this thread's warp in the CTA.

    `omitUniformHint`: the compiler need not be told that all threads of a warp get the same.
    """

    omitUniformHint: Flag = False
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i32."""
        return [i32]


# -- what pipelining leaves for a while ---------------------------------------------------------------------------


class PredicateStage(
    Op,
    name="ttg.predicate_stage",
    traits=PURE,
    assembly="$iv `,` $ub `,` $step `maxStage` $maxStage `stage` $stage attr-dict `:` type($iv) `->` type($result)",
):
    """result = stage `stage` of a pipelined loop runs in this iteration: iv < ub - (maxStage - stage) * step."""

    iv: Operand
    ub: Operand
    step: Operand
    maxStage: I32Field
    stage: I32Field
    result: Result

    def verify_op(self) -> list[str]:
        """iv, ub and step of one type; the result is i1."""
        types = {v.type for v in self.operands}
        good = len(types) == 1 and self.results[0].type is i1
        return [] if good else ["iv, ub and step must have one type, and the result is i1"]


class Mask(RegionBranch, name="ttg.mask", traits=READ | WRITE | SINGLE_BLOCK):
    """result = pred ? region() : undefined; side effects of `region` are predicated by pred."""

    pred: Operand
    region: Body
    result: VariadicResult

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into the region, or past it with undefined results; what it returns are the results."""
        if source is self:
            return [RegionEdge(self, 1, self.regions[0], ()), RegionEdge(self, 1, None, ())]
        return [RegionEdge(source, 0, None, self.results)]


class MaskReturn(
    Op,
    name="ttg.mask.return",
    traits=PURE | TERMINATOR | RETURN_LIKE,
    assembly="$result attr-dict `:` type($result)",
):
    """Return `result` to the parent `ttg.mask`."""

    verify_op = ttg_checks.inside("ttg.mask")

    result: VariadicOperand
