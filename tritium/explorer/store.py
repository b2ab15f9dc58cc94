"""The documents of a session: traces that grow, source files as they were compiled, and texts made on demand."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping

from ..backends.errors import BackendError
from ..backends.nvidia.disassembler import instructions_of
from ..compiler import make_backend
from ..support import TritiumError
from ..support.dataclasses import dataclass, field
from ..tools.request import parse_target
from . import artifacts
from .arguments import given_options
from .documents import document, failed_artifact, source_id, summary_of
from .errors import RequestError
from .index import CompileRecords, TraceIndex
from .json_types import Json, Record
from .model import Cache, Document, Launch, Listing, Problem, Source, Summary, Text
from .remarks import with_remarks
from .texts import machine_text, mlir_text, python_text, sass_text

__all__ = ["DocumentStore", "Entry"]

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_ARTIFACTS = 16
MAX_TEXTS = 48
"""Texts with operations in the cache."""


@dataclass
class Entry:
    """A document: where its records are, and what the trace does not say."""

    id: str
    index: TraceIndex
    compile: str
    parent: str | None = None
    request: Record | None = None
    sources: list[Source] = field(default_factory=list)

    @property
    def records(self) -> CompileRecords:
        """The records of the compile."""
        return self.index.compiles[self.compile]

    @property
    def key(self) -> str:
        """The cache key of the kernel; empty for passes outside of a compile."""
        return str(self.records.record.get("key", ""))


class DocumentStore:
    """Documents by id, in the order in which their compiles began."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self.entries: dict[str, Entry] = {}
        self.launches: dict[str, Launch] = {}  # by key, as are the others
        self.caches: dict[str, Cache] = {}
        self.requests: dict[str, Record] = {}
        self._indices: list[tuple[TraceIndex, str | None, Record | None]] = []
        self._known: dict[tuple[int, str], str] = {}
        self._source_texts: list[Text] = []
        self._source_ids: dict[tuple[str, str], str] = {}
        self._made: dict[str, Mapping[str, Json]] = {}  # records of texts that no trace has
        self._texts: OrderedDict[str, Text] = OrderedDict()
        self._making: dict[str, threading.Lock] = {}
        self._artifacts: OrderedDict[str, tuple[int, artifacts.Artifact | None]] = OrderedDict()

    # -- traces -------------------------------------------------------------------------------------------------------

    def add_trace(self, path: str, parent: str | None = None, request: Record | None = None) -> TraceIndex:
        """Read a trace, which may still be written. Its documents were compiled by `request`, an edit of `parent`."""
        with self.lock:
            index = TraceIndex(path, f"{len(self._indices)}-" if self._indices else "")
            self._indices.append((index, parent, request))
            for compile_id in index.compiles:
                self._enter(index, compile_id, parent, request)
            return index

    def update(self) -> list[str]:
        """Read what was added to the traces; the ids of the documents that are new or changed."""
        changed = []
        with self.lock:
            for index, parent, request in self._indices:
                for compile_id in index.update():
                    changed.append(self._enter(index, compile_id, parent, request))
        return list(dict.fromkeys(changed))

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the traces."""
        for index, _, _ in self._indices:
            yield from index.problems

    def of_index(self, index: TraceIndex) -> list[str]:
        """The documents of a trace."""
        return [entry.id for entry in self.entries.values() if entry.index is index]

    def stages_in(self, path: str) -> list[Record]:
        """The records of the stages of the last compile in a trace."""
        with self.lock:
            compiles = [list(index.compiles.values()) for index, _, _ in self._indices if index.path == path]
            return list(compiles[0][-1].stages) if compiles and compiles[0] else []

    def of_key(self, key: str) -> list[str]:
        """The documents of a cache key."""
        return [entry.id for entry in self.entries.values() if entry.key == key]

    def _enter(self, index: TraceIndex, compile_id: str, parent: str | None, request: Record | None) -> str:
        at = id(index), compile_id
        if at not in self._known:
            found = self._known[at] = f"d{len(self._known) + 1}"
            self.entries[found] = Entry(found, index, compile_id, parent, request)
        return self._known[at]

    # -- documents ----------------------------------------------------------------------------------------------------

    def entry(self, id: str) -> Entry:
        """The entry of a document; RequestError if there is none."""
        found = self.entries.get(id)
        if found is None:
            raise RequestError("unknown", f"there is no document {id!r}")
        return found

    def summaries(self) -> list[Summary]:
        """All documents."""
        with self.lock:
            return [summary_of(e.id, e.records, e.parent) for e in self.entries.values()]

    def document(self, id: str) -> Document:
        """A document."""
        with self.lock:
            entry = self.entry(id)
            found = document(id, entry.records, self._sources(entry), entry.parent, self.request(entry))
        found.cache = self.caches.get(entry.key, found.cache)
        found.launch = self.launches.get(entry.key)
        kept = self.artifact(id)
        for stage in found.stages:
            code = None if kept is None else kept.stages.get(stage.name)
            stage.bytes = len(code) if isinstance(code, bytes) else stage.bytes
        if found.listings and kept is None:
            found.listings = [Listing(one.name, one.text, False, failed_artifact(found)) for one in found.listings]
        return found

    def request(self, entry: Entry) -> Record | None:
        """How the document can be compiled again: file, kernel, signature, options.

        The options of a launch are those of its trace: what a kernel has in the end may differ (warp specialization
        adds warps).
        """
        launched = self.requests.get(entry.key)
        if entry.request is not None or launched is None:
            return entry.request
        record = entry.records.record
        backend = make_backend(parse_target(record["target"]))
        return {**launched, "options": given_options(backend, record.get("options", {}))}

    def argument_types(self, document: Document) -> dict[str, str]:
        """The types of run-time arguments by name."""
        return {n: ty for n, ty in document.signature.items() if ty != "constexpr" and n not in document.constants}

    def launch_key(self, id: str) -> str:
        """The key of the launch whose arguments a document is run with: its own, or that of one it was made of."""
        entry = self.entry(id)
        seen: Entry | None = entry
        while seen is not None:
            if seen.key in self.launches:
                return seen.key
            seen = self.entries.get(seen.parent) if seen.parent else None
        return entry.key

    def artifact(self, id: str) -> artifacts.Artifact | None:
        """The compiled kernel of a document, if it was kept."""
        key = self.entry(id).key
        changed = artifacts.changed_at(self.folder, key)
        known = self._artifacts.get(key)
        if known is None or known[0] != changed:
            known = changed, artifacts.load(self.folder, key)
            with self.lock:
                self._artifacts[key] = known
                while len(self._artifacts) > MAX_ARTIFACTS:
                    self._artifacts.popitem(last=False)
        return known[1]

    def _sources(self, entry: Entry) -> list[Source]:
        if not entry.sources:
            place = entry.records.record.get("place")
            files = [place["file"], *self._files_of(entry)] if place else self._files_of(entry)
            entry.sources = [s for file in dict.fromkeys(files) if (s := self._source(file)) is not None]
        for source in entry.sources:
            kept = self._source_texts[int(source.text.removeprefix("src-"))]
            source.changed = _read(source.file) not in (None, kept.text)
        return entry.sources

    def _files_of(self, entry: Entry) -> list[str]:
        """The files that the first program of a document comes from: those of the library's functions as well."""
        first = next((s["after"] for s in entry.records.stages), None)
        record = None if first is None else entry.index.text(first)
        return list(record.get("files", ())) if record else []

    def _source(self, file: str) -> Source | None:
        text = _read(file) if file.endswith(".py") else None
        if text is None:
            return None
        at = file, text
        if at not in self._source_ids:
            self._source_ids[at] = source_id(len(self._source_texts))
            self._source_texts.append(python_text(self._source_ids[at], file, text))
        return Source(file, self._source_ids[at])

    # -- texts --------------------------------------------------------------------------------------------------------

    def text(self, id: str) -> Text:
        """A text with its operations: of a trace, a source file, or a listing. RequestError if there is none."""
        found = self._texts.get(id) or self._made_once(id)
        return with_remarks(found, self._remarks(id)) if found.language == "ptx" else found

    def _made_once(self, id: str) -> Text:
        with self.lock:
            making = self._making.setdefault(id, threading.Lock())
        try:
            with making:  # two views ask for it at once, and the disassembler takes a while
                found = self._texts.get(id) or self._make(id)
        finally:
            self._making.pop(id, None)
        with self.lock:
            self._texts[id] = found
            while len(self._texts) > MAX_TEXTS:
                self._texts.popitem(last=False)
        return found

    def record(self, id: str) -> Mapping[str, Json]:
        """The record of a text of a trace. RequestError if there is none."""
        if id in self._made:
            return self._made[id]
        for index, _, _ in self._indices:
            record = index.text(id)
            if record is not None:
                return {**record, "hash": id}
        raise RequestError("unknown", f"there is no text {id!r}")

    def add_text(self, id: str, record: Mapping[str, Json]) -> str:
        """Add a text that no trace has; its id."""
        self._made[id] = {**record, "hash": id}
        return id

    def _make(self, id: str) -> Text:
        if id.startswith("src-"):
            number = id.removeprefix("src-")
            if not number.isdigit() or int(number) >= len(self._source_texts):
                raise RequestError("unknown", f"there is no text {id!r}")
            return self._source_texts[int(number)]
        kind, _, document_id = id.partition("-")
        if kind in ("sass", "asm") and document_id in self.entries:
            return self._listing(kind, document_id)
        record = self.record(id)
        if "text" not in record:
            raise RequestError("unknown", f"{id} is machine code, which has no text")
        language = record["language"]
        if language == "mlir":
            return mlir_text(record)
        return machine_text(id, language, record["text"])

    def _remarks(self, id: str) -> list[str]:
        """The remarks of the assembler on a PTX text."""
        for entry in list(self.entries.values()):
            if any(stage["after"] == id for stage in entry.records.stages):
                return list(entry.records.facts().get("remarks") or ())
        return []

    def _listing(self, kind: str, id: str) -> Text:
        kept = self.artifact(id)
        if kept is None:
            raise RequestError("unknown", failed_artifact(self.document(id)))
        name = f"{kind}-{id}"
        if kind == "asm":
            return machine_text(name, "asm", kept.stages.get("asm", ""))
        try:
            code = instructions_of(kept.stages["cubin"], kept.metadata["name"])
        except (BackendError, TritiumError, KeyError) as error:
            raise RequestError("failed", str(error)) from None
        (kernel, instructions), *_ = code.items()
        return sass_text(name, instructions, kernel)


def _read(path: str) -> str | None:
    """The text of a file; None if it cannot be read. Files of this package have paths that begin with its name."""
    if not os.path.isabs(path) and not os.path.isfile(path):
        path = os.path.join(_ROOT, path)
    try:
        if not os.path.isfile(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
