"""The data of the views: stages, provenance, rewrites, layouts, values, checks, performance, comparison."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.explorer.conftest import ADD, done
from tritium.backends.nvidia.toolchain import find_tool
from tritium.explorer.actions import act
from tritium.explorer.answers import address, answer
from tritium.explorer.errors import RequestError
from tritium.explorer.remarks import with_remarks
from tritium.explorer.session import Input, Session
from tritium.explorer.texts import machine_text

Start = Callable[[Input], Session]

BLOCKED = "#ttg.blocked<{{sizePerThread = [{}], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>"
ROWS = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
ROW_A_LANE = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>"
COLUMNS = "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>"


@pytest.fixture(scope="module")
def emulated(script: Path) -> Iterator[Session]:
    """The vector add for an emulated GPU."""
    if find_tool("ptxas") is None:
        pytest.skip("there is no ptxas")
    session = Session(Input("script", str(script), (), "cuda:90"))
    session.start()
    assert session.wait(120)
    yield session
    session.close()


def line_with(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.split("\n"), 1) if part in line)


def test_document_has_stages_passes_and_the_launch(emulated: Session) -> None:
    found = answer(emulated, "api/document/d1")
    assert [s["name"] for s in found["stages"]] == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    passes = [p for s in found["stages"] for p in s["passes"]]
    assert any(p["changed"] for p in passes) and all(p["us"] >= 0 for p in passes)
    assert {p["reason"] for p in passes if p["name"] == "coalesce"} != {""}
    assert found["launch"]["grid"] == [4, 1, 1]
    assert {"name": "x_ptr", "value": "float32[1000]"} in found["launch"]["arguments"]
    assert found["cache"]["state"] in ("hit", "miss")
    spans = found["spans"]
    assert {s["kind"] for s in spans} >= {"compile", "stage", "pass"}
    assert all(s["at"] + s["us"] <= spans[0]["us"] * 1.01 + 1 for s in spans)


def test_provenance_follows_a_line_to_sass_and_back(emulated: Session) -> None:
    found = answer(emulated, "api/provenance/d1")
    labels = [step["stage"] for step in found["steps"]]
    line = line_with(ADD, "tl.load(y_ptr")
    at = [step for one in found["lines"] if one["line"] == line for step in enumerate(one["at"])]
    reached = {labels[i] for i, lines in at if lines}
    assert reached >= {"source", "ttir", "ttgir", "llir", "ptx"}
    if find_tool("nvdisasm") is not None:
        assert "sass" in reached
        sass = answer(emulated, "api/text/sass-d1")
        loads = [op for op in sass["ops"] if op["place"] and op["place"][1] == line]
        assert any(op["name"].startswith("LDG") for op in loads)


def test_text_has_the_types_layouts_and_uses_of_values(emulated: Session) -> None:
    document = answer(emulated, "api/document/d1")
    text = answer(emulated, f"api/text/{document['stages'][2]['after']}")
    store = next(op for op in text["ops"] if op["name"] == "tt.store")
    pointer = text["values"][store["operands"][0]]
    assert pointer["layout"].startswith("#ttg.blocked<{") and pointer["shape"] == [256]
    assert store["line"] in pointer["uses"]
    assert text["text"].split("\n")[store["line"] - 1].strip().startswith("tt.store")


def test_rewrites_have_equations_lines_and_steps(emulated: Session) -> None:
    document = answer(emulated, "api/document/d1")
    (stage, found) = next(
        (s["name"], p) for s in document["stages"] for p in s["passes"] if p["name"] == "canonicalize"
    )
    rows = answer(emulated, f"api/rewrites/d1/{stage}/{found['index']}")
    rewrite = next(r for r in rows["rewrites"] if "1.0" in r["equation"])
    before = answer(emulated, f"api/text/{rows['before']}")["text"]
    assert "arith.mulf" in before.split("\n")[rewrite["line_before"] - 1]
    assert rows["steppable"]
    base = f"api/rewrite-step/d1/{stage}/{found['index']}"
    assert answer(emulated, f"{base}/0") == {"text": rows["before"]}
    last = answer(emulated, f"{base}/{len(rows['rewrites'])}")["text"]
    texts = [answer(emulated, f"api/text/{id}")["text"].strip() for id in (last, rows["after"])]
    assert texts[0] == texts[1] != before.strip()


def test_layout_names_every_holder() -> None:
    session = Session(Input())
    try:
        found = answer(session, address("api/layout", layout=BLOCKED.format(2), shape="256", bits=32))
        assert found["axes"] == ["register", "lane", "warp", "block"]
        assert found["places"][3] == [[1, 1, 0, 0]] and found["places"][64] == [[0, 0, 1, 0]]
        for shape, message in (("3x", "no shape"), ("512x512", "too large")):
            with pytest.raises(RequestError, match=message):
                answer(session, address("api/layout", layout=BLOCKED.format(2), shape=shape))
    finally:
        session.close()


def test_shared_access_counts_bank_conflicts() -> None:
    session = Session(Input())

    def wavefronts(shared: str) -> tuple[int, int]:
        where = address("api/shared-access", registers=ROW_A_LANE, shared=shared, shape="64x64", bits=16, store=1)
        found = answer(session, where)
        assert found["wavefronts"] == found["ideal"] + found["conflicts"]
        return found["wavefronts"], found["conflicts"]

    try:
        plain, swizzled = wavefronts(PLAIN), wavefronts(SWIZZLED)
        assert plain[1] > 0
        assert swizzled < plain
    finally:
        session.close()


def test_conversion_says_how_elements_move() -> None:
    session = Session(Input())
    try:

        def of(source: str, result: str, shape: str) -> dict[str, Any]:
            return answer(session, address("api/conversion", source=source, result=result, shape=shape, bits=16))

        assert of(ROWS, ROWS, "64x64")["method"] == "nothing"
        shuffled = of(BLOCKED.format(1), BLOCKED.format(2), "64")
        assert sum(shuffled["moves"].values()) >= 64
        assert of(ROWS, COLUMNS, "64x64")["method"] == "shared memory"
        assert of(ROWS, COLUMNS, "64x64")["moves"]["warps"] > 0
    finally:
        session.close()


def test_values_of_a_program_mark_masked_elements(emulated: Session) -> None:
    job = done(emulated, "values", document="d1", program=[3, 0, 0])
    assert job.state == "done", job.message
    found = answer(emulated, f"api/values/{job.result}")
    assert found["inputs"] == "the arguments of the first launch" and not found["errors"]
    load = next(v for v in found["values"] if v["op"] == "tt.load")
    assert (load["shape"], load["masked"], load["max"]) == ([256], 24, 999.0)
    tensor = answer(emulated, f"api/values/{job.result}/{load['id']}?iteration=0")
    assert tensor["numbers"][:2] == [768.0, 769.0] and tensor["marks"]["masked"][0] == 232
    pointer = next(v for v in found["values"] if v["op"] == "tt.addptr")
    assert answer(emulated, f"api/values/{job.result}/{pointer['id']}?iteration=0")["numbers"][1] == "x_ptr + 769"


def test_numbers_of_a_launch_can_be_replaced(emulated: Session) -> None:
    job = done(emulated, "values", document="d1", program=[3, 0, 0], arguments={"n": "900"})
    assert job.state == "done", job.message
    found = answer(emulated, f"api/values/{job.result}")
    assert found["inputs"].endswith("with n = 900")
    assert next(v for v in found["values"] if v["op"] == "tt.load")["masked"] == 124
    for arguments, message in (({"x_ptr": "8x8"}, "is the array"), ({"m": 3}, "no run-time argument 'm'")):
        job = done(emulated, "values", document="d1", arguments=arguments)
        assert job.state == "failed" and message in job.message


def test_values_name_accesses_out_of_bounds(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "outside.py"
    path.write_text(ADD.replace("offsets < n", "offsets < n + 24").split("x = np.arange")[0])
    signature = "*fp32:16, *fp32:16, *fp32:16, i32, 256"
    session = opened(Input("kernel", str(path), (), "cpu", "add_kernel", signature))
    assert session.wait(60)
    job = done(
        session, "values", document="d1", program=[3, 0, 0], arguments={"x_ptr": "10x100", "y_ptr": 1024, "n": 1000}
    )
    assert job.state == "done", job.message
    found = answer(session, f"api/values/{job.result}")
    (error,) = found["errors"]
    assert error["elements"] == list(range(232, 256))
    assert error["place"]["line"] == line_with(ADD, "tl.load(x_ptr")


def test_check_agrees(emulated: Session) -> None:
    job = done(emulated, "check", document="d1")
    assert job.state == "done", job.message
    found = answer(emulated, f"api/check/{job.result}")
    assert (found["state"], found["finding"]) == ("same", None), found["message"]
    assert {v["verdict"] for v in found["verdicts"]} <= {"same", "within tolerance", "not run"}


def test_check_names_the_pass_of_a_sabotaged_rule(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "sabotaged.py"
    planted = '''
from tritium.dialects import arith
from tritium.ir import RuleTable, rule
import importlib
CANONICALIZE = importlib.import_module("tritium.transforms.canonicalize")


@rule(arith.SubF)
def swap(op):
    """x - y = y - x"""
    return arith.SubF(op.rhs, op.lhs, loc=op.loc) if op.loc and not str(op.lhs.hint).startswith("y") else None


table = RuleTable([*CANONICALIZE.CANONICAL_RULES, swap])
CANONICALIZE._table = lambda: table
'''
    path.write_text(planted + ADD.replace("x + y, mask", "x - y, mask"))
    session = opened(Input("script", str(path)))
    assert session.wait(60)
    job = done(session, "check", document="d1")
    assert job.state == "done", job.message
    found = answer(session, f"api/check/{job.result}")
    assert found["state"] == "different", found
    finding = found["finding"]
    document = answer(session, "api/document/d1")
    names = {p["index"]: p["name"] for s in document["stages"] if s["name"] == finding["stage"] for p in s["passes"]}
    assert names[finding["pass"]] == "canonicalize"
    assert finding["rewrite"]["equation"] == "x - y = y - x"
    assert finding["argument"] == "output_ptr" and finding["different"] > 900
    before = answer(session, f"api/text/{finding['texts']['before']}")["text"].split("\n")
    assert "arith.subf" in before[finding["line_before"] - 1]
    edited = done(session, "compile", base="d1", text=path.read_text() + "\n# edited\n")
    job = done(session, "check", document=edited.document)
    assert answer(session, f"api/check/{job.result}")["state"] == "different"


def test_performance_has_cards_roofline_and_order(emulated: Session) -> None:
    found = answer(emulated, "api/performance/d1")
    assert found["available"], found["reason"]
    assert {card["name"] for card in found["cards"]} >= {"registers", "occupancy", "shared memory"}
    assert found["occupancy"]["limit"] in found["occupancy"]["limits"]
    assert found["roofline"]["work"]["bytes"] == 12000 and found["roofline"]["limit"] == "memory"
    (group,) = found["order"]["groups"]
    assert [step["kind"] for step in group["steps"]] == ["load", "load", "store"]
    finding = next(f for f in found["findings"] if f["kind"] == "narrow-access")
    assert finding["place"]["line"] == line_with(ADD, "tl.load(x_ptr") and finding["lines"]["ptx"]


def test_check_of_an_amd_kernel_names_its_code(added: Session) -> None:
    compiled = done(added, "compile", base="d1", target="hip:gfx942")
    job = done(added, "check", document=compiled.document)
    assert job.state == "done", job.message
    found = answer(added, f"api/check/{job.result}")
    assert (found["verdicts"][-1]["step"], found["state"]) == ("amdgcn, emulated", "same")


@pytest.mark.parametrize("target", ["hip:gfx942", "cpu"])
def test_performance_of_other_targets(added: Session, target: str) -> None:
    job = done(added, "compile", base="d1", target=target)
    assert job.state == "done", job.message
    found = answer(added, f"api/performance/{job.document}")
    assert found["available"] and len(found["cards"]) >= 3, found["reason"]
    assert answer(added, f"api/document/{job.document}")["stages"][-1]["bytes"] > 0


def test_edit_of_the_source_is_compiled_and_compared(emulated: Session) -> None:
    text = ADD.replace("x + y", "x - y")
    job = done(emulated, "compile", base="d1", text=text, options={"num_warps": "8"})
    assert job.state == "done", job.message
    found = answer(emulated, f"api/compare/d1/{job.document}")
    assert {"name": "num_warps", "a": "4", "b": "8"} in found["given"]
    assert found["first_difference"]["stage"] == "source"
    results = found["results"]
    assert results["available"], results["message"]
    assert {r["name"]: r["different"] > 900 for r in results["arguments"]} == {
        "x_ptr": False,
        "y_ptr": False,
        "output_ptr": True,
    }


@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir", "ptx"])
def test_every_stage_compiles_again(emulated: Session, stage: str) -> None:
    before = {d["id"] for d in answer(emulated, "api/session")["documents"]}
    job = done(emulated, "compile", **{"base": "d1", "from": stage})
    assert job.state == "done", job.message
    assert job.document not in before
    found = answer(emulated, f"api/document/{job.document}")
    assert (found["first"], found["parent"], found["state"]) == (stage, "d1", "done")
    same = {s["name"]: s["same"] for s in answer(emulated, f"api/compare/d1/{job.document}")["stages"]}
    assert same["cubin"] is True or stage != "ptx"


def test_wrong_edit_fails_with_its_place(emulated: Session) -> None:
    job = done(emulated, "compile", base="d1", text=ADD.replace("x + y", "x + nothing"))
    assert job.state == "failed"
    assert "nothing" in job.message and job.place is not None
    assert job.place.line == line_with(ADD, "tl.store")
    syntax = done(emulated, "compile", base="d1", text=ADD.replace("mask = offsets < n", "mask = offsets <"))
    assert syntax.state == "failed" and syntax.place is not None
    assert syntax.place.line == line_with(ADD, "mask = offsets < n")


def test_opened_ir_is_compiled(opened: Start, emulated: Session, tmp_path: Path) -> None:
    text = answer(emulated, f"api/text/{answer(emulated, 'api/document/d1')['stages'][1]['after']}")["text"]
    job = act(emulated, "open", {"name": "dropped.ttir", "text": text, "target": "cuda:90"})
    path = tmp_path / "k.ttir"
    path.write_text(text)
    session = opened(Input("ir", str(path), (), "cuda:80"))
    assert session.wait(60) and emulated.wait(60)
    assert [d["target"] for d in answer(session, "api/session")["documents"]] == ["cuda:80"]
    assert emulated.jobs.jobs[job["job"]].state == "done"


def test_autotuning_is_a_table_with_the_best_row(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "tuned.py"
    configs = "[triton.Config({'BLOCK': b}) for b in (128, 256)]"
    tuned = ADD.replace("@triton.jit", f"@triton.autotune({configs}, key=['n'], warmup=1, rep=1)\n@triton.jit")
    path.write_text(
        tuned.replace(", BLOCK=256)", ")").replace("[(4,)]", "[lambda m: (triton.cdiv(1000, m['BLOCK']),)]")
    )
    session = opened(Input("script", str(path)))
    assert session.wait(60)
    assert session.run.state == "done", session.run.output
    (id,) = answer(session, "api/session")["tunings"]
    found = answer(session, f"api/tuning/{id}")
    assert (found["kernel"], found["state"]) == ("add_kernel", "done")
    assert [row["state"] for row in found["rows"]] == ["done", "done"]
    assert sum(row["best"] for row in found["rows"]) == 1
    assert all(row["ms"] > 0 for row in found["rows"])


def test_recompilation_on_every_call_has_its_reason(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "again.py"
    text = ADD.replace("n, BLOCK", "n: tl.constexpr, BLOCK").split("add_kernel[(4,)]")[0]
    path.write_text(text + "for n in (1000, 999, 998):\n    add_kernel[(4,)](x, y, out, n, BLOCK=256)\n")
    session = opened(Input("script", str(path)))
    assert session.wait(60)
    documents = answer(session, "api/session")["documents"]
    assert [d["kernel"] for d in documents] == ["add_kernel"] * 3
    cache = answer(session, f"api/document/{documents[-1]['id']}")["cache"]
    assert "beside the compile of this kernel before" in cache["reason"]
    assert "n: 999 -> 998" in cache["reason"]


def test_assembly_of_the_cpu_names_the_lines_of_the_script(added: Session) -> None:
    found = answer(added, "api/provenance/d1")
    steps = [step["stage"] for step in found["steps"]]
    lines = {one["line"] for one in found["lines"] if one["at"][steps.index("asm")]}
    assert line_with(ADD, "tl.load(x_ptr") in lines
    assert [d["kernel"] for d in answer(added, "api/session")["documents"] if d["parent"] is None] == ["add_kernel"]


def test_edit_may_import_what_is_beside_the_script(tmp_path: Path, opened: Start) -> None:
    (tmp_path / "beside_the_script.py").write_text("FACTOR = 3.0\n")
    path = tmp_path / "imports.py"
    text = "from beside_the_script import FACTOR as F\nimport triton.language as tl\nSCALE = tl.constexpr(F)\n" + ADD
    path.write_text(text.replace("x + y, mask", "x + y * SCALE, mask").split("print(")[0])
    session = opened(Input("script", str(path)))
    assert session.wait(60)
    assert session.run.state == "done", session.run.output
    job = done(session, "compile", base="d1", text=path.read_text().replace("x + y", "x - y"))
    assert job.state == "done", job.message


def test_script_has_no_standard_input(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "asks.py"
    path.write_text("input()\n")
    session = opened(Input("script", str(path)))
    assert session.wait(30)
    assert session.run.message.startswith("EOFError")


@pytest.mark.parametrize("stage", ["source", "ttir", "llir"])
def test_document_of_a_trace_is_compiled_again(added: Session, opened: Start, stage: str) -> None:
    (trace,) = Path(added.folder).glob("*/script.jsonl")
    session = opened(Input("trace", str(trace)))
    assert not answer(session, "api/performance/d1")["available"]
    job = done(session, "compile", **{"base": "d1", "from": stage})
    assert job.state == "done", job.message
    assert answer(session, f"api/performance/{job.document}")["available"]


def test_passes_of_opt_are_a_document(tmp_path: Path, opened: Start) -> None:
    text, trace = tmp_path / "k.ttir", tmp_path / "trace.jsonl"
    body = '%0 = arith.addi %a, %a : i32\n    %1 = arith.addi %a, %a : i32\n    tt.print "x" {hex = false, isSigned = array<i32: 1, 1>} : %0, %1 : i32, i32\n    tt.return'
    text.write_text(f"module {{\n  tt.func public @k(%a: i32) {{\n    {body}\n  }}\n}}\n")
    environment = {**os.environ, "TRITIUM_TRACE": str(trace)}
    subprocess.run([sys.executable, "-m", "tritium", "opt", str(text), "--cse"], env=environment, check=True)
    session = opened(Input("trace", str(trace)))
    (stage,) = answer(session, "api/document/d1")["stages"]
    assert [(p["name"], p["changed"]) for p in stage["passes"]] == [("cse", True)]
    job = done(session, "values", document="d1", arguments={"a": 3}, grid=[1, 1, 1])
    assert job.state == "done", job.message
    assert [v["max"] for v in answer(session, f"api/values/{job.result}")["values"]] == [6]
    with pytest.raises(RequestError, match="names no architecture"):
        act(session, "compile", {"base": "d1", "from": "ttir"})


def test_remarks_of_the_assembler_are_at_their_instructions() -> None:
    text = machine_text("x", "ptx", "wgmma.fence.sync.aligned;\nadd.s32 %r1, %r2, %r3;\nwgmma.mma_async.sync %r1;\n")
    remark = (
        "(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ill formed pipeline"
    )
    notes = {op.line: op.note for op in with_remarks(text, [remark]).ops}
    assert notes == {1: remark, 2: "", 3: remark}
