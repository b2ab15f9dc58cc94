"""The AMD stages: kernels compile to code objects with the expected instructions, metadata and symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.amd.code_object import descriptor_of, metadata_of, resources_of, resources_of_assembly
from tritium.backends.amd.elf import parse_elf
from tritium.backends.errors import BackendError
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.support import OptionError, settings

TARGETS = [GPUTarget("hip", "gfx942", 64), GPUTarget("hip", "gfx1100", 32)]
TYPES = {"x": "*fp32", "y": "*fp32", "n": "i32"}


@tritium.jit
def add(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


@tritium.jit
def softmax(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    row = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * n + at, e / tl.sum(e, 0), mask=at < n)


@tritium.jit
def counted(x, y, n, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.load(x + tl.arange(0, B)) * tl.num_programs(1))


def compiled(fn: Any, target: GPUTarget, block: int = 1024, **options: Any) -> Any:
    return compile(ASTSource(fn, {**TYPES, "B": "constexpr"}, {"B": block}), target=target, options=options)


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.arch)
def test_add_compiles_to_a_code_object(target: GPUTarget) -> None:
    kernel = compiled(add, target)
    assert list(kernel.asm) == ["source", "ttir", "ttgir", "llir", "amdgcn", "hsaco"]
    text, code = kernel.asm["amdgcn"], kernel.asm["hsaco"]
    assert "global_load_" in text and "s_and_saveexec_" in text and "s_endpgm" in text
    assert f'.amdgcn_target "amdgcn-amd-amdhsa--{target.arch}"' in text
    elf = parse_elf(code)
    assert (elf.kind, elf.abi_version) == (3, 3)
    names = {s.name for s in elf.symbols if s.is_global}
    assert names == {"add", "add.kd"}
    assert metadata_of(elf)["amdhsa.target"] == f"amdgcn-amd-amdhsa--{target.arch}"
    resources = resources_of(code, "add")
    assert resources.wavefront_size == target.warp_size
    assert resources.kernarg_bytes == 8 + 8 + 8 + 8 + 8  # n is padded: two scratch addresses follow
    assert (resources.lds, resources.scratch, resources.vgpr_spills) == (0, 0, 0)
    found = kernel.metadata
    assert (found.vgprs, found.n_spills, found.shared) == (resources.vgprs, 0, 0)
    assert found.n_max_threads == 4 * target.warp_size


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.arch)
def test_descriptor_points_to_the_code(target: GPUTarget) -> None:
    code = compiled(add, target).asm["hsaco"]
    elf = parse_elf(code)
    places = {s.name: s.value for s in elf.symbols}
    assert places["add.kd"] + descriptor_of(code, "add").entry == places["add"]


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.arch)
def test_softmax_reduces_by_dpp_and_lds(target: GPUTarget) -> None:
    kernel = compiled(softmax, target)
    text = kernel.asm["amdgcn"]
    assert "quad_perm:[1,0,3,2]" in text and "s_barrier" in text and "v_exp_f32" in text
    assert "ds_bpermute_b32" in text if target.warp_size == 64 else "row_xmask:4" in text
    assert kernel.metadata.shared > 0 and kernel.metadata.scratch == 0


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.arch)
def test_num_programs_reads_hidden_arguments(target: GPUTarget) -> None:
    kernel = compiled(counted, target, 64)
    kinds = str(metadata_of(parse_elf(kernel.asm["hsaco"])))
    assert "hidden_block_count_y" in kinds


def test_launch_without_a_gpu_names_the_emulator() -> None:
    kernel = compile(ASTSource(add, TYPES, {"B": 256}), target=TARGETS[0])
    x = np.zeros(8, np.float32)
    for launch in (kernel._init_handles, lambda: kernel[(1,)](x, x, 8)):
        with pytest.raises(
            BackendError, match=r"(?s)for hip:gfx942 cannot be launched here: .*hint: TRITIUM_TARGET=emulated:gfx942"
        ):
            launch()


def test_settings_of_the_backend(capfd: pytest.CaptureFixture[str]) -> None:
    with settings.amd.scope(), settings.compilation.scope():
        settings.compilation.always_compile = True
        settings.amd.dump_amdgcn = True
        compiled(add, TARGETS[0], 64)
        assert "AMDGCN Dump" in capfd.readouterr().err
        settings.amd.swap_mir = "x.mir"
        with pytest.raises(OptionError, match=r"the setting amd\.swap_mir is not supported"):
            compiled(add, TARGETS[0], 64)
        settings.amd.swap_mir, settings.amd.dump_mir = None, "here"
        with pytest.raises(OptionError, match=r"amd\.dump_mir"):
            compiled(add, TARGETS[0], 64)
        settings.amd.dump_mir, settings.amd.codegen_path = None, "here"
        with pytest.raises(OptionError, match=r"amd\.codegen_path"):
            compiled(add, TARGETS[0], 64)


@pytest.mark.parametrize("stage", ["ttgir", "llir"])
def test_compile_goes_on_from_the_text_of_a_stage(tmp_path: Any, stage: str) -> None:
    kernel = compiled(softmax, TARGETS[0])
    path = tmp_path / f"softmax.{stage}"
    path.write_text(kernel.asm[stage])
    again = compile(str(path), target=TARGETS[0])
    assert (again.metadata.vgprs, again.metadata.shared) == (kernel.metadata.vgprs, kernel.metadata.shared)
    assert again.metadata.name == "softmax" and again.asm["hsaco"][:4] == b"\x7fELF"


def test_malformed_llvm_text_is_an_error_with_its_line(tmp_path: Any) -> None:
    path = tmp_path / "add.llir"
    path.write_text(compiled(add, TARGETS[0]).asm["llir"].replace("fadd", "fadx"))
    with pytest.raises(BackendError, match=r"add\.llir:\d+:\d+: error: expected instruction opcode"):
        compile(str(path), target=TARGETS[0])


def test_assembly_is_generated_when_it_is_read(tmp_path: Any) -> None:
    with settings.compilation.scope():
        settings.compilation.always_compile = True
        kernel = compiled(add, TARGETS[0])
        assert "amdgcn" in kernel.asm and "amdgcn" not in kernel.asm.made()
        resources = resources_of_assembly(kernel.asm["amdgcn"])
        assert resources == resources_of(kernel.asm["hsaco"], "add")
        until = compile(ASTSource(add, TYPES, {"B": 1024}), target=TARGETS[0], until="amdgcn")
        assert until.asm["amdgcn"] == kernel.asm["amdgcn"]
        settings.compilation.trace = str(tmp_path / "compile.trace")
        assert "amdgcn" in compiled(add, TARGETS[0]).asm.made()


def test_workgroups_may_use_one_compute_unit() -> None:
    modes = [compiled(add, TARGETS[1], 64, wgp_cu_mode=mode).asm["amdgcn"] for mode in ("wgp", "cu")]
    assert [int(".amdhsa_workgroup_processor_mode 1" in text) for text in modes] == [1, 0]


@tritium.jit
def scaled(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at) * 3 + tl.load(y + at))


def test_pairs_of_floats_are_one_instruction_on_gfx942() -> None:
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(2)}
    kernels = [compile(ASTSource(scaled, TYPES, {"B": 1024}, aligned), target=target) for target in TARGETS]
    assert ["v_pk_fma_f32" in k.asm["amdgcn"] or "v_pk_mul_f32" in k.asm["amdgcn"] for k in kernels] == [True, False]
    assert all("noimplicitfloat" not in k.asm["llir"] for k in kernels)
