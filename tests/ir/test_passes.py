"""The pass loop: order, dumps, times, statistics, verifying, fuel, crash reports, bisecting."""

from __future__ import annotations

import re

import pytest

from tritium.dialects import arith
from tritium.ir import (
    Pass,
    bisect,
    check_order,
    count,
    functions_of,
    listening,
    parse_module,
    pass_on,
    remark,
    rewrite_greedily,
    rule,
    run_pipeline,
    verify,
    warn,
)
from tritium.ir.passes import Nest, PassError, PassInterrupted
from tritium.ir.passes.reproducer import read_reproducer
from tritium.ir.passes.run import run_conversion
from tritium.support import InternalError, TritiumError
from tritium.support.settings import compilation

TEXT = """
tt.func public @first(%o: !tt.ptr<i32>, %x: i32) {
  %a = arith.muli %x, %x : i32 loc("kernel.py":7:3)
  tt.store %o, %a : !tt.ptr<i32>
  tt.return
}
tt.func public @second(%o: !tt.ptr<i32>, %x: i32) {
  %a = arith.addi %x, %x : i32
  tt.store %o, %a : !tt.ptr<i32>
  tt.return
}
"""


@rule(arith.MulI)
def product_to_sum(op):
    """x * y = x + y, which is wrong"""
    return arith.AddI(op.lhs, op.rhs)


@rule(arith.AddI)
def sum_to_difference(op):
    """x + y = x - y, which is wrong too"""
    return arith.SubI(op.lhs, op.rhs)


@pass_on("function")
def sums(func):
    count("functions seen")
    return rewrite_greedily(func, [product_to_sum])


@pass_on("function")
def differences(func):
    return rewrite_greedily(func, [sum_to_difference])


@pass_on("module")
def nothing(module):
    return False


@pass_on("function")
def crash(func):
    @rule(arith.MulI)
    def divide(op):
        raise ZeroDivisionError("division by zero")

    return rewrite_greedily(func, [divide])


@pass_on("module")
def breaks_the_ir(module):
    op = next(op for op in module.walk() if op.name == "arith.muli")
    op.operands[0] = functions_of(module)[1].regions[0].blocks[0].args[1]


@pytest.fixture(autouse=True)
def clean_settings():
    with compilation.scope():
        yield


def module():
    return parse_module(TEXT)


PIPELINE = [
    Pass("sums", sums, "to test"),
    Pass("nothing", nothing, "to test"),
    Pass("differences", differences, "to test"),
]


def test_a_pipeline_reports_what_it_did():
    report = run_pipeline(module(), PIPELINE, verifier=verify)
    assert [(r.name, r.changed) for r in report.runs] == [("sums", True), ("nothing", False), ("differences", True)]
    assert [name for name, _ in report.runs[0].functions] == ["@first", "@second"]
    assert report.runs[0].counts == {"functions seen": 2}
    assert report.seconds >= sum(r.seconds for r in report.runs) > 0


def test_order_is_checked():
    check_order(PIPELINE, [("sums", "differences", "why")])
    with pytest.raises(InternalError, match="differences must come before sums: because"):
        check_order(PIPELINE, [("differences", "sums", "because")])


def headings(text):
    return re.findall(r"// -----// (IR Dump .*) //----- //", text)


def test_dump_of_all_kernels_and_of_one(capfd, monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "1")
    run_pipeline(module(), PIPELINE)
    err = capfd.readouterr().err
    assert headings(err) == [
        "IR Dump Before SumsPass: sums ('builtin.module' operation)",
        "IR Dump Before NothingPass: nothing ('builtin.module' operation)",
        "IR Dump Before DifferencesPass: differences ('builtin.module' operation)",
    ]
    assert "tt.func public @first" in err
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "third")
    run_pipeline(module(), PIPELINE)
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "second")
    monkeypatch.setenv("MLIR_DUMP_PATH", str(tmp_path / "dump"))
    run_pipeline(module(), PIPELINE)
    assert capfd.readouterr().err == ""
    assert "IR Dump Before SumsPass: sums" in (tmp_path / "dump").read_text()


