"""Modules that apply operations element by element, each to the same inputs, and what comes out of them.

`run(steps, inputs, …)` makes one kernel of many operations: each line of a step may use the inputs `%x0`, `%x1`, …, and
its last value is stored to an array of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.conversion.ttg_to_llvm.harness import Gpu, from_ttgir, tensor_kernel

BLOCKED = "#ttg.blocked<{sizePerThread = [%d], threadsPerWarp = [32], warpsPerCTA = [%d], order = [0]}>"
STORAGE = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64, "i1": np.uint8}
STORAGE |= {f"i{n}": np.dtype(f"u{n // 8}").type for n in (8, 16, 32, 64)}


@dataclass(frozen=True)
class Step:
    """`text` in MLIR, with `T(f32)` for the tensor type of an element; its value `%y` is of type `result`."""

    text: str
    result: str


def module(steps: Sequence[Step], types: Sequence[str], size: int, per_thread: int = 1, num_warps: int = 4) -> str:
    """The text of the kernel: pointers to the inputs, then one to the result of each step."""
    arguments = [f"%i{k}: !tt.ptr<{ty}> {{tt.divisibility = 16 : i32}}" for k, ty in enumerate(types)]
    arguments += [f"%o{k}: !tt.ptr<{s.result}> {{tt.divisibility = 16 : i32}}" for k, s in enumerate(steps)]
    lines = [f"%r = tt.make_range {{end = {size} : i32, start = 0 : i32}} : T(i32)"]

    def address(name: str, argument: str, ty: str) -> list[str]:
        pointer = f"!tt.ptr<{ty}>"
        return [
            f"%{name}s = tt.splat {argument} : {pointer} -> T({pointer})",
            f"%{name} = tt.addptr %{name}s, %r : T({pointer}), T(i32)",
        ]

    for k, ty in enumerate(types):
        lines += [*address(f"p{k}", f"%i{k}", ty), f"%x{k} = tt.load %p{k} : T(!tt.ptr<{ty}>)"]
    for k, step in enumerate(steps):
        lines += [line.replace("%y", f"%y{k}").replace("%t", f"%t{k}") for line in step.text.strip().splitlines()]
        lines += [*address(f"q{k}", f"%o{k}", step.result), f"tt.store %q{k}, %y{k} : T(!tt.ptr<{step.result}>)"]
    text = tensor_kernel(
        "\n".join([*lines, "tt.return"]), ", ".join(arguments), [BLOCKED % (per_thread, num_warps)], num_warps
    )
    return typed(text, size)


def typed(text: str, size: int) -> str:
    """T(i32) as `tensor<128xi32, #a>`."""
    out, at = "", 0
    while (found := text.find("T(", at)) >= 0:
        end = text.index(")", found)
        out += f"{text[at:found]}tensor<{size}x{text[found + 2 : end]}, #a>"
        at = end + 1
    return out + text[at:]


def run(
    steps: Sequence[Step],
    inputs: Sequence[tuple[str, np.ndarray]],
    capability: int = 80,
    per_thread: int = 1,
    num_warps: int = 4,
) -> tuple[list[np.ndarray], Gpu]:
    """The bits of each step's result for inputs given as (type, bits)."""
    size = len(inputs[0][1])
    gpu = from_ttgir(module(steps, [ty for ty, _ in inputs], size, per_thread, num_warps), capability)
    outputs = [np.full(size, 0x5A, STORAGE[s.result]) for s in steps]
    gpu.launch(1, *(bits for _, bits in inputs), *outputs)
    return outputs, gpu
