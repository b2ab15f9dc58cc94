"""The page in one file: every answer that it may ask for is embedded, compressed."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Iterator
from importlib.resources import files

from .answers import address, answer
from .errors import RequestError
from .json_types import Record
from .layouts import accesses_of, conversions_of
from .model import Document
from .session import Session

__all__ = ["answers", "export"]

MAX_LAYOUT_ELEMENTS = 1 << 14
"""Of a layout with its table in the file; tables of larger ones would be most of it."""

_SCRIPT = re.compile(r'<script type="module"[^>]*\ssrc="\./([^"]+)"[^>]*></script>')
_STYLE = re.compile(r'<link rel="stylesheet"[^>]*\shref="\./([^"]+)"[^>]*>')


def export(session: Session) -> str:
    """The page with all answers, as HTML."""
    content = json.dumps({"version": 1, "answers": answers(session)}, separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(content.encode(), 9, mtime=0)).decode()
    element = (
        f'<script id="tritium-export" type="application/octet-stream" data-encoding="gzip+base64">{packed}</script>'
    )
    page = _file("index.html")
    styled = _STYLE.sub(lambda m: f"<style>{_file(m[1])}</style>", page)
    scripts: list[str] = []

    def take(found: re.Match[str]) -> str:
        scripts.append(_file(found[1]).replace("</script", "<\\/script"))
        return ""

    bare = _SCRIPT.sub(take, styled)
    code = element + "".join(f'<script type="module">{script}</script>' for script in scripts)
    return bare.replace("</head>", f"{code}\n</head>", 1)


def _file(name: str) -> str:
    found = files(__package__) / "static" / name
    if not found.is_file():
        raise RequestError("unknown", f"the page is not complete: {name} is missing (make explorer builds it)")
    return found.read_text(encoding="utf-8")


def answers(session: Session) -> Record:
    """Every answer by its address."""
    summary = session.as_json()
    summary.update(exported=True, capabilities=dict.fromkeys(summary["capabilities"], False))
    out: Record = {"api/session": summary}
    wanted = [f"api/tuning/{id}" for id in session.tunings.tables]
    wanted += [f"api/check/{id}" for id in session.checks]
    documents = [session.store.document(row["id"]) for row in summary["documents"]]
    for document in documents:
        wanted += _of_document(session, document)
    pairs = [(a, b) for a in documents for b in documents if a is not b and a.kernel == b.kernel]
    if len(documents) > MAX_COMPARED:
        pairs = [(a, b) for a, b in pairs if a.parent == b.id or b.parent == a.id]
    wanted += [f"api/compare/{a.id}/{b.id}" for a, b in pairs]
    for where in dict.fromkeys(wanted):
        try:
            out[where] = answer(session, where)
        except RequestError:
            continue  # the page says that it is not available
    return out


MAX_COMPARED = 6
"""Documents of which all pairs are compared; of more only edits with their base."""


def _of_document(session: Session, document: Document) -> Iterator[str]:
    id = document.id
    yield from (f"api/{kind}/{id}" for kind in ("document", "provenance", "layouts", "performance"))
    texts = [s.text for s in document.sources] + [one.text for one in document.listings if one.available]
    for stage in document.stages:
        texts += [t for t in (stage.before, stage.after) if t is not None]
        for p in stage.passes:
            texts += [t for t in (p.before, p.after) if t is not None]
            if p.rewrites:
                yield f"api/rewrites/{id}/{stage.name}/{p.index}"
    yield from (f"api/text/{t}" for t in texts)
    yield from _of_layouts(session, id)
    last = [
        t for s in document.stages if s.name == "ttgir" for t in [s.after, *(p.after for p in s.passes if p.changed)]
    ]
    for t in dict.fromkeys(filter(None, last)):
        yield from _of_moves(session, t)


def _of_layouts(session: Session, id: str) -> Iterator[str]:
    for row in answer(session, f"api/layouts/{id}"):
        shape = "x".join(map(str, row["shape"]))
        if _elements(shape) <= MAX_LAYOUT_ELEMENTS:
            yield address("api/layout", layout=row["layout"], shape=shape, bits=row["bits"])


def _of_moves(session: Session, text_id: str) -> Iterator[str]:
    """The conversions and the accesses to buffers of a text."""
    text = session.store.text(text_id)
    for name, rows in (("api/conversion", conversions_of(text)), ("api/shared-access", accesses_of(text))):
        yield from (address(name, **row) for row in rows if _elements(row["shape"]) <= MAX_LAYOUT_ELEMENTS)


def _elements(shape: str) -> int:
    return math.prod(map(int, shape.split("x")))
