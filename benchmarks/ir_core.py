"""What an operation costs in each part of the IR core, in bytecodes and microseconds, and whether that is allowed.

    python benchmarks/ir_core.py            the tables, with xDSL beside us where it is installed
    python benchmarks/ir_core.py --gate     our own figures only; exit with 1 where a budget is broken

Three programs: `ttgir` is what Triton 3.9 makes of an attention kernel for sm90, layouts, locations and all (its text
stands in tests/corpus); `ttir` an attention kernel in TTIR, eight functions of it; `chain` two thousand additions and
multiplications, each on the one before.

Held to its budget is the number of bytecodes that Python runs: it is the same on every machine, busy or not. (Python
versions count differently: budgets grow with what the calibration loop takes, `CALIBRATION_BYTECODES` with 3.11.)
What C functions take is not in that number, so time has a bound too, `SLACK` times the budget in microseconds, which
only a mistake breaks: that budget is for a machine on which the loop takes `CALIBRATION_US`, and grows on a slower one.
Time is the processor's, and the best of several rounds counts: noise only ever adds.
"""

from __future__ import annotations

import argparse
import gc
import io
import itertools
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tritium.transforms
from tritium.dialects import arith, builtin, tt
from tritium.ir import (
    Block,
    Builder,
    FunctionType,
    PassManager,
    Region,
    TensorType,
    f32,
    i32,
    parse_module,
    print_op,
    verify,
)
from tritium.support.collection import paused
from tritium.transforms.canonicalize import canonicalize
from tritium.transforms.cse import cse

assert tritium.transforms
#: Bytecodes and us per operation at most; `places` is printing with locations, of which an inlined program has many.
BUDGETS = {
    "build": (290, 3.0),
    "parse": (1850, 25.0),
    "print": (450, 5.0),
    "places": (630, 6.5),
    "verify": (350, 2.0),
    "clone": (280, 2.5),
    "cse": (175, 2.5),
    "canonicalize": (400, 8.0),
}
#: Forty passes over the TTGIR: thousands of bytecodes and ms at most.
FORTY_BUDGET = {"forty": (1900, 15.0)}
#: What no noise makes of a time within its budget.
SLACK = 1.6
FORTY = ["canonicalize", "cse", "dce", "symbol-dce"] * 8 + ["licm", "loop-aware-cse", "sccp", "combine"] * 2
#: us of one calibration round on the machine the budgets were checked on: AMD EPYC (Zen 5), CPython 3.11, 2026-11-21.
CALIBRATION_US = 290.0
#: Bytecodes of one, CPython 3.11.
CALIBRATION_BYTECODES = 58_037
FUNCTIONS = 8
CHAIN = 2000
TTGIR = (
    Path(__file__).parents[1]
    / "tests/corpus/triton-3.9/attention.attention_backward_keys.backward_keys.sm90.ttgir.mlir"
)

