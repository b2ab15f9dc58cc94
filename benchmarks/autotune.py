"""What tuning a matrix product over 16 configurations takes: compiled one after another, by all cores, and by Triton.

    python benchmarks/autotune.py [--rounds 3] [--size 4096] [--json figures.json]

Every side has processes of its own. A *cold* process has imported the package and made its arrays, and compiles for
the first time: what it takes to start the processes that help is in it. In a *warm* one it has done all of it once;
then its kernels are forgotten and all is compiled again, `--rounds` times, of which the median counts. The cache on
disk is off. Without a GPU only compiling is measured (for an emulated H100); with one also tuning as a whole (compiling
and timing, in a warm process), and who wins.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "matmul.py"

# BLOCK_SIZE_M, _N, _K, num_stages, num_warps: those of Triton's tutorial, with blocks that fit 16-bit floats
CONFIGS = [
    (128, 256, 64, 3, 8), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4),
    (64, 128, 32, 4, 4), (128, 32, 32, 4, 4), (64, 32, 32, 5, 2), (32, 64, 32, 5, 2),
    (128, 256, 32, 3, 8), (256, 128, 64, 3, 8), (256, 64, 64, 4, 4), (64, 256, 64, 4, 4),
    (128, 128, 64, 4, 4), (128, 64, 64, 4, 4), (64, 128, 64, 4, 4), (128, 32, 64, 4, 4),
]  # fmt: skip

SIDES = {"one after another": ("tritium", 1), "all cores": ("tritium", 0), "triton": ("triton", 1)}


def tuned_kernel(package: str) -> Any:
    """The tutorial's kernel with its configurations, for one of the two."""
    text = EXAMPLE.read_text()
    if package == "triton":
        text = text.replace("import tritium as triton", "import triton").replace("tritium", "triton")
    copy = Path(tempfile.mkdtemp()) / "matmul_to_tune.py"
    copy.write_text(text)
    spec = importlib.util.spec_from_file_location("matmul_to_tune", copy)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    triton = importlib.import_module(package)
    names = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
    configs = [
        triton.Config({**dict(zip(names, c[:3])), "GROUP_SIZE_M": 8}, num_stages=c[3], num_warps=c[4]) for c in CONFIGS
    ]
    return triton.autotune(configs, key=["M", "N", "K"])(module.matmul_kernel)


def arrays(size: int, gpu: bool) -> list[Any]:
    """Two matrices and the place of their product, and what the kernel is told of them."""
    if gpu:
        torch = importlib.import_module("torch")
        made = [torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(3)]
        torch.cuda.synchronize()
    else:
        numpy = importlib.import_module("numpy")
        made = [numpy.zeros((size, size), numpy.float16) for _ in range(3)]
    return [*made, size, size, size, size, 1, size, 1, size, 1]


def grid(meta: dict[str, Any]) -> tuple[int, ...]:
    return (-(-meta["M"] // meta["BLOCK_SIZE_M"]) * -(-meta["N"] // meta["BLOCK_SIZE_N"]),)


class Side:
    """One process of the table: compiles or tunes, and says how long it took."""

    def __init__(self, package: str, processes: int, size: int, gpu: bool) -> None:
        self.package = importlib.import_module(package)
        knobs = importlib.import_module(f"{package}.knobs")
        if package == "tritium":
            knobs.cache.disable = True
            knobs.autotuning.processes = processes
            if not gpu:
                knobs.runtime.target = "emulated:90"
        else:
            knobs.compilation.always_compile = True
        self.gpu = gpu
        self.kernel = tuned_kernel(package)
        self.arguments = arrays(size, gpu)

    def forget(self) -> None:
        """Compile anew at the next call."""
        self.kernel.fn.device_caches.clear()
        self.kernel.cache.clear()

    def compile(self) -> float:
        """Seconds for all configurations."""
        self.forget()
        start = time.perf_counter()
        self.kernel.warmup(*self.arguments, ACTIVATION="", grid=grid)
        return time.perf_counter() - start

    def tune(self) -> float:
        """Seconds until the first result is there, all configurations compiled and timed."""
        self.forget()
        torch = importlib.import_module("torch")
        start = time.perf_counter()
        self.kernel[grid](*self.arguments, ACTIVATION="")
        torch.cuda.synchronize()
        return time.perf_counter() - start

    def winner(self) -> list[Any]:
        """The best configuration, as in `CONFIGS`."""
        best = self.kernel.best_config
        return [*list(best.kwargs.values())[:3], best.num_stages, best.num_warps]


def serve(package: str, processes: int, size: int, gpu: bool, rounds: int) -> dict[str, Any]:
    """What one process measures: cold, then warm."""
    side = Side(package, processes, size, gpu)
    found: dict[str, Any] = {"cold": side.compile(), "warm": [side.compile() for _ in range(rounds)]}
    if gpu:
        found["tuning"] = side.tune()
        found["winner"] = side.winner()
        found["timings"] = {str(c): t[0] for c, t in side.kernel.configs_timings.items()}
    return found


def ask(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """`serve` in a process of its own."""
    package, processes = SIDES[name]
    role = [package, str(processes), str(arguments.size), str(int(arguments.gpu)), str(arguments.rounds)]
    env = {**os.environ, "PYTHONPATH": f"{HERE.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--serve", *role], env=env, capture_output=True, text=True
    )
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def table(found: dict[str, dict[str, Any]]) -> str:
    """Seconds of each side, and how many times as fast compiling on all cores is."""
    ours = found["all cores"]
    lines = ["| 16 configurations | cold s | warm s | cold, against all cores | warm | tuning s | winner |"]
    lines.append("|---|---:|---:|---:|---:|---:|---|")
    for name, side in found.items():
        if "error" in side:
            lines.append(f"| {name} | | | | | | {side['error']} |")
            continue
        warm = statistics.median(side["warm"])
        ratios = f"{side['cold'] / ours['cold']:.2f} | {warm / statistics.median(ours['warm']):.2f}"
        tuning = f"{side['tuning']:.2f}" if "tuning" in side else ""
        lines.append(f"| {name} | {side['cold']:.2f} | {warm:.3f} | {ratios} | {tuning} | {side.get('winner', '')} |")
    return "\n".join(lines)


def has_gpu() -> bool:
    """Whether there is a GPU that torch can use."""
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(importlib.import_module("torch").cuda.is_available())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=0, help="of the matrices; 4096 on a GPU, 256 without one")
    parser.add_argument("--only", nargs="*", default=list(SIDES), choices=list(SIDES))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.gpu = has_gpu()
    arguments.size = arguments.size or (4096 if arguments.gpu else 256)
    sides = [name for name in arguments.only if arguments.gpu or SIDES[name][0] == "tritium"]
    found = {name: ask(name, arguments) for name in sides}
    print(f"{len(os.sched_getaffinity(0))} cores, {'a GPU' if arguments.gpu else 'no GPU: compiling only'}\n")
    print(table(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        name, *numbers = sys.argv[2:]
        processes, size, gpu, rounds = map(int, numbers)
        print(json.dumps(serve(name, processes, size, bool(gpu), rounds)))
    else:
        main()
