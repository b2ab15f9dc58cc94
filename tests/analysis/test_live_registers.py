"""Live tensors after operations, in registers of a thread, against counts by hand and against a search for later uses."""

from __future__ import annotations

import random

import pytest

import tritium.dialects.all  # noqa: F401
from tritium.analysis.live_registers import live_registers, registers_of_tensor
from tritium.ir import Operation, parse_module

HEAD = """#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.target" = "cuda:90"} {
  tt.func @f(%x: tensor<64x64xf32, #b>, %h: tensor<64x64xf16, #b>, %p: tensor<64x64x!tt.ptr<f32>, #b>, %c: i1, %n: i32) {
"""
TAIL = "    tt.return\n  }\n}\n"


def function(body: str) -> Operation:
    module = parse_module(HEAD + body + TAIL)
    return next(op for op in module.walk() if op.name == "tt.func")


def after(func: Operation, name: str, index: int = 0) -> int:
    """The registers that are live after the operation of a name, the `index`-th of them."""
    return live_registers(func).registers([op for op in func.walk() if op.name == name][index])


def test_elements_of_a_thread_are_packed() -> None:
    func = function("")
    x, h, p, c, _ = func.regions[0].blocks[0].args
    assert [registers_of_tensor(v) for v in (x, h, p, c)] == [32, 16, 2, 0]


def test_a_dead_operand_frees_its_registers() -> None:
    func = function(
        "    %y = arith.extf %h : tensor<64x64xf16, #b> to tensor<64x64xf32, #b>\n"
        "    %z = arith.addf %y, %x : tensor<64x64xf32, #b>\n    tt.store %p, %z : tensor<64x64x!tt.ptr<f32>, #b>\n"
    )
    assert after(func, "arith.extf") == 32 + 32 + 2
    assert after(func, "arith.addf") == 32 + 2
    assert after(func, "tt.store") == 0


def test_a_renamed_tensor_occupies_the_registers_of_its_operand() -> None:
    func = function(
        '    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({\n    ^bb0(%a: f32, %b: f32):\n'
        "      %s = arith.addf %a, %b : f32\n      tt.reduce.return %s : f32\n"
        "    }) : (tensor<64x64xf32, #b>) -> tensor<64xf32, #r>\n"
        "    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xf32, #r> -> tensor<64x1xf32, #b>\n"
        "    %w = tt.broadcast %e : tensor<64x1xf32, #b> -> tensor<64x64xf32, #b>\n"
        "    tt.store %p, %w : tensor<64x64x!tt.ptr<f32>, #b>\n"
    )
    assert after(func, "tt.reduce") == after(func, "tt.broadcast") == 4 + 2


def test_a_loop_carried_tensor_counts_once() -> None:
    func = function(
        "    %k0 = arith.constant 0 : i32\n    %k1 = arith.constant 1 : i32\n"
        "    %s = scf.for %i = %k0 to %n step %k1 iter_args(%a = %x) -> (tensor<64x64xf32, #b>) : i32 {\n"
        "      %m = arith.mulf %a, %a : tensor<64x64xf32, #b>\n"
        "      scf.yield %m : tensor<64x64xf32, #b>\n    }\n"
        "    tt.store %p, %s : tensor<64x64x!tt.ptr<f32>, #b>\n"
    )
    live = live_registers(func)
    assert after(func, "arith.mulf") == 32 + 2, "the next value and the pointers used after the loop"
    peak = live.peak()
    assert peak is not None and peak.registers == 34
    assert [n for _, n in live.values(peak.op)] == [32, 2]


def test_a_tensor_used_in_a_loop_is_live_in_every_iteration() -> None:
    func = function(
        "    %k0 = arith.constant 0 : i32\n    %k1 = arith.constant 1 : i32\n"
        "    scf.for %i = %k0 to %n step %k1 : i32 {\n"
        "      %m = arith.mulf %x, %x : tensor<64x64xf32, #b>\n"
        "      tt.store %p, %m : tensor<64x64x!tt.ptr<f32>, #b>\n    }\n"
    )
    assert after(func, "tt.store") == 32 + 2


def test_what_one_branch_uses_is_live_before_both() -> None:
    func = function(
        "    %d = arith.constant 1 : i32\n    %y = arith.negf %x : tensor<64x64xf32, #b>\n    scf.if %c {\n"
        "      tt.store %p, %y : tensor<64x64x!tt.ptr<f32>, #b>\n    } else {\n"
        "      tt.store %p, %x : tensor<64x64x!tt.ptr<f32>, #b>\n    }\n"
    )
    assert after(func, "arith.negf") == 32 + 32 + 2


@pytest.mark.parametrize("seed", range(8))
def test_straight_code_against_a_search_for_later_uses(seed: int) -> None:
    rng = random.Random(seed)
    names, lines = ["%x"], []
    for i in range(20):
        a, b = rng.choice(names), rng.choice(names)
        lines.append(f"    %v{i} = arith.addf {a}, {b} : tensor<64x64xf32, #b>\n")
        names.append(f"%v{i}")
    func = function("".join(lines) + f"    tt.store %p, {names[-1]} : tensor<64x64x!tt.ptr<f32>, #b>\n")
    ops = list(func.regions[0].blocks[0])
    live = live_registers(func)
    for at, op in enumerate(ops):
        made = [*func.regions[0].blocks[0].args, *(r for one in ops[: at + 1] for r in one.results)]
        later = {v for one in ops[at + 1 :] for v in one.operands}
        assert live.registers(op) == sum(registers_of_tensor(v) for v in made if v in later), op
