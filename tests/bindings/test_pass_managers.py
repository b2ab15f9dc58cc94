"""Stages built with `triton._C.libtriton`: pass lists as users paste them into a stages hook."""

from __future__ import annotations

import builtins
import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tests.conversion.ttg_to_llvm.harness import Gpu, aligned
from tritium import knobs
from tritium._C import libtriton, pass_table
from tritium._C.libtriton import ir, llvm, nvidia, passes
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.dropin import alias
from tritium.dropin.refusal import UnsupportedBinding
from tritium.ir import PASSES, IntegerAttr, Pass, i32, pass_on
from tritium.support import TritiumError, UnsupportedOperation


@tritium.jit(noinline=False)
def _scaled(x):
    return x * 2


@tritium.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, _scaled(tl.load(x + at, mask=inside)) + tl.load(y + at, mask=inside), mask=inside)


@tritium.jit
def matmul(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (at + k)[None, :])
        total = tl.dot(left, tl.load(b + (at + k)[:, None] * BN + n[None, :]), total)
    tl.store(c + m[:, None] * BN + n[None, :], total)


def add_source() -> ASTSource:
    types = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    return ASTSource(add, types, {"BLOCK": 64})


def matmul_source() -> ASTSource:
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32"}
    constants = {"BM": 64, "BN": 64, "BK": 32}
    aligned_arguments = {(i,): [["tt.divisibility", 16]] for i in range(4)}
    return ASTSource(matmul, {**types, **dict.fromkeys(constants, "constexpr")}, constants, aligned_arguments)


def replacing(**stages: Callable[..., Any]) -> Callable[..., Any]:
    """A stages hook; each function takes (module, metadata, options, capability)."""
    key = ",".join(f"{name}:{id(function)}" for name, function in stages.items())

    def hook(self=None, table=None, options=None, language=None, capability=None):
        if self is None:
            return key, key
        for name, function in stages.items():
            table[name] = lambda src, metadata, f=function: f(src, metadata, options, capability)
        return None

    return hook


def make_ttir(mod, metadata, opt, capability=None):
    pm = ir.pass_manager(mod.context)
    pm.enable_debug()
    passes.common.add_inliner(pm)
    passes.ttir.add_rewrite_tensor_pointer(pm)
    passes.ttir.add_combine(pm)
    passes.common.add_canonicalizer(pm)
    passes.ttir.add_reorder_broadcast(pm)
    passes.common.add_cse(pm)
    passes.common.add_licm(pm)
    passes.common.add_symbol_dce(pm)
    pm.run(mod)
    return mod


TITLES = [
    "InlinerPass",
    "TritonRewriteTensorPointer",
    "TritonCombineOps",
    "CanonicalizerPass",
    "TritonReorderBroadcast",
    "CSEPass",
    "TritonLoopInvariantCodeMotion",
    "SymbolDCEPass",
]


def dumped(text: str) -> list[str]:
    return re.findall(r"^// -----// IR Dump Before (\w+)", text, re.M)


def test_make_ttir_of_a_hook_compiles_and_runs_on_this_cpu() -> None:
    knobs.runtime.add_stages_inspection_hook = replacing(ttir=make_ttir)
    x, y, out = np.arange(100, dtype=np.float32), np.ones(100, np.float32), np.zeros(100, np.float32)
    add.device_caches.clear()
    add[(2,)](x, y, out, 100, BLOCK=64)
    np.testing.assert_array_equal(out, 2 * x + y)


@pytest.mark.parametrize(("wanted", "count"), [("1", 8), ("add", 8), ("another_kernel", 0), ("0", 0)])
def test_dump_prints_the_ir_before_each_pass_with_locations(monkeypatch, capsys, wanted: str, count: int) -> None:
    monkeypatch.setenv("MLIR_ENABLE_DUMP", wanted)
    knobs.runtime.add_stages_inspection_hook = replacing(ttir=make_ttir)
    compile(add_source(), target=GPUTarget("cuda", 90, 32), until="ttir")
    text = capsys.readouterr().err
    assert dumped(text) == TITLES[:count]
    heading, _, first = text.partition("\n")
    if count:
        assert heading == "// -----// IR Dump Before InlinerPass: inliner ('builtin.module' operation) //----- //"
        assert "tt.func public @add(" in first and "loc(#loc" in first and "test_pass_managers.py" in first


def test_enable_debug_tells_whether_all_kernels_are_dumped(monkeypatch) -> None:
    for wanted, found in (("1", True), ("add", False), ("0", False)):
        monkeypatch.setenv("MLIR_ENABLE_DUMP", wanted)
        assert ir.pass_manager(ir.context()).enable_debug() is found


