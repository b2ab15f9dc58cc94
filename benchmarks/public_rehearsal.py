"""Compile the workloads of `public_kernels.py` for sm_90 on a machine without a GPU; nothing is launched.

Each launch becomes a compile, whose PTX and machine code are written to a folder: what a run on a GPU will need is
checked, and the code of two compilers can be compared.
"""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

__all__ = ["rehearse"]

PROPERTIES = {
    "max_shared_mem": 232448, "multiprocessor_count": 132, "sm_clock_rate": 1980000, "mem_clock_rate": 2619000,
    "mem_bus_width": 5120, "max_num_regs": 65536, "warpSize": 32,
}  # fmt: skip


def rehearse(folder: Path) -> Any:
    """Replace launches by compiles, whose code goes to `folder`; returns a benchmark for the autotuner."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.environ.get("TRITIUM_TARGET"):
        _ours(folder)
    else:
        _triton(folder)

    def bench(call: Any, quantiles: Any = None, **_: Any) -> list[float]:
        call()
        return [1.0, 1.0, 1.0]

    return bench


def _keep(folder: Path, kernel: Any, name: str, options: Any) -> None:
    asm = kernel.asm
    count = len(list(folder.glob(f"{name}.*.ptx")))
    (folder / f"{name}.{count}.ptx").write_text(asm["ptx"])
    (folder / f"{name}.{count}.ttgir").write_text(str(asm["ttgir"]))
    (folder / f"{name}.{count}.cubin").write_bytes(asm["cubin"])
    (folder / f"{name}.{count}.json").write_text(json.dumps(options, default=str))


def _triton(folder: Path) -> None:
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    fake = SimpleNamespace(
        get_current_device=lambda: 0,
        get_current_target=lambda: GPUTarget("cuda", 90, 32),
        get_current_stream=lambda *_: 0,
        get_active_torch_device=lambda: importlib.import_module("torch").device("cpu"),
        utils=SimpleNamespace(get_device_properties=lambda *_: PROPERTIES),
        get_device_interface=lambda: importlib.import_module("torch").cuda,
    )
    driver.set_active(fake)
    published, seen = JITFunction.run, set()

    def run(self: Any, *args: Any, grid: Any, warmup: bool = False, **keywords: Any) -> Any:
        kernel = published(self, *args, grid=grid, warmup=True, **keywords)
        if kernel is not None and id(kernel) not in seen:
            seen.add(id(kernel))
            meta = kernel.metadata
            _keep(folder, kernel, self.__name__, {"num_warps": meta.num_warps, "num_stages": meta.num_stages})
        return kernel

    JITFunction.run = run


def _ours(folder: Path) -> None:
    from tritium.runtime import emulated_driver
    from tritium.runtime.jit import JITFunction

    emulated_driver.PROCESSORS = PROPERTIES["multiprocessor_count"]  # hosts choose tile sizes by it

    seen: set[int] = set()

    def run(self: Any, device: Any, kernel: Any, grid: Any, args: Any, options: Any, stream: Any) -> None:
        if id(kernel) not in seen:
            seen.add(id(kernel))
            meta = kernel.metadata
            _keep(folder, kernel, self.__name__, {"num_warps": meta.num_warps, "num_stages": meta.num_stages})

    JITFunction._run = run  # type: ignore[method-assign]
    JITFunction._remember = lambda *_, **__: None  # type: ignore[method-assign]
