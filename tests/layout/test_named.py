"""Named layouts: against index arithmetic as the manuals write it, and against Triton's own maps."""

from __future__ import annotations

import doctest
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.layout.named import KINDS, of_kind
from tests.triton_oracle import TritonError, TritonOracle
from tritium.layout import LinearLayout, amd, distributed, shared, tiling
from tritium.layout.distributed import blocked, dot_operand_mma, linear, mma, slice_of
from tritium.layout.shared import nvmma_shared, swizzled_shared, tma_block_shape

RECORDED = Path(__file__).with_name("recorded.json")
"""Descriptions, shapes and bases as Triton 3.9.0 gives them; TRITIUM_BLESS=1 with Triton at hand writes it anew."""


def bases(layout: LinearLayout) -> dict[str, list[list[int]]]:
    return {name: [list(v) for v in vectors] for name, vectors in layout.bases.items()}


def test_documented_examples() -> None:
    for module in (tiling, distributed, shared, amd):
        assert not doctest.testmod(module).failed


@pytest.mark.parametrize("kind", KINDS)
def test_triton_has_the_same_map(kind: str, triton_oracle: TritonOracle, seed: int) -> None:
    rng = random.Random(seed)
    agreed = 0
    for _ in range(60):
        named = of_kind(kind, rng)
        try:
            theirs = triton_oracle.layout(named.description, named.shape)
        except TritonError as error:
            assert "must not be empty" in str(error), named  # Triton has no layout of a single element
            continue
        assert bases(named.ours()) == theirs, named
        agreed += 1
    assert agreed > 50


def test_recorded_maps() -> None:
    rng = random.Random(7)
    rows: list[Any] = json.loads(RECORDED.read_text())
    found = iter(rows)
    for kind in KINDS:
        for _ in range(8):
            named = of_kind(kind, rng)
            description, shape, theirs = next(found)
            assert [description, shape] == [named.description, named.shape], "record.json is of other layouts: bless it"
            assert bases(named.ours()) == theirs, named


@pytest.mark.skipif(not os.environ.get("TRITIUM_BLESS"), reason="writes the recorded maps; runs with TRITIUM_BLESS=1")
def test_record(triton_oracle: TritonOracle) -> None:
    rng = random.Random(7)
    chosen = [of_kind(kind, rng) for kind in KINDS for _ in range(8)]
    rows = [json.dumps([n.description, n.shape, triton_oracle.layout(n.description, n.shape)]) for n in chosen]
    RECORDED.write_text("[\n" + ",\n".join(rows) + "\n]\n")