def test_without_enable_debug_nothing_is_dumped(monkeypatch, capsys) -> None:
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "1")
    module = parsed()
    manager = ir.pass_manager(module.context)
    passes.common.add_cse(manager)
    manager.run(module, "make_ttir")
    assert capsys.readouterr().err == ""


def test_timing_names_the_stage_and_each_pass(monkeypatch, capsys) -> None:
    monkeypatch.setenv("MLIR_ENABLE_TIMING", "1")
    module = parsed()
    manager = ir.pass_manager(module.context)
    passes.common.add_cse(manager)
    passes.common.add_sccp(manager)
    manager.run(module, "make_ttir")
    text = capsys.readouterr().err
    assert "pass times of ttir" in text and " cse" in text and " sccp" in text


BARRIERS = """#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
  "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %i = %zero to %n step %one  : i32 {
      %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
      ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
      scf.yield
    }
    tt.return
  }
}
"""


@pytest.mark.parametrize(("kinds", "told"), [("remarks", True), ("warnings", False), ("", False)])
def test_diagnostics_print_what_passes_remark(monkeypatch, capsys, kinds: str, told: bool) -> None:
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", kinds)
    module = parsed(BARRIERS)
    manager = ir.pass_manager(module.context)
    nvidia.passes.ttnvgpuir.add_hoist_mbarrier_lifecycle(manager, 90)
    manager.run(module, "make_ttgir")
    text = capsys.readouterr().err
    assert ("hoist-mbarrier-lifecycle is not implemented" in text and "module.mlir:10:7" in text) is told


def ttgir_of_names(mod, metadata, opt, capability):
    """The passes that Triton's compiler adds for Ampere and Hopper, by name, in its order."""
    manager = ir.pass_manager(mod.context)
    manager.enable_debug()
    ttgpu, ttnv = passes.ttgpuir, nvidia.passes.ttnvgpuir
    passes.ttir.add_convert_to_ttgpuir(manager, f"cuda:{capability}", opt.num_warps, 32, opt.num_ctas)
    ttgpu.add_coalesce(manager)
    ttgpu.add_f32_dot_tc(manager, True)
    for add_pass in (ttnv.add_assign_cga_layouts, ttgpu.add_remove_layout_conversions, ttnv.add_optimize_cta_locality):
        add_pass(manager)
    for add_pass in (ttgpu.add_remove_layout_conversions, ttgpu.add_optimize_thread_locality):
        add_pass(manager)
    for add_pass in (ttgpu.add_accelerate_matmul, ttnv.add_check_matmul_two_cta, ttgpu.add_remove_layout_conversions):
        add_pass(manager)
    ttgpu.add_optimize_dot_operands(manager, True)
    ttnv.add_optimize_descriptor_encoding(manager)
    passes.ttir.add_loop_aware_cse(manager)
    ttgpu.add_fuse_nested_loops(manager)
    for add_pass in (passes.common.add_canonicalizer, passes.ttir.add_triton_licm, passes.common.add_canonicalizer):
        add_pass(manager)
    ttgpu.add_combine_tensor_select_and_if(manager)
    nvidia.passes.hopper.add_hopper_warpspec(manager, opt.num_stages, False)
    ttgpu.add_assign_latencies(manager, opt.num_stages)
    ttgpu.add_schedule_loops(manager)
    ttgpu.add_pipeline(manager, opt.num_stages, False)
    for add_pass in (passes.common.add_canonicalizer, passes.ttir.add_loop_aware_cse):
        add_pass(manager)
    if capability < 90:
        ttgpu.add_prefetch(manager)
    ttgpu.add_optimize_dot_operands(manager, True)
    for add_pass in (ttgpu.add_coalesce_async_copy, ttnv.add_optimize_tmem_layouts, ttnv.add_tmem_load_reduce):
        add_pass(manager)
    if capability >= 90:
        ttnv.add_tma_lowering(manager)
    for add_pass in (ttgpu.add_remove_layout_conversions, ttnv.add_interleave_tmem, ttgpu.add_reduce_data_duplication):
        add_pass(manager)
    for add_pass in (ttgpu.add_reorder_instructions, passes.ttir.add_loop_aware_cse, passes.common.add_symbol_dce):
        add_pass(manager)
    ttnv.add_fence_insertion(manager, capability)
    ttnv.add_lower_mma(manager)
    ttnv.add_hoist_mbarrier_lifecycle(manager, capability)
    for add_pass in (passes.common.add_sccp, passes.common.add_cse, passes.common.add_canonicalizer):
        add_pass(manager)
    manager.run(mod, "make_ttgir")
    metadata["tensordesc_meta"] = mod.get_tensordesc_metadata()
    return mod


