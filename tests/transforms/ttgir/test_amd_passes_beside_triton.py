"""Passes for AMD GPUs beside Triton's own, on kernels of the corpus: each gets the text that Triton's passes before it make.

`CASES` lists the passes in Triton's order with what is compared: "equal" the whole text (after canonicalization), others
what a function here counts, as equal or as no more than in Triton's output. `DIFFERENT` has the exceptions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tritium.dialects.all
import tritium.transforms  # noqa: F401  (its passes are known from here on)
from tests.triton_oracle import TritonOracle
from tritium.ir import PassManager, parse_module, print_op

CORPUS = Path(__file__).parents[2] / "corpus" / "triton-3.9"
KERNELS = {
    "softmax": "fused_softmax.softmax_kernel.gfx942",
    "matmul": "matmul.matmul_kernel.fp16-leaky_relu.gfx942",
    "matmul of fp8": "matmul.matmul_kernel.fp8e5.sm90",
    "matmul of f32": "matmul.matmul_kernel.fp32.sm90",
    "dropout": "low_memory_dropout.seeded_dropout.seed.sm90",
    "layer norm": "layer_norm.layer_norm_fwd_fused.forward.sm90",
    "layer norm, dx": "layer_norm.layer_norm_bwd_dx_fused.backward_dx.sm90",
    "layer norm, dw and db": "layer_norm.layer_norm_bwd_dwdb.backward_dwdb.sm90",
    "attention": "attention.attention_forward.forward.gfx942",
    "attention, dk and dv": "attention.attention_backward_keys.backward_keys.sm90",
    "attention, dq": "attention.attention_backward_queries.backward_queries.sm90",
    "grouped matmul": "grouped_matmul.grouped_matmul_kernel.sm90",
    "persistent matmul": "persistent_matmul.matmul_persistent_kernel.pointers.gfx942",
}


def number(*names: str) -> Callable[[str], Counter[str]]:
    """How many operations of these names a text has."""
    return lambda text: Counter(
        name for name in names for _ in re.findall(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text)
    )


def in_loops(*names: str) -> Callable[[str], Counter[str]]:
    """How many operations of these names the innermost loops have."""

    def count(text: str) -> Counter[str]:
        loops = [op for op in parse_module(text).walk() if op.name == "scf.for"]
        inner = [loop for loop in loops if not any(op.name == "scf.for" for op in list(loop.walk())[1:])]
        return Counter(op.name for loop in inner for op in loop.walk() if op.name in names)

    return count


def stages(text: str) -> Counter[str]:
    """The stages of loads and dots in loops, and the number of stages of these."""
    found: Counter[str] = Counter()
    for op in parse_module(text).walk():
        for name in ("loop.stage", "tt.scheduled_max_stage"):
            if op.name in ("tt.load", "tt.dot", "scf.for") and name in op.attributes:
                found[f"{op.name} {name} {op.attributes[name]}"] += 1
    return found


def shared_bytes(text: str) -> Counter[str]:
    """The bytes of LDS."""
    return Counter({"bytes": int(found[1])} if (found := re.search(r"ttg\.shared = (\d+)", text)) else {})


def layouts(text: str) -> Counter[str]:
    """The types of dots and stores, with their layouts in full."""
    module = parse_module(text)
    ops = [op for op in module.walk() if op.name in ("tt.dot", "tt.store", "tt.load")]
    return Counter(f"{op.name} {[str(v.type) for v in op.operands]}" for op in ops)


class Case(NamedTuple):
    """Passes of Triton with their arguments, ours, and what is compared: equal, or `most` no more than there. Without
    `goes_on` the next case gets the same text."""

    theirs: Any
    ours: str = ""
    equal: Callable[[str], Any] | None = None
    most: Callable[[str], Counter[str]] | None = None
    goes_on: bool = True


def cases(arch: str) -> list[Case]:
    """The passes in Triton's order; those without a name of ours only prepare the text of the next ones."""
    lanes = 64 if arch == "gfx942" else 32
    accesses = ("tt.load", "ttg.local_store", "ttg.local_load", "tt.dot")
    return [
        Case(["convert_to_ttgpuir", f"hip:{arch}", 4, lanes, 1]),
        Case("coalesce", "coalesce", str),
        Case(["f32_dot_tc", False]),
        Case("remove_layout_conversions", "remove-layout-conversions", layouts, number("ttg.convert_layout")),
        Case("optimize_thread_locality", "optimize-thread-locality", str),
        Case(["amd.accelerate_matmul", arch, 0, 1], "amd-accelerate-matmul", str),
        Case("remove_layout_conversions", "remove-layout-conversions", layouts, number("ttg.convert_layout")),
        Case("amd.optimize_epilogue", "amd-optimize-epilogue", str),
        Case(["amd.optimize_dot_operands", arch], "optimize-dot-operands", number("tt.dot", "ttg.local_load")),
        Case("amd.hoist_layout_conversions", "amd-hoist-layout-conversions", str),
        Case("amd.sink_layout_conversions", "amd-sink-layout-conversions", str),
        Case("canonicalizer"),
        Case(["amd.schedule_loops", 2], "amd-schedule-loops", stages, goes_on=False),
        Case(
            [["amd.schedule_loops", 2], ["amd.pipeline", False, False]],
            PIPELINE,
            in_loops(*accesses),
            number("ttg.local_alloc"),
        ),
        Case("canonicalizer"),
        Case("remove_layout_conversions"),
        Case("reduce_data_duplication", "reduce-data-duplication", number("tt.dot"), number("ttg.local_alloc")),
        Case("amd.move_up_prologue_loads", "amd-move-up-prologue-loads", number("tt.load", "scf.if")),
        Case(["amd.block_pingpong", 2], "amd-block-pingpong", str),
        Case("amd.canonicalize_pointers", "amd-canonicalize-pointers", str),
        Case("canonicalizer"),
        Case(["amd.convert_to_buffer_ops", arch, True, False], "amd-convert-to-buffer-ops", str),
        Case("amd.optimize_buffer_op_ptr", "amd-optimize-buffer-op-ptr", str),
        Case("amd.fold_true_cmpi", "amd-fold-true-cmpi", layouts, number("arith.cmpi")),
        Case("amd.prepare_if_combining", "amd-prepare-if-combining", str),
        Case("canonicalizer"),
        Case("cse"),
        Case(["amd.allocate_shared_memory", arch], "allocate-shared-memory", None, shared_bytes, goes_on=False),
        Case(
            [["amd.allocate_shared_memory", arch], ["amd.membar", arch]],
            "allocate-shared-memory,insert-barriers",
            None,
            number("ttg.barrier"),
        ),
    ]