def test_a_nest_runs_all_rows_on_one_function_before_the_next(capfd, monkeypatch):
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "1")
    m = module()
    report = run_pipeline(m, [Nest("tt.func", PIPELINE)], verifier=verify)
    assert [h.split("(")[1] for h in headings(capfd.readouterr().err)] == ["'tt.func' operation: @first)"] * 3 + [
        "'tt.func' operation: @second)"
    ] * 3
    [nest] = report.runs
    assert nest.name == "'tt.func' Pipeline"
    assert [(c.name, [f for f, _ in c.functions]) for c in nest.children] == [
        ("sums", ["@first", "@second"]), ("nothing", ["@first", "@second"]), ("differences", ["@first", "@second"]),
    ]  # fmt: skip
    assert nest.seconds == sum(c.seconds for c in nest.children)
    flat = module()
    run_pipeline(flat, PIPELINE)
    assert str(m) == str(flat)


def test_timing(capfd, monkeypatch):
    monkeypatch.setenv("MLIR_ENABLE_TIMING", "1")
    run_pipeline(module(), PIPELINE, stage="ttir")
    err = capfd.readouterr().err
    assert err.startswith("pass times of ttir:")
    assert "differences" in err
    assert "sums: functions seen: 2" in err


def test_fuel_is_a_number_of_passes(monkeypatch):
    monkeypatch.setenv("TRITIUM_PASS_FUEL", "1")
    assert [r.name for r in run_pipeline(module(), PIPELINE).runs] == ["sums"]


def test_fuel_of_the_last_pass_is_a_number_of_rewrites(monkeypatch):
    monkeypatch.setenv("TRITIUM_PASS_FUEL", "3:1")
    m = module()
    run_pipeline(m, PIPELINE)
    assert str(m).count("arith.subi") == 1
    for wrong in ("x", "1:y", "-1", "1.5"):
        monkeypatch.setenv("TRITIUM_PASS_FUEL", wrong)
        with pytest.raises(TritiumError, match=f"TRITIUM_PASS_FUEL is N or N:M with whole numbers, not '{wrong}'"):
            run_pipeline(module(), PIPELINE)


def test_dumps_that_the_environment_words(capfd, monkeypatch, tmp_path):
    def dumps(words):
        monkeypatch.setenv("TRITIUM_PRINT_IR", words)
        run_pipeline(module(), PIPELINE)
        err = capfd.readouterr().err
        return [h.split(":")[0].split(" ", 2)[2] for h in headings(err)], err

    assert dumps("before:sums,after:nothing")[0] == ["Before SumsPass", "After NothingPass"]
    assert dumps("change")[0] == ["After SumsPass", "After DifferencesPass"]
    assert dumps("change:differences")[0] == ["After DifferencesPass"]
    names, text = dumps("diff")
    assert names == ["After SumsPass", "After DifferencesPass"]
    assert "-    %a = arith.muli %x, %x : i32\n+    %a = arith.addi %x, %x : i32" in text
    names, text = dumps("before, function:second")
    assert len(names) == 3 and "@second" in text and "@first" not in text
    assert dumps("before,function:third")[0] == []
    assert '"arith.muli"' in dumps("before,generic")[1]
    assert "loc(" in dumps("before,locations")[1]
    assert dumps(f"after,to:{tmp_path / 'folder'}")[1] == ""
    assert len(list((tmp_path / "folder").iterdir())) == 3
    with pytest.raises(ValueError, match="TRITIUM_PRINT_IR knows before, after, change, .*, not 'befor'"):
        dumps("befor")


