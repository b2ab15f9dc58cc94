"""`tritium reduce`: what is left is small, verifies, and fails as the whole did; every way takes away what it says."""

from __future__ import annotations

import random
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tritium.transforms  # noqa: F401  (the passes that candidates are cleaned by)
from tests.conftest import SEED
from tests.ir.random_ir import RandomIR
from tests.tools.test_cli import tritium_command
from tritium.ir import Operation, parse_module, print_op, verify
from tritium.support import TritiumError
from tritium.tools import reductions
from tritium.tools.reduce import Reducer, main

CORPUS = Path(__file__).parents[1] / "corpus" / "triton-3.9"

FRAGILE = '''
from tritium.ir import pass_on

@pass_on("function")
def fragile(function):
    """Does not bear a division inside a loop."""
    for op in function.walk():
        if op.name == "arith.divsi" and op.parent_op.name == "scf.for":
            raise ZeroDivisionError(f"divided: {op.operands[0].type}")

@pass_on("function")
def breaker(function):
    """Moves a load behind what uses it."""
    for op in function.walk():
        if op.name == "tt.load" and op.next is not None and op.next.name == "arith.addf":
            op.move_after(op.next)
'''

PROGRAM = """
tt.func private @helper(%a: i32) -> i32 {
  %c = arith.constant 3 : i32
  %b = arith.muli %a, %c : i32
  tt.return %b : i32
}
tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) -> i32 attributes {noinline = false} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %h = tt.call @helper(%n) : (i32) -> i32
  %w = tt.load %p : !tt.ptr<f32>
  %v = arith.addf %w, %w : f32
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %h, %y = %v) -> (i32, f32) : i32 {
    %d = arith.divsi %x, %i : i32
    %m = arith.muli %d, %d : i32
    %z = arith.mulf %y, %y : f32
    tt.store %q, %z : !tt.ptr<f32>
    scf.yield %m, %z : i32, f32
  }
  tt.store %p, %s#1 : !tt.ptr<f32>
  tt.return %s#0 : i32
}
"""

BRANCHES = """
tt.func public @kernel(%p: !tt.ptr<i32>, %c: i1, %x: i32) {
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%a: i32):
  %s = arith.addi %a, %a : i32
  tt.store %p, %s : !tt.ptr<i32>
  cf.br ^bb3
^bb2:
  %t = arith.muli %x, %x : i32
  tt.store %p, %t : !tt.ptr<i32>
  cf.br ^bb3
^bb3:
  tt.return
}
"""


