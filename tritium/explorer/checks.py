"""The report of a check as plain values, with the pass and the lines that it is about."""

from __future__ import annotations

import re

from ..tools.check.compare import Difference
from ..tools.check.oracle import Finding, Report
from ..tools.check.report import headline
from .json_types import Json, Record
from .model import as_json

__all__ = ["report_as_json"]

_STEP = re.compile(r"(\w+), pass (\d+) \((.*)\)")


def report_as_json(report: Report) -> Record:
    """Verdicts and the finding; passes are counted from 0, as in a document."""
    verdicts = []
    for v in report.verdicts:
        stage, number = _step(v.step)
        verdict = {"step": v.step, "stage": stage, "pass": number, "verdict": v.verdict, "detail": v.detail}
        verdicts.append({**verdict, "seconds": v.seconds})
    finding = report.finding
    found: Record = as_json(
        {
            "state": "same" if finding is None else "different",
            "message": headline(report),
            "verdicts": verdicts,
            "finding": None if finding is None else _finding(finding),
        }
    )
    return found


def _step(text: str) -> tuple[str | None, int | None]:
    found = _STEP.match(text)
    return (text.split(",")[0], None) if found is None else (found[1], int(found[2]) - 1)


def _finding(found: Finding) -> Record:
    stage, number = _step(found.step)
    rewrite, suspect = found.rewrite, found.suspect
    out: Record = {
        "step": found.step,
        "stage": stage,
        "pass": number,
        "message": found.message,
        **_difference(found.difference),
        "rewrite": None,
        "operation": None,
        "texts": None,
        "ir": None,
        "line_before": None,
        "line_after": None,
        "place": None,
        "notes": list(found.notes),
    }
    if rewrite is not None:
        title, _, equation = (rewrite.change or "").partition("\n")
        out["rewrite"] = {
            "rule": rewrite.rule,
            "equation": equation.strip(),
            "index": (rewrite.rewrite or 1) - 1,
            "operation": title.partition(" on ")[2],
        }
        out["ir"] = {"before": rewrite.before, "after": rewrite.after}
    if suspect is not None:
        out["operation"] = {
            "before": suspect.before,
            "after": suspect.operation,
            "program": list(suspect.program or ()),
            "message": suspect.element,
        }
        if suspect.place is not None:
            file, line, column = suspect.place
            out["place"] = {"file": file, "line": line, "column": column}
    return out


def _difference(found: Difference | None) -> Record:
    """The first element that differs; empty where a run failed."""
    if found is None:
        return dict.fromkeys(("argument", "got", "expected", "different", "elements")) | {"element": []}
    return {
        "argument": found.array.name,
        "element": list(found.array.index(found.byte) or ()),
        "got": _number(found.found),
        "expected": _number(found.expected),
        "different": found.count,
        "elements": found.total,
    }


def _number(value: Json) -> Json:
    return value.item() if hasattr(value, "item") else value
