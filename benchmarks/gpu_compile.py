"""How long kernels take to compile to a CUBIN for `cuda:90`, against Triton 3.9 (no GPU is needed).

    TRITIUM_TEST_TRITON=/path/to/python-with-triton python benchmarks/gpu_compile.py [--cold] [--only TEXT] [--rounds N]

Warm: one process each, which compile every kernel by turns, from its source, without a cache; the least of the rounds.
Cold: a process a compile, from the start of the interpreter to the CUBIN, with an empty cache folder. Kernels are those
of `examples/`, as both compile them; what one of the two cannot compile is listed, and in no mean.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
ROOT = HERE.parent.parent
TARGET = ("cuda", 90, 32)
WARM, COLD = 0.6, 0.3  # what our time may be at most, as a part of Triton's


def kernel_of(path: str, name: str) -> Any:
    """The kernel of a Python file, which is imported now."""
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", Path(path).stem), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def compile_case(package: str, case: dict[str, Any]) -> dict[str, Any]:
    """Compile a case once with `tritium` or `triton`: seconds, those of each stage, registers where they are known."""
    compiler = importlib.import_module(f"{package}.compiler")
    target = importlib.import_module(f"{package}.backends.compiler").GPUTarget(*TARGET)
    fn = kernel_of(case["path"], case["kernel"])
    names = fn.arg_names
    types = {n: "constexpr" if n in case["constants"] else case["signature"][n] for n in names}
    attrs = {(names.index(n),): [["tt.divisibility", d]] for n, d in case["divisible"].items()}
    source = compiler.ASTSource(fn, types, constexprs=case["constants"], attrs=attrs)
    start = time.perf_counter()
    kernel = compiler.compile(source, target=target, options=case["options"])
    seconds = time.perf_counter() - start
    if not kernel.asm["cubin"][:4] == b"\x7fELF":
        raise RuntimeError("no CUBIN came out")
    stages = dict(getattr(kernel, "times", None) or {})
    return {"seconds": seconds, "stages": stages, "registers": getattr(kernel.metadata, "n_regs", None)}


def worker(package: str) -> None:
    """Answer requests, a JSON text a line, until there are no more."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compilers print must not come between the replies
    for line in sys.stdin:
        try:
            reply = compile_case(package, json.loads(line))
        except Exception as error:  # a kernel that one of the two cannot compile is a line of the table
            reply = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


class Compiler:
    """One of the two in a process of its own."""

    def __init__(self, package: str, python: str, folder: str) -> None:
        self.package, self.python = package, python
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TRITON", "TRITIUM", "MLIR", "PYTHON"))}
        cache = f"{folder}/{package}"
        variables = {"TRITON_CACHE_DIR": cache, "TRITIUM_CACHE_DIR": cache, "TRITON_ALWAYS_COMPILE": "1"}
        self.environment = {**clean, **variables, "TRITON_HOME": folder, "PYTHONWARNINGS": "ignore"}
        self.command = [python, "-P" if sys.version_info >= (3, 11) else "-s", str(HERE), "--worker", package]
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
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        reply: dict[str, Any] = json.loads(self.process.stdout.readline() or '{"error": "the process ended"}')
        return reply

    def cold(self, case: dict[str, Any]) -> dict[str, Any]:
        """One compile in a process of its own: all of the process's time."""
        start = time.perf_counter()
        done = subprocess.run(
            self.command,
            input=json.dumps(case) + "\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self.environment,
        )
        reply: dict[str, Any] = json.loads(done.stdout or '{"error": "the process ended"}')
        return {**reply, "seconds": time.perf_counter() - start}


def cases_in(folder: Path, only: str) -> list[dict[str, Any]]:
    """The examples' kernels for this target; `path` has a file for each package."""
    sys.path.insert(0, str(ROOT))
    from tests.example_kernels import EXAMPLES, cases, triton_text

    out = []
    for case in cases():
        if case.capability > TARGET[1] or only not in case.name:
            continue
        theirs = folder / f"{case.example}.py"
        theirs.write_text(triton_text(case.example))
        fields = {k: getattr(case, k) for k in ("name", "kernel", "signature", "constants", "divisible", "options")}
        out.append({**fields, "paths": {"tritium": str(EXAMPLES / theirs.name), "triton": str(theirs)}})
    return out


def measure(compilers: list[Compiler], case: dict[str, Any], how: str, rounds: int) -> dict[str, dict[str, Any]]:
    """The quickest of the rounds of each compiler, by turns; an error ends it."""
    best: dict[str, dict[str, Any]] = {}
    for i in range(rounds + (how == "warm")):
        for compiler in compilers:
            found = getattr(compiler, how)({**case, "path": case["paths"][compiler.package]})
            if "error" in found:
                return {compiler.package: found}
            first = how == "warm" and i == 0  # imports, and files that are read once
            if not first and found["seconds"] < best.get(compiler.package, {"seconds": math.inf})["seconds"]:
                best[compiler.package] = found
    return best


def table(compilers: list[Compiler], cases: list[dict[str, Any]], how: str, rounds: int) -> float:
    """Measure and print a line a kernel; the geometric mean of the ratios."""
    print(f"\n{how}: compile to CUBIN for {TARGET[0]}:{TARGET[1]}, ms (the least of {rounds})\n")
    print(f"| {'kernel':<38} | {'ours':>7} | {'Triton':>7} | {'ratio':>5} | stages of ours |")
    print(f"|{'-' * 40}|{'-' * 8}:|{'-' * 8}:|{'-' * 6}:|---|")
    ratios = []
    for case in cases:
        found = measure(compilers, case, how, rounds)
        failed = [f"{package}: {reply['error']}" for package, reply in found.items() if "error" in reply]
        if failed:
            print(f"| {case['name']:<38} | | | | {failed[0][:90]} |", flush=True)
            continue
        ours, theirs = (found[package]["seconds"] for package in ("tritium", "triton"))
        ratios.append(ours / theirs)
        stages = ", ".join(f"{name} {ms:.1f}" for name, ms in found["tritium"]["stages"].items())
        numbers = f"{ours * 1e3:7.1f} | {theirs * 1e3:7.1f} | {ours / theirs:5.2f}"
        print(f"| {case['name']:<38} | {numbers} | {stages} |", flush=True)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--cold", action="store_true", help="a process a compile")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(arguments.worker)
        return 0
    python = os.environ.get("TRITIUM_TEST_TRITON")
    if python is None:
        print("TRITIUM_TEST_TRITON must name a Python interpreter that has Triton 3.9")
        return 2
    how, bound = ("cold", COLD) if arguments.cold else ("warm", WARM)
    with tempfile.TemporaryDirectory() as folder:
        compilers = [Compiler("tritium", sys.executable, folder), Compiler("triton", python, folder)]
        mean = table(compilers, cases_in(Path(folder), arguments.only), how, arguments.rounds)
        for compiler in compilers:
            compiler.process.kill()
            compiler.process.wait()
    print(f"\ngeometric mean {mean:.3f} of Triton's time (to be at most {bound})")
    return 0 if mean <= bound else 1


if __name__ == "__main__":
    sys.exit(main())
