"""The nvws dialect: warp groups that hand buffers to each other, before that has become barriers and phases.

An asynchronous reference (`!nvws.aref`) is a ring of buffers. A producer enters with `put.enter`, which gives it the
buffers of a free stage, fills them, and leaves with `put.exit`; a consumer enters with `get.enter` once they are full,
and leaves with `get.exit`. Tokens tie an exit to its entry. Partitions of a program come in as `warp_group`, or as the
attribute `ttg.partition` of operations.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ..ir import (
    I32,
    PURE,
    READ,
    RECURSIVE_EFFECTS,
    RETURN_LIKE,
    SAME_TYPE,
    TERMINATOR,
    WRITE,
    AnyAttr,
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    I32Array,
    Op,
    Operand,
    Operation,
    OptionalOperand,
    Region,
    RegionBranch,
    RegionEdge,
    Result,
    TensorType,
    Type,
    VariadicOperand,
    VariadicRegion,
    VariadicResult,
    enum_field,
    i1,
    i32,
)
from ..ir.parameters import TYPE, DialectAttribute, DialectType, Kind, keyword_kind
from .constraints import GOOD
from .tt_types import TensorDescType
from .ttg_memory import AsyncTokenType, MemDescType
from .ttng_types import TensorMemoryScales

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = [
    "ArefBuffer",
    "ArefCreate",
    "ArefGetEnter",
    "ArefGetExit",
    "ArefPhi",
    "ArefPutEnter",
    "ArefPutExit",
    "ArefType",
    "AsyncOp",
    "AsyncOpAttr",
    "CLCTryCancel",
    "ConsumerRelease",
    "ConsumerWait",
    "CreateToken",
    "DescriptorGather",
    "DescriptorLoad",
    "ProducerAcquire",
    "ProducerCommit",
    "TokenLoadType",
    "TokenType",
    "WarpGroup",
    "WarpGroupReturn",
    "WarpGroupYield",
]

Messages = Sequence[str]


# -- types and attributes -----------------------------------------------------------------------------------------


class AsyncOp(enum.IntEnum):
    """What fills or reads the buffers of a reference asynchronously."""

    none = 0
    tma_load = 1
    tc5mma = 2
    tmem_copy = 3
    cp_async = 4
    wgmma = 5


class AsyncOpAttr(DialectAttribute, name="nvws.async_op", form="list"):
    """`#nvws.async_op<tma_load>`: an `AsyncOp` as an attribute."""

    value: Annotated[AsyncOp, keyword_kind(AsyncOp)]


class TokenLoadType(enum.IntEnum):
    """What fills the buffers that a token is about."""

    none = 0
    asyncLoadOp = 1
    tmaLoadOp = 2
    localStoreOp = 3
    TmemLoadOp = 4


def _read_types(parser: Parser) -> tuple[Type, ...]:
    parser.expect("[")
    return tuple(parser.comma_list(parser.type, "]"))


_TYPES = Kind(
    lambda v: tuple(map(TYPE.normal, v)),
    _read_types,
    lambda v, spell: f"[{', '.join(spell(ty) for ty in v)}]",
)


class ArefType(DialectType, name="nvws.aref", form="list"):
    """`!nvws.aref<[!ttg.memdesc<3x64x16xf16, …>]>`: a ring of buffers; each type is that of all stages together."""

    baseType: Annotated[tuple[Type, ...], _TYPES]


class TokenType(DialectType, name="nvws.token"):
    """Element of the tensors of tokens, one for each stage of a ring of buffers."""


LoadTypeField = Annotated[TokenLoadType, enum_field(TokenLoadType)]
_token = AsyncTokenType()


# -- what operations demand ---------------------------------------------------------------------------------------


def _stage(buffers: Any) -> tuple[Any, ...]:
    """Shape and element type of one stage of such buffers; scales of tensor memory have no stages."""
    shape = buffers.shape if isinstance(buffers.encoding, TensorMemoryScales) else buffers.shape[1:]
    return shape, buffers.element


def _aref(ty: Type) -> Iterator[str]:
    if not isinstance(ty, ArefType):
        yield f"needs an asynchronous reference, not {ty}"


def _numbers(op: Any, *names: str) -> Iterator[str]:
    for name in names:
        value = getattr(op, name)
        if value is not None and value.type is not i32:
            yield f"the {name} must be i32, not {value.type}"


def _buffers(op: Any) -> Iterator[str]:
    """One buffer of a stage for each of the reference."""
    base = op.aref.type.baseType
    have = [r.type for r in op.buffers]
    if not all(isinstance(ty, MemDescType) for ty in (*base, *have)):
        yield "a reference is to buffers"
    elif [_stage(ty) for ty in base] != [(ty.shape, ty.element) for ty in have]:
        yield f"the buffers do not fit to a stage of {op.aref.type}"


def aref_create(op: Any) -> Messages:
    """Buffers of as many stages each, which nothing else uses, of the types that the result's says."""
    types = tuple(v.type for v in op.buffers)
    ty = op.result.type
    if not isinstance(ty, ArefType) or ty.baseType != types:
        return (f"the result {ty} does not name the types of the buffers",)
    if not all(isinstance(ty, MemDescType) for ty in types):
        return ("a reference is to buffers",)
    if len({ty.shape[0] for ty in types}) > 1:
        return ("the buffers differ in their number of stages",)
    users = {user.name for v in op.buffers for user in v.users}
    if users - {"nvws.aref.create", "ttg.local_dealloc"}:
        return ("a buffer of the reference is used elsewhere",)
    return GOOD


