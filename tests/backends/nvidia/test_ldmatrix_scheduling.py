"""Reads for products: which move, how far, and that registers hold at every place what they held."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from tests.example_kernels import load
from tritium.backends.nvidia import codegen
from tritium.backends.nvidia.ldmatrix_scheduling import LOOKAHEAD, sink_shared_loads
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

MATRIX = "\tldmatrix.sync.aligned.m8n8.x2.shared.b16 {{{0}, {1}}}, [{2}+64];"
READS = [MATRIX, "\tld.shared.b32 {0}, [{2}];", "\tld.shared.v2.b32 {{{0}, {1}}}, [{2}+16];"]
PRODUCT = "\tmma.sync.aligned.m16n8k8.row.col {{{0}, {1}}}, {{{2}}}, {{{3}}}, {{{0}, {1}}};"
OTHERS = ["\tadd.s32 {0}, {2}, {3};", "\tmov.b32 {0}, {2};", "\tshfl.sync.bfly.b32 {0}|%p1, {2}, 1, 31, -1;"]
WALLS = [
    "\tst.shared.b32 [{2}], {3};",
    "\tbar.sync 0;",
    "\tcp.async.wait_group 0;",
    "\t@%p1 bra $L__BB0_2;",
    "$L__BB0_2:",
]
WALLS += ["\tld.volatile.shared.b32 {0}, [{2}];", "\tld.shared.b32 {0}, [{2}]; st.shared.b32 [{2}], {3};"]
COMMENTS = ["\t// begin inline asm", "\t// end inline asm", "$L__tmp7:", "\t.loc\t1 7 9"]


def text_of(rng: random.Random) -> list[str]:
    """Lines of few registers, each written many times over."""
    kinds = [READS, READS, [PRODUCT], [PRODUCT], [PRODUCT], OTHERS, COMMENTS]
    registers = [f"%r{i}" for i in range(rng.choice((6, 20, 60)))]
    lines = []
    for _ in range(rng.randint(10, 120)):
        kind = WALLS if rng.random() < 0.03 else rng.choice(kinds)
        lines.append(rng.choice(kind).format(*rng.sample(registers, 4)))
    return lines


def run(lines: list[str]) -> tuple[list[Any], dict[str, Any]]:
    """What every wall and product sees, and what registers hold at the end, as terms."""
    held: dict[str, Any] = {}
    seen: list[Any] = []
    for line in lines:
        if line in COMMENTS:
            continue
        word, _, rest = line.strip().partition(" ")
        results = re.findall(r"%r\d+", (re.match(r"\{[^}]*\}|%\w+(\|%\w+)?", rest) or [""])[0])
        wall = any(re.fullmatch(re.sub(r"\\\{\d\\\}", r"%r\\d+", re.escape(w)), line) for w in WALLS)
        if wall:  # memory is another behind it
            term: Any = (line, tuple(held.get(r, r) for r in re.findall(r"%r\d+", line)), len(seen))
            seen.append(term)
        else:
            memory = sum(isinstance(s[2], int) for s in seen) if word.startswith("ld") else 0
            used = re.findall(r"%r\d+", rest) if word.startswith("mma") else re.findall(r"%r\d+", rest)[len(results) :]
            term = (word, memory, tuple(held.get(r, r) for r in used))
            if word.startswith("mma"):
                seen.append(("mma", term, None))
        term = hash(term)
        held |= {r: (term, i) for i, r in enumerate(results)}
    return seen, held


@pytest.mark.parametrize("case", range(300))
def test_registers_hold_what_they_held(case: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritium.backends.nvidia.ldmatrix_scheduling.LOOKAHEAD", 1 + case % 3)
    lines = text_of(random.Random(seed + case))
    found = sink_shared_loads("\n".join(lines)).split("\n")
    assert sorted(found) == sorted(lines)
    assert run(found) == run(lines)
    MOVED.append(found != lines)


MOVED: list[bool] = []


def test_reads_did_move() -> None:
    assert not MOVED or sum(MOVED) > len(MOVED) // 4


def test_as_many_products_stand_between_as_an_answer_takes() -> None:
    reads = [f"\tldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r{i}}}, [%r100+{i}];" for i in range(20)]
    products = [f"\tmma.sync.aligned {{%r{200 + i}}}, {{%r{i}}}, {{%r101}}, {{%r{200 + i}}};" for i in range(20)]
    found = sink_shared_loads("\n".join(reads + products)).split("\n")
    for i, (read, product) in enumerate(zip(reads, products)):
        between = found[found.index(read) : found.index(product)]
        assert sum("mma" in line for line in between) == min(i, LOOKAHEAD)


def test_what_a_later_block_needs_stays() -> None:
    """A read for the next iteration is on its way while the last products of this one run."""
    read = MATRIX.format("%r1", "%r2", "%r3")
    products = [PRODUCT.format(f"%r{10 + i}", f"%r{40 + i}", "%r5", "%r6") for i in range(20)]
    loop = "\n".join(
        [read, *products, "\tbra.uni $L__BB0_2;", "$L__BB0_2:", PRODUCT.format("%r7", "%r8", "%r1", "%r2")]
    )
    assert sink_shared_loads(loop) == loop


def test_texts_without_products_are_what_they_are() -> None:
    text = "\n".join(READS).format("%r1", "%r2", "%r3")
    assert sink_shared_loads(text) == text


@pytest.mark.parametrize("example", ["attention", "matmul"])
def test_kernels_compute_the_same(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, in the emulator, which looks for races."""
    emit = codegen.emit_ptx
    texts: list[tuple[str, str]] = []

    def late(*arguments: Any) -> str:
        text = emit(*arguments)
        texts.append((text, sink_shared_loads(text)))
        return texts[-1][1]

    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    rng = np.random.default_rng(3)
    x, y, z = (rng.standard_normal((128, 64)).astype(np.float16) for _ in range(3))
    results = []
    for emitting in (emit, late):
        monkeypatch.setattr(codegen, "emit_ptx", emitting)
        load.cache_clear()  # and with it what was compiled
        driver.set_active(EmulatedCUDADriver(80))
        try:
            out, logsum = np.full((128, 64), np.nan, np.float16), np.full(128, np.nan, np.float32)
            if example == "attention":
                sizes = {"HEAD_DIM": 64, "BLOCK_M": 64, "BLOCK_N": 64, "CAUSAL": True, "WARP_SPECIALIZE": False}
                load("attention").attention_forward[(2, 1)](x, y, z, out, logsum, 128, 0.2, **sizes, num_warps=4)
            else:
                sizes = {
                    "BLOCK_SIZE_M": 64,
                    "BLOCK_SIZE_N": 64,
                    "BLOCK_SIZE_K": 64,
                    "GROUP_SIZE_M": 8,
                    "ACTIVATION": "",
                }
                product = load("matmul").matmul_kernel
                product[(2,)](x, y[:64].copy(), out, 128, 64, 64, 64, 1, 64, 1, 64, 1, **sizes, num_warps=4)
        finally:
            driver.reset_active()
        assert not np.isnan(out).any()
        results.append((out, logsum))
    assert texts and texts[0][0] != texts[0][1]
    for one, other in zip(*results):
        np.testing.assert_array_equal(one, other)
