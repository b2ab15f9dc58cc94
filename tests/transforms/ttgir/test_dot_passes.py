"""Passes on dots choose the same instructions, layouts and buffers as Triton."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conversion.test_convert_triton_to_tritongpu import lines, ttir_of
from tests.example_kernels import ExampleKernel, cases
from tests.triton_oracle import TritonOracle
from tritium.dialects.ttg_layouts import Blocked, DotOperand, NvidiaMma
from tritium.dialects.ttg_memory import SwizzledShared
from tritium.dialects.ttg_operands import cluster_bases, memory_order, swizzled_for
from tritium.ir import parse_module, print_op, verify
from tritium.transforms.ttgir.async_wait.fence_insertion import fence_insertion
from tritium.transforms.ttgir.mma.accelerate_matmul import accelerate_matmul
from tritium.transforms.ttgir.mma.f32_dot_tc import DotOptions, f32_dot_tc
from tritium.transforms.ttgir.mma.optimize_dot_operands import optimize_dot_operands
from tritium.transforms.ttgir.mma.prefetch import prefetch

SIMPLIFY = ["canonicalizer", "cse"]
RESULTS = {"i8": "i32", "f64": "f64"}


def product(
    dtype: str, m: int = 64, n: int = 64, k: int = 32, transposed: str = "", precision: str = "", batch: str = ""
) -> str:
    """A kernel that loads two matrices, transposes those named, computes their dot, and stores it."""
    shapes = {
        "a": f"{k}x{m}" if "a" in transposed else f"{m}x{k}",
        "b": f"{n}x{k}" if "b" in transposed else f"{k}x{n}",
    }
    straight = {"a": f"{m}x{k}", "b": f"{k}x{n}"}
    out = f"tensor<{batch}{m}x{n}x{{}}>"
    result = RESULTS.get(dtype, "f32")
    body, operands = [], []
    for name, shape in shapes.items():
        ty = f"tensor<{batch}{shape}x{dtype}>"
        body.append(f"%l{name} = tt.load %p{name} : tensor<{batch}{shape}x!tt.ptr<{dtype}>>")
        if name in transposed:
            order = "{order = array<i32: 1, 0>}"
            body.append(f"%t{name} = tt.trans %l{name} {order} : {ty} -> tensor<{straight[name]}x{dtype}>")
        operands.append(f"%t{name}" if name in transposed else f"%l{name}")
    types = [f"tensor<{batch}{shape}x{dtype}>" for shape in straight.values()]
    how = f", inputPrecision = {precision}" if precision else ""
    acc = out.format(result)
    arguments = [f"%p{x}: tensor<{batch}{shapes[x]}x!tt.ptr<{dtype}>>" for x in "ab"]
    arguments += [f"%c: {acc}", f"%o: {out.format(f'!tt.ptr<{result}>')}"]
    body.append(f"%d = tt.dot {', '.join(operands)}, %c{how} : {' * '.join(types)} -> {acc}")
    body.append(f"tt.store %o, %d : {out.format(f'!tt.ptr<{result}>')}")
    inside = "\n  ".join([*body, "tt.return"])
    return f"tt.func public @product({', '.join(arguments)}) {{\n  {inside}\n}}\n"


def dots() -> list[ExampleKernel]:
    return [case for case in cases() if case.example in ("matmul", "grouped_matmul", "attention", "persistent_matmul")]


@pytest.mark.parametrize("case", dots(), ids=lambda case: case.name)
@pytest.mark.parametrize(("capability", "warps"), [(80, 4), (89, 8), (90, 4), (90, 8), (120, 4)])
def test_examples(case: ExampleKernel, capability: int, warps: int, triton_oracle: TritonOracle) -> None:
    text = ttir_of(case, max(case.capability, capability))
    before = ["coalesce", "remove_layout_conversions", "optimize_thread_locality"]
    text = triton_oracle.run_passes(text, [["convert_to_ttgpuir", f"cuda:{capability}", warps, 32, 1], *before])
    module = parse_module(text)
    accelerate_matmul(module)
    verify(module)
    ours = triton_oracle.run_passes(print_op(module), SIMPLIFY)
    assert lines(ours) == lines(triton_oracle.run_passes(text, ["accelerate_matmul", *SIMPLIFY]))


FP8 = ["f8E5M2", "f8E4M3FN"]
TYPES = ["f16", "bf16", "f32", *FP8, "i8", "f64"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("warps", "ctas"), [(1, 1), (4, 1), (8, 2)])
def test_instructions(dtype: str, warps: int, ctas: int, triton_oracle: TritonOracle) -> None:
    for capability in (75, 80, 89, 90, 120):
        for shape in ((16, 16, 32), (32, 128, 32), (128, 32, 64), (64, 256, 64)):
            for batch in ("", "2x"):
                precision = "tf32" if dtype == "f32" and shape[0] != 16 else ""
                text = product(dtype, *shape, precision=precision, batch=batch)
                layouts = ["convert_to_ttgpuir", f"cuda:{capability}", warps, 32, ctas]
                # CTAs of a cluster first exchange the operands that their dots need
                divided = ["assign_cga_layouts", "remove_layout_conversions"] if ctas > 1 else []
                text = triton_oracle.run_passes(text, [layouts, *divided])
                module = parse_module(text)
                accelerate_matmul(module)
                verify(module)
                if dtype == "i8" and capability == 75:
                    continue  # Triton casts integers as if they were floats there
                ours = triton_oracle.run_passes(print_op(module), SIMPLIFY)
                assert lines(ours) == lines(triton_oracle.run_passes(text, ["accelerate_matmul", *SIMPLIFY]))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("transposed", ["a", "b", "ab"])
def test_transposed_operands(dtype: str, transposed: str, triton_oracle: TritonOracle) -> None:
    for k, warps in ((16, 1), (32, 4), (64, 8), (128, 4)):
        k = max(k, 32 if "8" in dtype else 16)
        text = product(dtype, 64, 32, k, transposed, "tf32" if dtype == "f32" else "")
        before = [["convert_to_ttgpuir", "cuda:80", warps, 32, 1], "coalesce", "accelerate_matmul", *SIMPLIFY]
        text = triton_oracle.run_passes(text, before)
        module = parse_module(text)
        optimize_dot_operands(module)
        verify(module)
        ours = triton_oracle.run_passes(print_op(module), SIMPLIFY)
        theirs = triton_oracle.run_passes(text, [["optimize_dot_operands", True], *SIMPLIFY])
        assert lines(ours) == lines(theirs)
        assert ("ttg.memdesc_trans" in ours) == (dtype not in FP8)  # those are widened between transpose and dot


@pytest.mark.parametrize("dtype", ["f16", "f32", "i8"])
@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
def test_wgmma_operand_buffers_match_triton(dtype: str, transposed: str, triton_oracle: TritonOracle) -> None:
    for shape, warps in (((64, 32, 64), 4), ((128, 64, 32), 8)):
        text = product(dtype, *shape, transposed, "tf32" if dtype == "f32" else "")
        layouts = ["convert_to_ttgpuir", "cuda:90", warps, 32, 1]
        text = triton_oracle.run_passes(text, [layouts, "coalesce", "accelerate_matmul", *SIMPLIFY])
        assert "ttng.warp_group_dot" in text
        module = parse_module(text)
        optimize_dot_operands(module)
        verify(module)
        ours = triton_oracle.run_passes(print_op(module), SIMPLIFY)
        theirs = triton_oracle.run_passes(text, [["optimize_dot_operands", True], *SIMPLIFY])
        assert lines(ours) == lines(theirs) and ours.count("ttg.memdesc_trans") == len(transposed)
        module = parse_module(theirs)
        fence_insertion(module)
        ours = triton_oracle.run_passes(print_op(module), SIMPLIFY)
        assert lines(ours) == lines(triton_oracle.run_passes(theirs, [["fence_insertion", 90], *SIMPLIFY]))


@pytest.mark.parametrize("precision", ["tf32", "tf32x3", "bf16x3", "bf16x6", ""])
def test_f32_dot_decomposition(precision: str, triton_oracle: TritonOracle) -> None:
    text = triton_oracle.run_passes(product("f32", precision=precision), [["convert_to_ttgpuir", "cuda:80", 4, 32, 1]])
    for emulated in (False, True):
        module = parse_module(text)
        f32_dot_tc(module, DotOptions(emulated))
        verify(module)
        ours = triton_oracle.run_passes(print_op(module), SIMPLIFY)
        assert lines(ours) == lines(triton_oracle.run_passes(text, [["f32_dot_tc", emulated], *SIMPLIFY]))


MMA = NvidiaMma(2, (2, 2), (16, 8))


def test_swizzles() -> None:
    """Rows that `ldmatrix` reads at once are in different banks: 8 phases of 16 bytes, or as many as fill all banks."""
    half = DotOperand(0, MMA, 2)
    assert swizzled_for(half, (64, 64), (1, 0), 16) is SwizzledShared(8, 1, 8, (1, 0))
    assert swizzled_for(half, (64, 32), (1, 0), 16) is SwizzledShared(8, 2, 4, (1, 0))
    assert swizzled_for(half, (64, 16), (1, 0), 16) is SwizzledShared(8, 4, 2, (1, 0))
    assert swizzled_for(half, (64, 64), (1, 0), 16, transposed=True) is SwizzledShared(8, 1, 8, (1, 0))
    assert swizzled_for(DotOperand(1, MMA, 4), (64, 64), (0, 1), 8) is SwizzledShared(16, 2, 4, (0, 1))
    blocked = Blocked((1, 4), (8, 4), (4, 1), (1, 0))
    assert swizzled_for(DotOperand(0, blocked), (64, 64), (1, 0), 16) is SwizzledShared(1, 1, 1, (1, 0))


def test_order_in_memory() -> None:
    assert memory_order(Blocked((1, 4), (8, 4), (4, 1), (1, 0)), (64, 64)) == (1, 0)
    assert memory_order(Blocked((4, 1), (8, 4), (1, 4), (0, 1)), (64, 64)) == (0, 1)
    # elements are contiguous along columns, but a thread has no two in a row, and lanes go along
    assert memory_order(Blocked((4, 1), (1, 32), (1, 4), (1, 0)), (4, 128)) == (1, 0)


def test_blocks_of_a_cluster() -> None:
    layout = Blocked((1, 1), (1, 32), (4, 1), (1, 0), ((1, 0), (0, 1)))
    assert cluster_bases(layout, (64, 64)) == ((1, 0), (0, 1))
    mma = NvidiaMma(2, (2, 2), (16, 8), 0, ((1, 0), (0, 1)))
    assert cluster_bases(DotOperand(0, mma, 2), (64, 64)) == ((1, 0), (0, 0))


SHOWN = Path(__file__).parents[2] / "filetests" / "shown" / "prefetch.mlir"


@pytest.mark.parametrize("k", [16, 32, 64])
def test_prefetched_loops(k: int, triton_oracle: TritonOracle) -> None:
    text = SHOWN.read_text().partition("// OUTPUT")[0]
    for rest in ("x!tt.ptr<f16>", "xf16"):
        text = text.replace(f"64x32{rest}", f"64x{k}{rest}").replace(f"32x64{rest}", f"{k}x64{rest}")
    module = parse_module(text)
    assert prefetch(module)
    verify(module)
    ours = triton_oracle.run_passes(print_op(module), SIMPLIFY)
    assert lines(ours) == lines(triton_oracle.run_passes(text, ["prefetch", *SIMPLIFY]))
