"""`print` in kernels with values that are known at run time: compiled for CPUs, what Python prints."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def printing(p, n, N: tl.constexpr):
    x = tl.load(p + tl.arange(0, N))
    s = tl.sum(x)
    print(f"sum {s:.2f} of {n} {{}} {N=} {x}", x > 2, sep="; ")
    print(x)
    print("50%", x, n, "b", s, end="!\n")
    print(n, s.to(tl.bfloat16), (x > 3).to(tl.uint8) - 1, tl.reshape(x, [1, N]), N, None)
    print(f"{n:>6}|{n!r:>6}|{n.to(tl.uint32):08x}", x[1] > 1, -n.to(tl.int8), sep="", end="")
    print()
    for i in range(n):
        if i > 1:
            print("step", end=f" {N}\n")


WANTED = """sum 10.00 of 3 {} N=5 [0. 1. 2. 3. 4.]; [False False False  True  True]
[0. 1. 2. 3. 4.]
50% [0. 1. 2. 3. 4.] 3 b 10.0!
3 10.0 [255 255 255 255   0] [[0. 1. 2. 3. 4.]] 5 None
     3|     3|00000003False-3
step 5
"""


def test_python_prints(capsys: pytest.CaptureFixture[str]) -> None:
    printing[(1,)](np.arange(5, dtype=np.float32), 3, 5)
    assert capsys.readouterr().out == WANTED


@tritium.jit
def tritons(p, n):
    print("n is", n)
    print("hex", n, hex=True)
    print(f"of {8}", tl.load(p + tl.arange(0, 2)))


def test_a_text_and_values_are_triton_s_form(capsys: pytest.CaptureFixture[str]) -> None:
    tritons[(1,)](np.array([5, 6], np.int32), 3)
    lines = ["() n is: 3", "() hex: 0x00000003", "(0) of 8: 5", "(1) of 8: 6"]
    assert capsys.readouterr().out == "".join(f"pid (0, 0, 0) idx {line}\n" for line in lines)
