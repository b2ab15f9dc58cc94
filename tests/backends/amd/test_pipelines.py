"""The `ttgir` pipelines for AMD GPUs: every operation gets layouts for the warps of the target."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tritium.dialects.all  # noqa: F401
from tests.transforms.ttgir.test_kernels import outcome
from tritium.backends.amd import HIPOptions
from tritium.backends.amd.compiler import HIPBackend
from tritium.backends.amd.pipelines import LOWERING, default_ttgir_pipeline, ttgir_pipeline
from tritium.compiler import GPUTarget, compile
from tritium.dialects.ttg_context import target_of, threads_per_warp
from tritium.emulator.amdgcn import launch
from tritium.interpreter.evaluator import run
from tritium.ir import CountedLoop, Pass, parse_module, print_op, run_pipeline, verify
from tritium.transforms.ttgir.pipeline.amd_pipeline import amd_pipeline

CORPUS = Path(__file__).parents[2] / "corpus" / "triton-3.9"
TEXTS = ("fused_softmax.softmax_kernel", "layer_norm.layer_norm_fwd_fused.forward", "matmul.matmul_kernel.fp32")


@pytest.mark.parametrize(("arch", "threads"), [("gfx942", 64), ("gfx1100", 32)])
@pytest.mark.parametrize("name", TEXTS)
def test_pipeline_gives_layouts_for_the_warp_size(name: str, arch: str, threads: int) -> None:
    module = parse_module((CORPUS / f"{name}.sm90.ttir.mlir").read_text())
    run_pipeline(module, [*default_ttgir_pipeline(arch), *LOWERING], verifier=verify)
    assert threads_per_warp(module) == threads
    assert target_of(module) == f"hip:{arch}"
    assert "ttg.shared" in module.attributes


@pytest.mark.parametrize(("arch", "num_stages"), [("gfx942", 2), ("gfx942", 3), ("gfx1100", 2)])
@pytest.mark.parametrize("name", ["matmul.matmul_kernel.fp16-leaky_relu", "attention.attention_forward.forward-causal"])
def test_kernels_with_dots_compute_the_same(name: str, arch: str, num_stages: int) -> None:
    module = parse_module((CORPUS / f"{name}.sm90.ttir.mlir").read_text())
    before = outcome(module, name)
    options = HIPOptions(arch=arch, num_stages=num_stages)
    run_pipeline(module, [*ttgir_pipeline(options), *LOWERING], verifier=verify)
    for a, b in zip(before, outcome(module, name)):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=2e-3, atol=2e-3)


@pytest.mark.sample(3)
@pytest.mark.parametrize("num_stages", [2, 3, 4])
@pytest.mark.parametrize("depth", [0, 40, 64, 128, 200])
def test_pipelined_loops_run_as_often_as_before(depth: int, num_stages: int) -> None:
    """Including no iteration, fewer than there are stages, and a part of one."""
    name = "matmul.matmul_kernel.fp16-leaky_relu"
    module = parse_module((CORPUS / f"{name}.sm90.ttir.mlir").read_text())
    run_pipeline(module, ttgir_pipeline(HIPOptions(arch="gfx942", num_stages=num_stages)), verifier=verify)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((128, depth), (depth, 128)))
    c = np.full((128, 128), np.nan, np.float16)
    run(module, 1, [a if depth else c, b if depth else c, c, 128, 128, depth, max(depth, 1), 128, 128])
    exact = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(c, np.where(exact >= 0, exact, 0.01 * exact), rtol=2e-3, atol=2e-3)
    assert sum(op.name == "tt.dot" for op in module.walk()) == 2


def test_small_arrays_are_a_specialization() -> None:
    class Array:
        def __init__(self, size: int) -> None:
            self.size = size

        def data_ptr(self) -> int:
            return 4096

        def ptr_range(self) -> int:
            return self.size

    small = HIPBackend.get_tensor_specialization(Array(1 << 20), align=True)
    assert (small, HIPBackend.get_tensor_specialization(Array(1 << 31), align=True)) == ("DS", "D")
    assert HIPBackend.parse_attr(small) == [["tt.divisibility", 16], ["tt.pointer_range", 32]]


def test_buffers_of_loads_are_kept_until_the_last_read(tmp_path: Path, seed: int) -> None:
    """The second read of a buffer is a stage after the first one: the next store must not overwrite it."""
    module = parse_module((Path(__file__).with_name("late_reads.mlir")).read_text())
    run_pipeline(module, [Pass("amd-pipeline", amd_pipeline, "")], verifier=verify)
    text = tmp_path / "gram.ttgir"
    text.write_text(print_op(module))
    kernel = compile(str(text), target=GPUTarget("hip", "gfx942", 64))
    x = np.random.default_rng(seed).integers(-3, 4, (5, 32, 32)).astype(np.float16)
    out = np.full((32, 32), np.nan, np.float32)
    launch(kernel.asm["amdgcn"], 1, [x, out, 5], shared_bytes=kernel.metadata.shared)
    wide = x.astype(np.float32)
    np.testing.assert_array_equal(out, (wide + wide @ wide.transpose(0, 2, 1)).sum(axis=0))


def test_operand_that_is_transposed_after_the_load_is_prefetched_through_lds() -> None:
    """Keys and values of attention: two stores to LDS before its loop, and two in it; two before the last block, which
    is no loop."""
    module = parse_module((CORPUS / "attention.attention_forward.forward.gfx942.ttir.mlir").read_text())
    run_pipeline(module, default_ttgir_pipeline("gfx942"), verifier=verify)
    loops = [op for op in module.walk() if isinstance(op, CountedLoop)]
    stores = [sum(op.name == "ttg.local_store" for op in loop.walk()) for loop in loops]
    assert stores == [2] and sum(op.name == "ttg.local_store" for op in module.walk()) == 6
