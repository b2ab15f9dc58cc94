"""Documents made of the records of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from ..backends.amd.pipelines import default_ttgir_pipeline
from ..hardware.nvidia import nvidia_gpu
from ..ir.passes.definition import Nest
from ..ir.passes.definition import Pass as PipelinePass
from ..tools.resource_summary import resource_summary
from ..transforms.ttgir.pipelines import LOWERING, nvidia_ttgir_pipeline
from ..transforms.ttir import gpu_ttir_pipeline
from .index import CompileRecords
from .json_types import Json, Record
from .model import Cache, Document, Failure, Listing, Pass, Place, Source, Span, Stage, Summary

__all__ = ["EDITABLE_STAGES", "document", "failed_artifact", "place_of", "source_id", "state_of", "summary_of"]

EDITABLE_STAGES = ("ttir", "ttgir", "ttcir", "llir", "ptx")
"""Stages with text from which a kernel can be compiled again, if it was edited."""

_OTHER_LANGUAGES = ("llir", "ptx", "amdgcn", "asm")
_MACHINE_CODE = ("cubin", "hsaco", "obj")
_LISTINGS = {"cuda": "sass", "cpu": "asm"}


def place_of(record: Mapping[str, Json] | None) -> Place | None:
    """A place of a record."""
    return None if record is None else Place(record["file"], record["line"], record["column"])


def source_id(number: int) -> str:
    """The id of the text of a source file."""
    return f"src-{number}"


def failed_artifact(found: Document) -> str:
    """Why there is no machine code of a document to look at."""
    if found.state in ("failed", "running"):
        return f"the compile {'failed' if found.state == 'failed' else 'has not ended'}: there is no machine code"
    return "only the trace of this compile was kept, which has no machine code: compile it here to see more"


def state_of(found: CompileRecords) -> str:
    """The state of a compile: running, failed, cached or done."""
    end = found.end
    if end is None:
        return "failed" if found.errors else "running"
    return "failed" if not end["fine"] else "cached" if end["cache"] == "hit" else "done"


def summary_of(id: str, found: CompileRecords, parent: str | None = None) -> Summary:
    """The document in a list."""
    record = found.record
    kernel, target = record["kernel"], record["target"]
    return Summary(
        id,
        kernel,
        target,
        state_of(found),
        f"{kernel} for {target}" if kernel else f"passes of {record['first']}",
        None if found.end is None else found.end["us"],
        resource_summary(found.facts()),
        record["first"],
        parent,
        record["started"],
        sum(1 for p in found.passes if not p["skipped"]),
        sum(1 for p in found.passes if p["changed"]),
    )


def document(
    id: str,
    found: CompileRecords,
    sources: list[Source],
    parent: str | None = None,
    request: Record | None = None,
) -> Document:
    """The whole document, without its texts."""
    record, facts = found.record, found.facts()
    names = list(dict.fromkeys(r["stage"] for r in sorted([*found.stages, *found.passes], key=lambda r: r["at"])))
    stages = [_stage(name, found) for name in names]
    backend = record["target"].partition(":")[0]
    listing = _LISTINGS.get(backend)
    return Document(
        id=id,
        kernel=record["kernel"],
        target=record["target"],
        state=state_of(found),
        first=record["first"],
        parent=parent,
        signature={k: str(v) for k, v in record.get("signature", {}).items()},
        constants={k: str(v) for k, v in record.get("constants", {}).items()},
        options=record.get("options", {}),
        settings=record.get("settings", {}),
        place=place_of(record.get("place")),
        request=request,
        sources=sources,
        stages=stages,
        listings=[] if listing is None else [Listing(listing, f"{listing}-{id}", True)],
        spans=_spans(found),
        resources=facts,
        summary=resource_summary(facts),
        cache=Cache("unknown" if found.end is None else found.end["cache"]),
        launch=None,
        errors=[_failure(e) for e in found.errors],
    )


def _stage(name: str, found: CompileRecords) -> Stage:
    record = next((s for s in found.stages if s["stage"] == name), None)
    passes = [p for p in found.passes if p["stage"] == name]
    errors = {e["pass"]: e for e in found.errors if e["stage"] == name and "pass" in e}
    rows = []
    before: int | None = None
    for p in passes:
        error = errors.get(p["name"]) if p is passes[-1] else None
        rows.append(_pass(p, before, error))
        before = p.get("operations", before)
    first = passes[0]["before"] if passes else None
    return Stage(
        name,
        name if name in (*_MACHINE_CODE, *_OTHER_LANGUAGES) else "mlir",
        record["at"] if record else passes[0]["at"] if passes else None,
        record["us"] if record else None,
        record.get("before", first) if record else first,
        record["after"] if record else passes[-1].get("after") if passes else None,
        bool(record and record.get("replaced")),
        name in EDITABLE_STAGES,
        None,
        record["found"] if record else {},
        rows,
    )


def _pass(p: Mapping[str, Json], before: int | None, error: Mapping[str, Json] | None) -> Pass:
    return Pass(
        p["index"],
        p["name"],
        p["options"],
        p["on"],
        p["skipped"],
        p["at"],
        p["us"],
        p["before"],
        p.get("after"),
        p["changed"],
        p.get("operations"),
        before,
        p["counts"],
        p["rewrites"],
        reasons().get((p["stage"], p["name"]), reasons().get(("", p["name"]), "")),
        None if error is None else error["message"],
    )


def _failure(e: Mapping[str, Json]) -> Failure:
    return Failure(e["stage"], e.get("pass"), e["type"], e["message"])


@lru_cache(maxsize=1)
def reasons() -> dict[tuple[str, str], str]:
    """(stage, pass) -> why the pass is in the pipeline of the stage; with the stage "" for any."""
    out: dict[tuple[str, str], str] = {}

    def add(stage: str, rows: Iterable[Json]) -> None:
        for row in rows:
            if isinstance(row, Nest):
                add(stage, row.rows)
            elif isinstance(row, PipelinePass):
                out.setdefault((stage, row.name), row.reason)
                out.setdefault(("", row.name), row.reason)

    add("ttir", gpu_ttir_pipeline(descriptors=True))
    add("ttgir", nvidia_ttgir_pipeline(nvidia_gpu(90)))
    add("ttgir", default_ttgir_pipeline("gfx942"))
    add("llir", LOWERING)
    return out


def _spans(found: CompileRecords) -> list[Span]:
    """The bars of the flame graph: the compile, its imports, its stages, their passes, storing the result."""
    end = found.end
    last = max((r["at"] + r["us"] for r in [*found.stages, *found.passes]), default=0.0)
    total = last if end is None else max(end["us"], last)
    out = [Span(found.record["kernel"] or "passes", "compile", 0.0, total, 0)]
    if end is not None and end["imports"]:
        first = min((s["at"] for s in found.stages), default=0.0)
        out.append(Span("imports", "imports", 0.0, min(end["imports"], first or end["imports"]), 1))
    out += [Span(s["stage"], "stage", s["at"], s["us"], 1, s["stage"]) for s in found.stages]
    out += [
        Span(p["name"], "pass", p["at"], p["us"], 2, p["stage"], p["index"]) for p in found.passes if not p["skipped"]
    ]
    if end is not None and end["store"]:
        out.append(Span("store", "store", max(0.0, total - end["store"]), end["store"], 1))
    return out
