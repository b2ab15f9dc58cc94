"""The performance of a document: resources as cards, findings at their lines, occupancy, roofline, order."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .. import testing
from ..backends.errors import BackendError
from ..backends.roofline import Launch, Rates, Roofline
from ..compiler import default_target
from ..runtime.tensor_descriptor import TensorDescriptor
from ..support import TritiumError
from ..support.plain import plain
from ..support.quantities import counted
from .arguments import kept_arguments
from .artifacts import Artifact
from .documents import failed_artifact
from .errors import RequestError
from .json_types import Json, Record
from .model import Document, Text
from .order import order_of
from .remarks import lines_of
from .store import DocumentStore

__all__ = ["performance"]

_PLACE = re.compile(r"^(.*?):(\d+)(?::(\d+))?$")
_SPILL = ("STL", "LDL", "scratch_store", "scratch_load")


def performance(store: DocumentStore, id: str) -> Record:
    """The report on a document. Without a compiled kernel it has only what the trace says."""
    document = store.document(id)
    kept = store.artifact(id)
    out: Record = {"available": kept is not None, "reason": "", "target": document.target}
    found: Record = {}
    bound, why = None, "no launch is known"
    if kept is None:
        out["reason"] = failed_artifact(document)
    else:
        try:
            inspected, bound, why = _inspected(store, document, kept)
            found = inspected.as_json()
            found["conflicts"] = getattr(inspected, "conflicts", 0)
            found["occupancy"] = _occupancy(found)
        except (BackendError, TritiumError, KeyError) as error:
            out.update(available=False, reason=str(error))
    kind = document.target.partition(":")[0]
    out["cards"] = [*_CARDS[kind](found, document)] if found and kind in _CARDS else list(_facts(document))
    out.update({name: found[name] for name in ("buffers", "accesses", "memory", "partitions") if name in found})
    out["occupancy"] = found.get("occupancy")
    out["registers"] = found.get("registers")
    out["instructions"] = _counts(found.get("instructions"))
    out["mix"] = _counts(found.get("mix", found.get("units")))
    out["findings"] = [_finding(f, document, store) for f in found.get("findings", ())]
    out["remarks"] = [_remark(r, document, store) for r in found.get("remarks", ())]
    out["roofline"], out["roofline_reason"] = None if bound is None else _roofline(bound), why
    out["order"] = _order(store, document)
    return out


def _card(name: str, value: str, detail: str = "", level: str = "good") -> dict[str, str]:
    return {"name": name, "value": value, "detail": detail, "level": level}


def _facts(document: Document) -> Iterable[dict[str, str]]:
    """What the trace says."""
    known = document.resources
    if "n_regs" in known:
        spills = known.get("n_spills", 0)
        detail = f"{spills} spilled" if spills else "no spills"
        yield _card("registers", f"{known['n_regs']}", detail, "bad" if spills else "good")
    if "shared" in known:
        yield _card("shared memory", f"{known['shared']:,} bytes")


def _nvidia(found: Mapping[str, Json], document: Document) -> Iterable[dict[str, str]]:
    registers, occupied = found["registers"], found["occupancy"]
    spilled = registers["spilled"]
    moved = f"{registers['spill_stores']} bytes of stores, {registers['spill_loads']} of loads"
    detail = f"{counted(spilled, 'register')} spilled: {moved}" if spilled else "no spills"
    yield _card("registers", f"{registers['each']} of {registers['limit']}", detail, "bad" if spilled else "good")
    yield _occupancy_card(occupied)
    buffers = counted(len(found["buffers"]), "allocation")
    yield _card("shared memory", f"{found['shared']:,} of {found['shared_limit']:,} bytes", buffers)
    conflicts = found["conflicts"]
    yield _card("bank conflicts", f"{conflicts}", "extra wavefronts per warp", "note" if conflicts else "good")
    yield _card("warps", f"{found['warps']} per CTA", f"{found['barriers']} barriers of 16")


def _occupancy_card(occupied: Mapping[str, Json]) -> dict[str, str]:
    share = occupied["warps"] / max(1, occupied["max_warps"])
    level = "good" if share >= 0.5 else "note" if share >= 0.25 else "bad"
    detail = f"{100 * share:.0f}%, limited by {occupied['limit']}"
    return _card("occupancy", f"{occupied['warps']} of {occupied['max_warps']} warps", detail, level)


def _amd(found: Mapping[str, Json], document: Document) -> Iterable[dict[str, str]]:
    spills = found["vgpr_spills"] + found["sgpr_spills"]
    detail = f"{counted(spills, 'register')} spilled" if spills else "no spills"
    yield _card("VGPRs", f"{found['vgprs']} + {found['agprs']} AGPRs", detail, "bad" if spills else "good")
    yield _card("SGPRs", f"{found['sgprs']}")
    yield _occupancy_card(found["occupancy"])
    yield _card("LDS", f"{found['lds']:,} of {found['lds_limit']:,} bytes")
    scratch = found["scratch"]
    yield _card("scratch", f"{scratch} bytes", "per lane", "note" if scratch else "good")


def _cpu(found: Mapping[str, Json], document: Document) -> Iterable[dict[str, str]]:
    spills = found["spills"]
    number = spills["stores"] + spills["loads"]
    yield _card("instructions", f"{found['instructions']:,}", f"{found['vector_bits']}-bit vectors preferred")
    level = "note" if spills["in_loops"] else "good"
    yield _card("spills", f"{number}", f"{spills['in_loops']} of them in loops", level)
    yield _card("stack", f"{found['stack']:,} bytes", f"{found['scratch']:,} bytes of scratch tiles")


_CARDS = {"cuda": _nvidia, "hip": _amd, "cpu": _cpu}


def _occupancy(found: Mapping[str, Json]) -> Record | None:
    occupied = found.get("occupancy")
    if occupied is None:
        return None
    if "waves" in occupied:  # AMD's words
        waves, most, ctas = occupied["waves"], occupied["max_waves"], occupied["workgroups"]
        occupied = {"warps": waves, "max_warps": most, "ctas": ctas, "limit": occupied["limit"]}
    return {**occupied, "limits": found.get("limits") or {}}


def _counts(groups: Json) -> dict[str, int]:
    """Group -> static count of its instructions; of a mere number, one group."""
    out: dict[str, int] = {}
    for name, counts in (groups if isinstance(groups, dict) else {"all": [groups or 0]}).items():
        parts = list(counts)
        if parts and not isinstance(parts[0], Mapping):
            parts = [{"number": parts[0]}]  # (static count, in loops)
        out[str(name)] = sum(part["number"] for part in parts)
    return {name: n for name, n in out.items() if n}


def _finding(found: Mapping[str, Json], document: Document, store: DocumentStore) -> Record:
    place = _place(found["place"], document)
    lines = {} if place is None else _lines_of(place, document, store)
    if found["kind"] == "spills":
        lines = {**lines, **_spill_lines(document, store)}
    return {**found, "place": place, "lines": lines}


def _place(text: str, document: Document) -> Record | None:
    """A place `kernel.py:12:5` in a source file of the document."""
    found = _PLACE.match(text)
    if found is None:
        return None
    files = [s.file for s in document.sources if os.path.basename(s.file) == os.path.basename(found[1])]
    return {"file": files[0] if files else found[1], "line": int(found[2]), "column": int(found[3] or 1)}


def _machine_texts(document: Document, store: DocumentStore) -> Iterable[tuple[str, Text]]:
    stages = [(s.name, s.after) for s in document.stages if s.name in ("ptx", "amdgcn") and s.after]
    listings = [(one.name, one.text) for one in document.listings if one.available]
    for name, id in [*stages, *listings]:
        try:
            yield name, store.text(str(id))
        except RequestError:
            continue  # the disassembler is not installed


def _lines_of(place: Mapping[str, Json], document: Document, store: DocumentStore) -> dict[str, list[int]]:
    out = {}
    for name, text in _machine_texts(document, store):
        lines = [
            op.line
            for op in text.ops
            if op.place and op.place[1] == place["line"] and text.files[op.place[0]] == place["file"]
        ]
        if lines:
            out[name] = lines
    return out


def _spill_lines(document: Document, store: DocumentStore) -> dict[str, list[int]]:
    texts = _machine_texts(document, store)
    found = {name: [op.line for op in text.ops if op.name.startswith(_SPILL)] for name, text in texts}
    return {name: lines for name, lines in found.items() if lines}


def _remark(found: Mapping[str, Json], document: Document, store: DocumentStore) -> Record:
    texts = [(name, lines_of(found["kind"], text)) for name, text in _machine_texts(document, store) if name == "ptx"]
    lines = {name: at for name, at in texts if at}
    message = found["reason"] or found["text"]
    return {**found, "message": message, "hint": found["advice"], "lines": lines, "place": None, "source": ""}


def _inspected(store: DocumentStore, document: Document, kept: Artifact) -> tuple[Json, Roofline | None, str]:
    """The inspection, with the roofline bound of the first launch, or why there is none."""
    given = None
    if document.launch is not None:
        _, given = kept_arguments(store.folder, store.entry(document.id).key)
    if document.launch is None or given is None:
        why = "no launch is known" if document.launch is None else "the arguments of the launch were not kept"
        return kept.backend.inspect(kept.stages, kept.metadata, None), None, why
    bases = {n: v.base if isinstance(v, TensorDescriptor) else v for n, v in given.items()}
    try:
        launch = Launch(tuple(document.launch.grid), bases, _machine_rates(kept))
        found = kept.backend.inspect(kept.stages, kept.metadata, launch)
    except (BackendError, TritiumError, KeyError, TypeError, ValueError) as error:
        why = str(error).split("\n")[0]
        return kept.backend.inspect(kept.stages, kept.metadata, None), None, why
    return found, found.roofline, "" if found.roofline is not None else "no rates of the target are known"


def _roofline(bound: Roofline) -> Record:
    """The roofline bound, with the rates that it was computed with."""
    work = bound.workload
    flops = sum([*work.dots.values(), *work.flops.values()])
    return {
        "seconds": bound.seconds,
        "limit": bound.limit,
        "parts": dict(bound.parts),
        "work": {**plain(work), "bytes": work.bytes},
        "intensity": flops / work.bytes if work.bytes else None,
        "rates": _rates(bound),
        "assumptions": list(bound.assumptions),
    }


@lru_cache(maxsize=1)
def _measured() -> Rates:
    """The rates of this machine, measured once."""
    peak = testing.get_max_simd_tflops() * 1e12
    name = "this machine (one core's copies, all cores' f32 FMAs)"
    return Rates(name, testing.get_dram_gbps() * 1e9, {"": peak}, {"": peak})


def _machine_rates(kept: Artifact) -> Rates | None:
    """Those of this machine, if the kernel is for its CPU; those of the target's GPU are known."""
    if kept.backend.describe().backend != "cpu" or kept.backend.target != default_target():
        return None
    return _measured()


def _rates(bound: Roofline) -> Record:
    """The rates that the bound was computed with, from its parts."""
    work = bound.workload
    memory, dot = bound.parts["memory"], bound.parts["dot"]
    bandwidth = work.bytes / memory if memory else 0.0
    dots = sum(work.dots.values())
    peaks = {next(iter(work.dots)): dots / dot} if dots and dot else {}
    flops, arithmetic = sum(work.flops.values()), bound.parts["arithmetic"]
    if flops and arithmetic:
        peaks[f"{next(iter(work.flops))} arithmetic"] = flops / arithmetic
    return {"name": bound.machine, "bandwidth": bandwidth, "peaks": peaks}


def _order(store: DocumentStore, document: Document) -> Record | None:
    last = next((s.after for s in document.stages if s.name == "ttgir"), None)
    if last is None:
        return None
    warps = document.options.get("num_warps", 0)
    return order_of(store.text(last), warps if isinstance(warps, int) else 0)
