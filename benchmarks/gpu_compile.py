"""How long kernels take to compile to machine code, against Triton 3.9 (no GPU is needed).

    TRITIUM_TEST_TRITON=/path/to/python-with-triton python benchmarks/gpu_compile.py [--cold | --large] [--only TEXT]
    … benchmarks/gpu_compile.py --target hip:gfx942

Warm: one process each, which compile every kernel by turns, from its source, without a cache; the least of the rounds.
Cold: a process a compile (`gpu_compile_worker.py`), from the start of the interpreter to the code, with no kernel in
the cache. Kernels are those of `examples/`, as both compile them; what one of the two cannot compile is listed, and in
no mean. Large: products and attention of `examples/` with the tiles that are fast on such a GPU, warm. What each stage
took, as both tell their compilation listener, stands behind it: ours / Triton's, and the sums over all kernels below.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
ROOT = HERE.parent.parent
PORTABLE = 80  # of examples that ask for no later GPU, those for AMD GPUs
BOUNDS = {"warm": 0.6, "cold": 0.3, "large": 0.5}  # what our time may be at most, as a part of Triton's

_MATMUL = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
_TILES = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
_ATTENTION = ("BLOCK_M", "BLOCK_N", "HEAD_DIM")
LARGE = [  # case of examples/, names of its tile's sizes, the sizes, warps, stages
    ("matmul-fp16-leaky_relu", _MATMUL, (128, 128, 64), 4, 4),
    ("matmul-fp16-leaky_relu", _MATMUL, (128, 256, 64), 8, 3),
    ("matmul-fp8e5", _MATMUL, (128, 256, 128), 8, 3),
    ("persistent_matmul-pointers", _TILES, (128, 128, 64), 8, 4),
    ("persistent_matmul-descriptors", _TILES, (128, 128, 64), 4, 4),
    ("persistent_matmul-descriptors", _TILES, (128, 256, 64), 8, 3),
    ("attention-forward", _ATTENTION, (128, 64, 64), 4, 3),
    ("attention-forward", _ATTENTION, (128, 128, 128), 8, 3),
    ("attention-forward-causal", _ATTENTION, (128, 64, 128), 8, 3),
    ("attention-backward_keys", _ATTENTION, (64, 128, 64), 4, 3),
    ("attention-backward_queries", _ATTENTION, (128, 64, 64), 4, 3),
]


class Compiler:
    """One of the two in a process of its own."""

    def __init__(self, package: str, python: str, folder: str, target: str) -> None:
        self.package, self.python = package, python
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TRITON", "TRITIUM", "MLIR", "PYTHON"))}
        cache = f"{folder}/{package}"
        variables = {"TRITON_CACHE_DIR": cache, "TRITIUM_CACHE_DIR": cache, "TRITON_ALWAYS_COMPILE": "1"}
        self.environment = {**clean, **variables, "TRITON_HOME": folder, "PYTHONWARNINGS": "ignore"}
        self.command = [
            python,
            "-P" if sys.version_info >= (3, 11) else "-s",
            str(HERE.with_name("gpu_compile_worker.py")),
            package,
            target,
        ]
        if package == "tritium":
            self.environment["PYTHONPATH"] = str(ROOT)
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self.environment,
        )

    def warm(self, case: dict[str, Any]) -> dict[str, Any]:
        """One compile in the process that stays."""
        return self._ask(self.process, case)

    def cold(self, case: dict[str, Any]) -> dict[str, Any]:
        """One compile in a process of its own: from its start until it says that it has the code."""
        start = time.perf_counter()
        process = self._start()
        reply = self._ask(process, case)
        seconds = time.perf_counter() - start
        process.communicate()
        return {**reply, "seconds": seconds}

    @staticmethod
    def _ask(process: subprocess.Popen[str], case: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(case) + "\n")
        process.stdin.flush()
        reply: dict[str, Any] = json.loads(process.stdout.readline() or '{"error": "the process ended"}')
        return reply


def cases_in(folder: Path, only: str, target: str) -> list[dict[str, Any]]:
    """The examples' kernels for this target; `path` has a file for each package."""
    sys.path.insert(0, str(ROOT))
    from tests.example_kernels import EXAMPLES, cases, triton_text

    out = []
    for case in cases():
        backend, _, arch = target.partition(":")
        most = int(arch) if backend == "cuda" else PORTABLE
        if case.capability > most or only not in case.name:
            continue
        theirs = folder / f"{case.example}.py"
        theirs.write_text(triton_text(case.example))
        fields = {k: getattr(case, k) for k in ("name", "kernel", "signature", "constants", "divisible", "options")}
        out.append({**fields, "paths": {"tritium": str(EXAMPLES / theirs.name), "triton": str(theirs)}})
    return out


