"""Kernels that move a tensor from one layout to another, and check every register of every thread.

y[i] = convert(x)[i], and convert(x) == x loaded in the layout converted to, everywhere: copies are compared too
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tests.conversion.ttg_to_llvm.harness import Gpu, from_ttgir
from tests.emulator import hardware
from tests.layout.pairs import Machine
from tritium.dialects.ttg_layouts import Linear
from tritium.dialects.ttg_maps import linear_layout
from tritium.layout.views import reshaped

__all__ = ["check", "compiled", "moving_kernel"]


def flat(layout: Any, shape: Sequence[int]) -> str:
    """The text of the layout of the same elements in a row."""
    row = reshaped(linear_layout(layout, tuple(shape)), [prod(shape)])
    bases = (tuple(row.bases[name]) for name in ("register", "lane", "warp", "block"))
    return str(Linear(*bases))


def moving_kernel(
    shape: Sequence[int], layouts: Sequence[Any], body: str, machine: Machine, capability: int, functions: str = ""
) -> str:
    """`body` makes %z in #b of %x in #a; further layouts are #c, …, and #s is one of shared memory where there is one."""
    n, dims, bits = prod(shape), "x".join(map(str, shape)), machine.bits
    names = [chr(97 + i) for i in range(len(layouts))]
    aliases = [f"#{name} = {layout}" for name, layout in zip(names, layouts)]
    aliases += [f"#flat_{name} = {flat(layout, shape)}" for name, layout in zip(names[:2], layouts)]

    def place(name: str, pointer: str) -> str:
        tensor = f"tensor<{dims}x!tt.ptr<i{bits}>, #{name}>"
        return f"""
    %row_{pointer}_{name} = tt.make_range {{start = 0 : i32, end = {n} : i32}} : tensor<{n}xi32, #flat_{name}>
    %index_{pointer}_{name} = tt.reshape %row_{pointer}_{name} : tensor<{n}xi32, #flat_{name}> -> tensor<{dims}xi32, #{name}>
    %base_{pointer}_{name} = tt.splat %{pointer} : !tt.ptr<i{bits}> -> {tensor}
    %at_{pointer}_{name} = tt.addptr %base_{pointer}_{name}, %index_{pointer}_{name} : {tensor}, tensor<{dims}xi32, #{name}>"""

    source, target = (f"tensor<{dims}x!tt.ptr<i{bits}>, #{name}>" for name in "ab")
    head = f'"ttg.num-ctas" = {machine.ctas} : i32, "ttg.num-warps" = {machine.warps} : i32'
    lines = "\n".join(f"    {line.strip()}" for line in body.strip().splitlines())
    return (
        "\n".join(aliases)
        + f"""
#smem = #ttg.shared_memory
module attributes {{{head}, ttg.target = "cuda:{capability}", "ttg.threads-per-warp" = 32 : i32}} {{{functions}
  tt.func public @move(%px: !tt.ptr<i{bits}> {{tt.divisibility = 16 : i32}}, %py: !tt.ptr<i{bits}>) attributes {{noinline = false}} {{{place("a", "px")}{place("b", "px")}{place("b", "py")}
    %x = tt.load %at_px_a : {source}
    %wanted = tt.load %at_px_b : {target}
{lines}
    tt.store %at_py_b, %z : {target}
    %same = arith.cmpi eq, %z, %wanted : tensor<{dims}xi{bits}, #b>
    tt.assert %same, "an element is in a wrong register" : tensor<{dims}xi1, #b>
    tt.return
  }}
}}
"""
    )


def compiled(
    shape: Sequence[int],
    layouts: Sequence[Any],
    body: str,
    machine: Machine,
    capability: int = 90,
    functions: str = "",
) -> Gpu:
    """The kernel, compiled."""
    return from_ttgir(moving_kernel(shape, layouts, body, machine, capability, functions), capability)


def check(gpu: Gpu, shape: Sequence[int], machine: Machine, **options: Any) -> None:
    """Run it: all that is stored is right, nothing races, and every register holds what it should.

    Where GPUs are tested (see `hardware`), it runs on one, too.
    """
    rng = np.random.default_rng(prod(shape) + machine.bits)
    dtype = np.dtype(f"uint{machine.bits}")
    x = rng.integers(0, 1 << min(machine.bits, 63), prod(shape), dtype=np.uint64).astype(dtype)
    y = np.zeros_like(x)
    gpu.launch(1, x, y, check_uninitialized=True, **options)
    np.testing.assert_array_equal(y, x)
    if hardware.wanted():
        unused = [np.zeros(16, np.uint8), np.zeros(16, np.uint8)]  # the two scratch pointers
        arrays = [x, np.zeros_like(x), *unused]
        real = hardware.run(gpu.ptx, "move", machine.ctas, 32 * machine.warps, arrays, gpu.metadata.shared)
        np.testing.assert_array_equal(real[1], x)
