"""The exported file: complete, self-contained, and made without the server's libraries."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tritium.explorer.export import answers, export
from tritium.explorer.session import Session

STATIC = Path(__file__).parents[2] / "tritium" / "explorer" / "static"


def content_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="tritium-export"[^>]*>([^<]*)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))["answers"]


def test_export_is_one_file_with_every_answer(added: Session) -> None:
    page = export(added)
    assert not re.findall(r"<(?:script|link)[^>]*\s(?:src|href)=\"(?!data:)", page)
    found = content_of(page)
    session = found["api/session"]
    assert session["exported"] is True and not any(session["capabilities"].values())
    for row in session["documents"]:
        document = found[f"api/document/{row['id']}"]
        for stage in document["stages"]:
            ids = [p[name] for p in stage["passes"] for name in ("before", "after")] + [stage["after"]]
            texts = [id for id in ids if id is not None and stage["bytes"] is None]
            assert all(f"api/text/{id}" in found for id in texts)
        assert {f"api/{kind}/{row['id']}" for kind in ("provenance", "layouts", "performance")} <= set(found)


def test_export_has_no_path_of_the_session(added: Session) -> None:
    told = {k: v for k, v in answers(added).items() if k == "api/session"}
    assert added.folder not in json.dumps(told)


def test_command_exports_a_script_that_fails(tmp_path: Path, script: Path) -> None:
    path, out = tmp_path / "wrong.py", tmp_path / "out.html"
    path.write_text(script.read_text().replace("x + y, mask", "x + nothing, mask"))
    command = [sys.executable, "-m", "tritium", "explore", str(path), "--export", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "nothing" in done.stderr
    found = content_of(out.read_text())
    assert found["api/session"]["documents"][0]["state"] == "failed"
    assert found["api/session"]["problems"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.py"], "there is no file 'missing.py'"),
        (["{script}", "--target", "vax:11"], "vax"),
        (["{script}::add_kernel"], "needs --signature"),
        (["{script}", "--option", "num_warps=8"], "do not apply to a script"),
    ],
)
def test_wrong_command_line_is_one_message(script: Path, arguments: list[str], message: str) -> None:
    given = [a.format(script=script) for a in arguments]
    command = [sys.executable, "-m", "tritium", "explore", *given, "--export", str(script.with_name("out.html"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("tritium explore: error: ") and message in done.stderr
    assert done.stderr.count("\n") <= 2


def test_missing_extra_is_named(tmp_path: Path, script: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError('no uvicorn', name='uvicorn')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from tritium.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "explore", str(script)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'tritium[explorer]'" in done.stderr
