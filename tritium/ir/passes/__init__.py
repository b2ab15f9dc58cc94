"""Passes, pipelines, and the loop that runs them.

A pass is a function of a module, or of each function in it, that returns False when it changed nothing:

    @pass_on("function")
    def cse(func): ...

A pipeline is a list of `Pass(name, fn, reason)`, where `Nest("tt.func", [...])` stands for passes on each function by
itself; or the same as text, `builtin.module(cse,tt.func(canonicalize{max-iterations=3},dce))`. Constraints on the
order of passes are a second table of `(earlier, later, reason)` that `check_order` holds a pipeline to when its file
is imported.

| file | what it is about |
|---|---|
| `definition` | what a pass is: its level, options, statistics |
| `registry` | passes by name, also by the names that MLIR and Triton give them |
| `options` | options from text and back |
| `text` | pipelines as text, with errors that point into it |
| `manager` | `PassManager`: add passes, run them |
| `run` | the loop |
| `report` | what a run did: times, changes, counts |
| `dump` | IR before and after passes, whole or as differences |
| `failures` | what is said and kept when a pass fails, hangs or breaks the IR |
| `reproducer` | a file with the IR and the passes that fail on it |
| `bisection` | which pass, and which rewrite in it, makes something go wrong |
"""

from typing import TYPE_CHECKING

from ...support.lazy import lazy_attributes
from .definition import (
    Nest,
    Pass,
    Row,
    check_order,
    count,
    functions_of,
    has_any,
    has_interface,
    pass_on,
    rows_from,
    symbol_name,
)
from .registry import PASSES, PassInfo, PassRegistry, Spelling
from .report import PassRun, PipelineReport
from .run import run_pipeline

if TYPE_CHECKING:
    from .bisection import Bisection, bisect
    from .failures import PassError, PassInterrupted
    from .manager import PassManager
    from .text import PipelineError, parse_pipeline, print_pipeline

LAZY = {  # what no compile needs
    "Bisection": ".bisection",
    "PassError": ".failures",
    "PassInterrupted": ".failures",
    "PassManager": ".manager",
    "PipelineError": ".text",
    "bisect": ".bisection",
    "parse_pipeline": ".text",
    "print_pipeline": ".text",
}

__getattr__ = lazy_attributes(__name__, LAZY, globals())

__all__ = [
    "PASSES",
    "Bisection",
    "Nest",
    "Pass",
    "PassError",
    "PassInfo",
    "PassInterrupted",
    "PassManager",
    "PassRegistry",
    "PassRun",
    "PipelineError",
    "PipelineReport",
    "Row",
    "Spelling",
    "bisect",
    "check_order",
    "count",
    "functions_of",
    "has_any",
    "has_interface",
    "parse_pipeline",
    "pass_on",
    "print_pipeline",
    "rows_from",
    "run_pipeline",
    "symbol_name",
]
