"""The order in which warp groups load, multiply and wait, as the IR has it: an order, not times."""

from __future__ import annotations

from collections.abc import Iterator

from ..dialects.ttg_warps import WarpSpecialize
from ..ir import DotLike, LoopLike, Operation, Region, WaitLike, parse_module
from ..ir.traits import ORDERING, READ, WRITE
from .json_types import Record
from .model import Op, Text

__all__ = ["order_of"]

NOTE = "the order of the instructions of each warp group in the IR: no time is measured or estimated"


def order_of(text: Text, warps: int) -> Record | None:
    """The steps of every warp group of a ttgir text; None where it has none, or cannot be read.

    `warps` are those of the warp group that the kernel begins with.
    """
    if text.problem or not text.ops:
        return None
    module = parse_module(text.text, "text")
    lines = {id(op): model for op, model in zip(module.walk(), text.ops)}
    main: list[Record] = []
    groups = [{"name": "all warps", "warps": warps, "steps": main}]
    for function in module.regions[0].blocks[0]:
        for region in function.regions:
            main += _steps(region, lines, text, 0, groups)
    if len(groups) > 1:
        groups[0]["name"] = "default warps"
    return {"note": NOTE, "text": text.id, "groups": groups} if main else None


def _steps(region: Region, lines: dict[int, Op], text: Text, depth: int, groups: list[Record]) -> Iterator[Record]:
    for block in region.blocks:
        for op in block:
            if isinstance(op, WarpSpecialize):
                yield from _specialized(op, lines, text, depth, groups)
                continue
            kind = _kind(op)
            model = lines.get(id(op))
            if kind and model is not None:
                yield _step(kind, op, model, text, depth)
            for inner in op.regions:
                yield from _steps(inner, lines, text, depth + (kind == "loop"), groups)


def _specialized(
    op: WarpSpecialize, lines: dict[int, Op], text: Text, depth: int, groups: list[Record]
) -> Iterator[Record]:
    """The default region continues the group; each partition is a group of its own."""
    default, *others = op.regions
    yield from _steps(default, lines, text, depth, groups)
    partitions = [r for other in others for inner in _inner(other) for r in inner.regions]
    for i, (region, warps) in enumerate(zip(partitions, op.partitionNumWarps)):
        steps = list(_steps(region, lines, text, 0, groups))
        loads = any(s["kind"] == "load" for s in steps) and not any(s["kind"] == "dot" for s in steps)
        name = f"partition {i}" + (" (producer)" if loads else " (consumer)" if any_dot(steps) else "")
        groups.append({"name": name, "warps": int(warps), "steps": steps})


def any_dot(steps: list[Record]) -> bool:
    """Whether a group multiplies."""
    return any(s["kind"] == "dot" for s in steps)


def _inner(region: Region) -> Iterator[Operation]:
    for block in region.blocks:
        yield from (op for op in block if op.regions)


def _kind(op: Operation) -> str:
    """What an operation does for the order; empty where it only computes."""
    if isinstance(op, LoopLike):
        return "loop"
    if isinstance(op, DotLike):
        return "dot"
    if isinstance(op, WaitLike):
        return "wait"
    if op.name == "tt.reduce":
        return "compute"
    if "barrier" in op.name or op.traits & ORDERING:
        return "barrier"
    moves = any(word in op.name for word in ("load", "store", "copy", "gather", "scatter", "atomic"))
    if not moves:
        return ""
    if "global_to_local" in op.name:
        return "load"
    return "store" if op.traits & WRITE else "load" if op.traits & READ or "load" in op.name else "store"


def _step(kind: str, op: Operation, model: Op, text: Text, depth: int) -> Record:
    place = None
    if model.place is not None:
        file, line, column = model.place
        place = {"file": text.files[file], "line": line, "column": column}
    return {"kind": kind, "text": op.name, "line": model.line, "depth": depth, "stage": "ttgir", "place": place}
