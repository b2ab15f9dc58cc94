"""Loops get the same latencies, schedules and copies as from Triton."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.conversion.test_convert_triton_to_tritongpu import lines, ttir_of
from tests.example_kernels import ExampleKernel, cases
from tests.triton_oracle import TritonOracle
from tritium.dialects.ttg_switches import WITHOUT
from tritium.ir import Operation, StringAttr, parse_module, print_op, verify
from tritium.transforms.ttgir.pipeline.assign_latencies import LatencyOptions, assign_latencies
from tritium.transforms.ttgir.pipeline.pipeline import PipelineOptions, pipeline
from tritium.transforms.ttgir.pipeline.schedule_loops import schedule_loops

BEFORE = ["coalesce", ["f32_dot_tc", True], "remove_layout_conversions", "optimize_thread_locality"]
BEFORE += ["accelerate_matmul", "remove_layout_conversions", ["optimize_dot_operands", True]]
LOOPS = ["loop_aware_cse", "canonicalizer", "triton_licm", "canonicalizer", "combine_tensor_select_and_if"]
SIMPLIFY = ["canonicalizer", "loop_aware_cse", "canonicalizer"]

#: Where sizes are known, Triton masks copies by constants that are true.
KNOWN_SIZES = ("attention-backward",)


def loops() -> list[ExampleKernel]:
    names = ("matmul", "grouped_matmul", "attention", "persistent_matmul", "fused_softmax", "layer_norm")
    return [case for case in cases() if case.example in names]


def before(case: ExampleKernel, capability: int, oracle: TritonOracle) -> str:
    pointers, described = ["rewrite_tensor_descriptor_to_pointer"], ["optimize_descriptor_encoding"]
    first, second = ([], described) if capability >= 90 else (pointers, [])
    layouts = ["convert_to_ttgpuir", f"cuda:{capability}", 4, 32, 1]
    text = ttir_of(case, max(case.capability, capability))
    return oracle.run_passes(text, [*first, layouts, *BEFORE, *second, *LOOPS])


def in_triton_s_order(module: Operation, run: Callable[[Operation], Any]) -> None:
    """Run a pass that must not improve on Triton's order of two chained dots."""
    module.attributes[WITHOUT] = StringAttr("first-dot-early")
    run(module)
    del module.attributes[WITHOUT]


@pytest.mark.parametrize("case", loops(), ids=lambda case: case.name)
@pytest.mark.parametrize("capability", [80, 90])
def test_schedules(case: ExampleKernel, capability: int, triton_oracle: TritonOracle) -> None:
    text = before(case, capability, triton_oracle)
    for stages in (1, 2, 3, 5):
        module = parse_module(text)
        in_triton_s_order(module, lambda m, n=stages: assign_latencies(m, LatencyOptions(n)))
        latencies = print_op(module)
        in_triton_s_order(module, schedule_loops)
        verify(module)
        theirs = triton_oracle.run_passes(text, [["assign_latencies", stages]])
        assert lines(triton_oracle.read(latencies)) == lines(theirs)
        theirs = triton_oracle.run_passes(theirs, ["schedule_loops"])
        assert lines(triton_oracle.read(print_op(module))) == lines(theirs)


def operations(module: Operation) -> Counter[str]:
    """The count of each operation, without constants."""
    return Counter(op.name for op in module.walk() if op.name != "arith.constant")


@pytest.mark.parametrize("case", loops(), ids=lambda case: case.name)
def test_copies(case: ExampleKernel, triton_oracle: TritonOracle) -> None:
    text = before(case, 80, triton_oracle)
    for stages in (2, 3, 4):
        scheduled = triton_oracle.run_passes(text, [["assign_latencies", stages], "schedule_loops"])
        module = parse_module(scheduled)
        pipeline(module, PipelineOptions(stages))
        verify(module)
        ours = parse_module(triton_oracle.run_passes(print_op(module), SIMPLIFY))
        theirs = parse_module(triton_oracle.run_passes(scheduled, [["pipeline", stages, False], *SIMPLIFY]))
        assert operations(ours) == operations(theirs)


def test_no_pipelining_without_async_copies(triton_oracle: TritonOracle) -> None:
    case = next(case for case in loops() if case.example == "matmul")
    module = parse_module(before(case, 80, triton_oracle))
    module.attributes[WITHOUT] = StringAttr("async-copies")
    text = print_op(module)
    assign_latencies(module)
    schedule_loops(module)
    pipeline(module)
    assert print_op(module) == text
