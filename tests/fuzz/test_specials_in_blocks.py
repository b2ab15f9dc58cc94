"""Reductions, scans, orders and products of blocks with NaN, infinities and zeros of both signs, beside NumPy.

What is computed over many elements meets them in an order that depends on the target, the layout and the number of
warps: the result may not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tritium
from tests import sampling
from tests.fuzz.kernels.compare import LANGUAGE, target
from tests.fuzz.kernels.elements import TYPES, bits_of, values_of
from tests.fuzz.kernels.runner import load

ROWS, COLUMNS = 16, 32
Reference = Callable[[np.ndarray, int], np.ndarray]

#: what a block holds; of "few" all but three elements are numbers
BLOCKS = {
    "few": [1.0, 2.0, -1.0, 0.5],
    "half": [np.nan, -np.nan, 1.0, 2.0, -3.0],
    "all": [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5],
    "none": [np.nan, -np.nan],
    "infinite": [np.inf, -np.inf, 1.0],
    "least": [-np.inf, np.nan],
    "greatest": [np.inf, np.nan],
    "zeros": [0.0, -0.0],
}


def index_of(greatest: bool) -> Reference:
    """Where the extreme of the numbers is, the first of equal ones; the first element where there is no number."""

    def where(x: np.ndarray, axis: int) -> np.ndarray:
        extreme = (np.fmax if greatest else np.fmin).reduce(x, axis, keepdims=True)
        return np.argmax((x == extreme) | np.isnan(extreme), axis).astype(np.float64)

    return where


def backwards(function: Reference) -> Reference:
    return lambda x, axis: np.flip(function(np.flip(x, axis), axis), axis)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(x - np.fmax.reduce(x, axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


#: operation along an axis: what NumPy has for it
REDUCTIONS: dict[str, Reference] = {
    "tl.max(a, {})": np.fmax.reduce,
    "tl.min(a, {})": np.fmin.reduce,
    "tl.max(a, {}, return_indices=True)[0]": np.fmax.reduce,
    "tl.min(a, {}, return_indices=True)[0]": np.fmin.reduce,
    "tl.max(a, {}, return_indices=True, return_indices_tie_break_left=False)[0]": np.fmax.reduce,
    "tl.min(a, {}, return_indices=True, return_indices_tie_break_left=False)[0]": np.fmin.reduce,
    "tl.argmax(a, {})": index_of(True),
    "tl.argmin(a, {})": index_of(False),
    "tl.reduce(a, {}, larger)": np.maximum.reduce,
    "tl.reduce(a, {}, smaller)": np.minimum.reduce,
    "tl.sum(a, {})": np.sum,
    "tl.reduce(a, {}, product)": np.prod,
}
SCANS: dict[str, Reference] = {
    "tl.cumsum(a, {})": np.cumsum,
    "tl.cumsum(a, {}, reverse=True)": backwards(np.cumsum),
    "tl.cumprod(a, {})": np.cumprod,
    "tl.associative_scan(a, {}, larger)": np.maximum.accumulate,
    "tl.associative_scan(a, {}, larger_number, reverse=True)": backwards(np.fmax.accumulate),
    "tl.softmax(a, {})": softmax,
    "tl.flip(a, {})": np.flip,
}
ORDERS: dict[str, Reference] = {  # along the last axis
    "tl.sort(a)": np.sort,
    "tl.sort(a, descending=True)": lambda x, axis: np.flip(np.sort(x, axis), axis),
}
ROUNDED = ("sum", "prod", "softmax")  # results of which are rounded in an order of their own

HEAD = f"""import tritium
import tritium.language as tl


