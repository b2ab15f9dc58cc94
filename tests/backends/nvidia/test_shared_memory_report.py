"""Kernels that need more shared memory than a CTA can have: the error names the loads, and its hint fits."""

import re

import pytest

import tritium
import tritium.language as tl
from tritium import OutOfResources
from tritium.compiler import ASTSource, GPUTarget, compile

ALIGNED = {(i,): [["tt.divisibility", 16]] for i in range(3)}


@tritium.jit
def pointers(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a + rm[:, None] * 1024 + rk[None, :]
    b_ptrs = b + rk[:, None] * 1024 + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, 1024, BK):
        x = tl.load(a_ptrs)
        y = tl.load(b_ptrs)
        acc = tl.dot(x, y, acc)
        a_ptrs += BK
        b_ptrs += BK * 1024
    tl.store(c + rm[:, None] * 1024 + rn[None, :], acc)


@tritium.jit
def descriptors(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, 1024, BK):
        acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
    c.store([0, 0], acc)


@tritium.jit
def gathers(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, BM)
    v = tl.load(a + i)
    tl.store(c + i, tl.gather(v, BM - 1 - i, 0))


def compiled(fn, sizes, num_stages, capability=90):
    constants = dict(zip(("BM", "BN", "BK"), sizes))
    if fn is descriptors:
        m, n, k = sizes
        kinds = f"tensordesc<fp16[{m}, {k}]>", f"tensordesc<fp16[{k}, {n}]>", f"tensordesc<fp32[{m}, {n}]>"
    else:
        kinds = "*fp16", "*fp16", "*fp32"
    source = ASTSource(fn, dict(zip("abc", kinds)), constants, {} if fn is descriptors else ALIGNED)
    return compile(source, GPUTarget("cuda", capability, 32), {"num_stages": num_stages, "num_warps": 8}, "llir")


def error(*args):
    with pytest.raises(OutOfResources) as caught:
        compiled(*args)
    return str(caught.value)


def position(fn, part):
    """`line:column` of a part of the text of a kernel, from 1."""
    source = fn.src.split("\n") if hasattr(fn, "src") else []
    first = fn.fn.__code__.co_firstlineno + 1  # of `def`, below the decorator
    line, text = next((i, line) for i, line in enumerate(source) if part in line)
    return f"{first + line}:{text.index(part) + 1}"


@pytest.mark.parametrize(
    ("fn", "sizes", "stages", "notes"),
    [
        (
            pointers,
            (128, 256, 128),
            5,
            {
                "tl.load(b_ptrs)": "327680 bytes: 5 stages of 128x256 fp16, loaded from b",
                "tl.load(a_ptrs)": "163840 bytes: 5 stages of 128x128 fp16, loaded from a",
            },
        ),
        (
            descriptors,
            (128, 256, 64),
            6,
            {
                "b.load": "196608 bytes: 6 stages of 64x256 fp16, loaded from b",
                "a.load": "98304 bytes: 6 stages of 128x64 fp16, loaded from a",
                "c.store": "131072 bytes: 128x256 fp32",
            },
        ),
        (descriptors, (256, 256, 128), 4, {"a.load": "262144 bytes: 4 stages of 256x128 fp16, loaded from a"}),
    ],
)
def test_error_points_at_the_loads_and_its_hint_fits(fn, sizes, stages, notes):
    text = error(fn, sizes, stages)
    assert text.startswith(f"kernel {fn.__name__}: out of resource: shared memory, Required: ")
    for part, note in notes.items():
        assert f".py:{position(fn, part)}: note: {note}\n" in text, text
    fewer = re.search(r"\nhint: each stage takes \d+ bytes: num_stages=(\d+) fits; or use smaller blocks$", text)
    assert fewer is not None, text
    assert compiled(fn, sizes, int(fewer[1])).metadata.shared <= 232448


def test_scratch_of_one_operation():
    text = error(gathers, (131072, 1, 1), 3, 80)
    assert f".py:{position(gathers, 'tl.gather')}: note: 262144 bytes of scratch for tl.gather\n" in text, text
    assert text.endswith("\nhint: use smaller blocks")