def aref_enter(op: Any) -> Messages:
    """A reference, a stage and a phase or neither, and buffers of one stage."""
    found = [*_aref(op.aref.type), *_numbers(op, "stage", "phase")]
    if (op.stage is None) != (op.phase is None):
        found.append("stage and phase need each other")
    if op.token.type is not _token:
        found.append(f"the last result must be {_token}, not {op.token.type}")
    return found or list(_buffers(op))


def aref_buffer(op: Any) -> Messages:
    """A reference, the token of an entry, and buffers of one stage."""
    found = [*_aref(op.aref.type), *_numbers(op, "stage"), *_taken(op)]
    return found or list(_buffers(op))


def _taken(op: Any) -> Iterator[str]:
    if op.token.type is not _token:
        yield f"needs the token of an entry, not {op.token.type}"


def aref_exit(op: Any) -> Messages:
    """A reference, the token of an entry, and what is asynchronous about it."""
    found = [*_aref(op.aref.type), *_numbers(op, "stage"), *_taken(op)]
    ops = op.async_ops
    if not isinstance(ops, ArrayAttr) or not all(isinstance(a, AsyncOpAttr) for a in ops.elements):
        found.append(f"async_ops must be a list of #nvws.async_op, not {ops}")
    return found


def tokens(op: Any) -> Messages:
    """A tensor of tokens, the number of a stage (i32) and a phase (i1)."""
    found = []
    ty = op.token.type
    if not isinstance(ty, TensorType) or not isinstance(ty.element, TokenType):
        found.append(f"needs a tensor of tokens, not {ty}")
    for v, want in zip(op.operands[1:], (i32, i1)):
        if v.type is not want:
            found.append(f"operands after the token must be i32 and i1, not {v.type}")
    return found


def _described(op: Any) -> Iterator[str]:
    if not isinstance(op.desc.type, TensorDescType):
        yield f"needs a descriptor, not {op.desc.type}"
    if not isinstance(op.result.type, MemDescType) or not op.result.type.mutable:
        yield f"needs a mutable buffer, not {op.result.type}"


def descriptor_load(op: Any) -> Messages:
    """A descriptor, a mutable buffer, i32 positions."""
    wrong = [v.type for v in op.indices if v.type is not i32]
    return [*_described(op), *(f"positions must be i32, not {ty}" for ty in wrong)]


def descriptor_gather(op: Any) -> Messages:
    """A descriptor, a mutable buffer, a tensor of i32 rows and an i32 column."""
    found = list(_described(op))
    x = op.x_offsets.type
    if not isinstance(x, TensorType) or x.element is not i32 or op.y_offset.type is not i32:
        found.append(f"rows and column must be i32, not {x} and {op.y_offset.type}")
    return found


# -- references ---------------------------------------------------------------------------------------------------

_AREF = "stripped(`!nvws.aref`, $aref)"
_ENTER = f"$aref (`[` $stage^ `,` $phase `]`)? attr-dict `:` {_AREF} `->` type(results)"
_EXIT = f"$aref (`[` $stage^ `]`)? `,` $token $async_ops attr-dict `:` {_AREF} `,` type($token)"


class ArefCreate(
    Op,
    name="nvws.aref.create",
    traits=PURE,
    assembly="$buffers attr-dict `:` stripped(`!nvws.aref`, $result)",
):
    """result = a reference to these buffers, whose first dimension is that of the stages."""

    verify_op = aref_create

    buffers: VariadicOperand
    result: Result


class ArefBuffer(
    Op,
    name="nvws.aref.buffer",
    traits=READ | WRITE,
    assembly=f"$aref (`[` $stage^ `]`)? `,` $token attr-dict `:` {_AREF} `,` type($token) `->` type(results)",
):
    """buffers = those of the stage that was entered with `token`."""

    verify_op = aref_buffer

    aref: Operand
    token: Operand
    stage: OptionalOperand
    buffers: VariadicResult


