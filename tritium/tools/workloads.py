"""The five tutorial kernels of examples/ with inputs, a reference and peers: what the demo runs and measures.

All on NumPy arrays in float32; where torch is installed, it works on the same memory.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from .. import cdiv, next_power_of_2

__all__ = ["Workload", "example", "tutorials", "vector_add"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
F32 = np.float32
DROP = 0.5  # the probability with which dropout drops an element


class Workload(NamedTuple):
    """One kernel with everything around it.

    `run()` launches it once into `output` and returns the compiled kernel; `reference()` gives the float64 result that
    `output` is compared with; `torch` (None without torch) and `numpy` do the same work; `work` is what one run
    moves or computes, in `unit`s (bytes or operations), for throughput.
    """

    name: str
    size: str
    run: Callable[[], Any]
    output: np.ndarray
    reference: Callable[[], np.ndarray]
    torch: Callable[[], object] | None
    numpy: Callable[[], object]
    work: float
    unit: str

    def error(self) -> float:
        """The largest absolute difference between `output` and the reference."""
        return float(np.max(np.abs(self.output.astype(np.float64) - self.reference())))

    def peers(self) -> dict[str, Callable[[], object]]:
        """Who does the same work, by name."""
        return {**({"torch": self.torch} if self.torch else {}), "NumPy": self.numpy}


def example(name: str) -> ModuleType:
    """The script examples/<name>.py as a module. Raises FileNotFoundError outside a checkout of the project."""
    path = EXAMPLES / f"{name}.py"
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is missing: the demo needs the project's examples/ folder, so run it in a clone"
        )
    spec = importlib.util.spec_from_file_location(f"tritium_example_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _power(n: int) -> str:
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def _torch(build: Callable[[Any], Callable[[], object]]) -> Callable[[], object] | None:
    """A peer made by `build(torch)`, or None where torch is not installed."""
    return build(importlib.import_module("torch")) if importlib.util.find_spec("torch") else None


def vector_add(size: int, block: int, rng: np.random.Generator) -> Workload:
    """output = x + y for `size` elements, `block` of them a program."""
    kernel = example("vector_add").add_kernel
    x, y, output = rng.random(size, F32), rng.random(size, F32), np.full(size, np.nan, F32)
    grid = (cdiv(size, block),)

    def peer(torch: Any) -> Callable[[], object]:
        a, b, c = (torch.from_numpy(v) for v in (x, y, np.empty_like(x)))
        return lambda: torch.add(a, b, out=c)

    out = np.empty_like(x)
    return Workload(
        "vector add",
        _power(size),
        lambda: kernel[grid](x, y, output, size, BLOCK_SIZE=block),
        output,
        lambda: x.astype(np.float64) + y,
        _torch(peer),
        lambda: np.add(x, y, out=out),
        12.0 * size,
        "GB/s",
    )


def fused_softmax(rows: int, columns: int, rng: np.random.Generator) -> Workload:
    """Softmax over each of `rows` rows."""
    kernel = example("fused_softmax").softmax_kernel
    x, output = rng.standard_normal((rows, columns), F32), np.full((rows, columns), np.nan, F32)
    block, programs = next_power_of_2(columns), min(rows, 8 * (os.cpu_count() or 1))

    def softmax(v: np.ndarray) -> np.ndarray:
        e = np.exp(v - v.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def peer(torch: Any) -> Callable[[], object]:
        a, b = torch.from_numpy(x), torch.from_numpy(np.empty_like(x))
        return lambda: torch.softmax(a, 1, out=b)

    return Workload(
        "softmax",
        f"{rows}x{columns}",
        lambda: kernel[(programs,)](output, x, columns, columns, rows, columns, BLOCK_SIZE=block, num_stages=2),
        output,
        lambda: softmax(x.astype(np.float64)),
        _torch(peer),
        lambda: softmax(x),
        8.0 * x.size,
        "GB/s",
    )


def matmul(n: int, rng: np.random.Generator) -> Workload:
    """The matmul of two n x n matrices."""
    module = example("matmul")
    kernel, blocks = module.matmul_kernel, module.BLOCKS
    a, b, output = rng.standard_normal((n, n), F32), rng.standard_normal((n, n), F32), np.full((n, n), np.nan, F32)
    grid = (cdiv(n, blocks["BLOCK_SIZE_M"]) * cdiv(n, blocks["BLOCK_SIZE_N"]),)

    def peer(torch: Any) -> Callable[[], object]:
        x, y, z = (torch.from_numpy(v) for v in (a, b, np.empty_like(a)))
        return lambda: torch.matmul(x, y, out=z)

    out = np.empty_like(a)
    return Workload(
        "matmul",
        f"{n}^3",
        lambda: kernel[grid](a, b, output, n, n, n, n, 1, n, 1, n, 1, ACTIVATION="", **blocks),
        output,
        lambda: a.astype(np.float64) @ b.astype(np.float64),
        _torch(peer),
        lambda: np.matmul(a, b, out=out),
        2.0 * n**3,
        "GFLOP/s",
    )


def low_memory_dropout(size: int, rng: np.random.Generator) -> Workload:
    """Seeded dropout. The reference takes the mask of kept elements from the kernel's output."""
    kernel = example("low_memory_dropout")._seeded_dropout
    x, output = rng.standard_normal(size, F32) + F32(10), np.full(size, np.nan, F32)
    grid = (cdiv(size, 1024),)

    def reference() -> np.ndarray:
        kept = output != 0
        assert abs(kept.mean() - (1 - DROP)) < 0.01, "dropout does not drop the share it should"
        return np.where(kept, x.astype(np.float64) / (1 - DROP), 0.0)

    def peer(torch: Any) -> Callable[[], object]:
        a = torch.from_numpy(x)
        return lambda: torch.nn.functional.dropout(a, DROP)

    return Workload(
        "dropout",
        _power(size),
        lambda: kernel[grid](x, output, size, DROP, 123, BLOCK_SIZE=1024),
        output,
        reference,
        _torch(peer),
        lambda: np.where(rng.random(size, F32) > DROP, x / F32(1 - DROP), F32(0)),
        8.0 * size,
        "GB/s",
    )


