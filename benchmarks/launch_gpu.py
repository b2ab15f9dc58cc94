"""What a launch on a GPU costs the CPU: ours beside a bare call of the driver from C, ctypes and Triton, in one run.

    python benchmarks/launch_gpu.py [--rounds 60] [--json figures.json]

Every peer launches an empty kernel with the same parameters on one program, in bursts of 200 that fit into the
driver's queue; peers take turns at every round, and the figure of each is the median over rounds of a burst's mean.
`bare` is a loop in C around `cuLaunchKernel` with prepared arguments, the least that a launch can cost; `bare_ex` is
the same around `cuLaunchKernelEx`, `bare_block` with all parameters as one block. A C compiler (`cc`) is needed.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.util
import json
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import tritium

BURST = 200

#: arguments by kind: tensors, integers, compile-time values; what a launch may cost as a multiple of `bare`
CASES: dict[str, tuple[tuple[int, int, int], float | None]] = {
    "1 argument (tensor)": ((1, 0, 0), None),
    "6 arguments (5 tensors, 1 int)": ((5, 1, 0), 1.3),
    "19 arguments (5 tensors, 9 ints, 5 constants)": ((5, 9, 5), 1.5),
    "58 arguments (20 tensors, 33 ints, 5 constants)": ((20, 33, 5), 1.5),
    "58 arguments (tensors)": ((58, 0, 0), None),
}

#: a kernel that makes a descriptor needs memory for it at every launch, which `set_allocator`'s function gives
SCRATCH = """@tritium.jit
def nothing(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [BLOCK, 64])
    x.store([0, 0], tl.zeros((BLOCK, 64), tl.float32))
"""

BARE = r"""
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef unsigned u;
typedef int (*plain)(void *, u, u, u, u, u, u, u, void *, void **, void **);
typedef int (*extended)(const void *, void *, void **, void **);

typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned count;
} config;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

double bare(plain launch, void *function, unsigned threads, void *stream, void **arguments, int count) {
  double start = now();
  for (int i = 0; i < count; i++)
    if (launch(function, 1, 1, 1, threads, 1, 1, 0, stream, arguments, NULL)) return -1;
  return (now() - start) / count;
}

// the parameters as one block, which is how ours pass them
double bare_block(extended launch, void *function, unsigned threads, void *stream, void **block, int count) {
  double start = now();
  for (int i = 0; i < count; i++) {
    config c = {{1, 1, 1}, {threads, 1, 1}, 0, stream, NULL, 0};
    size_t size = (size_t)block[1];
    void *extra[] = {(void *)1, block[0], (void *)2, &size, 0};
    if (launch(&c, function, NULL, extra)) return -1;
  }
  return (now() - start) / count;
}

double bare_ex(extended launch, void *function, unsigned threads, void *stream, void **arguments, int count) {
  double start = now();
  for (int i = 0; i < count; i++) {
    config c = {{1, 1, 1}, {threads, 1, 1}, 0, stream, NULL, 0};
    if (launch(&c, function, arguments, NULL)) return -1;
  }
  return (now() - start) / count;
}
"""


def source(kinds: tuple[int, int, int]) -> str:
    """A kernel that does nothing, with so many parameters of each kind."""
    names = [f"t{i}" for i in range(kinds[0])] + [f"n{i}" for i in range(kinds[1])]
    names += [f"c{i}: tl.constexpr" for i in range(kinds[2])]
    return f"@tritium.jit\ndef nothing({', '.join(names)}):\n    pass\n"


def kernel_of(definition: str, package: str) -> Any:
    """A kernel of ours or of Triton's."""
    text = f"import {package} as tritium\nimport {package}.language as tl\n\n\n{definition}"
    path = Path(tempfile.mkdtemp()) / "nothing.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"nothing_{package}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.nothing


def arguments_of(kinds: tuple[int, int, int]) -> list[Any]:
    """Values for its parameters: integers alternate between those divisible by 16 and others."""
    tensors = [torch.zeros(64, device="cuda") for _ in range(kinds[0])]
    return [*tensors, *(i + 17 if i % 2 else 32 * i + 16 for i in range(kinds[1])), *[32] * kinds[2]]


def burst(call: str, kernel: Any, arguments: list[Any]) -> Callable[[], float]:
    """A function that times a loop around the text `call`, in nanoseconds a launch; `given` has all arguments."""
    names = ", ".join(f"a{i}" for i in range(len(arguments)))
    lines = [f"def run(kernel, clock, grid, given, {names}):", "    start = clock()", f"    for _ in range({BURST}):"]
    lines += [f"        {call.format(names=names)}", f"    return (clock() - start) / {BURST}"]
    scope: dict[str, Any] = {}
    exec("\n".join(lines), scope)
    return lambda: scope["run"](kernel, time.perf_counter_ns, lambda meta: (1,), tuple(arguments), *arguments)


