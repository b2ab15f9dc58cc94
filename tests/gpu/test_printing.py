"""What `print` of run-time values becomes on GPUs: the values, under a text that names them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver


@tritium.jit
def printing(p, n):
    x = tl.load(p + tl.arange(0, 2))
    print(f"50% of {n:>5} {x}", n + 1, sep=";")


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    """The emulated one only: what a real one prints, its driver writes when it likes."""
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


def test_parts_are_named() -> None:
    printing[(1,)](np.array([5, 6], np.int32), 3)
    text = "50% of {n} {x};{n + 1}: (operand"
    heads = [f"() {text} 0) 3", f"(0) {text} 1) 5", f"(1) {text} 1) 6", f"() {text} 2) 4"]
    assert set(driver.active.last_report.output.splitlines()) == {f"pid (0, 0, 0) idx {head}" for head in heads}


@tritium.jit
def ending(n):
    print(n, end="")


def test_a_line_ends() -> None:
    with pytest.raises(tritium.CompilationError, match="always ends the line"):
        ending[(1,)](3)
