"""The passes of the `ttir` stage, which every target runs on a tile program."""

from __future__ import annotations

from ..ir import CountedLoop, LoopLike, Operation, Pass, PlainLoad, check_order, is_tensor_dot, shape_of
from ..ir.passes import has_any, has_interface, rows_from
from .padding.shapes import has_uneven_descriptors, has_uneven_shapes

__all__ = ["CPU_PIPELINE", "ORDER", "TTIR_PIPELINE", "gpu_ttir_pipeline", "gpu_versions_pipeline"]

_row = rows_from(__package__)


def has_many_dimensions(module: Operation) -> bool:
    """For `when` of a row: a tile has more than two dimensions (two are commonly rows and columns of addresses)."""
    return any(len(shape_of(r.type)) > 2 for op in module.walk() for r in op.results)


def has_loops_of_same_bounds(module: Operation) -> bool:
    """For `when` of a row: a block has two counted loops with the same bounds."""
    loops = [(op.parent, op.ub, op.step) for op in module.walk() if isinstance(op, CountedLoop)]
    return len(set(loops)) < len(loops)


def has_dots_and_scalar_loads(module: Operation) -> bool:
    """For `when` of a row: there are dots, and scalars loaded from memory."""
    ops = list(module.walk())
    return any(is_tensor_dot(op) for op in ops) and any(
        isinstance(op, PlainLoad) and not shape_of(op.results[0].type) for op in ops
    )


def has_loop_of_dots(module: Operation) -> bool:
    """For `when` of a row: a counted loop has two dots or more."""
    loops = [op for op in module.walk() if isinstance(op, CountedLoop)]
    return any(sum(map(is_tensor_dot, loop.body)) > 1 for loop in loops)


TTIR_PIPELINE = [  # order matters: see ORDER
    _row("inliner", "Inline all calls: later passes are intraprocedural", when=has_any("tt.call")),
    _row("symbol-dce", "Drop functions that were inlined everywhere"),
    _row(
        "rewrite-tensor-pointer",
        "Lower block pointers to pointers and masks",
        when=has_any("tt.make_tensor_ptr", argument="!tt.ptr<tensor<"),
    ),
    _row(
        "rewrite-tensor-descriptor-to-pointer",
        "Lower descriptors that no hardware supports",
        when=has_any("tt.make_tensor_descriptor", argument="!tt.tensordesc<"),
    ),
    _row("pad-shapes", "Pad tiles: later passes require powers of two", when=has_uneven_shapes),
    _row("decompose-scaled-dot", "Decompose scaled dots without hardware support", when=has_any("tt.dot_scaled")),
    _row("canonicalize", "Bring constants, shapes and control flow into canonical form"),
    _row("combine", "Fold additions into dot accumulators, masks into loads, offsets into one"),
    _row("reorder-broadcast", "Compute before broadcasting"),
    _row("loop-aware-cse", "Merge equal values and equal loop-carried values"),
    _row("licm", "Hoist loop-invariant operations", when=has_interface(LoopLike)),
    _row("loop-unroll", "Unroll loops that request it", when=has_interface(CountedLoop)),
    _row("cse", "Merge hoisted operations with existing ones"),
    _row("canonicalize", "Canonicalize the result"),
    _row("dce", "Remove dead operations"),
]

ORDER = [
    ("inliner", "symbol-dce", "only inlining makes functions dead"),
    ("inliner", "rewrite-tensor-pointer", "callees may take or return block pointers"),
    ("rewrite-tensor-pointer", "combine", "it combines masked loads"),
    ("rewrite-tensor-pointer", "reorder-broadcast", "it creates splats"),
    ("rewrite-tensor-descriptor-to-pointer", "combine", "it combines masked loads"),
    ("rewrite-tensor-pointer", "pad-shapes", "pointers to tiles have no mask"),
    ("rewrite-tensor-descriptor-to-pointer", "pad-shapes", "nor do descriptors"),
    ("inliner", "decompose-scaled-dot", "callees may contain the dot"),
    ("decompose-scaled-dot", "combine", "it combines dots"),
    ("reorder-broadcast", "loop-aware-cse", "equal tiles become equal scalar operations"),
    ("loop-aware-cse", "licm", "merged operations are hoisted once"),
    ("licm", "loop-unroll", "copies of invariant operations would only be merged again"),
]

check_order(TTIR_PIPELINE, ORDER)

CPU_PIPELINE = [
    _row("exchange-pairs", "Read exchanged elements: reductions of pairs keep dimensions", when=has_many_dimensions),
    _row("collapse-dims", "Merge loops over dimensions that no operation distinguishes", when=has_many_dimensions),
]
"""Passes on `ttir` for CPUs, before tiles become loops; GPUs move elements by layouts, regardless of rank."""


_UNEVEN_DESCRIPTORS = _row(
    "rewrite-tensor-descriptor-to-pointer",
    "Lower descriptors of tiles that no hardware supports",
    {"uneven": True},
    when=has_uneven_descriptors,
)


def gpu_ttir_pipeline(descriptors: bool, invariants: bool = False) -> list[Pass]:
    """The passes from the frontend's module to `ttir` for a GPU, which supports `descriptors` or not.

    Most targets leave hoisting of invariants to later stages, which have layouts; `invariants` requests it here.
    """
    named = {p.name: p for p in TTIR_PIPELINE}
    # Inlined functions are dropped at once: a chain of them would be optimized once per link (Triton drops them late).
    names = ["inliner", "symbol-dce", "rewrite-tensor-pointer", "rewrite-tensor-descriptor-to-pointer"]
    if descriptors:
        named["rewrite-tensor-descriptor-to-pointer"] = _UNEVEN_DESCRIPTORS
    names += ["pad-shapes", "canonicalize", "combine", "reorder-broadcast", "cse"]
    names += ["licm"] if invariants else []
    return [named[name] for name in (*names, "loop-unroll")]


for _descriptors in (False, True):
    check_order(gpu_ttir_pipeline(_descriptors, True), ORDER)


def gpu_versions_pipeline(threads: int, contracts: bool, wgmma_stages: int = 0) -> list[Pass]:
    """Passes on `ttir` for GPUs that version code on conditions, before layouts.

    `threads`: of a program; `contracts`: floats are contracted to FMAs; `wgmma_stages`: of loops, where there is WGMMA.
    """
    return [
        _row(
            "one-trip-loops",
            "Read a row that fits in one block once",
            {"threads": threads, "contracts": contracts},
            when=has_loops_of_same_bounds,
        ),
        _row(
            "alignment-versions",
            "Access memory by vectors where addresses from memory are aligned",
            when=has_dots_and_scalar_loads,
        ),
        *([_widen(threads, wgmma_stages)] if wgmma_stages > 3 else []),
    ]


def _widen(threads: int, stages: int) -> Pass:
    options = {"threads": threads, "num_stages": stages}
    return _row("widen-loops", "Widen dots with few columns by merging iterations", options, when=has_loop_of_dots)
