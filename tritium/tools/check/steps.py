"""A compile taken apart: the IR before and after every pass, from the records of its trace."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...compiler import CompiledKernel, compile
from ...support import settings
from ..trace_reader import Compile, Record, Trace, read_trace

__all__ = ["Place", "Step", "compile_in_steps"]

Place = tuple[str, int, int]


@dataclass(frozen=True)
class Step:
    """What one pass (or the frontend, where `name` is "frontend") made: the program's text, and before it.

    `number` counts passes of the stage from 1. `places` says for lines of the text where in the source they come from.
    """

    stage: str
    number: int
    name: str
    options: str
    before: str
    text: str
    places: Mapping[int, Place]
    rewrites: list[Record] = field(default_factory=list)

    def __str__(self) -> str:
        return self.name if not self.number else f"{self.stage}, pass {self.number} ({self.name})"


def compile_in_steps(src: Any, target: Any, options: Mapping[str, Any]) -> tuple[CompiledKernel, list[Step]]:
    """The kernel, compiled now, and every pass that changed MLIR text, in order; the frontend's output is the first."""
    with tempfile.TemporaryDirectory(prefix="tritium-check-") as folder:
        path = os.path.join(folder, "trace.jsonl")
        with settings.compilation.scope():
            settings.compilation.trace = path
            settings.compilation.always_compile = True
            kernel = compile(src, target, options)
        trace = read_trace(path)
    return kernel, _steps(trace, trace.compiles[-1])


def _steps(trace: Trace, one: Compile) -> list[Step]:
    first = one.stages[0]
    steps = [_step(trace, one, {"stage": first["stage"], "after": first["after"], "index": -1, "name": "frontend"})]
    for record in one.passes:
        mlir = trace.texts[record["after"]]["language"] == "mlir" if "after" in record else False
        if record["changed"] and mlir:
            steps.append(_step(trace, one, record))
    return steps


def _step(trace: Trace, one: Compile, record: Record) -> Step:
    made = trace.texts[record["after"]]
    files = made.get("files", [])
    places = {line: (files[file], at, column) for line, file, at, column in made.get("lines", [])}
    return Step(
        record["stage"],
        record["index"] + 1,
        record["name"],
        record.get("options", ""),
        trace.text(record["before"]) if "before" in record else "",
        made["text"],
        places,
        one.rewrites.get((record["stage"], record["index"]), []),
    )
