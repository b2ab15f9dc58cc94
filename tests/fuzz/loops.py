"""Random kernels with loops over tiles that descriptors load: `Loops(seed).kernel()` is the text of one.

    for tile in tl.range(pid, tiles, programs, warp_specialize=…):          or only the inner loop
        acc = zeros
        for k in range(…):                  one loop, or two of which the second begins where the first ended
            a, b = loads
            if k …: acc = …                 products, transposed and chained; sums of rows; what is loaded twice
        stores

Numbers are small integers, so that sums are exact in any order. `options()` draws how it is compiled.
"""

from __future__ import annotations

import random

__all__ = ["ROWS", "Loops"]

ROWS = 320  # of each array; columns too


class Loops:
    """The program of a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.m, self.n, self.k = (rng.choice((64, 128)), rng.choice((32, 64, 128)), rng.choice((16, 32, 64)))
        self.nested = rng.random() < 0.6
        self.loops = rng.choice((1, 1, 2))
        self.trips = [rng.choice((0, 1, 2, 3, 5)) for _ in range(self.loops)]
        self.pieces = [self.body() for _ in range(self.loops)]
        self.names = 0

    def options(self) -> dict:
        """How it is compiled."""
        rng = self.rng
        warps, ctas = rng.choice((4, 4, 8)), rng.choice((1, 1, 1, 2))
        without = rng.choice(("", "", "", "multicast", "wgmma-in-flight", "register-reallocation", "accumulator-init"))
        return {"num_warps": warps, "num_ctas": ctas, "num_stages": rng.choice((2, 3, 4)), "without": without}

    def body(self) -> list[str]:
        """What one iteration does with acc (M x N) and row (M), at offset `at` along K."""
        rng = self.rng
        lines = ["a = a_desc.load([i, at])"]
        if rng.random() < 0.5:
            lines.append("b = b_desc.load([j, at]).T")
        else:
            lines.append("b = c_desc.load([at, j])")
        dot = "acc = tl.dot(a, b, acc)"
        choices = [
            [dot],
            [dot],
            [f"if at % {2 * self.k} == 0:", f"    {dot}"],
            ["acc += tl.dot(a, b)"],
            ["p = tl.dot(a, b)", "acc += tl.where(p > 0, p, -p)"],
            [dot, "row += tl.sum(a.to(tl.float32), 1)"],
            [dot, "row = tl.maximum(row, tl.max(acc, 1) * 0)"],
            ["x = tl.load(x_ptr + j + tl.arange(0, N))", dot, "acc += x[None, :].to(tl.float32)"],
            self.chained(),
        ]
        lines += rng.choice(choices)
        if rng.random() < 0.3:
            lines.append(dot)
        return lines

    def chained(self) -> list[str]:
        """A product whose result multiplies what is loaded, as in attention."""
        return [
            "p = tl.dot(a, b)",
            "q = tl.where(p > 2, 1.0, 0.0).to(tl.float16)",
            "v = v_desc.load([j, at])",
            "w = tl.dot(q, v)",
            "row += tl.sum(w, 1)",
            "acc += p",
        ]

    def kernel(self) -> str:
        """The text: kernel(a, b, c, v, x, out, sums, tiles), of arrays of ROWS x ROWS but for x and sums."""
        loops = ""
        for trips, piece in zip(self.trips, self.pieces):
            marked = "" if self.nested else ", warp_specialize=True"
            inside = "\n".join(f"            {line}" for line in piece)
            loops += f"        for at in tl.range(0, {trips} * K, K{marked}):\n{inside}\n"
        marked = ", warp_specialize=True" if self.nested else ""
        if self.nested:
            outer = f"    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0){marked}):\n"
        else:
            outer = "    tile = tl.program_id(0)\n    if True:\n"
        return f"""
import tritium as triton
import tritium.language as tl

SIDE = tl.constexpr({ROWS})


@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, v_ptr, x_ptr, out_ptr, sums_ptr, tiles,
           M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [SIDE, SIDE], [SIDE, 1], [M, K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [SIDE, SIDE], [SIDE, 1], [N, K])
    c_desc = tl.make_tensor_descriptor(c_ptr, [SIDE, SIDE], [SIDE, 1], [K, N])
    v_desc = tl.make_tensor_descriptor(v_ptr, [SIDE, SIDE], [SIDE, 1], [N, K])
    out_desc = tl.make_tensor_descriptor(out_ptr, [SIDE, SIDE], [SIDE, 1], [M, N])
{outer}        i, j = tile % 2 * M, tile // 2 * N
        acc = tl.zeros((M, N), tl.float32)
        row = tl.zeros((M,), tl.float32)
{loops}        out_desc.store([i, j], acc)
        tl.store(sums_ptr + tile * M + tl.arange(0, M), row)
"""
