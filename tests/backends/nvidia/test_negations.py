"""Negated operands of signed minima and maxima: computed, where ptxas would lose the sign."""

from __future__ import annotations

import re

import pytest

from tests.backends.nvidia.texts import needs_nvdisasm, needs_ptxas
from tritium.backends.nvidia.assembler import Assembler, assembler_options
from tritium.backends.nvidia.codegen import Chip, emit_ptx, optimize
from tritium.backends.nvidia.disassembler import instructions_of
from tritium.backends.nvidia.negations import with_negations_computed

FORMS = ["x, -y, z", "-y, x, z", "-x, -y, -z", "z, x, -y"]


def program(form: str, bits: int, name: str) -> str:
    """k(in, out): the greatest or least of three numbers, some of them negated, for each thread."""
    lines = []
    for i, of in enumerate("xyz"):
        lines.append(f"%p{of} = getelementptr i{bits}, ptr addrspace(1) %at, i64 {i}")
        lines.append(f"%{of} = load i{bits}, ptr addrspace(1) %p{of}")
        lines.append(f"%n{of} = sub i{bits} 0, %{of}")
    a, b, c = (f"%{word.replace('-', 'n')}" for word in form.split(", "))
    lines.append(f"%m = call i{bits} @llvm.{name}.i{bits}(i{bits} {a}, i{bits} {b})")
    lines.append(f"%r = call i{bits} @llvm.{name}.i{bits}(i{bits} %m, i{bits} {c})")
    body = "\n  ".join(lines)
    return f"""define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %at = getelementptr i{bits}, ptr addrspace(1) %in, i64 %i
  {body}
  %to = getelementptr i{bits}, ptr addrspace(1) %out, i64 %i
  store i{bits} %r, ptr addrspace(1) %to
  ret void
}}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i{bits} @llvm.{name}.i{bits}(i{bits}, i{bits})
"""


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("name", ["smax", "smin"])
@pytest.mark.parametrize("form", FORMS)
def test_no_extreme_has_a_negated_operand(form, name, bits):
    text = emit_ptx(optimize(program(form, bits, name), Chip(90, 84)), Chip(90, 84))
    negated = set(re.findall(r"\bneg\.s\d+\s+(%\w+)", text))
    operands = re.findall(r"\b(?:max|min)\.s\d+\s+%\w+, (%\w+), (%\w+)", text)
    assert len(operands) == 2 and not negated & {name for pair in operands for name in pair}
    assert len(re.findall(r"\bnot\.b", text)) == form.count("-")


@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize("form", FORMS)
def test_every_sign_is_in_the_machine_code(form):
    """As many operands are turned round as the program says: ~(y - 1), one LOP3 with the table of `not` each."""
    ptx = emit_ptx(optimize(program(form, 32, "smax"), Chip(90, 84)), Chip(90, 84))
    cubin, _ = Assembler(assembler_options("sm_90a")).finish(ptx, "k")
    code = instructions_of(cubin)["k"]
    turned = [i for i in code if "LOP3" in i.text and "0x33" in i.text or re.search(r", -R\d", i.text)]
    assert len([i for i in turned if "MNMX" not in i.text]) == form.count("-")


def test_chips_without_the_instruction_keep_their_modifiers():
    text = emit_ptx(optimize(program(FORMS[0], 32, "smax"), Chip(80, 84)), Chip(80, 84))
    assert "neg.s32" in text and "not.b32" not in text


def test_copies_of_negations_count():
    ptx = "\tneg.s32 \t%r1, %r2;\n\tmov.b32 \t%r3, %r1;\n\tselp.b32 \t%r4, %r5, %r3, %p1;\n\tmax.s32 \t%r6, %r4, 7;\n"
    assert with_negations_computed(ptx).startswith("\tadd.s32 \t%r1, %r2, -1;\n\tnot.b32 \t%r1, %r1;\n\tmov.b32")


def test_other_negations_are_left_alone():
    ptx = "\tneg.s32 \t%r1, %r2;\n\tadd.s32 \t%r3, %r1, %r4;\n\tmax.s32 \t%r6, %r3, 7;\n\tneg.f32 \t%r7, %r6;\n"
    assert with_negations_computed(ptx) == ptx
    assert with_negations_computed("\tneg.s32 \t%r1, %r2;\n\tmax.u32 \t%r6, %r1, 7;\n").startswith("\tneg")
