"""The comparison of generated code notices changed, missing and new kernels."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.generated_code import compiled, differences, main, work


def test_work_covers_every_example_and_target() -> None:
    names = [name for _, _, name in work(None, "")]
    assert len(names) == len(set(names)) > 90
    assert {name.rsplit(" ", 1)[1] for name in names} == {"sm_80", "sm_90", "cpu"}


def test_compiled_text_has_no_debug_lines() -> None:
    row = next(row for row in work(None, "vector_add") if row[2].endswith("sm_90"))
    _, text = compiled(row, None)
    assert ".visible .entry add_kernel" in text and ".loc" not in text and ".file" not in text


def test_changed_missing_and_new_kernels_are_named() -> None:
    recorded, found = {"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}
    assert differences(recorded, found) == ["differs: b", "not recorded: c"]
    assert differences(found, recorded) == ["differs: b", "no longer compiled: c"]


def test_check_fails_where_code_differs(tmp_path: Path, capsys) -> None:
    file = tmp_path / "code.json"
    arguments = [str(file), "--only", "vector_add 4 warps sm_80"]
    assert main(["record", *arguments]) == 0
    assert main(["check", *arguments]) == 0
    recorded = json.loads(file.read_text())
    recorded["code"] = dict.fromkeys(recorded["code"], "other")
    file.write_text(json.dumps(recorded))
    assert main(["check", *arguments]) == 1
    assert "differs: example vector_add 4 warps sm_80" in capsys.readouterr().out
