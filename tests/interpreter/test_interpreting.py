"""What a kernel sees of Python while it is interpreted: prints, debuggers, control flow; and what goes wrong in it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import TritiumError, knobs
from tritium.runtime import DeviceAssertError, InterpreterError
from tritium.runtime.autotuner import Config, autotune


@tritium.jit
def double(x):
    print("double of", x)
    return x * 2


@tritium.jit
def printing(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    print(f"program {tl.program_id(0)}, the largest {tl.max(value):.2f} of {BLOCK}")
    tl.store(out + at, double(value))


def test_prints_are_pythons(capsys):
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    printing[(1,)](x, out, BLOCK=4)
    assert capsys.readouterr().out == "program 0, the largest 3.00 of 4\ndouble of [0. 1. 2. 3.]\n"
    np.testing.assert_array_equal(out, 2 * x)


@tritium.jit
def stopping(x, n):
    half = n // 2
    breakpoint()
    tl.store(x, half)


def test_a_breakpoint_stops_in_the_kernel(monkeypatch):
    seen = {}

    def hook():
        frame = sys._getframe(1)
        seen.update(frame.f_locals, file=frame.f_code.co_filename, name=frame.f_code.co_name, line=frame.f_lineno)

    monkeypatch.setattr(sys, "breakpointhook", hook)
    x = np.zeros(1, np.int32)
    stopping[(1,)](x, 14)
    assert x[0] == 7
    assert seen["file"] == __file__ and seen["name"] == "stopping"
    assert open(__file__).read().splitlines()[seen["line"] - 1].strip() == "breakpoint()"
    assert repr(seen["half"]) == "int32[] 7"


def test_a_debugger_that_quits_ends_the_launch(monkeypatch):
    from bdb import BdbQuit

    def hook():
        raise BdbQuit

    monkeypatch.setattr(sys, "breakpointhook", hook)
    with pytest.raises(BdbQuit):
        stopping[(1,)](np.zeros(1, np.int32), 14)


@tritium.jit
def outside(x, n):
    at = tl.arange(0, 8)
    tl.store(x + at, at)


@tritium.jit
def calling(x, n):
    outside(x, n)


def test_an_access_outside_of_every_array_is_an_error_with_its_line():
    x = np.zeros(4, np.int32)
    with pytest.raises(InterpreterError) as caught:
        calling[(2,)](x, 3)
    text = str(caught.value)
    assert "store of 4 bytes" in text and "is in no array, 16 bytes from the start of one of 16 bytes" in text
    assert "tl.store(x + at, at)\n" in text and "outside is called from calling" in text
    assert caught.value.program == (0, 0, 0) and "this is program (0, 0, 0)" in text


@tritium.jit
def misspelt(x, n):
    if n > 2:
        tl.store(x, tl.lod(x))


def test_what_is_never_reached_is_no_error():
    x = np.zeros(1, np.int32)
    misspelt[(1,)](x, 2)
    with pytest.raises(tritium.CompilationError, match=r"tl.store\(x, tl.lod\(x\)\)"):
        misspelt[(1,)](x, 3)


@tritium.jit
def asserting(x):
    tl.device_assert(tl.load(x) > 0, "x is positive")


def test_assertions_hold_where_they_would_when_compiled():
    x = np.array([-1], np.int32)
    asserting[(1,)](x)
    with pytest.raises(DeviceAssertError, match="x is positive") as caught:
        asserting[(3,)](x, debug=True)
    assert caught.value.program == (0, 0, 0) and caught.value.kernel == "asserting"
    with pytest.raises(DeviceAssertError, match="x is positive"):
        tritium.jit(debug=True)(asserting.fn)[(1,)](x)


@tritium.jit
def leaving(x, out, n):
    found = -1
    for i in range(n):
        value = tl.load(x + i)
        if value < 0:
            continue
        if value > 9:
            found = i
            break
    else:
        found = n
    tl.store(out, found)
    while True:
        found += 1
        if found > 20:
            tl.store(out + 1, found)
            return


def test_loops_are_left_as_in_python():
    x, out = np.array([3, -20, 4, 11, 12], np.int32), np.zeros(2, np.int32)
    leaving[(1,)](x, out, 5)
    assert out.tolist() == [3, 21]
    leaving[(1,)](x, out, 3)
    assert out.tolist() == [3, 21]
    leaving[(1,)](x, out, 2)
    assert out.tolist() == [2, 21]


@tritium.jit
def wrapping(out, n):
    total = 100
    total = total.to(tl.int8)
    for _ in range(n):
        total += n.to(tl.int8)
    if (last := total + 0) < 0:
        tl.store(out, last)
    (a, b), c = (total, 1), 2
    tl.store(out + 1, a + b + c)


def test_numbers_are_those_of_the_type():
    out = np.zeros(2, np.int8)
    wrapping[(1,)](out, 8)
    assert out.tolist() == [-92, -89]


@tritium.jit
def counting_down(out):
    at = 0
    for i in range(6, -2, -3):
        tl.store(out + at, i)
        at += 1
    for j in tl.static_range(2):
        tl.store(out + at + j, j)


def test_ranges():
    out = np.full(6, 77, np.int32)
    counting_down[(1,)](out)
    assert out.tolist() == [6, 3, 0, 0, 1, 77]


@autotune([Config({"BLOCK": 4}), Config({"BLOCK": 8})], key=["n"])
@tritium.jit
def tuned(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


def test_the_autotuner_takes_the_first_configuration():
    x = np.zeros(10, np.float32)
    tuned[lambda meta: (tritium.cdiv(10, meta["BLOCK"]),)](x, 10)
    assert (x == 1).all() and tuned.best_config.kwargs == {"BLOCK": 4}


@tritium.jit
def tables(pointers, out):
    first = tl.load(pointers).to(tl.pointer_type(tl.float32))
    tl.store(out, tl.load(first + 1))


def test_addresses_in_memory_are_followed():
    x, out = np.array([1, 2, 3], np.float32), np.zeros(1, np.float32)
    tables[(1,)](np.array([x.ctypes.data], np.int64), out)
    assert out[0] == 2
    with pytest.raises(InterpreterError, match="in no array"):
        tables[(1,)](np.array([64], np.int64), out)


@tritium.jit
def unsupported(x):
    y = [v + 1 for v in (1, 2)]
    try:
        tl.store(x, y[0])
    finally:
        tl.store(x, y[1])


def test_python_that_kernels_may_not_use_is_named():
    with pytest.raises(tritium.CompilationError, match="Try is not supported in a kernel"):
        unsupported[(1,)](np.zeros(1, np.int32))


def test_empty_grids_and_options():
    x = np.zeros(4, np.int32)
    outside[(0,)](x, 3)
    outside[(3, 0, 2)](np.zeros(8, np.int32), 3, num_warps=8)
    with pytest.raises(KeyError, match="num_wraps"):
        outside[(1,)](x, 3, num_wraps=8)


def test_strides_and_views_reach_the_memory_behind_them():
    whole = np.zeros((8, 3), np.int32)
    outside[(1,)](whole[:, 1], 3)
    assert whole.reshape(-1)[1:9].tolist() == list(range(8))


@pytest.mark.torch
def test_bf16_and_fp8():
    torch = pytest.importorskip("torch")

    @tritium.jit
    def kernel(x, y, out):
        at = tl.arange(0, 16)
        tl.store(out + at, tl.load(x + at).to(tl.float32) + tl.load(y + at).to(tl.float32))

    x, y = torch.randn(16).to(torch.bfloat16), torch.randn(16).to(torch.float8_e4m3fn)
    out = torch.empty(16, dtype=torch.bfloat16)
    kernel[(1,)](x, y, out)
    assert torch.equal(out, (x.float() + y.float()).to(torch.bfloat16))


@pytest.mark.gpu
def test_arrays_of_a_gpu_are_copied_there_and_back():
    torch = pytest.importorskip("torch")
    x = torch.arange(12, dtype=torch.int32, device="cuda")
    outside[(1,)](x[2:], 3)
    assert x.tolist() == [0, 1, *range(8), 10, 11]


def test_compiled_again_when_the_setting_is_off():
    x = np.arange(4, dtype=np.float32)
    out = np.zeros(4, np.float32)
    printing[(1,)](x, out, BLOCK=4)
    tritium.knobs.runtime.interpret = False
    scale[(1,)](x, out, BLOCK=4)
    assert (out == 3 * x).all()
    tritium.knobs.runtime.interpret = True
    assert scale[(1,)](x, out, BLOCK=4) is None


@tritium.jit
def scale(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * 3)


GROUP = 8


@tritium.jit
def grouped(out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, at // GROUP)


def test_interpreted_kernels_read_globals_that_compiled_ones_refuse() -> None:
    out = np.zeros(32, np.int32)
    with knobs.runtime.scope():
        knobs.runtime.interpret = False
        with pytest.raises(TritiumError, match="Cannot access global variable GROUP"):
            grouped[(1,)](out, BLOCK=32)
        knobs.runtime.interpret = True
        grouped[(1,)](out, BLOCK=32)
    np.testing.assert_array_equal(out, np.arange(32) // 8)
