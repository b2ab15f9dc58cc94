"""Buffers in shared memory, of every layout, stored from and loaded to every layout of registers; and views of them."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from tests.conversion.ttg_to_llvm.harness import Gpu
from tests.conversion.ttg_to_llvm.moving import check, compiled
from tests.layout.pairs import Machine, Pair, random_pair, random_shared
from tritium.dialects.ttg_layouts import Blocked, DotOperand, NvidiaMma
from tritium.dialects.ttg_memory import NvmmaShared, SwizzledShared


def through(pair: Pair, shared: Any, body: str, capability: int = 90) -> Gpu:
    """`body` makes %z of %x with T for the shape and element type, M for a buffer of both with the layout #c."""
    element = f"i{pair.machine.bits}"
    dims = "x".join(map(str, pair.shape))
    body = body.replace("T<", f"tensor<{dims}x{element}, ").replace("M<", f"!ttg.memdesc<{dims}x{element}, ")
    return compiled(
        pair.shape, [pair.source, pair.target, shared], body.replace("E", element), pair.machine, capability
    )


STORE_AND_LOAD = """
    %m = ttg.local_alloc %x : (T<#a>) -> M<#c, #smem>
    %z = ttg.local_load %m : M<#c, #smem> -> T<#b>
"""
ROWS = Blocked((1, 8), (8, 4), (2, 1), (1, 0))
MMA = NvidiaMma(versionMajor=2, warpsPerCTA=(2, 1), CGALayout=(), instrShape=(16, 8))


def test_generated_buffers(request: pytest.FixtureRequest) -> None:
    for seed in range(1000 if request.config.getoption("--slow") else 24):
        rng = random.Random(seed)
        pair = random_pair(rng, 1 << 8)
        shared = random_shared(rng, pair)
        try:
            check(through(pair, shared, STORE_AND_LOAD, rng.choice([80, 90])), pair.shape, pair.machine)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {pair} {shared}") from error


@pytest.mark.parametrize("operand,trans", [(0, ""), (1, r"\.trans")])
def test_operands_by_ldmatrix(operand: int, trans: str) -> None:
    """Rows of 64 bytes, swizzled as Triton does for operands."""
    pair = Pair((32, 32), ROWS, DotOperand(operand, MMA, 2), Machine(2, 1, 16))
    gpu = through(pair, SwizzledShared(8, 2, 4, (1, 0)), STORE_AND_LOAD)
    assert gpu.count(r"ldmatrix\.sync\.aligned\.m8n8\.x4" + trans + r"\.shared") == (2, 4)[operand]
    assert gpu.count(r"st\.shared\.v4") == 2 and gpu.count(r"ld\.shared") == 0
    check(gpu, pair.shape, pair.machine)


def test_operands_from_transposed_rows() -> None:
    """What decides is where elements lie: columns of one layout are rows of another."""
    pair = Pair((32, 32), Blocked((8, 1), (4, 8), (1, 2), (0, 1)), DotOperand(0, MMA, 2), Machine(2, 1, 16))
    gpu = through(pair, SwizzledShared(8, 2, 4, (0, 1)), STORE_AND_LOAD)
    assert gpu.count(r"ldmatrix\.sync\.aligned\.m8n8\.x4\.trans") == 2
    check(gpu, pair.shape, pair.machine)


def test_results_by_stmatrix() -> None:
    pair = Pair((32, 64), MMA, ROWS, Machine(2, 1, 16))
    shared = NvmmaShared(swizzlingByteWidth=128, elementBitWidth=16, rank=2)
    gpu = through(pair, shared, STORE_AND_LOAD)
    assert gpu.count(r"stmatrix\.sync\.aligned\.m8n8\.x4") == 4 and gpu.count(r"st\.shared") == 0
    check(gpu, pair.shape, pair.machine)


