"""What an author of kernels gets wrong for a GPU: one clear error each, and a process that goes on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tritium.backends.errors import BackendError, OutOfResources, PTXASError, ToolMissing
from tritium.backends.nvidia.asm_constraints import asm_is_plain
from tritium.compiler import ASTSource, CompiledKernel, GPUTarget, compile
from tritium.compiler.source import SourceError
from tritium.frontend.errors import CompilationError
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.errors import LaunchError
from tritium.support import OptionError, UnknownOptionError, UnsupportedOperation


@tritium.jit
def assembly(x_ptr, y_ptr, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr, PACK: tl.constexpr):
    at = tl.arange(0, 128)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [x], dtype=tl.float32, is_pure=True, pack=PACK)
    tl.store(y_ptr + at, y)


@tritium.jit
def sine(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.sin(tl.load(x_ptr + at)))


@tritium.jit
def numbered(y_ptr):
    tl.store(y_ptr + tl.program_id(0), 1)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))


def made(fn: Any, constants: dict[str, Any], until: str = "ptx", **options: Any) -> CompiledKernel:
    types = {name: "*fp32" for name in fn.arg_names if name.endswith("_ptr")}
    return compile(ASTSource(fn, types, constants), GPUTarget("cuda", 90, 32), options, until)


# -- assembly ------------------------------------------------------------------------------------------------------

LINE = (
    Path(__file__)
    .read_text()
    .splitlines()
    .index("    y = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [x], dtype=tl.float32, is_pure=True, pack=PACK)")
)


@pytest.mark.parametrize(
    ("text", "constraints", "pack", "message"),
    [
        ("mov.b32 $0, $5;", "=r,r", 1, "names an operand $5, and its constraints '=r,r' have $0 to $1"),
        ("mov.b32 $0, ${2:x};", "=r,r", 1, "names an operand $2"),
        ("mov.b32 $0, $1;", "=r,r,r", 1, "has 2 inputs in its constraints '=r,r,r', and its 1 arguments take 1"),
        ("mov.b32 $0, $1;", "=r,=r,r", 1, "has 2 outputs in its constraints '=r,=r,r', and its 1 results take 1"),
        ("mov.b32 $0, $1;", "=r,r", 2, "has 1 outputs in its constraints '=r,r', and its 1 results take 2"),
    ],
)
def test_operands_of_assembly(text: str, constraints: str, pack: int, message: str) -> None:
    with pytest.raises(UnsupportedOperation, match=re.escape(message)) as info:
        made(assembly, {"TEXT": text, "CONSTRAINTS": constraints, "PACK": pack})
    assert f"{__file__}:{LINE + 1}:9: error: tt.elementwise_inline_asm" in str(info.value)
    assert str(info.value).endswith("^")


def test_dollars_and_clobbers_are_no_operands() -> None:
    text = "{ .reg .b32 $$t; mov.b32 $$t, $1; mov.b32 $0, $$t; }"
    assert "mov.b32 $t, " in made(assembly, {"TEXT": text, "CONSTRAINTS": "=r, r, ~{memory}", "PACK": 1}).asm["ptx"]


@pytest.mark.parametrize("text", ["mov.b32 $0, ${1:q};", "mov.b32 $0, $1; $", "mov.b32 $0, ${1;"])
def test_assembly_that_llvm_may_die_of_does_so_elsewhere(text: str) -> None:
    assert not asm_is_plain(f'%y = call i32 asm "{text}", "=r,r"(i32 %x)')
    with pytest.raises(BackendError, match="LLVM"):
        made(assembly, {"TEXT": text, "CONSTRAINTS": "=r,r", "PACK": 1})


# -- options and files ---------------------------------------------------------------------------------------------


def test_options_name_the_kernel_and_the_limit() -> None:
    """OutOfResources, as for what is found out later: an autotuner leaves such a configuration out."""
    with pytest.raises(
        OutOfResources, match="kernel sine: out of resource: threads, Required: 2048, Hardware limit: 1024"
    ):
        made(sine, {"BLOCK": 128}, num_warps=64)


def test_a_library_that_is_not_there() -> None:
    with pytest.raises(ToolMissing, match="__nv_sinf is taken from libdevice, which is not at '/nowhere.bc'"):
        made(sine, {"BLOCK": 128}, extern_libs={"libdevice": "/nowhere.bc"})


def test_modules_and_their_contexts_may_be_freed_in_any_order() -> None:
    """As garbage collection does it with those that an exception keeps, which is in a cycle."""
    program = f"""if True:
        import sys
        sys.path[:0] = {[str(Path(__file__).parents[3])]!r}
        from tritium.backends.llvm import read
        from tritium.backends.nvidia.codegen import NVPTXTarget
        for _ in range(20):
            module = read("define void @f() {{ ret void }}", NVPTXTarget.of(90, 80).machine())
            module._context.close()
            del module
        print("alive")
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