@pytest.mark.parametrize("kind", KINDS)
def test_every_element_is_somewhere(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(30):
        named = of_kind(kind, rng)
        layout = named.ours()
        assert list(layout.outs.values()) == named.shape
        assert layout.is_surjective(), named


def at(layout: LinearLayout, **place: int) -> tuple[int, ...]:
    return tuple(layout.apply(**place).values())


def test_blocked_by_division() -> None:
    layout = blocked([32, 64], [2, 4], [8, 4], [2, 2], [1, 0])
    for register in range(8):
        for lane in range(32):
            for warp in range(4):
                row = register // 4 + 2 * (lane // 4) + 16 * (warp // 2)
                column = register % 4 + 4 * (lane % 4) + 16 * (warp % 2)
                assert at(layout, register=register, lane=lane, warp=warp) == (row, column)
    assert at(layout, register=8) == (0, 32)  # then the tile is repeated, along the fastest dimension first


def test_fragments_of_mma_m16n8k16() -> None:
    """Groups of four lanes and positions in them, as the PTX ISA numbers the fragments of f16 operands."""
    warps, instr = [1, 1], [16, 8]
    a = dot_operand_mma([16, 16], 0, 2, 2, warps, instr)
    b = dot_operand_mma([16, 8], 1, 2, 2, warps, instr)
    c = mma([16, 8], 2, warps, instr)
    for lane in range(32):
        group, within = lane // 4, lane % 4
        for i in range(8):
            row = group if i < 2 or 4 <= i < 6 else group + 8
            column = within * 2 + (i & 1) + (8 if i >= 4 else 0)
            assert at(a, register=i, lane=lane) == (row, column)
        for i in range(4):
            assert at(b, register=i, lane=lane) == (within * 2 + (i & 1) + (8 if i >= 2 else 0), group)
            assert at(c, register=i, lane=lane) == (group + (8 if i >= 2 else 0), within * 2 + (i & 1))


def test_fragments_of_wgmma() -> None:
    """The accumulator of wgmma.m64nNk16: 16 rows a warp, columns in groups of eight."""
    layout = mma([64, 32], 3, [4, 1], [16, 32, 16])
    for warp in range(4):
        for lane in range(32):
            for i in range(16):
                row = 16 * warp + lane // 4 + 8 * (i // 2 % 2)
                assert at(layout, register=i, lane=lane, warp=warp) == (row, 8 * (i // 4) + lane % 4 * 2 + i % 2)


def test_warps_share_operands() -> None:
    a = dot_operand_mma([32, 16], 0, 2, 2, [2, 2], [16, 8])
    assert {at(a, warp=w) for w in (0, 1)} == {(0, 0)} and {at(a, warp=w) for w in (2, 3)} == {(16, 0)}
    with pytest.raises(ValueError, match="from shared memory only"):
        dot_operand_mma([16, 64], 1, 2, 3, [4, 1], [16, 64, 16])


def test_slice_is_its_parents_row() -> None:
    def parent(shape: list[int]) -> LinearLayout:
        return blocked(shape, [1, 4], [8, 4], [2, 2], [1, 0])

    whole, row = parent([1, 64]), slice_of([64], 0, parent)
    for lane in range(32):
        for warp in range(4):
            for register in range(row.ins["register"]):
                place = {"register": register, "lane": lane, "warp": warp}
                assert at(row, **place) == at(whole, **place)[1:]


def test_swizzling_by_exclusive_or() -> None:
    vec, per_phase, max_phase = 4, 2, 4
    layout = swizzled_shared([16, 64], vec, per_phase, max_phase, [1, 0])
    for row in range(16):
        for column in range(64):
            group, rest = divmod(column, vec)
            assert at(layout, offset=row * 64 + column) == (row, (group ^ (row // per_phase % max_phase)) * vec + rest)


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_bytes_of_swizzled_rows(swizzle: int) -> None:
    """The 16 bytes at byte address x are those of address x ^ (x >> 7 & mask) << 4 of unswizzled rows."""
    columns = swizzle // 2
    layout = nvmma_shared([64, columns], swizzle, 16)
    for offset in range(64 * columns):
        byte = offset * 2
        byte ^= (byte >> 7 & (swizzle // 16 - 1)) << 4
        assert at(layout, offset=offset) == divmod(byte // 2, columns)


def test_boxes_of_the_memory_accelerator() -> None:
    assert tma_block_shape([512, 128], 128, 16, False, False) == [256, 64]
    assert tma_block_shape([512, 128], 0, 16, False, False) == [256, 128]
    assert tma_block_shape([128, 512], 64, 8, True, False) == [64, 256]
    with pytest.raises(ValueError, match="dimension 1 has 32 elements, a row of 128 bytes has 64"):
        tma_block_shape([64, 32], 128, 16, False, False)
    with pytest.raises(ValueError, match="swizzling needs 8 x 64"):
        nvmma_shared([4, 64], 128, 16)


def test_linear_is_what_its_bases_say() -> None:
    vectors = {"register": [[0, 1], [8, 0]], "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], "warp": [[0, 8]]}
    layout = linear([16, 16], **vectors, block=[], order=[1, 0])
    assert bases(layout) == {**vectors, "block": []}
    larger = linear([32, 32], **vectors, block=[], order=[1, 0])
    assert bases(larger)["register"] == [[0, 1], [8, 0], [0, 16], [16, 0]]
    smaller = linear([8, 8], **vectors, block=[], order=[1, 0])
    assert bases(smaller) == {**vectors, "register": [[0, 1]], "warp": [[0, 0]], "block": []}


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="is no order of 2 dimensions"):
        blocked([4, 4], [1, 1], [4, 8], [1, 1], [1, 1])
    with pytest.raises(ValueError, match="a tile of 1 dimensions does not fit a tensor of 2"):
        blocked([4, 4], [1], [32], [1], [0])
    with pytest.raises(ValueError, match="which is not a power of two"):
        blocked([4], [3], [32], [1], [0])