@pytest.mark.parametrize("shape,warps", [((16, 64), (2, 1)), ((16, 32), (2, 2))])
def test_results_by_stmatrix_from_the_warps_that_own_them(shape: tuple[int, int], warps: tuple[int, int]) -> None:
    """Warps that hold copies store nothing: the predicate is the same in all lanes of a warp."""
    count = warps[0] * warps[1]
    mma = NvidiaMma(versionMajor=2, warpsPerCTA=warps, CGALayout=(), instrShape=(16, 8))
    pair = Pair(shape, mma, Blocked((1, 8), (8, 4), (count, 1), (1, 0)), Machine(count, 1, 16))
    shared = NvmmaShared(swizzlingByteWidth=64, elementBitWidth=16, rank=2)
    gpu = through(pair, shared, STORE_AND_LOAD)
    matrices = shape[1] // warps[1] // 16
    assert gpu.count(r"stmatrix\.sync\.aligned\.m8n8\.x4") == matrices and gpu.count(r"st\.shared") == 0
    assert len(re.findall(r"@%p\d+ stmatrix", gpu.ptx)) == matrices
    check(gpu, pair.shape, pair.machine)


def test_one_of_several_buffers() -> None:
    pair = Pair((16, 32), Blocked((1, 4), (4, 8), (2, 1), (1, 0)), ROWS, Machine(2, 1, 32))
    body = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %all = ttg.local_alloc : () -> !ttg.memdesc<3x16x32xE, #c, #smem, mutable>
    %m = ttg.memdesc_index %all[%two] : !ttg.memdesc<3x16x32xE, #c, #smem, mutable> -> M<#c, #smem, mutable>
    ttg.local_store %x, %m : T<#a> -> M<#c, #smem, mutable>
    %n = ttg.memdesc_index %all[%one] : !ttg.memdesc<3x16x32xE, #c, #smem, mutable> -> M<#c, #smem, mutable>
    %y = ttg.local_load %m : M<#c, #smem, mutable> -> T<#a>
    ttg.local_store %y, %n : T<#a> -> M<#c, #smem, mutable>
    %z = ttg.local_load %n : M<#c, #smem, mutable> -> T<#b>
    """
    gpu = through(pair, SwizzledShared(4, 1, 8, (1, 0)), body)
    assert gpu.metadata.shared == 3 * 16 * 32 * 4
    check(gpu, pair.shape, pair.machine)


def test_buffers_that_a_loop_swaps() -> None:
    """What is carried round the loop are addresses; five rounds end in the other buffer."""
    pair = Pair((16, 32), Blocked((1, 4), (4, 8), (2, 1), (1, 0)), ROWS, Machine(2, 1, 32))
    body = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %five = arith.constant 5 : i32
    %p = ttg.local_alloc : () -> M<#c, #smem, mutable>
    %q = ttg.local_alloc : () -> M<#c, #smem, mutable>
    ttg.local_store %x, %p : T<#a> -> M<#c, #smem, mutable>
    %r:2 = scf.for %i = %zero to %five step %one iter_args(%s = %p, %t = %q) -> (M<#c, #smem, mutable>, M<#c, #smem, mutable>) : i32 {
      %v = ttg.local_load %s : M<#c, #smem, mutable> -> T<#b>
      ttg.local_store %v, %t : T<#b> -> M<#c, #smem, mutable>
      scf.yield %t, %s : M<#c, #smem, mutable>, M<#c, #smem, mutable>
    }
    %z = ttg.local_load %r#0 : M<#c, #smem, mutable> -> T<#b>
    """
    check(through(pair, SwizzledShared(4, 1, 8, (1, 0)), body), pair.shape, pair.machine)


