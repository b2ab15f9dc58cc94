"""Budgets: a trace of 100 kernels (100 MB) and the recompilation of a vector add."""

from __future__ import annotations

import time
from pathlib import Path

from tests.explorer.conftest import ADD, done
from tests.explorer.traces import write_trace
from tritium.explorer.answers import answer
from tritium.explorer.session import Input, Session

KERNELS, PASSES, TEXT = 100, 50, 20_000


def test_trace_of_100_mb_shows_content_within_a_second(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    write_trace(path, KERNELS, PASSES, lambda kernel, number: "x" * TEXT)
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