# -- products that ask for too much --------------------------------------------------------------------------------


@tritium.jit
def product(a, b, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    total = tl.zeros((M, N), tl.float32)
    for at in range(0, k, K):
        total = tl.dot(a.load([0, at]), b.load([at, 0]), total)
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], total)


def compiled_product(until: str, depth: int = 64, **options: Any) -> CompiledKernel:
    a, b = f"tensordesc<fp16[128, {depth}]>", f"tensordesc<fp16[{depth}, 128]>"
    source = ASTSource(product, {"a": a, "b": b, "c_ptr": "*fp32", "k": "i32"}, {"M": 128, "N": 128, "K": depth})
    return compile(source, GPUTarget("cuda", 90, 32), options, until)


def test_pipelines_too_deep_for_shared_memory() -> None:
    with pytest.raises(OutOfResources) as caught:
        compiled_product("ptx", num_stages=16)
    text = str(caught.value)
    assert "kernel product: out of resource: shared memory, Required: 5" in text
    assert "Hardware limit: 232448" in text
    for shape, argument in (("128x64", "a"), ("64x128", "b")):
        assert f"262144 bytes: 16 stages of {shape} fp16, loaded from {argument}\n" in text
    assert "total = tl.dot(a.load([0, at]), b.load([at, 0]), total)" in text
    assert text.endswith("hint: each stage takes 32776 bytes: num_stages=7 fits; or use smaller blocks")


def test_products_of_blocks_smaller_than_instructions() -> None:
    with pytest.raises(CompilationError, match="and K >= 16, got M = 128, N = 128, K = 8") as caught:
        compiled_product("ttir", depth=8)
    assert "total = tl.dot(a.load([0, at]), b.load([at, 0]), total)" in str(caught.value)
    assert "hint: use larger blocks with masked loads" in str(caught.value)


@needs_ptxas
def test_products_with_too_few_registers() -> None:
    with pytest.raises(PTXASError) as caught:
        compiled_product("cubin", maxnreg=24)
    message = str(caught.value)
    assert re.search(r"test_bad_input\.py:\d+:\d+: error: \(C7602\) Insufficient registers \(24\)", message)
    assert re.search(r"total = tl\.dot\(.*\n *\| +\^\nhint: raise maxnreg to \d+ or more \(it is 24\), or use", message)


# -- texts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir", "ptx"])
def test_files_that_hold_no_text(tmp_path: Path, stage: str) -> None:
    (tmp_path / f"k.{stage}").write_bytes(b"\xda\x00\xff")
    with pytest.raises(SourceError, match=f"k.{stage} holds no text"):
        compile(str(tmp_path / f"k.{stage}"), GPUTarget("cuda", 90, 32))


def test_parameters_that_are_not_lowered(tmp_path: Path) -> None:
    path = tmp_path / "k.ttgir"
    path.write_text("""
        module attributes {"ttg.num-warps" = 4 : i32} {
          tt.func public @k(%d: !tt.tensordesc<64x64xf16>) { tt.return loc("mine.py":3:5) } loc("mine.py":2:1)
        }
    """)
    with pytest.raises(UnsupportedOperation, match="mine.py:2:1: error: tt.func takes a tensor descriptor, !tt.tensor"):
        compile(str(path), GPUTarget("cuda", 80, 32))


