"""A random kernel of a seed: `generate(seed)`.

Steps are drawn by what breaks in compilers of this kind (a study of 301 bugs, arXiv:2605.19652): types, semantics and
casts 49 %, memory and indexing 19 %, construction of the program 16 %, control flow 5 % (drawn more often here, as little
of it is needed to go wrong in other steps, which stand in it); how it is launched is drawn for
each kernel.
"""

from __future__ import annotations

import random

from . import (
    accesses,
    control,
    drawn,
    expressions,
    extensions,
    functions,
    loops,
    overlapped,
    products,
    structure,
    transfers,
)
from .elements import TYPES
from .writer import ANY, FEATURES, Case, Refused, Value, Wishes, Writer

__all__ = ["HEAD", "KINDS", "generate"]

WEIGHTS = {"types": 49.0, "memory": 19.0, "build": 16.0 + 6.0, "control": 8.0}
SHAPES = [
    (1,), (2,), (16,), (32,), (64,), (128,), (256,), (512,), (1024,), (4, 8), (8, 4), (16, 16), (1, 32), (32, 1), (8, 64),
    (64, 8), (32, 32), (16, 64), (2, 4, 8), (4, 4, 16), (8, 2, 4), (1, 8, 8), (2, 128), (16, 1, 4), (16, 32), (64, 16),
]  # fmt: skip
UNEVEN = [(3,), (100,), (5, 7), (12, 48), (3, 5, 8), (1, 6), (48,), (33, 3), (24, 10)]
"""Shapes that Triton does not take."""
NOT_IN_NUMPY = frozenset(
    "mathematics float_division block_pointer descriptor store_block atomic atomic_old own_combine two_operands map_elements "
    "softmax indices largest integer_reductions element set_element fused_multiply chained_dot truth "
    "batched_dot transposed_dot computed_dot scaled_dot masked_dot_loop attention_loop tiles_in_turn row_loop "
    "hints random_numbers wide_sum largest_floats gathered_rows noinline_call noinline_load aggregate tuples function_argument "
    "python_expression leave loop_with_else descriptor_of_any_rank descriptor_store descriptor_scatter descriptor_atomic "
    "host_descriptor host_descriptor_store load_broadcast store_in_loop store_number store_and_load atomic_orders atomic_loop atomic_floats atomic_words "
    "specialized_loop specialized_attention rare_dot product_of_parts device_library masked_histogram packed_elements".split()
)
"""What the reference in NumPy lacks: a part of the kernels does without, so that it says something of the others."""
PID = {
    1: "tl.program_id(0)",
    2: "tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)",
    3: "tl.program_id(0) + tl.program_id(2)",
}
"""The number of a program, by the dimensions of the grid."""
HEAD = "import tritium\nimport tritium.language as tl\nfrom tritium.language.extra import libdevice\n\n\n"


def options_of(r: random.Random, fused: bool) -> dict[str, object]:
    """How a kernel is compiled."""
    options: dict[str, object] = {"num_warps": r.choice((1, 2, 4, 4, 8, 16)), "num_stages": r.choice((1, 2, 3, 4))}
    if not fused:
        options["enable_fp_fusion"] = False
    if r.random() < 0.15:
        options["num_ctas"] = r.choice((2, 2, 4))
    return options


def ends(w: Writer) -> None:
    """Store what nothing has used yet, and the last values."""
    unused = [v for v in w.values if v.name not in w.used]
    kept = {v.name: v for v in unused[-5:] + w.values[-3:]}
    for v in kept.values():
        if v.name not in ("pid",):
            accesses.store_value(w, v, plain=w.chance(0.6))


def generate(seed: int, wishes: Wishes = ANY) -> Case:
    """The kernel of a seed, and how it is launched."""
    r = random.Random(seed * 7919 + 1)
    fused, programs = r.random() < 0.3, r.choice((1, 2, 3, 4))
    uneven = r.random() < 0.2
    shapes = [r.choice(SHAPES), r.choice(UNEVEN if uneven else SHAPES)]
    w = Writer(seed, shapes, fused, programs)
    w.uneven, w.often, w.stored = uneven, wishes.often, wishes.types or accesses.STORED
    w.specials = r.random() < 0.3
    if r.random() < 0.35:
        w.without = NOT_IN_NUMPY
    grid = r.choice(
        [(programs,), (programs,), (1, programs), (programs, 1, 1), (2, 2) if programs == 4 else (1, 1, programs)]
    )
    w.line(f"pid = {PID[len(grid)]}")
    w.values.append(Value("pid", TYPES["i32"], ()))
    w.used["pid"] = 1
    for _ in range(3):
        try:
            accesses.load_input(w, TYPES[w.choice(w.stored)], accesses.shape_of(w))
        except Refused:
            continue
    for _ in range(r.randint(5, 22)):
        w.step(WEIGHTS)
    ends(w)
    parameters = ", ".join([*w.parameters])
    for name in w.parameters:
        if name in ("n", "m"):
            w.scalars.setdefault(name, 5)
    text = (
        HEAD
        + "".join(f"{f}\n\n" for f in w.functions)
        + f"@tritium.jit\ndef kernel({parameters}):\n"
        + "\n".join(w.lines)
        + "\n"
    )
    return Case(seed, text, grid, w.scalars, w.outputs, w.tolerances, options_of(r, fused), w.features)


_ = (
    control,
    drawn,
    expressions,
    extensions,
    functions,
    loops,
    overlapped,
    products,
    structure,
    transfers,
)  # their steps are registered when they are imported
for _group in FEATURES.values():
    _group.sort(key=lambda found: found[1].__name__)  # a seed's program does not depend on who is imported first
KINDS = sorted(function.__name__ for group in FEATURES.values() for _, function in group)
"""What the steps of random kernels are called."""
