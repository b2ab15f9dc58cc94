"""What a program says that a kernel has made crash, by a store far outside of its array."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tritium.backends.cpu.crash import MESSAGE

SCRIPT = """
import resource, sys
import numpy as np
import tritium
import tritium.language as tl

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
{before}

@tritium.jit
def kernel(out, step, BLOCK: tl.constexpr):
    tl.store(out + step * tl.program_id(0) + tl.arange(0, BLOCK), 1.0)

out = np.zeros(8192, np.float32)
kernel[(8,)](out, 1024, BLOCK=1024)
assert out.all()
{after}
"""


def ending(tmp_path: Path, before: str = "", after: str = "") -> tuple[int, str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(before=before, after=after))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def test_a_crash_says_what_finds_the_access(tmp_path: Path) -> None:
    """Of many programs some fault in workers, whose signals must not be blocked for that."""
    for programs in (2, 64):
        code, said = ending(tmp_path, after=f"kernel[({programs},)](out, 1 << 45, BLOCK=1024)")
        assert code == -signal.SIGSEGV and said == MESSAGE


def test_memory_found_damaged(tmp_path: Path) -> None:
    code, said = ending(tmp_path, after="import os; os.abort()")
    assert code == -signal.SIGABRT and said == MESSAGE


@pytest.mark.parametrize(
    "handle", ["import faulthandler; faulthandler.enable()", "import signal; signal.signal(11, print)"]
)
def test_who_handles_crashes_keeps_them(tmp_path: Path, handle: str) -> None:
    code, said = ending(tmp_path, handle, "import signal; signal.raise_signal(signal.SIGSEGV)")
    assert "TRITIUM_SANITIZE" not in said
    assert ("Fatal Python error: Segmentation fault" in said) == ("faulthandler" in handle) == (code != 0)


def test_what_it_advises_finds_the_access(tmp_path: Path) -> None:
    launch = "kernel[(8,)](out, 1 << 45, BLOCK=1024)"
    code, said = ending(tmp_path, "import os; os.environ['TRITIUM_SANITIZE'] = '1'", launch)
    assert code == 1 and "out-of-bounds store of 'out'" in said and "script.py:12:" in said
