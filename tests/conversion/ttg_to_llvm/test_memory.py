"""Loads and stores on emulated GPUs: every element once, nothing outside, as wide as it may be."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.conversion.ttg_to_llvm.elementwise import STORAGE
from tests.conversion.ttg_to_llvm.harness import both, from_ttgir, on_gpu, tensor_kernel
from tritium.emulator import Memory

# A tile of x is loaded where the mask holds and stored, transformed by nothing, to the same places of o.
COPY = """
%ri = tt.make_range {{end = {m} : i32, start = 0 : i32}} : tensor<{m}xi32, #b>
%rj = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, #c>
%ei = tt.expand_dims %ri {{axis = 1 : i32}} : tensor<{m}xi32, #b> -> tensor<{m}x1xi32, #a>
%ej = tt.expand_dims %rj {{axis = 0 : i32}} : tensor<{n}xi32, #c> -> tensor<1x{n}xi32, #a>
%i = tt.broadcast %ei : tensor<{m}x1xi32, #a> -> tensor<{m}x{n}xi32, #a>
%j = tt.broadcast %ej : tensor<1x{n}xi32, #a> -> tensor<{m}x{n}xi32, #a>
%s0 = tt.splat %stride0 : i32 -> tensor<{m}x{n}xi32, #a>
%s1 = tt.splat %stride1 : i32 -> tensor<{m}x{n}xi32, #a>
%m0 = tt.splat %rows : i32 -> tensor<{m}x{n}xi32, #a>
%m1 = tt.splat %columns : i32 -> tensor<{m}x{n}xi32, #a>
%k0 = arith.muli %i, %s0 : tensor<{m}x{n}xi32, #a>
%k1 = arith.muli %j, %s1 : tensor<{m}x{n}xi32, #a>
%k = arith.addi %k0, {column} : tensor<{m}x{n}xi32, #a>
%c0 = arith.cmpi slt, %i, %m0 : tensor<{m}x{n}xi32, #a>
%c1 = arith.cmpi slt, %j, %m1 : tensor<{m}x{n}xi32, #a>
%mask = arith.andi %c0, %c1 : tensor<{m}x{n}xi1, #a>
%xs = tt.splat %x : !tt.ptr<{ty}> -> tensor<{m}x{n}x!tt.ptr<{ty}>, #a>
%os = tt.splat %o : !tt.ptr<{ty}> -> tensor<{m}x{n}x!tt.ptr<{ty}>, #a>
%px = tt.addptr %xs, %k : tensor<{m}x{n}x!tt.ptr<{ty}>, #a>, tensor<{m}x{n}xi32, #a>
%po = tt.addptr %os, %k : tensor<{m}x{n}x!tt.ptr<{ty}>, #a>, tensor<{m}x{n}xi32, #a>
%other = arith.constant dense<{other}> : tensor<{m}x{n}x{ty}, #a>
%v = tt.load %px, %mask, %other{hints} : tensor<{m}x{n}x!tt.ptr<{ty}>, #a>
tt.store %po, %v{store} : tensor<{m}x{n}x!tt.ptr<{ty}>, #a>
tt.return
"""


def powers(random: np.random.Generator, total: int, count: int) -> list[int]:
    """`count` powers of two with the product `total`."""
    out = [1] * count
    while total > 1:
        out[int(random.integers(count))] *= 2
        total //= 2
    return out


def random_layouts(random: np.random.Generator, warps: int) -> list[str]:
    size = [2 ** int(random.integers(0, 4)), 2 ** int(random.integers(0, 4))]
    order = [1, 0] if random.integers(2) else [0, 1]
    parent = (
        f"#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {powers(random, 32, 2)}, "
        f"warpsPerCTA = {powers(random, warps, 2)}, order = {order}}}>"
    )
    return [parent, "#ttg.slice<{dim = 1, parent = #a}>", "#ttg.slice<{dim = 0, parent = #a}>"]


@pytest.mark.parametrize("case", range(24))
def test_tiles_of_any_layout(case: int, seed: int) -> None:
    """Any layout, element, strides, bounds; loaded twice as much as there is must not be touched."""
    random = np.random.default_rng(seed)
    ty = ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "i1"][case % 9]
    m, n = 2 ** int(random.integers(2, 7)), 2 ** int(random.integers(2, 7))
    rows, columns = int(random.integers(0, m + 1)), int(random.integers(0, n + 1))
    if case % 2:
        columns = columns // 16 * 16
    unit = bool(random.integers(2))
    pitch = n + 16 if case % 3 else n + int(random.integers(0, 5))
    stride1 = 1 if unit else pitch and m + 3
    stride0 = pitch if unit else 1
    warps = int(random.choice([1, 2, 4, 8]))
    hint = " {tt.divisibility = 16 : i32}"
    arguments = f"%x: !tt.ptr<{ty}>{hint}, %o: !tt.ptr<{ty}>{hint}"
    for name, value in (("stride0", stride0), ("stride1", stride1), ("rows", rows), ("columns", columns)):
        arguments += f", %{name}: i32{hint if value % 16 == 0 else ''}"
    other = "true" if ty == "i1" else "7" if ty[0] == "i" else "1.5"
    hints = ["", " cacheModifier = cg", " evictionPolicy = evict_last", " {isVolatile = true}"][case // 9 % 4]
    store = ["", " cacheModifier = cs", " evictionPolicy = evict_first", ""][case // 9 % 4]
    body = COPY.format(
        m=m, n=n, ty=ty, other=other, hints=hints, store=f", %mask{store}" if case % 5 else store,
        column="%k1" if not unit else "%j",
    )  # fmt: skip
    gpu = from_ttgir(tensor_kernel(body, arguments, random_layouts(random, warps), warps), 80 + 10 * (case % 2))
    storage = STORAGE[ty]
    length = (rows - 1) * stride0 + (columns - 1) * stride1 + 1 if rows and columns else 1
    reach = (m - 1) * stride0 + (n - 1) * stride1 + 1
    x = random.integers(0, 2 if ty == "i1" else 127, max(length, 1)).astype(storage)
    masked = bool(case % 5)
    o = np.full(length if masked else reach, 0x5A, storage)
    gpu.launch(1, x, o, stride0, stride1, rows, columns)
    fill = {"f16": 0x3E00, "bf16": 0x3FC0, "f32": 0x3FC00000, "f64": 0x3FF8 << 48, "i1": 1}.get(ty, 7)
    wanted = np.full_like(o, 0x5A)
    for i in range(m):
        for j in range(n):
            at, inside = i * stride0 + j * stride1, i < rows and j < columns
            if inside or not masked:
                wanted[at] = x[at] if inside else fill
    if not masked and not unit:  # places that no element has stay
        assert set(np.nonzero(o != wanted)[0]) == set()
    assert (o == wanted).all()


@triton.jit
def copy(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def copy_all(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + at, tl.load(x_ptr + at))


DTYPES = ["int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_length(dtype: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    for n in (1, 31, 512, 1000, 1024):
        x = random.integers(0, 100, n).astype(dtype)
        cpu, gpu = both(copy, -(-n // 256), [x, np.zeros_like(x), n], BLOCK=256)
        assert (cpu[1] == x).all() and (gpu[1] == x).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_16_bytes_at_once(dtype: str) -> None:
    x = np.zeros(4096, dtype)
    word = ".v2.b64" if x.itemsize == 8 else ".v4.b32"
    times = max(1, 1024 * x.itemsize // (128 * 16))
    masked = on_gpu(copy, x, x, 4096, BLOCK=max(1024, 2048 // x.itemsize))
    whole = on_gpu(copy_all, x, x, BLOCK=max(1024, 2048 // x.itemsize))
    for gpu in (masked, whole):
        if x.itemsize > 1:
            assert gpu.count(rf"ld\.global\{word}") == gpu.count(rf"st\.global\{word}") == times
            assert gpu.count(r"ld\.global") == gpu.count(r"st\.global") == times
        assert ".local" not in gpu.ptx
    assert "@%p" in masked.ptx and "@%p" not in whole.ptx and masked.count("bra") == 0


def test_odd_lengths_are_not_accessed_in_vectors() -> None:
    x = np.zeros(1001, np.float32)
    gpu = on_gpu(copy, x, x, 1001, BLOCK=1024)
    assert gpu.count(r"ld\.global\.b32") == 8 and gpu.count(r"ld\.global\.v") == 0


@triton.jit
def scalars(x_ptr, o_ptr, n):
    pid = tl.program_id(0)
    value = tl.load(x_ptr + pid, mask=pid < n, other=5)
    tl.store(o_ptr + pid, value + 1, mask=pid <= n)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "float16", "float32", "float64"])
def test_scalars_are_stored_by_one_thread(dtype: str) -> None:
    x = np.arange(4).astype(dtype)
    o = np.zeros(6, dtype)
    gpu = on_gpu(scalars, x, o, 4)
    gpu.launch(6, x, o, 4)
    assert o.tolist() == [1, 2, 3, 4, 6, 0]
    assert gpu.count("st.global") == 1


@triton.jit
def hints(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, cache_modifier=".ca")
    x += tl.load(x_ptr + n + at, cache_modifier=".cv")
    x += tl.load(x_ptr + 2 * n + at, eviction_policy="evict_last")
    x += tl.load(x_ptr + 3 * n + at, volatile=True)
    tl.store(o_ptr + at, x, cache_modifier=".wt")
    tl.store(o_ptr + n + at, x, eviction_policy="evict_first")
    tl.store(o_ptr + 2 * n + at, x, cache_modifier=".cg", eviction_policy="evict_last")


def test_hints_to_caches() -> None:
    x, o = np.arange(2048, dtype=np.float32), np.zeros(1536, np.float32)
    gpu = on_gpu(hints, x, o, 512, BLOCK=512)
    gpu.launch(1, x, o, 512)
    assert (o == np.tile(x.reshape(4, 512).sum(0), 3)).all()
    for text in (
        "ld.global.ca.v4.b32",
        "ld.global.cv.v4.b32",
        "ld.global.L1::evict_last.L2::cache_hint.v4.b32",
        "ld.volatile.global.v4.b32",
        "st.global.wt.v4.b32",
        "st.global.L1::evict_first.L2::cache_hint.v4.b32",
        "st.global.cg.L2::cache_hint.v4.b32",
        "createpolicy.fractional.L2::evict_last.b64",
    ):
        assert gpu.count(text.replace(".", r"\.")) >= 1, text
    old = on_gpu(hints, x, o, 512, BLOCK=512, capability=75)
    assert "cache_hint" not in old.ptx and "L1::evict_last" in old.ptx


@triton.jit
def pointers(table_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    where = tl.load(table_ptr + at).to(tl.pointer_type(tl.float32))
    tl.store(o_ptr + at, tl.load(where))


def test_addresses_in_memory() -> None:
    x = np.arange(128, dtype=np.float32)
    table = x.ctypes.data + 4 * np.random.default_rng(0).permutation(128)
    o = np.zeros(128, np.float32)
    gpu = on_gpu(pointers, table, o, BLOCK=128)
    memory = Memory()
    memory.place(x)
    gpu.launch(1, table, o, memory=memory)
    assert (o == (table - x.ctypes.data) // 4).all()
