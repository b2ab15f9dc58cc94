"""Loops and conditionals that only tests define run through all passes, the evaluator, the printer and the lowering.

The reference is the same program with `scf.for` and `scf.if`: its IR after each pass, and its machine code. Ops of the
same shape that lack the interfaces show that the comparison can fail.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium.conversion
import tritium.dialects.all
import tritium.transforms
from tests.example_kernels import cases, load
from tests.interpreter.programs import random_program
from tests.transforms import region_ops
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.dialects import scf
from tritium.interpreter.evaluator import run
from tritium.ir import UNIT, PassManager, parse_module, print_op, run_pipeline, verify
from tritium.transforms.ttir import TTIR_PIPELINE

assert tritium.conversion and tritium.dialects.all and tritium.transforms

SEED = int(os.environ.get("TRITIUM_TEST_SEED", "1"))

PROGRAM = """
module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32, %k: i32, %c: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %twin:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero) -> (f32, f32)  : i32 {
      %at = arith.muli %k, %k : i32
      %q = tt.addptr %p, %at : !tt.ptr<f32>, i32
      %x = tt.load %q : !tt.ptr<f32>
      %a1 = arith.addf %a, %x : f32
      %b1 = arith.addf %b, %x : f32
      scf.yield %a1, %b1 : f32, f32
    }
    %s:3 = scf.for %i = %c0 to %n step %c1 iter_args(%one = %c1, %dead = %k, %y = %zero) -> (i32, i32, f32)  : i32 {
      %next = arith.muli %one, %c1 : i32
      %more = arith.addi %dead, %i : i32
      %r = tt.addptr %p, %next : !tt.ptr<f32>, i32
      %z = scf.if %c -> (f32) {
        %u = tt.load %r : !tt.ptr<f32>
        scf.yield %u : f32
      } else {
        scf.yield %zero : f32
      }
      %y1 = arith.addf %y, %z : f32
      scf.yield %next, %more, %y1 : i32, i32, f32
    }
    %once = scf.for %i = %c0 to %c1 step %c1 iter_args(%v = %s#2) -> (f32)  : i32 {
      %w = arith.addf %v, %twin#0 : f32
      scf.yield %w : f32
    }
    %unrolled = scf.for %i = %c0 to %n step %c1 iter_args(%v = %once) -> (f32)  : i32 {
      %w = arith.addf %v, %twin#1 : f32
      %m = scf.if %c -> (f32) {
        scf.yield %w : f32
      } else {
        scf.yield %w : f32
      }
      scf.yield %m : f32
    } {tt.loop_unroll_factor = 2 : i32}
    tt.store %o, %unrolled : !tt.ptr<f32>
    tt.return
  }
}
"""
"""Loops with an invariant load, equal carried values, a constant one, a dead one, one iteration, and a factor."""

REPEAT = """
module {
  tt.func public @kernel(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:3 = "region.repeat"(%c0, %c0, %c1) ({
    ^bb0(%i: i32, %sum: i32, %one: i32):
      %same = arith.muli %one, %one : i32
      %x = tt.load %p : !tt.ptr<i32>
      %next = arith.addi %i, %same : i32
      %more = arith.addi %sum, %x : i32
      %again = arith.cmpi slt, %next, %n : i32
      "region.again"(%again, %next, %more, %same) : (i1, i32, i32, i32) -> ()
    }) : (i32, i32, i32) -> (i32, i32, i32)
    %t = arith.addi %r#1, %r#2 : i32
    tt.store %o, %t : !tt.ptr<i32>
    tt.return
  }
}
"""

PASSES = ["canonicalize", "cse", "licm", "sccp", "loop-aware-cse", "loop-unroll", "symbol-dce"]
ASK_INTERFACES = ["canonicalize", "licm", "sccp", "loop-aware-cse", "loop-unroll"]
"""The passes that change loops or conditionals of `PROGRAM`."""


def after(module: Any, passes: str) -> Any:
    PassManager(f"builtin.module({passes})").run(module)
    verify(module)
    return module


def with_region_ops(text: str, *, opaque: bool = False) -> Any:
    module = parse_module(text)
    region_ops.from_scf(module, opaque=opaque)
    return module


def as_scf(module: Any) -> str:
    region_ops.to_scf(module)
    verify(module)
    return print_op(module)


@pytest.mark.parametrize("generic", [False, True])
def test_printer_and_parser_round_trip(generic: bool) -> None:
    for text in (print_op(with_region_ops(PROGRAM)), REPEAT):
        printed = print_op(parse_module(text), generic=generic)
        assert "region." in printed and print_op(parse_module(printed), generic=generic) == printed
    assert as_scf(with_region_ops(PROGRAM)) == print_op(parse_module(PROGRAM))


@pytest.mark.parametrize("name", [*PASSES, ",".join(PASSES)])
def test_pass_does_to_region_ops_what_it_does_to_scf(name: str) -> None:
    module = after(with_region_ops(PROGRAM), name)
    assert "scf." not in print_op(module)
    assert as_scf(module) == print_op(after(parse_module(PROGRAM), name))


@pytest.mark.parametrize("seed", range(SEED, SEED + 6))
def test_each_pass_does_to_random_programs_what_it_does_to_scf(seed: int) -> None:
    text = print_op(random_program(seed))
    known, ours = parse_module(text), with_region_ops(text)
    for p in TTIR_PIPELINE:
        run_pipeline(known, [p])
        run_pipeline(ours, [p], verifier=verify)
        assert as_scf(ours.clone({})) == print_op(known), f"after {p.name} of\n{text}"


@pytest.mark.parametrize("name", ASK_INTERFACES)
def test_pass_leaves_ops_without_interfaces_alone(name: str) -> None:
    changed = print_op(after(with_region_ops(PROGRAM), name)) != print_op(with_region_ops(PROGRAM))
    opaque = print_op(after(with_region_ops(PROGRAM, opaque=True), name)).count("region.opaque_loop")
    assert changed and opaque == PROGRAM.count("scf.for")


def test_evaluator_runs_region_ops() -> None:
    data = np.arange(1, 65, dtype=np.float32)
    want, got = np.zeros(1, np.float32), np.zeros(1, np.float32)
    run(parse_module(PROGRAM), 1, [data, want, 5, 3, True])
    run(with_region_ops(PROGRAM), 1, [data, got, 5, 3, True])
    assert want[0] == got[0] == 5 * data[1] + 6 * 5 * data[9]


def test_evaluator_runs_a_loop_that_ends_by_a_condition() -> None:
    out = np.zeros(1, np.int32)
    for n, iterations in ((4, 4), (0, 1)):
        run(parse_module(REPEAT), 1, [np.array([7], np.int32), out, n])
        assert out[0] == 7 * iterations + 1


def test_licm_hoists_a_load_out_of_a_loop_that_always_runs() -> None:
    names = [op.name for op in after(parse_module(REPEAT), "licm").walk()]
    assert names.index("tt.load") < names.index("region.repeat")


def test_sccp_follows_a_constant_around_a_loop() -> None:
    (store,) = (op for op in after(parse_module(REPEAT), "sccp").walk() if op.name == "tt.store")
    total: Any = store.operands[1].defining_op
    assert total.rhs.defining_op.value.value == 1 and total.lhs.defining_op.name == "region.repeat"


# -- kernels ------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of a compiled kernel does not cover the ops that tests define."""
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")


