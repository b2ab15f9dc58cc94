"""Which elements a thread holds: linear layouts written as LLVM instructions.

    register r, lane l, warp w, block b  ->  coordinates  =  A r ^ B l ^ C w ^ D b

Every coordinate is the exclusive or of what the thread contributes, the same for all of its registers, and of a
constant for each register. Where the two have no bit in common the exclusive or is an addition, which LLVM folds into
addresses: such lines say `or disjoint`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...layout import LinearLayout
from .context import FunctionContext

__all__ = ["linear_image", "positions", "thread_of", "thread_position", "with_constant"]


def thread_of(e: FunctionContext) -> dict[str, str]:
    """The operands of this thread, by the names of a layout's inputs."""
    return {"lane": e.lane, "warp": e.warp, "block": e.block_id}


def positions(e: FunctionContext, layout: LinearLayout) -> list[tuple[str, ...]]:
    """For each register the coordinates of the element it holds, as i32 operands in the order of `layout.outs`."""
    known = e.known_positions.get(layout)
    if known is None:
        known = e.known_positions[layout] = _positions(e, layout)
    return known  # type: ignore[no-any-return]


def _positions(e: FunctionContext, layout: LinearLayout) -> list[tuple[str, ...]]:
    bases = thread_position(e, layout)
    reached = _reached(layout, ("lane", "warp", "block"))
    out = []
    seen: dict[tuple[str, int], str] = {}
    for r in range(layout.ins["register"]):
        row = []
        for name, n in layout.apply(register=r).items():
            if (name, n) not in seen:
                seen[name, n] = with_constant(e, bases[name], reached[name], n)
            row.append(seen[name, n])
        out.append(tuple(row))
    return out


def thread_position(e: FunctionContext, layout: LinearLayout) -> dict[str, str]:
    """What the thread contributes to each coordinate: where its register 0 is."""
    return linear_image(e, layout, {name: v for name, v in thread_of(e).items() if name in layout.ins})


def _reached(layout: LinearLayout, names: Sequence[str]) -> dict[str, int]:
    """For each output, the bits that the inputs `names` may set."""
    out = dict.fromkeys(layout.outs, 0)
    for name in names:
        for vector in layout.bases.get(name, ()):
            for target, n in zip(out, vector):
                out[target] |= n
    return out


def with_constant(e: FunctionContext, operand: str, bits: int, constant: int) -> str:
    """operand ^ constant, for an operand that has no other bits than `bits`."""
    if constant == 0:
        return operand
    if operand == "0":
        return str(constant)
    if bits & constant:
        out = e.op(f"xor i32 {operand}, {constant}")
    else:
        out = e.op(f"or disjoint i32 {operand}, {constant}")
        e.offsets[out] = operand, constant, True
    e.multiples[out] = (bits | constant) & -(bits | constant)
    return out


def linear_image(e: FunctionContext, layout: LinearLayout, inputs: Mapping[str, str]) -> dict[str, str]:
    """The outputs of a layout for i32 operands as inputs; inputs that are not given are 0.

    Each input is below its size in the layout.
    """
    columns = _columns(e, layout, inputs)
    out = {}
    for d, target in enumerate(layout.outs):
        terms: list[tuple[str, int]] = []
        for operand, vectors in columns:
            terms += _terms(e, operand, [vector[d] for vector in vectors])
        out[target] = _exclusive_or(e, terms)
    return out


def _columns(
    e: FunctionContext, layout: LinearLayout, inputs: Mapping[str, str]
) -> list[tuple[str, list[tuple[int, ...]]]]:
    """The operands that are not zero with their bases.

    Lane and warp are taken together, as the number of the thread, whose bits often move by one distance.
    """
    found = {name: (operand, layout.bases[name]) for name, operand in inputs.items() if operand != "0"}
    lane, warp = found.get("lane"), found.get("warp")
    if (
        lane is not None
        and warp is not None
        and (lane[0], warp[0]) == (e.lane, e.warp)
        and 1 << len(lane[1]) == e.module.warp_size
    ):
        found["lane"] = (e.thread, lane[1] + warp[1])
        del found["warp"]
    return list(found.values())


def _terms(e: FunctionContext, operand: str, columns: Sequence[int]) -> list[tuple[str, int]]:
    """Operands whose exclusive or is the image of `operand`, each with the bits it may have.

    Bits that move by the same distance move together.
    """
    masks: dict[int, int] = {}
    for i, column in enumerate(columns):
        for j in range(column.bit_length()):
            if column >> j & 1:
                masks[j - i] = masks.get(j - i, 0) | 1 << i
    everything = (1 << len(columns)) - 1
    out = []
    for distance, mask in masks.items():
        bits = operand if mask == everything else _masked(e, operand, mask, distance, everything)
        if distance > 0:
            bits = e.op(f"shl nuw nsw i32 {bits}, {distance}")
        elif distance < 0:
            bits = e.op(f"lshr i32 {bits}, {-distance}")
        out.append((bits, mask << distance if distance >= 0 else mask >> -distance))
    return out


def _masked(e: FunctionContext, operand: str, mask: int, distance: int, everything: int) -> str:
    """The bits of `mask`; those that a shift to the right drops anyway need no mask."""
    dropped = (1 << -distance) - 1 if distance < 0 else 0
    return operand if mask | dropped == everything else e.op(f"and i32 {operand}, {mask}")


def _exclusive_or(e: FunctionContext, terms: Sequence[tuple[str, int]]) -> str:
    if not terms:
        return "0"
    (value, bits), *rest = terms
    for operand, more in rest:
        value = e.op(f"{'xor' if bits & more else 'or disjoint'} i32 {value}, {operand}")
        bits |= more
    return value
