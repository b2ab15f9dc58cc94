"""Negations and absolute values: computed, where ptxas would lose the sign or forget that they wrap around."""

from __future__ import annotations

import re

import pytest

from tests.backends.nvidia.texts import needs_nvdisasm, needs_ptxas
from tritium.backends.nvidia.assembler import Assembler, assembler_options
from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize
from tritium.backends.nvidia.disassembler import instructions_of
from tritium.backends.nvidia.signed_arithmetic_fixups import fix_signed_arithmetic

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
    text = emit_ptx(optimize(program(form, bits, name), NVPTXTarget(90, 84)), NVPTXTarget(90, 84))
    negated = set(re.findall(r"\bneg\.s\d+\s+(%\w+)", text))
    operands = re.findall(r"\b(?:max|min)\.s\d+\s+%\w+, (%\w+), (%\w+)", text)
    assert len(operands) == 2 and not negated & {name for pair in operands for name in pair}
    assert len(re.findall(r"\bnot\.b", text)) == form.count("-")


@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize("form", FORMS)
def test_every_sign_is_in_the_machine_code(form):
    """As many operands are turned round as the program says: ~(y - 1), one LOP3 with the table of `not` each."""
    ptx = emit_ptx(optimize(program(form, 32, "smax"), NVPTXTarget(90, 84)), NVPTXTarget(90, 84))
    cubin, _ = Assembler(assembler_options("sm_90a")).finish(ptx, "k")
    code = instructions_of(cubin)["k"]
    turned = [i for i in code if "LOP3" in i.text and "0x33" in i.text or re.search(r", -R\d", i.text)]
    assert len([i for i in turned if "MNMX" not in i.text]) == form.count("-")


def test_chips_without_the_instruction_keep_their_modifiers():
    text = emit_ptx(optimize(program(FORMS[0], 32, "smax"), NVPTXTarget(80, 84)), NVPTXTarget(80, 84))
    assert "neg.s32" in text and "not.b32" not in text


def test_copies_of_negations_count():
    ptx = "\tneg.s32 \t%r1, %r2;\n\tmov.b32 \t%r3, %r1;\n\tselp.b32 \t%r4, %r5, %r3, %p1;\n\tmax.s32 \t%r6, %r4, 7;\n"
    wanted = "\tadd.s32 \t%r1, %r2, -1;\n\tnot.b32 \t%r1, %r1;\n\tmov.b32"
    assert fix_signed_arithmetic(ptx, 90).startswith(wanted)


def test_other_negations_are_left_alone():
    ptx = "\tneg.s32 \t%r1, %r2;\n\tadd.s32 \t%r3, %r1, %r4;\n\tmax.s32 \t%r6, %r3, 7;\n\tneg.f32 \t%r7, %r6;\n"
    assert fix_signed_arithmetic(ptx, 90) == ptx
    assert fix_signed_arithmetic("\tneg.s32 \t%r1, %r2;\n\tmax.u32 \t%r6, %r1, 7;\n", 90).startswith("\tneg")


def test_what_stands_under_a_predicate_is_left_alone():
    """Inline assembly, that is; two instructions would need the predicate twice."""
    ptx = "\t@%p1 neg.s16 \t%rs1, %rs2;\n\t@%p1 abs.s32 \t%r1, %r2;\n\tabs.s32 \t%r1, %r1;\n"
    assert fix_signed_arithmetic(ptx, 90) == ptx


@pytest.mark.parametrize("capability", [80, 90])
def test_halves_are_negated_as_unsigned_numbers(capability):
    """Whatever reads the result widens it then, where `neg.s16` leaves 32768 for the negated least number."""
    given = "\tneg.s16 \t%rs1, %rs2;\n\tcvt.s32.s16 \t%r1, %rs1;\n\tsub.s16 \t%rs3, %rs4, %rs1;\n"
    wanted = "\tsub.u16 \t%rs1, 0, %rs2;\n\tcvt.s32.s16 \t%r1, %rs1;\n\tsub.u16 \t%rs3, %rs4, %rs1;\n"
    assert fix_signed_arithmetic(given, capability) == wanted


