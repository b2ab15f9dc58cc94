"""Traces of real compiles: what is in them, and what `tritium trace show` and `diff` make of them."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tests.tools.test_cli import tritium_command
from tritium import knobs
from tritium.compiler import ASTSource, CompiledKernel, GPUTarget, compile
from tritium.ir import PASSES, parse_module
from tritium.support.traces import problems
from tritium.tools.opt import main as opt
from tritium.tools.trace_diff import DiffRequest, diff, first_difference
from tritium.tools.trace_reader import Compile, Trace, TraceError, read_trace
from tritium.tools.trace_show import ShowRequest, show

CPU, H100 = GPUTarget("cpu", "", 1), GPUTarget("cuda", 90, 32)


@tritium.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 3.0 * 1.0, mask=at < n)


@tritium.jit
def half(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.5)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))


def traced(path: Path, target: Any = CPU, fn: Any = scale, until: str | None = None, **options: Any) -> CompiledKernel:
    types = {name: ty for name, ty in (("x_ptr", "*fp32"), ("n", "i32")) if name in fn.arg_names}
    with knobs.compilation.scope():
        knobs.compilation.trace = str(path)
        return compile(ASTSource(fn, types, {"BLOCK": 64}), target, options, until)


def one(path: Path) -> tuple[Trace, Compile]:
    trace = read_trace(str(path))
    (compile,) = trace.compiles
    return trace, compile


# ---- what is recorded -----------------------------------------------------------------------------------------------


@needs_ptxas
@pytest.mark.parametrize(("target", "stages"), [(CPU, "ttir ttcir llir obj"), (H100, "ttir ttgir llir ptx cubin")])
def test_all_of_a_compile(tmp_path: Path, target: Any, stages: str) -> None:
    kernel = traced(tmp_path / "t.jsonl", target)
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [problem for line in lines for problem in problems(line)] == []
    trace, compile = one(tmp_path / "t.jsonl")
    assert compile.stage_names() == ["source", *stages.split()]
    assert compile.record["key"] == kernel.hash and compile.record["kernel"] == "scale"
    assert compile.record["constants"] == {"BLOCK": "64"} and compile.record["options"]["num_warps"] == 4
    place = compile.record["place"]
    assert place["file"] == __file__ and Path(__file__).read_text().split("\n")[place["line"] - 1] == "@tritium.jit"
    assert compile.end is not None and compile.end["fine"] and compile.end["cache"] == "miss"
    for stage in compile.stages:
        text = kernel.asm[stage["stage"]]
        shown = trace.text(stage["after"])
        if isinstance(text, bytes):
            assert shown == f"({len(text):,} bytes)"
        elif stage["stage"] in ("llir", "ptx"):
            assert shown == text
        else:
            assert str(parse_module(text)) == shown == str(parse_module(shown))
    found = compile.found
    assert found and all(kernel.values[name] == value for name, value in found.items() if not isinstance(value, list))


def test_each_stage_begins_with_what_the_last_one_left(tmp_path: Path) -> None:
    traced(tmp_path / "t.jsonl", H100, until="ptx")
    trace, compile = one(tmp_path / "t.jsonl")
    last = ""
    for name in compile.stage_names():
        stage = compile.stage(name)
        assert stage is not None and stage.get("before", "") == last
        for i, p in enumerate(compile.passes_of(name)):
            assert (p["index"], p["before"]) == (i, last)
            assert p["changed"] == (p["after"] != last) and not (p["skipped"] and p["changed"])
            assert len(compile.rewrites[name, i]) == p["rewrites"]
            assert [r["index"] for r in compile.rewrites[name, i]] == list(range(p["rewrites"]))
            last = p["after"]
        if name != "ptx" and compile.passes_of(name):
            assert stage["after"] == last or name == "llir"  # whose comment says how it is launched
        last = stage["after"]
    passes = [p["name"] for p in compile.passes]
    assert {"canonicalize", "cse", "coalesce", "ttg-to-llvm", "llvm"} <= set(passes)
    total = sum(stage["us"] for stage in compile.stages)
    assert compile.end is not None and 0 < total <= compile.end["us"]
    inside = sum(p["us"] for p in compile.passes)
    assert inside <= total


def test_rewrites_say_the_rule_and_the_place(tmp_path: Path) -> None:
    traced(tmp_path / "t.jsonl")
    trace, compile = one(tmp_path / "t.jsonl")
    rewrites = [r for several in compile.rewrites.values() for r in several]
    (found,) = [r for r in rewrites if r["rule"] == "one_right_float"]
    assert found["equation"] == "x * 1.0 = x, x / 1.0 = x"
    assert "arith.mulf" in found["before"] and "arith.mulf" in found["after"] and found["before"] != found["after"]
    source = Path(__file__).read_text().split("\n")[found["place"]["line"] - 1]
    assert found["place"]["file"] == __file__ and "3.0 * 1.0" in source
    stage, index = next(key for key, several in compile.rewrites.items() if found in several)
    before = trace.text(compile.passes_of(stage)[index]["before"])
    assert found["before"].partition(",")[0] in before, "values are named as in the text before the pass"
    assert all("before" in r or "after" in r for r in rewrites)


def test_lines_of_texts_have_their_sources(tmp_path: Path) -> None:
    traced(tmp_path / "t.jsonl", H100, until="ptx")
    trace, compile = one(tmp_path / "t.jsonl")
    source = Path(__file__).read_text().split("\n")
    for stage in ("ttir", "ttgir"):
        record = trace.texts[compile.stage(stage)["after"]]  # type: ignore[index]
        lines = record["text"].split("\n")
        placed = {lines[n - 1].strip().split(" ")[0]: source[line - 1] for n, file, line, _ in record["lines"]}
        assert record["files"] == [__file__] and len(record["lines"]) > 5
        assert "tl.store" in placed["tt.store"], placed
        starts = [n for n, *_ in record["lines"]]
        assert starts == sorted(starts) and all(lines[n - 1].strip() for n in starts)


def test_a_kernel_of_the_cache(tmp_path: Path) -> None:
    traced(tmp_path / "a.jsonl")
    traced(tmp_path / "b.jsonl")
    _, compile = one(tmp_path / "b.jsonl")
    assert compile.end is not None and (compile.end["cache"], compile.stages) == ("hit", [])
    assert compile.record["key"] == one(tmp_path / "a.jsonl")[1].record["key"]


def test_a_compile_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(op: Any) -> bool:
        raise ZeroDivisionError("on purpose")

    broken.pass_name, broken.level = "loop-aware-cse", "function"  # type: ignore[attr-defined]
    from tritium.transforms import loop_aware_cse

    monkeypatch.setattr(loop_aware_cse, "loop_aware_cse", broken)
    with pytest.raises(tritium.TritiumError, match="on purpose"):
        traced(tmp_path / "t.jsonl")
    _, compile = one(tmp_path / "t.jsonl")
    (error,) = compile.errors
    assert (error["stage"], error["pass"]) == ("ttir", "loop-aware-cse") and "on purpose" in error["message"]
    assert compile.end is not None and not compile.end["fine"] and compile.stage_names() == ["source", "ttir"]


@tritium.jit
def wrong(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), no_such_name)  # noqa: F821


def test_a_kernel_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(tritium.TritiumError, match="no_such_name"):
        traced(tmp_path / "t.jsonl", fn=wrong)
    _, compile = one(tmp_path / "t.jsonl")
    (error,) = compile.errors
    assert error["stage"] == "source" and "pass" not in error and "no_such_name" in error["message"]
    assert compile.end is not None and not compile.end["fine"]


def test_threads_do_not_mix_their_rewrites(tmp_path: Path) -> None:
    fns = [scale, half]
    threads = [threading.Thread(target=traced, args=(tmp_path / f"{i}.jsonl", CPU, fn)) for i, fn in enumerate(fns)]
    with knobs.compilation.scope():
        knobs.compilation.trace = str(tmp_path / "t.jsonl")

        def work(fn: Any) -> None:
            types = {name: ty for name, ty in (("x_ptr", "*fp32"), ("n", "i32")) if name in fn.arg_names}
            for block in (32, 64, 128, 256):
                compile(ASTSource(fn, types, {"BLOCK": block}), CPU)

        threads = [threading.Thread(target=work, args=(fn,)) for fn in fns]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    trace = read_trace(str(tmp_path / "t.jsonl"))
    assert len(trace.compiles) == 8
    by_kernel = {"scale": set(), "half": set()}  # type: ignore[var-annotated]
    for c in trace.compiles:
        assert c.end is not None and c.end["fine"]
        by_kernel[c.record["kernel"]].add(tuple((p["name"], p["rewrites"]) for p in c.passes))
    assert {name: len(found) for name, found in by_kernel.items()} == {"scale": 1, "half": 1}


def test_passes_outside_of_a_compile(tmp_path: Path, capfd: Any) -> None:
    program = tmp_path / "p.mlir"
    program.write_text("func.func @f(%a: i32) -> i32 {\n  %z = arith.constant 0 : i32\n"
                       "  %s = arith.addi %a, %z : i32\n  func.return %s : i32\n}\n".replace("func.func", "tt.func").replace("func.return", "tt.return"))  # fmt: skip
    path = tmp_path / "t.jsonl"
    for _ in range(2):  # the file is written anew
        assert opt([str(program), "--passes", "canonicalize,dce", "--no-output", f"--trace={path}"]) == 0
    trace, compile = one(path)
    assert compile.name == "passes of opt" and [p["name"] for p in compile.passes] == ["canonicalize", "dce"]
    (rewrite, *_) = compile.rewrites["opt", 0]
    assert (rewrite["rule"], rewrite["before"]) == ("zero_right", "%s = arith.addi %a, %z : i32")
    assert rewrite["after"] == "%a" and rewrite["place"] == {"file": str(program), "line": 3, "column": 8}
    assert trace.text(compile.passes[0]["after"]) != trace.text(compile.passes[0]["before"])


def test_a_pass_that_runs_passes(tmp_path: Path) -> None:
    """Those inside come later in the order, and what the one around them changed is told of it all the same."""
    from tritium.ir import Pass, run_pipeline

    module = parse_module("tt.func @f(%a: i32) -> i32 {\n  %d = arith.muli %a, %a : i32\n  tt.return %a : i32\n}")

    def outer(op: Any) -> bool:
        return run_pipeline(op, [PASSES.lookup("dce").row()]).changed

    with knobs.compilation.scope():
        knobs.compilation.trace = str(tmp_path / "t.jsonl")
        run_pipeline(module, [Pass("outer", outer), PASSES.lookup("cse").row()])
    trace, compile = one(tmp_path / "t.jsonl")
    found = {p["name"]: p for p in compile.passes}
    assert {name: (p["index"], p["changed"]) for name, p in found.items()} == {
        "outer": (0, True), "dce": (1, True), "cse": (2, False),
    }  # fmt: skip
    assert (found["outer"]["before"], found["outer"]["after"]) == (found["dce"]["before"], found["dce"]["after"])
    assert "muli" in trace.text(found["outer"]["before"]) and "muli" not in trace.text(found["cse"]["after"])


# ---- what is shown --------------------------------------------------------------------------------------------------


def test_show(tmp_path: Path, capsys: Any) -> None:
    path = str(tmp_path / "t.jsonl")
    traced(Path(path), H100, until="ptx")
    show(ShowRequest(path))
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines() if line.strip()]
    assert rows[0][:3] == ["scale", "for", "cuda:90:"] and rows[1] == ["stage", "pass", "ms", "operations", "rewrites"]
    assert [r[0] for r in rows if r[0] in ("source", "ttir", "ttgir", "llir", "ptx")] == [
        "source",
        "ttir",
        "ttgir",
        "llir",
        "ptx",
    ]
    assert "licm" not in out and "sccp" not in out
    show(ShowRequest(path, every=True))
    out = capsys.readouterr().out
    assert "sccp" in out and "licm" not in out, "licm found no loop and did not run"
    show(ShowRequest(path, stage="ttir", only_pass="canonicalize", rewrites=True))
    out = capsys.readouterr().out
    assert "\x1b" not in out and "one_right_float: x * 1.0 = x" in out and "test_trace.py:" in out
    assert any(line.startswith("-  ") and "arith.mulf" in line for line in out.splitlines())
    show(ShowRequest(path, stage="ttgir", text=True))
    assert "#blocked = #ttg.blocked" in capsys.readouterr().out


def test_names_that_nothing_has(tmp_path: Path) -> None:
    path = str(tmp_path / "t.jsonl")
    traced(Path(path))
    for request, message in (
        (ShowRequest(path, kernel="scal"), "has no kernel 'scal'; did you mean 'scale'"),
        (ShowRequest(path, stage="ptx"), "has no stage 'ptx'"),
        (ShowRequest(path, only_pass="canonicalise"), r"has no pass 'canonicalise'; did you mean 'canonicalize'\?"),
    ):
        with pytest.raises(TraceError, match=message):
            show(request)


def test_files_that_are_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    traced(path)
    whole = path.read_text()
    for text, message in (
        ("", "is no trace"),
        ("hello\n", "is no trace"),
        (whole.replace('"version":1', '"version":2', 1), r":1: error: a trace of version 2; 1 is read here"),
        (whole.replace('"kind":"stage"', '"kind":"stage",', 1), r"t.jsonl:\d+:\d+: error: "),
        (whole.replace('"us":', '"uss":', 1), r"t.jsonl:\d+: error: a record '\w+' lacks 'us'"),
    ):
        path.write_text(text)
        with pytest.raises(TraceError, match=message):
            read_trace(str(path))
    with pytest.raises(TraceError, match="cannot read '.*nothing': no such file"):
        read_trace(str(tmp_path / "nothing"))
    path.write_text(whole[: len(whole) - 20])
    _, compile = one(path)
    assert compile.end is None and compile.stages, "a last line that was cut is left out"
    path.write_text(whole + '{"kind":"from the future"}\n')
    assert one(path)[1].end is not None


# ---- what differs ---------------------------------------------------------------------------------------------------


def test_two_options(tmp_path: Path, capsys: Any) -> None:
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    traced(a, H100, until="ptx")
    traced(b, H100, until="ptx", num_warps=8)
    assert diff(DiffRequest(str(a), str(b))) == 1
    out = capsys.readouterr().out
    assert "num_warps: 4 -> 8" in out and "convert-triton-to-tritongpu (options {target=cuda:90} and" in out
    assert "of the same input" in out and "+#blocked = " in out and "warps: 4 -> 8" in out
    assert diff(DiffRequest(str(a), str(a))) == 0
    assert "all outputs are the same" in capsys.readouterr().out


def test_two_targets_are_paired_by_the_kernel(tmp_path: Path, capsys: Any) -> None:
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    traced(a, H100, until="ttgir")
    traced(a, CPU, half)
    traced(b, GPUTarget("cuda", 80, 32), until="ttgir")
    assert diff(DiffRequest(str(a), str(b))) == 1
    assert capsys.readouterr().out.startswith("scale for cuda:90 and scale for cuda:80\n  target: cuda:90 -> cuda:80")
    with pytest.raises(TraceError, match="have no compile of the same kernel"):
        diff(DiffRequest(str(a), str(b), kernel="half"))


def test_a_pass_that_only_one_has(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    traced(path)
    _, old = one(path)
    _, new = one(path)
    new.passes = [p for p in new.passes if p["name"] != "canonicalize"]
    found = first_difference(old, new)
    assert found is not None and found.what == "only the first has the pass canonicalize of ttir, which changes the IR"
    assert first_difference(old, old) is None


def test_the_commands(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    file = f"{__file__}::scale"
    for _ in range(2):  # neither adds to the file nor takes the kernel from the cache
        done = tritium_command("compile", file, "--target", "cuda:90", "--signature", "*fp32, i32, 64", "--stage", "ttgir",
                               "--trace", str(path))  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert one(path)[1].stage_names() == ["source", "ttir", "ttgir"]
    assert "canonicalize" in tritium_command("trace", "show", str(path)).stdout
    assert tritium_command("trace", "diff", str(path), str(path)).returncode == 0
    missing = tritium_command("trace", "show", str(tmp_path / "no"))
    assert missing.returncode == 2 and missing.stderr.startswith("tritium: error: cannot read")
