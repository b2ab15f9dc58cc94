"""Inline assembly of AMD GPUs and edited assembly: executed by the emulator, and assembled by a clang of this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.amd import HIPOptions, HIPTarget
from tritium.backends.amd.assembler import find_assembler
from tritium.backends.amd.code_object import resources_of
from tritium.backends.amd.codegen import emit, has_inline_assembly
from tritium.backends.amd.stages import Build
from tritium.backends.errors import BackendError, ToolMissing
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.emulator.errors import UnknownInstruction
from tritium.runtime.driver import driver
from tritium.runtime.emulated_hip import EmulatedHIPDriver
from tritium.support import UnsupportedOperation, settings

MI300 = GPUTarget("hip", "gfx942", 64)
HIP_OPTIONS = HIPOptions.parse({}, HIPTarget("gfx942"))
TYPES = {"x": "*fp32", "y": "*fp32", "o": "*fp32"}


@pytest.fixture(params=["gfx942", "gfx1100"])
def emulated(request: pytest.FixtureRequest) -> Any:
    before = driver.active
    driver.set_active(EmulatedHIPDriver(request.param))
    yield request.param
    driver.set_active(before)


@tritium.jit
def added(x, y, o, B: tl.constexpr):
    at = tl.arange(0, B)
    a, b = tl.load(x + at), tl.load(y + at)
    text: tl.constexpr = "v_add_f32 $0, $1, $2"
    tl.store(o + at, tl.inline_asm_elementwise(text, "=v,v,v", [a, b], dtype=tl.float32, is_pure=True, pack=1))


@tritium.jit
def two_results(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    text: tl.constexpr = "v_lshlrev_b32 $0, 3, $2\nv_mul_u32_u24 $1, $2, $2"
    both: tl.constexpr = (tl.int32, tl.int32)
    a, b = tl.inline_asm_elementwise(text, "=&v,=v,v", [tl.load(x + at)], dtype=both, is_pure=False, pack=1)
    tl.store(o + at, a)
    tl.store(o + B + at, b)


@tritium.jit
def packed(x, o, B: tl.constexpr):
    a = tl.load(x + tl.arange(0, B))
    text: tl.constexpr = "v_pk_add_f16 $0, $1, $1"
    tl.store(o + tl.arange(0, B), tl.inline_asm_elementwise(text, "=v,v", [a], dtype=tl.float16, is_pure=True, pack=2))


@tritium.jit
def given(x, y, o, B: tl.constexpr, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr):
    a = tl.load(x + tl.arange(0, B))
    b = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [a], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(o + tl.arange(0, B), b)


@tritium.jit
def scaled(x, o, B: tl.constexpr):
    tl.store(o + tl.arange(0, B), tl.load(x + tl.arange(0, B)) * 3)


def compiled(text: str, constraints: str) -> Any:
    constants = {"B": 64, "TEXT": text, "CONSTRAINTS": constraints}
    return compile(ASTSource(given, TYPES, constants), target=MI300)


def test_inline_assembly_on_the_emulator(emulated: str, seed: int) -> None:
    x, y = np.random.default_rng(seed).standard_normal((2, 256)).astype(np.float32)
    out = np.zeros(256, np.float32)
    kernel = added[(1,)](x, y, out, 256)
    np.testing.assert_array_equal(out, x + y)
    assert "hsaco" not in kernel.asm.made() and kernel.metadata.vgprs > 0
    whole, results = np.arange(256, dtype=np.int32), np.zeros((2, 256), np.int32)
    two_results[(1,)](whole, results, 256)
    np.testing.assert_array_equal(results, [whole * 8, whole * whole])
    halves, doubled = x.astype(np.float16), np.zeros(256, np.float16)
    packed[(1,)](halves, doubled, 256)
    np.testing.assert_array_equal(doubled, halves + halves)


def test_ptx_is_an_error_with_its_line(emulated: str) -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(UnsupportedOperation, match=r"the constraint '=f', which AMD GPUs do not have: v is a VGPR"):
        given[(1,)](x, x, x, 64, "mov.b32 $0, $1;", "=f,f")
    with pytest.raises(UnknownInstruction, match=r"has no mov\.b32\n.*\n.*test_inline_assembly\.py:\d+"):
        given[(1,)](x, x, x, 64, "mov.b32 $0, $1;", "=r,r")
    with pytest.raises(BackendError, match=r"kernel given: inline assembly: .*constraint '\{v600\}'"):
        given[(1,)](x, x, x, 64, "v_mov_b32 $0, $1", "={v600},v")


def test_code_object_without_an_assembler_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritium.backends.amd.assembler._candidates", lambda: iter(()))
    with pytest.raises(ToolMissing, match=r"for gfx942 need an assembler, .*pip install tritium\[amd\].*\n.*emulated"):
        compiled("v_mov_b32 $0, $1", "=v,v")
    with settings.amd.scope():
        settings.amd.assembler_path = "/nowhere/clang"
        with pytest.raises(BackendError, match=r"'/nowhere/clang', and there is no such file"):
            compiled("v_mov_b32 $0, $1", "=v,v")


def stand_in(folder: Path, script: str) -> str:
    """An executable in place of clang."""
    path = folder / "clang"
    path.write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)
    return str(path)


def test_assembler_gets_the_text_and_its_object_is_linked(tmp_path: Path) -> None:
    plain = compile(ASTSource(added, TYPES, {"B": 64}), target=MI300, until="llir").asm["llir"]
    assert has_inline_assembly(plain)
    target = Build(HIP_OPTIONS).codegen_target
    object_path = tmp_path / "made.o"
    object_path.write_bytes(emit(plain.replace('asm "v_add_f32 $0, $1, $2"', 'asm ""'), target, use_object=True))
    with settings.amd.scope(), settings.compilation.scope():
        settings.compilation.always_compile = True
        script = f'echo "$@" > {tmp_path}/flags; cp "$5" {tmp_path}/text.s; cp {object_path} "$7"'
        settings.amd.assembler_path = stand_in(tmp_path, script)
        kernel = compile(ASTSource(added, TYPES, {"B": 64}), target=MI300)
        assert (tmp_path / "text.s").read_text() == kernel.asm["amdgcn"]
        assert "-target amdgcn-amd-amdhsa -mcpu=gfx942 -c" in (tmp_path / "flags").read_text()
        assert resources_of(kernel.asm["hsaco"], "added").vgprs == kernel.metadata.vgprs > 0
        edited = tmp_path / "added.amdgcn"
        edited.write_text(kernel.asm["amdgcn"])
        again = compile(str(edited), target=MI300)
        assert again.asm["hsaco"] == kernel.asm["hsaco"] and again.metadata.name == "added"


def test_message_of_the_assembler_is_shown_at_its_line(tmp_path: Path) -> None:
    with settings.amd.scope():
        settings.amd.assembler_path = stand_in(tmp_path, 'echo "$5:34:2: error: invalid instruction" >&2; exit 1')
        with pytest.raises(BackendError, match=r"<amdgcn>:34:2: error: invalid instruction[^$]*note: from .*:\d+:\d+"):
            compiled("v_mov_b99 $0, $1", "=v,v")


@pytest.mark.skipif(find_assembler() is None, reason="no assembler for AMD GPUs (ziglang, ROCm)")
def test_assembled_code_is_that_of_llvm() -> None:
    """Text without inline assembly makes the same machine code as LLVM's own object."""
    kernel = compile(ASTSource(scaled, {"x": "*fp32", "o": "*fp32"}, {"B": 64}), target=MI300)
    again = Build(HIP_OPTIONS).make_hsaco(kernel.asm["amdgcn"], {"num_warps": 4})
    assert resources_of(again, "scaled") == resources_of(kernel.asm["hsaco"], "scaled")
