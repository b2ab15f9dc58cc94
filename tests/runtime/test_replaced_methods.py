"""Programs that replace methods of kernels: `JITFunction.run`, `kernel.run`, `_do_compile`, `compile`."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import tritium
import tritium.compiler
import tritium.language as tl
from tritium.runtime.jit import JITFunction


def fresh_kernel() -> Any:
    @tritium.jit
    def add_one(x, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, at < n) + 1, at < n)

    return add_one


def launch(kernel: Any, times: int) -> np.ndarray:
    """What `times` launches that each add 1 leave in an array of zeros."""
    x = np.zeros(5, np.float32)
    for _ in range(times):
        kernel[(1,)](x, 5, BLOCK=8)
    return x


class Recorder:
    """A replacement for `original` that keeps its calls and passes them on."""

    def __init__(self, original: Any) -> None:
        self.original, self.calls = original, []

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self if instance is None else lambda *args, **kwargs: self(instance, *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append((args, kwargs))
        return self.original(*args, **kwargs)


@pytest.mark.parametrize("launches_before", [0, 1, 4])
def test_run_replaced_in_the_class_sees_every_launch(launches_before):
    kernel = fresh_kernel()
    launch(kernel, launches_before)
    getitem = JITFunction.__getitem__
    recorder = Recorder(JITFunction.run)
    with patch.object(JITFunction, "run", recorder):
        assert (launch(kernel, 3) == 3).all()
    assert [kwargs["grid"] for _, kwargs in recorder.calls] == [(1,)] * 3
    assert all(args[0] is kernel and kwargs["warmup"] is False for args, kwargs in recorder.calls)
    assert JITFunction.__getitem__ is getitem
    assert (launch(kernel, 3) == 3).all()
    assert len(recorder.calls) == 3


def test_run_replaced_without_calling_the_original_launches_nothing():
    kernel = fresh_kernel()
    launch(kernel, 3)
    with patch.object(JITFunction, "run", lambda self, *args, grid, warmup, **kwargs: None):
        assert (launch(kernel, 2) == 0).all()
    assert (launch(kernel, 2) == 2).all()


@pytest.mark.parametrize("launches_before", [0, 1, 4])
def test_run_replaced_in_one_kernel_leaves_others_alone(launches_before):
    kernel, other = fresh_kernel(), fresh_kernel()
    launch(kernel, launches_before)
    kernel.run = recorder = Recorder(kernel.run)
    assert (launch(kernel, 3) == 3).all() and (launch(other, 2) == 2).all()
    assert len(recorder.calls) == 3
    del kernel.run
    assert (launch(kernel, 2) == 2).all()
    assert len(recorder.calls) == 3


def test_launches_call_run_of_a_subclass():
    class Counting(JITFunction):
        launches = 0

        def run(self, *args, **kwargs):
            Counting.launches += 1
            return super().run(*args, **kwargs)

    kernel = Counting(fresh_kernel().fn)
    assert (launch(kernel, 4) == 4).all()
    assert Counting.launches == 4


def test_a_getitem_of_the_program_is_left_in_place():
    kernel = fresh_kernel()
    recorder = Recorder(JITFunction.__getitem__)
    with patch.object(JITFunction, "__getitem__", recorder):
        with patch.object(JITFunction, "run", Recorder(JITFunction.run)):
            launch(kernel, 2)
        launch(kernel, 1)
    assert len(recorder.calls) == 3


def test_autotuner_calls_a_replaced_run():
    tuned = tritium.autotune([tritium.Config({"BLOCK": 8})], key=[])(fresh_kernel())
    x = np.zeros(5, np.float32)
    tuned[(1,)](x, 5)
    recorder = Recorder(JITFunction.run)
    with patch.object(JITFunction, "run", recorder):
        tuned[(1,)](x, 5)
    assert len(recorder.calls) == 1 and (x == 2).all()


def test_do_compile_replaced_sees_each_specialization_once():
    kernel = fresh_kernel()
    recorder = Recorder(JITFunction._do_compile)
    with patch.object(JITFunction, "_do_compile", recorder):
        launch(kernel, 3)
    [((self, _key, signature, _device, constexprs, _options, _attrs, warmup), kwargs)] = recorder.calls
    assert self is kernel and not kwargs and warmup is False
    assert signature == {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"} and constexprs == {(2,): 8}


@pytest.mark.parametrize("where", ["module", "kernel"])
def test_compile_replaced_is_called_on_a_miss(where):
    kernel = fresh_kernel()
    recorder = Recorder(tritium.compiler.compile)
    with patch.object(tritium.compiler if where == "module" else kernel, "compile", recorder):
        launch(kernel, 2)
    [((source,), kwargs)] = recorder.calls
    assert source.fn is kernel and set(kwargs) == {"target", "options"}