class ArefGetEnter(Op, name="nvws.aref.get.enter", traits=READ | WRITE, assembly=_ENTER):
    """buffers = those of the next full stage, to be read, once there is one; `token` stands for this entry.

    `stage` is its number, and `phase` the parity of the round through the ring, where these have been worked out.
    """

    verify_op = aref_enter

    aref: Operand
    stage: OptionalOperand
    phase: OptionalOperand
    buffers: VariadicResult
    token: Result


class ArefGetExit(Op, name="nvws.aref.get.exit", traits=READ | WRITE, assembly=_EXIT):
    """The stage entered with `token` is free again, once the `async_ops` that read it have finished."""

    verify_op = aref_exit

    aref: Operand
    token: Operand
    stage: OptionalOperand
    async_ops: AnyAttr


class ArefPutEnter(Op, name="nvws.aref.put.enter", traits=READ | WRITE, assembly=_ENTER):
    """buffers = those of the next free stage, to be filled, once there is one; `token` stands for this entry.

    `stage` is its number, and `phase` the parity of the round through the ring, where these have been worked out.
    """

    verify_op = aref_enter

    aref: Operand
    stage: OptionalOperand
    phase: OptionalOperand
    buffers: VariadicResult
    token: Result


class ArefPutExit(Op, name="nvws.aref.put.exit", traits=READ | WRITE, assembly=_EXIT):
    """The stage entered with `token` is full, once the `async_ops` that fill it have finished."""

    verify_op = aref_exit

    aref: Operand
    token: Operand
    stage: OptionalOperand
    async_ops: AnyAttr


class ArefPhi(
    Op, name="nvws.aref.phi", traits=PURE | SAME_TYPE, assembly="$local `,` $remote attr-dict `:` type($result)"
):
    """result = `local` in the partitions that compute it, `remote` in those that compute that."""

    local: Operand
    remote: Operand
    result: Result

    def verify_op(self) -> list[str]:
        """Each partition of the result computes one of the operands, and there are no others."""
        own = _partitions(self)
        local, remote = (_partitions(v.defining_op) for v in self.operands)
        if not own or local & remote:
            return ["needs partitions, each of which computes one of the operands"]
        return [] if own == local | remote else [f"the partitions {sorted(own)} are not those of the operands"]


def _partitions(op: Any) -> set[int]:
    """The numbers of the partitions that an operation belongs to; none for an argument."""
    return set() if op is None else set(getattr(op.attributes.get("ttg.partition"), "values", ()))


# -- warp groups --------------------------------------------------------------------------------------------------


