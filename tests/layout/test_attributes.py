"""The maps of the attributes of the ttg dialect are those of the named layouts."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tritium.dialects.ttg  # noqa: F401  (its attributes are read here)
from tests.layout.named import KINDS, of_kind
from tests.triton_oracle import TritonOracle
from tritium.dialects.ttg_maps import holders, linear_layout, linear_layout_of
from tritium.ir import parse_attribute, parse_type
from tritium.layout import LinearLayout
from tritium.layout.distributed import linear


def attribute_text(description: list[Any]) -> str:
    """The attribute that a description for Triton's Gluon stands for."""
    kind, *a = description
    if kind == "BlockedLayout":
        names = ["sizePerThread", "threadsPerWarp", "warpsPerCTA", "order", "CGALayout"]
        return f"#ttg.blocked<{{{', '.join(f'{n} = {v}' for n, v in zip(names, a))}}}>"
    if kind == "SliceLayout":
        return f"#ttg.slice<{{dim = {a[0]}, parent = {attribute_text(a[1])}}}>"
    if kind == "NVMMADistributedLayout":
        version, warps, instr, blocks = a
        head = f"versionMajor = {version[0]}, versionMinor = 0, warpsPerCTA = {warps}"
        return f"#ttg.nvidia_mma<{{{head}, CGALayout = {blocks}, instrShape = {instr}}}>"
    if kind == "AMDMFMALayout":
        version, instr, transposed, warps, bits, tiles, blocks = a
        head = f"version = {version}, warpsPerCTA = {warps}, instrShape = {instr}"
        flags = f"isTransposed = {str(transposed).lower()}, tilesPerWarp = {tiles}, elementBitWidth = {bits}"
        return f"#ttg.amd_mfma<{{{head}, {flags}, CGALayout = {blocks}}}>"
    if kind == "AMDWMMALayout":
        version, transposed, warps, registers, instr, blocks, rank = a
        head = f"version = {version}, isTranspose = {str(transposed).lower()}, rank = {rank}"
        parts = [f"{name} = {v}" for name, v in (("register", registers), ("warp", warps)) if v]
        rest = f"instrShape = {instr}, CGALayout = {blocks}"
        return f"#ttg.amd_wmma<{{{head}, ctaLayout = {{{', '.join(parts)}}}, {rest}}}>"
    if kind == "DotOperandLayout":
        width = f", kWidth = {a[2]}" if a[2] else ""
        return f"#ttg.dot_op<{{opIdx = {a[0]}, parent = {attribute_text(a[1])}{width}}}>"
    if kind == "SwizzledSharedLayout":
        names = ["vec", "perPhase", "maxPhase", "order", "CGALayout"]
        return f"#ttg.swizzled_shared<{{{', '.join(f'{n} = {v}' for n, v in zip(names, a))}}}>"
    swizzle, bits, rank, transposed, fp4, blocks = a
    flags = f"transposed = {str(transposed).lower()}, fp4Padded = {str(fp4).lower()}"
    head = f"swizzlingByteWidth = {swizzle}, elementBitWidth = {bits}, {flags}, rank = {rank}"
    return f"#ttg.nvmma_shared<{{{head}, CGALayout = {blocks}}}>"


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_have_the_maps_of_their_constructors(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        named = of_kind(kind, rng)
        text = attribute_text(named.description)
        assert linear_layout(parse_attribute(text), tuple(named.shape)) is named.ours(), text


LINEAR = """#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                         warp = [[0, 8], [16, 0]], block = []}>"""


@pytest.mark.parametrize("shape", [(32, 16), (64, 64), (128, 16), (16, 8), (4, 4), (1, 64)])
def test_linear_attributes_are_repeated_or_cut(shape: tuple[int, int], triton_oracle: TritonOracle) -> None:
    a: Any = parse_attribute(LINEAR)
    ours = linear_layout(a, shape)
    assert list(ours.outs.values()) == list(shape) and ours.is_surjective()
    parts = [[list(v) for v in part] for part in (a.register, a.lane, a.warp, a.block)]
    theirs = triton_oracle.layout(["DistributedLinearLayout", *parts, [32, 16]], list(shape))
    assert {name: [list(v) for v in vectors] for name, vectors in ours.bases.items()} == theirs


def test_of_types() -> None:
    ty: Any = parse_type(f"tensor<64x32xf16, {LINEAR}>")
    assert linear_layout_of(ty) is linear_layout(ty.encoding, (64, 32))
    shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    buffer: Any = parse_type(f"!ttg.memdesc<3x64x32xf16, {shared}, #ttg.shared_memory, mutable>")
    assert linear_layout_of(buffer).outs == {"dim0": 64, "dim1": 32}
    padded: Any = parse_attribute("#ttg.padded_shared<[64:+8] {order = [0, 1], shape = [16, 32]}>")
    assert linear_layout(padded, (16, 32)).apply(offset=17) == {"dim0": 1, "dim1": 1}
    linear_offsets: Any = parse_attribute("#ttg.shared_linear<{offset = [[0, 1], [1, 0], [0, 2]]}, alignment = 16>")
    assert linear_layout(linear_offsets, (2, 4)).apply(offset=6) == {"dim0": 1, "dim1": 2}
    assert list(linear((4,), [[1], [2]], [], [], [], [0]).ins) == ["register", "lane", "warp", "block"]


def test_holders() -> None:
    layout = LinearLayout.identity_1d(2, "register", "dim0") * LinearLayout.zeros_1d(2, "lane", "dim0")
    found = holders(layout, [2])
    assert found == {(r,): [{"register": r, "lane": 0}, {"register": r, "lane": 1}] for r in range(2)}


def test_what_has_no_map() -> None:
    with pytest.raises(ValueError, match="a layout of 2 dimensions for a tensor of 1"):
        linear_layout(parse_attribute(LINEAR), (64,))
    with pytest.raises(ValueError, match="has no layout"):
        linear_layout_of(parse_type("tensor<4xf32>"))  # type: ignore[arg-type]
