"""Loops whose loads have a warp of their own, from the pass to the emulator, against NumPy."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.harness import Gpu, from_ttgir
from tests.emulator.test_tensor_copies import aligned, map_of
from tritium.emulator import EmulationError, Memory
from tritium.hardware.nvidia import nvidia_gpu
from tritium.ir import parse_module, print_op, verify
from tritium.transforms.ttgir.pipelines import nvidia_ttgir_pipeline

TILE = "!tt.tensordesc<64x64xf16, #shared>"
BLOCK = "tensor<64x64xf16, #blocked>"
BUFFER = "!ttg.memdesc<64x64xf16, #shared, #smem>"
SUM = "tensor<64x64xf32, #mma>"
HEAD = """
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: DESC, %b: DESC, %o: !tt.ptr<f32>, %n: i32, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : SUM
    %row = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
    %row2 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
    %column = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #mma}>>
    %column2 = tt.expand_dims %column {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x64xi32, #mma>
    %width = arith.constant dense<64> : tensor<64x1xi32, #mma>
    %start = arith.muli %row2, %width : tensor<64x1xi32, #mma>
    %x = tt.broadcast %start : tensor<64x1xi32, #mma> -> tensor<64x64xi32, #mma>
    %y = tt.broadcast %column2 : tensor<1x64xi32, #mma> -> tensor<64x64xi32, #mma>
    %at = arith.addi %x, %y : tensor<64x64xi32, #mma>
BODY
    tt.return
  }
}
"""
STORE = """
    %base = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    %p = tt.addptr %base, %at : tensor<64x64x!tt.ptr<f32>, #mma>, tensor<64x64xi32, #mma>
    tt.store %p, %d : tensor<64x64x!tt.ptr<f32>, #mma>
"""
DOT = f"{{inputPrecision = 0 : i32}} : {BUFFER} * {BUFFER} -> {SUM}"


def load(name: str, desc: str, i: str, j: str) -> str:
    """`%<name>t` the block at (i, j), `%<name>` its buffer."""
    return (
        f"%{name}t = tt.descriptor_load {desc}[{i}, {j}] : {TILE} -> {BLOCK}\n"
        f"%{name} = ttg.local_alloc %{name}t : ({BLOCK}) -> {BUFFER}\n"
    )


def text_of(body: str) -> str:
    words = {"DESC": TILE, "SUM": SUM, "BLOCK": BLOCK, "BUFFER": BUFFER}
    return re.sub("|".join(words), lambda m: words[m[0]], HEAD.replace("BODY", body))


def specialized(body: str, num_stages: int = 3, change=lambda text: text) -> Gpu:
    """The function with this body, taken through the pass and those behind it; `change` edits what the pass made."""
    module = parse_module(text_of(body))
    verify(module)
    rows = nvidia_ttgir_pipeline(nvidia_gpu(90), num_stages)
    names = [row.name for row in rows]
    first = names.index("nvgpu-warp-specialization")
    for row in rows[first:]:
        if row.when is None or row.when(module):
            row.run(module)
            verify(module)
            if row.name == names[first]:
                text = print_op(module)
                assert "ttg.warp_specialize(" in text
                module = parse_module(change(text))
    return from_ttgir(print_op(module), 90, num_warps=4)


def run(gpu: Gpu, trips: int, tiles: int = 1, shape=(64, 64), seed: int = 0):
    """Operands of `trips` tiles beside each other in a row (a) and below each other (b), and what the kernel stored."""
    rng = np.random.default_rng(seed)
    a = aligned(rng.integers(-3, 4, (64 * tiles, 64 * max(trips, 1))).astype(np.float16), 128)
    b = aligned(rng.integers(-3, 4, (64 * max(trips, 1), 64)).astype(np.float16), 128)
    out = np.full((64 * tiles, 64), 99, np.float32)
    maps = [bytes(map_of(x, shape, swizzle=3)) for x in (a, b)]
    memory = Memory()
    for array in (a, b):
        memory.place(array)
    gpu.launch(1, *maps, out, trips, tiles, check_uninitialized=True, memory=memory)
    return a[:, : 64 * trips].astype(np.float32), b[: 64 * trips].astype(np.float32), out


LOOP = f"""
    %d = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (SUM) : i32 {{
      %kk = arith.muli %k, %c64 : i32
      {load("u", "%a", "%c0", "%kk")}
      {load("v", "%b", "%kk", "%c0")}
      %r = ttng.warp_group_dot %u, %v, %s {DOT}
      scf.yield %r : SUM
    }} {{tt.warp_specialize}}
