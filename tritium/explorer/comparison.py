"""Two documents side by side: what was given, the first pass that differs, times and resources."""

from __future__ import annotations

from collections.abc import Iterator

from .json_types import Json, Record
from .model import Document

__all__ = ["compare"]

RESOURCES = {
    "n_regs": "registers/thread",
    "n_spills": "spilled registers",
    "shared": "bytes of shared memory",
    "stack": "bytes of stack",
    "num_warps": "warps",
}


def compare(a: Document, b: Document) -> Record:
    """The comparison, without results."""
    return {
        "given": list(_given(a, b)),
        "first_difference": _first_difference(a, b),
        "times": list(_times(a, b)),
        "resources": list(_resources(a, b)),
        "stages": list(_stages(a, b)),
    }


def _given(a: Document, b: Document) -> Iterator[Record]:
    pairs: list[tuple[str, Json, Json]] = [("kernel", a.kernel, b.kernel), ("target", a.target, b.target)]
    pairs.append(("source", _sources(a), _sources(b)))
    for kind in ("signature", "constants", "options", "settings"):
        one, two = getattr(a, kind), getattr(b, kind)
        pairs += [(name, one.get(name), two.get(name)) for name in dict.fromkeys([*one, *two])]
    for name, x, y in pairs:
        if x != y:
            yield {"name": name, "a": "" if x is None else str(x), "b": "" if y is None else str(y)}


def _sources(document: Document) -> str:
    return ", ".join(source.text for source in document.sources)


def _digest(id: str | None) -> str | None:
    """The hash of a text, without the prefix of its trace."""
    return None if id is None else id.rpartition("-")[2]


def _texts(d: Document) -> Iterator[tuple[str, int | None, str, str]]:
    """(stage, pass, its name, text) in order, of passes that changed something and of stages."""
    for stage in d.stages:
        for p in stage.passes:
            if p.changed and p.after is not None:
                yield stage.name, p.index, p.name, p.after
        if stage.after is not None:
            yield stage.name, None, "", stage.after


def _first_difference(a: Document, b: Document) -> Record | None:
    for one, two in zip(_texts(a), _texts(b)):
        if one[:3] == two[:3] and _digest(one[3]) == _digest(two[3]):
            continue
        stage, index, name, text = one
        where = f"{stage}, pass {index} ({name})" if index is not None else f"the result of {stage}"
        if one[0] != two[0] or one[2] != two[2]:
            theirs = f"{two[2] or 'the end'} of {two[0]}"
            message = f"{name or 'the end'} of {stage} is the next change of the first, {theirs} of the second"
        else:
            message = f"{where} is the first whose result differs"
        return {"message": message, "stage": stage, "pass": index, "a": text, "b": two[3]}
    return None


def _times(a: Document, b: Document) -> Iterator[Record]:
    one, two = ({s.name: s.us for s in d.stages} for d in (a, b))
    for name in dict.fromkeys([*one, *two]):
        x, y = one.get(name), two.get(name)
        yield {"name": name, "a": None if x is None else x / 1000, "b": None if y is None else y / 1000}


def _resources(a: Document, b: Document) -> Iterator[Record]:
    for name, label in RESOURCES.items():
        x, y = (d.resources.get(name, d.options.get(name)) for d in (a, b))
        if x is not None or y is not None:
            yield {"name": label, "a": x, "b": y}


def _stages(a: Document, b: Document) -> Iterator[Record]:
    one, two = ({s.name: s.after for s in d.stages} for d in (a, b))
    for name in dict.fromkeys([*one, *two]):
        x, y = one.get(name), two.get(name)
        yield {"name": name, "a": x, "b": y, "same": _digest(x) == _digest(y)}
