"""Prints, assertions, inline PTX, libraries, functions applied element by element, and what programs know of the grid."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.conversion.ttg_to_llvm.harness import both, from_ttgir, on_gpu, tensor_kernel
from tritium.backends.errors import PTXASError
from tritium.emulator import DeviceAssertion
from tritium.language.extra import libdevice
from tritium.support import UnsupportedOperation


@triton.jit
def prints(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_print("x", x)


@pytest.mark.parametrize(
    ("dtype", "shown"),
    [
        ("int32", "{}"),
        ("int8", "{}"),
        ("uint8", "{}"),
        ("int64", "{}"),
        ("float32", "{}.000000"),
        ("float16", "{}.000000"),
    ],
)
def test_every_element_is_printed_once(dtype: str, shown: str) -> None:
    x = (np.arange(64) - (0 if dtype == "uint8" else 5)).astype(dtype)
    report = on_gpu(prints, x, BLOCK=64).launch(2, x)
    lines = Counter(report.output.splitlines())
    wanted = [f"pid ({p}, 0, 0) idx ({i:2}) x: {shown.format(int(x[i]))}" for p in range(2) for i in range(64)]
    assert lines == Counter(wanted)


@triton.jit
def prints_more(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.device_print("both", x, y)
    tl.device_print("bits", x, hex=True)
    tl.device_print("alone", tl.program_id(1))
    tl.device_print("100% no arguments")


def test_several_operands_and_digits() -> None:
    x, y = np.arange(64, dtype=np.int16) - 3, np.arange(64, dtype=np.float64) / 4
    lines = on_gpu(prints_more, x, y, M=4, N=16).launch((1, 2), x, y).output.splitlines()
    for i in range(64):
        place = f"idx ({i // 16}, {i % 16:2})"
        assert lines.count(f"pid (0, 1, 0) {place} both: (operand 0) {x[i]}") == 1
        assert lines.count(f"pid (0, 1, 0) {place} both: (operand 1) {y[i]:f}") == 1
        assert lines.count(f"pid (0, 0, 0) {place} bits: 0x{int(x[i]) & 0xFFFF:04x}") == 1
    assert lines.count("pid (0, 1, 0) idx () alone: 1") == 128  # by every thread, as Triton's


@triton.jit
def asserts(x_ptr, o_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x > 0, "not positive")
    tl.store(o_ptr + tl.arange(0, BLOCK), x)


def test_assertions_name_their_line() -> None:
    x = np.arange(1, 257, dtype=np.int32)
    o = np.zeros_like(x)
    gpu = on_gpu(asserts, x, o, BLOCK=256, debug=True)
    gpu.launch(1, x, o)
    assert (x == o).all()
    x[77] = -1
    with pytest.raises(DeviceAssertion, match="not positive"):
        gpu.launch(1, x, o)
    line = asserts.fn.__code__.co_firstlineno + 3
    assert "test_debug.py" in bytes(read_bytes(gpu.ptx)).decode(errors="replace")
    assert f", {line};" in gpu.ptx


def read_bytes(ptx: str) -> list[int]:
    """All constants of the PTX in a row."""
    return [
        int(n)
        for line in ptx.splitlines()
        if ".b8 " in line and "{" in line
        for n in line[line.index("{") + 1 : line.rindex("}")].split(",")
    ]


# -- what kernels bring themselves --------------------------------------------------------------------------------


@triton.jit
def shifted(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    # Four bytes in a register of 32 bits are shifted at once.
    y = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [x & 31], dtype=tl.int8, is_pure=True, pack=4)
    tl.store(o_ptr + at, y)


@triton.jit
def two_results(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    high, low = tl.inline_asm_elementwise(
        "{ .reg .b32 t; shr.u32 $0, $2, 16; and.b32 $1, $2, 65535; }",
        "=r,=r,r",
        [x],
        dtype=(tl.int32, tl.int32),
        is_pure=False,
        pack=1,
    )
    tl.store(o_ptr + at, high * 3 + low)


def test_inline_ptx(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.integers(0, 120, 512).astype(np.int8)
    o = np.zeros_like(x)
    gpu = on_gpu(shifted, x, o, BLOCK=512)
    gpu.launch(1, x, o)
    assert (o == ((x & 31) << 3).astype(np.int8)).all()
    assert gpu.count("shl.b32") <= 2
    x = random.integers(0, 1 << 30, 256).astype(np.int32)
    o = np.zeros_like(x)
    on_gpu(two_results, x, o, BLOCK=256).launch(1, x, o)
    assert (o == (x >> 16) * 3 + (x & 65535)).all()


@triton.jit
def wrong(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise("add.nonsense $0, $1, 1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x_ptr + at, y)


def test_wrong_ptx_is_reported_with_its_line() -> None:
    pytest.importorskip("tests.backends.nvidia.texts")
    from tests.backends.nvidia.texts import missing

    if missing("ptxas"):
        pytest.skip("there is no ptxas")
    x = np.zeros(128, np.int32)
    with pytest.raises(PTXASError, match=r"test_debug.py:\d+") as error:
        on_gpu(wrong, x, BLOCK=128)
    assert "add.nonsense" in str(error.value)


@triton.jit
def choose(a, b):
    if a > b:
        return a - b
    elif a == b:
        return 100
    return b * 2


@triton.jit
def mapped(x_ptr, y_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    z = tl.map_elementwise(choose, tl.load(x_ptr + at), tl.load(y_ptr + at))
    tl.store(o_ptr + at, z)


def test_functions_with_branches_element_by_element(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = (random.integers(0, 10, 512).astype(np.int32) for _ in range(2))
    o = np.zeros_like(x)
    on_gpu(mapped, x, y, o, BLOCK=512).launch(1, x, y, o)
    assert (o == np.where(x > y, x - y, np.where(x == y, 100, y * 2))).all()


@triton.jit
def library(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + at, libdevice.erf(x) + libdevice.floor(x) + libdevice.fmod(x, 2.0))


def test_libdevice(seed: int) -> None:
    x = np.random.default_rng(seed).uniform(0, 3, 256).astype(np.float32)
    cpu, gpu = both(library, 1, [x, np.zeros_like(x)], BLOCK=256)
    assert np.allclose(cpu[1], gpu[1], rtol=1e-6)


# -- the grid -----------------------------------------------------------------------------------------------------


@triton.jit
def places(o_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(o_ptr + (z * ny + y) * nx + x, x + 10 * y + 100 * z + 1000 * nz)


def test_places_in_the_grid() -> None:
    o = np.zeros(24, np.int32)
    on_gpu(places, o).launch((2, 3, 4), o)
    assert o.tolist() == [x + 10 * y + 100 * z + 4000 for z in range(4) for y in range(3) for x in range(2)]


DEPENDENT = "tt.grid_dependency_wait\ntt.grid_dependency_launch_dependents\ntt.return"


def test_dependent_launches() -> None:
    gpu = from_ttgir(tensor_kernel(DEPENDENT, "%n: i32"), 90)
    assert gpu.count("griddepcontrol.wait") == gpu.count("griddepcontrol.launch_dependents") == 1
    with pytest.raises(UnsupportedOperation, match="sm_90"):
        from_ttgir(tensor_kernel(DEPENDENT, "%n: i32"), 80)


WARPS = """
%w = ttg.warp_id
%a = tt.addptr %o, %w : !tt.ptr<i32>, i32
ttg.barrier local
tt.return
"""


def test_warps_and_barriers() -> None:
    gpu = from_ttgir(tensor_kernel(WARPS, "%o: !tt.ptr<i32>"))
    assert gpu.count("bar(rier)?") == 1


SCRATCH = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @inner(%n: i32) -> i32 attributes {noinline = true} {
    %p = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 4 : i32} : !tt.ptr<i32>
    tt.store %p, %n : !tt.ptr<i32>
    %v = tt.load %p : !tt.ptr<i32>
    tt.return %n : i32
  }
  tt.func public @k(%o: !tt.ptr<i64>) {
    %x = tt.get_program_id x : i32
    %p = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 20 : i32} : !tt.ptr<i32>
    %q = ttg.global_scratch_alloc {alignment = 4 : i32, nbytes = 4 : i32} : !tt.ptr<i32>
    tt.store %p, %x : !tt.ptr<i32>
    tt.store %q, %x : !tt.ptr<i32>
    %r = tt.call @inner(%x) : (i32) -> i32
    tt.return
  }
}
"""


def test_global_memory_of_a_program() -> None:
    gpu = from_ttgir(SCRATCH)
    assert (gpu.metadata.global_scratch_size, gpu.metadata.global_scratch_align) == (32, 16)
    memory = np.full((6, 8), -1, np.int32)
    gpu.launch((3, 2), np.zeros(1, np.int64), memory.reshape(-1))
    wanted = np.full((6, 8), -1, np.int32)
    for at in (0, 5, 6):  # 20 bytes, 4 bytes, and the callee's behind
        wanted[:, at] = [0, 1, 2, 0, 1, 2]
    assert (memory == wanted).all()
