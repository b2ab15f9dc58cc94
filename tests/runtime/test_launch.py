"""Launches: packing, grids, the fast path and its limits, keeping arrays alive, hooks, errors."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import struct
import sys
import threading

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.runtime.fake import KERNELS, METADATA, kernel_of, program, record_pid, slot
from tritium import TritiumError, knobs
from tritium.runtime import ArgumentError, LaunchError, UnknownOptionError
from tritium.runtime.packing import Packer, bits_of_bf16, bytes_address

STORE_SLOTS = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


def copy_slots(name: str, count: int):
    """A kernel that copies its first `count` slots to the array in slot 0."""
    body = slot(0, "ptr") + f"  call void @llvm.memcpy.p0.p0.i64(ptr %a0, ptr %args, i64 {8 * count}, i1 false)\n"
    return lambda signature, constants: program(body, STORE_SLOTS, name)


@pytest.fixture
def slots(compiled):
    """A kernel with four arguments that stores its own argument slots."""

    def four(out, a, b, c):
        pass

    return kernel_of(four, copy_slots("four", 4))


@pytest.fixture
def count(compiled):
    def counter(out, N: tl.constexpr = 3):  # noqa: F821
        pass

    return kernel_of(counter, record_pid("counter"))


# ---- packing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ty, value, bits",
    [
        ("i32", -3, struct.pack("<q", -3)),
        ("i8", -128, struct.pack("<q", -128)),
        ("u64", 2**64 - 1, b"\xff" * 8),
        ("u1", True, struct.pack("<q", 1)),
        ("fp64", 1e300, struct.pack("<d", 1e300)),
        ("fp32", 2.5, struct.pack("<f4x", 2.5)),
        ("fp32", 1e300, struct.pack("<f4x", float("inf"))),
        ("fp32", float("-inf"), struct.pack("<f4x", float("-inf"))),
        ("fp16", 70000.0, struct.pack("<e6x", float("inf"))),
        ("fp16", 1.5, struct.pack("<e6x", 1.5)),
        ("bf16", 1.0, b"\x80\x3f" + bytes(6)),
        ("bf16", -1e39, b"\x80\xff" + bytes(6)),
        ("fp32", 3, struct.pack("<f4x", 3.0)),
    ],
)
def test_slots(ty: str, value, bits: bytes) -> None:
    assert Packer(["v"], [ty])([value])[0] == bits


def test_bf16_rounds_to_even_and_keeps_nan() -> None:
    assert bits_of_bf16(1 + 2**-8) == 0x3F80
    assert bits_of_bf16(1 + 3 * 2**-8) == 0x3F82
    assert bits_of_bf16(float("nan")) & 0x7FFF > 0x7F80


def test_tuples_descriptors_and_constants() -> None:
    array = np.zeros((8, 8), np.float32)
    descriptor = tritium.runtime.TensorDescriptor(array, [8, 8], [8, 1], [4, 4])
    packer = Packer(["t", "c", "d"], [("i32", ("constexpr", "fp32")), "constexpr", "tensordesc<fp32[4, 4]>"])
    data, _ = packer([(7, (1, 2.0)), "x", descriptor])
    assert data == struct.pack("<qf4xQqqqq", 7, 2.0, array.ctypes.data, 8, 8, 8, 1)
    assert packer.labels == ["t", "t", "d", "d", "d", "d", "d"]
    assert len(packer.bounds([(7, (1, 2.0)), "x", descriptor])) == 7


def test_the_address_of_bytes() -> None:
    data = b"0123456789"
    assert ctypes.string_at(bytes_address(data), 10) == data


def test_arguments_reach_the_kernel(slots) -> None:
    out = np.zeros(4, np.int64)
    for a, b, c in [(5, -7, 2**40), (5, -7, 2**40), (2**63 + 1, 17, True), (2.5, 6, 48), (2.5, 6, 48), (-2.5, 7, 48)]:
        slots[(1,)](out, a, b, c)
        expected = [out.ctypes.data]
        for v in (a, b, c):
            expected.append(struct.unpack("<q", Packer(["v"], ["fp32"])([v])[0])[0] if isinstance(v, float) else v)
        assert out.view(np.uint64).tolist() == [v % 2**64 for v in expected]


def test_ones_and_none_have_no_slot(compiled) -> None:
    def constants(out, one, none, c):
        pass

    kernel = kernel_of(constants, copy_slots("constants", 2))
    out = np.zeros(2, np.int64)
    kernel[(1,)](out, 1, None, 9)
    assert out.tolist() == [out.ctypes.data, 9]
    assert compiled[0][1] == {"out": "*i64", "one": "constexpr", "none": "constexpr", "c": "i32"}
    assert compiled[0][2] == {(1,): 1, (2,): None}


# ---- what is compiled anew, and what is not -------------------------------------------------------------------------


def test_one_compile_a_specialization(slots, compiled) -> None:
    out = np.zeros(4, np.int64)
    first = slots[(1,)](out, 5, 7, 9)
    assert slots[(1,)](out, 6, 7, 9) is first
    assert slots[(1,)](out, 6, 7, c=9) is first
    assert slots.run(out, 6, 7, 9, grid=(1,)) is first
    for other in [(16, 7, 9), (1, 7, 9), (5, 7, 2**33), (5, True, 9), (5, 7.0, 9), (5, 7, None)]:
        kernel = slots[(1,)](out, *other)
        assert kernel is not first
        assert slots[(1,)](out, *other) is kernel
        assert slots[(1,)](out, 5, 7, 9) is first
    assert len(compiled) == 7


def test_constants_that_compare_equal_are_different_kernels(count, compiled) -> None:
    out = np.zeros(4, np.int32)
    values = [1, True, 1.0, "1", 0.0, -0.0, None, 2]
    kernels = [count[(1,)](out, N=v) for v in values for _ in range(3)]
    assert len({id(k) for k in kernels}) == len(values) == len(compiled)
    assert all(kernels[3 * i] is kernels[3 * i + 2] for i in range(len(values)))
    assert out[0] == 3 * len(values)


def test_alignment_is_looked_at_each_time(slots, compiled) -> None:
    memory = np.zeros(64, np.int64)
    start = memory[(-memory.ctypes.data % 16) // 8 :]
    aligned, odd = start[0:8], start[1:9]
    for out in (aligned, aligned, odd, odd, aligned):
        slots[(1,)](out, 2, 3, 5)
        assert out[0] == out.ctypes.data
    assert [c[3].get((0,)) for c in compiled] == [[["tt.divisibility", 16]], None]


def test_dtypes_are_looked_at_each_time(slots, compiled) -> None:
    memory = np.zeros(4, np.int64)
    for out in (memory, memory, memory.view(np.float64), memory.view(np.uint64), memory):
        slots[(1,)](out, 2, 3, 5)
    assert [c[1]["out"] for c in compiled] == ["*i64", "*fp64", "*u64"]


def test_options(count, compiled) -> None:
    out = np.zeros(4, np.int32)
    kernels = [count[(1,)](out, num_warps=w) for w in (4, 8, 4, 8)]
    assert kernels[0] is kernels[2] and kernels[1] is kernels[3] and kernels[0] is not kernels[1]
    assert kernels[1].metadata.num_warps == 8
    assert out[0] == 4


def test_floats_beyond_f32_take_the_slow_way(slots) -> None:
    out = np.zeros(4, np.int64)
    for value in (1.0, 1.0, 1e300, float("nan"), 2.0):
        slots[(1,)](out, value, 3, 5)
        got = struct.unpack("<f4x", out[1:2].tobytes())[0]
        assert got == value or (value == 1e300 and got == float("inf")) or (value != value and got != got)


# ---- grids ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid, programs",
    [
        ((3,), 3), ([3], 3), (3, 3), ((2, 3), 6), ((2, 3, 2), 12), (np.int64(3), 3), ((np.int32(2), 2), 4),
        (lambda meta: (meta["N"],), 3), (lambda meta: meta["N"] - 1, 2), ((0,), 0), ((4, 0), 0),
        ((0, 2, 3), 0),
    ],
)  # fmt: skip
def test_grids(count, grid, programs: int) -> None:
    out = np.zeros(16, np.int32)
    for turn in (1, 2, 3):
        count[grid](out)
        assert out.tolist() == [turn] * programs + [0] * (16 - programs)


def test_a_grid_function_sees_all_arguments(count) -> None:
    seen = []
    out = np.zeros(4, np.int32)
    for _ in range(3):
        count[lambda meta: seen.append(dict(meta)) or (1,)](out, num_warps=2)
    assert all(m["N"] == 3 and m["out"] is out and m["num_warps"] == 2 for m in seen)


@pytest.mark.parametrize(
    "grid, text",
    [
        (None, "a grid is an integer"),
        ((), "one to three dimensions, not 0"),
        ((1, 1, 1, 1), "one to three dimensions, not 4"),
        ((1.0,), "dimensions of a grid are integers"),
        ("3", "a grid is an integer, a tuple, or a function"),
        ((2**31,), "larger than 2147483647"),
        ((-1,), r"a dimension of the grid \(-1,\) is negative"),
        (-2, "is negative"),
        ((2, -3, 0), r"grid \(2, -3, 0\) is negative"),
        (lambda meta: (meta["N"] - 9,), "is negative"),
        (lambda meta: None, "a grid is an integer"),
        ((2**31 - 1, 2**31 - 1, 2), "more than 2\\^62 programs"),
    ],
)
def test_bad_grids(count, grid, text: str) -> None:
    out = np.zeros(4, np.int32)
    for _ in range(3):
        with pytest.raises(LaunchError, match=f"counter: .*{text}"):
            count[grid](out)
        count[(1,)](out)  # and the fast path reports the same


# ---- arguments ------------------------------------------------------------------------------------------------------


def test_calling_without_a_grid(count) -> None:
    with pytest.raises(LaunchError, match=r"cannot be called directly\nhint: call counter\[grid\]\(...\)"):
        count(np.zeros(1, np.int32))


@pytest.mark.parametrize("warm", [False, True])
def test_wrong_arguments(slots, warm: bool) -> None:
    out = np.zeros(4, np.int64)
    if warm:
        slots[(1,)](out, 5, 7, 9)
    with pytest.raises(ArgumentError, match=r"four: missing argument 'c'; the parameters are \(out, a, b, c\)"):
        slots[(1,)](out, 5, 7)
    with pytest.raises(ArgumentError, match="four: missing arguments 'a', 'c'"):
        slots[(1,)](out, b=3)
    with pytest.raises(ArgumentError, match="four: takes 4 arguments, but 6 were given"):
        slots[(1,)](out, 1, 2, 3, 4, 5)
    with pytest.raises(TypeError, match=r"four\(\) got multiple values for argument 'out'"):
        slots[(1,)](out, 1, 2, 3, out=out)
    with pytest.raises(ArgumentError, match="argument 'b': a kernel cannot take a value of type object"):
        slots[(1,)](out, 1, object(), 3)


def test_unknown_keywords(count) -> None:
    out = np.zeros(4, np.int32)
    with pytest.raises(
        UnknownOptionError, match="counter: 'num_warp' is neither a parameter of the kernel nor an option"
    ):
        count[(1,)](out, num_warp=4)
    with pytest.raises(KeyError, match=r"hint: did you mean 'num_warps'\?"):
        count[(1,)](out, num_warp=4)


@pytest.mark.parametrize("options, text", [({"num_warps": 3}, "power of 2"), ({"sanitize": "yes"}, "True or False")])
def test_options_without_a_meaning_are_errors_of_the_launch(count, options, text: str) -> None:
    with pytest.raises(TritiumError, match=text) as info:
        count[(1,)](np.zeros(1, np.int32), **options)
    assert len(info.traceback) < 5  # no way through the compiler is shown


def test_unhashable_constants(count) -> None:
    with pytest.raises(ArgumentError, match="the compile-time value of 'N' is not hashable: dict"):
        count[(1,)](np.zeros(4, np.int32), N={})


def test_parameters_called_like_anything(compiled) -> None:
    def awkward(grid, self, id, int, launch, args, options, len):
        pass

    kernel = kernel_of(awkward, copy_slots("awkward", 8))
    out = np.zeros(8, np.int64)
    for _ in range(3):
        out[:] = 0
        kernel[(1,)](out, 2, 3, 4, 5, 6, 7, len=8)
        assert out[1:].tolist() == [2, 3, 4, 5, 6, 7, 8]


def test_keyword_only_and_variadic_parameters(compiled) -> None:
    def keyword(out, *, b, c=4):
        pass

    def variadic(out, *rest, last=9):
        pass

    out = np.zeros(4, np.int64)
    kernel = kernel_of(keyword, copy_slots("keyword", 3))
    for _ in range(3):
        kernel[(1,)](out, b=7)
        assert out[1:3].tolist() == [7, 4]
    with pytest.raises(ArgumentError, match="takes 3 arguments, but 4 were given"):
        kernel[(1,)](out, 7)
    kernel = kernel_of(variadic, copy_slots("variadic", 4))
    for _ in range(3):
        kernel[(1,)](out, 5, 6)
        assert out[1:].tolist() == [5, 6, 9]

    def swallowing(out, **rest):
        pass

    with pytest.raises(ArgumentError, match=r"cannot have a parameter \*\*rest"):
        kernel_of(swallowing, copy_slots("swallowing", 1))[(1,)](out)


def test_a_parameter_called_like_an_option(compiled) -> None:
    def both(out, num_warps: tl.constexpr):  # noqa: F821
        pass

    kernel = kernel_of(both, record_pid("both"))[(1,)](np.zeros(1, np.int32), num_warps=2)
    assert kernel.metadata.num_warps == 2
    assert compiled[0][2] == {(1,): 2}


# ---- the compiled kernel --------------------------------------------------------------------------------------------


def test_launch_returns_the_kernel(count) -> None:
    out = np.zeros(8, np.int32)
    kernel = count[(1,)](out)
    assert list(kernel.asm) == ["source", "ttir", "llir", "asm", "obj"]
    assert "define void @counter" in kernel.asm["llir"]
    assert "counter:" in kernel.asm["asm"]
    assert kernel.asm["obj"][:4] == b"\x7fELF" and kernel.kernel is kernel.asm["obj"]
    assert set(kernel.times) == {"source", "ttir", "llir", "obj"}
    assert kernel.metadata.name == kernel.name == "counter"
    assert kernel.metadata.hash == kernel.hash
    assert (kernel.n_spills, kernel.metadata.num_stages) == (0, 3)
    assert kernel.packed_metadata == (4, 1, 0)
    kernel[(2,)](out, 3)
    kernel[(2,)](out)  # without the compile-time argument
    assert out.tolist() == [3, 2, 0, 0, 0, 0, 0, 0]
    with pytest.raises(ArgumentError, match="takes 2 arguments, or 1 without the compile-time ones; 3 were given"):
        kernel[(1,)](out, 1, 2)


def test_warmup_runs_nothing(count) -> None:
    out = np.zeros(4, np.int32)
    kernel = count.warmup(out, grid=(4,))
    assert out.tolist() == [0, 0, 0, 0]
    assert count.warmup(np.dtype("int32"), grid=(4,)) is count[(1,)](out)
    assert kernel.asm["obj"]


def test_arrays_live_during_the_launch(compiled) -> None:
    def print_it(out):
        pass

    # the print callback runs Python in the middle of the launch: collect everything there
    site = {"kind": "print", "file": "", "line": 0, "column": 0}
    details = {
        "prefix": "x",
        "hex": False,
        "shapes": [1, 2],
        "capacities": [1, 2],
        "types": ["i32"],
        "signed": [1],
        "sizes": [4],
    }
    METADATA["print_it"] = {"sites": [{**site, "details": details}]}
    body = slot(0, "ptr") + (
        "  %at = getelementptr i8, ptr %ctx, i64 24\n  %f = load ptr, ptr %at\n"
        "  %t = alloca ptr\n  store ptr %a0, ptr %t\n"
        "  %i = trunc i64 %pid to i32\n  call void %f(ptr null, i32 0, i32 %i, i32 0, i32 0, ptr %t, i64 8)\n"
    )
    kernel = kernel_of(print_it, lambda s, c: program(body, "", "print_it"))
    lines: list[str] = []

    class Collecting:
        def write(self, text: str) -> None:
            gc.collect()
            lines.append(text)

        def flush(self) -> None:
            pass

    saved, sys.stdout = sys.stdout, Collecting()
    try:
        for _ in range(3):
            kernel[(2,)](np.array([7, -8], np.int32))
    finally:
        sys.stdout = saved
    assert sorted(lines) == sorted(
        3 * [f"pid ({p}, 0, 0) idx (0) x: 7\npid ({p}, 0, 0) idx (1) x: -8\n" for p in (0, 1)]
    )


def test_launches_from_several_threads(count) -> None:
    outs = [np.zeros(64, np.int32) for _ in range(4)]
    count[(1,)](np.zeros(64, np.int32))

    def work(out):
        for n in range(200):
            count[(64,)](out, N=3 + n % 2)

    threads = [threading.Thread(target=work, args=(out,)) for out in outs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all((out == 200).all() for out in outs)


def a_kernel(x):
    pass


module_kernel = tritium.jit(a_kernel)
a_kernel = module_kernel


def test_copies_and_pickles_are_the_kernel_itself() -> None:
    assert copy.copy(module_kernel) is module_kernel
    assert copy.deepcopy([module_kernel])[0] is module_kernel
    assert pickle.loads(pickle.dumps(module_kernel)) is module_kernel
    assert module_kernel.__globals__ is globals()
    with pytest.raises(AttributeError, match="cannot be changed"):
        module_kernel.src = "def a_kernel(x): return x"


def test_jit_of_a_jit_function() -> None:
    again = tritium.jit(module_kernel)
    assert again.fn is module_kernel.fn and again.cache_key == module_kernel.cache_key
    with pytest.raises(TypeError, match="jit decorates functions, not int"):
        tritium.jit(3)


# ---- hooks and globals ----------------------------------------------------------------------------------------------


def test_launch_hooks(count) -> None:
    out = np.zeros(4, np.int32)
    count[(1,)](out)
    seen = []
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook.add(lambda m: seen.append(("enter", m.get()["name"], out[0])))
        knobs.runtime.launch_exit_hook.add(lambda m: seen.append(("exit", m.get()["name"], out[0])))
        count[(1,)](out)
        count[(1,)](out)
    count[(1,)](out)
    assert seen == [("enter", "counter", 1), ("exit", "counter", 2), ("enter", "counter", 2), ("exit", "counter", 3)]


def test_launch_metadata(compiled) -> None:
    def described(out, n):
        pass

    def extra(grid, metadata, args):
        return {"bytes": args["n"] * 4, "grid": grid, "warps": metadata.num_warps}

    KERNELS["described"] = record_pid("described")
    kernel = tritium.jit(launch_metadata=extra)(described)
    seen = []
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook.add(lambda m: seen.append(m.get()))
        kernel[(2,)](np.zeros(4, np.int32), 8)
    assert (seen[0]["bytes"], seen[0]["grid"], seen[0]["warps"]) == (32, (2,), 4)


def test_compile_hooks(count, compiled) -> None:
    out = np.zeros(4, np.int32)
    seen = []
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **info: seen.append(info) or True
        assert count[(1,)](out) is None
        assert not compiled and out[0] == 0
        knobs.runtime.jit_cache_hook = None
        knobs.runtime.jit_post_compile_hook = lambda **info: seen.append(info)
        assert count[(1,)](out) is not None
    assert [i["is_manual_warmup"] for i in seen] == [False, False]
    assert seen[0]["fn"].jit_function is count and seen[0]["compile"]["signature"]["out"] == "*i32"


@pytest.mark.shows("JITFunction.add_pre_run_hook")
def test_pre_run_hooks(count) -> None:
    out = np.zeros(4, np.int32)
    count[(1,)](out)
    seen = []
    count.add_pre_run_hook(lambda *args, **kwargs: seen.append((len(args), kwargs)))
    count[(1,)](out, num_warps=2)
    assert seen == [(2, {"num_warps": 2})]


SCALE = 3


def test_globals_may_not_change(compiled, monkeypatch) -> None:
    def reads(out):
        out + SCALE  # noqa: B018

    kernel = kernel_of(reads, record_pid("reads"))
    out = np.zeros(4, np.int32)
    kernel[(1,)](out)
    kernel[(1,)](out)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 4)
    for _ in range(3):
        with pytest.raises(LaunchError, match="global variable 'SCALE' has changed since reads was compiled: it was 3"):
            kernel[(1,)](out)
    monkeypatch.undo()
