"""Blocks whose dimensions are no powers of two: what is printed of them, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.gpu.emulated import emulated_gpu
from tests.gpu.mirror import EmulatedMirror, launches_on
from tritium.compiler import ASTSource, GPUTarget
from tritium.runtime.driver import driver
from tritium.support import UnsupportedOperation


@tritium.jit
def print_kernel(x):
    m, n = tl.arange(0, 2), tl.arange(0, 3)
    v = tl.load(x + m[:, None] * 3 + n)
    tl.device_print("v", tl.trans(v))


LINES = [f"pid (0, 0, 0) idx ({i}, {j}) v: {3 * j + i}.000000" for i in range(3) for j in range(2)]


def test_elements_of_the_program_are_printed(capfd):
    print_kernel[(1,)](np.arange(6, dtype=np.float32))
    assert capfd.readouterr().out.splitlines() == LINES


def test_elements_of_the_program_are_printed_by_gpus(monkeypatch):
    driver.reset_active()
    with emulated_gpu(monkeypatch) as gpu, launches_on(monkeypatch, lambda: EmulatedMirror(gpu)):
        print_kernel[(1,)](np.arange(6, dtype=np.float32))
    driver.reset_active()
    assert sorted("".join(gpu.prints).splitlines()) == LINES


@tritium.jit
def effects_kernel(x, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(x + at, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [at], tl.int32, False, 1))


@tritium.jit
def _searching(a, b):
    while a < b:
        a += 1
    return a


@tritium.jit
def loop_kernel(x, n: tl.constexpr):
    tl.store(x, tl.reduce(tl.arange(0, n), 0, _searching))


@pytest.mark.parametrize(
    ("kernel", "message"), [(effects_kernel, "with side effects"), (loop_kernel, "a loop or call")]
)
def test_what_takes_powers_of_two(kernel, message):
    def compiled(n):
        source = ASTSource(kernel, {"x": "*i32", "n": "constexpr"}, {"n": n})
        return tritium.compile(source, target=GPUTarget("hip", "gfx942", 64), until="ttir")

    compiled(16)
    with pytest.raises(UnsupportedOperation, match=f"{message}.* requires shapes of powers of two"):
        compiled(12)


@tritium.jit
def size_kernel(x, n: tl.constexpr, m: tl.constexpr):
    at = tl.arange(0, n)[:, None] * m + tl.arange(0, m)
    tl.store(x + at, at)


def test_the_limit_counts_padding():
    x = np.zeros(1, np.int32)
    with pytest.raises(tritium.CompilationError, match=r"numel \(2097152\) exceeds"):
        size_kernel[(1,)](x, 600, 1025)
    with pytest.raises(tritium.CompilationError, match="greater than the start"):
        size_kernel[(1,)](x, 0, 5)


def test_only_powers_of_two_are_left_for_other_compilers():
    source = ASTSource(size_kernel, {"x": "*i32", "n": "constexpr", "m": "constexpr"}, {"n": 3, "m": 5})
    text = tritium.compile(source, target=GPUTarget("hip", "gfx942", 64), until="ttir").asm["ttir"]
    assert "tensor<4x8xi32>" in text and "x5x" not in text and "<3x" not in text
