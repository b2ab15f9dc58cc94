"""Vector math functions: nanoseconds an element against NumPy and torch, one thread, arrays that fit the cache.

    python benchmarks/vecmath.py [function …]
    TRITIUM_BENCH_TARGET=x86-64-v3 python benchmarks/vecmath.py     # as for a machine without AVX-512

A table for reading; the promises are in `MATH_FUNCTIONS` (accuracy) and in the rows of `elementwise.py` (speed).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.conversion.llvm.vecmath_harness import DTYPE, loop_text
from tritium.backends.cpu.llvm import compile_llvm
from tritium.backends.cpu.loader import load_object
from tritium.backends.cpu.target import host_target, named_target
from tritium.conversion.llvm.vecmath import MATH_FUNCTIONS, vector_math_function
from tritium.tools.timing import by_turns

COUNT = 1 << 14
TARGET = named_target(os.environ["TRITIUM_BENCH_TARGET"]) if "TRITIUM_BENCH_TARGET" in os.environ else host_target()
# Arguments every peer finds ordinary; for sin and cos also large ones.
RANGES = {
    "exp": (-20, 20), "exp2": (-20, 20), "exp10": (-20, 20), "expm1": (-5, 5), "log": (0.01, 100), "log2": (0.01, 100),
    "log10": (0.01, 100), "log1p": (0, 10), "sin": (-100, 100), "cos": (-100, 100), "tan": (-100, 100),
    "asin": (-1, 1), "acos": (-1, 1), "atanh": (-0.99, 0.99), "acosh": (1, 100), "rsqrt": (0.01, 100),
    "pow": (0.1, 10), "cbrt": (0.01, 100), "erfinv": (-0.99, 0.99), "lgamma": (0.1, 20), "tgamma": (0.1, 20),
}  # fmt: skip
NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
               "atanh": "arctanh", "atan2": "arctan2", "pow": "power"}  # fmt: skip
TORCH_NAMES = {"exp10": None, "cbrt": None, "tgamma": None}


def ours(name: str, element: str, lanes: int, out: np.ndarray, inputs: list[np.ndarray]) -> Callable[[], object]:
    """A call of the compiled loop over the arrays."""
    module = compile_llvm(loop_text(vector_math_function(name, element, lanes), len(inputs)), TARGET)
    loaded = load_object(module.object)
    types = [ctypes.c_void_p] * (len(inputs) + 1) + [ctypes.c_int64]
    function = ctypes.CFUNCTYPE(None, *types)(loaded.address("loop"))
    arguments = (out.ctypes.data, *(a.ctypes.data for a in inputs), out.size)
    return lambda _keep=loaded: function(*arguments)


def peers(name: str, inputs: list[np.ndarray], out: np.ndarray) -> dict[str, Callable[[], object]]:
    """NumPy's and torch's function of that name, where there is one."""
    found: dict[str, Callable[[], object]] = {}
    numpy_function = getattr(np, NUMPY_NAMES.get(name, name), None)
    if isinstance(numpy_function, np.ufunc):
        other = np.empty_like(out)
        found["numpy"] = lambda: numpy_function(*inputs, out=other)
    try:
        import torch
    except ImportError:
        return found
    torch.set_num_threads(1)
    torch_function = getattr(torch, TORCH_NAMES.get(name, name) or "", None)
    if torch_function is not None:
        tensors = [torch.from_numpy(a) for a in inputs]
        result = torch.empty_like(tensors[0])
        found["torch"] = lambda: torch_function(*tensors, out=result)
    return found


def row(name: str, element: str) -> str:
    """One line: ours at the machine's widest vectors, the peers, and the best peer's time as a ratio to ours."""
    low, high = RANGES.get(name, (-10, 10))
    rng = np.random.default_rng(1)
    inputs = [rng.uniform(low, high, COUNT).astype(DTYPE[element]) for _ in range(MATH_FUNCTIONS[name].arity)]
    out = np.empty_like(inputs[0])
    lanes = TARGET.lanes(int(element[1:]))
    functions = {"ours": ours(name, element, lanes, out, inputs), **peers(name, inputs, out)}
    times = {key: t / COUNT * 1e9 for key, t in by_turns(functions, slice_s=0.01).items()}
    cells = [f"{times[key]:8.3f}" if key in times else "       -" for key in ("ours", "numpy", "torch")]
    others = [t for key, t in times.items() if key != "ours"]
    ratio = f"{min(others) / times['ours']:6.2f}x" if others else "      -"
    return f"{name:10}{element:5}{lanes:5}  {'  '.join(cells)}  {ratio}"


def main() -> None:
    print("ns an element; the ratio is the best peer's time to ours")
    print(f"{'function':10}{'type':5}{'lanes':>5}  {'tritium':>8}  {'numpy':>8}  {'torch':>8}   ratio")
    names = sys.argv[1:] or [n for n, s in MATH_FUNCTIONS.items() if s.body is not None]
    for element in ("f32", "f64"):
        for name in names:
            print(row(name, element), flush=True)


if __name__ == "__main__":
    main()
