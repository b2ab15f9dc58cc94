"""amd-block-pingpong: the clusters of the pass of Triton, and what it leaves alone."""

from __future__ import annotations

import pytest

import tritium.dialects.all
import tritium.transforms  # noqa: F401  (its passes are known from here on)
from tests.triton_oracle import TritonOracle
from tritium.ir import PassManager, parse_module, print_op, verify

LAYOUTS = """
#a = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
#b = #ttg.blocked<{{sizePerThread = [8, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, {warps}], order = [0, 1]}}>
#mma = #ttg.amd_mfma<{{version = 3, warpsPerCTA = [2, {half}], instrShape = [{side}, {side}, {depth}], isTransposed = true}}>
#sa = #ttg.swizzled_shared<{{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}}>
#sb = #ttg.swizzled_shared<{{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}}>
#smem = #ttg.shared_memory
#x = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = {width}}}>
#y = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = {width}}}>
"""
MODULE = """
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @f(%pa: {PA}, %pb: {PB}, %n: i32, %m: tensor<{M}x{K}xi1, #a>, %out: tensor<{M}x{N}x!tt.ptr<f32>, #mma>) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : {C}
    %step = arith.constant dense<64> : tensor<{M}x{K}xi32, #a>
    %as = ttg.local_alloc : () -> !ttg.memdesc<1x{M}x{K}xf16, #sa, #smem, mutable>
    %bs = ttg.local_alloc : () -> !ttg.memdesc<1x{K}x{N}xf16, #sb, #smem, mutable>
    %a0 = ttg.memdesc_index %as[%c0] : !ttg.memdesc<1x{M}x{K}xf16, #sa, #smem, mutable> -> {SA}
    %b0 = ttg.memdesc_index %bs[%c0] : !ttg.memdesc<1x{K}x{N}xf16, #sb, #smem, mutable> -> {SB}
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %pa, %a1 = %a0, %b1 = %b0) -> ({C}, {PA}, {SA}, {SB}) : i32 {{
      %q = tt.addptr %p, %step : {PA}, tensor<{M}x{K}xi32, #a>
      {loads}
      {others}
      %a2 = ttg.memdesc_index %as[%c0] : !ttg.memdesc<1x{M}x{K}xf16, #sa, #smem, mutable> -> {SA}
      ttg.local_store %x, %a2 : tensor<{M}x{K}xf16, #a> -> {SA}
      %b2 = ttg.memdesc_index %bs[%c0] : !ttg.memdesc<1x{K}x{N}xf16, #sb, #smem, mutable> -> {SB}
      ttg.local_store %y, %b2 : tensor<{K}x{N}xf16, #b> -> {SB}
      scf.yield %d, %q, %a2, %b2 : {C}, {PA}, {SA}, {SB}
    }}
    tt.return
  }}
}}"""
X, Y = "%x = tt.load %q{mask} : {PA}", "%y = tt.load %pb : {PB}"
A = "%a = ttg.local_load %a1 : {SA} -> tensor<{M}x{K}xf16, #x>"
B = "%b = ttg.local_load %b1 : {SB} -> tensor<{K}x{N}xf16, #y>"
D = "%d = tt.dot %a, %b, %acc : tensor<{M}x{K}xf16, #x> * tensor<{K}x{N}xf16, #y> -> {C}"
ORDERS = {
    "loads first": (X, Y, A, B, D),
    "LDS first": (A, B, X, Y, D),
    "in turns": (A, X, B, Y, D),
    "dot first": (A, B, D, X, Y),
}


