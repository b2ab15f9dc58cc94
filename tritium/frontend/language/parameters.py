"""Classes of the parameters and annotations of the language: what a kernel can rely on when it passes one.

A parameter has the same meaning in every function that has it; `PARAMETERS` has the class of each one that is an
option rather than an operand, and `ANNOTATIONS` that of functions that only annotate values. Hints list the targets on
which they have no effect. Documentation and tests read the tables; nothing else imports this file.

>>> PARAMETERS["eviction_policy"].kind, PARAMETERS["eviction_policy"].ignored_on
('hint', ('cpu',))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...support.option_classes import HINT, SEMANTIC

__all__ = ["ANNOTATIONS", "PARAMETERS", "Parameter"]

EVERYWHERE = ("cpu", "cuda", "hip")


class Parameter(NamedTuple):
    """The class of a parameter, its effect, and the targets on which it has none."""

    kind: str
    effect: str
    ignored_on: tuple[str, ...] = ()


def _semantic(effect: str) -> Parameter:
    return Parameter(SEMANTIC, effect)


def _hint(effect: str, *ignored_on: str) -> Parameter:
    return Parameter(HINT, effect, ignored_on)


PARAMETERS: Mapping[str, Parameter] = {
    # loads, stores, atomics
    "mask": _semantic("elements that are accessed"),
    "other": _semantic("value of elements that are not loaded"),
    "boundary_check": _semantic("dimensions of a block pointer that are checked"),
    "padding_option": _semantic("value of elements outside of a tensor: zero or nan"),
    "volatile": _semantic("the load is neither removed nor combined with another"),
    "cache_modifier": _hint("cache operator of loads and stores", "cpu"),
    "eviction_policy": _hint("eviction priority in the L1 and L2 caches", "cpu"),
    "sem": _semantic("memory order of an atomic operation; the order is at least as strong"),
    "scope": _semantic("threads that observe the order: cta, gpu or sys; at least these do"),
    "timeout_ns": _semantic("time after which polling ends"),
    # dots
    "acc": _semantic("accumulator"),
    "out_dtype": _semantic("element type of the result"),
    "input_precision": _semantic("precision of fp32 operands; the result is at least as accurate"),
    "allow_tf32": _semantic("older spelling of `input_precision`"),
    "max_num_imprecise_acc": _hint("additions in the tensor core before an fp8 dot adds in fp32 (SM90)", "cpu"),
    "fast_math": _hint("permits `tl.dot_scaled` to ignore scales that are NaN"),
    "lhs_k_pack": _semantic("operands of 4 bits are packed along K"),
    "rhs_k_pack": _semantic("operands of 4 bits are packed along K"),
    # arithmetic
    "sanitize_overflow": _semantic("overflow is checked where the options `debug` and `sanitize_overflow` are on"),
    "propagate_nan": _semantic("whether a NaN operand makes the result NaN"),
    "ieee_rounding": _semantic("division is rounded to nearest"),
    "approx": _hint("permits an approximate division", "cpu"),
    "fp_downcast_rounding": _semantic("rounding of a conversion to a narrower type"),
    "bitcast": _semantic("keeps the bits"),
    # shapes, reductions, scans, sorts
    "axis": _semantic("dimension"),
    "dim": _semantic("dimension"),
    "dtype": _semantic("element type of the accumulation"),
    "keep_dims": _semantic("reduced dimensions stay, of size 1"),
    "reverse": _semantic("scans from the end"),
    "descending": _semantic("order of a sort"),
    "tie_break_left": _semantic("the first of equal elements is taken"),
    "return_indices": _semantic("also gives the index"),
    "return_indices_tie_break_left": _semantic("the index of the first of equal elements"),
    "can_reorder": _hint("permits another order of elements, which is not used", *EVERYWHERE),
    # functions applied to elements
    "pack": _semantic("neighbours that a function of `tl.map_elementwise` is given at a time"),
    # loops
    "arg2": _semantic("end of a range"),
    "step": _semantic("step of a range"),
    "num_stages": _hint("stages of the software-pipelined loop", "cpu"),
    "loop_unroll_factor": _hint("copies of the loop's body"),
    "disallow_acc_multi_buffer": _hint(
        "accumulators in tensor memory have one buffer; none is multi-buffered", *EVERYWHERE
    ),
    "flatten": _hint("fuses the loop with the loop inside of it, before software pipelining", "cpu"),
    "warp_specialize": _hint(
        "splits the loop into producer and consumer warps where it loads tiles by TMA, on SM90; not on other GPUs",
        "cpu",
    ),
    "disable_licm": _hint("loop-invariant operations stay in the loop"),
    # random numbers
    "n_rounds": _semantic("rounds of the Philox generator; other values give other numbers"),
    # questions about the target
    "minor": _semantic("minor number of a compute capability"),
    # prints and assertions
    "msg": _semantic("text of an assertion"),
    "hex": _semantic("integers are printed in hexadecimal"),
    "sep": _semantic("text between values"),
    "end": _semantic("text after values"),
    "file": _semantic("where to print"),
    "flush": _semantic("flushes the file"),
}

ANNOTATIONS: Mapping[str, Parameter] = {
    "multiple_of": _hint(
        "values that an operation computes are divisible; a wrong promise is undefined behaviour", "cpu"
    ),
    "max_contiguous": _hint(
        "values that an operation computes are contiguous; a wrong promise is undefined behaviour", "cpu"
    ),
    "max_constancy": _hint(
        "values that an operation computes are equal; a wrong promise is undefined behaviour", "cpu"
    ),
    "assume": _hint("a condition is known to hold; a wrong promise is undefined behaviour"),
    "debug_barrier": _semantic("synchronizes the threads of a program; on the CPU there is one"),
}
