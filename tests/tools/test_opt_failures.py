"""`tritium opt` when something goes wrong: failing passes, reproducers, fuel, bisecting, announced errors."""

from __future__ import annotations

import textwrap

import pytest

from tests.tools.opt_programs import MERGED, PROGRAM, headings


def test_a_pass_that_raises(opt, program, own, tmp_path):
    crash = tmp_path / "crash.mlir"
    arguments = ["--load", own, "-cse", "-crash", "-dce", f"--reproducer={crash}"]
    status, out, err = opt(program, *arguments)
    assert (status, out) == (1, "")
    lines = err.split("\n")
    assert lines[0] == "error: pass crash failed on @f: ZeroDivisionError: division by zero"
    assert lines[1] == "  at: %c = arith.addi %a, %a : i32"
    assert lines[2] == f"  from: {program}:4:8"
    assert lines[3].endswith(str(crash))
    text = crash.read_text()
    assert 'pipeline: "builtin.module(crash,dce)"' in text
    assert "%b" not in text  # cse is done
    again = opt(str(crash), "--load", own, "--run-reproducer", f"--reproducer={tmp_path / 'again.mlir'}")[2]
    assert again.split("\n")[:3] == lines[:3]
    assert "Traceback" in opt(program, *arguments, "--traceback")[2]
    err = opt(program, *arguments, "--print-after-failure")[2]
    assert headings(err) == ["After CrashPass Failed: crash ('builtin.module' operation)"]


@pytest.mark.parametrize("each", ["true", "false"])
def test_a_pass_that_breaks_the_ir(opt, program, own, tmp_path, each):
    status, out, err = opt(
        program, "--load", own, "-cse", "-breaks", "-licm", f"--reproducer={tmp_path}/r", f"--verify-each={each}"
    )
    assert (status, out) == (1, "")
    assert err.startswith("error: pass breaks failed on builtin.module: VerificationError:")
    assert f"{program}:2:8: error: V2" in err
    assert 'pipeline: "builtin.module(breaks,licm)"' in (tmp_path / "r").read_text()


def test_a_reproducer_of_tritons(opt, tmp_path):
    path = tmp_path / "r.mlir"
    path.write_text(PROGRAM + textwrap.dedent("""\
        {-#
          external_resources: {
            mlir_reproducer: {
              pipeline: "any(inline,cse,symbol-dce,triton-loop-unroll,dce)",
              disable_threading: false,
              verify_each: false
            }
          }
        #-}
        """))  # fmt: skip
    assert opt(str(path), "--run-reproducer") == (0, MERGED, "")
    path.write_text(PROGRAM)
    assert "names no passes to run" in opt(str(path), "--run-reproducer")[2]
    path.write_text(PROGRAM + '{-# external_resources: {mlir_reproducer: {pipeline: "any(convert-x)"}} #-}')
    status, _, err = opt(str(path), "--run-reproducer", "--dump-pass-pipeline")
    assert status == 1
    assert err.startswith("Pass Manager with 1 passes:\nany(convert-x)\npipeline of ")
    assert "there is no pass 'convert-x'" in err


def test_resources_of_others_are_kept(opt, tmp_path):
    path = tmp_path / "r.mlir"
    data = '{-#\n  dialect_resources: {\n    builtin: {\n      w: "0x0800000001000000"\n    }\n  }\n#-}\n'
    path.write_text(
        PROGRAM + data.replace("\n#-}", ',\n  external_resources: {mlir_reproducer: {pipeline: "any(cse,dce)"}}\n#-}')
    )
    assert opt(str(path), "--run-reproducer", "--verify-roundtrip") == (0, MERGED + "\n" + data, "")


def test_fuel(opt, program, own):
    assert opt(program, "-cse", "-dce", "--fuel=1")[1].count("arith") == 3
    assert opt(program, "-cse", "-dce", "--fuel=0")[1].count("arith") == 4
    load = ["--load", own, "-sums"]
    assert opt(program, *load)[1].count("muli") == 0
    assert opt(program, *load, "--fuel=1:1")[1].count("muli") == 1
    assert "'--fuel' is N or N:M" in opt(program, "--fuel=x")[2]


def test_bisect_by_a_command(opt, program, own):
    status, out, err = opt(program, "--load", own, "-licm", "-sums", "-cse", "--bisect", "grep -q 'b = arith.muli'")
    assert (status, err) == (0, "")
    lines = out.split("\n")
    assert lines[0] == "pass 2 (sums), rewrite 2 of 3 (product_to_sum), of 3 passes, on builtin.module"
    assert lines[1] == "the IR after it: --fuel 2:2"
    assert "-    %b = arith.muli %x, %x : i32" in lines
    assert "+    %b = arith.addi %x, %x : i32" in lines
    shown = opt(program, "--load", own, "-licm", "-sums", "-cse", "--fuel", "2:1")[1]
    assert "b = arith.muli" in shown
    assert "b = arith.addi" in opt(program, "--load", own, "-licm", "-sums", "-cse", "--fuel", "2:2")[1]