"""


@pytest.mark.parametrize("num_stages", [2, 3, 4])
def test_products_of_any_number_of_tiles(num_stages):
    gpu = specialized(LOOP + STORE, num_stages)
    for trips in range(8):
        a, b, out = run(gpu, trips)
        assert np.array_equal(out, a @ b), trips


def test_a_nest_of_loops_goes_on_in_the_ring():
    """The producer is ahead across tiles; slots go on counting from one tile to the next."""
    inner = LOOP.replace("%c0, %kk]", "%row_of, %kk]").replace(" {tt.warp_specialize}", "")
    body = f"""
    scf.for %tile = %c0 to %tiles step %c1 : i32 {{
      %row_of = arith.muli %tile, %c64 : i32
      {inner}
      %many = arith.muli %tile, %c4096 : i32
      %to = tt.addptr %o, %many : !tt.ptr<f32>, i32
      {STORE.replace("splat %o", "splat %to")}
    }} {{tt.warp_specialize}}
    """
    gpu = specialized("%c4096 = arith.constant 4096 : i32\n" + body, 2)
    for trips, tiles in [(0, 2), (1, 3), (3, 2), (2, 1)]:
        a, b, out = run(gpu, trips, tiles)
        assert np.array_equal(out, a @ b), (trips, tiles)


def test_loads_in_a_branch():
    """What one branch loads has a ring of its own, whose slots count only where the branch is taken."""
    body = f"""
    %d = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (SUM) : i32 {{
      %kk = arith.muli %k, %c64 : i32
      %half = arith.remsi %k, %c2 : i32
      %odd = arith.cmpi eq, %half, %c1 : i32
      %r = scf.if %odd -> (SUM) {{
        {load("u", "%a", "%c0", "%kk")}
        {load("v", "%b", "%kk", "%c0")}
        %q = ttng.warp_group_dot %u, %v, %s {DOT}
        scf.yield %q : SUM
      }} else {{
        scf.yield %s : SUM
      }}
      scf.yield %r : SUM
    }} {{tt.warp_specialize}}
    """
    gpu = specialized(body + STORE, 2)
    for trips in range(6):
        a, b, out = run(gpu, trips)
        odd = [k for k in range(trips) if k % 2]
        want = sum((a[:, 64 * k : 64 * k + 64] @ b[64 * k : 64 * k + 64] for k in odd), np.zeros((64, 64)))
        assert np.array_equal(out, want), trips


def test_a_tile_for_two_products_and_for_registers():
    """Two sums, products of which share an operand; one tile is used as numbers, too."""
    body = f"""
    %e:3 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero, %t = %zero, %m = %more) -> (SUM, SUM, {BLOCK}) : i32 {{
      %kk = arith.muli %k, %c64 : i32
      {load("u", "%a", "%c0", "%kk")}
      {load("v", "%b", "%kk", "%c0")}
      {load("w", "%a", "%c0", "%kk")}
      %r = ttng.warp_group_dot %u, %v, %s {DOT}
      %q = ttng.warp_group_dot %u, %w, %t {DOT}
      %l = arith.addf %m, %vt : {BLOCK}
      scf.yield %r, %q, %l : SUM, SUM, {BLOCK}
    }} {{tt.warp_specialize}}
    %l2 = ttg.convert_layout %e#2 : {BLOCK} -> tensor<64x64xf16, #mma>
    %l3 = arith.extf %l2 : tensor<64x64xf16, #mma> to SUM
    %d1 = arith.addf %e#0, %e#1 : SUM
    %d = arith.addf %d1, %l3 : SUM
    """
    gpu = specialized(f"%more = arith.constant dense<0.0> : {BLOCK}\n" + body + STORE, 2)
    for trips in (0, 1, 2, 5):
        a, b, out = run(gpu, trips)
        tiles = [slice(64 * k, 64 * k + 64) for k in range(trips)]
        want = a @ b + sum((a[:, t] @ a[:, t] + b[t] for t in tiles), np.zeros((64, 64)))
        assert np.array_equal(out, want), trips


WAITS = {
    "nobody waits for a copy": (r"ttng\.wait_barrier %\w+, %arg\w+ .*", "", 2),
    "nobody waits for a slot": (r"ttng\.wait_barrier %\w+, %\d+ .*", "", 5),
    "a slot is free too early": (r"pendings = 1", "pendings = 2", 5),
    "no slot is free": (r"ttng\.arrive_barrier .*", "", 5),
    "bytes are not counted": (r"(ttng\.barrier_expect %\w+, )16384", r"\g<1>8192", 5),
}


@pytest.mark.parametrize("what", WAITS)
def test_what_is_left_out_is_found(what):
    pattern, instead, trips = WAITS[what]

    def change(text):
        changed, count = re.subn(pattern, instead, text)
        assert count
        return changed

    gpu = specialized(LOOP + STORE, 2, change)
    with pytest.raises(EmulationError):
        a, b, out = run(gpu, trips)
        if not np.array_equal(out, a @ b):
            raise EmulationError("wrong numbers")
