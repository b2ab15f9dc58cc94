"""The format of traces: what the page says is what the table says; what a reader refuses; many writers of one file."""

from __future__ import annotations

import json
import multiprocessing
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tritium.support.recording import current, recorded, recording_here
from tritium.support.traces import RECORDS, VERSION, Recording, TraceWarning, TraceWriter, problems, writer_for

PAGE = Path(__file__).parents[2] / "docs" / "compile-traces.md"


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_page_has_every_field() -> None:
    """The tables below the headings of kinds, row by row."""
    text = PAGE.read_text()
    assert f"This is version {VERSION}." in text
    tables = {}
    for kind, table in re.findall(r"^### `(\w+)`\n(.*?)(?=^### |\Z)", text, re.M | re.S):
        tables[kind] = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$", table, re.M)
    wanted = {
        kind: [(name, f.type + ", may be missing" * f.optional, f.meaning) for name, f in fields.items()]
        for kind, fields in RECORDS.items()
    }
    assert tables == wanted


def test_problems_of_records() -> None:
    good = {"kind": "error", "compile": "a-1", "stage": "ttir", "type": "E", "message": "m", "at": 1.5}
    assert problems(good) == [] and problems({**good, "more": 1, "pass": "cse"}) == []
    assert problems({"kind": "of another version"}) == []
    assert problems([]) == problems({}) == ["a record is an object with a 'kind'"]
    assert problems({**good, "at": "1"}) == ["'at' of a record 'error' is no number: '1'"]
    assert problems({**good, "at": True}) and problems({**good, "pass": None})
    del good["stage"]
    assert problems(good) == ["a record 'error' lacks 'stage'"]


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("stage", "after", "0123456789abcde"),
        ("stage", "after", "0123456789ABCDEF"),
        ("pass", "changed", 1),
        ("pass", "index", 1.0),
        ("compile", "place", {"file": "a.py", "line": 1}),
        ("compile", "place", {"file": "a.py", "line": 1, "column": "2"}),
        ("compile", "options", []),
        ("ir", "lines", {}),
    ],
)
def test_types_of_fields(kind: str, name: str, value: object) -> None:
    found = problems({"kind": kind, name: value})
    assert any(f"'{name}' of a record '{kind}' is no" in text for text in found)


def test_texts_are_written_once(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    first = Recording(TraceWriter(str(path)))
    hashes = {first.text("module {}", "mlir"), first.text("module {}", "mlir"), first.text(b"\0ELF", "obj")}
    first.flush()
    first.text("module {}", "mlir")
    first.flush()
    kinds = [r["kind"] for r in records(path)]
    assert kinds == ["trace", "ir", "ir"] and len(hashes) == 2
    assert records(path)[2] == {
        "kind": "ir",
        "hash": sorted(hashes - {records(path)[1]["hash"]})[0],
        "language": "obj",
        "bytes": 4,
    }


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    writer = TraceWriter(str(tmp_path / "t.jsonl"))

    def work() -> None:
        for _ in range(20):
            recording = Recording(writer)
            recording.add("stage", name="x" * 5000)
            recording.flush()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    found = records(tmp_path / "t.jsonl")
    assert len(found) == 161 and len({r["compile"] for r in found[1:]}) == 160
    assert [r["kind"] for r in found].count("trace") == 1


def _child(writer: TraceWriter) -> None:
    recording = Recording(writer)
    recording.text("module {}", "mlir")
    recording.flush()


def test_forked_process_has_its_own_id(tmp_path: Path) -> None:
    writer = TraceWriter(str(tmp_path / "t.jsonl"))
    _child(writer)
    process = multiprocessing.get_context("fork").Process(target=_child, args=(writer,))
    process.start()
    process.join()
    found = records(tmp_path / "t.jsonl")
    assert [r["kind"] for r in found] == ["trace", "ir", "trace", "ir"]
    assert found[0]["process"] != found[2]["process"]


def test_unwritable_file_is_reported_once(tmp_path: Path) -> None:
    recording = Recording(writer_for(str(tmp_path)))
    with pytest.warns(TraceWarning, match="the trace cannot be written to"):
        recording.flush()
    recording.flush()  # warnings are errors in these tests


def test_recording_ends_with_its_block() -> None:
    assert current() is None
    with recording_here(Recording(TraceWriter("nowhere"))) as outer:
        assert current() is outer
        with recording_here(None):
            assert current() is None
        assert current() is outer
    assert current() is None and recorded("step", lambda: 3, str, "llir") == 3


def test_without_a_trace_nothing_of_it_is_imported() -> None:
    code = """if True:
        import sys
        import numpy as np
        from examples import vector_add
        from tritium import knobs
        knobs.compilation.always_compile = True
        x = np.ones(8, np.float32)
        vector_add.add_kernel[(1,)](x, x, x, 8, BLOCK_SIZE=8)
        print(sorted(m for m in sys.modules if "trace" in m and m.startswith("tritium")))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PAGE.parents[1])
    assert done.stdout == "[]\n", done.stderr