def large_cases(folder: Path, only: str, target: str) -> list[dict[str, Any]]:
    """The rows of LARGE as cases."""
    named = {case["name"]: case for case in cases_in(folder, "", target)}
    out = []
    for name, sizes, values, warps, stages in LARGE:
        if name not in named:
            continue
        tile = "x".join(map(str, values))
        case = {**named[name], "name": f"{name} {tile} w{warps} s{stages}"}
        case["constants"] = {**case["constants"], **dict(zip(sizes, values))}
        case["options"] = {**case["options"], "num_warps": warps, "num_stages": stages}
        if only in case["name"]:
            out.append(case)
    return out


def measure(compilers: list[Compiler], case: dict[str, Any], how: str, rounds: int) -> dict[str, dict[str, Any]]:
    """The quickest of the rounds of each compiler, by turns; an error ends it."""
    best: dict[str, dict[str, Any]] = {}
    warm = how != "cold"
    for i in range(rounds + warm):
        for compiler in compilers:
            found = (compiler.warm if warm else compiler.cold)({**case, "path": case["paths"][compiler.package]})
            if "error" in found:
                return {compiler.package: found}
            first = warm and i == 0  # imports, and files that are read once
            if not first and found["seconds"] < best.get(compiler.package, {"seconds": math.inf})["seconds"]:
                best[compiler.package] = found
    return best


def table(compilers: list[Compiler], cases: list[dict[str, Any]], how: str, rounds: int, target: str) -> float:
    """Measure and print a line a kernel; the geometric mean of the ratios."""
    print(f"\n{how}: compile to machine code for {target}, ms (the least of {rounds})\n")
    print(f"| {'kernel':<48} | {'ours':>7} | {'Triton':>7} | {'ratio':>5} | stages |")
    print(f"|{'-' * 50}|{'-' * 8}:|{'-' * 8}:|{'-' * 6}:|---|")
    ratios = []
    sums: dict[str, list[float]] = {}
    for case in cases:
        found = measure(compilers, case, how, rounds)
        failed = [f"{package}: {reply['error']}" for package, reply in found.items() if "error" in reply]
        if failed:
            print(f"| {case['name']:<48} | | | | {failed[0][:90]} |", flush=True)
            continue
        ours, theirs = (found[package]["seconds"] for package in ("tritium", "triton"))
        ratios.append(ours / theirs)
        stages = ", ".join(f"{name} {a:.1f} / {b:.1f}" for name, (a, b) in _pairs(found, sums).items())
        numbers = f"{ours * 1e3:7.1f} | {theirs * 1e3:7.1f} | {ours / theirs:5.2f}"
        print(f"| {case['name']:<48} | {numbers} | {stages} |", flush=True)
    _print_sums(sums)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def _pairs(found: dict[str, dict[str, Any]], sums: dict[str, list[float]]) -> dict[str, tuple[float, float]]:
    """Milliseconds of each stage, ours and Triton's, which are added to the sums."""
    ours, theirs = (found[package]["stages"] for package in ("tritium", "triton"))
    pairs = {name: (ours[name], theirs.get(name, math.nan)) for name in ours}
    for name, pair in pairs.items():
        sums[name] = [a + b for a, b in zip(sums.get(name, (0.0, 0.0)), pair)]
    return pairs


def _print_sums(sums: dict[str, list[float]]) -> None:
    """A line a stage: milliseconds of all kernels."""
    print(f"\n| {'stage':<8} | {'ours':>8} | {'Triton':>8} | {'ratio':>5} |")
    print(f"|{'-' * 10}|{'-' * 9}:|{'-' * 9}:|{'-' * 6}:|")
    for name, (ours, theirs) in sums.items():
        print(f"| {name:<8} | {ours:8.1f} | {theirs:8.1f} | {ours / theirs if theirs else math.nan:5.2f} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--cold", dest="how", action="store_const", const="cold", default="warm", help="a process a compile"
    )
    how.add_argument("--large", dest="how", action="store_const", const="large", help="products and attention")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    python = os.environ.get("TRITIUM_TEST_TRITON")
    if python is None:
        print("TRITIUM_TEST_TRITON must name a Python interpreter that has Triton 3.9")
        return 2
    cases, bound = large_cases if arguments.how == "large" else cases_in, BOUNDS[arguments.how]
    with tempfile.TemporaryDirectory() as folder:
        pythons, target = {"tritium": sys.executable, "triton": python}, arguments.target
        compilers = [Compiler(package, which, folder, target) for package, which in pythons.items()]
        chosen = cases(Path(folder), arguments.only, target)
        mean = table(compilers, chosen, arguments.how, arguments.rounds, target)
        for compiler in compilers:
            compiler.process.kill()
            compiler.process.wait()
    print(f"\ngeometric mean {mean:.3f} of Triton's time (to be at most {bound})")
    return 0 if mean <= bound else 1


if __name__ == "__main__":
    sys.exit(main())
