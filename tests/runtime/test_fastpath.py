"""Quick launches: they see whatever changed since the plan was made, allocate nothing, and leave nothing behind.

Kernels here store the very words they were given, so that what native code packed is compared with what Python packs.
"""

from __future__ import annotations

import gc
import os
import struct
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import tritium.language as tl
from tests.runtime.fake import kernel_of, program, slot
from tritium.runtime import ArgumentError, LaunchError
from tritium.runtime.fastpath.native import native_fastpath
from tritium.runtime.fastpath.table import PLANS
from tritium.runtime.jit import JITFunction, reinterpret
from tritium.support import settings

pytestmark = pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")

COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
TIMES = 4  # the third launch of a kind takes the fast path, and the fourth finds the state that it left


def storing(function: Any, count: int) -> Any:
    """`function` as a kernel that copies its first `count` words to the array that the first of them names."""
    body = slot(0, "ptr") + f"  call void @llvm.memcpy.p0.p0.i64(ptr %a0, ptr %args, i64 {8 * count}, i1 false)\n"
    return kernel_of(function, lambda signature, constants: program(body, COPY, function.__name__))


class Slow:
    """Counts the launches that took the way through Python."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        launch = JITFunction._launch_any

        def counted(*args: Any) -> Any:
            self.count += 1
            return launch(*args)

        monkeypatch.setattr(JITFunction, "_launch_any", counted)

    def during(self, call: Any, times: int = TIMES) -> int:
        """How many of so many calls went through Python."""
        before = self.count
        for _ in range(times):
            call()
        return self.count - before


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    return Slow(monkeypatch)


@pytest.fixture
def four(compiled: Any) -> Any:
    def four(out, a, b=7, c=9):
        pass

    return storing(four, 4)


def words(out: Any) -> list[int]:
    return [int(v) for v in out.view(np.uint64)]


# ---- which launches take the fast path -------------------------------------------------------------------------------


def test_from_the_third_launch_of_a_kind_on(four: Any, slow: Slow) -> None:
    out = np.zeros(4, np.int64)
    assert slow.during(lambda: four[(1,)](out, 3, 5, 11)) == 2
    assert slow.during(lambda: four[(1,)](out, 7, 9, 13)) == 0  # other numbers of the same kind
    assert slow.during(lambda: four[(1,)](out, 32, 9, 13)) == 2  # divisible by 16: another kernel
    assert slow.during(lambda: four[(1,)](out, 3, 5, c=11)) == 2  # called in another way
    assert slow.during(lambda: four[(1,)](out, b=5, a=3, c=11)) == 2
    assert slow.during(lambda: four[(1,)](out, 3, 5, 11)) == 0
    assert words(out) == [out.ctypes.data, 3, 5, 11]


def test_zero_takes_the_fast_path(four: Any, slow: Slow) -> None:
    """Where it may be a divisor, it is compiled as an integer that is not divisible by 16."""
    out = np.zeros(4, np.int64)
    assert slow.during(lambda: four[(1,)](out, 0, 5, 11)) == 2
    assert slow.during(lambda: four[(1,)](out, 0, 7, 13)) == 0
    assert words(out)[1:] == [0, 7, 13]
    for value in (3, 16, 48, -16):  # other kernels than that of 0, or the same with another guard
        four[(1,)](out, value, 5, 11)
        assert words(out)[1:] == [value % 2**64, 5, 11]
    assert slow.during(lambda: four[(1,)](out, 0, 5, 11)) == 0


def test_keywords_and_defaults(four: Any, slow: Slow) -> None:
    out = np.zeros(4, np.int64)
    for call, expected in [
        (lambda n: four[(1,)](out, n), [3, 7, 9]),
        (lambda n: four[(1,)](out, a=n), [3, 7, 9]),
        (lambda n: four[(1,)](c=n, out=out, a=5), [5, 7, 3]),
        (lambda n: four[(1,)](out, 5, num_warps=2, b=n), [5, 3, 9]),
        (lambda n: four[(1,)](**{"".join(["o", "ut"]): out, "a": n}), [3, 7, 9]),  # names that are not interned
    ]:
        assert slow.during(lambda call=call: call(3)) == 2
        assert words(out)[1:] == expected
        call(19)
        assert words(out)[1:] == [19 if v == 3 else v for v in expected]


def test_several_kinds_by_turns(four: Any, slow: Slow) -> None:
    outs = [np.zeros(4, t) for t in (np.int64, np.uint64, np.float64)]
    kinds = [(out, a, warps) for out in outs for a in (3, 2.5, 48) for warps in (1, 2, 4, 8)][:PLANS]
    assert len(kinds) == PLANS

    def launch(out: Any, a: Any, warps: int) -> None:
        four[(1,)](out, a, 5, 11, num_warps=warps)

    for kind in kinds:
        assert slow.during(lambda kind=kind: launch(*kind)) == 2
    for _ in range(2):
        for kind in kinds:
            assert slow.during(lambda kind=kind: launch(*kind), 1) == 0
            assert words(kind[0])[2:] == [5, 11]


def test_bound_launch_may_be_kept(four: Any, slow: Slow) -> None:
    launch = four[(1,)]
    out = np.zeros(4, np.int64)
    assert slow.during(lambda: launch(out, 3, 5, 11)) == 2  # it was made before there was a plan
    kept = four[(1,)]
    assert kept.grid == (1,)
    assert slow.during(lambda: kept(out, 3, 5, 11)) == 0
    with pytest.raises(AttributeError):
        kept.grid = (2,)
    with pytest.raises(TypeError):
        type(kept)()


# ---- what is looked at each time -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [3, -3, 48, -(2**31), 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, True, False, 2.5, -0.0, 1e300],
)
def test_words_equal_the_packing_of_python(four: Any, slow: Slow, value: Any) -> None:
    out = np.zeros(4, np.int64)
    seen = []
    for _ in range(TIMES):
        out[:] = -1
        four[(1,)](out, value, 5, 11)
        seen.append(words(out))
    single = float("inf") if value == 1e300 else value
    bits = struct.pack("<f4x", single) if isinstance(value, float) else (int(value) % 2**64).to_bytes(8, "little")
    assert seen == [[out.ctypes.data, int.from_bytes(bits, "little"), 5, 11]] * TIMES


def test_numbers_of_other_kinds_are_other_kernels(four: Any, compiled: Any) -> None:
    out = np.zeros(4, np.int64)
    for value in [3, 3, 3, 48, 1, 2**31, 2**63, True, 2.5, np.int32(3), None, 3]:
        kernel = four[(1,)](out, value, 5, 11)
        assert kernel is four[(1,)](out, value, 5, 11)
    assert len(compiled) == 8
    assert words(out)[1] == 3


def test_numbers_that_do_not_fit(compiled: Any, slow: Slow) -> None:
    def narrow(out, a: tl.int8, b: tl.uint64):
        pass

    kernel, out = storing(narrow, 3), np.zeros(4, np.int64)
    assert slow.during(lambda: kernel[(1,)](out, -128, 2**63 + 2)) == 2
    assert words(out)[1:3] == [2**64 - 128, 2**63 + 2]
    for a, b in [(128, 2), (-129, 2), (5, 2**64), (5, -1), (2**70, 2), (-5.0, 2)]:
        with pytest.raises(ArgumentError, match=r"argument '[ab]'"):
            kernel[(1,)](out, a, b)
    assert slow.during(lambda: kernel[(1,)](out, 127, 2**64 - 2)) <= 2
    assert words(out)[1:3] == [127, 2**64 - 2]


def test_constants(compiled: Any, slow: Slow) -> None:
    def constants(out, N: tl.constexpr, f: tl.constexpr = None):  # noqa: F821
        pass

    kernel, out = storing(constants, 1), np.zeros(4, np.int64)
    values = [5, 2**70, "text", 1.5, -0.0, 0.0, float("nan"), True, 1, None, tl.float32]
    for value in values:
        kernel[(1,)](out, value)
    made = len(compiled)
    for value in values:
        slow.during(lambda value=value: kernel[(1,)](out, value))
        equal = (
            eval(repr(value), {"nan": float("nan"), "tl": tl}) if not hasattr(value, "primitive_bitwidth") else value
        )
        assert slow.during(lambda equal=equal: kernel[(1,)](out, equal)) == 0, value
    assert len(compiled) == made


def test_settings_and_hooks(four: Any, slow: Slow) -> None:
    out, told = np.zeros(4, np.int64), []
    assert slow.during(lambda: four[(1,)](out, 3)) == 2
    hook = lambda metadata: told.append(metadata.get()["name"])  # noqa: E731
    settings.runtime.launch_exit_hook.add(hook)
    try:
        assert slow.during(lambda: four[(1,)](out, 3)) == TIMES
    finally:
        settings.runtime.launch_exit_hook.remove(hook)
    assert told == ["four"] * TIMES
    assert slow.during(lambda: four[(1,)](out, 3)) <= 3
    four.add_pre_run_hook(lambda *args, **kwargs: told.append(len(args)))
    assert slow.during(lambda: four[(1,)](out, 3)) == TIMES
    assert told[TIMES:] == [4] * TIMES


def test_the_cache_of_a_device_emptied(four: Any, compiled: Any, slow: Slow) -> None:
    out = np.zeros(4, np.int64)
    slow.during(lambda: four[(1,)](out, 3))
    four.device_caches.clear()
    assert slow.during(lambda: four[(1,)](out, 3)) == 2
    four.hash = None
    assert slow.during(lambda: four[(1,)](out, 3)) == 2


# ---- tensors ---------------------------------------------------------------------------------------------------------


@pytest.mark.torch
def test_tensors_that_change_under_the_same_object(four: Any, slow: Slow) -> None:
    import torch

    out = torch.zeros(64, dtype=torch.int64)
    assert slow.during(lambda: four[(1,)](out, 3)) == 2
    for change in (
        lambda: out.set_(torch.zeros(64, dtype=torch.int64)),
        lambda: out.resize_(1 << 16),
        lambda: setattr(out, "data", torch.zeros(128, dtype=torch.int64)[2:]),
        lambda: torch.utils.swap_tensors(out, torch.zeros(64, dtype=torch.int64)),
    ):
        change()
        four[(1,)](out, 5)
        assert out[:4].tolist() == [out.data_ptr(), 5, 7, 9]
    assert slow.during(lambda: four[(1,)](out, 3)) == 0


@pytest.mark.torch
def test_views_and_alignment(four: Any, compiled: Any, slow: Slow) -> None:
    import torch

    memory = torch.zeros(64, dtype=torch.int64)
    for start in (0, 2, 1, 3, 0, 1, 2):
        out = memory[start:]
        for _ in range(TIMES):
            four[(1,)](out, 3)
            assert out[:4].tolist() == [out.data_ptr(), 3, 7, 9]
    assert len(compiled) == 2


@pytest.mark.torch
def test_element_types_classes_and_gradients(four: Any, compiled: Any, slow: Slow) -> None:
    import torch

    class Named(torch.Tensor):
        pass

    plain = torch.zeros(8, dtype=torch.float64)
    kinds = [plain, plain.view(torch.int64), torch.nn.Parameter(plain), plain.as_subclass(Named)]
    kinds.append(torch.zeros(8, dtype=torch.float64, requires_grad=True))
    for _ in range(TIMES):
        for out in kinds:
            four[(1,)](out, 3)
            got = out.detach().view(torch.int64)[:4].tolist()
            assert got == [out.data_ptr(), 3, 7, 9]
    assert len(compiled) == 2  # of floats and of integers
    for out in kinds:
        assert slow.during(lambda out=out: four[(1,)](out, 3)) <= 1


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tensors_without_memory(four: Any, slow: Slow) -> None:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    assert slow.during(lambda: four[(1,)](torch.zeros(8, dtype=torch.float32), 3)) == 2
    for bad in (
        torch.zeros(8, device="meta"),
        torch.sparse_coo_tensor([[0]], [1.0], (8,)),
        FakeTensorMode().from_tensor(torch.zeros(8)),
    ):
        with pytest.raises(ArgumentError, match="four: argument 'out'"):
            four[(1,)](bad, 3)
    assert slow.during(lambda: four[(1,)](torch.zeros(8), 3)) == 0


@pytest.mark.torch
def test_a_tensor_copied_when_it_is_written(four: Any) -> None:
    import torch

    for _ in range(TIMES):
        one = torch.zeros(8, dtype=torch.int64)
        other = torch._lazy_clone(one)
        four[(1,)](other, 3)
        assert one.tolist() == [0] * 8
        assert other[:4].tolist() == [other.data_ptr(), 3, 7, 9]


# ---- grids, threads, memory ------------------------------------------------------------------------------------------


def test_a_grid_function_that_launches_itself(four: Any) -> None:
    out, inner = np.zeros(4, np.int64), np.zeros(4, np.int64)

    def grid(meta: dict[str, Any]) -> tuple[int]:
        assert meta == {"out": out, "a": 3, "b": 7, "c": 11} or meta["out"] is out
        settings.generation.value += 1  # plans are gone
        four[(1,)](inner, 5)
        return (meta["c"] - 10,)

    for _ in range(TIMES):
        four[grid](out, 3, c=11)
        assert words(out)[1:] == [3, 7, 11]
        assert words(inner)[1:] == [5, 7, 9]


@pytest.mark.torch
def test_a_grid_function_that_changes_arguments(four: Any) -> None:
    import torch

    out = torch.zeros(8, dtype=torch.int64)
    kept = []

    def grid(named: dict[str, Any]) -> tuple[int]:
        kept.append(named["out"].view(-1).clone())
        named["out"].set_(torch.zeros(8 + len(kept), dtype=torch.int64)[len(kept) % 2 :])
        return (1,)

    for _ in range(4 * TIMES):
        four[grid](out, 3)
        assert out[:4].tolist() == [out.data_ptr(), 3, 7, 9]


def test_errors_of_grids_and_arguments_leave_nothing_raised(four: Any) -> None:
    out = np.zeros(4, np.int64)
    for _ in range(TIMES):
        four[(1,)](out, 3)
        with pytest.raises(LaunchError, match="four: a grid"):
            four[(1, 1, 1, 1)](out, 3)
        with pytest.raises(ZeroDivisionError):
            four[lambda meta: 1 // 0](out, 3)
        with pytest.raises(ArgumentError, match="four: missing argument 'a'"):
            four[(1,)](out)
        with pytest.raises(ArgumentError, match="takes 4 arguments"):
            four[(1,)](out, 1, 2, 3, 4)


def test_nothing_is_allocated(four: Any, slow: Slow) -> None:
    out, launch = np.zeros(4, np.int64), four
    assert slow.during(lambda: launch[(1,)](out, 3, b=5)) == 2
    gc.collect()
    counts = []
    for _ in range(3):
        for _ in range(2000):
            launch[(1,)](out, 3, b=5)
        counts.append(sys.getallocatedblocks())
    assert counts[2] - counts[1] <= 8, counts
    references = sys.getrefcount(out), sys.getrefcount(launch)
    for _ in range(100):
        launch[(1,)](out, 3, b=5)
    assert (sys.getrefcount(out), sys.getrefcount(launch)) == references


def test_kernels_and_callees_are_freed(compiled: Any) -> None:
    def short(out):
        pass

    out = np.zeros(4, np.int64)
    kernel = storing(short, 1)
    for _ in range(TIMES):
        kernel[(1,)](out)
    grid = Grid()
    grid.launch = kernel[grid]  # a cycle through what is called
    alive = [weakref.ref(kernel), weakref.ref(grid)]
    del kernel, grid
    compiled.clear()
    gc.collect()
    assert alive[1]() is None
    from tests.runtime.fake import KERNELS

    KERNELS.pop("short")
    gc.collect()
    assert alive[0]() is None


class Grid:
    """A grid that is a function."""

    launch: Any = None

    def __call__(self, meta: Any) -> tuple[int]:
        return (1,)


def test_threads_that_change_settings_while_others_launch(four: Any) -> None:
    stop, wrong = threading.Event(), []

    def launch(start: int) -> None:
        out = np.zeros(4, np.int64)
        for n in range(2000):
            a = 2 * (start + n) + 3
            four[(1,)](out, a, c=n % 2 + 2)
            if words(out)[1:] != [a, 7, n % 2 + 2]:
                wrong.append(words(out))
        stop.set()

    def change() -> None:
        while not stop.is_set():
            settings.generation.value += 1
            four.device_caches.get(None)

    threads = [threading.Thread(target=launch, args=(1000 * i,)) for i in range(3)] + [threading.Thread(target=change)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_streams_are_ignored_on_the_cpu_and_checked(four: Any, slow: Slow) -> None:
    out = np.zeros(4, np.int64)
    assert slow.during(lambda: four[(1,)](out, 3, stream=0x44)) == 2
    assert slow.during(lambda: four[(1,)](out, 3, stream=None)) == 2
    with pytest.raises(ArgumentError, match=r"four: stream='x' is not a stream\nhint: pass a handle"):
        four[(1,)](out, 3, stream="x")


# ---- compiled kernels ------------------------------------------------------------------------------------------------


def test_compiled_kernels_take_the_fast_path(compiled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def constants(out, N: tl.constexpr, a, b: tl.int64):  # noqa: F821
        pass

    out, calls = np.zeros(4, np.int64), []
    kernel = storing(constants, 3)[(1,)](out, 5, 7, 9)
    slow = type(kernel.launcher).__call__
    monkeypatch.setattr(type(kernel.launcher), "__call__", lambda *args: calls.append(1) or slow(*args))
    for args in ((out, 5, 7, 9), (out, 7, 9)):
        for n in range(TIMES):
            assert kernel[(1,)](*args[:-2], 16 * n + 1, 1 << 40) is None
            assert words(out)[:3] == [out.ctypes.data, 16 * n + 1, 1 << 40]
    assert len(calls) == 4
    for turn in range(TIMES):
        kernel[lambda meta: (meta["a"] - 6,)](out, 5, 7, turn, stream=3)
        assert words(out)[:3] == [out.ctypes.data, 7, turn]
    assert len(calls) == 6
    for bad, text in (
        (("x",), "takes 4 arguments"),
        ((out, 5, 1 << 40, 9), "does not fit"),
        ((3, 5, 7, 9), "an array"),
    ):
        with pytest.raises(ArgumentError, match=f"constants.*{text}"):
            kernel[(1,)](*bad)
    with pytest.raises(ArgumentError, match="constants: the only keyword of a compiled kernel is stream, not 'b'"):
        kernel[(1,)](out, 7, b=9)


def test_hooks_of_compiled_kernels(four: Any) -> None:
    out, told = np.zeros(4, np.int64), []
    kernel = four[(1,)](out, 3)
    for _ in range(TIMES):
        kernel[(1,)](out, 3, 5, 7)
    hook = lambda metadata: told.append((metadata.get()["name"], metadata.get()["stream"]))  # noqa: E731
    settings.runtime.launch_enter_hook.add(hook)
    try:
        kernel[(1,)](out, 3, 5, 7, stream=9)
        kernel[(1,)](out, 3, 5, 7)
    finally:
        settings.runtime.launch_enter_hook.remove(hook)
    kernel[(1,)](out, 3, 5, 7)
    assert told == [("four", 9), ("four", 0)]


@pytest.mark.torch
def test_tensors_without_torchs_c_functions(
    four: Any, compiled: Any, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from tritium.runtime.fastpath import plan

    monkeypatch.setattr(plan, "functions_for", lambda tensor: 0)  # as with torch 2.1
    memory = torch.zeros(64, dtype=torch.int64)
    assert slow.during(lambda: four[(1,)](memory, 3)) == 2
    for out in (memory, memory[2:], memory[1:], memory.view(torch.float64), torch.zeros(8, dtype=torch.int64)):
        for _ in range(TIMES):
            four[(1,)](out, 5)
            assert out.view(torch.int64)[:4].tolist() == [out.data_ptr(), 5, 7, 9]
    assert len(compiled) == 3
    with pytest.raises(ArgumentError, match="device meta"):
        four[(1,)](memory.to("meta"), 3)
    assert slow.during(lambda: four[(1,)](memory, 3)) <= 2


def test_arrays_seen_with_another_element_type(four: Any, slow: Slow) -> None:
    out, other = np.zeros(4, np.int64), np.zeros(4, np.int64)
    seen = reinterpret(out, "float64")
    assert slow.during(lambda: four[(1,)](seen, 3)) == 2
    assert words(out) == [out.ctypes.data, 3, 7, 9]
    four[(1,)](reinterpret(other, "float64"), 5)
    assert words(other) == [other.ctypes.data, 5, 7, 9]


def test_parameters_with_types_of_their_own(compiled: Any, slow: Slow) -> None:
    def typed(out, a: tl.float32, b: tl.float64, c: tl.int1, d: tl.int16, e: tl.float16):
        pass

    kernel, out = storing(typed, 6), np.zeros(6, np.int64)
    for n in range(TIMES):
        kernel[(1,)](out, 1.5 + n, 1e300, n % 2 == 0, -n, 0.25)
        expected = struct.pack("<f4xd??6xqe6x", 1.5 + n, 1e300, n % 2 == 0, False, -n, 0.25)
        assert words(out)[1:] == list(struct.unpack("<5Q", expected))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_child_continues(four: Any, slow: Slow) -> None:
    out = np.zeros(4, np.int64)
    slow.during(lambda: four[(8,)](out, 3))
    child = os.fork()
    if not child:
        good = slow.during(lambda: four[(8,)](out, 5)) == 0 and words(out)[1:] == [5, 7, 9]
        good = good and slow.during(lambda: four[(8,)](out, 2.5)) == 2 and words(out)[2:] == [7, 9]
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert slow.during(lambda: four[(8,)](out, 11)) == 0
    assert words(out)[1:] == [11, 7, 9]
