"""The server: who is answered, and what robs nobody of the page: malformed input, endless scripts, killed workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tritium.explorer.session import Input, Session

pytest.importorskip("starlette", reason="the extra 'explorer' is not installed")
pytest.importorskip("httpx", reason="Starlette's test client needs httpx")

from starlette.testclient import TestClient

from tritium.explorer.server import application

TOKEN = "token-of-a-test"
ORIGIN = {"origin": "http://127.0.0.1:8000"}
Start = Callable[[Input], Session]


def client_of(session: Session) -> TestClient:
    return TestClient(application(session, TOKEN), base_url=f"http://127.0.0.1:8000/{TOKEN}/")


@pytest.fixture(scope="module")
def client(added: Session) -> TestClient:
    return client_of(added)


def test_session_is_served_below_the_token(client: TestClient) -> None:
    answer = client.get("api/session")
    assert answer.status_code == 200
    assert answer.json()["documents"][0]["kernel"] == "add_kernel"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/wrong/api/session", "/api/session", f"/{TOKEN}x/", "/../etc/passwd"])
def test_request_without_the_token_is_refused(client: TestClient, path: str) -> None:
    answer = client.get(f"http://127.0.0.1:8000{path}")
    assert answer.status_code in (403, 404)
    assert "add_kernel" not in answer.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8000"])
def test_request_of_a_foreign_page_is_refused(client: TestClient, origin: str) -> None:
    for answer in (
        client.get("api/session", headers={"origin": origin}),
        client.post("api/stop", json={}, headers={"origin": origin}),
    ):
        assert answer.status_code == 403
        assert answer.json()["kind"] == "refused"


def test_action_needs_an_origin(client: TestClient) -> None:
    assert client.post("api/stop", json={}).status_code == 403
    assert client.post("api/stop", json={}, headers=ORIGIN).json() == {"stopped": False}


def test_request_for_another_host_is_refused(client: TestClient) -> None:
    assert client.get("api/session", headers={"host": "rebound.example:8000"}).status_code == 403


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("api/nothing", 404),
        ("api/document/d99", 404),
        ("api/document", 400),
        ("api/text/0123456789abcdef", 404),
        ("api/layout", 400),
        ("api/layout?layout=nonsense&shape=4x4", 403),
        ("api/layout?layout=%23ttg.shared_memory&shape=4x4x4x4x", 403),
        ("api/rewrites/d1/ttir/x", 404),
        ("api/values/v9", 404),
        ("api/check/c9", 404),
        ("api/events?since=now", 400),
        ("..%2fmodel.py", 404),
    ],
)
def test_malformed_request_is_one_message(client: TestClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]


def test_malformed_body_is_one_message(client: TestClient) -> None:
    for content in (
        b"{",
        b"[]",
        b'{"base": 3}',
        b'{"base": "d1", "target": "vax"}',
        b'{"base": "d1", "from": "cubin"}',
    ):
        answer = client.post("api/compile", content=content, headers=ORIGIN)
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.json()["error"]


def test_events_resume_after_a_sequence_number(added: Session) -> None:
    found = added.log.since(0)
    assert [number for number, _ in found] == list(range(1, added.log.sequence + 1))
    assert added.log.since(found[-2][0]) == found[-1:]
    assert {event["type"] for _, event in found} >= {"job", "run", "document"}


def test_malformed_trace_is_a_problem_with_its_line(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "broken.jsonl"
    header = {"kind": "trace", "version": 1, "process": "p", "tritium": "0", "python": "3", "platform": "x"}
    path.write_text(json.dumps({**header, "started": "now"}) + '\n{"kind":"compile"}\nno json\n')
    session = opened(Input("trace", str(path)))
    found = client_of(session).get("api/session").json()
    assert [p["place"]["line"] for p in found["problems"]] == [2, 3]
    assert "lacks 'id'" in found["problems"][0]["message"]


def test_empty_trace_is_a_problem(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    assert "it is empty" in opened(Input("trace", str(path))).as_json()["problems"][0]["message"]


def test_script_that_raises_is_a_problem_at_its_line(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "raises.py"
    path.write_text("import triton\nraise ValueError('no such luck')\n")
    session = opened(Input("script", str(path)))
    assert session.wait(60)
    found = session.as_json()
    assert found["run"]["state"] == "failed"
    (problem,) = found["problems"]
    assert problem["message"] == "ValueError: no such luck"
    assert problem["place"] == {"file": str(path), "line": 2, "column": 1}


def test_kernel_that_does_not_compile_is_a_failed_document(tmp_path: Path, opened: Start, script: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(script.read_text().replace("x + y", "x + nothing"))
    session = opened(Input("script", str(path)))
    assert session.wait(60)
    found = session.as_json()
    assert found["run"]["state"] == "failed"
    assert [row["state"] for row in found["documents"]] == ["failed"]
    (problem,) = found["problems"]
    assert problem["message"].endswith("nothing is not defined") and problem["place"]["file"] == str(path)
    (error,) = client_of(session).get("api/document/d1").json()["errors"]
    assert "nothing" in error["message"]


def test_endless_script_is_stopped(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "endless.py"
    path.write_text("import os\nprint(os.getpid(), flush=True)\nwhile True:\n    pass\n")
    session = opened(Input("script", str(path)))
    end = time.monotonic() + 60
    while not session.run.output and time.monotonic() < end:
        time.sleep(0.02)
    answer = client_of(session).post("api/stop", json={"job": None}, headers=ORIGIN)
    assert answer.json() == {"stopped": True}
    assert session.wait(10)
    assert session.run.state == "stopped"
    with pytest.raises(ProcessLookupError):
        os.kill(int(session.run.output), 0)


def test_killed_worker_fails_its_job_and_is_started_again(added: Session, client: TestClient) -> None:
    added.jobs.warm_up()
    worker = added.jobs.worker
    assert worker is not None
    os.kill(worker, signal.SIGSTOP)
    job = client.post("api/compile", json={"base": "d1"}, headers=ORIGIN).json()["job"]
    os.kill(worker, signal.SIGKILL)
    assert added.wait(60)
    assert added.jobs.jobs[job].state == "failed"
    assert "SIGKILL" in added.jobs.jobs[job].message
    again = client.post("api/compile", json={"base": "d1"}, headers=ORIGIN).json()["job"]
    assert added.wait(60)
    assert added.jobs.jobs[again].state == "done", added.jobs.jobs[again].message


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_server_ends_quietly_with_its_children(script: Path, number: int) -> None:
    command = [sys.executable, "-m", "tritium", "explore", str(script), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        where = process.stdout.readline().split()[-1]
        assert where.startswith("http://127.0.0.1:")
        stream = urllib.request.urlopen(where + "api/events?since=0", timeout=20)
        line = stream.readline()
        while b'"document"' not in line:
            line = stream.readline()
        tasks = Path(f"/proc/{process.pid}/task").iterdir()
        children = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
        assert children
        process.send_signal(number)
        assert process.wait(20) == 0
        assert process.stdout.read() == ""
        assert b'"closing"' in stream.read()
    for pid in children:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_two_clients_see_the_same_documents(added: Session, client: TestClient) -> None:
    other = client_of(added)
    job: Any = client.post("api/compile", json={"base": "d1", "options": {"num_warps": 2}}, headers=ORIGIN).json()
    assert added.wait(60)
    assert added.jobs.jobs[job["job"]].state == "done", added.jobs.jobs[job["job"]].message
    first, second = (c.get("api/session").json()["documents"] for c in (client, other))
    assert first == second
    assert first[-1]["parent"] == "d1"


def test_output_of_a_script_is_bounded(tmp_path: Path, opened: Start) -> None:
    path = tmp_path / "prints.py"
    path.write_text("for i in range(200_000):\n    print('line', i)\nprint('last')\n")
    session = opened(Input("script", str(path)))
    assert session.wait(60)
    assert session.run.output.endswith("last\n") and len(session.run.output) <= 20_000
    told = [event for _, event in session.log.since(0) if event["type"] == "run"]
    assert told[-2]["output"].endswith("last\n")
    assert sum(len(event["output"]) for event in told) < 2_000_000
