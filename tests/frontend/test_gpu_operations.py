"""Functions of the language that only GPUs have operations for: the IR they make, and what they refuse."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget, compile


def ttir(fn: Any, types: str, capability: int = 90, constants: dict[str, Any] | None = None, **options: Any) -> str:
    """The `ttir` of a kernel without locations; `types` are those of the parameters in order."""
    names = [n for n in fn.arg_names if n not in (constants or {})]
    src = ASTSource(fn, dict(zip(names, types.split())), constants)
    text = compile(src, target=GPUTarget("cuda", capability, 32), options=options, until="ttir").asm["ttir"]
    return re.sub(r" loc\((?:[^()]|\([^()]*\))*\)|^#loc.*\n", "", text, flags=re.M)


def refused(fn: Any, types: str, message: str, constants: dict[str, Any] | None = None, capability: int = 100) -> None:
    with pytest.raises(tritium.CompilationError, match=message):
        ttir(fn, types, capability, constants)


# ---- scaled products -----------------------------------------------------------------------------------------------


@tritium.jit
def scaled(
    a, b, sa, sb, out, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr, GROUP: tl.constexpr, LHS: tl.constexpr,
    RHS: tl.constexpr, PACK: tl.constexpr
):  # fmt: skip
    pa: tl.constexpr = 2 if LHS == "e2m1" else 1
    pb: tl.constexpr = 2 if RHS == "e2m1" else 1
    if PACK:
        x = tl.load(a + tl.arange(0, M)[:, None] * K + tl.arange(0, K // pa)[None, :])
        y = tl.load(b + tl.arange(0, K // pb)[:, None] * N + tl.arange(0, N)[None, :])
    else:
        x = tl.load(a + tl.arange(0, M // pa)[:, None] * K + tl.arange(0, K)[None, :])
        y = tl.load(b + tl.arange(0, K)[:, None] * N + tl.arange(0, N // pb)[None, :])
    xs = tl.load(sa + tl.arange(0, M)[:, None] * 4 + tl.arange(0, K // GROUP)[None, :])
    ys = tl.load(sb + tl.arange(0, N)[:, None] * 4 + tl.arange(0, K // GROUP)[None, :])
    c = tl.dot_scaled(x, xs, LHS, y, ys, RHS, lhs_k_pack=PACK, rhs_k_pack=PACK)
    c = tl.dot_scaled(x, None, LHS, y, ys, RHS, c, fast_math=True, lhs_k_pack=PACK, rhs_k_pack=PACK)
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


SIZES = {"M": 128, "K": 128, "N": 64, "GROUP": 32, "LHS": "e2m1", "RHS": "e4m3", "PACK": True}


@pytest.mark.parametrize(
    ("types", "changes", "operands"),
    [
        ("*u8 *u8 *u8 *u8", {}, "tensor<128x64xi8>, tensor<128x4xi8> * tensor<128x64xf8E4M3FN>, tensor<64x4xi8>"),
        (
            "*u8 *u8 *fp8e4nv *fp8e4nv",
            {"RHS": "e2m1", "GROUP": 16},
            "tensor<128x64xi8>, tensor<128x8xf8E4M3FN> * tensor<64x64xi8>, tensor<64x8xf8E4M3FN>",
        ),
        (
            "*u8 *u8 *u8 *u8",
            {"RHS": "e2m1", "PACK": False},
            "tensor<64x128xi8>, tensor<128x4xi8> * tensor<128x32xi8>, tensor<64x4xi8>",
        ),
        (
            "*fp8e5 *u16 *u8 *u8",
            {"LHS": "e5m2", "RHS": "bf16"},
            "tensor<128x128xf8E5M2>, tensor<128x4xi8> * tensor<128x64xbf16>, tensor<64x4xi8>",
        ),
    ],
)
def test_scaled_dots(types: str, changes: dict[str, Any], operands: str) -> None:
    text = ttir(scaled, types + " *fp32", 100, {**SIZES, **changes})
    formats = {**SIZES, **changes}
    assert f"lhs = {formats['LHS']} rhs = {formats['RHS']}" in text
    assert f": {operands} -> tensor<128x64xf32>" in text
    assert len(re.findall(r"tt\.dot_scaled %\w+ scale %\w+, %\w+ scale", text)) == 1
    assert len(re.findall(r"tt\.dot_scaled %\w+, %\w+ scale .*fastMath = true", text)) == 1


@pytest.mark.parametrize(
    ("types", "changes", "message"),
    [
        ("*u8 *u8 *u8 *u8", {"LHS": "e3m2"}, "Invalid float format: e3m2 of lhs"),
        ("*fp16 *u8 *u8 *u8", {}, "e2m1 format must be packed as uint8. Got fp16 for lhs"),
        ("*u8 *fp16 *u8 *u8", {}, "Unexpected dtype for e4m3. Got fp16 for rhs"),
        ("*u8 *u8 *u8 *u8", {"GROUP": 64}, r"lhs_scale must be a tensor of shape \[..., 128, 8\] or \[..., 128, 4\]"),
        ("*u8 *u8 *i32 *u8", {}, "lhs_scale holds exponents as uint8, or fp8e4nv, got int32"),
        ("*u8 *u8 *u8 *u8", {"PACK": False}, "only mxfp4 inputs can be packed along a dimension different than K"),
    ],
)
def test_unsupported_scaled_dots_are_refused(types: str, changes: dict[str, Any], message: str) -> None:
    refused(scaled, types + " *fp32", message, {**SIZES, **changes})


@tritium.jit
def small_scaled(a, out, FAULT: tl.constexpr):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    x = tl.load(a + at)
    if FAULT == "scalar":
        c = tl.dot_scaled(x, None, "e4m3", tl.load(a), None, "e4m3")
    elif FAULT == "K":
        c = tl.dot_scaled(x, None, "e4m3", x.to(tl.uint8, bitcast=True), None, "e2m1")
    elif FAULT == "acc":
        c = tl.dot_scaled(x, None, "e4m3", x, None, "e4m3", acc=tl.zeros((64, 64), tl.float16))
    elif FAULT == "out":
        c = tl.dot_scaled(x, None, "e4m3", x, None, "e4m3", out_dtype=tl.float16)
    tl.store(out + at, c)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("scalar", "dot_scaled operands must be block tensors"),
        ("K", "Reduction dimension should pack the same number of elements"),
        ("acc", r"the accumulator of tl.dot_scaled is <\[64, 64\], fp16>"),
        ("out", "Only float32 is supported for out_dtype"),
    ],
)
def test_more_unsupported_scaled_dots_are_refused(fault: str, message: str) -> None:
    refused(small_scaled, "*fp8e4nv *fp32", message, {"FAULT": fault})


@tritium.jit
def copy(p, q):
    at = tl.arange(0, 64)
    tl.store(q + at, tl.load(p + at))


@pytest.mark.parametrize("types", ["*fp8e4nv *fp8e4nv", "*u8 fp8e4nv"])
def test_unsupported_fp8_is_refused(types: str) -> None:
    with pytest.raises(tritium.CompilationError, match="type fp8e4nv not supported in this architecture"):
        ttir(copy, types, 80)
    with pytest.raises(tritium.CompilationError, match="type fp8e4nv not supported in this architecture"):
        ttir(small_scaled, "*u8 *fp32", 80, {"FAULT": "K"})


# ---- atomic loads, stores, polls -----------------------------------------------------------------------------------


@tritium.jit
def atomics(p, q, flags):
    at = tl.arange(0, 64)
    a = tl.atomic_load(p + at)
    b = p.atomic_load(at < 3, sem="relaxed", scope="sys") if False else tl.atomic_load(p, sem="relaxed", scope="sys")
    tl.atomic_store(q + at, a, mask=at < 3)
    tl.atomic_store(q, b, sem="relaxed", scope="cta")
    tl.atomic_store(flags + at, tl.atomic_load(flags + at))
    seen = tl.atomic_poll(q, 3)
    tl.store(p + at, tl.atomic_poll(q + at, 3, sem="relaxed", timeout_ns=1000).to(tl.int32) + seen)


def test_atomic_loads_stores_and_polls() -> None:
    text = ttir(atomics, "*i32 *i32 *i1")
    for line in (
        r"tt\.atomic_load acquire, gpu, .* : \(tensor<64x!tt.ptr<i32>>, tensor<64xi1>\) -> tensor<64xi32>",
        r"tt\.atomic_load relaxed, sys, %p, %\w+ : \(!tt.ptr<i32>, i1\) -> i32",
        r"tt\.atomic_store release, gpu, .* : tensor<64x!tt.ptr<i32>>",
        r"tt\.atomic_store relaxed, cta, %q, .* : !tt.ptr<i32>",
        r"tt\.atomic_load acquire, gpu, .* : \(tensor<64x!tt.ptr<i8>>, tensor<64xi1>\) -> tensor<64xi8>",
        r"tt\.atomic_poll acquire, gpu, %q, %\w+ : !tt.ptr<i32>, i32 -> i1",
        r"tt\.atomic_poll relaxed, gpu, .* timeout %\w+ : .* -> tensor<64xi1>",
    ):
        assert re.search(line, text), line


@tritium.jit
def bad_atomics(p, f, k: tl.const, FAULT: tl.constexpr):
    at = tl.arange(0, 64)
    if FAULT == "load order":
        tl.atomic_load(p, sem="release")
    elif FAULT == "store order":
        tl.atomic_store(p, 1, sem="acquire")
    elif FAULT == "const":
        tl.atomic_store(k, 1)
    elif FAULT == "float poll":
        tl.atomic_poll(f, 1.0)
    elif FAULT == "timeout":
        tl.atomic_poll(p, 1, timeout_ns=-1)
    elif FAULT == "timeouts":
        tl.atomic_poll(p, 1, timeout_ns=at)
    elif FAULT == "mask":
        tl.atomic_load(p, mask=at < 3)
    elif FAULT == "value":
        tl.atomic_store(p, at)
    elif FAULT == "pointer":
        tl.atomic_load(at)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("load order", "atomic_load only supports acquire and relaxed semantics"),
        ("store order", "atomic_store only supports release and relaxed semantics"),
        ("const", "Cannot store to a constant pointer"),
        ("float poll", "atomic_poll only supports integer elements"),
        ("timeout", "timeout_ns must be non-negative"),
        ("timeouts", "timeout_ns must be a scalar integer"),
        ("mask", "Mask argument cannot be block type if pointer argument is not a block"),
        ("value", "Value argument cannot be block type if pointer argument is not a block"),
        ("pointer", "Unsupported ptr type .*int32.* in `tl.atomic_load`"),
    ],
)
def test_unsupported_atomics_are_refused(fault: str, message: str) -> None:
    refused(bad_atomics, "*i32 *fp32 *ki32", message, {"FAULT": fault})


# ---- descriptors ---------------------------------------------------------------------------------------------------


@tritium.jit
def rows(p, q, numbers, n):
    desc = tl.make_tensor_descriptor(p, [n, 64], [64, 1], [1, 64])
    total = tl.make_tensor_descriptor(q, [n, 64], [64, 1], [32, 64])
    at = tl.load(numbers + tl.arange(0, 32))
    x = desc.gather(at, 0)
    desc.scatter(x, at, n)
    total.atomic_add([0, n], x)
    total.atomic_min([0, n], x)
    total.atomic_max([0, n], x)


@tritium.jit
def bits(p, n):
    desc = tl.make_tensor_descriptor(p, [n, 64], [64, 1], [32, 64])
    x = desc.load([0, 0])
    desc.atomic_and([n, 0], x)
    desc.atomic_or([n, 0], x)
    desc.atomic_xor([n, 0], x)


def test_rows_and_combining_stores_of_descriptors() -> None:
    text = ttir(rows, "*fp16 *fp16 *i32 i32", 100)
    assert re.search(
        r"tt\.descriptor_gather %\w+\[%\w+, %\w+\] : .*tensordesc<1x64xf16>, tensor<32xi32>, i32\) -> tensor<32x64xf16>",
        text,
    )
    assert re.search(r"tt\.descriptor_scatter %\w+\[%\w+, %n\], %\w+ : ", text)
    assert re.findall(r"tt\.descriptor_reduce (\w+), ", text) == ["add", "min", "max"]
    assert re.findall(r"tt\.descriptor_reduce (\w+), ", ttir(bits, "*u32 i32")) == ["and", "or", "xor"]


def test_descriptors_without_tma() -> None:
    """Before Hopper, and on CPUs, rows and combining stores are made of pointers, masks and atomics."""
    text = ttir(bits, "*u32 i32", 80)
    assert re.findall(r"tt\.atomic_rmw (\w+), release, gpu", text) == ["and", "or", "xor"]
    assert "descriptor" not in text
    assert "tt.atomic_rmw umin" in ttir(extremes, "*u32 i32", 80)
    assert "tt.atomic_rmw min" in ttir(extremes, "*i32 i32", 80)
    halves = ttir(extremes, "*fp16 i32", 80)  # the least of numbers of one sign is that of their bits
    assert re.findall(r"tt\.atomic_rmw (\w+), .*xi16>", halves) == ["min", "umax"]


@tritium.jit
def extremes(p, n):
    desc = tl.make_tensor_descriptor(p, [n, 64], [64, 1], [32, 64])
    desc.atomic_min([n, 0], desc.load([0, 0]))


@tritium.jit
def move_rows(p, q, total, numbers, n, first):
    source = tl.make_tensor_descriptor(p, [n, 64], [64, 1], [1, 32])
    target = tl.make_tensor_descriptor(q, [n, 64], [64, 1], [1, 32])
    sums = tl.make_tensor_descriptor(total, [n, 64], [64, 1], [16, 32])
    at = tl.load(numbers + tl.arange(0, 16))
    x = source.gather(at, first)
    target.scatter(x, at, first)
    sums.atomic_add([n - 8, first], x)


@pytest.mark.parametrize("first", [0, 40, -8])
def test_rows_on_a_cpu(first: int) -> None:
    rng = np.random.default_rng(0)
    p = rng.standard_normal((50, 64)).astype(np.float32)
    q, total = np.zeros_like(p), np.ones_like(p)
    numbers = rng.permutation(50)[:16].astype(np.int32)
    numbers[3], numbers[7] = -1, 50  # outside: read as zeros, not written
    move_rows[(1,)](p, q, total, numbers, 50, first)
    columns = np.arange(first, first + 32)
    inside = [(i, r) for i, r in enumerate(numbers) if 0 <= r < 50]
    known = columns[(columns >= 0) & (columns < 64)]
    expected, sums = np.zeros_like(p), np.ones_like(p)
    for i, r in inside:
        expected[r, known] = p[r, known]
        if i < 8:
            sums[42 + i, known] += p[r, known]
    np.testing.assert_array_equal(q, expected)
    np.testing.assert_array_equal(total, sums)


@tritium.jit
def bad_rows(p, q, numbers, n, FAULT: tl.constexpr):
    at = tl.load(numbers + tl.arange(0, 4 if FAULT == "few" else 16))
    width: tl.constexpr = 8 if FAULT == "narrow" else 32
    desc = tl.make_tensor_descriptor(p, [n, 64], [64, 1], [2 if FAULT == "height" else 1, width])
    whole = tl.make_tensor_descriptor(q, [n, 64], [64, 1], [16, width])
    x = whole.load([0, 0])
    if FAULT == "rank":
        at = at[:, None]
    if FAULT == "type":
        at = at.to(tl.int64)
    if FAULT == "shape":
        desc.scatter(tl.zeros([16, 64], tl.float16), at, 0)
    elif FAULT == "bits":
        whole.atomic_and([0, 0], x)
    elif FAULT == "block":
        whole.atomic_add([0, 0], tl.zeros([16, 64], tl.float16))
    elif FAULT == "offsets":
        whole.atomic_add([0], x)
    else:
        x = desc.gather(at, 0)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("few", "descriptor gather must have at least 8 rows"),
        ("narrow", "must have at least 16 columns, but got 8"),
        ("height", r"descriptor block must have 1 row, but got \[2, 32\]"),
        ("rank", "x offsets must be 1D"),
        ("type", "x offsets must have dtype int16 or int32, but got int64"),
        ("shape", r"takes a block of shape \[16, 32\]"),
        ("bits", "Unsupported dtype fp16: atomic_and of a descriptor takes uint32"),
        ("block", "cannot be combined through a descriptor"),
        ("offsets", "expected 2 offsets, but got 1"),
    ],
)
def test_unsupported_descriptor_gathers_are_refused(fault: str, message: str) -> None:
    refused(bad_rows, "*fp16 *fp16 *i32 i32", message, {"FAULT": fault})


# ---- functions of elements -----------------------------------------------------------------------------------------


@tritium.jit
def larger_or_sum(a, b):
    if a > b:
        return a
    return a + b


@tritium.jit
def swap_pairs(a0, a1):
    return a1, a0


@tritium.jit
def both(a, b):
    return a + b, (a * b).to(tl.int32)


@tritium.jit
def mapping(p, q, out):
    at = tl.arange(0, 256)
    a, b = tl.load(p + at), tl.load(q + at)
    c = tl.map_elementwise(larger_or_sum, a, 2.0)
    s, t = tl.map_elementwise(both, c, b)
    (u,) = tl.map_elementwise(swap_pairs, s, pack=2)
    tl.store(out + at, u + t)


def test_map_elementwise(triton_oracle: Any) -> None:
    text = ttir(mapping, "*fp32 *fp32 *fp32")
    assert len(re.findall(r"tt\.map_elementwise", text)) >= 3
    assert "pack = 2 : i32" in text
    assert "(tensor<256xf32>, tensor<256xf32>) -> (tensor<256xf32>, tensor<256xi32>)" in text
    assert triton_oracle.compile_text(text, "cuda:90")["ptx"]


@tritium.jit
def bad_mapping(p, out, FAULT: tl.constexpr):
    at = tl.arange(0, 64)
    a = tl.load(p + at)
    if FAULT == "pack":
        a = tl.map_elementwise(both, a, a, pack=0)[0]
    elif FAULT == "types":
        a = tl.map_elementwise(both, a, pack=2)[0]
    elif FAULT == "scalars":
        a = tl.map_elementwise(larger_or_sum, 1.0, 2.0)
    elif FAULT == "nothing":
        a = tl.map_elementwise(larger_or_sum)
    elif FAULT == "function":
        a = tl.map_elementwise(tl.float32, a)
    tl.store(out + at, a)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("pack", "pack must be >= 1, got 0"),
        ("types", r"type mismatch in unpacked results.*\(fp32, int32\)"),
        ("scalars", "map_elementwise takes blocks, got fp32"),
        ("nothing", "must have at least 1 input tensor"),
        ("function", "the function of map_elementwise must be a function of the language"),
    ],
)
def test_unsupported_map_elementwise_is_refused(fault: str, message: str) -> None:
    refused(bad_mapping, "*fp32 *fp32", message, {"FAULT": fault})


# ---- the rest ------------------------------------------------------------------------------------------------------


@tritium.jit
def threads(p):
    tl.extra.cuda.gdc_wait()
    x = tl.load(p)
    tl.extra.cuda.gdc_launch_dependents()
    tl.debug_barrier()
    tl.store(p, x + tl.extra.cuda.num_warps() + tl.extra.cuda.num_threads())
    if tl.target_info.is_cuda():
        tl.store(p + 1, tl.extra.cuda.smid())
        tl.store(p + 2, tl.extra.cuda.globaltimer().to(tl.int32))


def test_threads_and_grids() -> None:
    text = ttir(threads, "*i32", num_warps=8)
    order = ["tt.grid_dependency_wait", "tt.load", "tt.grid_dependency_launch_dependents", "ttg.barrier all", "%smid"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert '"mov.u64 $0, %globaltimer;" {constraints = "=l"' in text
    assert "264 : i32" in text  # 8 warps and their 256 threads


def test_features_of_newer_gpus_are_refused() -> None:
    refused(threads, "*i32", "gdc_wait needs compute capability 9.0 or higher; this compile is for sm80", None, 80)


def test_on_a_cpu_programs_do_not_overlap() -> None:
    p = np.zeros(3, np.int32)
    threads[(1,)](p)
    assert p[0] == 4 + 4  # a warp is one thread


@tritium.jit
def hinted(p, n):
    total = 0.0
    for i in tl.range(
        0, n, num_stages=3, flatten=True, warp_specialize=True, disallow_acc_multi_buffer=True, disable_licm=True
    ):
        total += tl.load(p + i)
    tl.store(p, total)


def test_hints_of_loops() -> None:
    text = ttir(hinted, "*fp32 i32")
    (line,) = (line for line in text.split("\n") if "tt.num_stages" in line)
    for hint in ("tt.disallow_acc_multi_buffer", "tt.flatten", "tt.num_stages = 3 : i32", "tt.warp_specialize"):
        assert hint in line
    assert "llvm.loop_annotation" in line
