"""Kernels on a GPU beside the same kernels compiled by Triton, and beside torch: a table of ratios.

    python benchmarks/gpu.py [--only softmax] [--rounds 50] [--json figures.json]

One process; peers take turns at every round, each behind a clearing of the level-2 cache; times are those of events on
the GPU, and medians over the rounds. Inputs are random, outputs poisoned, and every result is compared with torch's
before anything is timed. The floor is the bytes a kernel has to move over what a copy of torch moves in this run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

NAMES = {
    "import tritium as triton\n": "import triton\n",
    "import tritium.language as tl": "import triton.language as tl",
    "from tritium.tools.": "from triton.tools.",
}


def module_of(path: Path, name: str, theirs: bool) -> ModuleType:
    """The kernels of a file, for us or for Triton."""
    text = path.read_text()
    if theirs:
        for ours, other in NAMES.items():
            text = text.replace(ours, other)
    copy = Path(tempfile.mkdtemp()) / f"{name}.py"
    copy.write_text(text)
    spec = importlib.util.spec_from_file_location(name, copy)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Case:
    """One workload: `run(kernels)` launches one side's kernels, `check()` compares what they left with torch."""

    name: str
    bytes: float
    run: Callable[[Any], Any]
    check: Callable[[], None]
    torch: Callable[[], Any] | None = None
    least: float = 1.0


@dataclass
class Figure:
    """Times in ms, and what they are compared with."""

    name: str
    ours: float
    triton: float
    torch: float | None
    floor: float
    least: float
    registers: str = ""

    @property
    def ratio(self) -> float:
        """Triton's time over ours."""
        return self.triton / self.ours


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def rand(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)


def poisoned(like: torch.Tensor) -> torch.Tensor:
    return torch.full_like(like, float("nan") if like.dtype.is_floating_point else 77)


def close(out: torch.Tensor, expected: torch.Tensor, rtol: float = 1e-5, atol: float = 1e-5) -> None:
    torch.testing.assert_close(out, expected.to(out.dtype), rtol=rtol, atol=atol)


# ---- the workloads ---------------------------------------------------------------------------------------------------


