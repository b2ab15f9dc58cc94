"""The built page of the explorer in Chromium, on answers that are embedded as in an exported file."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

STATIC = Path(__file__).parents[3] / "tritium" / "explorer" / "static"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FILE = "/tmp/scale.py"
SOURCE = "@triton.jit\ndef scale(x):\n    y = x * 1.0\n    return y\n"
BEFORE = "func @scale(%x: f32) {\n  %y = arith.mulf %x, %x : f32\n  %z = arith.mulf %y, %x : f32\n}\n"
AFTER = "func @scale(%x: f32) {\n  %z = arith.mulf %x, %x : f32\n}\n"


def _text(id: str, language: str, text: str, ops: list[Any] = [], values: list[Any] = []) -> dict[str, Any]:
    return {"id": id, "language": language, "text": text, "files": [FILE], "ops": ops, "values": values, "problem": ""}


def _op(line: int, name: str, results: list[int], operands: list[int]) -> dict[str, Any]:
    return {"line": line, "name": name, "results": results, "operands": operands, "place": [0, 3, 9], "note": ""}


def _value(name: str, line: int, uses: list[int], argument: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "type": "f32",
        "layout": None,
        "line": line,
        "uses": uses,
        "shape": None,
        "argument": argument,
    }


def _pass(index: int, name: str, changed: bool, rewrites: int = 0) -> dict[str, Any]:
    return {
        "index": index,
        "name": name,
        "options": "",
        "on": "@scale",
        "skipped": False,
        "at": 0.0,
        "us": 1500.0,
        "before": "aa",
        "after": "bb" if changed else "aa",
        "changed": changed,
        "operations": 1 if changed else 2,
        "operations_before": 2,
        "counts": {},
        "rewrites": rewrites,
        "reason": "Simplify operations",
        "error": None,
    }


def _document(id: str, errors: list[Any] = []) -> dict[str, Any]:
    stage = {
        "name": "ttir",
        "language": "mlir",
        "at": 0.0,
        "us": 4000.0,
        "before": "aa",
        "after": "bb",
        "replaced": False,
        "editable": True,
        "bytes": None,
        "facts": {},
        "passes": [_pass(0, "canonicalize", True, 1), _pass(1, "cse", False)],
    }
    spans = [dict(name="ttir", kind="stage", at=0.0, us=4000.0, depth=0, stage="ttir", **{"pass": None})]
    return {
        "id": id,
        "kernel": "scale",
        "target": "cpu",
        "state": "done",
        "first": "source",
        "parent": None,
        "signature": {},
        "constants": {},
        "options": {},
        "settings": {},
        "place": None,
        "request": None,
        "stages": [stage],
        "listings": [],
        "spans": spans,
        "resources": {},
        "sources": [{"file": FILE, "text": "src-1", "changed": False}],
        "summary": "",
        "launch": None,
        "errors": errors,
        "cache": {"state": "miss", "reason": "no entry for this source yet"},
    }


def answers(kernels: int = 1, **session: Any) -> dict[str, Any]:
    """The answers to the requests of the page, for some kernels that are alike."""
    rows = [
        {
            "id": f"d{n}",
            "kernel": f"scale_{n}",
            "target": "cpu",
            "state": "done",
            "label": f"scale_{n} for cpu",
            "us": 4000.0,
            "summary": "",
            "first": "source",
            "parent": None,
            "started": "",
            "passes": 2,
            "changed": 1,
        }
        for n in range(kernels)
    ]
    steps = [dict(stage="ttir", label=f"step {text}", text=text, **{"pass": n}) for n, text in enumerate(("aa", "bb"))]
    rewrite = {
        "index": 0,
        "rule": "one_right_float",
        "equation": "x * 1.0 = x",
        "before": "%y = …",
        "after": "%x",
        "place": {"file": FILE, "line": 3, "column": 9},
        "line_before": 2,
        "line_after": 2,
    }
    got: dict[str, Any] = {
        "api/session": {
            "version": 1,
            "title": "scale.py",
            "tritium": "",
            "exported": True,
            "capabilities": {},
            "problems": [],
            "input": {"kind": "trace", "path": "", "arguments": []},
            "documents": rows,
            "tunings": [],
            "targets": ["cpu"],
            "run": {"state": "idle", "message": "", "output": ""},
            "sequence": 0,
        }
        | session,
        "api/text/src-1": _text("src-1", "python", SOURCE),
        "api/text/aa": _text(
            "aa",
            "mlir",
            BEFORE,
            [_op(2, "arith.mulf", [1], [0, 0]), _op(3, "arith.mulf", [2], [1, 0])],
            [_value("%x", 1, [2, 3], True), _value("%y", 2, [3]), _value("%z", 3, [])],
        ),
        "api/text/bb": _text(
            "bb", "mlir", AFTER, [_op(2, "arith.mulf", [1], [0, 0])], [_value("%x", 1, [2], True), _value("%z", 2, [])]
        ),
    }
    for row in rows:
        got[f"api/document/{row['id']}"] = _document(row["id"])
        got[f"api/provenance/{row['id']}"] = {
            "files": [FILE],
            "steps": steps,
            "lines": [{"file": 0, "line": 3, "column": 9, "at": [[2, 3], [2]]}],
        }
        got[f"api/rewrites/{row['id']}/ttir/0"] = {
            "before": "aa",
            "after": "bb",
            "steppable": False,
            "rewrites": [rewrite],
        }
    return got


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    pages = []

    def open_page(got: dict[str, Any], width: int = 1280) -> Any:
        packed = base64.b64encode(gzip.compress(json.dumps({"version": 1, "answers": got}).encode())).decode()
        html = (STATIC / "index.html").read_text()
        script = (STATIC / "explorer.js").read_text().replace("</script", "<\\/script")
        inline = f'<script id="tritium-export" type="application/octet-stream">{packed}</script><script type="module">{script}</script>'
        html = re.sub(r"<script [^>]*explorer\.js\"></script>", lambda _: inline, html)
        html = re.sub(
            r"<link rel=\"stylesheet\"[^>]*>", lambda _: f"<style>{(STATIC / 'explorer.css').read_text()}</style>", html
        )
        (tmp_path / "page.html").write_text(html)
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.set_default_timeout(5000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.goto(f"file://{tmp_path}/page.html")
        page.wait_for_selector("main")
        pages.append((page, errors))
        return page

    yield open_page
    for page, errors in pages:
        page.close()
        assert errors == []


def test_passes_and_the_diff_of_the_first_change_are_shown(opened):
    page = opened(answers())
    page.wait_for_selector(".passes .row.selected >> text=canonicalize")
    assert "%y = arith.mulf" in page.wait_for_selector(".cm-deletedChunk").inner_text()
    assert page.locator(".passes .row", has_text="cse").count() == 0  # it changed nothing
    page.get_by_label("changed only").uncheck()
    assert page.locator(".passes .row", has_text="cse").count() == 1


def test_a_source_line_leads_to_its_lines_in_each_step(opened):
    page = opened(answers())
    page.locator("[aria-label='Source'] .cm-line", has_text="x * 1.0").click()
    assert page.locator(".path li").all_inner_texts()[0].split("\n") == ["step aa", "2 lines"]
    page.locator("[aria-label='IR'] .cm-line.l-here").first.wait_for()


def test_a_value_shows_its_type_and_uses_and_selects_its_source(opened):
    page = opened(answers())
    page.get_by_role("button", name="After").click()
    page.locator("[aria-label='IR'] .t-value", has_text="%z").first.click()
    assert "%z" in page.locator(".value-facts").inner_text()
    page.locator("[aria-label='Source'] .cm-line.l-here", has_text="x * 1.0").wait_for()


def test_the_keys_step_through_rewrites_with_equations(opened):
    page = opened(answers())
    page.get_by_label("Next rewrite").wait_for()
    page.keyboard.press(".")
    assert page.locator(".equation .math").inner_text() == "x * 1.0 = x"
    page.keyboard.press(",")
    assert page.locator(".equation").count() == 0


def test_problems_of_the_input_are_shown(opened):
    problem = {"severity": "error", "message": "run.jsonl:3: not JSON", "detail": "", "place": None}
    page = opened(answers(problems=[problem]))
    assert "run.jsonl:3: not JSON" in page.locator("[role=alert]").inner_text()


def test_an_error_of_a_compile_is_shown_at_its_stage(opened):
    got = answers()
    error = {
        "stage": "ttir",
        "pass": "canonicalize",
        "type": "CompilationError",
        "message": "no such op",
        "place": None,
    }
    got["api/document/d0"] = _document("d0", [error])
    assert "no such op" in opened(got).locator("[role=alert]").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_hundred_kernels_keep_few_nodes_and_do_not_overflow(opened, width):
    page = opened(answers(100), width)
    page.wait_for_selector("[aria-label='IR'] .cm-line")
    page.evaluate("""() => { window.slow = [];
        new PerformanceObserver(l => window.slow.push(...l.getEntries().map(e => e.duration))).observe({type: 'longtask'}); }""")
    if width == 1280:
        for _ in range(20):
            page.evaluate("document.querySelector('.kernels .list').scrollTop += 100")
            page.wait_for_timeout(16)
        page.locator(".kernels .row", has_text="scale_90").wait_for(state="attached")
        assert page.evaluate("window.slow") == []
    assert page.evaluate("document.querySelectorAll('*').length") < 2000
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_view_opens_by_its_key_with_what_an_export_has(opened):
    page = opened(answers())
    page.wait_for_selector(".passes .row")
    for key, name in zip("234567", ("Values", "Layouts", "Performance", "Compile time", "Autotuning", "Compare")):
        page.keyboard.press(key)
        page.locator("[role=tab][aria-selected=true]", has_text=name).wait_for()
        assert page.locator("main").inner_text().strip()
