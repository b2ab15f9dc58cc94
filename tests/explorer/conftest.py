"""Scripts and sessions for the tests of the explorer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tritium.explorer.actions import act
from tritium.explorer.jobs import Job
from tritium.explorer.session import Input, Session

ADD = """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask) * 1.0
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


x = np.arange(1000, dtype=np.float32)
y = np.ones(1000, np.float32)
out = np.zeros_like(x)
add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
print("agree", bool((out == x + y).all()))
"""


def finished(session: Session, job: dict[str, Any], seconds: float = 60) -> Job:
    """The job of an answer, after its end."""
    found = session.jobs.jobs[job["job"]]
    end = time.monotonic() + seconds
    while found.state == "running" and time.monotonic() < end:
        time.sleep(0.005)
    return found


def done(session: Session, name: str, **body: Any) -> Job:
    """The job of an action, after its end."""
    return finished(session, act(session, name, body))


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vector add as a script."""
    path = tmp_path_factory.mktemp("explored") / "add.py"
    path.write_text(ADD)
    return path


@pytest.fixture(scope="session")
def added(script: Path) -> Iterator[Session]:
    """A session of the vector add for the CPU, after its end."""
    session = Session(Input("script", str(script)))
    session.start()
    assert session.wait(120)
    yield session
    session.close()


@pytest.fixture
def opened() -> Iterator[Callable[[Input], Session]]:
    """Start sessions, which are closed at the end of the test."""
    sessions: list[Session] = []

    def start(found: Input) -> Session:
        session = Session(found)
        sessions.append(session)
        session.start()
        return session

    yield start
    for session in sessions:
        session.close()
