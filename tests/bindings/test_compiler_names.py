"""`triton.compiler.code_generator` and `.compiler`: what programs that compile kernels themselves call."""

from __future__ import annotations

import ast
import textwrap
import traceback
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.bindings.test_pass_managers import add, add_source, matmul_source
from tests.conversion.ttg_to_llvm.harness import aligned
from tritium._C.libtriton import ir
from tritium.backends.compiler import GPUTarget
from tritium.backends.nvidia.compiler import CUDABackend
from tritium.compiler import ASTSource, compile
from tritium.dropin import code_generator
from tritium.dropin import compiler as helpers
from tritium.dropin.refusal import UnsupportedBinding
from tritium.emulator import launch
from tritium.frontend.errors import CompilationError
from tritium.frontend.visitor.unit import Unit
from tritium.runtime.jit_parts import native_specialize_impl
from tritium.support import TritiumError


def compiled_by_stages(source: ASTSource, capability: int, **values):
    """As a framework does that embeds PTX in programs of its own: no cache, a metadata dict of its own."""
    backend = CUDABackend(GPUTarget("cuda", capability, 32))
    options, context, metadata = backend.parse_options(values), ir.context(), {}
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = code_generator.ast_to_ttir(
        source.fn,
        source,
        options=options,
        codegen_fns=backend.get_codegen_implementation(options),
        context=context,
        module_map=backend.get_module_map(),
    )
    assert module.context is context
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        module = getattr(backend, f"make_{stage}")(module, metadata, options, capability)
    return module, metadata


def test_a_kernel_by_ast_to_ttir_and_stages_computes() -> None:
    types = ("*fp32", "*fp32", "*fp32", "i32")
    arguments = [SimpleNamespace(data_ptr=lambda: 16, dtype=ty.removeprefix("*")) for ty in types[:3]]
    attrs = {
        (i,): CUDABackend.parse_attr(native_specialize_impl(None, a, False, True, True)[1])
        for i, a in enumerate(arguments)
    }
    assert attrs[(0,)] == [["tt.divisibility", 16]]
    signature = {**dict(zip(("x", "y", "out", "n"), types)), "BLOCK": "constexpr"}
    ptx, metadata = compiled_by_stages(ASTSource(add, signature, {"BLOCK": 64}, attrs), 90, num_warps=2)
    x, y, out = (aligned(np.arange(100, dtype=np.float32) + i) for i in range(3))
    launch(ptx, 2, [x, y, out, 100], shared_bytes=metadata["shared"])
    np.testing.assert_array_equal(out, 2 * x + y)
    assert metadata["name"] == "add" and metadata["tmem_size"] == 0 and metadata["num_warps"] == 2


@tritium.jit
def wide_product(a, b, c, K):
    m, k = tl.arange(0, 256), tl.arange(0, 32)
    total = tl.zeros((256, 256), tl.float32)
    for at in range(0, K, 32):
        total = tl.dot(tl.load(a + m[:, None] * K + (at + k)[None, :]), tl.load(b + (at + k)[:, None] * 256 + m), total)
    tl.store(c + m[:, None] * 256 + m[None, :], total)


def test_stages_called_by_others_keep_the_warps_of_the_options() -> None:
    """Their callers launch with the warps that they asked for; `compile` may choose more for large accumulators."""
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32"}
    source = ASTSource(wide_product, types, {}, {(i,): [["tt.divisibility", 16]] for i in range(4)})
    assert compile(source, target=GPUTarget("cuda", 90, 32), until="ptx").metadata.num_warps > 4
    ptx, metadata = compiled_by_stages(source, 90)
    assert metadata["num_warps"] == 4 and ".reqntid 128" in ptx


def test_a_module_to_add_to_is_refused() -> None:
    with pytest.raises(UnsupportedBinding, match="module of its own"):
        code_generator.ast_to_ttir(add, add_source(), ir.context(), None, module=object())


def values_of_language() -> list:
    semantic = Unit(None).semantic
    semantic.builder.at_end(tritium.ir.Block())
    number = semantic.to_tensor(3)
    return [number, semantic.arange(0, 8), tl.tuple([number, tl.constexpr(2)]), tl.constexpr(7)]


def test_values_flatten_to_ir_and_back() -> None:
    values = values_of_language()
    handles = code_generator.flatten_values_to_ir(values)
    assert [str(h.type) for h in handles] == ["i32", "tensor<8xi32>", "i32"]
    back = list(code_generator.unflatten_ir_values(handles, [v.type for v in values[:3]]))
    assert code_generator.flatten_values_to_ir(back) == handles and back[2][1].value == 2
    with pytest.raises(ValueError, match="take 1 of 3"):
        list(code_generator.unflatten_ir_values(handles, [values[0].type]))


