"""Whole kernels through all passes of the `ttgir` stage write the same to memory as their `ttir`.

The texts are Triton's compiles of our examples. Floats are compared with a tolerance: threads reduce their own elements
first, which changes the order of additions.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium.dialects.all  # noqa: F401
from tests.filetests.runner import passes
from tests.interpreter.programs import random_program
from tests.transforms.test_passes_random import SEED
from tests.transforms.test_passes_random import outcome as written
from tritium.dialects.ttg_maps import linear_layout
from tritium.hardware.nvidia import nvidia_gpu
from tritium.interpreter.evaluator import run
from tritium.ir import Operation, Pass, parse_module, run_pipeline, verify
from tritium.transforms.ttgir.pipelines import nvidia_ttgir_pipeline

FOLDER = Path(__file__).parents[2] / "corpus" / "triton-3.9"


def floats(*shape: int, dtype: Any = np.float32, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def halves(*shape: int, seed: int = 1) -> np.ndarray:
    return floats(*shape, dtype=np.float16, seed=seed)


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


N, ROWS = 800, 6

#: kernel -> the grid of a launch and its arguments; their final contents are compared
LAUNCHES: dict[str, Callable[[], tuple[Any, list[Any]]]] = {
    "vector_add.add_kernel": lambda: (2, [floats(1500), floats(1500, seed=2), zeros(1500), 1500]),
    "fused_softmax.softmax_kernel": lambda: (3, [zeros(ROWS, 512), floats(ROWS, 512), 512, 512, ROWS, 300]),
    "layer_norm.layer_norm_fwd_fused.forward": lambda: (
        ROWS,
        [halves(ROWS, N), zeros(ROWS, N, dtype=np.float16), halves(N), halves(N), zeros(ROWS), zeros(ROWS), N, N, 1e-5],
    ),
    "layer_norm.layer_norm_bwd_dwdb.backward_dwdb": lambda: (
        3,
        [halves(48, 256), halves(48, 256, seed=2), *(zeros(256, dtype=np.float16) for _ in range(2)), 48, 256],
    ),
    "low_memory_dropout.seeded_dropout.seed": lambda: (2, [floats(1500), zeros(1500), 1500, 0.4, 7]),
    "matmul.matmul_kernel.fp16-leaky_relu": lambda: (
        2,
        [halves(128, 96), halves(96, 128, seed=2), zeros(128, 128, dtype=np.float16), 128, 128, 96, 96, 128, 128],
    ),
    "attention.attention_forward.forward-causal": lambda: (
        (1, 1),
        [
            *(halves(2, 128, 64, seed=s) for s in (1, 2, 3)),
            zeros(2, 128, 64, dtype=np.float16),
            zeros(2, 128),
            128,
            0.2,
        ],
    ),
}


def outcome(module: Any, name: str) -> list[np.ndarray]:
    grid, args = LAUNCHES[name]()
    with np.errstate(all="ignore"):
        run(module, grid, args)
    return [a for a in args if isinstance(a, np.ndarray)]


def pipeline(capability: int, ctas: int = 1, warps: int = 4) -> list[Pass]:
    fn: Any = passes()["convert-triton-to-tritongpu"]
    options = fn.options_type(target=f"cuda:{capability}", num_ctas=ctas, num_warps=warps)
    pointers = Pass("rewrite-tensor-descriptor-to-pointer", passes()["rewrite-tensor-descriptor-to-pointer"], "")
    return [
        pointers,
        Pass("convert-triton-to-tritongpu", fn, "", options),
        *nvidia_ttgir_pipeline(nvidia_gpu(capability)),
    ]


@pytest.mark.parametrize(("capability", "ctas"), [(75, 1), (80, 1), (90, 1), (90, 2)])
@pytest.mark.parametrize("name", LAUNCHES)
def test_ttgir_kernels_match_ttir(name: str, capability: int, ctas: int) -> None:
    module = parse_module((FOLDER / f"{name}.sm90.ttir.mlir").read_text())
    verify(module)
    before = outcome(module, name)
    run_pipeline(module, pipeline(capability, ctas), verifier=verify)
    assert any("#ttg" in str(v.type) for op in module.walk() for v in op.results)
    for a, b in zip(before, outcome(module, name)):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=2e-3, atol=2e-3)


def test_kernels_have_side_effects() -> None:
    for name in LAUNCHES:
        module = parse_module((FOLDER / f"{name}.sm90.ttir.mlir").read_text())
        fresh = [a for a in LAUNCHES[name]()[1] if isinstance(a, np.ndarray)]
        assert any(not np.array_equal(a, b) for a, b in zip(fresh, outcome(module, name))), name


@pytest.mark.parametrize("seed", range(SEED + 6000, SEED + 6030))
def test_random_programs_match_ttir(seed: int) -> None:
    """With one CTA or a cluster; with so few threads that accesses are expensive."""
    for ctas in (1, 2):
        module = random_program(seed)
        before = written(module, seed)
        run_pipeline(module, pipeline(90, ctas, warps=1), verifier=verify)
        for a, b in zip(before, written(module, seed)):
            np.testing.assert_array_equal(a, b, err_msg=f"seed {seed}, {ctas} blocks\n{module}")


def axes_whole(module: Any) -> list[Operation]:
    """The operations along an axis that is split over the CTAs of a cluster."""
    found = []
    for op in module.walk():
        if op.name in ("tt.reduce", "tt.scan") and op.operands[0].type.encoding is not None:
            ty = op.operands[0].type
            blocks = linear_layout(ty.encoding, ty.shape).bases["block"]
            if any(v[op.axis] for v in blocks):
                found.append(op)
    return found


@pytest.mark.parametrize("ctas", [2, 4])
def test_no_reduced_axis_is_split_over_ctas(ctas: int) -> None:
    """Lowering requires that."""
    divided = 0
    for name in LAUNCHES:
        module = parse_module((FOLDER / f"{name}.sm90.ttir.mlir").read_text())
        run_pipeline(module, pipeline(90, ctas)[:2], verifier=verify)
        divided += len(axes_whole(module))
        run_pipeline(module, nvidia_ttgir_pipeline(nvidia_gpu(90)), verifier=verify)
        assert not axes_whole(module), f"{name}\n{module}"
    assert divided