KERNEL = """\
  tt.func public @attention_{n}(%q: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %k: !tt.ptr<f16>, %v: !tt.ptr<f16>, \
%out: !tt.ptr<f16>, %stride: i32, %n_ctx: i32) attributes {{noinline = false}} {{
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %low = arith.constant dense<0xFF800000> : tensor<64xf32>
    %sum = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %scale = arith.constant dense<1.250000e-01> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c64_i32 : i32
    %range = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    %first = tt.splat %start : i32 -> tensor<64xi32>
    %rows = arith.addi %first, %range : tensor<64xi32>
    %rows_e = tt.expand_dims %rows {{axis = 1 : i32}} : tensor<64xi32> -> tensor<64x1xi32>
    %cols_e = tt.expand_dims %range {{axis = 0 : i32}} : tensor<64xi32> -> tensor<1x64xi32>
    %stride_s = tt.splat %stride : i32 -> tensor<64x1xi32>
    %row_off = arith.muli %rows_e, %stride_s : tensor<64x1xi32>
    %row_b = tt.broadcast %row_off : tensor<64x1xi32> -> tensor<64x64xi32>
    %col_b = tt.broadcast %cols_e : tensor<1x64xi32> -> tensor<64x64xi32>
    %off = arith.addi %row_b, %col_b : tensor<64x64xi32>
    %q_s = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %q_p = tt.addptr %q_s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %n_s = tt.splat %n_ctx : i32 -> tensor<64x1xi32>
    %inside = arith.cmpi slt, %rows_e, %n_s : tensor<64x1xi32>
    %mask = tt.broadcast %inside : tensor<64x1xi1> -> tensor<64x64xi1>
    %q_v = tt.load %q_p, %mask : tensor<64x64x!tt.ptr<f16>>
    %k_s = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %k_p = tt.addptr %k_s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %v_s = tt.splat %v : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %v_p = tt.addptr %v_s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %r:3 = scf.for %i = %c0_i32 to %n_ctx step %c64_i32 iter_args(%acc = %zero, %m = %low, %l = %sum) \
-> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)  : i32 {{
      %i_stride = arith.muli %i, %stride : i32
      %i_s = tt.splat %i_stride : i32 -> tensor<64x64xi32>
      %k_i = tt.addptr %k_p, %i_s : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %k_v = tt.load %k_i : tensor<64x64x!tt.ptr<f16>>
      %k_t = tt.trans %k_v {{order = array<i32: 1, 0>}} : tensor<64x64xf16> -> tensor<64x64xf16>
      %qk = tt.dot %q_v, %k_t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %qk_s = arith.mulf %qk, %scale : tensor<64x64xf32>
      %top = "tt.reduce"(%qk_s) <{{axis = 1 : i32}}> ({{
      ^bb0(%a: f32, %b: f32):
        %max = arith.maxnumf %a, %b : f32
        tt.reduce.return %max : f32
      }}) : (tensor<64x64xf32>) -> tensor<64xf32>
      %m_new = arith.maxnumf %m, %top : tensor<64xf32>
      %m_e = tt.expand_dims %m_new {{axis = 1 : i32}} : tensor<64xf32> -> tensor<64x1xf32>
      %m_b = tt.broadcast %m_e : tensor<64x1xf32> -> tensor<64x64xf32>
      %diff = arith.subf %qk_s, %m_b : tensor<64x64xf32>
      %p = math.exp %diff : tensor<64x64xf32>
      %m_d = arith.subf %m, %m_new : tensor<64xf32>
      %alpha = math.exp %m_d : tensor<64xf32>
      %p_sum = "tt.reduce"(%p) <{{axis = 1 : i32}}> ({{
      ^bb0(%a: f32, %b: f32):
        %add = arith.addf %a, %b : f32
        tt.reduce.return %add : f32
      }}) : (tensor<64x64xf32>) -> tensor<64xf32>
      %l_a = arith.mulf %l, %alpha : tensor<64xf32>
      %l_new = arith.addf %l_a, %p_sum : tensor<64xf32>
      %al_e = tt.expand_dims %alpha {{axis = 1 : i32}} : tensor<64xf32> -> tensor<64x1xf32>
      %al_b = tt.broadcast %al_e : tensor<64x1xf32> -> tensor<64x64xf32>
      %acc_s = arith.mulf %acc, %al_b : tensor<64x64xf32>
      %v_i = tt.addptr %v_p, %i_s : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %v_v = tt.load %v_i : tensor<64x64x!tt.ptr<f16>>
      %p_h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
      %acc_n = tt.dot %p_h, %v_v, %acc_s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %acc_n, %m_new, %l_new : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }}
    %l_e = tt.expand_dims %r#2 {{axis = 1 : i32}} : tensor<64xf32> -> tensor<64x1xf32>
    %l_b = tt.broadcast %l_e : tensor<64x1xf32> -> tensor<64x64xf32>
    %o = arith.divf %r#0, %l_b : tensor<64x64xf32>
    %o_h = arith.truncf %o : tensor<64x64xf32> to tensor<64x64xf16>
    %o_s = tt.splat %out : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %o_p = tt.addptr %o_s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    tt.store %o_p, %o_h, %mask : tensor<64x64x!tt.ptr<f16>>
    tt.return
  }}
"""


def chain() -> str:
    """A function of `CHAIN` operations."""
    lines = [f"  %{i} = arith.{('addi', 'muli')[i % 2]} %{i - 1}, %x : i32" for i in range(1, CHAIN)]
    return "\n".join(["tt.func @chain(%0: i32, %x: i32) -> i32 {", *lines, f"  tt.return %{CHAIN - 1} : i32", "}", ""])


def programs() -> dict[str, str]:
    """The texts of the modules measured on."""
    return {
        "ttir": "module {\n" + "".join(KERNEL.format(n=n) for n in range(FUNCTIONS)) + "}\n",
        "chain": chain(),
        "ttgir": TTGIR.read_text(),  # last: its dialects stay loaded, and those of layouts add to every verification
    }