def test_bases_of_values_and_types() -> None:
    assert all(isinstance(v, code_generator.base_value) for v in values_of_language())
    assert all(isinstance(v.type, code_generator.base_type) for v in values_of_language()[:3])
    assert not isinstance(3, code_generator.base_value) and not isinstance("i32", code_generator.base_type)
    for base in (code_generator.base_value, code_generator.base_type, code_generator.CodeGenerator):
        with pytest.raises(UnsupportedBinding, match="subclass"):
            type("mine", (base,), {}) if isinstance(base, type) else exec("class mine(base): pass", {"base": base})


def test_symbols_of_functions() -> None:
    number, block, *_ = values_of_language()
    name = code_generator.mangle_fn("module.f", [number.type, block.type, tl.pointer_type(tl.float32)])
    assert name == "module.f__i32_i32S8S_Pfp32"
    assert code_generator.check_identifier_legality("f_1", "function") == "f_1"
    with pytest.raises(CompilationError, match="invalid function identifier: <lambda>"):
        code_generator.check_identifier_legality("<lambda>", "function")


def test_statements_that_return() -> None:
    source = """
    def f(x):
        if x:
            return 1
        for i in x:
            g = lambda: 0
        def inner():
            return 2
    """
    first, loop, inner = ast.parse(textwrap.dedent(source)).body[0].body
    check = code_generator.ContainsReturnChecker({})
    assert [check.visit(n) for n in (first, loop, *inner.body)] == [True, False, True] and check.visit(inner)


def test_stages_read_from_files(tmp_path: Path) -> None:
    kernel = compile(matmul_source(), target=GPUTarget("cuda", 80, 32), until="ptx")
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        path = tmp_path / f"k.{stage}"
        path.write_text(kernel.asm[stage])
        found = helpers.parse(str(path), stage, ir.context())
        assert found.get_entry_func_name() == "matmul" if "tt" in stage else found == kernel.asm[stage]
    (tmp_path / "k.cubin").write_bytes(b"\x7fELF")
    assert helpers.parse(tmp_path / "k.cubin", "cubin", None) == b"\x7fELF"
    with pytest.raises(TritiumError, match="no stage 'json'"):
        helpers.parse(tmp_path / "k.ptx", "json", None)


def test_tracebacks_without_the_frontend() -> None:
    @tritium.jit
    def wrong(x):
        tl.store(x, tl.program_id(7))

    try:
        Unit(None).semantic.program_id(7)
    except Exception as error:
        caught = error
    assert any("/frontend/" in f.filename for f in traceback.extract_tb(caught.__traceback__))
    helpers.filter_traceback(caught)
    files = [f.filename for f in traceback.extract_tb(caught.__traceback__)]
    assert files == [__file__]


def test_timer_makes_times_for_listeners() -> None:
    timer = helpers.CompileTimer()
    timer.finished_ir_initialization()
    timer.stage_finished("ttir")
    timer.stage_finished("ptx")
    times = timer.end()
    assert [name for name, _ in times.lowering_stages] == ["ttir", "ptx"] and times.total >= times.total_lowering >= 0
    found = helpers.CompileTimer().end()
    assert found.lowering_stages == [] and found.store_results == 0


def test_stages_by_name_and_types_of_texts(monkeypatch) -> None:
    stages = helpers.AsmDict(ptx="text", cubin=b"code")
    monkeypatch.setattr(helpers, "_disassembler", SimpleNamespace(get_sass=lambda code: f"sass of {code!r}"))
    assert stages["sass"] == "sass of b'code'" == dict(stages)["sass"]
    with pytest.raises(KeyError):
        _ = stages["ttir"]
    assert helpers.convert_type_repr("!tt.ptr<f32, 1> {tt.divisibility = 16 : i32}") == "*f32"


@pytest.mark.parametrize(
    "use",
    [
        lambda: code_generator.CodeGenerator(None),
        lambda: code_generator.ASTFunction([], [], {}),
        lambda: code_generator.enter_sub_region(None),
        lambda: helpers.prototype_pattern.get("ttir"),
    ],
)
def test_parts_of_another_visitor_are_refused(use) -> None:
    with pytest.raises(UnsupportedBinding, match=r"tritium\.|IRSource"):
        use()
