"""Keys tell apart what gives other code, and nothing else (triton#3648, #704, #3258, #10494)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def maybe_added(x, bias, o):
    at = tl.arange(0, 16)
    v = tl.load(x + at)
    if bias is not None:
        v += tl.load(bias + at)
    tl.store(o + at, v)


def test_none_is_part_of_the_key() -> None:
    x, bias, o = np.ones(16, np.float32), np.full(16, 2, np.float32), np.zeros(16, np.float32)
    for argument, wanted in ((None, 1), (bias, 3), (None, 1), (bias, 3)):
        maybe_added[(1,)](x, argument, o)
        assert (o == wanted).all(), argument


SCRIPT = """
import sys
import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget

NAMES = {"one", "two", "three", "four", "five", "six"}      # a set: its order depends on the hash seed
SCALE = tl.constexpr(SCALE_VALUE)
UNUSED = object()                                           # differs in every process

@tritium.jit
def helper(x):
    return x * SCALE

@tritium.jit
def kernel(x, n, MODES: tl.constexpr):
    at = tl.arange(0, 64)
    v = helper(tl.load(x + at, mask=at < n))
    if "two" in MODES:
        v += 1
    tl.store(x + at, v, mask=at < n)

for target in (GPUTarget("cpu", "x86-64-v3", 1), GPUTarget("cuda", 90, 32)):
    types = {"x": "*fp32", "n": "i32", "MODES": "constexpr"}
    made = tritium.compile(ASTSource(kernel, types, {"MODES": frozenset(NAMES)}), target, until="llir")
    print(made.hash, len(made.asm["llir"]))
"""


def keys(folder: Path, seed: int, scale: str = "2.0") -> list[str]:
    script = folder / "script.py"
    script.write_text(SCRIPT.replace("SCALE_VALUE", scale))
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "TRITIUM_CACHE_DIR": str(folder / f"cache{seed}")}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def test_the_order_of_sets_and_who_a_global_is_are_not(tmp_path: Path) -> None:
    first = keys(tmp_path, 0)
    assert all(keys(tmp_path, seed) == first for seed in (4711,))
    assert keys(tmp_path, 0, "3.0") != first, "the value of a global is"


SCALE = tl.constexpr(2)


@tritium.jit
def scaled(x):
    tl.store(x, tl.load(x) * SCALE)


def test_a_global_that_changes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones(1, np.int32)
    scaled[(1,)](x)
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(5))
    with pytest.raises(tritium.TritiumError, match="'SCALE' has changed"):
        scaled[(1,)](x)
    assert x[0] == 2, "never the old value again"
