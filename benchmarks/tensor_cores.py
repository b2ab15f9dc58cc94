"""Matrix products and attention on a GPU beside the same kernels compiled by Triton, and beside torch: TFLOP/s.

    python benchmarks/tensor_cores.py [--only attention] [--rounds 30] [--without wgmma] [--json F]
    python benchmarks/tensor_cores.py --tutorials CLONE [--only t06] [--seconds 200] [--json F]

One process. Each side compiles every configuration of a case (a list of its own, the same for both) and keeps its
fastest; then they take turns, each launch behind a clearing of the level-2 cache, and what counts are medians. Inputs
are random, outputs poisoned, and every result is compared with torch's before anything is timed. Kernels are those of
`examples/`. `--without` compiles our side without a means of speed (`tritium.dialects.ttg_switches`).

With `--tutorials`, a clone of Triton's repository (or a folder with its python/tutorials), tutorials 02, 03, 05, 06, 08
and 09 run instead: as published, through the drop-in and on the installed Triton by turns of processes, each autotuned
over all its configurations (`tuned_tutorials.py`).
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from gpu import cdiv, medians, module_of
from tuned_tutorials import run_tutorials

HERE = Path(__file__).resolve().parent
EXAMPLES = ("matmul", "persistent_matmul", "grouped_matmul", "attention")
Configuration = dict[str, Any]


@dataclass
class Case:
    """One workload: `run(side, **configuration)` launches one side's kernel; `check()` looks at what it left."""

    name: str
    flops: float
    run: Callable[..., Any]
    configurations: list[Configuration]
    check: Callable[[], None]
    torch: Callable[[], Any] | None = None
    least: float = 1.0


@dataclass
class Figure:
    """TFLOP/s of each side, with the configuration that it did best with."""

    name: str
    ours: float
    triton: float
    torch: float | None
    least: float
    best: dict[str, str] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Ours over Triton's."""
        return self.ours / self.triton if self.triton else float("nan")


class Side:
    """One compiler's kernels, of all files."""

    def __init__(self, theirs: bool, extra: Configuration) -> None:
        self.theirs, self.extra = theirs, extra
        prefix = "theirs" if theirs else "ours"
        package = importlib.import_module("triton" if theirs else "tritium")
        package.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
        for name in EXAMPLES:
            self.__dict__.update(vars(module_of(HERE.parent / "examples" / f"{name}.py", f"{prefix}_{name}", theirs)))
        self.__dict__.update(vars(module_of(HERE / "tensor_core_kernels.py", f"{prefix}_kernels", theirs)))


def rand(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    """Normal numbers; whole ones for integers."""
    if not dtype.is_floating_point:
        return torch.randint(-8, 8, shape, device="cuda", dtype=dtype)
    return torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)


