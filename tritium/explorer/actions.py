"""What a page can have done: compile an edited text, check, evaluate, run, stop, open."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ..backends.errors import BackendError
from ..compiler.backend import make_backend
from ..support import TritiumError
from ..tools.request import parse_target, value_of
from .arguments import given_options
from .documents import EDITABLE_STAGES
from .errors import RequestError
from .jobs import Job
from .json_types import Json, Record
from .model import Document
from .session import Session

__all__ = ["act"]

Body = Mapping[str, Json]

MAX_OPENED = 256 << 20
COMMON_OPTIONS = ("num_warps", "num_stages", "num_ctas")
"""Options that every target understands, which a compile for another target keeps."""


def act(session: Session, name: str, body: Json) -> Record:
    """Do what a request asks for; its answer. RequestError if it makes no sense."""
    found = _ACTIONS.get(name)
    if found is None:
        raise RequestError("unknown", f"there is no action {name!r}")
    if not isinstance(body, dict):
        raise RequestError("malformed", "the body of a request is a JSON object")
    try:
        return found(session, body)
    except RequestError:
        raise
    except KeyError as error:
        raise RequestError("malformed", f"the request lacks {error}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise RequestError("malformed", str(error)) from None
    except (TritiumError, BackendError) as error:
        raise RequestError("refused", str(error)) from None


def _job(job: Job) -> Record:
    return {"job": job.id}


def _compile(session: Session, body: Body) -> Record:
    """Compile a document again, from an edited text, for a target, with options."""
    document = session.store.document(body["base"])
    stage = body.get("from") or "source"
    target = body.get("target") or document.target
    make_backend(parse_target(target))
    request = _request(session, document)
    text = body.get("text")
    if stage != "source":
        request["file"] = _stage_file(session, document, stage, text)
    elif text is not None:
        request.setdefault("folder", os.path.dirname(os.path.abspath(request["file"])))
        request["file"] = _write(session, os.path.basename(request["file"]) or "kernel.py", text)
    elif not request["file"]:
        raise RequestError("refused", f"the source of {document.kernel} is not known: compile one of its stages")
    if not request["signature"] and stage == "source" and not body.get("signature"):
        raise RequestError("refused", "the types of the arguments are not known: compile one of the stages")
    for name in ("signature", "constants", "kernel"):
        if body.get(name) is not None:
            request[name] = str(body[name])
    given = body.get("options") or {}
    request["options"] = {**_kept_options(document, target, request["options"]), **_options(given)}
    request["strict"] = list(given)
    return _job(session.compile(request, target, document.id))


def _request(session: Session, document: Document) -> Record:
    """How the document was compiled: as a launch or an edit said, or made of its trace."""
    found = session.store.request(session.store.entry(document.id))
    if found is None:
        file = document.place.file if document.place is not None else ""
        options = given_options(make_backend(parse_target(document.target)), document.options)
        found = {"file": file, "kernel": document.kernel, "signature": _signature(document), "options": options}
    return {"constants": "", "strict": [], **found, "options": dict(found["options"])}


def _signature(document: Document) -> str:
    """A signature by name, of a trace, which does not have hints."""
    parts = []
    for name, ty in document.signature.items():
        known = document.constants.get(name)
        if ty == "constexpr" or known is not None:
            if known is None or (isinstance(value_of(known), str) and not known.startswith(("'", '"'))):
                return ""
            parts.append(f"{name}={known}")
        else:
            parts.append(f"{name}={ty}")
    parts += [f"{n}={v}" for n, v in document.constants.items() if n not in document.signature]
    return ", ".join(parts)


def _kept_options(document: Document, target: str, options: Mapping[str, Json]) -> Record:
    """Those of the base; of another kind of target only those that it has too."""
    if target.partition(":")[0] == document.target.partition(":")[0]:
        return {n: v for n, v in options.items() if n != "arch"}
    return {n: v for n, v in options.items() if n in COMMON_OPTIONS}


def _options(given: Mapping[str, Json]) -> Record:
    return {name: value_of(v) if isinstance(v, str) else v for name, v in given.items()}


def _stage_file(session: Session, document: Document, stage: str, text: str | None) -> str:
    if stage not in EDITABLE_STAGES:
        raise RequestError("refused", f"a kernel cannot be compiled from its {stage}")
    if text is None:
        text = _stage_text(session, document, stage)
    return _write(session, f"kernel.{stage}", text)


def _stage_text(session: Session, document: Document, stage: str) -> str:
    """The text of a stage, with locations if the kernel was kept."""
    kept = session.store.artifact(document.id)
    known = None if kept is None else kept.stages.get(stage)
    if isinstance(known, str):
        return known
    found = next((s.after for s in document.stages if s.name == stage), None)
    if found is None:
        raise RequestError("unknown", f"{document.id} has no stage {stage!r}")
    return session.store.text(found).text


def _write(session: Session, name: str, text: str) -> str:
    path = session.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _grid(document: Document, body: Body) -> list[int]:
    given = body.get("grid") or (document.launch.grid if document.launch is not None else [4, 1, 1])
    x, y, z = (*map(int, given), 1, 1, 1)[:3]
    return [x, y, z]


def _values(session: Session, body: Body) -> Record:
    """Evaluate one program of a text of a document."""
    document = session.store.document(body["document"])
    text = body.get("text") or next((s.after for s in document.stages if s.language == "mlir"), None)
    if text is None:
        raise RequestError("refused", f"{document.id} has no IR that can be evaluated")
    record = session.store.record(text)
    if record.get("language") != "mlir":
        raise RequestError("refused", "values are known for the IR of tiles (ttir, ttgir, ttcir)")
    id = f"v{len(session.values) + 1}"
    session.values[id] = {"id": id, "document": document.id}
    request = {
        "key": session.store.launch_key(document.id),
        "types": session.store.argument_types(document),
        "record": dict(record),
        "program": [int(n) for n in (*(body.get("program") or ()), 0, 0, 0)][:3],
        "grid": _grid(document, body),
        "arguments": {n: _argument(v) for n, v in (body.get("arguments") or {}).items()},
        "folder": os.path.join(session.folder, id),
    }

    def at_end(job: Job, state: str) -> None:
        job.document = document.id
        if state == "done":
            session.values[id] = {"id": id, "document": document.id, **job.answer}
            job.result = id

    return _job(session.jobs.add("values", request, at_end))


def _argument(given: Json) -> Json:
    """A number, or the shape of an array: `64x64`."""
    if not isinstance(given, str):
        return given
    parts = given.split("x")
    return [int(p) for p in parts] if len(parts) > 1 and all(p.isdigit() for p in parts) else value_of(given)


def _check(session: Session, body: Body) -> Record:
    """Run a launch of a document in every form, and compare."""
    document = session.store.document(body["document"])
    request = _request(session, document)
    if document.first != "source" or not request["file"].endswith(".py") or not request["signature"]:
        raise RequestError("refused", "a check runs the kernel's Python, which is not known of this document")
    id = f"c{len(session.checks) + 1}"
    known: Record = {"id": id, "document": document.id, "verdicts": [], "finding": None}
    session.checks[id] = {**known, "state": "running", "message": ""}
    request.update(target=document.target, grid=_grid(document, body), key=session.store.launch_key(document.id))
    launched = document.parent is None and document.launch is not None and session.opened.kind == "script"
    request["launch_target"] = session.opened.target  # empty: a GPU of this machine, if the script uses it
    request["script"] = [session.opened.path, *session.opened.arguments] if launched else []

    def at_end(job: Job, state: str) -> None:
        job.document, job.result = document.id, id
        if state == "done":
            session.checks[id] = {**known, **session.located_finding(document, job.answer)}
        else:
            session.checks[id] = {**known, "state": "not checked", "message": job.message or state}
        session.log.add("check", id=id)

    return _job(session.jobs.add("check", request, at_end))


def _run(session: Session, body: Body) -> Record:
    return _job(session.run_script())


def _stop(session: Session, body: Body) -> Record:
    return {"stopped": session.stop(body.get("job"))}


def _open(session: Session, body: Body) -> Record:
    """Add the documents of a text: a trace, IR, or a Python file with one kernel."""
    text, name = str(body["text"]), os.path.basename(str(body["name"])) or "text"
    if len(text) > MAX_OPENED:
        raise RequestError("refused", f"{name} is larger than {MAX_OPENED >> 20} MB: give it on the command line")
    path = _write(session, name, text)
    if name.rpartition(".")[2] in (*EDITABLE_STAGES, "py"):
        if name.endswith(".py") and not body.get("signature"):
            raise RequestError("refused", "a Python file is opened on the command line: tritium explore FILE.py")
        request: Record = {
            "file": path,
            "kernel": "",
            "signature": body.get("signature") or "",
            "constants": "",
            "options": {},
        }
        return _job(session.compile({**request, "strict": []}, str(body.get("target") or ""), None))
    job = session.jobs.new("open", {}, lambda job, state: None)
    documents = session.open_trace(path)
    job.document = documents[0] if documents else None
    session.jobs.end(job, "done" if documents else "failed", "" if documents else f"{name} has no compiles")
    return _job(job)


_ACTIONS: dict[str, Callable[[Session, Body], Record]] = {
    "compile": _compile,
    "values": _values,
    "check": _check,
    "run": _run,
    "stop": _stop,
    "open": _open,
}