def program(
    m: int,
    n: int,
    k: int,
    warps: int,
    side: int = 32,
    width: int = 4,
    order: str = "loads first",
    mask: str = "",
    others: str = "",
) -> str:
    """A pipelined loop with one dot."""
    types = {
        "PA": f"tensor<{m}x{k}x!tt.ptr<f16>, #a>",
        "PB": f"tensor<{k}x{n}x!tt.ptr<f16>, #b>",
        "SA": f"!ttg.memdesc<{m}x{k}xf16, #sa, #smem, mutable>",
        "SB": f"!ttg.memdesc<{k}x{n}xf16, #sb, #smem, mutable>",
        "C": f"tensor<{m}x{n}xf32, #mma>",
        "M": m,
        "N": n,
        "K": k,
    }
    lines = "\n      ".join(ORDERS[order]).format(mask=mask, **types)
    layouts = LAYOUTS.format(warps=warps, half=warps // 2, side=side, depth=256 // side, width=width)
    return layouts + MODULE.format(warps=warps, loads=lines, others=others.format(**types), **types)


def divided(text: str, num_stages: int = 2) -> str:
    """The text after the pass."""
    module = parse_module(text)
    PassManager(f"amd-block-pingpong{{num-stages={num_stages}}}").run(module)
    verify(module)
    return print_op(module)


#: M, N, K, warps, rows of an instruction, values of an operand in a row -> clusters of matrix instructions
SHAPES = [
    (128, 128, 64, 4, 32, 4, 1),
    (64, 32, 32, 4, 16, 4, 1),
    (256, 128, 64, 4, 32, 4, 0),
    (256, 128, 64, 8, 32, 4, 2),
    (256, 128, 64, 8, 16, 8, 2),
    (256, 256, 64, 8, 32, 8, 4),
    (256, 256, 64, 8, 16, 8, 0),
    (128, 128, 64, 8, 32, 4, 0),
    (256, 256, 32, 8, 16, 4, 2),
]


@pytest.mark.parametrize(("m", "n", "k", "warps", "side", "width", "clusters"), SHAPES)
def test_loop_has_the_clusters_of_its_shape(
    m: int, n: int, k: int, warps: int, side: int, width: int, clusters: int
) -> None:
    text = divided(program(m, n, k, warps, side, width))
    assert text.count("tt.dot") == max(1, clusters)
    assert text.count("amdg.cond_barrier") == (2 if clusters > 1 else 0)
    assert ("rocdl.s.setprio" in text) == (clusters > 0)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("m", "n", "k", "warps", "side", "width", "clusters"), SHAPES)
def test_clusters_are_those_of_the_pass_of_triton(
    m: int, n: int, k: int, warps: int, side: int, width: int, clusters: int, order: str, triton_oracle: TritonOracle
) -> None:
    text = program(m, n, k, warps, side, width, order)
    for stages in (2, 3):
        theirs = triton_oracle.run_passes(text, [["amd.block_pingpong", stages]])
        assert triton_oracle.read(divided(text, stages)) == theirs


STORE = "tt.store %out, %d : tensor<{M}x{N}x!tt.ptr<f32>, #mma>"


def test_mask_that_varies_in_the_loop_is_left() -> None:
    text = program(128, 128, 64, 4, mask=", %v").replace(
        "%q = tt.addptr",
        "%s = tt.splat %i : i32 -> tensor<128x64xi32, #a>\n      %v = arith.cmpi slt, %s, %step : tensor<128x64xi32, #a>\n      %q = tt.addptr",
    )
    assert "setprio" not in divided(text)
    assert "setprio" in divided(program(128, 128, 64, 4, mask=", %m"))


def test_other_use_of_lds_keeps_halves_of_the_warps_together() -> None:
    """Half of the warps would read before the others, one barrier behind, have written."""
    convert = "%z = ttg.convert_layout %d : {C} -> tensor<{M}x{N}xf32, #a>"
    assert "setprio" not in divided(program(256, 128, 64, 8, others=convert))
    assert "setprio" in divided(program(128, 128, 64, 4, others=convert))


def test_store_before_the_dot_is_left() -> None:
    text = program(128, 128, 64, 4)
    store = "tt.store %out, %acc : tensor<128x128x!tt.ptr<f32>, #mma>\n      %q = tt.addptr"
    assert "setprio" not in divided(text.replace("%q = tt.addptr", store))
    assert "setprio" in divided(program(128, 128, 64, 4, others=STORE))
    assert "setprio" not in divided(text, num_stages=1)


def test_operand_computed_between_the_loads_and_the_dot_keeps_it_whole() -> None:
    """The parts of the dot would precede what they need."""
    for shape, kept in (((256, 128, 64, 8), True), ((128, 128, 64, 4), False)):
        text = program(*shape).replace(", %acc : ", ", %scaled : ")
        scaled = "%scaled = arith.mulf %acc, %acc : tensor<{}x{}xf32, #mma>\n      %d = tt.dot".format(*shape)
        assert ("setprio" in divided(text.replace("%d = tt.dot", scaled))) is not kept
