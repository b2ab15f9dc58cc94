"""Read-only arrays are read and never stored to: refused where a kernel surely stores, else where it does."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.runtime import ArgumentError
from tritium.support import settings


@tritium.jit
def doubled_in_a_loop(x, y, out, use_y, N: tl.constexpr):
    at = tl.arange(0, N)
    target = out + at
    for _ in range(2):
        tl.store(target, 2 * tl.load(x + at))
        target += N
    if use_y:
        tl.atomic_add(y + at, 1)


class OnlyInterface:
    def __init__(self, array):
        self.array, self.__array_interface__ = array, array.__array_interface__


def read_only(array, folder, how):
    if how == "memmap":
        array.tofile(folder / "numbers")
        return np.memmap(folder / "numbers", array.dtype, "r", shape=array.shape)
    array = array.copy()
    array.flags.writeable = False
    if how == "interface":
        return OnlyInterface(array)
    return tritium.reinterpret(array, tl.int32) if how == "wrapper" else array


@pytest.mark.parametrize("interpret", [False, True], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("how", ["flags", "memmap", "interface", "wrapper"])
def test_read_only_arrays_are_read_and_never_stored_to(how, interpret, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        if interpret:
            patch.setattr(settings.runtime, "interpret", True)
        kernel = tritium.jit(doubled_in_a_loop.fn)
    x, y, out = np.arange(16, dtype=np.int32), np.zeros(16, np.int32), np.full(32, 7, np.int32)
    constant = read_only(x, tmp_path, how)
    for _ in range(4):  # by the fast path, too
        kernel[(1,)](constant, y, out, False, 16)
    np.testing.assert_array_equal(out, np.concatenate([2 * x, 2 * x]))
    for args in ((x, y, constant), (x, y, constant), (x, constant, out)):
        with pytest.raises(Exception, match="read-only array"):
            kernel[(1,)](*args, True, 16)
    kernel[(1,)](constant, y, out, True, 16)
    np.testing.assert_array_equal(out, np.concatenate([2 * x, 2 * x]))


@tritium.jit
def stores_by_if(x, out, to_x, N: tl.constexpr):
    at = tl.arange(0, N)
    if to_x:
        tl.store(x + at, 1)
    tl.store(out + at, tl.load(x + at))


@tritium.jit
def stores_by_pointer(x, out, to_x, N: tl.constexpr):
    at = tl.arange(0, N)
    target = x if to_x else out
    tl.store(target + at, tl.load(x + at))


@tritium.jit
def stores_by_where(x, out, to_x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(tl.where(at < to_x, x + at, out + at), tl.load(x + at))


@tritium.jit
def stores_by_mask(x, out, to_x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at))
    tl.store(x + at, 1, mask=at < to_x)


@tritium.jit
def stores_by_loop(x, out, to_x, N: tl.constexpr):
    at = tl.arange(0, N)
    target, other = out, x
    for _ in range(to_x + 1):
        tl.store(target + at, tl.load(x + at))
        target, other = other, target


@tritium.jit
def stores_by_number(x, out, to_x, N: tl.constexpr):
    at = tl.arange(0, N)
    address = out.to(tl.int64)
    if to_x:
        address = x.to(tl.int64)
    tl.store(address.to(tl.pointer_type(tl.int32)) + at, tl.load(x + at))


@tritium.jit
def stores_by_descriptor(x, out, to_x, N: tl.constexpr):
    desc = tl.make_tensor_descriptor(x, [to_x], [1], [N])
    tl.store(out + tl.arange(0, N), tl.load(x + tl.arange(0, N)))
    desc.store([0], tl.full([N], 1, tl.int32))


@tritium.jit
def adds_by_if(x, out, to_x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at))
    if to_x:
        tl.atomic_add(x + at, 1)


@pytest.mark.sample(3)
@pytest.mark.parametrize("interpret", [False, True], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("how", ["flags", "memmap", "interface", "view"])
@pytest.mark.parametrize(
    "kernel",
    [stores_by_if, stores_by_pointer, stores_by_where, stores_by_mask, stores_by_loop, stores_by_number,
     stores_by_descriptor, adds_by_if],
    ids=lambda kernel: kernel.__name__,
)  # fmt: skip
def test_read_only_arrays_that_need_not_be_stored_to(kernel, how, interpret, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(settings.runtime, "interpret", interpret)
        kernel = tritium.jit(kernel.fn)
    x = np.arange(2, 18, dtype=np.int32)
    constant = read_only(x, tmp_path, "memmap" if how == "view" else how)
    constant, x = (constant[4:12], x[4:12]) if how == "view" else (constant, x[:8])
    for _ in range(4):  # by the fast path, too
        out = np.zeros(8, np.int32)
        kernel[(1,)](constant, out, 0, 8)
        np.testing.assert_array_equal(out, x)
    for _ in range(3):
        with pytest.raises(Exception, match="argument 'x' is a read-only array, and the kernel stores to it") as caught:
            kernel[(1,)](constant, out, 2, 8)
        assert f"in kernel {kernel.__name__}" in str(caught.value) or interpret
        assert "hint: pass a copy (array.copy())" in str(caught.value)
        assert isinstance(caught.value, ArgumentError) or interpret
        assert "tl." in str(caught.value)  # the line
        kernel[(1,)](x.copy(), out, 2, 8)
    kernel[(1,)](constant, out, 0, 8)
    np.testing.assert_array_equal(out, x)


def test_aliased_memory_read_only_for_one_argument():
    x = np.arange(8, dtype=np.int32)
    constant = x[:]
    constant.flags.writeable = False
    stores_by_pointer[(1,)](constant, x, 0, 8)
    np.testing.assert_array_equal(x, np.arange(8))
    part = x[4:]
    stores_by_if[(1,)](constant[4:], x, 0, 4)
    np.testing.assert_array_equal(x[:4], np.arange(4, 8))
    with pytest.raises(ArgumentError, match="'x' is a read-only array"):
        stores_by_if[(1,)](constant[:4], part, 2, 4)
    np.testing.assert_array_equal(x[:4], np.arange(4, 8))


def test_a_launch_of_no_program_stores_to_nothing():
    x = np.arange(8, dtype=np.int32)
    x.flags.writeable = False
    stores_by_mask[(0,)](x, x, 8, 8)
    with pytest.raises(ArgumentError, match="argument 'out' is a read-only array"):
        stores_by_mask[(1,)](x, x, 8, 8)


@tritium.jit(noinline=True)
def stored_apart(at, value):
    tl.store(at, value)


@tritium.jit
def stores_by_a_call(x, out, N: tl.constexpr):
    stored_apart(out + 1, tl.load(x))


def test_read_only_arrays_that_a_called_function_stores_to():
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    x.flags.writeable = False
    stores_by_a_call[(1,)](x, out, 4)
    assert out.tolist() == [0, 1, 0, 0]
    with pytest.raises(ArgumentError, match="argument 'out' is a read-only array"):
        stores_by_a_call[(1,)](out, x, 4)