@pytest.mark.parametrize("capability", [80, 90])
def test_make_ttgir_of_a_hook_gives_correct_matrix_products(capability: int) -> None:
    knobs.runtime.add_stages_inspection_hook = replacing(ttgir=ttgir_of_names)
    gpu = Gpu(compile(matmul_source(), target=GPUTarget("cuda", capability, 32), until="ptx"))
    rng = np.random.default_rng(0)
    a, b = (aligned(rng.integers(-4, 5, shape).astype(np.float16)) for shape in ((64, 96), (96, 64)))
    c = aligned(np.full((64, 64), np.nan, np.float32))
    gpu.launch(1, a, b, c, 96)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert gpu.count("wgmma" if capability == 90 else r"mma\.sync") and gpu.count(r"cp\.async")


@dataclass(frozen=True)
class MarkOptions:
    value: int = 1


@pass_on("module", name="mark-module", options=MarkOptions)
def mark_module(module, options=None) -> bool:
    """Mark a module."""
    module.attributes["marked"] = IntegerAttr(options.value if options else 1, i32)
    return True


def test_passes_of_plugins_are_added_by_name(monkeypatch) -> None:
    monkeypatch.setattr(PASSES, "_infos", dict(PASSES._infos))
    PASSES.add(mark_module)
    for options, value in (((), 1), (["value=7"], 7)):
        module = parsed()
        manager = ir.pass_manager(module.context)
        passes.plugin.add_mark_module(manager, *([options] if options else []))
        manager.run(module, "make_ttir_plugin")
        assert module.get_int_attr("marked") == value
    with pytest.raises(UnsupportedBinding, match=r"passes\.plugin\.add_nothing.*docs/plugins.md"):
        passes.plugin.add_nothing(manager)


# ---- functions that programs replace ---------------------------------------------------------------------------------


@pytest.fixture
def replaced(monkeypatch) -> Any:
    """Replace functions of the bindings, until the end of the test."""
    return lambda space, name, function: monkeypatch.setattr(space, name, function)


def test_a_replaced_function_changes_the_compiler_s_own_stages(replaced, monkeypatch, capsys) -> None:
    target, own = GPUTarget("cuda", 90, 32), passes.ttgpuir.add_coalesce
    first = compile(matmul_source(), target=target, until="ttgir")
    replaced(passes.ttgpuir, "add_coalesce", lambda pm: None)
    assert compile(matmul_source(), target=target, until="ttgir").hash != first.hash
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "1")
    compile(matmul_source(), target=target, until="ttgir")
    titles = dumped(capsys.readouterr().err)
    assert "TritonGPUCoalesce" not in titles and "TritonGPUPipeline" in titles
    monkeypatch.delenv("MLIR_ENABLE_DUMP")
    passes.ttgpuir.add_coalesce = own
    assert compile(matmul_source(), target=target, until="ttgir").hash == first.hash


def test_a_replacement_is_called_with_triton_s_arguments_and_may_add_others(replaced, monkeypatch, capsys) -> None:
    own, told = passes.ttgpuir.add_pipeline, []

    def add_pipeline(pm, num_stages, dump):
        told.append((num_stages, dump))
        own(pm, num_stages, dump)
        passes.common.add_sccp(pm)

    replaced(passes.ttgpuir, "add_pipeline", add_pipeline)
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "1")
    options = {"num_stages": 2}
    compile(matmul_source(), target=GPUTarget("cuda", 90, 32), options=options, until="ttgir")
    titles = dumped(capsys.readouterr().err)
    at = titles.index("TritonGPUPipeline")
    assert told == [(2, False)] and titles[at + 1] == "SCCPPass" and titles.count("TritonGPUPipeline") == 1
    knobs.runtime.add_stages_inspection_hook = replacing(ttgir=ttgir_of_names)
    compile(matmul_source(), target=GPUTarget("cuda", 90, 32), options=options, until="ttgir")
    titles = dumped(capsys.readouterr().err)
    assert titles.count("TritonGPUPipeline") == 1 and titles.count("SCCPPass") == 2  # the list adds one itself


def test_functions_whose_arguments_the_stages_do_not_know_cannot_be_replaced(replaced) -> None:
    with pytest.raises(UnsupportedBinding, match=r"replacing nvidia\.passes\.ttgpuir\.add_allocate_shared_memory_nv"):
        replaced(nvidia.passes.ttgpuir, "add_allocate_shared_memory_nv", lambda pm, capability, version: None)
    replaced(nvidia.passes.ttnvgpuir, "add_interleave_tmem", lambda pm: None)  # in no pipeline here