class Bare:
    """The driver called from C and through ctypes, with the function and arguments of a kernel of ours."""

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp())
        (folder / "bare.c").write_text(BARE)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", folder / "bare.so", folder / "bare.c"], check=True)
        self.code = ctypes.CDLL(str(folder / "bare.so"))
        self.driver = ctypes.CDLL("libcuda.so.1")

    def peers(self, kernel: Any, arguments: list[Any]) -> dict[str, Callable[[], float]]:
        """The ways to launch it by name."""
        values = [ctypes.c_uint64(a.data_ptr()) for a in arguments if isinstance(a, torch.Tensor)]
        values += [ctypes.c_int32(a) for a in arguments if isinstance(a, int)]
        values += [ctypes.c_uint64(0), ctypes.c_uint64(0)]  # scratch memory
        table = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        function, threads = ctypes.c_void_p(kernel.function), 32 * kernel.metadata.num_warps
        found: dict[str, Callable[[], float]] = {}
        codes = "".join("Q" if isinstance(v, ctypes.c_uint64) else "i" for v in values)
        data = struct.pack(f"@{codes}", *(v.value for v in values))  # as C lays them out
        block = (ctypes.c_void_p * 2)(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, len(data))
        rows = (("bare", "", table), ("bare_ex", "Ex", table), ("bare_block", "Ex", block))
        for name, suffix, given in rows:
            run = getattr(self.code, name)
            run.restype = ctypes.c_double
            call = ctypes.cast(getattr(self.driver, f"cuLaunchKernel{suffix}"), ctypes.c_void_p)
            keep = (values, table, data)
            found[name] = lambda run=run, call=call, given=given, keep=keep: run(
                call, function, threads, None, given, BURST
            )
        launch = self.driver.cuLaunchKernel
        launch.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3]
        stream = torch.cuda.current_stream
        call_text = f"kernel(f, 1, 1, 1, {threads}, 1, 1, 0, 0, table, None)"
        scope: dict[str, Any] = {"f": function, "table": table, "keep": values, "clock": time.perf_counter_ns}
        exec(
            f"def run(kernel):\n    start = clock()\n    for _ in range({BURST}):\n        {call_text}\n"
            f"    return (clock() - start) / {BURST}",
            scope,
        )
        assert stream().cuda_stream == 0
        found["ctypes"] = lambda: scope["run"](launch)
        return found


def measure(kinds: tuple[int, int, int], bare: Bare, rounds: int) -> dict[str, float]:
    """Nanoseconds a launch, by peer."""
    arguments = arguments_of(kinds)
    ours = kernel_of(source(kinds), "tritium")
    compiled = ours[(1,)](*arguments)
    peers = bare.peers(compiled, arguments[: sum(kinds[:2])])
    peers["ours"] = burst("kernel[(1,)]({names})", ours, arguments)
    peers["ours, grid a function"] = burst("kernel[grid]({names})", ours, arguments)
    peers["ours, called with *args"] = burst("kernel[(1,)](*given)", ours, arguments)
    peers["ours, compiled[grid]"] = burst("kernel[(1,)]({names})", compiled, arguments)
    if importlib.util.find_spec("triton"):
        peers["Triton"] = burst("kernel[(1,)]({names})", kernel_of(source(kinds), "triton"), arguments)
    peers["Python's call of max()"] = burst("kernel(0, {names})", max, [i + 1 for i in range(len(arguments))])
    return by_turns(peers, rounds)


def measure_scratch(rounds: int) -> dict[str, float]:
    """Nanoseconds a launch of a kernel that needs scratch memory."""
    arguments = [torch.zeros(1 << 12, device="cuda"), 64, 64]
    peers: dict[str, Callable[[], float]] = {}
    for package in ("tritium", "triton"):
        if importlib.util.find_spec(package):
            allocate = lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda")  # noqa: E731
            importlib.import_module(package).set_allocator(allocate)
            peers[package] = burst("kernel[(1,)]({names})", kernel_of(SCRATCH, package), arguments)
    return by_turns(peers, rounds)


def by_turns(peers: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each peer's figures."""
    times: dict[str, list[float]] = {name: [] for name in peers}
    for turn in range(rounds + 3):
        for name, run in peers.items():
            torch.cuda.synchronize()
            found = run()
            if turn >= 3:  # the first are for compiling and warming up
                times[name].append(found)
    torch.cuda.synchronize()
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    bare = Bare()
    figures: dict[str, dict[str, float]] = {}
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, tritium {tritium.__version__}; ns a launch")
    for name, (kinds, least) in CASES.items():
        found = figures[name] = measure(kinds, bare, options.rounds)
        ratio = found["ours"] / found["bare"]
        verdict = "" if least is None else f" (at most {least}{'' if ratio <= least else ', MISSED'})"
        print(f"\n{name}: {ratio:.2f} x bare{verdict}")
        for peer, time_ns in found.items():
            print(f"  {peer:<24} {time_ns:8.0f} ns   {time_ns / found['bare']:5.2f} x bare")
    figures["scratch"] = measure_scratch(options.rounds)
    print("\na kernel that needs scratch memory (with torch.empty as its allocator)")
    for peer, time_ns in figures["scratch"].items():
        print(f"  {peer:<24} {time_ns:8.0f} ns")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    sys.exit(main())
