"""Triton's pipelines for Hopper, emulated: right as they are, and an error without any one of their waits and fences."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.emulator.test_tensor_copies import aligned
from tests.emulator.test_triton import KERNELS
from tritium.emulator import EmulationError, Memory, encode_tiled, launch

#: What a pipeline needs each of. (Single barriers of a block are often made up for by others, and stand below.)
NEEDED = re.compile(
    r"\s*(@!?%\w+ )?(cp\.async\.wait_group|cp\.async\.bulk\.wait_group\b(?!\.read)|fence\.proxy\.async|wgmma\.commit_group"
    r"|wgmma\.fence|wgmma\.wait_group|mbarrier\.(init|try_wait|arrive))"
)
_HOST_TYPES = {8: 10, 9: 8, 10: 9}


def map_bytes(array: np.ndarray, meta: dict[str, Any]) -> bytes:
    """The tensor map of a whole array, as a launcher makes it."""
    return encode_tiled(
        _HOST_TYPES.get(meta["elem_type"], meta["elem_type"]),
        array.ctypes.data,
        array.shape[::-1],
        array.strides[::-1][1:],
        meta["block_size"][::-1],
        (1,) * array.ndim,
        0,
        meta["swizzle"],
        2,
        0,
    )


Run = Callable[[str], None]


def described(oracle: Any, name: str, types: dict[str, str], constants: dict[str, int], **options: Any) -> Any:
    """A compiled kernel, and a function that makes its arguments and the memory they point to."""
    divisible = {k: 16 for k, ty in types.items() if ty[0] == "*" or ty == "i32"}
    ptx = oracle.compile_kernel(KERNELS, name, types, constants, "cuda:90", divisible, **options)["ptx"]
    shared, maps = oracle.resources["shared"], list(oracle.resources["maps"])

    def run(text: str, values: list[Any]) -> None:
        memory, rows, arguments = Memory(), iter(maps), []
        for number, (value, ty) in enumerate(zip(values, types.values())):
            if isinstance(value, np.ndarray):
                memory.place(value, f"argument {number}")
            if ty.startswith("tensordesc"):
                arguments += [map_bytes(value, next(rows)), *value.shape, *(s // value.itemsize for s in value.strides)]
            else:
                arguments.append(value)
        launch(text, 1, arguments, shared_bytes=shared, memory=memory, max_steps=20000)

    return ptx, run


def product(oracle: Any) -> tuple[str, Run]:
    types = dict.fromkeys(("a_desc", "b_desc"), "tensordesc<fp16[64,32]>")
    types |= {"c_desc": "tensordesc<fp32[64,64]>", "K": "i32"}
    ptx, run = described(oracle, "described_matmul", types, {"M": 64, "N": 64, "BLOCK": 32}, num_stages=3)
    rng = np.random.default_rng(1)
    a, b = (aligned(rng.integers(-4, 5, (64, 256)).astype(np.float16)) for _ in "ab")

    def check(text: str) -> None:
        c = aligned(np.zeros((64, 64), np.float32))
        run(text, [a, b, c, 256])
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))

    return ptx, check


def plain_product(oracle: Any) -> tuple[str, Run]:
    types = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32", "K": "i32"}
    ptx, run = described(oracle, "matmul", types, {"M": 64, "N": 64, "BLOCK": 32}, num_stages=3)
    rng = np.random.default_rng(2)
    a, b = rng.integers(-4, 5, (64, 256)).astype(np.float16), rng.integers(-4, 5, (256, 64)).astype(np.float16)

    def check(text: str) -> None:
        c = np.zeros((64, 64), np.float32)
        run(text, [aligned(a), aligned(b), c, 256])
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))

    return ptx, check


def attention(oracle: Any) -> tuple[str, Run]:
    types = dict.fromkeys(("q_desc", "k_desc", "v_desc"), "tensordesc<fp16[64,64]>")
    types |= {"out_ptr": "*fp32", "COUNT": "i32"}
    ptx, run = described(oracle, "attend", types, {"M": 64, "N": 64, "D": 64}, num_stages=3)
    rng = np.random.default_rng(3)
    q, k, v = (aligned(rng.standard_normal((n, 64)).astype(np.float16)) for n in (64, 384, 384))
    scores = q.astype(float) @ k.T.astype(float)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights @ v / weights.sum(axis=1, keepdims=True)

    def check(text: str) -> None:
        out = aligned(np.zeros((64, 64), np.float32))
        run(text, [q, k, v, out, 384])
        np.testing.assert_allclose(out, expected, atol=5e-3)

    return ptx, check


@pytest.mark.parametrize("kernel", [product, plain_product, attention])
def test_pipelines(triton_oracle: Any, kernel: Any) -> None:
    ptx, check = kernel(triton_oracle)
    assert "wgmma.mma_async" in ptx
    check(ptx)
    lines = ptx.split("\n")
    silent = []
    for n, line in enumerate(lines):
        if not NEEDED.match(line):
            continue
        changed = list(lines)
        changed[n] = ""
        if "try_wait" in line:
            assert "bra" in changed[n + 1]
            changed[n + 1] = ""
        try:
            check("\n".join(changed))
            silent.append(f"{n + 1}: {line.strip()}")
        except EmulationError:
            continue
    # The last wait of a pipeline may find nothing to wait for.
    assert len(silent) <= 1 and all("wait_group" in line for line in silent), silent
    with pytest.raises(EmulationError):
        check(re.sub(r"\n\s*bar\.sync\s+0;", "\n", ptx))