@pytest.fixture
def run(tmp_path: Path, capfd: Any) -> Any:
    (tmp_path / "fragile.py").write_text(FRAGILE)

    def command(text: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "program.mlir"
        path.write_text(text)
        status = main([str(path), "--load", str(tmp_path / "fragile.py"), *arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return command


# ---- passes that fail -----------------------------------------------------------------------------------------------


def test_the_smallest_program_on_which_a_pass_crashes(run: Any) -> None:
    status, out, err = run(PROGRAM, "--passes", "cse,fragile,dce")
    assert status == 0 and "18 operations became 5, by " in err and "pass fragile: ZeroDivisionError" in err
    assert (
        out
        == """module {
  tt.func @kernel(%n: i32) {
    scf.for %i = %n to %n step %n  : i32 {
      %d = arith.divsi %n, %i : i32
    }
    tt.return
  }
}
"""
    )
    again = run(out, "--passes", "fragile")
    assert again[1] == out, "there is nothing more to take away"


def test_a_pass_whose_output_does_not_verify(run: Any) -> None:
    status, out, err = run(PROGRAM, "--passes", "breaker")
    assert status == 0 and "pass breaker: VerificationError" in err
    names = [op.name for op in parse_module(out).walk()]
    assert names == ["builtin.module", "tt.func", "tt.load", "arith.addf", "tt.return"]


def test_a_message_that_must_stay(run: Any) -> None:
    wide = "%l = arith.extsi %i : i32 to i64\n    %k = arith.divsi %l, %l : i64\n    %d = arith.divsi"
    text = PROGRAM.replace("%d = arith.divsi", wide)
    out = run(text, "--passes", "cse,fragile", "--says", "divided: i64")[1]
    assert "arith.divsi" in out and ": i64" in out
    status, out, err = run(text, "--passes", "fragile", "--says", "divided: f32")
    assert (status, out) == (1, "") and "nothing to reduce: the passes fragile do not fail on it" in err


def test_a_reproducer_says_itself_what_fails(run: Any, tmp_path: Path) -> None:
    crash = tmp_path / "crash.mlir"
    (tmp_path / "whole.mlir").write_text(PROGRAM)
    done = tritium_command("opt", str(tmp_path / "whole.mlir"), "--load", str(tmp_path / "fragile.py"), "--passes",
                           "cse,fragile,dce", "--reproducer", str(crash))  # fmt: skip
    assert done.returncode == 1 and "pass fragile failed" in done.stderr
    status, out, _ = run(crash.read_text())
    assert status == 0 and 'pipeline: "builtin.module(fragile,dce)"' in out and out.count("arith.divsi") == 1
    crash.write_text(out)
    again = tritium_command("opt", str(crash), "--load", str(tmp_path / "fragile.py"), "--run-reproducer")
    assert again.returncode == 1 and "pass fragile failed on @kernel: ZeroDivisionError" in again.stderr


# ---- commands that fail ---------------------------------------------------------------------------------------------


def python(code: str) -> str:
    """A command that runs Python on the text of the file."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote('import sys; text = open(sys.argv[1]).read(); ' + code)}"


def test_a_command(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    test = python("sys.exit('arith.mulf' in text and 'scf.for' in text)") + " {}"
    status, printed, err = run(PROGRAM, "--test", test, "-o", str(out))
    assert (status, printed) == (0, "")
    module = parse_module(out.read_text())
    verify(module)
    assert sorted(op.name for op in module.walk() if op.name not in ("arith.constant", "scf.yield")) == [
        "arith.mulf", "builtin.module", "scf.for", "tt.func", "tt.return",
    ]  # fmt: skip


def test_a_command_that_says_something(run: Any) -> None:
    test = python("print('a store' if 'tt.store' in text else 'none'); sys.exit(1)")
    assert "tt.store" in run(PROGRAM, "--test", test, "--says", "a store")[1]
    assert "tt.store" not in run(PROGRAM, "--test", test)[1]


def test_commands_that_take_too_long_have_not_failed(run: Any) -> None:
    test = python("import time; time.sleep(60 * ('tt.call' not in text)); sys.exit(1)")
    begin = time.monotonic()
    status, out, _ = run(BRANCHES.replace("tt.return", "%r = tt.call @kernel_2() : () -> i32\n  tt.return", 1)
                         + "tt.func private @kernel_2() -> i32", "--test", test, "--timeout", "0.5")  # fmt: skip
    assert status == 0 and "tt.call" in out and time.monotonic() - begin < 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), r"what fails\? say --passes or --test: '.*program.mlir' names no passes itself"),
        (("--passes", "cse", "--test", "false"), "either --test or --passes"),
        (("--passes", "cse"), "nothing to reduce: the passes cse do not fail on it"),
        (("--passes", "css"), "--passes:1:1: error: there is no pass 'css'"),
        (("--test", "true"), "nothing to reduce: the command does not fail on it: true"),
        (("--test", "no-such-program"), "the command cannot be run: .*no-such-program"),
        (("--test", "false", "--timeout", "soon"), "option '--timeout' is a number of seconds, not 'soon'"),
        (("--tset", "false"), "there is no option '--tset'; did you mean '.*test'"),
        (("--load", "nothing.py"), "cannot load 'nothing.py'"),
        (("other.mlir", "--test", "false"), "one file at a time, not 2"),
    ],
)
def test_what_cannot_be_followed(run: Any, arguments: tuple[str, ...], message: str) -> None:
    import re

    status, out, err = run(PROGRAM, *arguments)
    assert (status, out) == (1, "") and re.search(message, err), err


def test_texts_that_are_wrong(run: Any, tmp_path: Path) -> None:
    assert "program.mlir:2:1: error: " in run("\nhello", "--test", "false")[2]
    assert "error: " in run(PROGRAM.replace("%w, %w", "%w, %n"), "--test", "false")[2]
    assert main([str(tmp_path / "nowhere"), "--test", "false"]) == 1


def test_the_command_line() -> None:
    assert "the smallest one that still fails" in tritium_command("reduce", "--help").stdout
    assert tritium_command("reduce").returncode == 2


def test_a_compile_that_fails(tmp_path: Path, capfd: Any) -> None:
    """The file has the name of its stage, so that `tritium compile` is a command for it."""
    path = tmp_path / "k.ttir"
    path.write_text(PROGRAM.replace("arith.divsi %x, %i", "tt.mulhiui %x, %i").replace("%h = tt.call @helper(%n) : (i32)",
                    "tt.print \" n: \" {hex = false, isSigned = array<i32: 1>} : %n : i32\n  %h = tt.call @helper(%n) : (i32)"))  # fmt: skip
    test = f"{shlex.quote(sys.executable)} -m tritium compile {{}} --target hip:gfx1250 --stage ttgir"
    assert main([str(path), "--test", test, "--says", "ttgir is not supported"]) == 0
    out = capfd.readouterr().out
    assert [op.name for op in parse_module(out).walk()] == ["builtin.module", "tt.func", "tt.return"]


# ---- the search -----------------------------------------------------------------------------------------------------


def reduced(text: str, holds: Any) -> Reducer:
    reducer = Reducer(parse_module(text), lambda module: "it holds" if holds(module) else None)
    reducer.run()
    verify(reducer.module)
    assert holds(reducer.module)
    return reducer


def names(module: Operation) -> list[str]:
    return [op.name for op in module.walk()]


def test_branches_and_blocks() -> None:
    module = reduced(BRANCHES, lambda m: "arith.muli" in names(m)).module
    assert names(module) == ["builtin.module", "tt.func", "arith.muli", "tt.return"]
    assert len(module.regions[0].blocks[0].first.regions[0].blocks) == 1


def test_large_programs_take_few_tests() -> None:
    lines = [f"  %{n + 1} = arith.addi %{n}, %{n} : i32" for n in range(500)]
    lines[250] = "  %251 = arith.muli %250, %250 : i32"
    text = "tt.func public @f(%0: i32) -> i32 {\n" + "\n".join(lines) + "\n  tt.return %500 : i32\n}\n"
    text = text.replace("%0: i32", "%arg0: i32").replace("%0, %0", "%arg0, %arg0")
    reducer = reduced(text, lambda m: "arith.muli" in names(m))
    assert names(reducer.module) == ["builtin.module", "tt.func", "arith.muli", "tt.return"]
    assert reducer.tests < 60


@pytest.mark.parametrize("stage", ["ttir", "ttgir"])
def test_kernels_of_triton(stage: str) -> None:
    text = (CORPUS / f"attention.attention_forward.forward-causal.sm90.{stage}.mlir").read_text()
    kind = {"ttir": "tt.dot", "ttgir": "ttng.warp_group_dot_wait"}[stage]
    module = reduced(text, lambda m: kind in names(m)).module
    rest = [name for name in names(module) if name not in ("arith.constant", "ub.poison")]
    assert rest == ["builtin.module", "tt.func", kind, "tt.return"]


@pytest.mark.parametrize("number", range(12))
def test_random_modules(number: int) -> None:
    """Whatever the program, and whatever must stay: what is left verifies, has it, and reads as it prints."""
    draw = random.Random(f"{SEED} reduce {number}")
    module = RandomIR(draw.randrange(2**31), foreign=False).module()
    kinds = sorted({op.name for op in module.walk() if op is not module})
    kept = draw.choice(kinds)
    before = reductions.size_of(module)
    reducer = Reducer(module, lambda m: "kept" if kept in names(m) else None)
    reducer.run()
    verify(reducer.module)
    assert kept in names(reducer.module) and reductions.size_of(reducer.module) <= before
    assert print_op(parse_module(print_op(reducer.module))) == print_op(reducer.module)


def test_a_module_that_does_not_fail() -> None:
    with pytest.raises(TritiumError, match="nothing to reduce"):
        Reducer(parse_module(PROGRAM), lambda module: None)


# ---- the ways -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", reductions.WAYS, ids=lambda way: way.name)
def test_each_way_finds_and_takes(way: reductions.Way) -> None:
    """One target at a time, on programs that have something for it: what is left is smaller, and mostly verifies."""
    taken = 0
    straight = BRANCHES.replace("cf.cond_br %c, ^bb1(%x : i32), ^bb2", "cf.br ^bb1(%x : i32)")
    for text in (PROGRAM, BRANCHES, straight.replace("cf.br ^bb3\n^bb2:", "cf.br ^bb2\n^bb2:")):
        module = parse_module(text)
        for target in way.find(module):
            copy = module.clone()
            way.take(list(copy.walk()), [target])
            assert reductions.size_of(copy) < reductions.size_of(module) or way.name in (
                "erasing operations",
                "inlining regions",
                "using arguments",
            )
            try:
                verify(copy)
            except TritiumError:
                continue
            taken += 1
    assert taken


def test_what_loops_carry() -> None:
    module = parse_module(PROGRAM)
    way = next(way for way in reductions.WAYS if way.name == "carrying less")
    copy = module.clone()
    way.take(list(copy.walk()), way.find(copy))
    verify(copy)
    text = print_op(copy)
    assert "scf.for %i = %c0 to %n step %c1  : i32 {" in text and "arith.divsi %h, %i" in text
    assert "tt.return %h : i32" in text and "tt.store %p, %v" in text