# ---- Triton's own backend, read from its wheel ---------------------------------------------------------------------


@pytest.fixture
def theirs(wheel, monkeypatch) -> Any:
    """Triton's CUDA backend, executed from its file with `import triton` answered by this package."""
    alias.install()
    try:
        instrumentation = ModuleType("triton._instrumentation")
        instrumentation.instrument = lambda *args, **kwargs: None  # type: ignore[attr-defined]
        instrumentation.is_enabled = lambda options, mode: False  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "triton._instrumentation", instrumentation)
        path = Path(wheel["home"], "backends", "nvidia", "compiler.py")
        module = ModuleType("triton_backend_of_the_wheel")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        module.__file__ = str(path)
        exec(builtins.compile(path.read_text(), str(path), "exec"), module.__dict__)
        yield module.CUDABackend  # type: ignore[attr-defined]
    finally:
        alias.uninstall()


def ptx_of(source: ASTSource, capability: int) -> str:
    text = compile(source, target=GPUTarget("cuda", capability, 32), until="ptx").asm["ptx"]
    return re.sub(r"//.*", "", text)


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("source", [add_source, matmul_source])
def test_triton_s_make_ttir_and_make_ttgir_give_the_same_code_as_ours(theirs, source, capability: int) -> None:
    ours = ptx_of(source(), capability)
    knobs.runtime.add_stages_inspection_hook = replacing(ttir=theirs.make_ttir, ttgir=theirs.make_ttgir)
    assert ptx_of(source(), capability) == ours


@needs_ptxas
@pytest.mark.parametrize("capability", [80, 90])
def test_triton_s_backend_compiles_to_machine_code(theirs, capability: int) -> None:
    backend = theirs(GPUTarget("cuda", capability, 32))
    stages = {name: getattr(backend, f"make_{name}") for name in ("ttir", "ttgir", "llir", "ptx", "cubin")}
    knobs.runtime.add_stages_inspection_hook = replacing(**stages)
    kernel = compile(matmul_source(), target=GPUTarget("cuda", capability, 32))
    assert kernel.asm["cubin"][:4] == b"\x7fELF" and kernel.metadata.name == "matmul"
    gpu = Gpu(kernel)
    a, b = (aligned(np.ones(shape, np.float16)) for shape in ((64, 64), (64, 64)))
    c = aligned(np.zeros((64, 64), np.float32))
    gpu.launch(1, a, b, c, 64)
    assert (c == 64).all()


def test_every_name_of_the_bindings_is_there(wheel) -> None:
    alias.install()
    try:
        module = importlib.import_module("triton._C.libtriton")
        lacking = {path: names for path, names in absent_names(module, wheel["names"]).items() if names}
        assert importlib.import_module("triton._C.libtriton.linear_layout").LinearLayout
    finally:
        alias.uninstall()
    assert lacking == {}


def absent_names(bindings: Any, names: dict[str, list[str]]) -> dict[str, list[str]]:
    found = {}
    for path, wanted in names.items():
        module = bindings
        for part in filter(None, path.split(".")):
            module = getattr(module, part)
        found[path] = [name for name in wanted if not hasattr(module, name)]
    return found


# ---- every row of the table ----------------------------------------------------------------------------------------

MODULE = """module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
  "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %one = arith.constant 1.0 : f32
    tt.store %x, %one : !tt.ptr<f32>
    tt.return
  }
}
"""


def parsed(text: str = MODULE) -> Any:
    path = Path(knobs.cache.dir, "module.mlir")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return ir.parse_mlir_module(str(path), ir.context())


def function_at(path: str) -> Any:
    found: Any = libtriton
    for part in path.split("."):
        found = getattr(found, part)
    return found


ARGUMENTS = {"add_convert_to_ttgpuir": ("cuda:90", 4, 32, 1), "add_set_minimum_shared_memory": (4096,)}
ARGUMENTS |= dict.fromkeys(("add_allocate_shared_memory_nv", "add_to_llvmir", "add_membar"), (90, 84))
ARGUMENTS |= dict.fromkeys(("add_pipeline", "add_hopper_warpspec", "add_warp_specialize"), (3,))


@pytest.mark.parametrize("path", pass_table.ADDERS)
def test_each_add_function_adds_passes_that_run(path: str) -> None:
    name = path.rpartition(".")[2]
    module = parsed(re.sub(r" attributes \{.*?\} \{", " {", MODULE, flags=re.S)) if "ttir" in path else parsed()
    manager = ir.pass_manager(module.context)
    function_at(path)(manager, *ARGUMENTS.get(name, ()))
    assert manager.rows and manager.get_pipeline_str().startswith("any(")
    manager.run(module, "make_stage")
    assert module.verify()