def test_parts_of_a_buffer() -> None:
    """Two halves stored apart; the whole is loaded."""
    half = Blocked((1, 4), (8, 4), (2, 1), (1, 0))
    pair = Pair((16, 32), half, Blocked((1, 2), (2, 16), (2, 1), (1, 0)), Machine(2, 1, 16))
    body = """
    %s = ttg.local_alloc %x : (T<#a>) -> M<#c, #smem, mutable>
    %left = ttg.memdesc_subslice %s[0, 0] : M<#c, #smem, mutable> -> !ttg.memdesc<16x16xE, #c, #smem, mutable, 16x32>
    %right = ttg.memdesc_subslice %s[0, 16] : M<#c, #smem, mutable> -> !ttg.memdesc<16x16xE, #c, #smem, mutable, 16x32>
    %u = ttg.local_load %left : !ttg.memdesc<16x16xE, #c, #smem, mutable, 16x32> -> tensor<16x16xE, #a>
    %v = ttg.local_load %right : !ttg.memdesc<16x16xE, #c, #smem, mutable, 16x32> -> tensor<16x16xE, #b>
    %m = ttg.local_alloc : () -> M<#c, #smem, mutable>
    %l2 = ttg.memdesc_subslice %m[0, 0] : M<#c, #smem, mutable> -> !ttg.memdesc<16x16xE, #c, #smem, mutable, 16x32>
    %r2 = ttg.memdesc_subslice %m[0, 16] : M<#c, #smem, mutable> -> !ttg.memdesc<16x16xE, #c, #smem, mutable, 16x32>
    ttg.local_store %u, %l2 : tensor<16x16xE, #a> -> !ttg.memdesc<16x16xE, #c, #smem, mutable, 16x32>
    ttg.local_store %v, %r2 : tensor<16x16xE, #b> -> !ttg.memdesc<16x16xE, #c, #smem, mutable, 16x32>
    %z = ttg.local_load %m : M<#c, #smem, mutable> -> T<#b>
    """
    check(through(pair, SwizzledShared(2, 1, 8, (1, 0)), body), pair.shape, pair.machine)


def test_transposed_twice_and_in_other_shapes() -> None:
    pair = Pair((16, 32), Blocked((1, 4), (4, 8), (2, 1), (1, 0)), ROWS, Machine(2, 1, 16))
    body = """
    %s = ttg.local_alloc %x : (T<#a>) -> M<#c, #smem>
    %t = ttg.memdesc_trans %s {order = array<i32: 1, 0>} : M<#c, #smem> -> !ttg.memdesc<32x16xE, #d, #smem>
    %v = ttg.local_load %t : !ttg.memdesc<32x16xE, #d, #smem> -> tensor<32x16xE, #a>
    %w = tt.trans %v {order = array<i32: 1, 0>} : tensor<32x16xE, #a> -> T<#e>
    %z = ttg.convert_layout %w : T<#e> -> T<#b>
    """
    element = "i16"
    body = body.replace("T<", f"tensor<16x32x{element}, ").replace("M<", f"!ttg.memdesc<16x32x{element}, ")
    layouts = [
        pair.source,
        pair.target,
        SwizzledShared(8, 1, 4, (1, 0)),
        SwizzledShared(8, 1, 4, (0, 1)),
        Blocked((4, 1), (8, 4), (1, 2), (0, 1)),
    ]
    gpu = compiled(pair.shape, layouts, body.replace("E", element), pair.machine)
    check(gpu, pair.shape, pair.machine)


COPY = """
    %m = ttg.local_alloc : () -> M<#c, #smem, mutable>
    %one = ttg.async_copy_global_to_local %at_px_a, %m MASK : tensor<DIMSx!tt.ptr<E>, #a> -> <DIMSxE, #c, #smem, mutable>
    %two = ttg.async_commit_group tokens %one
    %three = ttg.async_wait %two {num = 0 : i32}
    %v = ttg.local_load %m token %three : M<#c, #smem, mutable> -> T<#b>
"""


def copied(pair: Pair, mask: str, before: str = "", after: str = "", capability: int = 80) -> Gpu:
    """A copy; `before` makes what the mask needs, `after` makes %z of %v."""
    dims = "x".join(map(str, pair.shape))
    body = before + COPY.replace("MASK", mask) + after
    return through(pair, SwizzledShared(4, 1, 8, (1, 0)), body.replace("DIMS", dims), capability)