WRAPPED = {
    "cvt": "cvt.s32.s16 %r1, %rs2;",
    "shr": "shr.s16 %rs2, %rs2, 3; cvt.u32.u16 %r1, %rs2;",
    "setp": "setp.lt.s16 %p1, %rs2, %rs3; selp.b32 %r1, 1, 0, %p1;",
    "mul": "mul.wide.s16 %r1, %rs2, %rs3;",
}


@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("what", ["neg", "abs"])
@pytest.mark.parametrize("use", WRAPPED)
def test_machine_code_widens_what_may_wrap(use, what, capability):
    """A negation is followed by the widening of its low half (PRMT 0x9910), or none of its high half is read."""
    text = f"""
.visible .entry k(.param .u64 a, .param .u64 b) {{
\t.reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;
\tld.param.b64 %rd1, [a]; ld.param.b64 %rd2, [b];
\tld.global.b16 %rs1, [%rd1]; ld.global.b16 %rs3, [%rd1+2];
\t{what}.s16 %rs2, %rs1;
\t{WRAPPED[use]}
\tst.global.b32 [%rd2], %r1;
\tret;
}}
"""
    head = f".version 8.4\n.target sm_{capability}\n.address_size 64\n"
    cubin, _ = Assembler(assembler_options(f"sm_{capability}")).finish(
        head + fix_signed_arithmetic(text, capability), "k"
    )
    code = [i.text for i in instructions_of(cubin)["k"]]
    last = max(i for i, line in enumerate(code) if re.search(r"IABS|-R\d|MNMX|0x33", line))
    assert any("PRMT" in line and "0x9910" in line for line in code[last:]), "\n".join(code)


@needs_ptxas
@needs_nvdisasm
def test_an_absolute_value_may_be_negative():
    """That of the least number is."""
    llir = """define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(1) %in
  %a = call i32 @llvm.abs.i32(i32 %x, i1 false)
  %less = icmp slt i32 %a, 0
  %r = zext i1 %less to i32
  store i32 %r, ptr addrspace(1) %out
  ret void
}
declare i32 @llvm.abs.i32(i32, i1)
"""
    ptx = emit_ptx(optimize(llir, NVPTXTarget(90, 84)), NVPTXTarget(90, 84))
    cubin, _ = Assembler(assembler_options("sm_90a")).finish(ptx, "k")
    assert any("LDG" in i.text for i in instructions_of(cubin)["k"])


@needs_ptxas
@needs_nvdisasm
def test_the_upper_half_of_a_product_less_a_long_number_has_its_carry():
    text = """define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(1) %in
  %at = getelementptr i16, ptr addrspace(1) %in, i64 8
  %y = load i16, ptr addrspace(1) %at
  %w = zext i32 %x to i64
  %p = mul i64 %w, %w
  %h = lshr i64 %p, 32
  %l = sext i16 %y to i64
  %d = sub i64 %h, %l
  store i64 %d, ptr addrspace(1) %out
  ret void
}
"""
    ptx = emit_ptx(optimize(text, NVPTXTarget(90, 84)), NVPTXTarget(90, 84))
    cubin, _ = Assembler(assembler_options("sm_90a")).finish(ptx, "k")
    code = [i.text for i in instructions_of(cubin)["k"]]
    assert not [t for t in code if re.search(r"IMAD\.HI\.U32 R\d+, P\d", t)], code
    plain = "\tmul.hi.u32 \t%r1, %r2, %r3;\n\tcvt.u64.u32 \t%rd1, %r1;\n\tsub.s64 \t%rd2, %rd1, %rd3;\n"
    assert "not.b64 \t%below, %rd3;" in fix_signed_arithmetic(plain, 90) and "sub.s64" not in fix_signed_arithmetic(
        plain, 90
    )
    other = plain.replace("%rd1, %rd3", "%rd3, %rd1")
    assert fix_signed_arithmetic(other, 90) == other
