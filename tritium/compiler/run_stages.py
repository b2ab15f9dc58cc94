"""The stage runner: runs a source through the stages of a backend, with timing, overrides and dumps."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ..backends.compiler import BaseBackend
from ..backends.errors import ToolMissing
from ..support import settings
from ..support.collection import imports_stay
from ..support.dataclasses import dataclass, field
from ..support.lazy import LazyModule
from .operation_limit import check_size

__all__ = ["CompileTimes", "Lowering", "dump_rest"]

_files = LazyModule(".stage_files", __package__)
_nesting = LazyModule("..ir.nesting", __package__)


@dataclass
class CompileTimes:
    """The times of a compile in microseconds: making the first IR, each stage, and storing the result.

    After a cache hit `ir_initialization` is the time of the lookup, and the rest is 0. `imports` is the time of
    importing the compiler in a process's first compile. `cache_miss` tells on demand why the kernel was not found in
    the cache (`str(times.cache_miss)`); it is None after a hit.
    """

    ir_initialization: int = 0
    lowering_stages: list[tuple[str, int]] = field(default_factory=list)
    store_results: int = 0
    imports: int = 0
    cache_miss: Any = None
    running: str = field(default="", repr=False, compare=False)  # the running stage

    @property
    def total_lowering(self) -> int:
        """Microseconds of all stages together."""
        return sum(t for _, t in self.lowering_stages)

    @property
    def total(self) -> int:
        """Microseconds in total."""
        return self.imports + self.ir_initialization + self.total_lowering + self.store_results


@dataclass
class Lowering:
    """The lowering of a source through the stages of a backend: `begin` makes the first stage, `run` the later ones.

    `metadata` and `times` are completed by the stages; `replaced` are the `Replacements` of stages, and `trace` is the
    `CompileTrace` to write to, or None.
    """

    src: Any
    backend: BaseBackend
    stages: dict[str, Any]
    options: Any
    metadata: dict[str, Any]
    times: CompileTimes
    replaced: Any = None
    trace: Any = None
    value: Any = None  # the value of the first stage, once it is made,
    text: str | bytes = ""  # and its text

    def begin(self) -> dict[str, str | bytes]:
        """The text of the source's own stage."""
        times, src, trace = self.times, self.src, self.trace
        start = time.perf_counter_ns()
        with imports_stay():
            src.prepare()
        times.imports = (time.perf_counter_ns() - start) // 1000
        times.running = src.first_stage
        if trace is not None:
            trace.begin_stage(src.first_stage, self.metadata)
        start = time.perf_counter_ns()
        self.value = src.make_ir(self.backend.target, self.options)
        check_size(src.first_stage, self.value)
        self.text = self.backend.text_of(self.value)
        times.ir_initialization = (time.perf_counter_ns() - start) // 1000
        if trace is not None:
            trace.end_stage(self.value, self.text, self.metadata)
        return {src.first_stage: self.text}

    def run(self) -> dict[str, str | bytes]:
        """The text (or bytes) of every later stage that is not made on demand."""
        src, backend, metadata, times, trace = self.src, self.backend, self.metadata, self.times, self.trace
        start = time.perf_counter_ns()
        with imports_stay():
            backend.prepare()
        times.imports += (time.perf_counter_ns() - start) // 1000
        results, texts = {src.first_stage: self.value}, {}
        self.value = None
        rows = list(rows_behind(self.stages, src.first_stage))
        for _, stage in rows:
            if (expect := getattr(stage, "expect", None)) is not None:
                expect()
        last_use = _last_uses(src.first_stage, rows)
        for name, stage in rows:
            times.running = name
            if trace is not None:
                trace.begin_stage(name, metadata)
            start = time.perf_counter_ns()
            source = _source_of(stage, results)
            # values that no later stage needs can be freed
            before = results.pop(source) if last_use[source] == name else results[source]
            value = _stage(name, stage, before, metadata)
            edited = self.replaced.of(name, metadata) if self.replaced is not None else None
            value = value if edited is None else edited
            if settings.compilation.use_ir_loc == name and hasattr(value, "regions"):
                value = _files.with_text_locations(src, name, value)
            check_size(name, value)
            results[name] = value
            texts[name] = backend.text_of(value)
            times.lowering_stages.append((name, (time.perf_counter_ns() - start) // 1000))
            if trace is not None:
                trace.end_stage(value, texts[name], metadata, source, edited is not None)
            if settings.compilation.dump_ir:
                _files.dump_stage(src, name, texts[name])
        return texts


def _stage(name: str, stage: Any, source: Any, metadata: dict[str, Any]) -> Any:
    """The value of a stage made of `source`; too deep nesting is an error with a position."""
    try:
        return stage(source, metadata)
    except RecursionError:
        if not hasattr(source, "regions"):
            raise
        raise _nesting.too_deep(source, f"the stage {name}") from None


def _source_of(stage: object, made: Collection[str]) -> str:
    """The stage from which one is made: its source, or the last one `made` where it has none or that does not exist
    (the text that a compile starts from may be that of a later stage)."""
    source: str | None = getattr(stage, "source", None)
    return source if source is not None and source in made else list(made)[-1]


def _last_uses(first: str, rows: Sequence[tuple[str, Any]]) -> dict[str, str]:
    """The last stage that is made from each stage."""
    made = [first, *(name for name, _ in rows)]
    return {_source_of(stage, made[: i + 1]): name for i, (name, stage) in enumerate(rows)}


def rows_behind(stages: dict[str, Any], first: str) -> Iterator[tuple[str, Any]]:
    """The stages after `first`, without those made on demand."""
    names = list(stages)
    for name in names[names.index(first) + 1 :] if first in stages else names:
        if not getattr(stages[name], "on_demand", False):
            yield name, stages[name]


def dump_rest(src: Any, asm: Any, made: Collection[str]) -> None:
    """Dump the stages that are not among `made`, and the disassembly if there is a tool for it."""
    for name in (*asm, *asm.extra_names):
        if name != src.first_stage and name not in made:
            with contextlib.suppress(ToolMissing):
                _files.dump_stage(src, name, asm[name])
