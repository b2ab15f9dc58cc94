"""`IssueOrder` against a queue of WGMMAs that is executed, iteration by iteration."""

from __future__ import annotations

import random
from collections import deque

import pytest

from tritium.dialects import ttng
from tritium.ir import parse_module
from tritium.transforms.ttgir.async_wait.in_flight import InFlight, IssueOrder, accumulates, wgmmas_of

HEAD = """
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @kernel(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %c: tensor<64x64xf32, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
"""
DOT = """      %d{0} = ttng.warp_group_dot %a, %a, %c {{isAsync = true}} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
"""
OTHER = "      %x{0} = arith.addi %i, %c1 : i32\n"


def body_of(kinds: str):
    """A loop whose operations are WGMMAs (d) and others (x)."""
    lines = "".join({"d": DOT, "x": OTHER}[kind].format(i) for i, kind in enumerate(kinds))
    module = parse_module(HEAD + lines + "    }\n    tt.return\n  }\n}\n")
    loop = next(op for op in module.walk() if op.name == "scf.for")
    return module, loop.body


@pytest.mark.parametrize("seed", range(8))
def test_issue_order_agrees_with_an_executed_queue(seed: int) -> None:
    rng = random.Random(seed)
    kinds = "".join(rng.choice("dx") for _ in range(rng.randrange(2, 9)))
    module, body = body_of(kinds)
    order = IssueOrder(body, wgmmas_of(body))
    issued: deque[InFlight] = deque()
    for iteration in range(2):
        issued = deque(wgmma._replace(previous=True) for wgmma in issued)
        for position, op in enumerate(body):
            for count in range(len(issued) + 1):
                assert order.youngest(position, count) == list(issued)[len(issued) - count :]
            for age, wgmma in enumerate(reversed(issued)):
                assert order.pendings(wgmma.dot, position, int(wgmma.previous)) == age
            if isinstance(op, ttng.WarpGroupDot):
                issued.append(InFlight(op, False))


def test_only_the_accumulator_may_be_in_flight() -> None:
    module, body = body_of("d")
    (dot,) = wgmmas_of(body)
    assert accumulates(dot, dot.c) and not accumulates(dot, dot.a)
    assert not accumulates(body.last, dot.c)
