"""Masked stores with constant masks: the lanes of the mask are written, and no byte beside them."""

from __future__ import annotations

import ctypes
import random
import re

import numpy as np
import pytest

from tritium.backends.cpu.llvm import compile_llvm, emit_assembly
from tritium.backends.cpu.loader import load_object
from tritium.backends.cpu.masked_stores import without_single_lanes
from tritium.backends.cpu.target import host_target, named_target

MASKS = ["first", "second", "one", "two", "few", "half", "but one", "undefined", "none", "all"]


def mask_of(kind: str, lanes: int, rng: random.Random) -> list[str]:
    some = {"first": [0], "second": [1 % lanes], "one": [rng.randrange(lanes)], "none": [], "all": range(lanes)}.get(
        kind
    )
    if some is None:
        count = {"two": 2, "few": max(2, lanes // 4), "half": lanes // 2, "but one": lanes - 1, "undefined": 2}[kind]
        some = rng.sample(range(lanes), min(count, lanes))
    words = ["true" if lane in some else "false" for lane in range(lanes)]
    if kind == "undefined":
        words[rng.randrange(lanes)] = "poison"
    return words


def program(lanes: int, wide: int, bits: int, mask: list[str], align: int = 1) -> str:
    """f(pointer to `lanes` numbers of `wide` bits, out): the numbers of the mask, truncated to `bits`."""
    lane_mask = ", ".join(f"i1 {word}" for word in mask)
    return f"""
define void @f(ptr %x, ptr %out) {{
  %a = load <{lanes} x i{wide}>, ptr %x, align 1
  %t = trunc <{lanes} x i{wide}> %a to <{lanes} x i{bits}>
  call void @llvm.masked.store.v{lanes}i{bits}.p0(<{lanes} x i{bits}> %t, ptr align {align} %out, <{lanes} x i1> <{lane_mask}>)
  ret void
}}
declare void @llvm.masked.store.v{lanes}i{bits}.p0(<{lanes} x i{bits}>, ptr captures(none), <{lanes} x i1>)
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize(("wide", "bits"), [(16, 8), (32, 8), (32, 16), (64, 8), (64, 16), (64, 32)])
@pytest.mark.parametrize("lanes", [2, 4, 8, 16, 32, 64])
def test_lanes_of_the_mask_are_written_and_nothing_else(lanes, wide, bits, kind):
    rng = random.Random(lanes * wide + bits)
    mask = mask_of(kind, lanes, rng)
    loaded = load_object(compile_llvm(program(lanes, wide, bits, mask), host_target()).object)
    x = np.random.default_rng(lanes).integers(0, 1 << 63, lanes).astype(f"u{wide // 8}")
    poison = np.array(0xA5A5A5A5 & ((1 << bits) - 1), f"u{bits // 8}")
    out = np.full(lanes + 8, poison)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("f"))(x.ctypes.data, out.ctypes.data)
    for lane, word in enumerate(mask):
        if word != "poison":
            assert out[lane] == (x[lane].astype(out.dtype) if word == "true" else poison), (lane, mask)
    assert (out[lanes:] == poison).all()


@pytest.mark.parametrize(("lanes", "wide", "bits"), [(16, 32, 16), (64, 32, 8), (8, 64, 32)])
def test_no_store_is_wider_than_a_lane(lanes, wide, bits):
    target = named_target("sapphirerapids")
    mask = ["true" if lane % 8 == 1 else "false" for lane in range(lanes)]
    assembly = emit_assembly(program(lanes, wide, bits, mask), target)
    assert not re.search(r"v(movss|movlps|movlpd|extractps|pextrq)\s[^\n]*\(%rsi\)", assembly), assembly


def test_alignment_metadata_and_what_is_left_of_the_mask():
    before = program(8, 32, 16, ["true", "true", "false", "false", "false", "false", "true", "false"], align=8)
    before = before.replace("false>)\n", "false>) #3, !alias.scope !1, !noalias !2\n")
    after = without_single_lanes(before)
    assert "%lane.0 = extractelement <8 x i16> %t, i64 6" in after
    assert "%lane.1 = getelementptr i8, ptr %out, i64 12" in after
    assert "store i16 %lane.0, ptr %lane.1, align 4, !alias.scope !1, !noalias !2\n" in after
    assert "<8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>) #3" in after


def test_text_without_single_lanes_is_left_alone():
    text = program(8, 32, 16, ["true"] * 4 + ["false"] * 4)
    assert without_single_lanes(text) == text
    assert without_single_lanes("define void @f() {\n  ret void\n}\n") == "define void @f() {\n  ret void\n}\n"
