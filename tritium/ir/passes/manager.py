"""`PassManager`: a pipeline that is put together, printed, and run.

pm = PassManager()
pm.add("cse", "dce")
pm.nest("tt.func").add("canonicalize{max-iterations=3}")
pm.run(module)

PassManager("builtin.module(cse,dce)").run(module)
"""

from __future__ import annotations

from typing import Any

from ...support import TritiumError
from ..operation import Operation
from ..verifier import verify as verify_ir
from .definition import ANY, Nest, Pass, PassFunction, Row
from .dump import parse_dumps
from .registry import PASSES, PassRegistry
from .report import PipelineReport
from .run import RunSettings, run_pipeline
from .text import MODULE, anchored_pipeline, print_pipeline, resolve_text

__all__ = ["PassManager"]


class PassManager:
    """A pipeline on operations of the name `anchor`.

    Passes are named, with options, or given as functions or as rows of a table. `verify` has the IR verified when all
    have run; `verify_each` after each of them. What else may be watched has MLIR's names, such as `enable_timing()`.
    Errors in a pipeline's text are `PipelineError`s.
    """

    def __init__(
        self,
        pipeline: str | Pass | Nest | PassFunction | list[Any] = (),  # type: ignore[assignment]
        *,
        anchor: str = MODULE,
        verify: bool = True,
        verify_each: bool | None = None,
        registry: PassRegistry = PASSES,
    ) -> None:
        self.anchor = anchor
        self.verify = verify
        self._changes: dict[str, Any] = {} if verify_each is None else {"verify_each": verify_each}
        self.registry = registry
        self._rows: list[Row | PassManager] = []
        if isinstance(pipeline, str):
            self.anchor, rows = anchored_pipeline(pipeline, registry, anchor=anchor)
            self._rows.extend(rows)
            return
        for item in pipeline if isinstance(pipeline, (list, tuple)) else [pipeline]:
            self.add(item)

    def add(self, *passes: str | Pass | Nest | PassFunction) -> PassManager:
        """Add passes after those there are; the manager itself, to go on with."""
        for item in passes:
            self._rows.extend(self._read(item))
        return self

    def nest(self, anchor: str) -> PassManager:
        """A manager whose passes run here, on each operation `anchor` right inside."""
        inner = PassManager(anchor=anchor, registry=self.registry)
        self._rows.append(inner)
        return inner

    def _read(self, item: str | Pass | Nest | PassFunction) -> list[Row]:
        if isinstance(item, (Pass, Nest)):
            return [item]
        if not isinstance(item, str):
            return [self.registry.add(item).row()] if hasattr(item, "pass_name") else [Pass(item.__name__, item)]
        return resolve_text(item, self.registry, self.anchor)

    @property
    def rows(self) -> list[Row]:
        """The pipeline as rows."""
        return [Nest(r.anchor, r.rows) if isinstance(r, PassManager) else r for r in self._rows]

    def __str__(self) -> str:
        return f"{self.anchor}({print_pipeline(self.rows)})"

    @staticmethod
    def parse(text: str) -> PassManager:
        """The manager of a pipeline's text."""
        return PassManager(text)

    def enable_ir_printing(self, words: str = "change") -> PassManager:
        """Print the IR around passes as `TRITIUM_PRINT_IR` words it: "before,after:cse", "change,diff"."""
        self._changes["dump"] = parse_dumps(words)
        return self

    def enable_timing(self, enable: bool = True) -> PassManager:
        """Print how long each pass took."""
        self._changes["timing"] = enable
        return self

    def enable_statistics(self, enable: bool = True) -> PassManager:
        """Print what passes counted."""
        self._changes["statistics"] = enable
        return self

    def enable_verifier(self, enable: bool = True) -> PassManager:
        """Verify the IR after every pass, or not at all."""
        self.verify = enable
        self._changes["verify_each"] = enable
        return self

    def enable_reproducer(self, path: str) -> PassManager:
        """Leave the IR and the passes in the file `path` when a pass fails."""
        self._changes["reproducer"] = path
        return self

    def run(self, op: Operation) -> PipelineReport:
        """Run on a module (or on whatever `anchor` names) in place. What was not enabled is as the environment says."""
        if self.anchor not in (ANY, op.name):
            raise TritiumError(f"a pipeline on {self.anchor} cannot run on {op.name}")
        settings = RunSettings.of_environment().replace(**self._changes)
        return run_pipeline(op, self.rows, verifier=verify_ir if self.verify else None, settings=settings)
