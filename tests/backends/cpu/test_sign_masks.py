"""Vector masks of sign bits and of truncations: the right lanes, however many vectors are alive."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

from tritium.backends.cpu.llvm import compile_llvm, emit_assembly, emit_object, optimize
from tritium.backends.cpu.loader import load_object
from tritium.backends.cpu.sign_masks import without_sign_masks
from tritium.backends.cpu.target import host_target, named_target

WIDTHS = [(16, 8), (4, 32), (8, 32), (2, 64), (4, 64), (32, 8), (16, 32), (8, 16)]
QUESTIONS = ["trunc", "slt 0", "sge 0", "sgt -1", "sle -1", "ult least", "uge least", "ugt most", "ule most"]
ALIVE = 28
"""Vectors that are needed before and after their masks: more than there are registers without AVX-512."""


def mask(question: str, lanes: int, bits: int, value: str) -> str:
    if question == "trunc":
        return f"trunc <{lanes} x i{bits}> {value} to <{lanes} x i1>"
    predicate, bound = question.split()
    least = -(1 << bits - 1)
    number = {"least": least, "most": ~least}.get(bound) or int(bound)
    return (
        f"icmp {predicate} <{lanes} x i{bits}> {value}, {f'splat (i{bits} {number})' if number else 'zeroinitializer'}"
    )


def program(question: str, lanes: int, bits: int) -> str:
    """f(x, masks, sums): the mask of each of ALIVE vectors as a number, then each vector doubled."""
    vector = f"<{lanes} x i{bits}>"
    lines = []
    for i in range(ALIVE):
        lines.append(f"%p{i} = getelementptr {vector}, ptr %x, i64 {i}")
        lines.append(f"%v{i} = load volatile {vector}, ptr %p{i}, align 1")
    for i in range(ALIVE):
        lines.append(f"%m{i} = {mask(question, lanes, bits, f'%v{i}')}")
        lines.append(f"%b{i} = bitcast <{lanes} x i1> %m{i} to i{lanes}")
        lines.append(f"%n{i} = zext i{lanes} %b{i} to i64")
        lines.append(f"%q{i} = getelementptr i64, ptr %masks, i64 {i}")
        lines.append(f"store volatile i64 %n{i}, ptr %q{i}, align 1")
    for i in range(ALIVE):
        lines.append(f"%d{i} = add {vector} %v{i}, %v{i}")
        lines.append(f"%r{i} = getelementptr {vector}, ptr %sums, i64 {i}")
        lines.append(f"store volatile {vector} %d{i}, ptr %r{i}, align 1")
    body = "\n  ".join([*lines, "ret void"])
    return f"define void @f(ptr %x, ptr %masks, ptr %sums) {{\n  {body}\n}}\n".replace(
        "zext i64 ", "add i64 0, "
    ).replace("add i64 0, %b", "or i64 0, %b")


def wanted(question: str, x: np.ndarray) -> np.ndarray:
    on = x & 1 if question == "trunc" else (x < 0) == (question.split()[0] in ("slt", "sle", "uge", "ugt"))
    return (on.astype(np.uint64) << np.arange(x.shape[1], dtype=np.uint64)).sum(1)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("lanes", "bits"), WIDTHS)
def test_masks_are_those_of_the_numbers(lanes, bits, question):
    loaded = load_object(compile_llvm(program(question, lanes, bits), host_target()).object)
    x = np.random.default_rng(bits).integers(-(1 << bits - 1), (1 << bits - 1) - 1, (ALIVE, lanes), f"i{bits // 8}")
    masks, sums = np.full(ALIVE, -1), np.zeros_like(x)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(loaded.address("f"))
    function(x.ctypes.data, masks.ctypes.data, sums.ctypes.data)
    np.testing.assert_array_equal(masks.astype(np.uint64), wanted(question, x))
    np.testing.assert_array_equal(sums, x + x)


@pytest.mark.parametrize("target", ["cascadelake", "sapphirerapids", "znver4", "znver5"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_mask_comes_from_a_register_that_its_instruction_cannot_name(question, target):
    for lanes, bits in WIDTHS:
        text = emit_assembly(optimize(program(question, lanes, bits), named_target(target)), named_target(target))
        assert not re.search(r"v\w*movmsk\w+\s+%[xy]mm(?:1[6-9]|[23]\d)", text), (lanes, bits)


def test_a_mask_that_another_block_reads_stays_set():
    """The pass takes the only instruction away that sets it, where its own block needs no more than its bits."""
    text = """
define i64 @f(ptr %x, ptr %out, i64 %n) {
  %v = load <4 x i32>, ptr %x, align 1
  %m = icmp slt <4 x i32> %v, zeroinitializer
  %b = bitcast <4 x i1> %m to i4
  %some = zext i4 %b to i64
  %more = icmp sgt i64 %n, 0
  br i1 %more, label %write, label %done
write:
  call void @llvm.masked.store.v4i32.p0(<4 x i32> splat (i32 7), ptr align 1 %out, <4 x i1> %m)
  br label %done
done:
  ret i64 %some
}
declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr captures(none), <4 x i1>)
"""
    loaded = load_object(compile_llvm(text, host_target()).object)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(loaded.address("f"))
    x, out = np.array([-1, 5, -3, 0], np.int32), np.zeros(4, np.int32)
    assert function(x.ctypes.data, out.ctypes.data, 1) == 0b0101
    assert out.tolist() == [7, 0, 7, 0]
    for name in ("sapphirerapids", "znver4"):
        assert "movmsk" not in emit_assembly(optimize(text, named_target(name)), named_target(name))


def test_the_rest_of_the_text_is_left_alone():
    text = program("slt 0", 4, 32).replace("slt", "eq")
    assert without_sign_masks(text) == text
    other = text.replace("icmp eq <4 x i32> %v0, zeroinitializer", "icmp slt <4 x i32> %v0, splat (i32 5)")
    assert without_sign_masks(other) == other


def test_names_that_are_taken_are_not_taken_again():
    text = re.sub(r"%v1\b", '%"odd name"', program("slt 0", 4, 32).replace("%v0", "%hidden.constant.0"))
    rewritten = without_sign_masks(text)
    assert rewritten.count("asm") == 1 and "%hiddens.constant.0 = " in rewritten
    emit_object(text, named_target("znver4"))
    assert without_sign_masks("; no function\n") == "; no function\n"