def poisoned(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    """Nothing that a kernel could have written."""
    if not dtype.is_floating_point:
        return torch.full(shape, 77, device="cuda", dtype=dtype)
    return torch.full(shape, float("nan"), device="cuda").to(dtype)


def near(out: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    """No element further away than `tolerance` times the greatest one: sums of random signs cancel."""
    wrong = (out.double() - expected.double()).abs().max().item()
    most = expected.double().abs().max().item()
    assert wrong <= tolerance * most, f"off by {wrong:.3g} where the greatest element is {most:.3g}"


#: Of a unit in the last place of the result's type: outputs are rounded once, sums are in float32.
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 1e-2, torch.float8_e4m3fn: 0.07, torch.float32: 2e-3, torch.int32: 0}


def exact(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b in at least float32."""
    if a.dtype is torch.int8:
        return (a.double() @ b.double()).int()
    return a.float() @ b.float() if a.dtype is not torch.float32 else (a.double() @ b.double()).float()


# ---- products ----------------------------------------------------------------------------------------------------

#: The 16 configurations of the tutorial: rows, columns, depth, stages, warps.
PLAIN = [
    (128, 256, 64, 3, 8), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4),
    (128, 32, 32, 4, 4), (64, 32, 32, 5, 2), (32, 64, 32, 5, 2), (128, 256, 128, 3, 8), (256, 128, 128, 3, 8),
    (256, 64, 128, 4, 4), (64, 256, 128, 4, 4), (128, 128, 128, 4, 4), (128, 64, 64, 4, 4), (64, 128, 64, 4, 4),
    (128, 32, 64, 4, 4),
]  # fmt: skip


def plain(blocks: list[tuple[int, ...]]) -> list[Configuration]:
    """Configurations under the names that examples/matmul.py has for them."""
    names = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "num_stages", "num_warps")
    return [{**dict(zip(names, b)), "GROUP_SIZE_M": 8} for b in blocks]


def _matmul(name: str, m: int, n: int, k: int, dtype: torch.dtype, blocks: list[tuple[int, ...]]) -> Case:
    out = {torch.int8: torch.int32, torch.float8_e4m3fn: torch.float16}.get(dtype, dtype)
    narrow = dtype.itemsize == 1
    a, b = rand(m, k, dtype=dtype), rand(n, k, dtype=dtype).T if narrow else rand(k, n, dtype=dtype)
    c = poisoned(m, n, dtype=out)

    def run(side: Side, **c_: Any) -> Any:
        grid = (cdiv(m, c_["BLOCK_SIZE_M"]) * cdiv(n, c_["BLOCK_SIZE_N"]),)
        kernel = side.integer_matmul_kernel if dtype is torch.int8 else side.matmul_kernel  # type: ignore[attr-defined]
        return kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), ACTIVATION="", **c_)

    peer = {torch.int8: lambda: torch._int_mm(a, b), torch.float8_e4m3fn: None}.get(dtype, lambda: torch.mm(a, b))

    def check() -> None:
        near(c, exact(a, b), TOLERANCE[out])

    return Case(name, 2.0 * m * n * k, run, plain(blocks), check, peer)


def products() -> Iterator[Case]:
    for side in (2048, 4096, 8192):
        yield _matmul(f"matmul f16 {side}", side, side, side, torch.float16, PLAIN)
    yield _matmul(
        "matmul int8 4096", 4096, 4096, 4096, torch.int8,
        [(128, 256, 128, 3, 8), (128, 128, 128, 4, 4), (256, 128, 128, 3, 8), (128, 256, 64, 4, 8)],
    )  # fmt: skip
    yield _matmul(
        "matmul tf32 4096", 4096, 4096, 4096, torch.float32,
        [(128, 128, 32, 4, 4), (128, 128, 32, 3, 8), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4)],
    )  # fmt: skip
    decode = [(16, 64, 128, 5, 4), (16, 128, 128, 4, 4), (16, 128, 64, 5, 4), (16, 32, 256, 4, 4), (64, 64, 128, 4, 4)]
    for m in (16, 64):
        yield _matmul(f"decode f16 {m}x8192x8192", m, 8192, 8192, torch.float16, decode)


def persistent() -> Iterator[Case]:
    n = 8192
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    for dtype, depth in ((torch.bfloat16, 64), (torch.float8_e4m3fn, 128)):
        a, b = (rand(n, n, dtype=torch.float32) / 4).to(dtype), rand(n, n, dtype=dtype)  # sums of fp8 are below 448
        c = poisoned(n, n, dtype=dtype)
        blocks = [(128, 256, depth, 3, 8), (128, 128, depth, 3, 4)]
        names = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_stages", "num_warps")

        def run(side: Side, a=a, b=b, c=c, **config: Any) -> Any:
            kernel = side.matmul_descriptors_kernel  # type: ignore[attr-defined]
            return kernel[(programs,)](a, b, c, n, n, n, GROUP_M=8, PROGRAMS=programs, **config)

        def host(side: Side, a=a, b=b, c=c, **config: Any) -> Any:
            m_, n_, k_ = (config[x] for x in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
            of = side.TensorDescriptor.from_tensor  # type: ignore[attr-defined]
            kernel = side.matmul_host_descriptors_kernel  # type: ignore[attr-defined]
            descriptors = of(a, [m_, k_]), of(b, [n_, k_]), of(c, [m_, n_])
            return kernel[(cdiv(n, m_), cdiv(n, n_))](*descriptors, n, **config)

        def check(a=a, b=b, c=c, dtype=dtype) -> None:
            rows = slice(4096, 4096 + 512)
            near(c[rows], exact(a[rows], b.T).to(dtype), TOLERANCE[dtype])

        each = [dict(zip(names, blk)) for blk in blocks]
        ways = [
            {**config, "HALVES": halves, "WARP_SPECIALIZE": ws}
            for config, halves, ws in itertools.product(each, (False, True), (False, True))
        ]
        peer = (lambda a=a, b=b: torch.mm(a, b.T)) if dtype is torch.bfloat16 else None
        short = str(dtype)[6:]
        yield Case(f"persistent descriptors {short} {n}", 2.0 * n**3, run, ways, check, peer, 0.97)
        yield Case(f"host descriptors {short} {n}", 2.0 * n**3, host, each, check, peer, 0.97)
    f16 = torch.float16
    a, b, c = rand(n, n, dtype=f16), rand(n, n, dtype=f16), poisoned(n, n, dtype=f16)

    def pointers(side: Side, **config: Any) -> Any:
        kernel = side.matmul_persistent_kernel  # type: ignore[attr-defined]
        return kernel[(programs,)](a, b, c, n, n, n, n, n, n, GROUP_M=8, PROGRAMS=programs, **config)

    names = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_stages", "num_warps")
    ways = [dict(zip(names, blk)) for blk in ((128, 256, 64, 3, 8), (128, 128, 64, 4, 4), (128, 128, 64, 3, 8))]
    yield Case(
        f"persistent pointers float16 {n}", 2.0 * n**3, pointers, ways,
        lambda: near(c[:512], exact(a[:512], b), TOLERANCE[f16]), lambda: torch.mm(a, b), 0.97,
    )  # fmt: skip


def grouped() -> Iterator[Case]:
    sizes = [(4096, 4096, 4096), (2048, 2048, 2048), (1024, 4096, 2048), (512, 512, 8192)] * 2
    f16 = torch.float16
    matrices = [(rand(m, k, dtype=f16), rand(k, n, dtype=f16), poisoned(m, n, dtype=f16)) for m, n, k in sizes]
    addresses = [torch.tensor([x[i].data_ptr() for x in matrices], device="cuda") for i in range(3)]
    extents = torch.tensor(sizes, dtype=torch.int32, device="cuda")
    strides = torch.tensor([[x.stride(0) for x in row] for row in matrices], dtype=torch.int32, device="cuda")

    def run(side: Side, **config: Any) -> Any:
        return side.grouped_matmul_kernel[(config["PROGRAMS"],)](  # type: ignore[attr-defined]
            *addresses, extents, strides, len(sizes), DTYPE="fp16", **config
        )

    def check() -> None:
        for a, b, c in matrices:
            near(c, exact(a, b), TOLERANCE[f16])

    names = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "PROGRAMS", "num_stages", "num_warps")
    ways = [(128, 128, 32, 132, 4, 4), (128, 128, 64, 132, 3, 4), (64, 128, 64, 132, 4, 4), (128, 128, 64, 132, 3, 8)]
    yield Case(
        "grouped f16", sum(2.0 * m * n * k for m, n, k in sizes), run, [dict(zip(names, w)) for w in ways], check,
        lambda: [torch.mm(a, b, out=c) for a, b, c in matrices],
    )  # fmt: skip


# ---- attention ---------------------------------------------------------------------------------------------------

BATCH, HEADS, ROWS = 4, 32, 4096


def attention() -> Iterator[Case]:
    for depth, causal in itertools.product((64, 128), (False, True)):
        shape = (BATCH, HEADS, ROWS, depth)
        q, k, v, d_out = (rand(*shape, dtype=torch.float16) for _ in range(4))
        scale = depth**-0.5
        flops = 4.0 * BATCH * HEADS * ROWS * ROWS * depth * (0.5 if causal else 1)
        kind = f"d{depth}{' causal' if causal else ''}"

        def reference(q=q, k=k, v=v, causal=causal) -> torch.Tensor:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        expected = reference()
        out, logsum = poisoned(*shape, dtype=torch.float16), poisoned(*shape[:3], dtype=torch.float32)

        def forward(side: Side, q=q, k=k, v=v, out=out, logsum=logsum, causal=causal, scale=scale, **c: Any) -> Any:
            grid = (cdiv(ROWS, c["BLOCK_M"]), BATCH * HEADS)
            return side.attention_forward[grid](  # type: ignore[attr-defined]
                q, k, v, out, logsum, ROWS, scale, HEAD_DIM=q.shape[-1], CAUSAL=causal, **c
            )

        def check(out=out, expected=expected) -> None:
            near(out, expected, 4e-3)

        blocks = [(64, 64, 3, 4), (128, 64, 3, 4), (128, 128, 2, 8), (128, 128, 3, 8)]
        ways = [
            {"BLOCK_M": m, "BLOCK_N": n, "num_stages": s, "num_warps": w, "WARP_SPECIALIZE": ws}
            for (m, n, s, w), ws in itertools.product(blocks, (False, True))
        ]
        yield Case(f"attention forward {kind}", flops, forward, ways, check, reference)


GROUPS = (products, persistent, grouped, attention)


# ---- measuring ---------------------------------------------------------------------------------------------------


def best_of(case: Case, side: Side, cache: torch.Tensor) -> tuple[Configuration, str]:
    """The fastest configuration that compiles and is right, and what became of those that do not."""
    times: list[tuple[float, int]] = []
    lost: list[str] = []
    for number, config in enumerate(case.configurations):
        try:
            case.run(side, **config, **side.extra)
            torch.cuda.synchronize()
            case.check()
            once = {"it": lambda config=config: case.run(side, **config, **side.extra)}
            times.append((medians(once, cache, 5)["it"], number))
            print(f"  {case.flops / times[-1][0] / 1e9:6.0f} {shown(config)}", flush=True)
        except Exception as error:  # a configuration that one side cannot do is that side's loss
            lost.append(f"{shown(config)}: {type(error).__name__}: {str(error).strip()[:300]}")
    if not times:
        raise RuntimeError("; ".join(lost))
    return case.configurations[min(times)[1]], "\n".join(lost)


def shown(config: Configuration) -> str:
    """A configuration as its values."""
    return " ".join(f"{k.removeprefix('BLOCK_').removeprefix('SIZE_')}={v}" for k, v in config.items())


def measure(case: Case, sides: dict[str, Side], cache: torch.Tensor, rounds: int) -> Figure:
    best: dict[str, str] = {}
    runs: dict[str, Callable[[], Any]] = {}
    for name, side in sides.items():
        print(f" {case.name}, {name}:")
        try:
            config, lost = best_of(case, side, cache)
        except RuntimeError as error:
            print(f"  {name}: {str(error)[:1500]}", flush=True)
            continue
        if lost:
            print(f"  {name} loses {lost}", flush=True)
        kernel = case.run(side, **config, **side.extra)
        registers = f", {kernel.n_regs} registers" if getattr(kernel, "n_regs", None) else ""
        best[name] = shown(config) + registers
        runs[name] = lambda side=side, config=config: case.run(side, **config, **side.extra)
    if case.torch is not None:
        runs["torch"] = case.torch
    times = medians(runs, cache, rounds)
    speed = {name: case.flops / ms / 1e9 for name, ms in times.items()}
    return Figure(case.name, speed.get("ours", 0.0), speed.get("triton", 0.0), speed.get("torch"), case.least, best)


def table(figures: list[Figure]) -> str:
    lines = [
        "| what | ours, TFLOP/s | Triton | torch | ours / Triton | ours / torch |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for f in figures:
        mark = "" if f.ratio >= f.least - 0.005 else " **missed**"
        theirs = ("", "") if f.torch is None else (f"{f.torch:.0f}", f"{f.ours / f.torch:.2f}x")
        lines.append(f"| {f.name} | {f.ours:.0f} | {f.triton:.0f} | {theirs[0]} | {f.ratio:.3f}x{mark} | {theirs[1]} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="workloads whose name contains one of these, with commas")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--tutorials", type=Path, help="a clone of Triton: measure its tutorials instead, as published")
    parser.add_argument("--jobs", type=int, default=16, help="processes that compile tutorials")
    parser.add_argument("--seconds", type=float, default=3600, help="time limit of the tutorials")
    parser.add_argument(
        "--without",
        default="",
        help="optimizations that our side does without; of tutorials, what is measured in Triton's stead",
    )
    parser.add_argument("--sides", default="ours,triton")
    parser.add_argument("--first", type=int, default=0, help="try so many configurations only (all, if 0)")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    chosen = parser.parse_args()
    if chosen.tutorials:
        return run_tutorials(chosen.tutorials, chosen.only, chosen.jobs, chosen.seconds, chosen.json, chosen.without)
    torch.manual_seed(0)
    extra = {"without": chosen.without} if chosen.without else {}
    sides = {name: Side(name == "triton", {} if name == "triton" else extra) for name in chosen.sides.split(",")}
    cache = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    import triton

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Triton {triton.__version__}")
    figures = []
    for case in itertools.chain.from_iterable(group() for group in GROUPS):
        wanted = any(word in case.name for word in chosen.only.split(","))
        if not wanted:
            continue
        if chosen.first:
            case.configurations = case.configurations[: chosen.first]
        figures.append(measure(case, sides, cache, chosen.rounds))
        print(figures[-1], flush=True)
        torch.cuda.empty_cache()
        if chosen.json:
            chosen.json.write_text(json.dumps([asdict(f) | {"ratio": f.ratio} for f in figures], indent=1))
    print(table(figures))
    return any(f.ratio < f.least - 0.005 for f in figures)


if __name__ == "__main__":
    sys.exit(main())
