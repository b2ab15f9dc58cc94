"""The data model of the explorer: what a page, an exported file or an editor shows of compiles.

Every class is a plain value; `as_json` turns it into dictionaries, lists, numbers and strings, with a trailing
underscore of a field's name removed (`pass_` is `"pass"`). Texts are referred to by id and read separately, so that the
model of a large trace stays small. Lines and columns are 1-based.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..support.dataclasses import dataclass, field, fields, is_dataclass
from .json_types import Json, Record

__all__ = [
    "VERSION",
    "Cache",
    "Document",
    "Failure",
    "Launch",
    "Listing",
    "Op",
    "Pass",
    "Place",
    "Problem",
    "Provenance",
    "ProvenanceLine",
    "Rewrite",
    "Rewrites",
    "Source",
    "Span",
    "Stage",
    "Step",
    "Summary",
    "Text",
    "Tuning",
    "TuningRow",
    "Value",
    "as_json",
]

VERSION = 1
"""Of the JSON form; it changes when the meaning of a field does."""


def as_json(value: Json) -> Json:
    """A value of the model as JSON has it; NaN and infinities are texts.

    >>> as_json(Place("k.py", 3, 5)), as_json([float("inf"), 1.5])
    ({'file': 'k.py', 'line': 3, 'column': 5}, ['inf', 1.5])
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_dataclass(type(value)):
        return {f.name.rstrip("_"): as_json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): as_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return str(value)


@dataclass(frozen=True)
class Place:
    """A position in a source file."""

    file: str
    line: int
    column: int = 1


@dataclass
class Problem:
    """A message to the user that belongs to no compile: a malformed trace, a script that raised."""

    severity: str
    message: str
    detail: str = ""
    place: Place | None = None


@dataclass
class Summary:
    """A document in a list. `state` is done, running, failed, or cached (loaded from the cache, nothing recorded)."""

    id: str
    kernel: str
    target: str
    state: str
    label: str
    us: float | None
    summary: str
    first: str
    parent: str | None
    started: str
    passes: int = 0
    changed: int = 0


@dataclass
class Failure:
    """An error of a compile."""

    stage: str
    pass_: str | None
    type: str
    message: str
    place: Place | None = None


@dataclass
class Pass:
    """One run of a pass; `before` and `after` are ids of texts. `reason` says why it is in the pipeline."""

    index: int
    name: str
    options: str
    on: str
    skipped: bool
    at: float
    us: float
    before: str
    after: str | None
    changed: bool
    operations: int | None
    operations_before: int | None
    counts: Record
    rewrites: int
    reason: str = ""
    error: str | None = None


@dataclass
class Stage:
    """A stage with its passes. `us` is None for a stage that failed; `bytes` is the size of machine code."""

    name: str
    language: str
    at: float | None
    us: float | None
    before: str | None
    after: str | None
    replaced: bool
    editable: bool
    bytes: int | None
    facts: Record
    passes: list[Pass] = field(default_factory=list)


@dataclass
class Source:
    """A source file of a document; `changed`: the file differs from what was compiled."""

    file: str
    text: str
    changed: bool = False


@dataclass
class Listing:
    """A text made on demand, such as `sass`; `reason` says why it is not available."""

    name: str
    text: str
    available: bool
    reason: str = ""


@dataclass
class Span:
    """A bar of the compile-time flame graph, in microseconds since the compile began."""

    name: str
    kind: str
    at: float
    us: float
    depth: int
    stage: str | None = None
    pass_: int | None = None


@dataclass
class Cache:
    """Whether the kernel came from the cache (hit, miss, off, unknown), and why not."""

    state: str
    reason: str = ""


@dataclass
class Launch:
    """The first launch of a document's kernel, the number of launches, and the arguments as text."""

    grid: list[int]
    count: int
    arguments: list[dict[str, str]]


@dataclass
class Document:
    """One compile: a kernel, a target, options, and everything that the compile recorded."""

    id: str
    kernel: str
    target: str
    state: str
    first: str
    parent: str | None
    signature: dict[str, str]
    constants: dict[str, str]
    options: Record
    settings: Record
    place: Place | None
    request: Record | None
    sources: list[Source]
    stages: list[Stage]
    listings: list[Listing]
    spans: list[Span]
    resources: Record
    summary: str
    cache: Cache
    launch: Launch | None
    errors: list[Failure]


@dataclass
class Op:
    """An operation or instruction: its line, its name, indices of values, `[file, line, column]` of its source."""

    line: int
    name: str
    results: list[int]
    operands: list[int]
    place: list[int] | None
    note: str = ""


@dataclass
class Value:
    """An SSA value or register: the line that defines it, the lines that use it. `layout` is an attribute's text."""

    name: str
    type: str
    layout: str | None
    line: int
    uses: list[int]
    shape: list[int] | None = None
    argument: bool = False


@dataclass
class Text:
    """A text with its operations. `problem` says why `ops` is empty for a language that has some."""

    id: str
    language: str
    text: str
    files: list[str] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    problem: str = ""


@dataclass
class Step:
    """A text on the way from the source to machine code."""

    stage: str
    pass_: int | None
    text: str
    label: str


@dataclass
class ProvenanceLine:
    """A source position, and for each step the lines that come from it."""

    file: int
    line: int
    column: int
    at: list[list[int]]


@dataclass
class Provenance:
    """The way of every source position through all steps."""

    files: list[str]
    steps: list[Step]
    lines: list[ProvenanceLine]


@dataclass
class Rewrite:
    """One rewrite: the rule with its equation, the operation before and after, and its lines in both texts."""

    index: int
    rule: str
    equation: str
    before: str | None
    after: str | None
    place: Place | None
    line_before: int | None
    line_after: int | None


@dataclass
class Rewrites:
    """The rewrites of one run of a pass. `steppable`: the IR after the first n of them can be made."""

    before: str
    after: str | None
    steppable: bool
    rewrites: list[Rewrite]


@dataclass
class TuningRow:
    """A configuration of an autotuner: waiting, done (with `ms`), failed or pruned (with a message)."""

    config: dict[str, str]
    ms: float | None
    state: str
    message: str = ""
    best: bool = False


@dataclass
class Tuning:
    """The table of one autotuning run, filled while it runs."""

    id: str
    kernel: str
    key: str
    state: str
    parameters: list[str]
    unit: str
    rows: list[TuningRow] = field(default_factory=list)
