"""The script that counts which of Triton's test programs we read, on a checkout of our own making; and on a real one
where TRITIUM_TEST_CHECKOUT names it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conformance import lit, lit_amd
from tests.conformance.check import ACCEPTED, BY_PASS, CRASHED, GOOD, REJECTED, UNREAD, UNVERIFIED, check
from tests.conformance.inputs import programs_of
from tests.conformance.lit_passes import DIFFERS, MATCHES, pass_outcomes, pipeline_of
from tests.conformance.lit_triton import ALIKE, NEITHER, OURS_ALONE, compare

FILE = """\
// RUN: triton-opt %s -split-input-file -verify-diagnostics | FileCheck %s
// CHECK-LABEL: @good
tt.func @good(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  tt.return %b : i32
}
// -----
// only a comment
// -----
tt.func @bad(%a: i32) {
  // expected-error @below {{requires the same type}}
  // expected-note @below {{prior use here}}
  %b = arith.addi %a, %c : i32
  tt.return
}
// -----
tt.func @should_fail() {
  tt.return // expected-error {{something we do not check}}
}
"""


def outcomes(text: str):
    return [check(p) for p in programs_of(text, "a/b.mlir")]


def test_a_file_is_cut_and_its_errors_are_found():
    good, bad, third = programs_of(FILE, "a/b.mlir")
    assert [p.name for p in (good, bad, third)] == ["a/b.mlir#1", "a/b.mlir#2", "a/b.mlir#3"]
    assert bad.errors == {13: "requires the same type"}
    assert third.errors == {18: "something we do not check"}
    assert good.only_read and not good.errors and not good.unregistered


def test_run_lines_are_read_as_a_shell_does():
    (program,) = programs_of(
        "// RUN: triton-opt %s -convert-a-to-b='target=cuda:80 num-warps=2' \\\n"
        "// RUN:   --allow-unregistered-dialect -cse | FileCheck %s --check-prefixes=A,B\nmodule {}\n",
        "x.mlir",
    )
    (run,) = program.runs
    assert run.passes == ("convert-a-to-b=target=cuda:80 num-warps=2", "cse")
    assert run.filecheck == ("%s", "--check-prefixes=A,B")
    assert program.unregistered and not program.only_read


def test_outcomes():
    assert [o.status for o in outcomes(FILE)] == [GOOD, REJECTED, ACCEPTED]


def test_an_error_may_be_the_pass_s():
    text = FILE.replace("-verify-diagnostics", "-some-pass -verify-diagnostics")
    assert [o.status for o in outcomes(text)] == [GOOD, REJECTED, BY_PASS]


@pytest.mark.parametrize(
    ("program", "status", "reason"),
    [
        ("%0 = arith.nothing %1 : i32", UNREAD, "unknown operation arith.nothing"),
        ("tt.func @f(%a: i32) { %b = arith.addi %a, %c : i32 tt.return }", UNREAD, "is not defined (tt.func)"),
        ('"builtin.module"() ({ "tt.return"() : () -> () }) : () -> ()', UNVERIFIED, "V"),
        ("// expected-error @+1 {{unknown}}\n%0 = arith.nothing %1 : i32", UNREAD, "unknown operation"),
    ],
)
def test_what_we_do_not_read_is_not_counted_as_read(program, status, reason):
    (outcome,) = outcomes(program)
    assert outcome.status == status and reason in outcome.reason and not outcome.fine


def test_a_failure_of_ours_is_a_row_of_its_own(monkeypatch):
    def broken(*args, **kwargs):
        raise IndexError("ours")

    monkeypatch.setattr("tests.conformance.check.print_op", broken)
    (outcome,) = outcomes("module {}")
    assert outcome.status == CRASHED and outcome.reason.startswith("IndexError in")


def test_a_program_that_changes_is_no_round_trip(monkeypatch):
    from tests.conformance import check as module

    real, calls = module.print_op, []

    def unsteady(op, **options):
        calls.append(op)
        return real(op, **options) + (" " if len(calls) % 2 else "")

    monkeypatch.setattr(module, "print_op", unsteady)
    (outcome,) = outcomes("module {}")
    assert not outcome.fine and "printed differently" in outcome.reason


def test_the_table_of_a_checkout(tmp_path, capsys):
    folder = tmp_path / "test" / "Triton"
    folder.mkdir(parents=True)
    (folder / "a.mlir").write_text(FILE)
    assert lit.main([str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "| Triton | 1 | 3 | 1 | 1 | 0 | 1 |" in shown
    assert "something we do not check" in shown
    assert lit.main([str(tmp_path), "--json"]) == 1
    records = json.loads(capsys.readouterr().out)
    assert [r["fine"] for r in records] == [True, True, False]


#: at least so many programs of triton-cpu 3.7 (commit 910ba2e98) are read, verified and round-trip; never fewer again
FLOOR = 2270


@pytest.mark.skipif(
    "TRITIUM_TEST_CHECKOUT" not in os.environ, reason="TRITIUM_TEST_CHECKOUT names no checkout of Triton"
)
def test_a_real_checkout():
    found = lit.outcomes_of(Path(os.environ["TRITIUM_TEST_CHECKOUT"]))
    assert sum(o.fine for o in found) >= FLOOR
    assert not [o.program.name for o in found if o.status == CRASHED]


PASSES = """\
// RUN: split-file %s %t
// RUN: triton-opt %t/a.mlir -cse -canonicalize=top-down=false | FileCheck %t/a.mlir --check-prefixes=ONE
// RUN: triton-opt %t/b.mlir -some-pass-of-theirs | FileCheck %t/b.mlir
//--- a.mlir
tt.func public @good(%a: i32) -> i32 {
  // ONE: [[X:%.+]] = arith.addi %arg0, %arg0
  // ONE: arith.muli [[X]], [[X]]
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.muli %b, %c : i32
  tt.return %d : i32
}
// -----
tt.func public @other(%a: i32) -> i32 {
  // ONE: arith.subi
  tt.return %a : i32
}
//--- b.mlir
module {}
"""


def test_passes_are_run_and_compared(tmp_path, capsys):
    folder = tmp_path / "test"
    folder.mkdir()
    (folder / "a.mlir").write_text(PASSES.replace("=top-down=false", ""))
    found = list(pass_outcomes(tmp_path))
    assert [(o.pipeline, o.status) for o in found] == [("cse,canonicalize", MATCHES), ("cse,canonicalize", DIFFERS)]
    assert lit.main([str(tmp_path), "--passes"]) == 1
    assert "| cse,canonicalize | 2 | 1 | 0 | 1 | 0 | 0 |" in capsys.readouterr().out


def test_sections_have_their_own_run_lines():
    a, other, b = programs_of(PASSES, "a.mlir")
    assert a.runs == other.runs and a.runs[0].filecheck == ("%t/a.mlir", "--check-prefixes=ONE")
    assert pipeline_of(a.runs[0]) == "cse,canonicalize{top-down=false}"
    assert [run.passes for run in b.runs] == [("some-pass-of-theirs",)]


def test_programs_are_compared_with_triton(triton_oracle):
    good, bad, third = programs_of(FILE, "a.mlir")
    assert [compare(p, triton_oracle).status for p in (good, bad, third)] == [ALIKE, NEITHER, ALIKE]
    (other,) = programs_of('// RUN: triton-opt %s -allow-unregistered-dialect\n%0 = "x.y"() : () -> i32', "a.mlir")
    assert compare(other, triton_oracle).status == OURS_ALONE


AMD_FILE = """\
// RUN: triton-opt %s -split-input-file -tritonamdgpu-fold-true-cmpi -canonicalize | FileCheck %s
// RUN: triton-opt %s -split-input-file -tritonamdgpu-no-such-pass | FileCheck %s
// CHECK-LABEL: @folded
// CHECK: arith.constant true
tt.func @folded() -> i1 {
  %a = tt.get_program_id x : i32
  %c = arith.constant 0 : i32
  %t = arith.cmpi sge, %a, %c : i32
  tt.return %t : i1
}
// -----
// CHECK-LABEL: @kept
// CHECK: arith.constant true
tt.func @kept(%a: i32) -> i1 {
  %c = arith.constant 0 : i32
  %t = arith.cmpi sge, %a, %c : i32
  tt.return %t : i1
}
// -----
// CHECK: llvm.return
tt.func @lowered() {
  tt.return
}
"""

RANGES = """\
// RUN: triton-opt %s -test-tritonamdgpu-range-analysis -verify-diagnostics=only-expected
tt.func @ranges(%a: i32) {
  %c = arith.constant 7 : i32
  // expected-remark@+1 {{unsigned : [0, 7] signed : [0, 7]}}
  %b = arith.andi %a, %c : i32
  // expected-remark@+1 {{unsigned : [0, 15]}}
  %d = arith.andi %b, %c : i32
  tt.return
}
"""


def test_text_tests_for_amd_gpus_are_counted(tmp_path: Path, monkeypatch, capsys):
    folder = tmp_path / "test" / "amd"
    folder.mkdir(parents=True)
    (folder / "a.mlir").write_text(AMD_FILE)
    (folder / "r.mlir").write_text(RANGES)
    (tmp_path / "test" / "other.mlir").write_text(AMD_FILE.replace("tritonamdgpu-", "triton"))
    page = tmp_path / "page.md"
    page.write_text("<!-- lit --amd -->\n<!-- end of lit --amd -->\n")
    known = {"kept": {"why": "any number", "programs": ["amd/a.mlir#2@0"]}, "later": {"why": "a pass", "waits": True}}
    known["later"]["passes"] = ["tritonamdgpu-no-such-pass"]
    monkeypatch.setattr(lit_amd, "reasons", lambda: known)
    found = list(lit_amd.amd_outcomes(tmp_path))
    assert [(o.program.name, o.status, o.kind) for o in found] == [
        ("amd/a.mlir#1", MATCHES, ""),
        ("amd/a.mlir#1", lit_amd.MISSING, "later"),
        ("amd/a.mlir#2", lit_amd.EXPLAINED, "kept"),
        ("amd/a.mlir#2", lit_amd.MISSING, "later"),
        ("amd/r.mlir#1", DIFFERS, ""),
    ]
    assert "line 7: expected 'unsigned : [0, 15]'" in found[-1].detail
    assert lit.main([str(tmp_path), "--amd", "--page", str(page)]) == 1
    assert "of the 3 that do not wait for another target, 33.3 %" in page.read_text()
    assert "differs: amd/r.mlir#1" in capsys.readouterr().out
