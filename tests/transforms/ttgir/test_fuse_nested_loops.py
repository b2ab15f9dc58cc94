"""Fused loops compute the same as nested ones, in the same order, for any trip counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tritium.interpreter.evaluator import run
from tritium.ir import parse_module, verify
from tritium.transforms.canonicalize import canonicalize
from tritium.transforms.cse import cse
from tritium.transforms.ttgir.pipeline.fuse_nested_loops import fuse_nested_loops

HEAD = """
tt.func @nest(%out: !tt.ptr<i32>, %ni: i32, %lj: i32, %nj: i32, %nk: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c31 = arith.constant 31 : i32
  %c7 = arith.constant 7 : i32
"""
TAIL = """
  tt.store %out, %r#0 : !tt.ptr<i32>
  %p1 = tt.addptr %out, %c1 : !tt.ptr<i32>, i32
  tt.store %p1, %r#1 : !tt.ptr<i32>
  tt.return
}
"""


def mixed(result: str, *values: str) -> str:
    """`result` is a number that tells the values and their order: each is added after multiplying by 31."""
    lines, last = [], values[0]
    for n, value in enumerate(values[1:]):
        name = result if n == len(values) - 2 else f"{result}_{n}"
        lines += [f"%{result}_m{n} = arith.muli %{last}, %c31 : i32"]
        lines += [f"%{name} = arith.addi %{result}_m{n}, %{value} : i32"]
        last = name
    return "\n".join(lines) + "\n"


def inner(result: str, variable: str, bounds: str, start: str, *read: str) -> str:
    """A loop that mixes its variable and what it reads into one carried value."""
    return (
        f"%{result} = scf.for %{variable} = {bounds} iter_args(%{result}_in = %{start}) -> (i32) : i32 {{\n"
        + mixed(f"{result}_out", f"{result}_in", variable, *read)
        + f"scf.yield %{result}_out : i32\n}}\n"
    )


def nest(body: str, carried: str, attribute: str) -> str:
    """A loop over %i that carries %a and %b, and stores both when it is through."""
    return (
        HEAD
        + f"%r:2 = scf.for %i = %c0 to %ni step %c1 iter_args(%a = %c7, %b = %c1) -> (i32, i32) : i32 {{\n{body}"
        + f"scf.yield {carried} : i32, i32\n}} {{{attribute}}}\n"
        + TAIL
    )


PLAIN = inner("x", "j", "%lj to %nj step %c1", "c7", "i")
READS = mixed("p", "a", "i") + inner("x", "j", "%lj to %nj step %c2", "p", "i", "p", "b", "a")
VARIES = "%n = arith.addi %i, %nj : i32\n" + mixed("p", "a", "i") + inner("x", "j", "%lj to %n step %c1", "p", "b")
AGAIN = inner("y", "k", "%c0 to %nk step %c1", "q", "a", "x")
NESTS = {
    "plain": (PLAIN, "%x, %i"),
    "sum": (inner("x", "j", "%lj to %nj step %c1", "a", "i"), "%x, %x"),
    "swapped": (PLAIN, "%b, %a"),
    "outside": (READS, "%c2, %x"),
    "early": (READS, "%p, %p"),
    "late": (READS + mixed("e", "x", "a", "p"), "%e, %x"),
    "same": (READS + mixed("e", "x", "b"), "%e, %b"),
    "twice": (READS + mixed("e", "x", "b"), "%e, %e"),
    "stores": (READS + "tt.store %out, %x : !tt.ptr<i32>\n%v = tt.load %out : !tt.ptr<i32>\n", "%v, %p"),
}
SEVERAL = {
    "two": (READS + mixed("q", "x", "a") + AGAIN + mixed("e", "y", "x", "q", "p"), "%e, %q"),
    "two of one start": (PLAIN + inner("y", "k", "%c0 to %nk step %c1", "c7", "a", "x"), "%y, %x"),
    "varies": (VARIES + mixed("e", "x", "a"), "%e, %p"),
    "second varies": (
        READS + mixed("q", "x", "a") + inner("y", "k", "%c0 to %i step %c1", "q", "a", "x") + mixed("e", "y", "b"),
        "%e, %q",
    ),
    "three deep": (
        "%x = scf.for %j = %lj to %nj step %c1 iter_args(%x_in = %a) -> (i32) : i32 {\n"
        + mixed("q", "x_in", "j", "b")
        + inner("y", "k", "%c0 to %nk step %c1", "q", "i", "x_in")
        + mixed("z", "y", "q")
        + "scf.yield %z : i32\n}\n",
        "%x, %i",
    ),
}


def outcomes(module) -> list[tuple[int, ...]]:
    """What is stored, for counts of all loops; the buffer says where nothing was."""
    out = []
    for ni, (lj, nj), nk in itertools.product((-1, 0, 1, 3), ((0, 0), (2, 1), (0, 1), (-1, 2), (0, 3)), (0, 1, 2)):
        memory = np.array([-5, -6], np.int32)
        run(module, 1, [memory, ni, lj, nj, nk])
        out.append(tuple(memory.tolist()))
    return out


def check(text: str, loops: int) -> None:
    module = parse_module(text)
    verify(module)
    expected = outcomes(module)
    assert len(set(expected)) > 1
    fuse_nested_loops(module)
    verify(module)
    found = outcomes(module)
    assert found == expected, f"{text}\nbecame\n{module}"
    canonicalize(module)
    cse(module)
    verify(module)
    assert outcomes(module) == expected
    assert sum(op.name == "scf.for" for op in module.walk()) == loops, str(module)


@pytest.mark.parametrize("name", NESTS)
def test_flatten(name: str) -> None:
    """Two versions: for inner loops that do not run, and fused."""
    check(nest(*NESTS[name], "tt.flatten"), 2)


@pytest.mark.parametrize("name", [*NESTS, *SEVERAL])
def test_always_fuse(name: str) -> None:
    cases = {**NESTS, **SEVERAL}
    check(nest(*cases[name], '"ttg.always-fuse"'), 2 if "varies" in name else 1)
