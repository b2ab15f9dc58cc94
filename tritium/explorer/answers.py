"""Answers to everything that can be read of a session, by the relative addresses that a page uses."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import parse_qsl, quote, unquote

from ..support import TritiumError
from .comparison import compare
from .errors import RequestError
from .json_types import Json
from .layouts import LayoutError, conversion, layout_table, layouts_of, shared_access
from .model import Document, Pass, as_json
from .performance import performance
from .provenance import provenance, rewrites
from .rewrite_steps import can_run_alone
from .session import Session

__all__ = ["address", "answer"]


def address(path: str, **query: str | int) -> str:
    """The canonical address of an answer, as `encodeURIComponent` writes the values.

    >>> address("api/layout", layout="#a<{b = [1]}>", shape="4x4")
    'api/layout?layout=%23a%3C%7Bb%20%3D%20%5B1%5D%7D%3E&shape=4x4'
    """
    text = "&".join(f"{name}={quote(str(value), safe=_UNRESERVED)}" for name, value in query.items())
    return path + (f"?{text}" if text else "")


_UNRESERVED = "-_.!~*'()"


def answer(session: Session, where: str) -> Json:
    """The JSON value at an address such as `api/document/d1`. RequestError if there is none."""
    path, _, query = where.partition("?")
    parts = [unquote(part) for part in path.strip("/").split("/")]
    name = parts[1] if len(parts) > 1 and parts[0] == "api" else ""
    found = _ANSWERS.get(name)
    if found is None:
        raise RequestError("unknown", f"there is nothing at {path!r}")
    handler, counts, needed = found
    given = dict(parse_qsl(query, keep_blank_values=True))
    lacking = [name for name in needed if name not in given]
    if len(parts) - 2 not in counts or lacking:
        raise RequestError("malformed", f"{path!r} lacks {', '.join(lacking) or 'parts, or has too many'}")
    try:
        return handler(session, parts[2:], given)
    except RequestError:
        raise
    except LayoutError as error:
        raise RequestError("refused", str(error)) from None
    except ValueError as error:
        raise RequestError("malformed", str(error)) from None
    except TritiumError as error:
        raise RequestError("failed", str(error)) from None


Parts = Sequence[str]
Query = Mapping[str, str]


def _session(session: Session, parts: Parts, query: Query) -> Json:
    return session.as_json()


def _document(session: Session, parts: Parts, query: Query) -> Json:
    return as_json(session.store.document(parts[0]))


def _text(session: Session, parts: Parts, query: Query) -> Json:
    return as_json(session.store.text(parts[0]))


def _provenance(session: Session, parts: Parts, query: Query) -> Json:
    return as_json(provenance(session.store.document(parts[0]), session.store))


def pass_of(document: Document, stage: str, index: str) -> Pass:
    """A pass of a document. RequestError if there is none."""
    found = [p for s in document.stages if s.name == stage for p in s.passes if str(p.index) == index]
    if not found:
        raise RequestError("unknown", f"{document.id} has no pass {index} in the stage {stage!r}")
    return found[0]


def _rewrites(session: Session, parts: Parts, query: Query) -> Json:
    id, stage, index = parts
    store = session.store
    found = pass_of(store.document(id), stage, index)
    entry = store.entry(id)
    records = entry.index.rewrites(entry.compile, stage, found.index)
    after = None if found.after is None else store.text(found.after)
    steppable = bool(found.rewrites) and can_run_alone(found.name + found.options)
    return as_json(rewrites(store.text(found.before), after, records, steppable))


def _rewrite_step(session: Session, parts: Parts, query: Query) -> Json:
    id, stage, index, count = parts
    found = pass_of(session.store.document(id), stage, index)
    number = int(count)
    if number == 0:
        return {"text": found.before}
    name = f"step-{id}-{stage}-{index}-{number}"
    store = session.store
    try:
        store.record(name)
    except RequestError:
        before = store.record(found.before)
        request = {"text": before["text"], "pass": f"{found.name}{found.options}", "count": number}
        made = session.ask("step", request)
        store.add_text(name, {"kind": "ir", "language": "mlir", "text": made["text"]})
    return {"text": name}


def _layout(session: Session, parts: Parts, query: Query) -> Json:
    return layout_table(query["layout"], query["shape"], int(query.get("bits", 32)))


def _layouts(session: Session, parts: Parts, query: Query) -> Json:
    document = session.store.document(parts[0])
    stages = [(s.name, s.after) for s in document.stages if s.language == "mlir" and s.after is not None]
    return as_json(layouts_of((name, session.store.text(text)) for name, text in stages if text is not None))


def _shared_access(session: Session, parts: Parts, query: Query) -> Json:
    bits, store = int(query.get("bits", 32)), query.get("store", "0") == "1"
    return shared_access(query["registers"], query["shared"], query["shape"], bits, store)


def _conversion(session: Session, parts: Parts, query: Query) -> Json:
    return conversion(query["source"], query["result"], query["shape"], int(query.get("bits", 32)))


def _performance(session: Session, parts: Parts, query: Query) -> Json:
    return as_json(performance(session.store, parts[0]))


def _tuning(session: Session, parts: Parts, query: Query) -> Json:
    found = session.tunings.tables.get(parts[0])
    if found is None:
        raise RequestError("unknown", f"there is no autotuning {parts[0]!r}")
    return as_json(found)


def _compare(session: Session, parts: Parts, query: Query) -> Json:
    a, b = (session.store.document(id) for id in parts)
    return as_json({**compare(a, b), "results": session.compared_results(a, b)})


def _values(session: Session, parts: Parts, query: Query) -> Json:
    run = session.values.get(parts[0])
    if run is None:
        raise RequestError("unknown", f"there is no run {parts[0]!r}")
    if len(parts) == 1:
        return run
    path = os.path.join(session.folder, parts[0], f"{int(parts[1])}-{int(query.get('iteration', 0))}.json")
    if not os.path.isfile(path):
        raise RequestError("unknown", f"the run {parts[0]} has no such value, or no such iteration")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _check(session: Session, parts: Parts, query: Query) -> Json:
    found = session.checks.get(parts[0])
    if found is None:
        raise RequestError("unknown", f"there is no check {parts[0]!r}")
    return found


Handler = Callable[[Session, Parts, Query], Json]

#: name -> the handler, the numbers of parts that follow in an address, the parameters that it needs
_ANSWERS: dict[str, tuple[Handler, tuple[int, ...], tuple[str, ...]]] = {
    "session": (_session, (0,), ()),
    "document": (_document, (1,), ()),
    "text": (_text, (1,), ()),
    "provenance": (_provenance, (1,), ()),
    "rewrites": (_rewrites, (3,), ()),
    "rewrite-step": (_rewrite_step, (4,), ()),
    "layout": (_layout, (0,), ("layout", "shape")),
    "layouts": (_layouts, (1,), ()),
    "shared-access": (_shared_access, (0,), ("registers", "shared", "shape")),
    "conversion": (_conversion, (0,), ("source", "result", "shape")),
    "performance": (_performance, (1,), ()),
    "tuning": (_tuning, (1,), ()),
    "compare": (_compare, (2,), ()),
    "values": (_values, (1, 2), ()),
    "check": (_check, (1,), ()),
}
