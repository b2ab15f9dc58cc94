"""One compiler's process for `public_kernels.py`: prepares workloads, measures their kernels, compares their outputs.

Reads one JSON command per line and answers each with one line. Under `python -m tritium run` this compiler is measured,
otherwise the installed Triton. What the repositories print goes to stderr.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import importlib.util
import json
import os
import statistics
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).resolve().parent

#: Relative to the largest element of the other side's output: rounding of results and of sums of some thousand terms.
TOLERANCE = {
    torch.float64: 1e-9, torch.float32: 3e-3, torch.float16: 1e-2, torch.bfloat16: 3e-2,
    torch.float8_e4m3fn: 0.13, torch.float8_e5m2: 0.26,
}  # fmt: skip


def _module(name: str, path: Path) -> Any:
    """A module by path: files beside this one have the names of packages."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quick_bench(call: Any, quantiles: Any = None, **_: Any) -> list[float]:
    """Milliseconds of a launch for the autotuner: the median of 5 timed launches, the least and the greatest.

    The GPU spins while the host issues a launch: on an idle GPU the events would measure the host's time, and the
    choice among configurations of a kernel of a few microseconds would be arbitrary. A spin of 1 ms is longer than the
    first launches of either compiler take. The L2 cache is cleared before each launch, as `triton.testing.do_bench`
    does and as the kernels are measured.
    """
    times = []
    for number in range(6):
        torch.cuda._sleep(2_000_000)  # some 1 ms
        l2_cache().zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        if number:
            times.append(start.elapsed_time(end))
    return [statistics.median(times), min(times), max(times)]


@functools.cache
def l2_cache() -> torch.Tensor:
    """Memory that is larger than the L2 cache: writing it evicts all else."""
    return torch.empty(32 << 20, dtype=torch.int32, device="cuda")


class Tuning:
    """What autotuners try: at most `most` configurations (0: all) and of those each `parts`-th from `part` on."""

    most, part, parts = 0, 0, 1


