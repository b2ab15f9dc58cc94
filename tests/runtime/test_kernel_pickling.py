"""Compiled kernels in pickles, the way PyTorch's compiler carries them from processes that compile."""

from __future__ import annotations

import copy
import pickle

import numpy as np

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, CompiledKernel, compile


@tritium.jit
def _double(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) * 2, at < n)


def _repr(fn: object) -> str:
    return "_double"


def _carried(kernel: CompiledKernel, fn: tritium.JITFunction) -> CompiledKernel:
    """Through a pickle, the function taken away before."""
    state = {**kernel.__dict__, "metadata": kernel.metadata._asdict(), "run": None, "function": None, "module": None}
    before, fn.fn, fn.__globals__, fn.used_global_vals, fn.repr = fn.fn, None, None, None, _repr
    try:
        data = pickle.dumps(state)
    finally:
        fn.fn = before
    made = CompiledKernel.__new__(CompiledKernel)
    made.__dict__.update(pickle.loads(data))
    return made


def test_unpickled_code_runs() -> None:
    kernel = compile(
        ASTSource(_double, {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 16})
    )
    other = _carried(kernel, _double)
    fn = other.src.fn
    assert fn is not _double and fn.arg_names == ["x", "out", "n", "BLOCK"] and fn.__name__ == "_double"
    assert [p.num for p in fn.params if p.is_constexpr] == [3] and fn.__globals__ is None
    assert other.metadata == kernel.metadata and other.hash == kernel.hash and other.kernel == kernel.kernel
    x, out = np.arange(16, dtype=np.float32), np.full(16, np.nan, np.float32)
    other._init_handles()
    other.run(1, 1, 1, 0, other.function, other.packed_metadata, None, None, None, x, out, 10, 16)
    np.testing.assert_array_equal(out[:10], 2 * x[:10])
    assert np.isnan(out[10:]).all()


def test_a_kernel_is_pickled_by_name_and_copied_as_itself() -> None:
    assert pickle.loads(pickle.dumps(_double)) is _double and copy.deepcopy(_double) is _double
    assert _double.__globals__ is globals() and _double.used_global_vals == {}


@tritium.heuristics({"BLOCK": lambda args: 16})
@tritium.jit
def _triple(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) * 3, at < n)


_tuned = tritium.autotune([tritium.Config({}, pre_hook=lambda args: None)], key=[])(_triple)


def test_decorated_kernels_are_pickled_by_name() -> None:
    """As multiprocessing needs it: hooks and heuristics may be lambdas, which have no pickles."""
    assert pickle.loads(pickle.dumps(_triple)) is _triple
    assert pickle.loads(pickle.dumps(_triple.fn)) is _triple.fn  # the kernel has the name of what is made of it
    other = copy.copy(_tuned)
    other.configs = []
    assert _tuned.configs and other.fn is _triple
