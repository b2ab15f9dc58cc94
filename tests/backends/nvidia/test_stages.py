"""From a kernel to machine code: stages, metadata, and what is refused before anything is launched."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_libdevice, needs_ptxas
from tritium.backends.errors import BackendError, OutOfResources, PTXASError, ToolMissing
from tritium.backends.nvidia import assembler, toolchain
from tritium.backends.nvidia.codegen import _MIN_VERSIONS
from tritium.compiler import ASTSource, CompiledKernel, GPUTarget, compile
from tritium.dialects import tt
from tritium.hardware.nvidia import NvidiaGPU
from tritium.support import settings


@tritium.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x * x + x, mask=at < n)


@tritium.jit
def sum_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + at, mask=at < n)))


@tritium.jit
def product_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.dot(x, tl.trans(x), input_precision="ieee"))


@tritium.jit
def assembly_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise("nonsense.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y_ptr + at, y)


@tritium.jit
def constraint_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=Q,Q", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y_ptr + at, y)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))


def build(
    fn: Any = add_kernel,
    capability: int = 90,
    block: int = 128,
    ty: str = "*fp32",
    until: str | None = None,
    **options: Any,
) -> CompiledKernel:
    source = ASTSource(fn, {"x_ptr": ty, "y_ptr": ty, "n": "i32"}, {"BLOCK": block})
    return compile(source, target=GPUTarget("cuda", capability, 32), options=options, until=until)


# ---- stages and metadata -------------------------------------------------------------------------------------------


@needs_ptxas
@pytest.mark.parametrize("capability", [c for c in _MIN_VERSIONS if c not in (88, 101)])
def test_every_chip(capability: int) -> None:
    try:
        kernel = build(capability=capability)
    except (BackendError, PTXASError) as error:  # an LLVM or an assembler that is older, or no longer has it
        assert re.search(rf"sm_{capability}", str(error))
        return
    assert list(kernel.asm) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert f".target sm_{capability}" in kernel.asm["ptx"] and kernel.kernel[:4] == b"\x7fELF"


@needs_ptxas
def test_what_a_launch_must_know() -> None:
    kernel = build(sum_kernel, num_warps=8, block=1024)
    metadata = kernel.metadata
    assert (metadata.name, metadata.num_warps, metadata.num_ctas) == ("sum_kernel", 8, 1)
    assert metadata.target == GPUTarget("cuda", 90, 32)
    assert metadata.shared > 0 and metadata.static_shared == 0
    assert metadata.cluster_dims == (1, 1, 1) and metadata.tmem_size == 0
    assert (metadata.global_scratch_size, metadata.global_scratch_align) == (0, 1)
    assert (metadata.profile_scratch_size, metadata.profile_scratch_align) == (0, 1)
    assert metadata.n_regs == kernel.n_regs > 0 and metadata.n_spills == kernel.n_spills == 0
    assert metadata.ptx_version >= 80 and metadata.n_max_threads == 256
    again = build(sum_kernel, num_warps=8, block=1024)
    assert not again.times and again.metadata == metadata and again.kernel == kernel.kernel


def test_options_reach_the_text() -> None:
    kernel = build(until="ptx", maxnreg=64, ptx_version=83, min_shared_mem=4096)
    assert ".maxnreg 64" in kernel.asm["ptx"] and ".version 8.3" in kernel.asm["ptx"]
    assert kernel.metadata.shared == 4096 and kernel.metadata.ptx_version == 83
    assert "fma.rn.f32" in kernel.asm["ptx"]
    assert "fma.rn.f32" not in build(until="ptx", enable_fp_fusion=False).asm["ptx"]
    assert ".entry add_kernel" in build(until="ptx", sched4reg=True).asm["ptx"]


def test_clusters() -> None:
    kernel = build(until="ptx", num_ctas=2)
    assert kernel.metadata.cluster_dims == (2, 1, 1)
    assert re.search(r"\.(explicitcluster|reqnctapercluster)", kernel.asm["ptx"])


def test_lines_of_the_source() -> None:
    ptx = build(until="ptx").asm["ptx"]
    assert Path(__file__).name in ptx and re.search(r"\.loc\s+1 \d+ \d+", ptx)
    with settings.compilation.scope():
        settings.compilation.disable_line_info = True
        bare = build(until="ptx").asm["ptx"]
    assert ".loc" not in bare and ".file" not in bare


@needs_ptxas
def test_compiles_are_reproducible() -> None:
    with settings.cache.scope():
        settings.cache.disable = True
        assert build(sum_kernel).kernel == build(sum_kernel).kernel


# ---- what is refused -----------------------------------------------------------------------------------------------


def test_more_shared_memory_than_the_chip_has() -> None:
    with pytest.raises(OutOfResources, match="kernel add_kernel: out of resource: shared memory") as caught:
        build(capability=86, min_shared_mem=100 * 1024 + 1, until="ptx")
    assert (caught.value.required, caught.value.limit) == (100 * 1024 + 1, 99 * 1024)
    assert build(capability=90, min_shared_mem=100 * 1024 + 1, until="llir").metadata.shared == 100 * 1024 + 1


def test_tiles_that_need_more_shared_memory_than_the_chip_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NvidiaGPU, "shared_memory_per_cta", 1024)
    with pytest.raises(OutOfResources, match="kernel product_kernel: out of resource: shared memory") as caught:
        build(product_kernel, block=64, ty="*fp16", until="ptx")
    assert caught.value.limit == 1024 < caught.value.required
    assert f"{Path(__file__).name}:" in str(caught.value)


@needs_ptxas
@pytest.mark.parametrize("until", ["llir", "ptx", "cubin"])
def test_an_assembler_is_started_for_machine_code_alone(until: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    start = assembler.Process
    monkeypatch.setattr(assembler, "Process", lambda command: started.append(command) or start(command))
    assert list(build(until=until).asm)[-1] == until
    assert len(started) == (until == "cubin")


@needs_ptxas
def test_modules_are_freed_while_the_assembler_works(monkeypatch: pytest.MonkeyPatch) -> None:
    left = []

    def collect() -> None:
        collect_young()
        left.append([op for op in gc.get_objects() if isinstance(op, tt.Func) and op.sym_name == "sum_kernel"])

    collect_young = assembler.collect_young
    monkeypatch.setattr(assembler, "collect_young", collect)
    assert build(sum_kernel).asm["cubin"] and left == [[]]


def test_ptx_has_comments_that_tools_read() -> None:
    """As LLVM writes them for people: where functions begin and end, and what each `.loc` is of."""
    ptx = build(until="ptx").asm["ptx"]
    (name,) = re.findall(r"^\t// \.globl\s+(\S+)\s+// -- Begin function \1$", ptx, re.M)
    assert re.search(r"^ +// -- End function\n\}$", ptx, re.M) and f".visible .entry {name}(" in ptx
    found = re.findall(r"^\t\.loc\t\d+ (\d+) (\d+)[^/]*// (\S+):(\d+):(\d+)$", ptx, re.M)
    assert found and len(found) == ptx.count("\t.loc\t")
    assert all(row[:2] == row[3:] and row[2].endswith(".py") for row in found)


def test_a_machine_without_an_assembler(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRITON_PTXAS_PATH", "TRITIUM_PTXAS_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(toolchain, "_candidates", lambda *_: iter(()))
    toolchain._search.cache_clear()
    try:
        kernel = build()
        assert list(kernel.asm) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
        assert ".version 8.4" in kernel.asm["ptx"]
        for ask in (lambda: kernel.asm["cubin"], lambda: kernel.kernel, lambda: kernel.asm["sass"]):
            with pytest.raises(ToolMissing, match=r"the stage cubin needs NVIDIA's ptxas.*tritium\[nvidia\]"):
                ask()
        assert build(capability=121, until="ptx").metadata.ptx_version == 88
    finally:
        toolchain._search.cache_clear()


@pytest.mark.parametrize(
    ("capability", "message"), [(130, "unsupported target sm_130"), (77, "unsupported target sm_77")]
)
def test_chips_that_nobody_knows(capability: int, message: str) -> None:
    with pytest.raises(BackendError, match=message):
        build(capability=capability, until="llir")


@needs_ptxas
def test_assembly_that_ptxas_does_not_know() -> None:
    with pytest.raises(PTXASError) as caught:
        build(assembly_kernel, ty="*i32")
    text = str(caught.value)
    assert "refuses the code of assembly_kernel" in text and "nonsense.b32" in text
    assert f"{Path(__file__).name}:" in text and "tl.inline_asm_elementwise" in text


def test_constraints_that_llvm_dies_of_are_an_error() -> None:
    with pytest.raises(BackendError, match="LLVM failed"):
        build(constraint_kernel, ty="*i32", until="ptx")
    assert build(until="ptx").asm["ptx"]


@needs_libdevice
def test_a_library_of_ones_own_in_the_place_of_libdevice(tmp_path: Path) -> None:
    path = tmp_path / "own.ll"
    path.write_text("define void @unused() {\n  ret void\n}\n")
    kernel = build(until="llir", extern_libs={"own": str(path)})
    assert "@unused" not in kernel.asm["llir"] or "internal" in kernel.asm["llir"]
    path.write_text("define void @unused() {\n  ret void\n}\n; longer\n")
    assert build(until="llir", extern_libs={"own": str(path)}).hash != kernel.hash
    with pytest.raises(BackendError, match="'own' cannot be read"):
        build(until="llir", extern_libs={"own": str(tmp_path / "gone")})