@pytest.mark.parametrize("stage", ["ttgir", "ptx"])
def test_stages_that_another_target_has(tmp_path: Path, stage: str) -> None:
    path = tmp_path / f"k.{stage}"
    path.write_text(made(sine, {"BLOCK": 128}).asm[stage])
    with pytest.raises(SourceError, match=f"k.{stage}: cpu has no stage '{stage}'; there are: ttir, "):
        compile(str(path), GPUTarget("cpu", "", 1))


@needs_ptxas
def test_ptx_for_another_number_of_threads(tmp_path: Path) -> None:
    text = made(sine, {"BLOCK": 128}).asm["ptx"]
    path = tmp_path / "k.ptx"
    path.write_text(text.replace("num_warps=4", "num_warps=8"))
    with pytest.raises(BackendError, match=r"sine is for CTAs of 128 threads \(\.reqntid\), .* 256 \(num_warps=8\)"):
        compile(str(path), GPUTarget("cuda", 90, 32))
    path.write_text(re.sub(r"// Launch: .*", "", text))
    assert compile(str(path), GPUTarget("cuda", 90, 32)).metadata.num_warps == 4


# -- the emulated GPU ----------------------------------------------------------------------------------------------


def test_grids_that_no_gpu_takes() -> None:
    driver.set_active(EmulatedCUDADriver(90))
    try:
        y = np.zeros(4, np.float32)
        for grid in [(1, 65536), (1, 1, 65536)]:
            with pytest.raises(LaunchError, match="numbered: the grid .* is too large: .* 65535 in the others"):
                numbered[grid](y)
        with pytest.raises(LaunchError, match=r"a dimension of the grid \(-1,\) is negative"):
            numbered[(-1,)](y)
        numbered[(0, 3)](y)
        assert not y.any()
        numbered[(3,)](y)
        assert y.tolist() == [1, 1, 1, 0]
    finally:
        driver.reset_active()


@pytest.mark.parametrize("target", ["nonsense", "cuda:90", "emulated:x", "emulated:70"])
def test_a_target_that_there_is_not(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """Also where the arrays alone would say where to run."""
    monkeypatch.setenv("TRITIUM_TARGET", target)
    driver.reset_active()
    message = "capability 70 is not" if target == "emulated:70" else f"TRITIUM_TARGET is cpu, .* not '{target}'"
    try:
        with pytest.raises(LaunchError, match=f"numbered cannot run on the active device: .*{message}"):
            numbered[(1,)](np.zeros(4, np.float32))
    finally:
        monkeypatch.undo()
        driver.reset_active()


# -- registers and options -------------------------------------------------------------------------------------------


@tritium.jit
def scanned(x_ptr, y_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    for _ in range(3):
        x = tl.cumsum(x, 0) + tl.flip(x, 0)
    tl.store(y_ptr + at, x)


@needs_ptxas
def test_registers_that_no_multiprocessor_has_are_refused_before_a_launch() -> None:
    with pytest.raises(OutOfResources) as caught:
        made(scanned, {"N": 32768}, "cubin", num_warps=16, maxnreg=255)
    assert (caught.value.required, caught.value.limit) == (255 * 512, 65536)
    assert "hint: threads of 16 warps can have 128 registers, and maxnreg allows 255" in str(caught.value)
    assert made(scanned, {"N": 1024}, "cubin", num_warps=16, maxnreg=255).n_regs <= 128


@pytest.mark.parametrize("target", [GPUTarget("cuda", 90, 32), GPUTarget("cpu", "", 1), GPUTarget("hip", "gfx942", 64)])
def test_misspelt_options_are_told_what_was_meant(target: Any) -> None:
    types = {"x_ptr": "*fp32", "y_ptr": "*fp32"}
    with pytest.raises(UnknownOptionError) as caught:
        compile(ASTSource(sine, types, {"BLOCK": 64}), target, {"num_wraps": 8})
    assert isinstance(caught.value, KeyError) and isinstance(caught.value, OptionError)
    assert str(caught.value) == "kernel sine: unknown option 'num_wraps'; did you mean 'num_warps'?"
    with pytest.raises(UnknownOptionError, match="unknown option 'xyz'; options are: .*num_warps"):
        compile(ASTSource(sine, types, {"BLOCK": 64}), target, {"xyz": 8})