def layer_norm(rows: int, columns: int, rng: np.random.Generator) -> Workload:
    """Layer norm over each of `rows` rows, with weight and bias."""
    kernel = example("layer_norm")._layer_norm_fwd_fused
    x, output = rng.standard_normal((rows, columns), F32), np.full((rows, columns), np.nan, F32)
    w, b, mean, rstd = rng.random(columns, F32), rng.random(columns, F32), np.empty(rows, F32), np.empty(rows, F32)
    block = min(512, next_power_of_2(columns))

    def norm(v: np.ndarray) -> np.ndarray:
        return (v - v.mean(axis=1, keepdims=True)) / np.sqrt(v.var(axis=1, keepdims=True) + v.dtype.type(1e-5)) * w + b

    def peer(torch: Any) -> Callable[[], object]:
        t = [torch.from_numpy(v) for v in (x, w, b)]
        return lambda: torch.nn.functional.layer_norm(t[0], (columns,), t[1], t[2], 1e-5)

    return Workload(
        "layer norm",
        f"{rows}x{columns}",
        lambda: kernel[(rows,)](x, output, w, b, mean, rstd, columns, columns, 1e-5, BLOCK_SIZE=block),
        output,
        lambda: norm(x.astype(np.float64)),
        _torch(peer),
        lambda: norm(x),
        8.0 * x.size,
        "GB/s",
    )


def tutorials(rng: np.random.Generator) -> list[Workload]:
    """All five, in sizes that take milliseconds."""
    return [
        vector_add(1 << 22, 4096, rng),
        fused_softmax(2048, 1024, rng),
        matmul(512, rng),
        low_memory_dropout(1 << 21, rng),
        layer_norm(2048, 1024, rng),
    ]
