"""Kernels for NVIDIA GPUs run without one: compiled to PTX, taken by the assembler where there is one, emulated.

    gpu = on_gpu(kernel, x, y, n, BLOCK=256)            # a JIT function, compiled for these arguments
    gpu = from_ttgir(text, capability=90)               # or the text of a module with layouts
    gpu.launch(grid, x, y, n)                           # arrays are changed in place
    assert gpu.count("ld.global.v4.b32") == 2           # how often PTX has an instruction

`both(kernel, grid, arguments, …)` runs a kernel on this CPU and in the emulator and returns the arrays of both.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.backends.nvidia.texts import missing
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, compile
from tritium.emulator import Report, launch

__all__ = ["Gpu", "aligned", "both", "from_ttgir", "on_gpu", "tensor_kernel"]

_LAST = "cubin" if missing("ptxas") is None else "ptx"
_TYPES = {
    "float64": "fp64",
    "float32": "fp32",
    "float16": "fp16",
    "bool": "i1",
    **{f"{'u' if u else ''}int{n}": f"{'u' if u else 'i'}{n}" for u in (0, 1) for n in (8, 16, 32, 64)},
}


class Gpu:
    """A kernel for a GPU. `ttgir`, `llir` and `ptx` are its texts, `metadata` what a launch must know."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.ttgir, self.llir, self.ptx = (kernel.asm[s] for s in ("ttgir", "llir", "ptx"))
        self.metadata = kernel.metadata

    def launch(self, grid: int | Sequence[int], *arguments: Any, **options: Any) -> Report:
        """Run it in the emulator; races and accesses outside of the arrays are errors."""
        cluster = self.metadata.num_ctas
        if cluster > 1:
            sizes = [grid] if isinstance(grid, int) else list(grid)
            grid = [sizes[0] * cluster, *sizes[1:]]
            options.setdefault("cluster", cluster)
        size = self.metadata.global_scratch_size
        if size:
            programs = int(np.prod(grid))
            arguments = (*arguments, aligned(np.zeros(programs * size, np.uint8), self.metadata.global_scratch_align))
        return launch(self.ptx, grid, arguments, shared_bytes=self.metadata.shared, **options)

    def opcodes(self) -> list[str]:
        """The instructions of the PTX, in order, without operands and predicates."""
        lines = (re.sub(r"^\s*(?:@!?%\w+\s+)?", "", line) for line in self.ptx.splitlines() if line.startswith("\t"))
        return [line.split()[0].rstrip(";") for line in lines if line and line[0].isalpha()]

    def count(self, pattern: str) -> int:
        """How many instructions begin with `pattern`, a regular expression."""
        return sum(re.match(pattern, opcode) is not None for opcode in self.opcodes())


def aligned(array: np.ndarray, alignment: int = 16) -> np.ndarray:
    """A copy at an address that is a multiple of `alignment`."""
    raw = np.zeros(array.nbytes + alignment, np.uint8)
    first = -raw.ctypes.data % alignment
    out = raw[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def from_ttgir(text: str, capability: int = 80, **options: Any) -> Gpu:
    """A module with layouts as text, compiled from there on for a chip of `capability`, whichever the text names."""
    text = re.sub(r'ttg\.target = "cuda:\d+"', f'ttg.target = "cuda:{capability}"', text)
    folder = Path(tempfile.gettempdir()) / "tritium-tests"
    folder.mkdir(exist_ok=True)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.ttgir"
    path.write_text(text)
    return Gpu(compile(str(path), target=GPUTarget("cuda", capability, 32), options=options, until=_LAST))


def type_of(value: Any) -> str:
    """How a source spells the type of an argument."""
    if isinstance(value, np.ndarray):
        return f"*{_TYPES[value.dtype.name]}"
    if isinstance(value, np.generic):
        return _TYPES[value.dtype.name]
    if isinstance(value, float):
        return "fp32"
    return "i32" if -(1 << 31) <= value < 1 << 31 else "i64"


def on_gpu(function: Any, *arguments: Any, capability: int = 80, divisible: bool = True, **keywords: Any) -> Gpu:
    """A JIT function compiled for arguments like these; keywords are its constants, and options of the compiler.

    Arrays and numbers divisible by 16 are specialized as such, unless `divisible` is False.
    """
    names = function.arg_names
    constants = {k: v for k, v in keywords.items() if k in names}
    options = {k: v for k, v in keywords.items() if k not in names}
    given = [n for n in names if n not in constants]
    signature = {**dict(zip(given, map(type_of, arguments))), **dict.fromkeys(constants, "constexpr")}
    attrs = {}
    for name, value in zip(given, arguments):
        even = isinstance(value, np.ndarray) or (isinstance(value, int) and value % 16 == 0)
        if divisible and even:
            attrs[(names.index(name),)] = [["tt.divisibility", 16]]
    source = ASTSource(function, {n: signature[n] for n in names}, constants, attrs)
    return Gpu(compile(source, target=GPUTarget("cuda", capability, 32), options=options, until=_LAST))


def both(
    function: Any, grid: int | Sequence[int], arguments: Sequence[Any], capability: int = 80, **keywords: Any
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The arrays among the arguments as the CPU leaves them, and as the emulated GPU does."""
    results = []
    sizes = (grid,) if isinstance(grid, int) else tuple(grid)
    for where in ("cpu", "gpu"):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        if where == "cpu":
            constants = {k: v for k, v in keywords.items() if k in function.arg_names}
            function[sizes](*copies, **constants)
        else:
            on_gpu(function, *copies, capability=capability, **keywords).launch(sizes, *copies)
        results.append([a for a in copies if isinstance(a, np.ndarray)])
    return results[0], results[1]


def tensor_kernel(body: str, arguments: str, layouts: Sequence[str] = (), num_warps: int = 4, num_ctas: int = 1) -> str:
    """The text of a module whose kernel `k` has `arguments` and `body`; `layouts` are named #a, #b, ….

    >>> print(tensor_kernel("tt.return", "%n: i32", num_warps=1).splitlines()[1])
      tt.func public @k(%n: i32) attributes {noinline = false} {
    """
    aliases = "".join(f"#{chr(97 + i)} = {text}\n" for i, text in enumerate(layouts))
    lines = "\n".join(f"    {line.strip()}" for line in body.strip().splitlines())
    head = f'"ttg.num-ctas" = {num_ctas} : i32, "ttg.num-warps" = {num_warps} : i32, ttg.target = "cuda:80"'
    return (
        f'{aliases}module attributes {{{head}, "ttg.threads-per-warp" = 32 : i32}} {{\n'
        f"  tt.func public @k({arguments}) attributes {{noinline = false}} {{\n{lines}\n  }}\n}}\n"
    )