@pytest.mark.parametrize("bits,size", [(8, 4), (16, 8), (32, 16), (64, 16)])
def test_asynchronous_copies(bits: int, size: int) -> None:
    """As wide as both memories allow."""
    pair = Pair((16, 32), Blocked((1, 4), (4, 8), (2, 1), (1, 0)), ROWS, Machine(2, 1, bits))
    gpu = copied(pair, "", after="%z = arith.ori %v, %v : T<#b>")
    assert gpu.count(r"cp\.async\.c[ag]\.shared\.global") > 0 and f", {size};" in gpu.ptx
    check(gpu, pair.shape, pair.machine)
    old = copied(pair, "", after="%z = arith.ori %v, %v : T<#b>", capability=75)
    assert old.count(r"cp\.async") == 0
    check(old, pair.shape, pair.machine)


def test_pieces_too_narrow_for_copies_are_stored() -> None:
    pair = Pair((16, 32), Blocked((1, 1), (1, 32), (2, 1), (1, 0)), ROWS, Machine(2, 1, 16))
    gpu = copied(pair, "", after="%z = arith.ori %v, %v : T<#b>")
    assert gpu.count(r"cp\.async\.c[ag]") == 0 and gpu.count(r"st\.shared\.b16") == 8
    check(gpu, pair.shape, pair.machine)


@pytest.mark.parametrize("other", [None, 0, 7])
def test_masked_copies(other: int | None) -> None:
    """What is masked is taken from another tensor in the end, so that everything is right if the rest is."""
    pair = Pair((16, 32), Blocked((1, 4), (4, 8), (2, 1), (1, 0)), ROWS, Machine(2, 1, 32))
    before = """
    %limit = arith.constant dense<256> : tensor<DIMSxi32, #a>
    %mask = arith.cmpi slt, %index_px_a, %limit : tensor<DIMSxi32, #a>
    %limit_b = arith.constant dense<256> : tensor<DIMSxi32, #b>
    %mask_b = arith.cmpi slt, %index_px_b, %limit_b : tensor<DIMSxi32, #b>
    """
    mask, masked = "mask %mask", "%wanted"
    if other is not None:
        before += f"%other = arith.constant dense<{other}> : T<#a>\n"
        mask += " other %other"
        masked = "%corrected"
    after = "%z = arith.select %mask_b, %v, %wanted : tensor<DIMSxi1, #b>, T<#b>"
    if other is not None:
        after = f"""
        %there = arith.constant dense<{other}> : T<#b>
        %difference = arith.subi %v, %there : T<#b>
        %corrected = arith.addi %difference, %wanted : T<#b>
        %z = arith.select %mask_b, %v, {masked} : tensor<DIMSxi1, #b>, T<#b>
        """
    gpu = copied(pair, mask, before, after)
    assert gpu.count(r"cp\.async\.cg") == 2
    check(gpu, pair.shape, pair.machine)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("runs", [True, False])
def test_predicated_copies(runs: bool, masked: bool) -> None:
    """Where the condition is false the buffer keeps what it holds; where the mask is, it gets zeros."""
    pair = Pair((16, 32), Blocked((1, 4), (4, 8), (2, 1), (1, 0)), ROWS, Machine(2, 1, 32))
    before = f"""
    %program = tt.get_program_id x : i32
    %none = arith.constant 0 : i32
    %runs = arith.cmpi {"eq" if runs else "ne"}, %program, %none : i32
    %all = tt.splat %runs : i1 -> tensor<DIMSxi1, #a>
    %limit = arith.constant dense<256> : tensor<DIMSxi32, #a>
    %below = arith.cmpi slt, %index_px_a, %limit : tensor<DIMSxi32, #a>
    %both = arith.andi %all, %below : tensor<DIMSxi1, #a>
    %limit_b = arith.constant dense<256> : tensor<DIMSxi32, #b>
    %below_b = arith.cmpi slt, %index_px_b, %limit_b : tensor<DIMSxi32, #b>
    %zeros = arith.constant dense<0> : T<#a>
    """
    copy = COPY.replace("local_alloc : () ->", "local_alloc %x : (T<#a>) ->").replace(
        "MASK", "mask %both other %zeros {ttg.predicated}"
    )
    if not masked:
        copy = copy.replace("%both other %zeros", "%all")
    after = "%z = arith.select %below_b, %v, %wanted : tensor<DIMSxi1, #b>, T<#b>"
    body = before + copy + after
    gpu = through(pair, SwizzledShared(4, 1, 8, (1, 0)), body.replace("DIMS", "16x32"), 80)
    assert len(re.findall(r"@%p\d+ cp\.async\.cg", gpu.ptx)) == 2
    assert len(re.findall(r"selp\.b32 %r\d+, 16, 0", gpu.ptx)) == 2 * masked
    check(gpu, pair.shape, pair.machine)


