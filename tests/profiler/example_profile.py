"""Kernels and a profile that the tests of the profiler share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import tritium
import tritium.language as tl


def _metadata(grid: Any, kernel: Any, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"{kernel.name}_{args['n']}", "flops32": args["n"], "label": "text is no metric"}


@tritium.jit(launch_metadata=_metadata)
def double(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def launch(n: int = 8) -> None:
    x = np.ones(64, np.float32)
    double[(1,)](x, n, BLOCK=64)
    assert x.sum() == 64 + n


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def frame(name: str, *children: Any, **metrics: Any) -> dict[str, Any]:
    renamed = {{"time": "time (ns)", "cpu_time": "cpu_time (ns)"}.get(k, k): v for k, v in metrics.items()}
    return {"frame": {"name": name, "type": "function"}, "metrics": renamed, "children": list(children)}


def kernel(name: str, count: int, time: int, **metrics: Any) -> dict[str, Any]:
    return frame(name, count=count, time=time, device_id="0", device_type="CUDA", **metrics)


H100 = {"arch": "90", "bus_width": 5120, "clock_rate": 1980000, "memory_clock_rate": 2619000, "num_sms": 132}


def profile(matmul_ns: int = 2_000_000, second: str = "softmax") -> list[Any]:
    """A profile as the profiler writes them: scopes, kernels, a metadata scope and an empty scope."""
    forward = frame(
        "/home/me/net/model.py:10@forward",
        kernel("matmul", 4, matmul_ns, flops16=4e11, bytes=10**9),
        kernel(second, 2, 500_000, bytes=8 * 10**8),
        frame("__proton_launch_metadata", kernel("reduce", 1, 77)),
        frame("empty"),
    )
    matmul = kernel("matmul", 1, 1_000_000, flops16=3e11, bytes=5 * 10**8)
    backward = frame("/home/me/net/model.py:20@backward", matmul, cpu_time=9000)
    return [frame("ROOT", forward, backward, count=0, time=0, flops16=0.0, bytes=0), {"CUDA": {"0": H100}}]