def limit_tuning(bench: Any) -> None:
    """Let each autotuner try what `Tuning` says, evenly spaced, and time launches by `bench`."""
    tuner = importlib.import_module("triton.runtime.autotuner").Autotuner
    pruned, made = tuner.prune_configs, tuner.__init__

    def prune_configs(self: Any, *args: Any, **keywords: Any) -> list[Any]:
        left = list(pruned(self, *args, **keywords))
        if 0 < Tuning.most < len(left):
            left = left[:: -(-len(left) // Tuning.most)]
        return left[Tuning.part :: Tuning.parts] or left[:1]

    def __init__(self: Any, *args: Any, **keywords: Any) -> None:
        made(self, *args, **keywords)
        self._do_bench = bench
        TUNERS.append(self)

    tuner.prune_configs, tuner.__init__ = prune_configs, __init__


def tensors_in(value: Any) -> list[torch.Tensor]:
    """All tensors of nested results, in order."""
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    return [t for v in value for t in tensors_in(v)] if isinstance(value, (tuple, list)) else []


def difference(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> str:
    """Empty where all outputs agree within their type's tolerance, else the first that does not."""
    if len(ours) != len(theirs):
        return f"{len(ours)} outputs and {len(theirs)}"
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output {number}: {tuple(a.shape)} {a.dtype} and {tuple(b.shape)} {b.dtype}"
        limit = TOLERANCE.get(a.dtype, 0.0)
        wide = torch.float64 if a.dtype in (torch.float64, torch.int64) else torch.float32
        a, b = a.to(wide), b.to(wide)
        most = b[b.isfinite()].abs().max().item() if bool(b.isfinite().any()) else 0.0
        same = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit * max(most, 1e-6))
        if not bool(same.all()):
            off = (a - b).abs()[~same].nan_to_num(float("inf")).max().item()
            return f"output {number}: {int((~same).sum())} of {same.numel()} differ, by up to {off:.3g} of {most:.3g}"
    return ""


class Worker:
    """The workloads of one process."""

    def __init__(self, checkouts: Path) -> None:
        self.checkouts = checkouts
        self.found: dict[str, Any] = {}
        self.drivers = _module("workloads", HERE / "public" / "workloads.py")
        self.ready: dict[str, tuple[Any, Any]] = {}  # name -> the call to measure and its peer in torch
        self.outputs: dict[str, list[torch.Tensor]] = {}
        self._loaded: set[str] = set()

    def load(self, module: str) -> dict[str, Any]:
        """Import a driver and the published kernels."""
        if module not in self._loaded:
            self.found.update(self.drivers.load(module, self.checkouts))
            self._loaded.add(module)
        return {}

    def prepare(self, name: str, keep: bool = True, part: tuple[int, int] = (0, 1)) -> dict[str, Any]:
        """Make the inputs and run once, with memory from `torch.empty` poisoned."""
        began = time.perf_counter()
        Tuning.part, Tuning.parts = part
        self.load(name.partition(".")[0])
        torch.manual_seed(0)
        made = self.found[name]()
        run, peer = made if isinstance(made, tuple) else (made, None)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = True
        try:
            torch.manual_seed(1)
            outputs = tensors_in(run())
            torch.cuda.synchronize()
        finally:
            torch.use_deterministic_algorithms(False)
        if keep:
            self.ready[name], self.outputs[name] = (run, peer), [sampled(t) for t in outputs]
        return {"seconds": round(time.perf_counter() - began, 2)}

    def save(self, file: str) -> dict[str, Any]:
        """Write the outputs of the prepared workloads for the other side."""
        torch.save({name: [t.cpu() for t in outputs] for name, outputs in self.outputs.items()}, file)
        self.outputs = {}
        return {}

    def compare(self, file: str) -> dict[str, Any]:
        """Compare the outputs of the prepared workloads with those in `file`."""
        theirs = torch.load(file)
        found = {}
        for name, outputs in self.outputs.items():
            others = [t.to(o.device) for t, o in zip(theirs[name], outputs)]
            found[name] = difference(outputs, others)
        self.outputs = {}
        return {"differences": found}

    def measure(self, names: list[str], repeats: int, host: bool = False) -> dict[str, Any]:
        """Microseconds per kernel and run of each workload, the L2 cache cleared before each run.

        With `host`, also the host's microseconds of a call with an idle GPU, and the GPU time of the peer in torch.
        """
        began = time.perf_counter()
        if self.drivers.DEVICE == "cpu":  # a rehearsal
            return {"kernels": {name: {"rehearsal": 1.0} for name in names}, "host": dict.fromkeys(names, 1.0)}
        for name in names:
            self.ready[name][0]()
        answer: dict[str, Any] = {"kernels": self._kernel_times(names, repeats), "chosen": _chosen()}
        if host:
            answer |= {"host": {name: _host_time(self.ready[name][0]) for name in names}}
            peers = {name: self.ready[name][1] for name in names}
            answer["peers"] = {name: quick_bench(peer)[0] * 1e3 for name, peer in peers.items() if peer is not None}
        return answer | {"seconds": round(time.perf_counter() - began, 2)}

    def _kernel_times(self, names: list[str], repeats: int) -> dict[str, dict[str, float]]:
        """Microseconds per JIT-compiled kernel and run, per workload, in one session of the profiler.

        A kernel that no workload launches, `lgamma`, precedes each run and separates it from others.
        """
        mark = torch.ones(64, device="cuda")
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for name in names:
                for _ in range(repeats):
                    l2_cache().zero_()
                    torch.lgamma(mark)
                    self.ready[name][0]()
                torch.cuda.synchronize()
        events = [e for e in profile.profiler.kineto_results.events() if e.device_type() == _GPU]
        runs = runs_of([(e.start_ns(), e.name(), e.duration_ns() / 1e3) for e in events])
        assert len(runs) == len(names) * repeats, f"{len(runs)} runs found of {len(names)} x {repeats}"
        return {name: medians_of(runs[i * repeats : (i + 1) * repeats]) for i, name in enumerate(names)}

    def drop(self) -> dict[str, Any]:
        """Free the prepared workloads."""
        self.ready, self.outputs = {}, {}
        gc.collect()
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()
        return {}


_GPU = torch.autograd.DeviceType.CUDA
KERNELS: set[str] = set()
"""The names of all JIT functions of this process."""
TUNERS: list[Any] = []


def note_kernels() -> None:
    """Keep the names of JIT functions from now on."""
    jit = importlib.import_module("triton.runtime.jit").JITFunction
    made = jit.__init__

    def __init__(self: Any, fn: Any, *args: Any, **keywords: Any) -> None:
        made(self, fn, *args, **keywords)
        KERNELS.add(fn.__name__)

    jit.__init__ = __init__


def sampled(tensor: torch.Tensor, most: int = 1 << 22) -> torch.Tensor:
    """A tensor of up to `most` elements as it is, of a greater one evenly spaced elements."""
    if tensor.numel() <= most:
        return tensor
    step = -(-tensor.numel() // most) | 1  # odd: all columns of a matrix of even width come up
    return tensor.reshape(-1)[::step].clone()


def runs_of(events: list[tuple[int, str, float]]) -> list[dict[str, float]]:
    """Microseconds of each JIT-compiled kernel in each run, from (start, name, duration) of what the GPU executed."""
    runs: list[dict[str, float]] = []
    for _, name, duration in sorted(events):
        if "lgamma" in name:
            runs.append(defaultdict(float))
        elif runs and _is_kernel(name):
            runs[-1][name] += duration
    return runs


def medians_of(runs: list[dict[str, float]]) -> dict[str, float]:
    """The median over the runs for each kernel."""
    names = {name: None for run in runs for name in run}
    return {name: statistics.median(run.get(name, 0.0) for run in runs) for name in names}


def _host_time(run: Any) -> float:
    """Microseconds until a call returns, the GPU idle before each: the median of 20."""
    times = []
    for _ in range(20):
        torch.cuda.synchronize()
        began = time.perf_counter()
        run()
        times.append((time.perf_counter() - began) * 1e6)
    return statistics.median(times)


def _chosen() -> str:
    """The best configuration of each autotuner that has one, and the microseconds of all that it timed."""
    found = {}
    for tuner in TUNERS:
        if getattr(tuner, "best_config", None) is not None:
            timed = getattr(tuner, "configs_timings", None) or {}
            times = ", ".join(f"[{config}] {_milliseconds(ms) * 1e3:.1f} us" for config, ms in timed.items())
            found[f"{tuner.base_fn.__name__}: {tuner.best_config}{' of ' if times else ''}{times}"] = None
    return "; ".join(sorted(found))


def _milliseconds(times: Any) -> float:
    """The time by which an autotuner compares configurations."""
    return float(times[0] if isinstance(times, (list, tuple)) else times)


def _is_kernel(name: str) -> bool:
    """True for the compiled code of a JIT function: its name, or with `repr=` a name that begins with it."""
    return name in KERNELS or ("(" not in name and any(name.startswith(f"{n}_") for n in KERNELS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--configurations", type=int, default=4)
    parser.add_argument("--rehearse", type=Path, help="compile for sm_90 without a GPU, and write the code to a folder")
    chosen = parser.parse_args()
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != HERE]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    if chosen.rehearse:
        os.environ["PUBLIC_DEVICE"] = "cpu"
        rehearse = _module("public_rehearsal", HERE / "public_rehearsal.py").rehearse

        limit_tuning(rehearse(chosen.rehearse))
        Tuning.most = int(os.environ.get("PUBLIC_MOST", "1"))
    else:
        limit_tuning(quick_bench)
        Tuning.most = chosen.configurations
    note_kernels()
    worker = Worker(chosen.checkouts)
    if chosen.rehearse:
        worker.drivers.on_cpu()
    print(json.dumps({"ready": True}), file=answers)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {"ok": True, **getattr(worker, command.pop("do"))(**command)}
        except Exception as error:  # whatever a repository or a compiler raises is this workload's result
            text = " | ".join(part.strip() for part in str(error).strip().splitlines()[:6])
            answer = {"ok": False, "error": f"{type(error).__name__}: {text}"[:700]}
            fatal = "CUDA error" in text or "CUDA_ERROR" in text or "illegal" in text
            answer["fatal"] = fatal
            if os.environ.get("PUBLIC_TRACEBACK"):
                import traceback

                traceback.print_exc()
        print(json.dumps(answer), file=answers)
        if answer.get("fatal"):
            return


if __name__ == "__main__":
    main()
