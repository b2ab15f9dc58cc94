"""Answers of a small session, as a server would give them or an exported file carries them."""

from __future__ import annotations

from typing import Any

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


def document(id: str, errors: list[Any] = []) -> dict[str, Any]:
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
        got[f"api/document/{row['id']}"] = document(row["id"])
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
