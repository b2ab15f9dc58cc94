"""How long kernels take to be interpreted, against Triton's interpreter in the same run (on the CPU; torch is needed).

    TRITIUM_TEST_TRITON=/path/to/python-with-triton python benchmarks/interpreter.py

Triton is used by this very Python where it has it, else from the folder that TRITIUM_TEST_TRITON's Python finds it in.
A process a side runs the launches by turns; a figure is the least processor time of the rounds, in milliseconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
ROUNDS = 5


def launches(torch: Any, cdiv: Any, kernels: Any) -> dict[str, Any]:
    """Name -> (launch, check): kernels of `benchmarks/interpreter_kernels.py` on random data."""
    torch.manual_seed(0)
    x, y, out = torch.rand(98432), torch.rand(98432), torch.empty(98432)
    rows = torch.randn(128, 781)
    soft = torch.empty_like(rows)
    a, b, c = torch.randn(256, 256), torch.randn(256, 256), torch.empty(256, 256)
    half = a.half(), b.half()
    q, k, v, o = (torch.randn(256, 64) for _ in range(4))

    def product(a: Any, b: Any) -> None:
        kernels.matmul[(4, 4)](a, b, c, 256, 256, 256, BM=64, BN=64, BK=32)

    return {
        "vector add": (
            lambda: kernels.add[(cdiv(98432, 1024),)](x, y, out, 98432, BLOCK=1024),
            lambda: (out - (x + y)).abs().max(),
        ),
        "softmax": (
            lambda: kernels.softmax[(128,)](soft, rows, 781, 781, BLOCK=1024),
            lambda: (soft - rows.softmax(1)).abs().max(),
        ),
        "matmul fp32": (lambda: product(a, b), lambda: (c - a @ b).abs().max() / 100),
        "matmul fp16": (lambda: product(*half), lambda: (c - half[0].float() @ half[1].float()).abs().max() / 100),
        "attention": (
            lambda: kernels.attention[(4,)](q, k, v, o, 256, D=64, BM=64, BN=64),
            lambda: (o - torch.softmax(q @ k.T / 8, 1) @ v).abs().max(),
        ),
    }


def child(side: str) -> None:
    """Answer each line of stdin, the name of a launch, with its processor time in milliseconds."""
    os.environ["TRITON_INTERPRET"] = "1"
    if side == "ours":
        sys.path.insert(0, str(HERE.parent.parent))
        import tritium

        tritium.install()
    sys.path.insert(0, str(HERE.parent))
    import interpreter_kernels
    import torch
    import triton

    torch.set_num_threads(1)
    table = launches(torch, triton.cdiv, interpreter_kernels)
    print(json.dumps(list(table)), flush=True)
    for line in sys.stdin:
        run, check = table[line.strip()]
        start = time.process_time()
        run()
        taken = (time.process_time() - start) * 1e3
        error = float(check())
        assert error < 1e-3, f"{side}, {line.strip()}: error {error}"
        print(json.dumps(taken), flush=True)


def start(side: str) -> Any:
    """A process of one side."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    other = os.environ.get("TRITIUM_TEST_TRITON")
    if side == "triton" and other:
        where = "import triton, pathlib; print(pathlib.Path(triton.__file__).parent.parent)"
        environment["PYTHONPATH"] = subprocess.check_output([other, "-c", where], text=True).strip()
    command = [sys.executable, str(HERE), side]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def main() -> None:
    """Print the table."""
    sides = {side: start(side) for side in ("ours", "triton")}
    _, names = (json.loads(p.stdout.readline()) for p in sides.values())
    print("| kernel | ours, ms | Triton, ms | Triton / ours |\n|---|---:|---:|---:|")
    for name in names:
        least = dict.fromkeys(sides, float("inf"))
        for _ in range(ROUNDS):
            for side, process in sides.items():
                process.stdin.write(name + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
                if not answer:
                    sys.exit(f"{side} failed at {name}")
                least[side] = min(least[side], json.loads(answer))
        print(f"| {name} | {least['ours']:.1f} | {least['triton']:.1f} | {least['triton'] / least['ours']:.2f}x |")
    for process in sides.values():
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    child(sys.argv[1]) if len(sys.argv) > 1 else main()