def test_remarks(capfd, monkeypatch):
    op = next(op for op in module().walk() if op.name == "arith.muli")
    remark(op, "nobody asked")
    assert capfd.readouterr().err == ""
    told = []
    with listening(told.append):
        remark(op, "a remark")
        warn(op, "a warning")
    assert [(d.severity, d.message, d.position()) for d in told] == [
        ("remark", "a remark", "kernel.py:7:3"), ("warning", "a warning", "kernel.py:7:3"),
    ]  # fmt: skip
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "remarks,operations")
    remark(op, "shown")
    warn(op, "not asked for")
    assert (
        capfd.readouterr().err
        == "kernel.py:7:3: remark: shown\nnote: see current operation: %a = arith.muli %x, %x : i32\n"
    )
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "warnings,stacktraces")
    warn(op, "shown")
    err = capfd.readouterr().err
    assert err.startswith("kernel.py:7:3: warning: shown\nnote: told from\n")
    assert "test_remarks" in err


def test_a_crash_names_pass_function_operation_and_leaves_a_reproducer(monkeypatch, tmp_path):
    path = tmp_path / "crash.mlir"
    monkeypatch.setenv("TRITIUM_CRASH_REPRODUCER", str(path))
    with pytest.raises(PassError) as caught:
        run_pipeline(module(), [Pass("nothing", nothing, ""), Pass("crash", crash, ""), *PIPELINE])
    text = str(caught.value)
    assert "pass crash failed on @first: ZeroDivisionError: division by zero" in text
    assert "%a = arith.muli %x, %x : i32" in text
    assert "kernel.py:7:3" in text
    assert str(path) in text
    saved = path.read_text()
    assert read_reproducer(saved)[:2] == ("builtin.module(crash,sums,nothing,differences)", True)
    assert str(parse_module(saved)) == str(module())


def test_the_reproducer_holds_the_ir_before_the_pass_that_failed(monkeypatch, tmp_path):
    @pass_on("module")
    def late(m):
        raise ValueError("late")

    path = tmp_path / "crash.mlir"
    monkeypatch.setenv("TRITIUM_CRASH_REPRODUCER", str(path))
    with pytest.raises(PassError, match="pass late failed on @?builtin.module"):
        run_pipeline(module(), [*PIPELINE, Pass("late", late, "")])
    transformed = module()
    run_pipeline(transformed, PIPELINE)
    assert str(parse_module(path.read_text())) == str(transformed)


def test_errors_of_the_users_pass_through():
    @pass_on("module")
    def complain(m):
        raise TritiumError("your fault")

    with pytest.raises(TritiumError, match="^your fault$"):
        run_pipeline(module(), [Pass("complain", complain, "")])


