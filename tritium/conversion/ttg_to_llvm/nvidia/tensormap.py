"""Descriptors that a kernel makes (tensor maps): built in shared memory, then published in global memory.

    ttng.tensormap_create %at, %base, […], …      one warp: 128 bytes of zeros in scratch
                                                  its first lane: tensormap.replace, once for each field
                                                  the warp: tensormap.cp_fenceproxy, scratch -> %at
    ttng.tensormap_fenceproxy_acquire %at         the warp: fence.proxy.tensormap::generic.acquire.gpu; then all wait

Those of a run (`analysis/tensormaps`) are made by as many warps at the same time, and all wait once; descriptors that
differ in addresses and sizes only by the same instructions, with values that each warp selects. TMA
reads descriptors through a proxy of its own, which the fences bring up to date (PTX ISA 8.7, sections 8.5 and
9.7.9.27). A fence is followed by an empty group of copies: ptxas (up to 13.0) lets later copies overtake it otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....analysis.tensormaps import maker_of, run_of
from ....analysis.tma import DESCRIPTOR_BYTES, MIN_ROW_BYTES
from ....dialects import ttg, ttng
from ....ir import IntegerAttr
from ..context import FunctionContext, lowers
from ..program import OFFSET, global_scratch
from .mbarrier import MEMORY

__all__: list[str] = []

WORDS = DESCRIPTOR_BYTES // 4  # as many as a warp has lanes


def _warp_is(e: FunctionContext, warp: int) -> str:
    return "true" if e.num_warps == 1 else e.op(f"icmp eq i32 {e.warp}, {warp}")


def _sync_warp(e: FunctionContext) -> None:
    e.call_void("llvm.nvvm.bar.warp.sync", ("i32", "-1"), attributes=" #1")


def _only_where(e: FunctionContext, condition: str) -> str:
    """Begin code that runs where a condition holds; the label behind it, which its writer sets."""
    inside, behind = e.fresh_label("chosen"), e.fresh_label("others")
    e.stmt(f"br i1 {condition}, label %{inside}, label %{behind}")
    e.label(inside)
    return behind


def _end(e: FunctionContext, label: str) -> None:
    e.stmt(f"br label %{label}")
    e.label(label)


@lowers(ttng.TensormapCreate)
def _create(e: FunctionContext, op: ttng.TensormapCreate) -> None:
    """All of a run, where it ends: what the others are made of is there as well."""
    made = run_of(op)
    if not made:
        return
    near = e.op(f"ptrtoint ptr addrspace(3) {e.scratch(op)} to i32")
    warps = min(len(made), e.num_warps)
    for first in range(0, len(made), warps):
        guard = e.op(f"icmp ult i32 {e.thread}, {WORDS * min(warps, len(made) - first)}")
        word = e.op(f"add i32 {near}, {e.op(f'shl i32 {e.thread}, 2')}")
        word = e.op(f"add i32 {word}, {DESCRIPTOR_BYTES * first}") if first else word
        e.asm("@$1 st.shared.b32 [$0], 0;", f"r,b,{MEMORY}", [("i32", word), ("i1", guard)])
    _sync_warp(e)
    for first, group in _groups(made, warps):
        here = e.op(f"add i32 {near}, {DESCRIPTOR_BYTES * first}") if first else near
        alike = _Alike(e, first % warps, len(group))
        at = (
            e.op(f"add i32 {here}, {e.op(f'mul i32 {alike.number()}, {DESCRIPTOR_BYTES}')}") if len(group) > 1 else here
        )
        behind = _only_where(e, alike.among())
        _build(e, group, at, alike)
        _publish(e, group, at, alike)
        _end(e, behind)


def _groups(made: list[Any], warps: int) -> list[tuple[int, list[Any]]]:
    """The number of the first, and those that warps next to each other make by the same instructions."""
    found: list[tuple[int, list[Any]]] = []
    for i, op in enumerate(made):
        if i % warps and _kind(found[-1][1][0]) == _kind(op):
            found[-1][1].append(op)
        else:
            found.append((i, [op]))
    return found


def _modes(op: Any) -> dict[str, int]:
    """The fields whose numbers stand in the instruction."""
    modes = {"rank": len(op.box_dim) - 1, "elemtype": op.elem_type, "swizzle_mode": op.swizzle_mode}
    return modes | {"interleave_layout": op.interleave_layout, "fill_mode": op.fill_mode}


def _kind(op: Any) -> Any:
    return _modes(op), len(op.global_dim), len(op.global_stride), len(op.element_stride)


class _Alike:
    """Instructions shared by `count` warps from index `first` on, each with its own values."""

    def __init__(self, e: FunctionContext, first: int, count: int) -> None:
        self.e, self.first, self.count = e, first, count

    def number(self) -> str:
        """Which of them this warp is."""
        return self.e.op(f"sub i32 {self.e.warp}, {self.first}") if self.first else self.e.warp

    def among(self) -> str:
        """Whether this warp is one of them."""
        if self.count == self.e.num_warps:
            return "true"
        if self.count == 1:
            return _warp_is(self.e, self.first)
        return self.e.op(f"icmp ult i32 {self.number()}, {self.count}")

    def own(self, values: Sequence[str], ty: str) -> str:
        """The value of this warp."""
        most = max(values, key=values.count)
        found = most
        for i, value in enumerate(values):
            if value != most:
                found = self.e.op(f"select i1 {_warp_is(self.e, self.first + i)}, {ty} {value}, {ty} {found}")
        return found


def _build(e: FunctionContext, group: list[Any], at: str, alike: _Alike) -> None:
    """Fill in the fields of a descriptor in shared memory, by one lane of the warp."""

    def replace(name: str, value: str, ty: str = "i32", place: int | None = None) -> None:
        bits = "b64" if ty != "i32" else "b32"
        which = "" if place is None else f" {place},"
        text, more = (value, []) if value.isdigit() and ty == "i32" else ("$1", [(ty, value)])
        letters = ",".join(["r", *("l" if bits == "b64" else "r" for _ in more), MEMORY])
        line = f"tensormap.replace.tile.{name}.shared::cta.b1024.{bits} [$0],{which} {text};"
        e.asm(line, letters, [("i32", at), *more])

    def each(name: str, ty: str = "i32") -> None:
        rows = zip(*(getattr(op, name) for op in group))
        for i, row in enumerate(rows):
            replace(name, alike.own([e.scalar(v) for v in row], ty), ty, i)

    behind = _only_where(e, e.op(f"icmp eq i32 {e.lane}, 0"))
    base = alike.own([_address(e, op.global_address) for op in group], "i64")
    modes = _modes(group[0])
    _stop_where_odd(e, group, base, alike)
    replace("global_address", base, "i64")
    replace("rank", str(modes.pop("rank")))
    each("box_dim")
    each("global_dim")
    each("global_stride", "i64")
    each("element_stride")
    for name, number in modes.items():
        if number:  # 0 is what is there
            replace(name, str(number))
    _end(e, behind)


def _publish(e: FunctionContext, group: list[Any], at: str, alike: _Alike) -> None:
    """Copy a descriptor from shared memory to its place, by the whole warp."""
    _sync_warp(e)
    text = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    to = _place(e, group, alike)
    e.asm(f"{text} [$0], [$1], {DESCRIPTOR_BYTES};", f"l,r,{MEMORY}", [("i64", to), ("i32", at)])


def _stop_where_odd(e: FunctionContext, group: list[Any], base: str, alike: _Alike) -> None:
    """Stop the kernel where tensor or rows begin inside of 16 bytes: the engine would drop the rest of the address.

    Not an assertion, which would be a call: WGMMAs are serialized in functions with calls.
    """
    rows = [([op.global_address for op in group], base)]
    for row in zip(*(op.global_stride for op in group)):
        rows.append((list(row), alike.own([e.scalar(v) for v in row], "i64")))
    odd = [own for row, own in rows if any(e.facts.of(v).element_divisor() % MIN_ROW_BYTES for v in row)]
    if not odd:
        return
    bits = odd[0]
    for operand in odd[1:]:
        bits = e.op(f"or i64 {bits}, {operand}")
    bad = e.op(f"icmp ne i64 {e.op(f'and i64 {bits}, {MIN_ROW_BYTES - 1}')}, 0")
    e.asm("@$0 trap;", f"b,{MEMORY}", [("i1", bad)])


def _place(e: FunctionContext, group: list[Any], alike: _Alike) -> str:
    """Where the descriptor of this warp is in global memory: counted from the first where they lie in a row.

    From an address of its own: where warps differ in one, ptxas (13.0, 13.5) has it in registers of threads, and copies
    it to the uniform ones for each tile that a loop reads by it (attention, causal, d64, 128 x 64: 579 instructions a
    trip for 568, and 4 % of the time on an H100).
    """
    if len(group) == 1:
        return _address(e, group[0].desc_ptr)
    places = [op.desc_ptr.defining_op for op in group]
    offsets = [_offset(place) for place in places]
    if offsets[0] is None or any(at != offsets[0] + DESCRIPTOR_BYTES * i for i, at in enumerate(offsets)):
        return alike.own([_address(e, op.desc_ptr) for op in group], "i64")
    first = e.op(f"ptrtoint ptr addrspace(1) {global_scratch(e, places[0], anew=True)} to i64")
    behind = e.op(f"mul i32 {alike.number()}, {DESCRIPTOR_BYTES}")
    return e.op(f"add i64 {first}, {e.op(f'zext i32 {behind} to i64')}")


def _offset(place: Any) -> int | None:
    found = place.attributes.get(OFFSET) if isinstance(place, ttg.GlobalScratchAlloc) else None
    return found.value if isinstance(found, IntegerAttr) else None


def _address(e: FunctionContext, value: Any) -> str:
    """The address in global memory as a number."""
    return e.op(f"ptrtoint {e.types_of(value.type)[0]} {e.scalar(value)} to i64")


@lowers(ttng.TensormapFenceproxyAcquire)
def _acquire(e: FunctionContext, op: ttng.TensormapFenceproxyAcquire) -> None:
    """Lower all fences of a run at its end, each in the warp that created the descriptor; if unknown, after a
    barrier."""
    run = [one for one in run_of(op) if isinstance(one, ttng.TensormapFenceproxyAcquire)]
    if not run:
        return
    makers = [maker_of(one.desc_ptr) for one in run]
    if None in makers:
        e.barrier()
    groups: list[tuple[int, list[Any]]] = []  # warps next to each other
    for one, maker in zip(run, makers):
        warp = (maker or 0) % e.num_warps
        if groups and warp == groups[-1][0] + len(groups[-1][1]):
            groups[-1][1].append(one)
        else:
            groups.append((warp, [one]))
    for first, group in groups:
        _fence(e, group, _Alike(e, first, len(group)))
    e.barrier()


def _fence(e: FunctionContext, group: list[Any], alike: _Alike) -> None:
    lines = (
        f"@$1 fence.proxy.tensormap::generic.acquire.gpu [$0], {DESCRIPTOR_BYTES};",
        "@$1 cp.async.bulk.commit_group;",
        "@$1 cp.async.bulk.wait_group.read 0;",
    )
    at, guard = _place(e, group, alike), alike.among()
    e.asm("\n\t".join(lines), f"l,b,{MEMORY}", [("i64", at), ("i1", guard)])


@lowers(ttng.ReinterpretTensorDesc)
def _reinterpret(e: FunctionContext, op: ttng.ReinterpretTensorDesc) -> None:
    """A descriptor is its generic address."""
    source = e.types_of(op.rawDesc.type)[0]
    raw = e.scalar(op.rawDesc)
    e.bind(op.result, [raw if source == "ptr" else e.op(f"addrspacecast {source} {raw} to ptr")])