PIPELINE = "assign-latencies{num-stages=2},schedule-loops,amd-pipeline"
DIFFERENT = {
    ("layer norm, dw and db", "allocate-shared-memory"): "both sums are exchanged between warps at once",
    ("attention", "allocate-shared-memory"): "gfx1100: scratch of a conversion of 2 KiB more",
    ("attention", PIPELINE): "the loop of masked columns has one step, and is no loop any more",
    ("attention, dk and dv", "amd-schedule-loops"): "operands of two dots in two layouts are not loaded ahead",
    ("attention, dk and dv", PIPELINE): "operands of two dots in two layouts are not loaded ahead",
    ("attention, dq", "amd-schedule-loops"): "an operand of two dots in two layouts is not loaded ahead",
    ("attention, dq", "optimize-dot-operands"): "a transposed operand is read from LDS, not converted",
    ("grouped matmul", "remove-layout-conversions"): "one conversion more outside of the inner loop",
}
"""(kernel, pass) -> why the outputs differ."""
GFX1100 = ("softmax", "matmul", "matmul of f32", "layer norm, dw and db", "attention")
TARGETS = [*((kernel, "gfx942") for kernel in KERNELS), *((kernel, "gfx1100") for kernel in GFX1100)]


@pytest.mark.parametrize(("kernel", "arch"), TARGETS)
def test_passes_make_of_a_kernel_what_those_of_triton_make(kernel: str, arch: str, triton_oracle: TritonOracle) -> None:
    text = triton_oracle.read((CORPUS / f"{KERNELS[kernel]}.ttir.mlir").read_text())
    differ = []
    for case in cases(arch):
        theirs = triton_oracle.run_passes(text, case.theirs if isinstance(case.theirs[0], list) else [case.theirs])
        if case.ours:
            module = parse_module(text)
            PassManager(case.ours).run(module)
            differ += [(case.ours, *found) for found in differences(case, print_op(module), theirs, triton_oracle)]
        text = theirs if case.goes_on else text
    assert [found for found in differ if (kernel, found[0]) not in DIFFERENT] == []


def differences(case: Case, ours: str, theirs: str, oracle: TritonOracle) -> Iterator[tuple[object, ...]]:
    """What is not equal, or more than in Triton's output."""
    if case.equal is str:
        after = ["canonicalizer", "cse", "canonicalizer"]
        ours, theirs = oracle.run_passes(ours, after), oracle.run_passes(theirs, after)
    if case.equal is not None and (mine := case.equal(ours)) != (wanted := case.equal(theirs)):
        yield ("not equal", mine, wanted) if case.equal is not str else ("not equal",)
    if case.most is not None and (mine := case.most(ours)) - (wanted := case.most(theirs)):
        yield "more", mine, wanted
