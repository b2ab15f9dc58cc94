"""Kernels whose source cannot be read, or is no kernel's: one error, no traceback of ours."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import TritiumError


@tritium.jit
async def asynchronous(p):
    tl.store(p, 1)


def failure(kernel, *args, **constants):
    with pytest.raises(TritiumError) as info:
        kernel[(1,)](*args, **constants)
    assert len(info.traceback) <= 4, "the user sees how the compiler works"
    return info.value


def test_a_kernel_typed_at_a_prompt():
    scope = {"tritium": tritium, "tl": tl}
    exec("@tritium.jit\ndef typed(p):\n    tl.store(p, 1)\n", scope)
    error = failure(scope["typed"], np.zeros(1, np.int32))
    assert isinstance(error, OSError)  # what inspect raises
    assert "the source of typed, defined in <string>, cannot be read" in str(error)
    assert "hint: define kernels in a file" in str(error)


def test_an_async_function():
    assert "asynchronous is async" in str(failure(asynchronous, np.zeros(1, np.int32)))


@tritium.jit
def ramp(p, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), tl.arange(0, N))


def test_non_integer_block_size_is_refused():
    error = failure(ramp, np.zeros(16, np.int32), N=16.0)
    assert "arange's arguments must be integers, got 16.0 of type float" in str(error)


def test_numbers_of_numpy_are_constants():
    out = np.zeros(16, np.int32)
    ramp[(1,)](out, N=np.int64(16))
    assert (out == np.arange(16)).all()


@tritium.jit
def calls_numpy(p):
    tl.store(p, np.exp(1.0))


def test_functions_of_other_libraries():
    assert "hint: use the functions of triton.language" in str(failure(calls_numpy, np.zeros(1, np.int32)))


@tritium.jit
def misspells(p):
    tl.store(p, pytset)  # noqa: F821


def test_modules_are_no_suggestion():
    assert "did you mean" not in str(failure(misspells, np.zeros(1, np.int32)))


def test_a_tensor_without_storage():
    torch = pytest.importorskip("torch")
    error = failure(ramp, torch.zeros(16, dtype=torch.int32).to_sparse(), N=16)
    first, line, caret, hint = str(error).splitlines()
    assert "test_sources.py:" in first and "error: ramp: argument 'p': a tensor of layout torch.sparse_coo" in first
    assert line.endswith("def ramp(p, N: tl.constexpr):") and line[caret.index("^") :].startswith("p, N")
    assert hint == "hint: pass a strided tensor (.to_dense() in torch)"


def test_unsupported_argument_is_reported_at_its_parameter():
    for value, text in ((object(), "cannot take a value of type object"), (1 << 70, "does not fit into 64 bits")):
        error = failure(add_to, np.zeros(1, np.int32), value)
        first, line, caret, *_ = str(error).splitlines()
        assert "error: add_to: argument 'amount': " in first and text in first
        assert line[caret.index("^") : caret.rindex("^") + 1] == "amount"


@tritium.jit
def add_to(
    p,
    amount,
):
    tl.store(p, tl.load(p) + amount)


def test_an_argument_of_a_kernel_without_source():
    scope = {"tritium": tritium, "tl": tl}
    exec("@tritium.jit\ndef typed(p):\n    tl.store(p, 1)\n", scope)
    with pytest.raises(TritiumError, match=r"^typed: argument 'p': a kernel cannot take a value of type object\nhint"):
        scope["typed"][(1,)](object())


@tritium.jit
def assembly(p):
    at = tl.arange(0, 16)
    tl.store(p + at, tl.inline_asm_elementwise("mov", "=r,r", [at], tl.int32, True, 1))


def test_unsupported_operation_is_reported_at_its_source_line():
    text = str(failure(assembly, np.zeros(16, np.int32)))
    first, *_, source, caret = text.splitlines()
    assert "tt.elementwise_inline_asm is not supported on the CPU" in first
    assert source[caret.index("^") :].startswith("tl.inline_asm_elementwise")