@tritium.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@tritium.jit
def smaller(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@tritium.jit
def larger_number(a, b):
    return tl.maximum(a, b)


@tritium.jit
def product(a, b):
    return a * b


@tritium.jit
def kernel(x, out):
    row, column = tl.arange(0, {ROWS})[:, None], tl.arange(0, {COLUMNS})[None, :]
    a = tl.load(x + row * {COLUMNS} + column)
"""


def operations(name: str) -> list[tuple[str, int, str, Reference]]:
    """Each with its axis, what is added to the output's address, and its reference."""
    out: list[tuple[str, int, str, Reference]] = []
    for axis in (0, 1):
        along = f"tl.arange(0, {(COLUMNS, ROWS)[axis]})"
        out += [(text.format(axis), axis, along, f) for text, f in REDUCTIONS.items()]
        out += [(text.format(axis), axis, f"row * {COLUMNS} + column", f) for text, f in SCANS.items()]
    out += [(text, 1, f"row * {COLUMNS} + column", f) for text, f in ORDERS.items()]
    if name == "bf16":  # a user's function that gives fp32 is refused
        out = [found for found in out if "larger" not in found[0] and "smaller" not in found[0]]
    return out


def block(kind: str, name: str, rng: np.random.Generator) -> np.ndarray:
    """The bits of a block."""
    values = rng.choice(BLOCKS[kind], ROWS * COLUMNS)
    if kind == "few":
        values[rng.integers(0, len(values), 3)] = np.nan
    return bits_of(values, TYPES[name])


@pytest.mark.parametrize("where", ["interpreter", "cpu", "emulated:90"])
@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_blocks(name, where, tmp_path, request):
    """On the emulated GPU, where a kernel of all operations takes seconds to compile, a fifth of them."""
    done, size = operations(name), ROWS * COLUMNS
    if where.startswith("emulated"):
        done = sampling.some(done, len(done) // 5, request.node.nodeid, request.config)
    stores = [f"    tl.store(out + {k * size} + {at}, ({t}).to(tl.float64))" for k, (t, _, at, _) in enumerate(done)]
    kernel = load(HEAD + "\n".join(stores) + "\n", tmp_path, f"blocks_{name}").kernel
    rng = np.random.default_rng(7)
    for kind in BLOCKS:
        bits = block(kind, name, rng)
        x = values_of(bits, TYPES[name]).reshape(ROWS, COLUMNS)
        argument = tritium.reinterpret(bits, LANGUAGE[name]) if name == "bf16" else bits
        for warps in (1, 4) if where.startswith("emulated") and kind in ("few", "half") else (4,):
            out = np.full(len(done) * size, 77.0)
            with target(where):
                kernel[(1,)](argument, out, num_warps=warps)
            for row, (text, axis, _, reference) in zip(out.reshape(len(done), size), done):
                with np.errstate(all="ignore"):
                    wanted = np.asarray(reference(x, axis), np.float64).ravel()
                found = row[: wanted.size]
                assert np.all(row[wanted.size :] == 77.0), text
                bound = 2.0**-7 if any(word in text for word in ROUNDED) else 0.0
                np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound, err_msg=f"{text}, {kind}, {warps}")


@pytest.mark.parametrize("where", ["interpreter", "cpu", "emulated:80", "emulated:90"])
@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_products(name, where, tmp_path):
    """A NaN in a row or column, 0 times infinity and infinities of both signs make NaN, and nothing else does."""
    text = f"""import tritium
import tritium.language as tl


@tritium.jit
def kernel(x, y, out):
    m, n, k = tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 32)
    a = tl.load(x + m[:, None] * 32 + k[None, :])
    b = tl.load(y + k[:, None] * 32 + n[None, :])
    tl.store(out + m[:, None] * 32 + n[None, :], tl.dot(a, b{', input_precision="ieee"' if name == "f32" else ""}))
"""
    kernel = load(text, tmp_path, f"product_{name}").kernel
    rng = np.random.default_rng(8)
    for rare in ([np.nan], [np.inf], [np.inf, -np.inf], [np.nan, np.inf, -np.inf]):
        pair = []
        for shape in ((64, 32), (32, 32)):
            values = rng.integers(-4, 5, shape) / 2
            at = rng.random(shape) < 0.01
            pair.append(bits_of(np.where(at, rng.choice(rare, shape), values), TYPES[name]))
        arguments = [tritium.reinterpret(v, LANGUAGE[name]) if name == "bf16" else v for v in pair]
        out = np.full((64, 32), 77, np.float32)
        with target(where):
            kernel[(1,)](*arguments, out)
        with np.errstate(all="ignore"):
            wanted = np.matmul(*(values_of(v, TYPES[name]) for v in pair))
        np.testing.assert_array_equal(out, wanted, err_msg=str(rare))