def test_minimum_shared_memory_is_an_attribute() -> None:
    module = parsed()
    manager = ir.pass_manager(module.context)
    nvidia.passes.ttgpuir.add_set_minimum_shared_memory(manager, 4096)
    manager.run(module, "make_llir")
    assert module.get_int_attr("ttg.shared") == 4096


@pytest.mark.parametrize("path", pass_table.REFUSED)
def test_bindings_without_a_pass_are_refused_by_name(path: str) -> None:
    manager = ir.pass_manager(ir.context())
    with pytest.raises(UnsupportedBinding, match=re.escape(path)) as found:
        function_at(path)(manager)
    assert isinstance(found.value, NotImplementedError) and isinstance(found.value, TritiumError)
    assert pass_table.REFUSED[path] in str(found.value)


def test_passes_of_tensor_memory_refuse_modules_that_use_it() -> None:
    text = MODULE.replace(
        "%one =",
        "%m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #ttng.tensor_memory_encoding<blockM = 128, "
        "blockN = 128, colStride = 1>, #ttng.tensor_memory, mutable>\n    %one =",
    )
    module = parsed(text)
    manager = ir.pass_manager(module.context)
    nvidia.passes.ttnvgpuir.add_allocate_tensor_memory(manager)
    with pytest.raises(UnsupportedOperation, match=r"module.mlir:\d+:\d+.*\n?.*triton-tensor-memory-allocation"):
        manager.run(module, "make_llir")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module { tt.func public @k( }", "module.mlir:1:29"),
        (MODULE.replace("%one :", "%two :").replace("%x, %one", "%x, %two"), "%two"),
        (MODULE.replace("tt.return", ""), "terminator|tt.func"),
    ],
)
def test_texts_that_are_wrong_are_runtime_errors_with_the_place(text: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message) as found:
        parsed(text)
    assert isinstance(found.value, TritiumError)


def test_a_pass_that_fails_is_a_runtime_error_that_names_it() -> None:
    module = parsed()
    manager = ir.pass_manager(module.context)
    manager.rows.append(Pass("divide", lambda op: bool(1 // 0)))
    with pytest.raises(RuntimeError, match=r"divide.*ZeroDivisionError"):
        manager.run(module, "make_ttgir")


def test_wrong_arguments_name_the_function_and_its_parameters() -> None:
    manager = ir.pass_manager(ir.context())
    with pytest.raises(TypeError, match=r"passes\.ttir\.add_convert_to_ttgpuir\(pass_manager, target"):
        passes.ttir.add_convert_to_ttgpuir(manager)
    with pytest.raises(AttributeError, match="passes.ttir has no 'add_nothing'; it has: add_combine"):
        passes.ttir.add_nothing(manager)


# ---- llvm ----------------------------------------------------------------------------------------------------------


def test_to_module_needs_a_module_that_was_prepared() -> None:
    with pytest.raises(TritiumError, match="add_to_llvmir"):
        llvm.to_module(parsed(), llvm.context())


def test_fusion_is_decided_where_code_is_made() -> None:
    text = """define ptx_kernel void @k(ptr addrspace(1) %p, float %a, float %b) {
      %m = fmul contract float %a, %b
      %s = fadd contract float %m, %a
      store float %s, ptr addrspace(1) %p
      ret void
    }"""
    made = [
        llvm.translate_to_asm(text, "nvptx64-nvidia-cuda", "sm_80", "+ptx80", [], fusion, False, False)
        for fusion in (True, False)
    ]
    assert ["fma.rn" in ptx for ptx in made] == [True, False]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: llvm.translate_to_asm("", "x86_64", "znver3", "", [], True, False, False), "GPUTarget"),
        (lambda: llvm.translate_to_asm("", "nvptx64-nvidia-cuda", "sm_80", "", [], True, True, False), "make_cubin"),
        (lambda: llvm.to_bitcode(""), "llvmlite"),
        (lambda: llvm.translate_to_mir(""), "machine IR"),
        (lambda: nvidia.device_malloc(4), "torch"),
        (lambda: ir.builder(ir.context()).create_reduce(), r"ir\.builder\.create_reduce.*tritium\.ir\.Builder"),
        (lambda: ir.ForOp, "ForOp"),
    ],
)
def test_other_bindings_are_refused_with_a_replacement(call, message: str) -> None:
    with pytest.raises(UnsupportedBinding, match=message):
        found = call()
        found()  # a class is refused when it is called
