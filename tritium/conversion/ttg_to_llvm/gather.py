"""`tt.gather`: elements of a row by their index, by shuffles within the warp or through shared memory.

Which it is, `layout.gather` decides. An index beyond the row wraps around: nothing outside of the row is read.
"""

from __future__ import annotations

from ...analysis.scratch_reduce import gathering_of
from ...dialects import tt
from ...ir import Type, element_type
from ...layout import LinearLayout
from ...layout.gather import Gathering, index_blocks, index_numbers
from ...layout.reduction import placed
from ...support import UnsupportedOperation
from ..llvm.branches import guarded
from .combine_region import neighbour, register_index, thread_index, within
from .context import FunctionContext, lowers
from .convert_layout import wait_for
from .positions import linear_image, thread_of
from .types import bit_width
from .warp import element_at, load_elements, load_of_block, select, shuffle_from, store_element

__all__: list[str] = []


@lowers(tt.Gather)
def _gather(e: FunctionContext, op: tt.Gather) -> None:
    source = e.layout(op.src)
    size = list(source.outs.values())[op.axis]
    indices = [_index(e, op.indices.type, v, size) for v in e(op.indices)]
    plan = gathering_of(op)
    if plan.found is None:
        e.bind(op.result, _through_memory(e, op, source, indices))
    else:
        e.bind(op.result, _by_shuffles(e, op, plan, plan.found, indices))


def _index(e: FunctionContext, ty: Type, value: str, size: int) -> str:
    width = bit_width(ty)
    if width != 32:
        value = e.op(f"{'trunc' if width > 32 else 'zext'} i{width} {value} to i32")
    return e.op(f"and i32 {value}, {size - 1}")


def _by_shuffles(
    e: FunctionContext, op: tt.Gather, plan: Gathering, found: LinearLayout, indices: list[str]
) -> list[str]:
    """Shuffle each register that may hold the element from the lane that holds it."""
    ty = element_type(op.src.type)
    values, candidates = e(op.src), plan.candidates()
    out = []
    for r, index in enumerate(indices):
        fixed = found.apply(register=r)
        at = linear_image(e, found, {"index": index, "lane": e.lane})
        lane = at["lane"] if not fixed["lane"] else e.op(f"xor i32 {at['lane']}, {fixed['lane']}")
        elements = [(ty, values[c ^ fixed["register"]]) for c in candidates]
        moved = shuffle_from(e, elements, lane)
        chosen = moved[0]
        for c, v in list(zip(candidates, moved))[1:]:
            chosen = select(e, e.op(f"icmp eq i32 {at['register']}, {c}"), ty, v, chosen)
        out.append(chosen)
    return out


def _through_memory(e: FunctionContext, op: tt.Gather, source: LinearLayout, indices: list[str]) -> list[str]:
    ty, base = element_type(op.src.type), e.scratch(op)
    index = placed(source, None, (), True)
    thread = thread_index(e, index)
    copies = source.redundant()
    with guarded(e, within(e, {name: (copies[name], 0) for name in ("lane", "warp")})):
        for r, value in enumerate(e(op.src)):
            if not r & copies["register"]:
                store_element(e, ty, value, element_at(e, base, ty, register_index(e, index, thread, r)))
    target = e.layout(op.result)
    blocks = _blocks(op, source, target)
    wait_for(e, "cluster" if blocks else "block")
    numbers = index_numbers(source, target, op.axis)
    threads = {name: v for name, v in thread_of(e).items() if name in target.ins}
    own = linear_image(e, numbers, threads)["other"]
    out = []
    for r, wanted in enumerate(indices):
        place = linear_image(e, numbers, {"index": wanted})["other"]
        place = e.op(f"or disjoint i32 {place}, {own}") if own != "0" else place
        fixed = numbers.apply(register=r)["other"]
        place = e.op(f"xor i32 {place}, {fixed}") if fixed else place
        address = element_at(e, base, ty, place)
        if blocks:
            out.append(load_of_block(e, ty, address, _block(e, wanted, blocks)))
        else:
            out += load_elements(e, ty, address, 1)
    if blocks:  # nobody overwrites, or leaves, what others still read
        wait_for(e, "cluster")
    return out


def _blocks(op: tt.Gather, source: LinearLayout, target: LinearLayout) -> dict[int, int]:
    try:
        return index_blocks(source, target, op.axis)
    except ValueError as error:
        raise UnsupportedOperation(op, f"is not supported where {error}") from None


def _block(e: FunctionContext, index: str, bits: dict[int, int]) -> str:
    """The block that has the element of an index."""
    block = neighbour(e, sum(1 << bit for bit in bits), 0)
    for bit, of in bits.items():
        one = e.op(f"and i32 {e.op(f'lshr i32 {index}, {of}')}, 1")
        block = e.op(f"or i32 {block}, {e.op(f'shl i32 {one}, {bit}')}")
    return block
