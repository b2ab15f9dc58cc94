"""Budgets: a trace of 100 kernels (100 MB) and the recompilation of a vector add."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tests.explorer.conftest import ADD, done
from tritium.explorer.answers import answer
from tritium.explorer.session import Input, Session

KERNELS, PASSES, TEXT = 100, 50, 20_000


def line(**record: Any) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"


def write_trace(path: Path) -> None:
    """A trace in the writer's form, of 100 MB."""
    body = "x" * TEXT
    with path.open("w") as file:
        header = {"version": 1, "process": "p", "tritium": "0", "python": "3", "platform": "x", "started": "now"}
        file.write(line(kind="trace", **header))
        for k in range(KERNELS):
            id = f"p-{k}"
            file.write(line(kind="compile", id=id, started="now", kernel=f"k{k}", target="cuda:90", first="source"))
            for n in range(PASSES):
                digest, after = (f"{k * PASSES + n + i:016x}" for i in (0, 1))
                file.write(line(kind="ir", hash=digest, language="mlir", text=body))
                common = {"compile": id, "stage": "ttir", "at": 1.0}
                row = {"index": n, "name": "cse", "options": "", "on": "@k", "skipped": False, "us": 1.0}
                row.update(before=digest, after=after, changed=True, operations=3, counts={}, rewrites=0)
                file.write(line(kind="pass", **common, **row))
            file.write(line(kind="end", compile=id, us=9.0, imports=0, store=0, cache="off", fine=True))


def test_trace_of_100_mb_shows_content_within_a_second(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    write_trace(path)
    assert path.stat().st_size > 99_000_000
    begin = time.process_time()
    session = Session(Input("trace", str(path)))
    try:
        session.start()
        assert len(answer(session, "api/session")["documents"]) == KERNELS
        document = answer(session, "api/document/d50")
        answer(session, f"api/text/{document['stages'][0]['passes'][7]['before']}")
        assert time.process_time() - begin < 1.0
    finally:
        session.close()


def test_vector_add_recompiles_within_300_ms(added: Session) -> None:
    times = []
    for n in range(5):
        begin = time.perf_counter()
        job = done(added, "compile", base="d1", text=ADD.replace("x + y", f"x + y * {n}.5"))
        assert job.state == "done", job.message
        answer(added, f"api/document/{job.document}")
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.3, times
