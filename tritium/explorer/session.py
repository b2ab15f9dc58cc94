"""The state of one explorer: what was opened, its documents, the script that runs, and jobs.

A session knows nothing of HTTP: `answers` and `actions` are its interface for a server, an export or an editor.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence

from .. import __version__
from ..support.dataclasses import dataclass, field
from .children import Child, Message
from .errors import RequestError
from .events import EventLog
from .jobs import Job, JobQueue
from .json_types import Json, Record
from .model import VERSION, Cache, Document, Launch, Problem, as_json
from .problems import place_in, script_problem
from .provenance import line_of
from .store import DocumentStore
from .tunings import Tunings

__all__ = ["TARGETS", "Input", "Session"]

TARGETS = ("cpu", "cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100")
MAX_OUTPUT = 20_000
POLL_SECONDS = 0.1


@dataclass
class Input:
    """What was opened: a script, a kernel (a file that is compiled and not run), IR, a trace, or nothing ("empty")."""

    kind: str = "empty"
    path: str = ""
    arguments: Sequence[str] = ()
    target: str = ""
    kernel: str = ""
    signature: str = ""
    constants: str = ""
    options: Record = field(default_factory=dict)


@dataclass
class Run:
    """The run of a script: idle, running, done, failed or stopped."""

    state: str = "idle"
    message: str = ""
    output: str = ""


class Session:
    """One explorer. `start` compiles or reads what was opened; `close` ends all processes and removes its folder."""

    def __init__(self, opened: Input) -> None:
        self.opened = opened
        self.folder = tempfile.mkdtemp(prefix="tritium-explore-")
        self.log = EventLog()
        self.store = DocumentStore(self.folder)
        self.tunings = Tunings()
        self.run = Run()
        self.problems: list[Problem] = []
        self.checks: dict[str, Record] = {}
        self.values: dict[str, Record] = {}
        self.results: dict[tuple[str, str], Record] = {}
        self.jobs = JobQueue(self._start_worker, self.log)
        self._script: Child | None = None
        self._script_job: Job | None = None
        self._stopping = False
        self._printed = ""
        self._closed = threading.Event()
        self._number = 0
        self._lock = threading.RLock()

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Read or compile what was opened; a script runs in a process of its own."""
        kind = self.opened.kind
        threading.Thread(target=self._poll_while_open, daemon=True, name="poll traces").start()
        if kind == "trace":
            self.open_trace(self.opened.path)
        elif kind == "script":
            self.run_script()
        elif kind in ("kernel", "ir"):
            self.compile_opened()
        if kind != "trace":
            self.jobs.warm_up()

    def close(self) -> None:
        """End all processes, and remove the folder."""
        if self._closed.is_set():
            return
        self.log.add("closing")
        self._closed.set()
        script = self._script
        if script is not None:
            script.stop()
        self.jobs.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until neither the script nor a job runs; False if they still do after so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while self.run.state == "running" or self.jobs.busy:
            if end is not None and time.monotonic() > end:
                return False
            time.sleep(0.02)
        self._poll()
        return True

    def as_json(self) -> Record:
        """The answer to `api/session`."""
        opened = self.opened
        live = not self.is_closed
        names = ("compile", "stop", "values", "check", "layouts", "rewrite_steps")
        sequence = self.log.sequence
        return {
            "version": VERSION,
            "title": os.path.basename(opened.path) or "Tritium",
            "tritium": __version__,
            "exported": False,
            "capabilities": dict.fromkeys(names, live),
            "input": {"kind": opened.kind, "path": opened.path, "arguments": list(opened.arguments)},
            "run": as_json(self.run),
            "problems": as_json([*self.store.problems(), *self.problems]),
            "documents": as_json(self.store.summaries()),
            "tunings": list(self.tunings.tables),
            "targets": list(dict.fromkeys([*filter(None, [opened.target]), *TARGETS])),
            "sequence": sequence,
        }

    # -- traces and files ---------------------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        """A new path in the folder of the session, which ends like `name`."""
        with self._lock:
            self._number += 1
            folder = os.path.join(self.folder, str(self._number))
        os.makedirs(folder)
        return os.path.join(folder, os.path.basename(name) or "kernel")

    def _new_trace(self, name: str) -> str:
        path = self.path(name)
        open(path, "w").close()
        return path

    def open_trace(self, path: str) -> list[str]:
        """Read a trace; its documents."""
        index = self.store.add_trace(path)
        index.finish()
        documents = self.store.of_index(index)
        for id in documents:
            self.log.add("document", id=id)
        for problem in index.problems:
            self.log.add("problem", message=problem.message)
        return documents

    def add_problem(self, problem: Problem) -> None:
        """A message to the user."""
        self.problems.append(problem)
        self.log.add("problem", message=problem.message)

    def _poll(self) -> None:
        for id in self.store.update():
            self.log.add("document", id=id)

    def _poll_while_open(self) -> None:
        while not self._closed.wait(POLL_SECONDS):
            self._tell_output()
            if self.run.state == "running" or self.jobs.busy:
                self._poll()
                self._tell_progress()

    def _tell_progress(self) -> None:
        """An event with the stage that a compile has reached."""
        job = self.jobs.running
        if job is None or job.kind != "compile":
            return
        stages = [stage["stage"] for stage in self.store.stages_in(job.request["trace"])]
        if stages:
            self.jobs.tell(job, f"{stages[-1]} is made")

    # -- the script ---------------------------------------------------------------------------------------------------

    def run_script(self) -> Job:
        """Run the script that was opened, in a process of its own. RequestError if it runs, or none was opened."""
        opened = self.opened
        if opened.kind != "script":
            raise RequestError("refused", "no script was opened")
        with self._lock:
            if self.run.state == "running":
                raise RequestError("refused", "the script is running")
            self.run = Run("running")
            self.problems.clear()
            self._stopping = False
            job = self._script_job = self.jobs.new("run", {}, lambda job, state: None)
            trace = self._new_trace("script.jsonl")
            self.store.add_trace(trace)
            arguments = [self.folder, trace, opened.target, opened.path, *opened.arguments]
            self._script = Child("script", arguments, self._on_script_message, self._on_output, self._on_script_end)
        self.log.add("run", state="running", output="")
        return job

    def stop(self, id: str | None) -> bool:
        """Stop a job, the script if it is that, or whatever runs; whether there was anything."""
        job, script = self._script_job, self._script
        is_script = (id is None and not self.jobs.busy) or (job is not None and job.id == id)
        if is_script and script is not None and self.run.state == "running":
            self._stopping = True
            script.stop()
            return True
        return self.jobs.stop(id)

    def _on_output(self, text: str) -> None:
        with self._lock:
            self.run.output = (self.run.output + text)[-MAX_OUTPUT:]
            self._printed = (self._printed + text)[-MAX_OUTPUT:]

    def _tell_output(self) -> None:
        """An event with what was printed since the last one, however much that was."""
        with self._lock:
            printed, self._printed = self._printed, ""
        if printed:
            self.log.add("run", state=self.run.state, output=printed)

    def _on_script_message(self, message: Message) -> None:
        kind = message["type"]
        if kind in ("tuning", "timed"):
            changed = self.tunings.receive(message)
            if changed is not None:
                self.log.add("tuning", id=changed)
            return
        key = message["key"]
        if kind == "compiled":
            self.store.caches[key] = Cache(message["state"], message["reason"])
        elif kind == "launched" and message["count"] == 1:
            self.store.launches[key] = Launch(message["grid"], 1, message["arguments"])
            self.store.requests[key] = message["request"]
        elif key in self.store.launches:
            self.store.launches[key].count = message["count"]
        self._poll()
        for id in self.store.of_key(key):
            self.log.add("document", id=id)

    def _on_script_end(self, status: int) -> None:
        self._poll()
        self._tell_output()
        run, job = self.run, self._script_job
        state = "stopped" if self._stopping else "done" if status == 0 else "failed"
        if state == "failed":
            problem = script_problem(self.opened.path, run.output, status)
            run.message = problem.message
            self.add_problem(problem)
        run.state = state
        if job is not None:
            self.jobs.end(job, state, run.message)
        self.log.add("run", state=state, output="")

    # -- compiles -----------------------------------------------------------------------------------------------------

    def compile_opened(self) -> Job:
        """Compile the kernel or the IR that was opened."""
        opened = self.opened
        request = {
            "file": opened.path,
            "kernel": opened.kernel,
            "signature": opened.signature,
            "constants": opened.constants,
            "options": dict(opened.options),
            "strict": list(opened.options),
        }
        return self.compile(request, opened.target, None)

    def compile(self, request: Record, target: str, parent: str | None) -> Job:
        """Compile in the worker: `request` names the file, kernel, signature, constants and options."""
        trace = self._new_trace("compile.jsonl")
        index = self.store.add_trace(trace, parent, {**request, "target": target})

        def at_end(job: Job, state: str) -> None:
            self._poll()
            documents = self.store.of_index(index)
            job.document = documents[-1] if documents else None
            job.place = place_in(job.message) if state == "failed" else None
            if not documents and state == "failed" and parent is None:
                self.add_problem(Problem("error", job.message.split("\n")[0], job.message, job.place))

        return self.jobs.add("compile", {"trace": trace, "target": target, **request}, at_end)

    def ask(self, kind: str, request: Record, seconds: float = 20.0) -> Json:
        """The answer of the worker to a request, which is awaited. RequestError if it fails, or takes longer."""
        end, states = threading.Event(), list[str]()

        def at_end(job: Job, state: str) -> None:
            states.append(state)
            end.set()

        job = self.jobs.add(kind, request, at_end)
        if not end.wait(seconds):
            self.jobs.stop(job.id)
            raise RequestError("failed", f"no answer within {seconds:g} s")
        if states != ["done"]:
            raise RequestError("failed", job.message or states[0])
        return job.answer

    def compared_results(self, a: Document, b: Document) -> Record:
        """What two documents write for the arguments of the launch of one of them."""
        pair = min(a.id, b.id), max(a.id, b.id)  # the same both ways
        if a.state == "running" or b.state == "running":
            return _no_results("one of them is being compiled")
        if pair not in self.results:
            self.results[pair] = self._results(a, b)
        return self.results[pair]

    def _results(self, a: Document, b: Document) -> Record:
        store = self.store
        texts = [last_tiles(d) for d in (a, b)]
        if None in texts:
            return _no_results("one of them has no IR of tiles to evaluate")
        keys = [key for d in (a, b) if (key := store.launch_key(d.id)) in store.launches]
        types = store.argument_types(a)
        if types != store.argument_types(b):
            return _no_results("they take different arguments")
        grid = store.launches[keys[0]].grid if keys else [4, 1, 1]
        request = {"key": keys[0] if keys else "", "types": types, "grid": grid}
        try:
            request.update(zip(("a", "b"), (store.record(str(t))["text"] for t in texts)))
            found: Record = self.ask("results", request)
        except RequestError as error:
            return _no_results(str(error))
        return found

    def located_finding(self, document: Document, report: Record) -> Record:
        """The report of a check with the texts of the pass, and the lines of the operation in them."""
        finding = report["finding"]
        if finding is None:
            return report
        found = [p for s in document.stages if s.name == finding["stage"] for p in s.passes]
        at = next((p for p in found if p.index == finding["pass"]), None)
        operation = finding["operation"] or {}
        if at is None or at.after is None:  # machine code: the operation is one of the last program of tiles
            self._locate_in_tiles(document, finding, operation.get("after") or "")
            return report
        finding["texts"] = {"before": at.before, "after": at.after}
        for name in ("before", "after"):
            text = self.store.text(finding["texts"][name])
            finding[f"line_{name}"] = line_of(text, operation.get(name) or "")
        rewrite = finding["rewrite"]
        if rewrite is not None and finding["line_before"] is None:
            finding["line_before"] = line_of(self.store.text(at.before), rewrite["operation"])
        return report

    def _locate_in_tiles(self, document: Document, finding: Record, operation: str) -> None:
        tiles = last_tiles(document)
        code = next((s.after for s in document.stages if s.name == finding["stage"] and s.after), None)
        if tiles is None:
            return
        finding["texts"] = {"before": tiles, "after": code or tiles}
        text = self.store.text(tiles)
        finding["line_before"] = line_of(text, operation)
        if finding["line_before"] is None and finding["place"] is not None:
            place = finding["place"]
            lines = [op.line for op in text.ops if op.place and op.place[1:] == [place["line"], place["column"]]]
            finding["line_before"] = lines[-1] if lines else None

    # -- the worker ---------------------------------------------------------------------------------------------------

    def _start_worker(self, on_message: Json, on_end: Json) -> Child:
        return Child("worker", [self.folder], on_message, self._on_worker_output, on_end, takes_requests=True)

    def _on_worker_output(self, text: str) -> None:
        self._on_output(text)


def _no_results(message: str) -> Record:
    return {"available": False, "message": message, "arguments": []}


def last_tiles(document: Document) -> str | None:
    """The text of the last stage of tiles, which can be evaluated."""
    found = [s.after for s in document.stages if s.name in ("source", "ttir", "ttgir") and s.after is not None]
    return found[-1] if found else None
