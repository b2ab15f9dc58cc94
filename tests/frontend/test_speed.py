"""How long the frontend takes: a compile has other things to do."""

import gc
import time

import tritium.language as tl
from tritium.frontend.callee import SourceFunction
from tritium.frontend.visitor import ast_to_ttir


@SourceFunction
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def test_vector_add_takes_at_most_three_milliseconds():
    """Measured: 0.2 ms on a 2.5 GHz Xeon-class core (2026-11)."""
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    best = float("inf")
    gc.disable()
    try:
        for _ in range(20):
            start = time.perf_counter()
            ast_to_ttir(add, signature, {"BLOCK": 1024})
            best = min(best, time.perf_counter() - start)
    finally:
        gc.enable()
    assert best < 3e-3, f"{best * 1e3:.2f} ms"
