"""Triton's test passes that print an analysis as remarks, answered by ours: `expected-remark` comments name the line.

Remarks are compared by the text that a comment quotes, as `-verify-diagnostics=only-expected` does: others may be there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator

from tests.conformance.inputs import Program, target_line
from tritium.analysis.axis_info import AxisInfoAnalysis
from tritium.analysis.range_analysis import RangeAnalysis
from tritium.dialects import arith
from tritium.ir import CountedLoop, IntegerAttr, Operation, functions_of

__all__ = ["REMARKS", "missing_remarks"]

_EXPECTED = re.compile(r"//.*?expected-remark(?:-re)?\s*(?:@([a-z]+|[+-]\d+))?\s*\{\{(.*?)\}\}")

Remark = tuple[int, str]
"""A line of the program's text, counted from 1, and what is said there."""


def missing_remarks(program: Program, module: Operation, name: str) -> str:
    """The first expected remark of the test pass `name` that we do not make; nothing where all are made."""
    made: dict[int, list[str]] = defaultdict(list)
    for line, text in REMARKS[name](module):
        made[line + program.first_line - 1].append(text)
    lines = program.text.split("\n")
    for i, line in enumerate(lines):
        for m in _EXPECTED.finditer(line):
            at = target_line(lines, i, m[1], program.first_line)
            if not any(m[2] in text for text in made.get(at, ())):
                return f"line {at}: expected {m[2]!r}, not {'; '.join(made.get(at, ['nothing']))}"
    return ""


def _line_of(op: Operation) -> int:
    found = op.loc.file_position()
    return found.line if found is not None else 0


def _ranges(module: Operation) -> Iterator[Remark]:
    """The remarks of `test-tritonamdgpu-range-analysis`."""
    bounds = {}
    for axis, letter in enumerate("xyz"):
        attr = module.attributes.get(f"test.pid-bound-{letter}")
        if isinstance(attr, IntegerAttr):
            bounds[axis] = attr.value
    ranges = RangeAnalysis(module, bounds)
    for func in functions_of(module):
        arguments = func.regions[0].entry.args
        for i, argument in enumerate(arguments):
            if (found := ranges.range_of(argument)) is not None:
                line = argument.loc.file_position()
                text = f"arg {i}: {found}" if len(arguments) > 1 else str(found)
                yield (line.line if line is not None else _line_of(func)), text
    for op in module.walk():
        for i, result in enumerate(op.results):
            found = ranges.range_of(result)
            if found is not None:
                prefix = f"result {i}: " if len(op.results) > 1 else ""
                yield _line_of(op), f"{prefix}{found}"
                if found.smin >= 0:
                    yield _line_of(op), f"{prefix}non-neg"
        if isinstance(op, arith.CmpI) and (known := ranges.compare(op)) is not None:
            yield _line_of(op), f"result is {str(known).lower()}"
        if isinstance(op, CountedLoop):
            yield _line_of(op), f"inferred total trip count: {ranges.total_trip_count(op)}"


def _alignment(module: Operation) -> Iterator[Remark]:
    """The remarks of `test-print-amd-alignment`."""
    for func in functions_of(module):
        facts = AxisInfoAnalysis(func)
        for op in func.walk():
            for result in op.results:
                known = facts.of(result)
                constant = "<none>" if known.constant is None else known.constant
                yield (
                    _line_of(op),
                    (
                        f"contiguity = {list(known.contiguity)}, divisibility = {list(known.divisibility)}, "
                        f"constancy = {list(known.constancy)}, constant_value = {constant}"
                    ),
                )


REMARKS: dict[str, Callable[[Operation], Iterator[Remark]]] = {
    "test-tritonamdgpu-range-analysis": _ranges,
    "test-print-amd-alignment": _alignment,
}
"""The test passes that are answered, by name."""