def target_of(name: str) -> GPUTarget:
    return GPUTarget("cpu", "x86-64-v3", 1) if name == "cpu" else GPUTarget("cuda", int(name.removeprefix("sm_")), 32)


def code(folder: Path, text: str, target: str, options: dict[str, Any]) -> tuple[str, str]:
    """The IR with layouts (or vectors), and the code of a program."""
    path = folder / "kernel.ttir"
    path.write_text(text)
    tiles, last = ("ttcir", "asm") if target == "cpu" else ("ttgir", "ptx")
    kernel = compile(str(path), target=target_of(target), options=options, until=last)
    return kernel.asm[tiles], re.sub(r"^\s*(\.loc|\.file|//).*\n", "", kernel.asm[last], flags=re.M)


@pytest.mark.parametrize(
    ("name", "target", "mark", "shown"),
    [
        ("layer_norm-forward", "cpu", "", "scf.for"),
        ("attention-forward-causal", "sm_80", "", "ttg.async_copy_global_to_local"),
        ("attention-forward-causal", "sm_90", "", "ttng.warp_group_dot_wait"),
        ("persistent_matmul-descriptors", "sm_90", "", "ttng.async_tma_copy_global_to_local"),
        ("persistent_matmul-descriptors", "sm_90", "tt.warp_specialize", "ttg.warp_specialize"),
        ("persistent_matmul-descriptors", "sm_90", "tt.flatten", "arith.remsi"),
    ],
)
def test_kernel_compiles_to_the_same_code(tmp_path: Path, name: str, target: str, mark: str, shown: str) -> None:
    """`mark`: an attribute of the outermost loop; `shown`: text of its IR before LLVM."""
    case = next(case for case in cases() if case.name == name)
    source = ASTSource(getattr(load(case.example), case.kernel), case.signature, case.constants, case.attrs)
    module = parse_module(compile(source, target=target_of(target), options=case.options, until="ttir").asm["ttir"])
    loops = [op for op in module.walk() if isinstance(op, scf.For)]
    if mark:
        loops[0].attributes[mark] = UNIT
    assert loops
    text = print_op(module)
    region_ops.from_scf(module)
    tiles, ours = code(tmp_path, print_op(module), target, case.options)
    assert shown in tiles and (target == "cpu" or '"region.loop"' in tiles)
    assert ours == code(tmp_path, text, target, case.options)[1]
