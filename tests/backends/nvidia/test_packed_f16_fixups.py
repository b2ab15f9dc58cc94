"""Numbers of 16 bits that ptxas gets wrong: bits of floats between two constants, choices among three, masks of two that are
rounded together."""

from __future__ import annotations

import re

import pytest

from tests.backends.nvidia.texts import needs_nvdisasm, needs_ptxas
from tritium.backends.nvidia.assembler import Assembler, assembler_options
from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize
from tritium.backends.nvidia.disassembler import instructions_of
from tritium.backends.nvidia.packed_f16_fixups import fix_packed_f16

UNSIGNED = "%r$ = zext i16 %x$ to i32"
LARGER = "%c$ = icmp ugt i16 %x$, 20000\n  %r$ = zext i1 %c$ to i32"
SIGNED = "%r$ = sext i16 %x$ to i32"


def program(
    use: str, low: str = "0xH0000", high: str = "0xH5640", names: tuple[str, str] = ("maxnum", "minnum")
) -> str:
    """k(in, out): two halves, each held between `low` and `high`, and what `use` makes of their bits."""
    lines = ["%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "%i = zext i32 %t to i64"]
    for k in range(2):
        lines += [
            f"%p{k} = getelementptr [2 x float], ptr addrspace(1) %in, i64 %i, i64 {k}",
            f"%f{k} = load float, ptr addrspace(1) %p{k}",
            f"%h{k} = fptrunc float %f{k} to half",
            f"%a{k} = call half @llvm.{names[0]}.f16(half %h{k}, half {low})",
            f"%b{k} = call half @llvm.{names[1]}.f16(half %a{k}, half {high})",
            f"%x{k} = bitcast half %b{k} to i16",
            use.replace("$", str(k)),
            f"%q{k} = getelementptr [2 x i32], ptr addrspace(1) %out, i64 %i, i64 {k}",
            f"store i32 %r{k}, ptr addrspace(1) %q{k}",
        ]
    body = "\n  ".join(lines)
    return f"""define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {{
  {body}
  ret void
}}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare half @llvm.{names[0]}.f16(half, half)
declare half @llvm.{names[1]}.f16(half, half)
"""


def ptx_of(text: str, capability: int = 90) -> str:
    chip = NVPTXTarget(capability, 84)
    return emit_ptx(optimize(text, chip), chip)


def extremes(ptx: str) -> list[str]:
    return sorted(re.findall(r"\b(?:max|min)\.(?:NaN\.)?f16", ptx))


@pytest.mark.parametrize("use", [UNSIGNED, LARGER])
def test_a_bound_is_a_choice_where_bits_are_read_without_sign(use):
    ptx = ptx_of(program(use))
    assert extremes(ptx) == ["max.f16"] * 2 and ptx.count("setp.lt.f16") == 2
    ptx = ptx_of(program(use, "0xHD640", "0xH0000"))
    assert extremes(ptx) == ["min.f16"] * 2 and ptx.count("setp.gt.f16") == 2


def test_others_stay():
    assert extremes(ptx_of(program(SIGNED))) == ["max.f16"] * 2 + ["min.f16"] * 2
    one_sided = "\tmov.b16 \t%rs1, 0x3C00;\n\tmax.f16 \t%rs2, %rs3, %rs1;\n\tcvt.u32.u16 \t%r1, %rs2;\n"
    assert fix_packed_f16(one_sided) == one_sided
    variable = "\tmin.f16 \t%rs2, %rs3, %rs1;\n\tcvt.u32.u16 \t%r1, %rs2;\n"
    assert fix_packed_f16(variable) == variable


def test_nan_is_handed_on():
    ptx = ptx_of(program(UNSIGNED, "0xHD640", names=("maximum", "minimum")))
    assert extremes(ptx) == ["max.NaN.f16"] * 2 and ptx.count("setp.ltu.f16") == 2


@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize("capability", [80, 90])
def test_ptxas_makes_no_extreme_of_it(capability):
    """It would know a range again."""
    chip = "sm_90a" if capability == 90 else f"sm_{capability}"
    cubin, _ = Assembler(assembler_options(chip)).finish(ptx_of(program(LARGER), capability), "k")
    bounds = [i.text for i in instructions_of(cubin)["k"] if "HMNMX2" in i.text]
    assert bounds and not [text for text in bounds if "100" in text]


CHOICE = """\tselp.b16 \t%rs3, %rs1, %rs2, %p1;
\tselp.b16 \t%rs5, 0x8000, %rs3, %p2;
\tselp.b16 \t%rs6, %rs4, -1, %p2;
"""


def test_a_choice_among_three_is_of_words():
    inner, outer, apart = CHOICE.splitlines()
    text = fix_packed_f16(CHOICE + "\tadd.rn.f16 \t%rs7, %rs1, %rs4;\n").splitlines()
    assert text[0] == inner and text[2] == apart
    assert "mov.b32 %this, 32768; cvt.u32.u16 %that, %rs3; selp.b32 %this, %this, %that, %p2;" in text[1]
    assert outer not in text


def test_without_sums_of_halves_choices_stay():
    text = CHOICE + "\tadd.s16 \t%rs7, %rs1, %rs4;\n\tadd.f32 \t%r1, %r2, %r3;\n"
    assert fix_packed_f16(text) == text


def test_masks_of_what_was_rounded_are_of_words():
    rounded = "\tcvt.rn.bf16.f32 \t%rs1, %r1;\n\tand.b16 \t%rs2, %rs1, 32767;\n\tand.b16 \t%rs3, %rs4, 32767;\n"
    lines = fix_packed_f16(rounded).splitlines()
    assert (
        lines[1]
        == "\t{ .reg .b32 %this; cvt.s32.s16 %this, %rs1; and.b32 %this, %this, 32767; cvt.u16.u32 %rs2, %this; }"
    )
    assert lines[2] == rounded.splitlines()[2]


@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize("kind", ["half", "bfloat"])
@pytest.mark.parametrize("mask", [0x7F80, 255, 0x8000])
def test_machine_code_has_both_masks(kind, mask):
    text = f"""define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {{
  %v = load <2 x float>, ptr addrspace(1) %in, align 8
  %a = extractelement <2 x float> %v, i32 0
  %b = extractelement <2 x float> %v, i32 1
  %x = fptrunc float %a to {kind}
  %y = fptrunc float %b to {kind}
  %i = bitcast {kind} %x to i16
  %j = bitcast {kind} %y to i16
  %m = and i16 %i, {mask}
  %n = and i16 %j, {mask}
  %s = insertelement <2 x i16> poison, i16 %m, i32 0
  %t = insertelement <2 x i16> %s, i16 %n, i32 1
  store <2 x i16> %t, ptr addrspace(1) %out
  ret void
}}
"""
    cubin, _ = Assembler(assembler_options("sm_90a")).finish(ptx_of(text), "k")
    assert sum(f"0x{mask:x}," in i.text for i in instructions_of(cubin)["k"]) == 2
