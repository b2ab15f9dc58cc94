"""Code of texts that the compiler writes for itself, kept between processes."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys

import pytest

from tritium.support import generated
from tritium.support.folders import read_record, record_folder, write_record

TEXT = "def f():\n    return 7\n"
COUNT = """
import builtins, sys
from tritium.support import generated
texts = []
standard = builtins.compile
builtins.compile = lambda *a: texts.append(a) or standard(*a)
scope = {}
exec(generated.code_of(sys.argv[1]), scope)
generated.keep_generated()
print(scope["f"](), len(texts), scope["f"].__code__.co_filename)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("TRITIUM_CACHE_DISABLE", raising=False)
    return tmp_path


def process(text=TEXT, *flags):
    """What a new process computes, how many texts it compiles, and the file that its code names."""
    command = [sys.executable, *flags, "-c", COUNT, text]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout.strip()


def test_a_text_is_compiled_once_a_machine(folder):
    assert process() == "7 1 <generated>"
    assert process() == "7 0 <generated>"
    other = TEXT.replace("7", "8")
    assert process(other) == "8 1 <generated>" and process(other) == "8 0 <generated>"
    assert process() == "7 0 <generated>"  # which the other one has left there
    assert process(TEXT, "-O") == "7 1 <generated>"  # other bytecode


@pytest.mark.parametrize("body", [b"", b"\xff", marshal.dumps(3), marshal.dumps({1: 2})])
def test_a_record_that_is_none(folder, body):
    process()
    write_record(generated._NAME, body)
    assert process() == "7 1 <generated>" and process() == "7 0 <generated>"


def test_code_that_is_none(folder):
    process()
    (digest,) = marshal.loads(read_record(generated._NAME))
    for harm in (b"", b"\xff", marshal.dumps("text"), 4):
        write_record(generated._NAME, marshal.dumps({digest: harm}))
        assert process() == "7 1 <generated>"


def test_a_damaged_file(folder):
    process()
    path = record_folder() / generated._NAME
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert process() == "7 1 <generated>"


def test_no_cache(folder, monkeypatch):
    process()
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    assert process() == "7 1 <generated>"


def test_a_record_does_not_grow_without_end(folder, monkeypatch):
    write_record(generated._NAME, marshal.dumps({bytes([i]): b"" for i in range(5)}))
    monkeypatch.setattr(generated, "MOST", 5)
    monkeypatch.setattr(generated, "_fresh", {b"new": b"code"})
    generated.keep_generated()
    assert marshal.loads(read_record(generated._NAME)) == {b"new": b"code"} and not generated._fresh
