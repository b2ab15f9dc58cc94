"""Subscripts of blocks as text that is a kernel's and NumPy's at once, drawn at random.

A case is a shape, statements that change `x`, and expressions over it. Numbers are small, so that every type has them.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np

from tests.e2e.kernels import kernel_from

RUN_TIME = {"i": 0, "j": -2, "k": 3, "s": 2}
"""Scalars that kernels get as arguments."""


def window(random: Random, size: int) -> str:
    """A slice of a dimension, in a spelling drawn at random; a power of two of the elements more often than not."""
    count = random.choice([1 << random.randrange(size.bit_length()), random.randrange(1, size + 1)])
    step = random.choice([s for s in (1, 1, 2, 3, 4, -1, -2) if (count - 1) * abs(s) < size])
    room = size - (count - 1) * abs(step)
    low = random.randrange(room)
    start = low if step > 0 else low + (count - 1) * -step
    stop: int | None = start + (count - 1) * step + (1 if step > 0 else -1)
    if stop is not None and stop < 0:
        stop = None
    first = random.choice([str(start), str(start - size)])
    if start == (0 if step > 0 else size - 1):
        first = ""
    last = "" if stop is None or stop >= size else str(stop)
    return f"{first}:{last}" + (f":{step}" if step != 1 else "")


def one(random: Random, size: int) -> str:
    """A subscript of one dimension."""
    kinds = [str(random.randrange(-size, size)), ":", window(random, size), window(random, size)]
    if size >= 2:
        kinds += ["i", "j"]
    if size >= 4:
        kinds += ["k", "s:s + 2", "k:1 + k", "s * 1:(s + 1) * 1"]
    return random.choice(kinds)


def subscript(random: Random, shape: tuple[int, ...], new: bool = True) -> str:
    """What stands between brackets: up to as many subscripts as dimensions, with `None` and `...` in between."""
    parts = [one(random, n) for n in shape]
    if new and random.random() < 0.3:
        first = random.randrange(len(parts))
        last = random.randrange(first, len(parts) + 1)
        parts[first:last] = ["..."]
    elif random.random() < 0.3:
        parts = parts[: random.randrange(1, len(parts) + 1)]
    while new and random.random() < 0.2:
        parts.insert(random.randrange(len(parts) + 1), "None")
    return ", ".join(parts)


def block(shape: tuple[int, ...]) -> str:
    """The numbers of a block's elements in row-major order."""
    return f"tl.reshape(tl.arange(0, {int(np.prod(shape))}), {list(shape)})"


def reference(shape: tuple[int, ...], dtype: np.dtype, statements: list[str], expressions: list[str]) -> list:
    """What NumPy makes of a case."""
    x = (np.arange(np.prod(shape)).reshape(shape) * 5 % 8).astype(dtype)
    names = {"x": x, **RUN_TIME}
    for statement in statements:
        exec(statement, names)
    return [np.asarray(eval(e, names)) for e in expressions]


def results(
    shape: tuple[int, ...], dtype: str, statements: list[str], expressions: list[str], wanted: list, folder: Path
) -> list[np.ndarray]:
    """What a kernel makes of it, each expression in the shape that NumPy found."""
    lines, at = [], 0
    for e, w in zip(expressions, wanted):
        value = f"({e}).to(tl.float32)"
        where = f"out + {at}"
        if w.ndim:
            where += f" + tl.arange(0, {w.size})"
            value = f"tl.reshape(tl.broadcast_to({value}, {list(w.shape)}), [{w.size}])"
        lines.append(f"tl.store({where}, {value})")
        at += w.size
    text = "\n    ".join([*statements, *lines])
    kernel = kernel_from(
        f"""
@triton.jit
def kernel(out, i, j, k, s):
    x = ({block(shape)} * 5 % 8).to(tl.{dtype})
    {text}
""",
        folder,
    )
    out = np.full(at + 8, 77, np.float32)
    kernel[(1,)](out, *RUN_TIME.values())
    assert (out[at:] == 77).all()
    ends = np.cumsum([w.size for w in wanted])
    return [out[e - w.size : e].reshape(w.shape) for e, w in zip(ends, wanted)]


def check(shape: tuple[int, ...], dtype: str, statements: list[str], expressions: list[str], folder: Path) -> None:
    """A kernel and NumPy agree; shapes too, as `broadcast_to` takes none but what goes with them."""
    kind = np.dtype({"int1": "bool"}.get(dtype, dtype if dtype in np.sctypeDict else "float32"))
    wanted = reference(shape, kind, statements, expressions)
    got = results(shape, dtype, statements, expressions, wanted, folder)
    for e, w, g in zip(expressions, wanted, got):
        np.testing.assert_array_equal(g, w.astype(np.float32), err_msg=f"{statements} {e} of {shape} {dtype}")
