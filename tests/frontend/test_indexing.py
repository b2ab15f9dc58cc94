"""Which operations elements and slices of blocks become, for every kind of target."""

from __future__ import annotations

from collections import Counter

import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, compile

TARGETS = [GPUTarget("cpu", "host", 1), GPUTarget("hip", "gfx942", 64)]


@tritium.jit
def halves(p):
    x = tl.load(p + tl.arange(0, 64))
    tl.store(p + tl.arange(0, 32), x[:32] + x[1::2])


@tritium.jit
def column(p, i):
    at = tl.arange(0, 16)[:, None] * 8 + tl.arange(0, 8)[None, :]
    x = tl.load(p + at)
    x[:, i] += 1
    x[3, 4] = 5
    tl.store(p + at, x)


@tritium.jit
def row(p, i):
    x = tl.load(p + tl.arange(0, 16)[:, None] * 8 + tl.arange(0, 8)[None, :])
    tl.store(p + tl.arange(0, 8), x[i])


def operations(fn, signature, target) -> Counter:
    text = compile(ASTSource(fn, signature=signature, constexprs={}), target=target, until="ttir").asm["ttir"]
    return Counter(word for word in str(text).replace("(", " ").split() if word.startswith(("tt.", "arith.")))


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.backend)
def test_slices_at_powers_of_two_are_splits(target):
    found = operations(halves, {"p": "*fp32"}, target)
    assert found["tt.split"] == 2 and not found["tt.gather"]


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.backend)
def test_element_assignment_selects_the_new_elements(target):
    found = operations(column, {"p": "*fp32", "i": "i32"}, target)
    assert found["arith.select"] == 2 and not found["tt.gather"] + found["tt.reduce"]


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.backend)
def test_an_element_at_run_time_is_gathered_once(target):
    assert operations(row, {"p": "*fp32", "i": "i32"}, target)["tt.gather"] == 1
