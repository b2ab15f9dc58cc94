"""Layouts as tables: which register, lane, warp and CTA holds an element, banks of shared memory, conversions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ..dialects import all as _dialects
from ..dialects.ttg_maps import holders, linear_layout
from ..dialects.ttg_memory import padded_layout
from ..ir import Attribute, parse_attribute
from ..layout import LinearLayout
from ..layout.access import BANK_BYTES, BANKS
from ..layout.buffer_access import plan_buffer_access
from ..layout.exchange import plan_exchange
from ..layout.swizzle import MemoryPlan
from ..support import TritiumError
from ..tools.layout_view import parse_shape, summary_of
from .json_types import Record
from .model import Text

__all__ = [
    "LayoutError",
    "accesses_of",
    "conversion",
    "conversions_of",
    "layout_table",
    "layouts_of",
    "shared_access",
]

assert _dialects.MODULES  # attributes of all dialects can be parsed

MATRIX_ROW = 16  # bytes that a lane's address of ldmatrix and stmatrix refers to
MAX_ELEMENTS = 1 << 16


class LayoutError(TritiumError):
    """A text that is no layout, or a shape for which there is no picture."""


def _parsed(text: str, shape: Sequence[int]) -> tuple[Attribute, LinearLayout]:
    try:
        attribute = parse_attribute(text, "layout")
        rank = getattr(attribute, "rank", len(shape))
        if rank != len(shape):
            raise LayoutError(f"the layout has {rank} dimensions, the shape {len(shape)}")
        return attribute, linear_layout(attribute, shape)
    except LayoutError:
        raise
    except Exception as error:  # whatever a user typed
        raise LayoutError(str(error)) from None


def _shape(text: str) -> tuple[int, ...]:
    try:
        return parse_shape(text)
    except TritiumError as error:
        raise LayoutError(str(error)) from None


def layout_table(text: str, shape_text: str, bits: int = 32) -> Record:
    """The holders of every element of a tensor, or the offsets and banks of every element of a buffer."""
    shape = _shape(shape_text)
    attribute, layout = _parsed(text, shape)
    address = getattr(attribute, "address", int)
    axes = list(layout.ins)
    found = holders(layout, shape)
    places = [[[place[axis] for axis in axes] for place in found[index]] for index in _indices(shape)]
    shared = "offset" in layout.ins
    out: Record = {
        "layout": text,
        "shape": list(shape),
        "bits": bits,
        "kind": "shared" if shared else "registers",
        "summary": summary_of(layout, shape),
        "axes": axes,
        "sizes": [layout.ins[axis] for axis in axes],
        "places": places,
        "banks": None,
        "addresses": None,
        "broken": "",
    }
    if shared:
        at = axes.index("offset")
        out["addresses"] = [address(place[0][at]) * bits // 8 for place in places]
        out["banks"] = [a // BANK_BYTES % BANKS for a in out["addresses"]]
    return out


def _indices(shape: Sequence[int]) -> Iterable[tuple[int, ...]]:
    for number in range(math.prod(shape)):
        index = []
        for size in reversed(shape):
            number, part = divmod(number, size)
            index.append(part)
        yield tuple(reversed(index))


def shared_access(
    registers_text: str, shared_text: str, shape_text: str, bits: int = 32, store: bool = False, matrix: bool = True
) -> Record:
    """The accesses of warp 0 to a buffer, one an instruction, with the banks of each lane."""
    shape = _shape(shape_text)
    _, registers = _parsed(registers_text, shape)
    attribute, buffer = _parsed(shared_text, shape)
    if "lane" not in registers.ins or "offset" not in buffer.ins:
        raise LayoutError("an access needs a layout of registers and a layout of shared memory")
    padded = padded_layout(attribute)
    gaps = tuple(zip(padded.intervals, padded.paddings)) if padded is not None else ()
    try:
        access = plan_buffer_access(registers, buffer, bits, matrix, gaps)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    address = getattr(attribute, "address", int)
    rows = access.kind != "vector"
    size = MATRIX_ROW if rows else access.width * bits // 8
    lanes = registers.ins["lane"] if not rows else min(registers.ins["lane"], 8 * (access.width * bits // 32))
    accesses = []
    for offset, moved in access.moves:
        each = []
        for lane in range(lanes):
            first = address(offset ^ access.address(lane, 0, 0)) * bits // 8
            banks = sorted({b // BANK_BYTES % BANKS for b in range(first, first + size)})
            elements = [] if rows else [_element(registers, shape, r, lane) for r in moved]
            each.append({"lane": lane, "address": first, "bytes": size, "banks": banks, "elements": elements})
        accesses.append({"lanes": each, "wavefronts": access.wavefronts})
    name = ("st.shared" if store else "ld.shared") if not rows else ("stmatrix" if store else "ldmatrix")
    return {
        "instruction": f"{name}.b{access.width * bits}" if not rows else f"{name}.x{access.width * bits // 32}",
        "instructions": access.instructions,
        "wavefronts": access.wavefronts,
        "ideal": access.wavefronts - access.conflicts,
        "conflicts": access.conflicts,
        "accesses": accesses,
    }


def _element(layout: LinearLayout, shape: Sequence[int], register: int, lane: int) -> int:
    place = dict.fromkeys(layout.ins, 0) | {"register": register, "lane": lane}
    number = 0
    for size, at in zip(shape, layout.apply(**place).values()):
        number = number * size + at
    return number


def conversion(source_text: str, result_text: str, shape_text: str, bits: int = 32) -> Record:
    """How a conversion between two layouts of registers moves each element."""
    shape = _shape(shape_text)
    source, result = (layout_table(text, shape_text, bits) for text in (source_text, result_text))
    if "shared" in (source["kind"], result["kind"]):
        raise LayoutError("a conversion is between two layouts of registers; of shared memory, see the access")
    (_, a), (_, b) = _parsed(source_text, shape), _parsed(result_text, shape)
    counts = dict.fromkeys(("stay", "registers", "lanes", "warps", "blocks"), 0)
    names = [("blocks", "block"), ("warps", "warp"), ("lanes", "lane"), ("registers", "register")]
    for old, new in zip(source["places"], result["places"]):
        for place in new:
            counts[_farthest(old, place, source["axes"], result["axes"], names)] += 1
    method, why, size = _method(a, b, max(8, bits), counts)
    return {
        "shape": list(shape),
        "method": method,
        "why": why,
        "bytes": size,
        "source": source,
        "result": result,
        "moves": counts,
    }


def _farthest(
    old: list[list[int]], new: list[int], old_axes: list[str], new_axes: list[str], names: list[tuple[str, str]]
) -> str:
    """The least movement that brings an element to `new` from one of its holders."""
    best = 0
    there = dict(zip(new_axes, new))
    for place in old:
        here = dict(zip(old_axes, place))
        level = next((i for i, (_, axis) in enumerate(names) if here.get(axis, 0) != there.get(axis, 0)), len(names))
        best = max(best, level)
    return "stay" if best == len(names) else names[best][0]


def _method(a: LinearLayout, b: LinearLayout, bits: int, counts: dict[str, int]) -> tuple[str, str, int]:
    if not any(counts[name] for name in ("registers", "lanes", "warps", "blocks")):
        return "nothing", "every element is where it has to be", 0
    try:
        plan = plan_exchange(a, b, bits, True, True)
    except ValueError as error:
        return "refused", str(error), 0
    if isinstance(plan, MemoryPlan):
        if plan.sync == "cluster":
            return "clusters", "elements move to other CTAs of the cluster", plan.bytes
        scope = "other lanes of the warp" if plan.sync == "warp" else "other warps"
        return "shared memory", f"elements move to {scope}, in {plan.rounds} round{'s' * (plan.rounds > 1)}", plan.bytes
    if counts["lanes"]:
        return "shuffles", "elements move to other lanes of their warps", 0
    return "registers", "every element stays in its thread", 0


def layouts_of(texts: Iterable[tuple[str, Text]]) -> list[Record]:
    """The layouts with their shapes that occur in texts of stages, the most frequent first."""
    rows: dict[tuple[str, tuple[int, ...], int], Record] = {}
    for stage, text in texts:
        for value in text.values:
            if value.layout is None or not value.shape:
                continue
            shape = value.shape[-_rank(value.layout, len(value.shape)) :]
            bits = _bits(value.type)
            row = rows.setdefault(
                (value.layout, tuple(shape), bits),
                {"layout": value.layout, "shape": shape, "bits": bits, "count": 0, "stage": stage, "values": []},
            )
            row["count"] += 1
            row["stage"] = stage
            if value.name not in row["values"] and len(row["values"]) < 8:
                row["values"].append(value.name)
    return sorted(rows.values(), key=lambda row: -row["count"])


def conversions_of(text: Text) -> list[Record]:
    """The conversions between layouts in a text, each pair of layouts once: source, result, shape, bits."""
    found: dict[str, Record] = {}
    for op in text.ops:
        if op.name == "ttg.convert_layout":
            source, result = text.values[op.operands[0]], text.values[op.results[0]]
            if source.layout and result.layout and result.shape:
                row = {"source": source.layout, "result": result.layout, "shape": _sizes(result.shape)}
                found.setdefault(str(row), {**row, "bits": _bits(result.type)})
    return list(found.values())


_STORES = ("ttg.local_store", "ttg.local_alloc", "ttg.async_copy_global_to_local")


def accesses_of(text: Text) -> list[Record]:
    """The accesses to buffers in a text, each pair of layouts once: registers, shared, shape, bits, store."""
    found: dict[str, Record] = {}
    for op in text.ops:
        if op.name not in (*_STORES, "ttg.local_load"):
            continue
        values = [text.values[i] for i in (*op.results, *op.operands) if text.values[i].layout]
        shared = next((v for v in values if v.type.startswith("!ttg.memdesc")), None)
        registers = next((v for v in values if v.type.startswith("tensor") and v.shape), None)
        if shared is not None and registers is not None and registers.shape:
            row: Record = {"registers": registers.layout, "shared": shared.layout, "shape": _sizes(registers.shape)}
            row.update(bits=_bits(shared.type), store=int(op.name in _STORES))
            found.setdefault(str(row), row)
    return list(found.values())


def _sizes(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _rank(layout: str, default: int) -> int:
    try:
        return int(getattr(parse_attribute(layout, "layout"), "rank", default))
    except Exception:  # an attribute that is no layout
        return default


def _bits(type_text: str) -> int:
    """The bits of an element of a tensor or buffer type.

    >>> _bits("tensor<64x!tt.ptr<f32>, #blocked>"), _bits("!ttg.memdesc<64xf16, #shared>"), _bits("tensor<8xi1>")
    (64, 16, 8)
    """
    inner = type_text.partition("<")[2].split(",")[0].rstrip(">")
    element = inner.rsplit("x", 1)[-1]
    if "!tt.ptr" in inner:
        return 64
    digits = "".join(c for c in element.partition("E")[0] if c.isdigit())
    return max(8, int(digits)) if digits else 32
