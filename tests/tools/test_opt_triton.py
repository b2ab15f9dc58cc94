"""Reproducers go both ways between Triton and us: what it writes runs here, what we write it reads."""

from __future__ import annotations

import os
import subprocess

from tests.tools.opt_programs import PROGRAM
from tritium.ir.passes.reproducer import read_reproducer

SCRIPT = """\
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def double(x):
    return x * 2


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(o + i, double(tl.load(x + i, mask=m)) + tl.load(y + i, mask=m), mask=m)


types = {"x": "*fp32", "y": "*fp32", "o": "*fp32", "n": "i32", "BLOCK": "constexpr"}
kernel = triton.compile(ASTSource(add, signature=types, constexprs={(4,): 128}), target=GPUTarget("cuda", 90, 32))
print(kernel.asm["ttir"])
"""


def test_tritons_reproducers_run_here(triton_oracle, tmp_path, opt):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TRITON", "MLIR", "TRITIUM"))}
    environment |= {
        "TRITON_REPRODUCER_PATH": str(tmp_path / "r"),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    command = [triton_oracle.interpreter, str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
    path = tmp_path / "r.make_ttir.repro.mlir"
    assert read_reproducer(path.read_text()).pipeline.startswith("any(inline{")
    status, out, err = opt(str(path), "--run-reproducer")
    assert (status, err) == (0, "")
    assert triton_oracle.read(out) == triton_oracle.read(done.stdout)


def test_triton_reads_our_reproducers(triton_oracle, tmp_path, opt, own):
    program, crash = tmp_path / "program.mlir", tmp_path / "crash.mlir"
    program.write_text(PROGRAM)
    assert opt(str(program), "--load", own, "-cse", "-crash", f"--reproducer={crash}")[0] == 1
    assert triton_oracle.read(crash.read_text()) == triton_oracle.read(opt(str(program), "-cse")[1])