@pytest.mark.parametrize("index", ["i32", "i64", "i16"])
@pytest.mark.parametrize("axis", [0, 1])
def test_gathering_and_scattering(axis: int, index: str) -> None:
    """Scattered to the places in reverse order, and gathered from there; the threads of both warps hold copies."""
    size = (16, 32)[axis]
    pair = Pair(
        (16, 32), Blocked((1, 4), (4, 8), (2, 1), (1, 0)), Blocked((2, 2), (8, 4), (1, 2), (1, 0)), Machine(2, 1, 32)
    )

    def places(layout: str) -> str:
        line = f"#ttg.slice<{{dim = {1 - axis}, parent = {layout}}}>"
        column = f"{size}x1" if axis == 0 else f"1x{size}"
        tag = layout[1:]
        change = {
            "i16": f"arith.trunci %turned_{tag} : tensor<16x32xi32, {layout}> to tensor<16x32xi16, {layout}>",
            "i32": f"arith.ori %turned_{tag}, %turned_{tag} : tensor<16x32xi32, {layout}>",
            "i64": f"arith.extsi %turned_{tag} : tensor<16x32xi32, {layout}> to tensor<16x32xi64, {layout}>",
        }
        return f"""
        %range_{tag} = tt.make_range {{start = 0 : i32, end = {size} : i32}} : tensor<{size}xi32, {line}>
        %column_{tag} = tt.expand_dims %range_{tag} {{axis = {1 - axis} : i32}} : tensor<{size}xi32, {line}> -> tensor<{column}xi32, {layout}>
        %there_{tag} = tt.broadcast %column_{tag} : tensor<{column}xi32, {layout}> -> tensor<16x32xi32, {layout}>
        %last_{tag} = arith.constant dense<{size - 1}> : tensor<16x32xi32, {layout}>
        %turned_{tag} = arith.subi %last_{tag}, %there_{tag} : tensor<16x32xi32, {layout}>
        %index_{tag} = {change[index]}
        """

    body = f"""
    {places("#a")}
    {places("#b")}
    %m = ttg.local_alloc : () -> M<#c, #smem, mutable>
    ttg.local_scatter %m[%index_a], %x {{axis = {axis} : i32}} : M<#c, #smem, mutable>, tensor<16x32x{index}, #a>, T<#a>
    %z = ttg.local_gather %m[%index_b] {{axis = {axis} : i32}} : M<#c, #smem, mutable>, tensor<16x32x{index}, #b> -> T<#b>
    """
    gpu = through(pair, SwizzledShared(4, 1, 8, (1, 0)), body)
    check(gpu, pair.shape, pair.machine)