class WarpGroup(RegionBranch, name="nvws.warp_group", traits=RECURSIVE_EFFECTS):
    """Run each region by a group of `numWarps[i]` warps of its own; the results are what the first region yields."""

    numWarps: I32Array
    partitionRegions: VariadicRegion
    results_: VariadicResult

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into all regions, which run at the same time; the first yields the results."""
        if source is self:
            return [RegionEdge(self, 0, region, ()) for region in self.regions]
        return [RegionEdge(source, 0, None, self.results)] if source.parent_region is self.regions[0] else []

    def always_runs(self, region: Region) -> bool:
        """All regions do."""
        return True

    def verify_op(self) -> list[str]:
        """A number of warps for each region; a first region that yields the results, if there are any."""
        out = []
        if len(self.numWarps) != len(self.regions):
            out.append(f"{len(self.regions)} regions need as many numbers of warps, not {list(self.numWarps)}")
        for i, region in enumerate(self.regions):
            last = region.blocks[0].last if region.blocks else None
            if not isinstance(last, (WarpGroupReturn, WarpGroupYield)):
                out.append(f"region {i} must end in nvws.warp_group.return or nvws.warp_group.yield")
            elif i == 0 and [v.type for v in last.operands] != [r.type for r in self.results]:
                out.append("the first region must yield the results")
        return out

    def print_assembly(self, printer: Printer) -> None:
        """`nvws.warp_group⏎partition0 num_warps(4) { … } -> (i32)`"""
        printer.write(self.name + printer.attr_dict(self.attributes, ("numWarps",), keyword="attributes "))
        for i, (region, warps) in enumerate(zip(self.regions, self.numWarps)):
            printer.write(f"{printer.indent}partition{i} num_warps({warps}) ")
            printer.region(region, entry_label=False)
        if self.results:
            printer.write(f" -> ({printer.types_of(self.results)})")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> WarpGroup:
        """The same, read."""
        attributes: dict[str, Attribute] = parser.attr_dict("attributes")
        regions: list[Region] = []
        warps: list[int] = []
        while parser.accept(f"partition{len(regions)}"):
            parser.expect("num_warps")
            parser.expect("(")
            warps.append(parser.integer())
            parser.expect(")")
            regions.append(parser.region())
        types = parser.result_types() if parser.accept("->") else []
        attributes["numWarps"] = DenseArrayAttr(tuple(warps), i32)
        op: WarpGroup = cls.create([], types, attributes, regions)
        return op


class _InGroup:
    """Mixin of the operations that end a region of `warp_group`."""

    __slots__ = ()

    def verify_op(self: Any) -> list[str]:
        """Stands in `nvws.warp_group`."""
        parent = self.parent_op
        return [] if parent is None or isinstance(parent, WarpGroup) else [f"cannot end a region of {parent.name}"]


class WarpGroupYield(
    _InGroup,
    Op,
    name="nvws.warp_group.yield",
    traits=PURE | TERMINATOR | RETURN_LIKE,
    assembly="($values^)? attr-dict (`:` type($values)^)?",
):
    """End the first region of a `warp_group`, whose results these values are."""

    values: VariadicOperand


class WarpGroupReturn(_InGroup, Op, name="nvws.warp_group.return", traits=PURE | TERMINATOR, assembly="attr-dict"):
    """End a region of a `warp_group`."""


# -- tokens -------------------------------------------------------------------------------------------------------


class CreateToken(Op, name="nvws.create_token", traits=READ | WRITE, assembly="attr-dict `:` type($result)"):
    """result = tokens of a ring of `numBuffers` buffers, all free, which operations of the kind `loadType` fill."""

    numBuffers: I32
    loadType: LoadTypeField
    result: Result

    def verify_op(self) -> list[str]:
        """A tensor of `numBuffers` tokens."""
        ty = self.result.type
        good = isinstance(ty, TensorType) and isinstance(ty.element, TokenType) and ty.shape == (self.numBuffers,)
        return [] if good else [f"the result must be a tensor of {self.numBuffers} tokens, not {ty}"]


class ProducerAcquire(
    Op,
    name="nvws.producer_acquire",
    traits=READ | WRITE,
    assembly="$token `,` $idx `,` $phase attr-dict `:` type(operands)",
):
    """Wait until buffer `idx` is free to be filled."""

    verify_op = tokens

    token: Operand
    idx: Operand
    phase: Operand


class ProducerCommit(
    Op, name="nvws.producer_commit", traits=READ | WRITE, assembly="$token `,` $idx attr-dict `:` type(operands)"
):
    """Buffer `idx` is full."""

    verify_op = tokens

    token: Operand
    idx: Operand


class ConsumerWait(
    Op,
    name="nvws.consumer_wait",
    traits=READ | WRITE,
    assembly="$token `,` $idx `,` $phase attr-dict `:` type(operands)",
):
    """Wait until buffer `idx` is full."""

    verify_op = tokens

    token: Operand
    idx: Operand
    phase: Operand


class ConsumerRelease(
    Op, name="nvws.consumer_release", traits=READ | WRITE, assembly="$token `,` $idx attr-dict `:` type(operands)"
):
    """Buffer `idx` is free again."""

    verify_op = tokens

    token: Operand
    idx: Operand


# -- loads into shared memory -------------------------------------------------------------------------------------


class DescriptorLoad(
    Op,
    name="nvws.descriptor_load",
    traits=READ | WRITE,
    assembly="$desc `[` $indices `]` $txCount $result former<CachePolicy>($cachePolicy) attr-dict `:` type(operands)",
):
    """result = the block of `desc` at `indices`, of `txCount` bytes, complete when this is."""

    verify_op = descriptor_load

    desc: Operand
    indices: VariadicOperand
    txCount: I32
    result: Operand
    cachePolicy: AnyAttr = None


class DescriptorGather(
    Op,
    name="nvws.descriptor_gather",
    traits=READ | WRITE,
    assembly="$desc `[` $x_offsets `,` $y_offset `]` $txCount $result attr-dict `:` type(operands)",
):
    """result[i] = row x_offsets[i] from column `y_offset` on, `txCount` bytes in all, complete when this is."""

    verify_op = descriptor_gather

    desc: Operand
    x_offsets: Operand
    y_offset: Operand
    txCount: I32
    result: Operand


class CLCTryCancel(
    Op,
    name="nvws.clc_try_cancel",
    traits=READ | WRITE,
    assembly="$result attr-dict `:` type(operands)",
):
    """result = the answer to the request that a cluster still to be launched be canceled, complete when this is."""

    result: Operand

    def verify_op(self) -> list[str]:
        """A buffer."""
        ty = self.operands[0].type
        return [] if isinstance(ty, MemDescType) else [f"needs a buffer, not {ty}"]