def elementwise() -> Iterator[Case]:
    n = 1 << 26
    for kernel, dtype, theirs in (
        ("add", torch.float32, lambda x, y: x + y),
        ("add", torch.bfloat16, lambda x, y: x + y),
        ("gelu_chain", torch.float32, lambda x, y: torch.nn.functional.gelu(x * y + x, approximate="tanh") * y),
        ("silu_chain", torch.bfloat16, lambda x, y: (torch.nn.functional.silu(x.float()) * y.float()).to(x.dtype)),
    ):
        x, y = rand(n, dtype=dtype), rand(n, dtype=dtype)
        out = poisoned(x)
        name = f"{kernel} 2^26 {str(dtype)[6:]}"
        tight = 1e-5 if dtype == torch.float32 else 1e-2

        def run(k: Any, kernel=kernel, x=x, y=y, out=out) -> Any:
            return getattr(k, kernel)[(cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)

        def check(x=x, y=y, out=out, theirs=theirs, tight=tight) -> None:
            close(out, theirs(x, y), tight, tight)

        peer = (
            (lambda x=x, y=y, out=out: torch.add(x, y, out=out))
            if kernel == "add"
            else lambda x=x, y=y, f=theirs: f(x, y)
        )
        yield Case(name, 3 * n * x.element_size(), run, check, peer)


def softmax() -> Iterator[Case]:
    for columns in (4096, 8192, 16384, 32768, 65536):
        rows = (1 << 27) // columns
        x = rand(rows, columns)
        out = poisoned(x)
        warps = min(32, max(4, columns // 1024))

        def run(k: Any, x=x, out=out, columns=columns, rows=rows, warps=warps) -> Any:
            return k.softmax[(rows,)](out, x, columns, columns, columns, BLOCK=columns, num_warps=warps)

        def check(x=x, out=out) -> None:
            close(out, torch.softmax(x, 1), 1e-5, 1e-7)

        yield Case(
            f"softmax {rows}x{columns}", 8 * x.numel(), run, check, lambda x=x, out=out: torch.softmax(x, 1, out=out)
        )


def layer_norm() -> Iterator[Case]:
    rows = 8192
    for columns in (4096, 8192):
        x, dy = rand(rows, columns, dtype=torch.float16), rand(rows, columns, dtype=torch.float16) * 0.1
        w, b = torch.rand(columns, device="cuda").half(), torch.rand(columns, device="cuda").half()
        y, dx = poisoned(x), poisoned(x)
        mean = x.float().mean(1)
        rstd = (x.float().var(1, correction=0) + 1e-5).rsqrt()
        groups = 96 if columns <= 4096 else 64
        locks = torch.zeros(2 * groups, dtype=torch.int32, device="cuda")
        sums = torch.zeros((2, groups, columns), dtype=torch.float16, device="cuda")
        dw, db = poisoned(w), poisoned(b)

        def forward(k: Any, x=x, y=y, w=w, b=b, mean=mean, rstd=rstd, columns=columns) -> Any:
            return k._layer_norm_fwd_fused[(rows,)](
                x, y, w, b, mean, rstd, columns, columns, 1e-5, BLOCK_SIZE=columns, num_warps=8, num_ctas=1
            )

        def backward(k: Any, x=x, dx=dx, dy=dy, w=w, mean=mean, rstd=rstd, columns=columns, groups=groups, locks=locks,
                     sums=sums, dw=dw, db=db) -> Any:  # fmt: skip
            locks.zero_()
            kernel = k._layer_norm_bwd_dx_fused[(rows,)](
                dx, dy, sums[0], sums[1], x, w, mean, rstd, locks, columns, columns,
                BLOCK_SIZE_N=columns, GROUP_SIZE_M=groups, num_warps=8,
            )  # fmt: skip
            k._layer_norm_bwd_dwdb[(cdiv(columns, 128),)](
                sums[0], sums[1], dw, db, min(groups, rows), columns, BLOCK_SIZE_M=32, BLOCK_SIZE_N=128, num_ctas=1
            )
            return kernel

        def check_forward(x=x, y=y, w=w, b=b, columns=columns) -> None:
            close(y, torch.nn.functional.layer_norm(x.float(), (columns,), w.float(), b.float(), 1e-5), 1e-2, 1e-2)

        def check_backward(x=x, dx=dx, dy=dy, w=w, b=b, dw=dw, db=db, columns=columns) -> None:
            leaves = [t.double().requires_grad_() for t in (x, w, b)]
            torch.nn.functional.layer_norm(leaves[0], (columns,), *leaves[1:], 1e-5).backward(dy.double())
            close(dx, leaves[0].grad, 1e-2, 2e-2)
            close(dw, leaves[1].grad, 5e-2, 1.0)  # sums of 8192 products in 16 bits
            close(db, leaves[2].grad, 5e-2, 1.0)

        size = x.numel() * 2
        yield Case(
            f"layer norm forward {rows}x{columns} f16", 2 * size, forward, check_forward,
            lambda x=x, w=w, b=b, c=columns: torch.nn.functional.layer_norm(x, (c,), w, b, 1e-5),
        )  # fmt: skip
        yield Case(f"layer norm backward {rows}x{columns} f16", 3 * size, backward, check_backward)


def dropout() -> Iterator[Case]:
    n = 1 << 26
    x = rand(n)
    out = poisoned(x)
    reference = poisoned(x)

    def run(k: Any) -> Any:
        return k._seeded_dropout[(cdiv(n, 1024),)](x, out, n, 0.25, 12345, BLOCK_SIZE=1024)

    def check() -> None:
        kept = out != 0
        assert 0.74 < kept.float().mean().item() < 0.76
        close(out[kept], x[kept] / 0.75)
        if torch.isnan(reference).any():
            reference.copy_(out)
        assert torch.equal(out, reference), "the two sides keep different elements"

    yield Case("seeded dropout 2^26", 8 * n, run, check, lambda: torch.nn.functional.dropout(x, 0.25))


def reductions() -> Iterator[Case]:
    rows, columns = 16384, 8192
    x = rand(rows, columns)
    sums, columns_sums = (torch.zeros(n, device="cuda") for n in (rows, columns))
    places = torch.zeros(rows, dtype=torch.int32, device="cuda")
    yield Case(
        f"sum of rows {rows}x{columns}", 4 * x.numel(),
        lambda k: k.row_sum[(rows,)](x, sums, columns, BLOCK=2048),
        lambda: close(sums, x.sum(1), 1e-3, 1e-2), lambda: torch.sum(x, 1, out=sums),
    )  # fmt: skip

    def run(k: Any) -> Any:
        columns_sums.zero_()
        return k.column_sum[(cdiv(columns, 128), cdiv(rows, 256))](x, columns_sums, rows, columns, M=32, N=128)

    yield Case(
        f"sum of columns {rows}x{columns}", 4 * x.numel(), run, lambda: close(columns_sums, x.sum(0), 1e-3, 1e-1),
        lambda: torch.sum(x, 0, out=columns_sums),
    )  # fmt: skip
    yield Case(
        f"argmax of rows {rows}x{columns}", 4 * x.numel(),
        lambda k: k.row_argmax[(rows,)](x, places, columns, BLOCK=columns, num_warps=8),
        lambda: close(places, x.argmax(1)), lambda: torch.argmax(x, 1),
    )  # fmt: skip


def moves() -> Iterator[Case]:
    side = 8192
    for dtype in (torch.float32, torch.float16):
        x = rand(side, side, dtype=dtype)
        out = poisoned(x)
        for m, n in ((64, 64), (32, 128)):
            yield Case(
                f"transpose {side}x{side} {str(dtype)[6:]} in {m}x{n}", 2 * x.numel() * x.element_size(),
                lambda k, x=x, out=out, m=m, n=n: k.transpose[(side // m, side // n)](x, out, side, side, M=m, N=n),
                lambda x=x, out=out: close(out, x.T), lambda x=x, out=out: out.copy_(x.T),
            )  # fmt: skip


def irregular() -> Iterator[Case]:
    n, bins = 1 << 26, 256
    values = torch.randint(0, bins, (n,), device="cuda", dtype=torch.int32)
    counts = torch.zeros(bins, dtype=torch.int32, device="cuda")

    def count(k: Any) -> Any:
        counts.zero_()
        return k.histogram[(cdiv(n, 8192),)](values, counts, n, BLOCK=1024, BINS=bins)

    yield Case(
        "histogram 2^26 of 256", 4 * n, count, lambda: close(counts, torch.bincount(values, minlength=bins)),
        lambda: torch.bincount(values, minlength=bins),
    )  # fmt: skip
    m, places = 1 << 24, 1 << 20
    index = torch.randint(0, places, (m,), device="cuda", dtype=torch.int32)
    x, out = rand(m), torch.zeros(places, device="cuda")

    def add(k: Any) -> Any:
        out.zero_()
        return k.scatter_add[(cdiv(m, 1024),)](index, x, out, m, BLOCK=1024)

    expected = torch.zeros(places, device="cuda", dtype=torch.float64).index_add_(0, index, x.double())
    yield Case(
        "atomic add 2^24 to 2^20 places", 12 * m, add, lambda: close(out, expected, 1e-3, 1e-3),
        lambda: out.index_add_(0, index, x),
    )  # fmt: skip
    rows, columns = 16384, 4096
    block = rand(rows, columns)
    result = poisoned(block)
    yield Case(
        f"cumsum of rows {rows}x{columns}", 8 * block.numel(),
        lambda k: k.row_cumsum[(rows,)](block, result, columns, BLOCK=columns),
        lambda: close(result, torch.cumsum(block, 1), 1e-3, 1e-2), lambda: torch.cumsum(block, 1, out=result),
    )  # fmt: skip
    wide = rand(1 << 17, 128)
    order = torch.randint(0, 128, wide.shape, device="cuda", dtype=torch.int32)
    taken = poisoned(wide)
    yield Case(
        "gather 2^17x128", 12 * wide.numel(),
        lambda k: k.row_gather[(wide.shape[0] // 32,)](wide, order, taken, M=32, N=128),
        lambda: close(taken, torch.gather(wide, 1, order.long())), lambda: torch.gather(wide, 1, order.long()), 0.95,
    )  # fmt: skip


def sorting() -> Iterator[Case]:
    for rows, columns, dtype in ((1 << 15, 1024, torch.float32), (1 << 17, 128, torch.int32)):
        x = (rand(rows, columns) * 1e6).to(dtype)
        out, best = poisoned(x), poisoned(x[:, :8].contiguous())
        m = 8192 // columns
        yield Case(
            f"sort rows {rows}x{columns} {str(dtype)[6:]}", 2 * x.numel() * x.element_size(),
            lambda k, x=x, out=out, m=m: k.row_sort[(x.shape[0] // m,)](x, out, M=m, N=x.shape[1]),
            lambda x=x, out=out: close(out, x.sort(1).values), lambda x=x: torch.sort(x, 1),
        )  # fmt: skip
        yield Case(
            f"topk 8 of rows {rows}x{columns} {str(dtype)[6:]}", x.numel() * x.element_size(),
            lambda k, x=x, best=best, m=m: k.row_topk[(x.shape[0] // m,)](x, best, M=m, N=x.shape[1], K=8),
            lambda x=x, best=best: close(best, x.topk(8, 1).values), lambda x=x: torch.topk(x, 8, 1),
        )  # fmt: skip


GROUPS = (elementwise, softmax, layer_norm, dropout, reductions, moves, irregular, sorting)


# ---- measuring -------------------------------------------------------------------------------------------------------


class Kernels:
    """One side's kernels, of all files."""

    def __init__(self, theirs: bool) -> None:
        prefix = "theirs" if theirs else "ours"
        files = [
            HERE / "gpu_kernels.py",
            *(HERE.parent / "examples" / f"{n}.py" for n in ("layer_norm", "low_memory_dropout")),
        ]
        for path in files:
            self.__dict__.update(vars(module_of(path, f"{prefix}_{path.stem}", theirs)))


def medians(runs: dict[str, Callable[[], Any]], cache: torch.Tensor, rounds: int) -> dict[str, float]:
    """Milliseconds of each, by turns, each behind a clearing of the cache; all orders come up."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 3):
        events = {}
        first = number // 2 % len(runs)
        names = [*list(runs)[first:], *list(runs)[:first]]
        for name in names[:: 1 if number % 2 else -1]:
            cache.zero_()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            runs[name]()
            end.record()
            events[name] = start, end
        torch.cuda.synchronize()
        if number >= 3:
            for name, (start, end) in events.items():
                times[name].append(start.elapsed_time(end))
    return {name: statistics.median(found) for name, found in times.items()}


def measure(case: Case, sides: dict[str, Kernels], cache: torch.Tensor, rounds: int, speed: float) -> Figure:
    kernels = {}
    for name, side in sides.items():
        kernels[name] = case.run(side)
        torch.cuda.synchronize()
        case.check()
    runs: dict[str, Callable[[], Any]] = {name: (lambda side=side: case.run(side)) for name, side in sides.items()}
    if case.torch is not None:
        runs["torch"] = case.torch
    times = medians(runs, cache, rounds)
    registers = "/".join(str(k.n_regs) + (f"+{k.n_spills}" if k.n_spills else "") for k in kernels.values())
    floor = case.bytes / speed * 1e3
    return Figure(case.name, times["ours"], times["triton"], times.get("torch"), floor, case.least, registers)


def launch_times(sides: dict[str, Kernels], count: int = 400, rounds: int = 9) -> str:
    """Microseconds of the host for a launch of a small kernel with three tensors and a number, medians by turns."""
    x = rand(64)
    calls = {name: (lambda side=side: side.add[(1,)](x, x, x, 64, BLOCK=1024)) for name, side in sides.items()}
    calls["torch"] = lambda: torch.add(x, x, out=x)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                call()
            times[name].append((time.perf_counter() - start) / count * 1e6)
    return ", ".join(f"{name} {statistics.median(found[1:]):.2f}" for name, found in times.items())


def copy_speed(cache: torch.Tensor, rounds: int) -> float:
    """Bytes a second of a copy of torch, counting those read and those written."""
    source = rand(1 << 28)
    target = torch.empty_like(source)
    ms = medians({"copy": lambda: target.copy_(source)}, cache, rounds)["copy"]
    return 2 * source.numel() * 4 / ms * 1e3


def show(figures: list[Figure]) -> str:
    lines = [
        "| what | ours, ms | Triton | torch | floor | Triton / ours | torch / ours | registers |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for f in figures:
        mark = "" if f.ratio >= f.least - 0.005 else " **missed**"
        torch_time, torch_ratio = ("", "") if f.torch is None else (f"{f.torch:.4f}", f"{f.torch / f.ours:.2f}x")
        lines.append(
            f"| {f.name} | {f.ours:.4f} | {f.triton:.4f} | {torch_time} | {f.floor:.4f} | {f.ratio:.3f}x{mark} | "
            f"{torch_ratio} | {f.registers} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="workloads whose name contains one of these, divided by commas")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--json", help="a file for the figures")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    sides = {"ours": Kernels(False), "triton": Kernels(True)}
    cache = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    speed = copy_speed(cache, arguments.rounds)
    import triton

    versions = f"torch {torch.__version__}, Triton {triton.__version__}"
    print(f"{torch.cuda.get_device_name()}, {versions}; copy {speed / 1e12:.2f} TB/s")
    figures, failed = [], []
    for group in GROUPS:
        for case in group():
            if not any(part in case.name for part in arguments.only.split(",")):
                continue
            try:
                figures.append(measure(case, sides, cache, arguments.rounds, speed))
                print(figures[-1], flush=True)
            except Exception as error:  # the others are still worth their time
                failed.append(f"{case.name}: {type(error).__name__}: {str(error)[:500]}")
                print(failed[-1], flush=True)
            torch.cuda.empty_cache()
    print(show(figures))
    print(f"launch, us: {launch_times(sides)}")
    print("\n".join(failed))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([asdict(f) | {"ratio": f.ratio} for f in figures], indent=1))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
