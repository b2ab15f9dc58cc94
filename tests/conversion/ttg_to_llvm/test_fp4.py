"""All numbers of four bits, both halves of all bytes, as f16 and bf16."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.harness import from_ttgir

E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def kernel(element: str, axis: int) -> str:
    source = "1x256" if axis == 1 else "256x1"
    target = "1x512" if axis == 1 else "512x1"
    per_thread = ("[1, 1]", "[1, 2]") if axis == 1 else ("[1, 1]", "[2, 1]")
    spread = (
        "[1, 32], warpsPerCTA = [1, 4], order = [1, 0]"
        if axis == 1
        else "[32, 1], warpsPerCTA = [4, 1], order = [0, 1]"
    )
    dim = 1 - axis
    return f"""
#b = #ttg.blocked<{{sizePerThread = {per_thread[0]}, threadsPerWarp = {spread}}}>
#p = #ttg.blocked<{{sizePerThread = {per_thread[1]}, threadsPerWarp = {spread}}}>
#rb = #ttg.slice<{{dim = {dim}, parent = #b}}>
#rp = #ttg.slice<{{dim = {dim}, parent = #p}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @k(%x: !tt.ptr<i8>, %y: !tt.ptr<{element}>) attributes {{noinline = false}} {{
    %i = tt.make_range {{start = 0 : i32, end = 256 : i32}} : tensor<256xi32, #rb>
    %j = tt.expand_dims %i {{axis = {dim} : i32}} : tensor<256xi32, #rb> -> tensor<{source}xi32, #b>
    %xs = tt.splat %x : !tt.ptr<i8> -> tensor<{source}x!tt.ptr<i8>, #b>
    %at = tt.addptr %xs, %j : tensor<{source}x!tt.ptr<i8>, #b>, tensor<{source}xi32, #b>
    %v = tt.load %at : tensor<{source}x!tt.ptr<i8>, #b>
    %w = ttg.fp4_to_fp %v {{axis = {axis} : i32}} : tensor<{source}xi8, #b> -> tensor<{target}x{element}, #p>
    %k = tt.make_range {{start = 0 : i32, end = 512 : i32}} : tensor<512xi32, #rp>
    %l = tt.expand_dims %k {{axis = {dim} : i32}} : tensor<512xi32, #rp> -> tensor<{target}xi32, #p>
    %ys = tt.splat %y : !tt.ptr<{element}> -> tensor<{target}x!tt.ptr<{element}>, #p>
    %to = tt.addptr %ys, %l : tensor<{target}x!tt.ptr<{element}>, #p>, tensor<{target}xi32, #p>
    tt.store %to, %w : tensor<{target}x!tt.ptr<{element}>, #p>
    tt.return
  }}
}}
"""


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_all_bytes(element: str, axis: int) -> None:
    x, y = np.arange(256, dtype=np.uint8), np.zeros(512, np.uint16)
    from_ttgir(kernel(element, axis)).launch(1, x, y)
    nibbles = np.stack([x & 15, x >> 4], 1).reshape(-1)
    wanted = np.array([(-1 if n & 8 else 1) * E2M1[n & 7] for n in nibbles], np.float32)
    if element == "bf16":
        found = (y.astype(np.uint32) << 16).view(np.float32)
    else:
        found = y.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), nibbles >> 3 == 1)
