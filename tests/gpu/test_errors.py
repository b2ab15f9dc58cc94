"""What goes wrong on a GPU, each in a process of its own: after some of it a process cannot use the GPU any more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

KERNELS = """
import sys
import torch
import tritium
import tritium.language as tl


@tritium.jit
def fill(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0, mask=at < n)


@tritium.jit
def check(x_ptr):
    tl.device_assert(tl.load(x_ptr) > 0, "x must be positive")


@tritium.jit
def shout(x_ptr):
    tl.device_print("x is", tl.load(x_ptr))


def attempt(call):
    try:
        call()
        torch.cuda.synchronize()
    except Exception as error:
        print(type(error).__name__, error)


class Wild:
    dtype, device = torch.float32, "cuda:0"

    def data_ptr(self):
        return 0x10000


x = torch.zeros(1024, device="cuda")
"""


def run(tmp_path: Path, text: str, **environment: str) -> str:
    """What a script prints, errors included."""
    path = tmp_path / "script.py"
    path.write_text(KERNELS + text)
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={
            "PYTHONPATH": str(ROOT),
            "PATH": "/usr/local/cuda/bin:/usr/bin:/bin",
            "HOME": str(tmp_path),
            **environment,
        },
    )
    return done.stdout + done.stderr


@pytest.fixture
def device():
    """The real one only."""
    return "cuda"


pytestmark = pytest.mark.gpu


def test_an_illegal_address_names_the_kernels_launched_last(tmp_path: Path) -> None:
    text = run(tmp_path, "fill[(1,)](Wild(), 1024, BLOCK=1024)\nattempt(lambda: None)\nattempt(lambda: check[(1,)](x))")
    assert "CUDA error: an illegal memory access" in text  # what torch says of it
    assert "CudaLaunchError check: a kernel launched before failed: an access to an address that is not" in text or (
        "CudaError check: a kernel launched before failed; it was one of fill" in text
    )


def test_waiting_names_the_kernel_itself(tmp_path: Path) -> None:
    text = run(tmp_path, "attempt(lambda: fill[(2,)](Wild(), 1024, BLOCK=1024))", TRITIUM_LAUNCH_BLOCKING="1")
    assert "CudaLaunchError fill: the kernel failed: an access to an address that is not the kernel's" in text


def test_refused_launches_leave_the_gpu_usable(tmp_path: Path) -> None:
    text = run(
        tmp_path,
        """
attempt(lambda: fill[(1, 70000)](x, 1024, BLOCK=1024))
attempt(lambda: fill[(1,)](torch.zeros(1024), x, BLOCK=1024))
attempt(lambda: fill[(1 << 30,)](x, 1024, BLOCK=1024, num_ctas=4))
fill[(1,)](x, 1000, BLOCK=1024)
print("sum", x.sum().item())
""",
    )
    assert "CudaLaunchError fill: the grid (1, 70000, 1) is too large" in text
    assert "CudaLaunchError fill: the grid (1073741824, 1, 1) is too large" in text
    assert "sum 1000.0" in text


def test_assertions_stop_a_kernel(tmp_path: Path) -> None:
    text = run(tmp_path, "attempt(lambda: check[(1,)](x, debug=True))", TRITIUM_LAUNCH_BLOCKING="1")
    assert "x must be positive" in text
    assert "CudaLaunchError check: the kernel failed: a device assertion that did not hold" in text
    assert "Error" not in run(tmp_path, "attempt(lambda: check[(1,)](x))")  # without debug there is none


def test_prints(tmp_path: Path) -> None:
    assert "x is" in run(tmp_path, "x[0] = 7\nattempt(lambda: shout[(1,)](x))")
