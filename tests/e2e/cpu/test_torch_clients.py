"""PyTorch as a client: operators made of kernels, and torch.compile with its kernels compiled by this package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.torch

OPERATOR = """
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

@triton_op("tritium_tests::add", mutates_args={})
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(add_kernel)[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), 128)
    return out

x = torch.randn(300)
assert torch.equal(torch.ops.tritium_tests.add(x, x), x + x)
print("ok")
"""

COMPILE = """
import torch
import torch._inductor.config as config

if not hasattr(config, "cpu_backend"):
    print("too old")
    raise SystemExit
config.cpu_backend, config.compile_threads = "triton", 1
launched = []
import triton
triton.knobs.compilation.listener = lambda src, **info: launched.append(src.name)
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 10))
x, target = torch.randn(48, 64), torch.arange(48) % 10

def gradients(model):
    net.zero_grad()
    torch.nn.functional.cross_entropy(torch.softmax(model(x), -1), target).backward()
    return [p.grad.clone() for p in net.parameters()]

for got, expected in zip(gradients(torch.compile(net)), gradients(net)):
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6)
assert launched
print("ok")
"""


def run(folder: Path, text: str) -> str:
    """What the script prints, run by `tritium run` with caches of its own."""
    script = folder / "script.py"
    script.write_text(text)
    env = {**os.environ, "TRITIUM_CACHE_DIR": str(folder / "cache"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "torch")}
    done = subprocess.run(
        [sys.executable, "-m", "tritium", "run", str(script)], capture_output=True, text=True, cwd=ROOT, env=env
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip().splitlines()[-1]


def test_an_operator_made_of_a_kernel(tmp_path: Path) -> None:
    assert run(tmp_path, OPERATOR) == "ok"


@pytest.mark.slow
def test_torch_compile(tmp_path: Path) -> None:
    found = run(tmp_path, COMPILE)
    if found == "too old":
        pytest.skip("this torch has no Triton backend for CPUs")
    assert found == "ok"
