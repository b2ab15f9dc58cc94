"""What the tests of `tritium opt` run it on."""

from __future__ import annotations

import re
import subprocess
import sys

PROGRAM = """\
tt.func public @f(%o: !tt.ptr<i32>, %x: i32) {
  %a = arith.muli %x, %x : i32
  %b = arith.muli %x, %x : i32
  %c = arith.addi %a, %b : i32
  %dead = arith.addi %c, %b : i32
  tt.store %o, %c : !tt.ptr<i32>
  tt.return
}
"""
MERGED = """\
module {
  tt.func public @f(%o: !tt.ptr<i32>, %x: i32) {
    %a = arith.muli %x, %x : i32
    %c = arith.addi %a, %a : i32
    tt.store %o, %c : !tt.ptr<i32>
    tt.return
  }
}
"""
OWN_PASS = """\
from tritium.dialects import arith
from tritium.ir import count, functions_of, pass_on, rewrite_greedily, rule


@rule(arith.MulI)
def product_to_sum(op):
    '''x * y = x + y, which is wrong'''
    return arith.AddI(op.lhs, op.rhs)


@pass_on("function")
def sums(func):
    '''Replace products by sums.'''
    count("functions seen")
    return rewrite_greedily(func, [product_to_sum])


@pass_on("function")
def crash(func):
    '''Fail at the first addition.'''
    for op in func.walk():
        if op.name == "arith.addi":
            error = ZeroDivisionError("division by zero")
            error.operation = op
            raise error


@pass_on("module")
def breaks(module):
    '''Leave an operand that does not belong there.'''
    op = next(op for op in module.walk() if op.name == "arith.muli")
    op.operands[0] = op.operands[0].block.args[0]


@pass_on("function")
def endless(func):
    '''Never end.'''
    import time

    while True:
        time.sleep(0.01)
"""


def command(*arguments: str, text: str | bytes | None = None, **more) -> subprocess.CompletedProcess:
    data = text.encode() if isinstance(text, str) else text
    return subprocess.run(
        [sys.executable, "-m", "tritium", "opt", *arguments], input=data, capture_output=True, timeout=60, **more
    )


def headings(err):
    return re.findall(r"// -----// IR Dump (.*) //----- //", err)
