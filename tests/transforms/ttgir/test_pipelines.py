"""The pass tables of the `ttgir` stage: Triton's order, with positions for passes that are not implemented."""

from __future__ import annotations

from pathlib import Path

import pytest

import tritium.dialects.all  # noqa: F401
from tritium.hardware.nvidia import nvidia_gpu
from tritium.ir import PASSES, check_order, parse_module, print_op
from tritium.support import InternalError
from tritium.transforms.ttgir.pipelines import LATER, LOWERING, ORDER, nvidia_ttgir_pipeline
from tritium.transforms.ttir import TTIR_PIPELINE

CORPUS = Path(__file__).parents[2] / "corpus" / "triton-3.9"

#: Triton 3.9's order (`make_ttgir`) by our names, without the passes of Blackwell.
HEAD = """coalesce f32-dot-tc assign-cga-layouts remove-layout-conversions optimize-cta-locality
    remove-layout-conversions optimize-thread-locality accelerate-matmul remove-layout-conversions
    optimize-dot-operands""".split()
LOOPS = "fuse-nested-loops canonicalize licm canonicalize combine-tensor-select-and-if".split()
STAGES = ["assign-latencies", "schedule-loops", "pipeline"]
WARPS = "nvgpu-warp-specialization"  # which warns where it does nothing
AMPERE, HOPPER = [*LOOPS, WARPS, *STAGES], [*LOOPS, WARPS, "optimize-accumulator-init", *STAGES]
OURS = "keep-rows"  # it needs the final layouts, and leaves values for the simplification after it
TAIL = f"""remove-layout-conversions reduce-data-duplication reorder-instructions loop-aware-cse
    symbol-dce fence-insertion {OURS} sccp cse canonicalize""".split()


@pytest.mark.parametrize(
    ("capability", "loops", "ahead"),
    [
        (75, ["licm"], []),
        (80, AMPERE, ["prefetch"]),
        (89, AMPERE, ["prefetch"]),
        (90, HOPPER, []),
        (100, AMPERE, []),
    ],
)
def test_pipeline_order_matches_triton(capability, loops, ahead):
    names = [p.name for p in nvidia_ttgir_pipeline(nvidia_gpu(capability))]
    described, copies = (["optimize-descriptor-encoding"], ["tma-lowering"]) if capability >= 90 else ([], [])
    middle = [
        "loop-aware-cse",
        *loops,
        "canonicalize",
        "loop-aware-cse",
        *ahead,
        "optimize-dot-operands",
        "coalesce-async-copy",
    ]
    assert names == [*HEAD, *described, *middle, *copies, *TAIL]


def test_every_row_has_a_reason_and_a_triton_name():
    for p in nvidia_ttgir_pipeline(nvidia_gpu(80)):
        assert p.reason and PASSES.find(p.name).fn is p.function
        if p.name != OURS:
            assert PASSES.title(p.name).startswith(("Triton", "NVGPU", "Canonicalizer", "CSE", "SCCP", "SymbolDCE"))


def test_later_passes_are_not_implemented():
    assert LATER and all(PASSES.find(name) is None for name in LATER)


def test_order_violations_are_detected():
    rows = nvidia_ttgir_pipeline(nvidia_gpu(80))
    names = [p.name for p in rows]
    for earlier, later, _ in ORDER:
        if earlier in names and later in names:
            wrong = sorted(rows, key=lambda p: p.name != later)
            with pytest.raises(InternalError):
                check_order(wrong, ORDER)


def test_skipped_passes_would_change_nothing():
    """`when` of a row is only a cheap test for a pass without effect."""
    rows = {p.name: p for capability in (75, 80, 90) for p in nvidia_ttgir_pipeline(nvidia_gpu(capability))}
    rows = {"ttgir": {**rows, **{p.name: p for p in LOWERING}}, "ttir": {p.name: p for p in TTIR_PIPELINE}}
    left_out = set()
    for path in sorted(CORPUS.glob("*.mlir")):
        module = parse_module(path.read_text(), path.name)
        text = print_op(module)
        for name, p in rows[path.name.split(".")[-2]].items():
            if p.when is not None and not p.when(module):
                left_out.add(name)
                p.run(module)
                assert print_op(module) == text, (name, path.name)
    assert len(left_out) > 10


@pytest.mark.parametrize(
    ("former", "name"),
    [
        ("early-waits", "hoist-waits"),
        ("early-loads", "speculate-loads"),
        ("recompute-behind-loops", "rematerialize-after-loops"),
        ("store-own-rows", "store-mma-rows-per-warp"),
        ("store-in-own-block", "store-in-own-cta"),
    ],
)
def test_former_pass_names_are_accepted(former: str, name: str) -> None:
    assert PASSES.lookup(former).name == PASSES.canonical(former) == name
