"""Records on disk: what was written whole, by us, comes back; nothing else does."""

import os

import pytest

from tritium.support.folders import read_record, write_record


@pytest.fixture
def records(tmp_path, monkeypatch):
    """The folder of a cache of the test's own."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    return tmp_path / "native"


def test_round_trip(records):
    assert read_record("a") is None
    assert write_record("a", b"body") and read_record("a") == b"body"
    assert write_record("a", b"") and read_record("a") == b""
    assert [p.name for p in records.iterdir()] == ["a"]


@pytest.mark.parametrize("damage", [lambda d: d[:-1], lambda d: d + b"x", lambda d: b"", lambda d: b"\0" * len(d)])
def test_damaged_records_are_ignored(records, damage):
    write_record("a", b"some body")
    path = records / "a"
    path.write_bytes(damage(path.read_bytes()))
    assert read_record("a") is None


def test_a_record_others_may_write_is_refused(records):
    write_record("a", b"body")
    os.chmod(records / "a", 0o666)
    assert read_record("a") is None


def test_unwritable_folder_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "file"))
    assert write_record("a", b"body") is False
    assert read_record("a") is None
