"""Reading of assembly: operands, modifiers, directives, metadata; text that is none is refused with the line."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import kernel, run
from tritium.emulator import AssemblyError, LaunchError, UnknownInstruction
from tritium.emulator.amdgcn import launch
from tritium.emulator.amdgcn.assembly import parse, parse_instruction, parse_operand
from tritium.emulator.amdgcn.metadata import read_metadata


@pytest.mark.parametrize(
    "text, fields",
    [
        ("v7", {"kind": "v", "number": 7, "width": 1}),
        ("s[4:7]", {"kind": "s", "number": 4, "width": 4}),
        ("a[0:15]", {"kind": "a", "number": 0, "width": 16}),
        ("vcc", {"kind": "s", "number": 106, "width": 2}),
        ("exec_lo", {"kind": "s", "number": 126, "width": 1}),
        ("v3.h", {"kind": "v", "number": 3, "half": "h"}),
        ("-|v3|", {"kind": "v", "negate": True, "absolute": True}),
        ("sext(v3)", {"kind": "v", "extend": True}),
        ("-16", {"kind": "int", "value": -16}),
        ("0x7fffffff", {"kind": "int", "value": 0x7FFFFFFF}),
        ("0.15915494", {"kind": "float", "value": 0.15915494}),
        ("table@rel32@lo+4", {"kind": "symbol", "name": "table", "half": "rel32@lo", "value": 4}),
        ("hwreg(HW_REG_MODE, 4, 2)", {"kind": "call", "name": "hwreg(HW_REG_MODE,4,2)"}),
    ],
)
def test_operand(text, fields):
    operand = parse_operand(text)
    assert {name: getattr(operand, name) for name in fields} == fields


def test_modifiers():
    i = parse_instruction("buffer_load_dword v1, v2, s[8:11], 0 offen offset:16 sc1 nt", 1, None, 0)
    assert (i.name, len(i.operands)) == ("buffer_load_dword", 4)
    assert i.modifiers == {"offen": "1", "offset": "16", "sc1": "1", "nt": "1"}
    i = parse_instruction("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel:[0,1,0] op_sel_hi:[1,0,1]", 1, None, 0)
    assert (i.bits("op_sel", 0, 3), i.bits("op_sel_hi", 1, 3), i.bits("neg_lo", 0, 3)) == (
        (0, 1, 0),
        (1, 0, 1),
        (0, 0, 0),
    )
    i = parse_instruction("v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 1, None, 0)
    assert (i.name, i.encoding, i.number("row_mask")) == ("v_mov_b32", "dpp", 15)
    i = parse_instruction("ds_read_b32 v1, v2 offset:0x10 ", 1, None, 0)
    assert i.number("offset") == 16


def test_dual_issue():
    i = parse_instruction("v_dual_mov_b32 v0, 1.0 :: v_dual_and_b32 v1, 31, v2", 1, None, 0)
    assert i.second is not None and (i.name, i.second.name) == ("v_dual_mov_b32", "v_dual_and_b32")


def test_comments_labels_and_directives():
    text = """
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.set size, 0x40 ; a constant
\t.text
f: ; a label
.Lone: s_nop 0 // and a comment
\ts_mov_b32 s0, size
\t.section .rodata
words:
\t.long 1, 2
\t.asciz "a;b"
"""
    module = parse(text)
    assert [i.name for i in module.instructions] == ["s_nop", "s_mov_b32"]
    assert module.labels == {"f": 0, ".Lone": 0} and module.constants == {"size": 64}
    assert bytes(module.data) == b"\1\0\0\0\2\0\0\0a;b\0" and module.symbols == {"words": 0}


def test_metadata_of_several_kernels():
    lines = """---
amdhsa.kernels:
  - .args:
      - .name: x
        .offset: 0
        .size: 8
        .value_kind: global_buffer
      - .offset: 8
        .size: 4
        .value_kind: hidden_block_count_x
    .name: first
    .wavefront_size: 64
  - .args: []
    .name: second
amdhsa.version:
  - 1
  - 2
...""".splitlines()
    kernels = read_metadata(lines)
    assert list(kernels) == ["first", "second"] and kernels["second"].arguments == ()
    x, hidden = kernels["first"].arguments
    assert x.pointer and x.name == "x" and hidden.hidden and (hidden.offset, hidden.size) == (8, 4)


def test_hidden_arguments_have_the_grid():
    out = np.zeros(1, np.uint32)
    text = kernel(
        "\ts_load_dword s20, s[0:1], 0x8\n\tv_mov_b32_e32 v1, 0\n\ts_waitcnt lgkmcnt(0)\n\tv_mov_b32_e32 v2, s20\n"
        "\tglobal_store_dword v1, v2, s[8:9]",
        arrays=1,
    )
    rows = "      - .offset: 8\n        .size: 4\n        .value_kind: hidden_block_count_x\n"
    text = text.replace("    .group_segment_fixed_size", f"{rows}    .group_segment_fixed_size", 1)
    text = text.replace(".amdhsa_kernarg_size 8", ".amdhsa_kernarg_size 16")
    launch(text, 5, [out])
    assert out[0] == 5
    with pytest.raises(LaunchError, match="prints through the host"):
        launch(text.replace("hidden_block_count_x", "hidden_hostcall_buffer"), 5, [out])


@pytest.mark.parametrize(
    "body, error, message",
    [
        ("\tv_mov_b32_e32 v1, @", AssemblyError, "cannot read the operands"),
        ("\tv_mov_b32_e32 v1, v2 row_jump:3", UnknownInstruction, "no v_mov_b32 with row_jump"),
        ("\tglobal_load_dword v1, v2, s[8:9] tfe", UnknownInstruction, "with tfe"),
        ("\tv_add_f32_e32 v1, v2", UnknownInstruction, "v_add_f32 of 2 operands"),
        ("\ts_branch .Lnowhere", AssemblyError, "unknown label '.Lnowhere'"),
        ("\ts_cbranch_cdbgsys .Lend", UnknownInstruction, "no s_cbranch_cdbgsys"),
        ("\tv_mov_b32_e32 v1, nonsense", AssemblyError, "unknown operand 'nonsense'"),
        ("\ts_mov_b32 v1, 0", AssemblyError, "the destination must be a scalar register"),
        ("\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1", AssemblyError, "HW_REG_MODE"),
        ("\tbuffer_load_dword v1, v2, s[8:9], 0 offen", AssemblyError, "four scalar registers"),
    ],
)
def test_refused_instruction(body, error, message):
    with pytest.raises(error, match=message) as caught:
        run(body, np.zeros(64, np.uint32), assemble=False)
    assert "cannot read" in message or "AMDGCN line" in str(caught.value)


def test_refused_text():
    with pytest.raises(AssemblyError, match="no .amdgcn_target"):
        launch("hello", 1)
    with pytest.raises(LaunchError, match="has 0 kernels"):
        launch('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"', 1)
    text = kernel("\ts_nop 0")
    with pytest.raises(AssemblyError, match="no code for the kernel"):
        launch(text.replace("\nk:\n", "\nother:\n"), 1)
    with pytest.raises(AssemblyError, match="the code has no end"):
        launch(text.replace("\ts_endpgm\n", ""), 1, [None] * 4)


def test_other_rounding_modes_are_refused():
    with pytest.raises(LaunchError, match="float_round_mode_32 is not 0"):
        launch(
            kernel("\ts_nop 0").replace(".amdhsa_float_denorm_mode_32 3", ".amdhsa_float_round_mode_32 2"),
            1,
            [None] * 4,
        )
