"""LLVM's load/store vectorizer runs only on modules without accesses to global memory that it might merge wrongly."""

from __future__ import annotations

import re

import pytest

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget, compile

ATTRIBUTES = ("noimplicitfloat", "tritium-no-access-merging")  # the second becomes the first when AMD code is generated
SM90, SM100, GFX942 = GPUTarget("cuda", 90, 32), GPUTarget("cuda", 100, 32), GPUTarget("hip", "gfx942", 64)
ALIGNED = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}


@tritium.jit
def copy(x, out, n, BLOCK: tl.constexpr, MASK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n if MASK else None
    tl.store(out + at, tl.load(x + at, mask=mask), mask=mask)


@tritium.jit(noinline=True)
def _copy(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))


@tritium.jit
def calls(x, out, BLOCK: tl.constexpr):
    _copy(x, out, BLOCK)


def functions(kernel, target, element="i16", **constants):
    """LLVM's attributes of each function that the optimized module defines."""
    signature = {"x": f"*{element}", "out": f"*{element}", **({"n": "i32"} if "MASK" in constants else {})}
    source = ASTSource(kernel, {**signature, **dict.fromkeys(constants, "constexpr")}, constants, ALIGNED)
    text = str(compile(source, target=target, options={"num_warps": 1}, until="llir").asm["llir"])
    groups = dict(re.findall(r"^attributes (#\d+) = \{(.*)\}$", text, re.M))
    heads = re.findall(r"^define [^\n]*\{$", text, re.M)
    return ["".join(groups[name] for name in re.findall(r"#\d+", head)) for head in heads]


def marked(attributes):
    return any(name in attributes for name in ATTRIBUTES)


@pytest.mark.parametrize("target", [SM90, SM100, GFX942])
def test_small_accesses_disable_the_vectorizer(target):
    assert marked(functions(copy, target, BLOCK=64, MASK=False)[0])


def test_predicated_accesses_are_no_loads_of_llvm():
    assert not marked(functions(copy, SM90, BLOCK=64, MASK=True)[0])


@pytest.mark.parametrize("target, considered", [(SM90, False), (SM100, True), (GFX942, True)])
def test_the_longest_access_depends_on_the_target(target, considered):
    """16 bytes: the whole of `ld.global.v4.b32`, half of `ld.global.v8.b32`, a quarter of what AMD's target merges."""
    (attributes,) = functions(copy, target, "i32", BLOCK=4 * target.warp_size, MASK=False)
    assert marked(attributes) is considered


def test_all_functions_of_a_module_have_the_attribute():
    found = functions(calls, SM90, BLOCK=64)
    assert found and all(map(marked, found))