def test_verify_each_blames_the_pass(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITIUM_VERIFY_EACH", "1")
    monkeypatch.setenv("TRITIUM_CRASH_REPRODUCER", str(tmp_path / "broken.mlir"))
    with pytest.raises(PassError, match="pass breaks failed"):
        run_pipeline(module(), [Pass("breaks", breaks_the_ir, ""), *PIPELINE], verifier=verify)


def test_a_pass_that_breaks_the_ir_is_named_without_verify_each_too(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITIUM_CRASH_REPRODUCER", str(tmp_path / "broken.mlir"))
    with pytest.raises(PassError, match="pass breaks failed") as caught:
        run_pipeline(module(), [PIPELINE[1], Pass("breaks", breaks_the_ir, ""), PIPELINE[1]], verifier=verify)
    assert caught.value.failed.name == "breaks"
    saved = (tmp_path / "broken.mlir").read_text()
    assert read_reproducer(saved).pipeline == "builtin.module(breaks,nothing)"


def test_ir_that_was_broken_before_is_no_pass_s_fault():
    m = module()
    breaks_the_ir(m)
    with pytest.raises(InternalError, match="the IR breaks 3 invariants") as caught:
        run_pipeline(m, [PIPELINE[1]], verifier=verify)
    assert not isinstance(caught.value, PassError)


def test_a_failure_in_a_nest_is_reproduced_by_the_nest(monkeypatch, tmp_path):
    path = tmp_path / "crash.mlir"
    monkeypatch.setenv("TRITIUM_CRASH_REPRODUCER", str(path))
    seen = []

    @pass_on("function")
    def second_time(func):
        seen.append(func)
        if len(seen) == 2:
            raise ValueError("twice")

    rows = [Nest("tt.func", [PIPELINE[2], Pass("second-time", second_time)])]
    with pytest.raises(PassError, match="pass second-time failed on @second: ValueError: twice"):
        run_pipeline(module(), rows)
    saved = path.read_text()
    assert read_reproducer(saved).pipeline == "builtin.module(tt.func(second-time))"
    assert "arith.subi" in saved


def test_an_interrupt_says_which_pass_ran(monkeypatch, tmp_path):
    path = tmp_path / "endless.mlir"
    monkeypatch.setenv("TRITIUM_CRASH_REPRODUCER", str(path))

    @pass_on("function")
    def endless(func):
        @rule(arith.AddI)
        def too_long(op):
            raise KeyboardInterrupt

        return rewrite_greedily(func, [too_long])

    with pytest.raises(PassInterrupted) as caught:
        run_pipeline(module(), [PIPELINE[0], Pass("endless", endless)])
    assert str(caught.value).split("\n") == [
        "interrupted in pass endless on @first",
        "  at: %a = arith.addi %x, %x : i32",
        "  from: kernel.py:7:3",
        f"  reproducer (tritium opt --run-reproducer): {path}",
    ]
    assert read_reproducer(path.read_text()).pipeline == "builtin.module(endless)"
    assert "muli" not in path.read_text()


def test_a_conversion_is_watched_like_a_pass(capfd, monkeypatch, tmp_path):
    path = tmp_path / "crash.mlir"
    monkeypatch.setenv("TRITIUM_CRASH_REPRODUCER", str(path))
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "1")
    monkeypatch.setenv("MLIR_ENABLE_TIMING", "1")
    m = module()
    made = run_conversion("to-nothing", m, lambda op: parse_module(""), stage="none", verifier=verify)
    assert str(made) != str(m) == str(module())
    err = capfd.readouterr().err
    assert headings(err) == ["IR Dump Before ToNothingPass: to-nothing ('builtin.module' operation)"]
    assert "pass times of none" in err

    def broken(op):
        copy = op.clone()
        breaks_the_ir(copy)
        return copy

    with pytest.raises(PassError, match="pass to-broken failed on builtin.module: VerificationError"):
        run_conversion("to-broken", module(), broken, verifier=verify)
    assert read_reproducer(path.read_text()).pipeline == "builtin.module(to-broken)"
    assert str(parse_module(path.read_text())) == str(module())
    with pytest.raises(PassError, match="pass to-crash failed on builtin.module: ZeroDivisionError"):
        run_conversion("to-crash", module(), lambda op: 1 / 0)
    with pytest.raises(TritiumError, match="^your fault$"):

        def complain(op):
            raise TritiumError("your fault")

        run_conversion("to-complain", module(), complain)


def test_every_stage_leaves_its_input_and_passes_where_triton_does(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_REPRODUCER_PATH", str(tmp_path / "r"))
    run_pipeline(module(), PIPELINE, stage="ttir")
    saved = (tmp_path / "r.make_ttir.repro.mlir").read_text()
    assert read_reproducer(saved).pipeline == "builtin.module(sums,nothing,differences)"
    assert str(parse_module(saved)) == str(module())


def test_bisect_finds_the_rewrite():
    def has_no_sum(m):
        return all(op.name != "arith.addi" for op in m.walk())

    def is_bad(m):
        return sum(op.name == "arith.subi" for op in m.walk()) > 1

    found = bisect(module(), PIPELINE, is_bad)
    assert str(found) == "pass 3 (differences), rewrite 2 of 2 (sum_to_difference)"
    assert "-    %a = arith.addi %x, %x : i32\n+    %a = arith.subi %x, %x : i32" in found.report()
    assert "--fuel 3:2" in found.report()
    assert "sum_to_difference on %a = arith.addi %x, %x : i32\n  x + y = x - y, which is wrong too\n" in found.report()
    assert bisect(module(), PIPELINE, has_no_sum) == found
    with pytest.raises(InternalError, match="nothing to bisect"):
        bisect(module(), PIPELINE, lambda m: True)