def test_copies_run_ahead_in_a_loop() -> None:
    """Three buffers in a ring: while one is added up, two copies are under way. Five sums less four are one."""
    pair = Pair((16, 32), Blocked((1, 4), (4, 8), (2, 1), (1, 0)), ROWS, Machine(2, 1, 32))
    ring, one = "!ttg.memdesc<3x16x32xE, #c, #smem, mutable>", "M<#c, #smem, mutable>"
    copy = "tensor<16x32x!tt.ptr<E>, #a> -> <16x32xE, #c, #smem, mutable>"
    body = f"""
    %n0 = arith.constant 0 : i32
    %n1 = arith.constant 1 : i32
    %n2 = arith.constant 2 : i32
    %n3 = arith.constant 3 : i32
    %n5 = arith.constant 5 : i32
    %none = arith.constant dense<0> : T<#b>
    %all = ttg.local_alloc : () -> {ring}
    %m0 = ttg.memdesc_index %all[%n0] : {ring} -> {one}
    %t0 = ttg.async_copy_global_to_local %at_px_a, %m0 : {copy}
    %g0 = ttg.async_commit_group tokens %t0
    %m1 = ttg.memdesc_index %all[%n1] : {ring} -> {one}
    %t1 = ttg.async_copy_global_to_local %at_px_a, %m1 : {copy}
    %g1 = ttg.async_commit_group tokens %t1
    %r:3 = scf.for %i = %n0 to %n5 step %n1 iter_args(%sum = %none, %h0 = %g0, %h1 = %g1) -> (T<#b>, !ttg.async.token, !ttg.async.token) : i32 {{
      %now = arith.remsi %i, %n3 : i32
      %ahead = arith.addi %i, %n2 : i32
      %then = arith.remsi %ahead, %n3 : i32
      %w = ttg.async_wait %h0 {{num = 1 : i32}}
      %m = ttg.memdesc_index %all[%now] : {ring} -> {one}
      %v = ttg.local_load %m token %w : {one} -> T<#b>
      %more = arith.addi %sum, %v : T<#b>
      %mn = ttg.memdesc_index %all[%then] : {ring} -> {one}
      %tn = ttg.async_copy_global_to_local %at_px_a, %mn : {copy}
      %gn = ttg.async_commit_group tokens %tn
      scf.yield %more, %h1, %gn : T<#b>, !ttg.async.token, !ttg.async.token
    }}
    %end = ttg.async_wait {{num = 0 : i32}}
    ttg.local_dealloc %all : {ring}
    %four = arith.constant dense<4> : T<#b>
    %less = arith.muli %wanted, %four : T<#b>
    %z = arith.subi %r#0, %less : T<#b>
    """
    gpu = through(pair, SwizzledShared(4, 1, 8, (1, 0)), body, 80)
    assert gpu.count(r"cp\.async\.wait_group") >= 2
    check(gpu, pair.shape, pair.machine)


@pytest.mark.parametrize("how,masked", [("add", False), ("add", True), ("umax", False), ("exch", False)])
def test_atomics_on_buffers(how: str, masked: bool) -> None:
    """A buffer of zeros, changed once by every element at its own place: by those below 256 where there is a mask."""
    layout = Blocked((1, 4), (4, 8), (2, 1), (1, 0))
    pair = Pair((16, 32), layout, ROWS, Machine(2, 1, 32))
    mask = ", %mask" if masked else ""
    kinds = f"(M<#c, #smem, mutable>, T<#a>, T<#a>{', tensor<16x32xi1, #a>' if masked else ''}) -> T<#a>"
    body = f"""
    %zeros = arith.constant dense<0> : T<#a>
    %limit = arith.constant dense<256> : tensor<16x32xi32, #a>
    %limit_b = arith.constant dense<256> : tensor<16x32xi32, #b>
    %width = arith.constant dense<32> : tensor<16x32xi32, #a>
    %mask = arith.cmpi slt, %index_px_a, %limit : tensor<16x32xi32, #a>
    %mask_b = arith.cmpi slt, %index_px_b, %limit_b : tensor<16x32xi32, #b>
    %place = arith.remui %index_px_a, %width : tensor<16x32xi32, #a>
    %m = ttg.local_alloc %zeros : (T<#a>) -> M<#c, #smem, mutable>
    %old = ttg.local_atomic_scatter_rmw {how}, %m[%place], %x{mask} {{axis = 1 : i32}} : {kinds}
    %v = ttg.local_load %m : M<#c, #smem, mutable> -> T<#b>
    %z = {"arith.select %mask_b, %v, %wanted : tensor<16x32xi1, #b>, T<#b>" if masked else "arith.ori %v, %v : T<#b>"}
    """
    gpu = through(pair, SwizzledShared(4, 1, 8, (1, 0)), body)
    assert gpu.count(r"(atom|red)\.\S*shared") >= 4
    check(gpu, pair.shape, pair.machine)