def build() -> int:
    """Make operations by their constructors and a builder, as the frontend does; returns how many."""
    tile, pointers = TensorType((64, 64), f32), TensorType((64, 64), tt.PointerType(f32))
    func = tt.Func.build("f", FunctionType((tt.PointerType(f32), i32), ()))
    module = builtin.Module(Region(Block()))
    module.body.append(func)
    pointer, size = func.entry.args
    b = Builder(func.entry)
    for _ in range(40):
        start = b.add(arith.MulI(b.add(tt.GetProgramId(0)), size))
        offsets = b.add(tt.Splat(start, result=TensorType((64, 64), i32)))
        inside = b.add(arith.CmpI(arith.CmpIPredicate.slt, offsets, offsets))
        address = b.add(tt.AddPtr(b.add(tt.Splat(pointer, result=pointers)), offsets))
        x = b.add(tt.Load(address, inside, b.add(arith.Constant.of(0.0, tile))))
        b.insert(tt.Store(address, b.add(arith.AddF(x, b.add(arith.MulF(x, x)))), inside))
    b.insert(tt.Return([]))
    return 40 * 11 + 3


class _Node:
    __slots__ = ("links", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.links: dict[_Node, int] = {}


def calibration() -> float:
    """What one round of objects, dictionaries and strings takes, in us: the same kind of work as the IR's."""
    start = time.process_time()
    nodes = [_Node(f"n{i}") for i in range(1000)]
    for a, b in itertools.pairwise(nodes):
        a.links[b] = a.links.get(b, 0) + 1
    "".join([f"{n.name} {len(n.links)}" for n in nodes if isinstance(n, _Node)])
    return (time.process_time() - start) * 1e6


def best(work: Callable[[object], object], fresh: Callable[[], object], rounds: int) -> float:
    """The shortest time of `work` on a fresh argument, in us; the collector is off, as it is during a compile."""
    times = []
    for _ in range(rounds):
        argument = fresh()
        gc.collect()
        gc.disable()
        start = time.process_time()
        work(argument)
        times.append(time.process_time() - start)
        gc.enable()
    return min(times) * 1e6


def bytecodes(work: Callable[[object], object], fresh: Callable[[], object]) -> int:
    """How many bytecodes Python runs for `work` on a fresh argument, once what is cached is there.

    The collector is off: finalizers of what others left behind, which it calls whenever it runs, would count.
    """
    work(fresh())
    argument = fresh()
    count = 0

    def inside(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "opcode"
        return inside

    def entered(frame: Any, event: str, _: Any) -> Any:
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return inside

    before = sys.gettrace()
    with paused():
        sys.settrace(entered)
        try:
            work(argument)
        finally:
            sys.settrace(before)
    return count


Tasks = dict[str, tuple[Callable[[Any], object], Callable[[], object], float]]


def ours(text: str) -> Tasks:
    """What is measured of one program: the work, its argument, and by what to divide."""
    module = parse_module(text)
    count = sum(1 for _ in module.walk())
    places = {"places": (lambda m: print_op(m, locations=True), lambda: module, count)} if "loc(" in text else {}
    return {
        "build": (lambda _: build(), lambda: None, build()),
        "parse": (parse_module, lambda: text, count),
        "print": (print_op, lambda: module, count),
        **places,
        "verify": (verify, lambda: module, count),
        "clone": (lambda m: m.clone(), lambda: module, count),
        "cse": (cse, module.clone, count),
        "canonicalize": (canonicalize, module.clone, count),
    }


def forty(text: str) -> Tasks:
    """Forty passes, one pipeline."""
    module = parse_module(text)
    manager = PassManager(verify=False)
    manager.add(*FORTY)
    return {"forty": (manager.run, module.clone, 1000)}


def xdsl(text: str) -> Tasks:
    """The same parts of xDSL on our generic text; what it cannot do to it is left out. Empty without xDSL.

    xDSL does not know the dialects of Triton: it keeps their operations as unregistered ones, verifies nothing of them
    and changes nothing about them.
    """
    try:
        from xdsl.context import Context
        from xdsl.dialects import arith as x_arith
        from xdsl.dialects import builtin as x_builtin
        from xdsl.dialects import math as x_math
        from xdsl.dialects import scf as x_scf
        from xdsl.parser import Parser
        from xdsl.printer import Printer
        from xdsl.transforms.canonicalize import CanonicalizePass
        from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
    except ImportError:
        return {}
    context = Context(allow_unregistered=True)
    for dialect in (x_builtin.Builtin, x_arith.Arith, x_math.Math, x_scf.Scf):
        context.load_dialect(dialect)
    generic = print_op(parse_module(text), generic=True)
    module = Parser(context, generic).parse_module()
    count = sum(1 for _ in module.walk())
    tasks: Tasks = {
        "parse": (lambda t: Parser(context, t).parse_module(), lambda: generic, count),
        "print": (lambda m: Printer(io.StringIO(), print_generic_format=True).print_op(m), lambda: module, count),
        "verify": (lambda m: m.verify(), lambda: module, count),
        "clone": (lambda m: m.clone(), lambda: module, count),
        "cse": (lambda m: CommonSubexpressionElimination().apply(context, m), module.clone, count),
        "canonicalize": (lambda m: CanonicalizePass().apply(context, m), module.clone, count),
    }
    return {name: task for name, task in tasks.items() if _works(task)}


def _works(task: tuple[Callable[[Any], object], Callable[[], object], float]) -> bool:
    try:
        task[0](task[1]())
    except Exception:
        return False
    return True


class Measured(NamedTuple):
    """What a task takes for each operation: bytecodes and us, and how much more than that this Python and this machine
    may take at that time."""

    codes: float
    codes_scale: float
    cost: float
    scale: float

    def broken(self, budget: tuple[float, float]) -> bool:
        """Is it over its budget?"""
        return self.codes > budget[0] * self.codes_scale or self.late(budget)

    def late(self, budget: tuple[float, float]) -> bool:
        """Is the time beyond what noise makes of a good one?"""
        return self.cost > SLACK * budget[1] * self.scale


def measure(tasks: Tasks, rounds: int = 12) -> dict[str, Measured]:
    """What every task takes."""
    out = {}
    codes_scale = max(1.0, bytecodes(lambda _: calibration(), lambda: None) / CALIBRATION_BYTECODES)
    for name, (work, fresh, n) in tasks.items():
        before = min(calibration() for _ in range(20))
        cost = best(work, fresh, rounds) / n
        scale = max(1.0, min(before, *(calibration() for _ in range(20))) / CALIBRATION_US)
        out[name] = Measured(bytecodes(work, fresh) / n, codes_scale, cost, scale)
    return out


def within(tasks: Tasks, budgets: Mapping[str, tuple[float, float]]) -> dict[str, Measured]:
    """`measure`; what is late is measured again, longer: a neighbour may have been busy."""
    measured = measure(tasks)
    for rounds in (30, 60):
        late = {n: tasks[n] for n, found in measured.items() if found.late(budgets[n])}
        for name, again in measure(late, rounds).items():
            measured[name] = min(measured[name], again, key=lambda m: m.cost / m.scale)
    return measured


def row(name: str, found: Measured, budget: tuple[float, float], theirs: Mapping[str, Measured]) -> str:
    """A line of the table."""
    codes = f"{found.codes:.0f} | {budget[0] * found.codes_scale:.0f}"
    cost = f"{found.cost:.2f} | {budget[1] * found.scale:.2f}"
    verdict = "**broken**" if found.broken(budget) else "ok"
    return f"| {name} | {codes} | {cost} | {verdict} | {f'{theirs[name].cost:.1f}' if name in theirs else '-'} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gate", action="store_true", help="exit with 1 where a budget is broken")
    gate = parser.parse_args().gate
    broken = []
    texts = programs()
    measurements = {program: (within(ours(text), BUDGETS), BUDGETS, text) for program, text in texts.items()}
    measurements["forty passes"] = within(forty(texts["ttgir"]), FORTY_BUDGET), FORTY_BUDGET, ""
    for program, (measured, budgets, text) in measurements.items():
        # xDSL last: what it leaves in memory slows what comes after it
        theirs = {} if gate or not text else measure(xdsl(text), 3)
        print(f"| {program} | bytecodes/op | budget | us/op | budget | | xDSL |\n|---|---:|---:|---:|---:|---|---:|")
        for name, found in measured.items():
            print(row(name, found, budgets[name], theirs))
            broken += [f"{name} of {program}"] if found.broken(budgets[name]) else []
        print()
    if broken:
        print(f"over budget: {', '.join(broken)}")
    return 1 if gate and broken else 0


if __name__ == "__main__":
    sys.exit(main())