@pytest.mark.parametrize(
    "name, text, change",
    [
        ("cse", "b = arith.muli", "merge on %b = arith.muli %x, %x : i32"),
        ("dce", "dead", "erase on %dead = arith.addi %c, %b : i32"),
        ("canonicalize", "dead", "erase-dead on %dead = arith.addi %c, %b : i32"),
    ],
)
def test_bisect_finds_changes_of_passes_without_rules(opt, program, name, text, change):
    status, out, err = opt(program, "-licm", f"-{name}", "--bisect", f"grep -q '{text}'")
    assert (status, err) == (0, "")
    assert out.split("\n")[2] == change


def test_bisect_has_to_find_something(opt, program):
    def message(command):
        status, out, err = opt(program, "-cse", f"--bisect={command}")
        assert (status, out) == (1, "")
        return err

    assert "the command fails on the file as it is" in message("false {}")
    assert "nothing to bisect" in message("true {} #")
    assert "the command cannot be run" in message("no-such-command-anywhere")


def test_announced_errors(opt, tmp_path):
    path = tmp_path / "errors.mlir"

    def check(text, *more):
        path.write_text(textwrap.dedent(text))
        status, _, err = opt(str(path), "--split-input-file", "--verify-diagnostics", *more)
        return status, err

    assert check("""\
        tt.func @a() {
          // expected-error@+1 {{'%x' is not defined}}
          tt.return %x : i32
        }
        // -----
        tt.func @b(%x: i32) {
          // expected-error-re @below {{V1[0-9]: .*@?g\\b}}
          tt.call @g(%x) : (i32) -> ()
          tt.return
        }
        // -----
        tt.func @c() {
          tt.return
        }
    """) == (0, "")  # fmt: skip
    status, err = check("tt.func @a() {\n  tt.return %x : i32 // expected-error {{no such thing}}\n}")
    assert status == 1
    assert f"{path}:2:13: error: unexpected error: '%x' is not defined" in err
    assert f'{path}:2:1: error: expected error "no such thing" was not produced' in err
    status, err = check("// expected-error {{anything}}\ntt.func @a() {\n  tt.return\n}")
    assert status == 1
    assert err.count("error:") == 1
    status, err = check("// expected-error {{anything}}\ntt.func @a() {\n  tt.return %x : i32\n}", "--verify-diagnostics=only-expected")  # fmt: skip
    assert err.count("error:") == 1


CALLS = """\
tt.func @f(%x: i32) -> i32 {
  // expected-remark@+1 {{@g stays a call: it is marked noinline}}
  %a = tt.call @g(%x) : (i32) -> i32
  // expected-remark @below {{@r stays a call: it takes part in a recursion}}
  %b = tt.call @r(%a) : (i32) -> i32
  tt.return %b : i32
}
tt.func private @g(%x: i32) -> i32 attributes {noinline = true} {
  tt.return %x : i32
}
tt.func private @r(%x: i32) -> i32 {
  %a = tt.call @r(%x) : (i32) -> i32   // expected-remark-re {{@r stays.*recur(sion)?}}
  tt.return %a : i32
}
"""


def test_remarks_of_passes(opt, tmp_path):
    path = tmp_path / "calls.mlir"
    path.write_text(CALLS)
    status, _, err = opt(str(path), "-inline")
    assert status == 0
    assert f"{path}:3:8: remark: @g stays a call: it is marked noinline\n" in err
    assert err.count("remark:") == 3
    assert opt(str(path), "-inline", "--verify-diagnostics", "--no-output") == (0, "", "")
    path.write_text(CALLS.replace("noinline}}", "never}}"))
    status, _, err = opt(str(path), "-inline", "--verify-diagnostics", "--no-output")
    assert status == 1
    assert "unexpected remark: @g stays a call: it is marked noinline" in err
    assert 'expected remark "@g stays a call: it is marked never" was not produced' in err


def test_pieces_with_announced_errors_go_on(opt, tmp_path):
    path = tmp_path / "errors.mlir"
    path.write_text("tt.func @a() {\n  tt.return %x : i32 // expected-error {{not defined}}\n}\n// -----\n" + PROGRAM)
    assert opt(str(path), "-cse", "-dce", "--split-input-file", "--verify-diagnostics") == (0, MERGED, "")
