"""Ops and a target that only tests define run through all passes, the evaluator and the printer.

Each test compares with ops or targets of the compiler itself, or with an op that lacks the interface.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium.conversion
import tritium.dialects.all
import tritium.transforms
from tests.filetests.runner import FORMS
from tests.reliability.emulated import gpu
from tests.transforms import probe_ops
from tritium.backends.nvidia.compiler import CUDABackend
from tritium.backends.nvidia.options import CUDAOptions
from tritium.backends.nvidia.target import CUDATarget
from tritium.compiler import GPUTarget, compile
from tritium.compiler.backend import register_backend
from tritium.interpreter.evaluator import run
from tritium.ir import PURE, Op, Operand, PassManager, Result, parse_module, print_op, verify
from tritium.support.dataclasses import dataclass

assert tritium.conversion and tritium.dialects.all and tritium.transforms and probe_ops

CORPUS = Path(__file__).parents[1] / "corpus" / "triton-3.9"

ELEMENTWISE = """
module {
  tt.func public @double(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                         %n: i32 {tt.divisibility = 16 : i32}) {
    %c = arith.constant 512 : i32
    %lo = arith.constant 0 : i32
    %hi = arith.constant 2 : i32
    %one = arith.constant 1 : i32
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %zero = arith.constant dense<0.0> : tensor<512xf32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %ns = tt.splat %n : i32 -> tensor<512xi32>
    scf.for %i = %lo to %hi step %one : i32 {
      %b = arith.muli %i, %c : i32
      %bs = tt.splat %b : i32 -> tensor<512xi32>
      %at = arith.addi %bs, %r : tensor<512xi32>
      %m = arith.cmpi slt, %at, %ns : tensor<512xi32>
      %p = tt.addptr %xs, %at : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
      %v = probe.load %p, %m, %zero : tensor<512x!tt.ptr<f32>>
      %w = probe.load %p, %m, %zero : tensor<512x!tt.ptr<f32>>
      %unused = probe.load %p, %m : tensor<512x!tt.ptr<f32>>
      %s = arith.addf %v, %w : tensor<512xf32>
      %q = tt.addptr %os, %at : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
      probe.store %q, %s, %m : tensor<512x!tt.ptr<f32>>
      %again = probe.load %q, %m, %zero : tensor<512x!tt.ptr<f32>>
      %t = arith.addf %again, %v : tensor<512xf32>
      probe.store %q, %t, %m : tensor<512x!tt.ptr<f32>>
    }
    tt.return
  }
}
"""
"""o = 3 x: 2 x is stored, loaded again, and added to x."""

MATMUL = """
module {
  tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                         %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %steps: i32) {
    %lo = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %cols = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %w = arith.constant dense<64> : tensor<64x1xi32>
    %down = arith.muli %rows, %w : tensor<64x1xi32>
    %d2 = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
    %c2 = tt.broadcast %cols : tensor<1x64xi32> -> tensor<64x64xi32>
    %at = arith.addi %d2, %c2 : tensor<64x64xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %ap = tt.addptr %as, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %bp = tt.addptr %bs, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %cp = tt.addptr %cs, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %next = arith.constant dense<4096> : tensor<64x64xi32>
    %sum, %ae, %be = scf.for %i = %lo to %steps step %one
        iter_args(%acc = %zero, %ai = %ap, %bi = %bp)
        -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
      %x = tt.load %ai : tensor<64x64x!tt.ptr<f16>>
      %y = probe.load %bi : tensor<64x64x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %an = tt.addptr %ai, %next : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %bn = tt.addptr %bi, %next : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      scf.yield %d, %an, %bn : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
    }
    probe.store %cp, %sum : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
"""

SUM = """
module {
  tt.func public @sum(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %lo = arith.constant 0 : i32
    %hi = arith.constant 4 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %r = scf.for %i = %lo to %hi step %one iter_args(%t = %zero) -> (f32) : i32 {
      %x = probe.load %p : !tt.ptr<f32>
      %s = arith.addf %t, %x : f32
      probe.store %p, %s : !tt.ptr<f32>
      scf.yield %s : f32
    }
    probe.store %o, %r : !tt.ptr<f32>
    tt.return
  }
}
"""

_PAIR, _TILE = (f"!ttg.memdesc<{shape}x32xf32, #s, #smem, mutable>" for shape in ("2x32", "32"))
BUFFERS = f"""
#b = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>
#t = #ttg.blocked<{{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}}>
#s = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @buffers(%x: tensor<32x32xf32, #b>, %y: tensor<32x32xf32, #b>) -> tensor<32x32xf32, #t> {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> {_PAIR}
    %first = ttg.memdesc_index %a[%zero] : {_PAIR} -> {_TILE}
    %second = ttg.memdesc_index %a[%one] : {_PAIR} -> {_TILE}
    %u = probe.VIEW %first : {_TILE}
    %v = probe.VIEW %second : {_TILE}
    probe.buffer_store %x, %u : tensor<32x32xf32, #b> -> {_TILE}
    probe.buffer_store %y, %v : tensor<32x32xf32, #b> -> {_TILE}
    %r = probe.buffer_load %u : {_TILE} -> tensor<32x32xf32, #t>
    tt.return %r : tensor<32x32xf32, #t>
  }}
}}
"""


class Opaque(Op, name="probe.opaque", traits=PURE, assembly="$src attr-dict `:` qualified(type($src))"):
    """As `probe.view`, without the interface."""

    src: Operand
    result: Result


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of a compiled kernel does not cover the ops that tests define; columns differ with the names of ops."""
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_DISABLE_LINE_INFO", "1")


def names_of(module: Any) -> list[str]:
    return [op.name for op in module.walk()]


def after(text: str, passes: str) -> Any:
    module = parse_module(text)
    PassManager(f"builtin.module({passes})").run(module)
    verify(module)
    return module


def written(folder: Path, text: str) -> Path:
    path = folder / "kernel.ttir"
    path.write_text(text)
    return path


def small(*shape: int, dtype: Any, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize(
    "text", [ELEMENTWISE, MATMUL, BUFFERS.replace("VIEW", "view")], ids=["elementwise", "matmul", "buffers"]
)
@pytest.mark.parametrize("generic", [False, True])
def test_printer_and_parser_round_trip(text: str, generic: bool) -> None:
    printed = print_op(parse_module(text), generic=generic)
    assert "probe." in printed and print_op(parse_module(printed), generic=generic) == printed


def test_cse_merges_loads_up_to_a_store_and_dce_removes_unused_ones() -> None:
    names = names_of(after(ELEMENTWISE, "cse,canonicalize"))
    assert names.count("probe.load") == 2 and names.count("probe.store") == 2


@pytest.mark.parametrize("stores", [False, True], ids=["reads", "writes"])
def test_licm_hoists_a_load_out_of_a_loop_that_does_not_write(stores: bool) -> None:
    text = SUM if stores else re.sub(".*probe.store %p.*\n", "", SUM)
    names = names_of(after(text, "licm"))
    assert (names.index("probe.load") < names.index("scf.for")) is not stores


@pytest.mark.parametrize("capability", [80, 90])
def test_accesses_compile_to_the_same_code_as_loads_and_stores(tmp_path: Path, capability: int) -> None:
    target = GPUTarget("cuda", capability, 32)
    ours, known = (
        compile(str(written(tmp_path, text)), target) for text in (ELEMENTWISE, ELEMENTWISE.replace("probe.", "tt."))
    )
    assert "probe.load" in ours.asm["ttgir"] and "ld.global.v4.b32" in ours.asm["ptx"]
    assert ours.asm["ptx"] == known.asm["ptx"]


OURS = {
    "tt.load": probe_ops.Load,
    "tt.store": probe_ops.Store,
    "ttg.local_load": probe_ops.BufferLoad,
    "ttg.local_store": probe_ops.BufferStore,
}


def replaced(module: Any) -> int:
    """Replace the loads and stores of a module by those of this dialect; the number of these."""
    count = 0
    for op in list(module.walk()):
        new = OURS.get(op.name)
        if new is None or getattr(op, "isVolatile", False) or getattr(op, "token", None) is not None:
            continue
        known = {*new.attribute_fields, *(["operandSegmentSizes"] if new.segmented else [])}
        attributes = {k: v for k, v in op.attributes.items() if k in known or k not in _fields_of(op)}
        made = new.create(op.operands, [r.type for r in op.results], attributes, loc=op.loc)
        for result, old in zip(made.results, op.results, strict=True):
            result.hint = old.hint
        op.parent.insert_before(made, op)
        op.replace_with(made.results)
        count += 1
    return count


def _fields_of(op: Any) -> set[str]:
    return {*op.attribute_fields, "operandSegmentSizes"}


#: Files whose passes do what one op needs, and why no other op is treated so.
OF_ONE_OP = {
    "rules/combine.mlir": "rules of tt.load",
    "rules/tt_memory.mlir": "rules of tt.load and tt.store",
    "rules/ttg.mlir": "rules of local_load and local_store",
    "ttir/combine.mlir": "rules of tt.load",
    "ttir/canonicalize_tiles.mlir": "rules of tt.load",
    "ttir/licm_loads.mlir": "a mask is added to tt.load",
    "shown/convert_tt_to_ttc.mlir": "no lowering for CPUs is registered",
    "shown/pad_shapes.mlir": "each op is padded in its own way",
    "ttir/pad_shapes.mlir": "each op is padded in its own way",
    "shown/rewrite_tensor_pointer.mlir": "block pointers",
    "ttir/rewrite_tensor_pointer.mlir": "block pointers",
    "shown/lower_gluon_to_tiles.mlir": "each op of layouts has a tile op of its own",
    "shown/prefetch.mlir": "local_load of a part is made",
    "ttgir/prefetch.mlir": "local_load of a part is made",
    "shown/amd_convert_to_buffer_ops.mlir": "tt.load and tt.store become buffer instructions",
    "ttgir/amd_convert_to_buffer_ops.mlir": "tt.load and tt.store become buffer instructions",
    "shown/amd_block_pingpong.mlir": "clusters of tt.load and local_load",
    "shown/amd_fold_true_cmpi.mlir": "canonicalize drops the true mask of a tt.load",
    "ttgir/amd_buffer_ranges.mlir": "tt.load becomes a buffer instruction",
    "shown/amd_pipeline.mlir": "tt.load is predicated by its mask",
    "ttgir/amd_pipeline.mlir": "tt.load is predicated by its mask",
}
FILES = Path(__file__).parents[1] / "filetests"


@pytest.mark.parametrize("folder", [".", "rules", "shown", "ttir", "ttgir"])
def test_filetests_give_the_same_with_accesses_replaced(folder: str) -> None:
    """Every text test of a pass that has loads or stores: passes do with those of this dialect what they do with ours."""
    compared = 0
    for path in sorted((FILES / folder).glob("*.mlir")):
        text = path.read_text()
        steps = [step.strip() for step in text.split("\n")[0].removeprefix("// RUN:").split(",")]
        pipeline = ",".join(step for step in steps if step not in (*FORMS, "print"))
        if not pipeline or "// error:" in text or not any(name in text for name in OURS):
            continue
        known, ours = parse_module(text), parse_module(text)
        if not replaced(ours):
            continue
        PassManager(f"builtin.module({pipeline})").run(known)
        replaced(known)
        try:
            PassManager(f"builtin.module({pipeline})").run(ours)
        except Exception:
            same = False
        else:
            replaced(ours)  # what passes make anew
            same = print_op(ours) == print_op(known)
        name = f"{folder}/{path.name}"
        assert same is (name not in OF_ONE_OP), name
        compared += 1
    assert compared


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("kernel", ["fused_softmax.softmax_kernel", "layer_norm.layer_norm_bwd_dwdb.backward_dwdb"])
def test_kernels_with_accesses_replaced_compile_to_the_same_code(tmp_path: Path, kernel: str, capability: int) -> None:
    known = parse_module((CORPUS / f"{kernel}.sm90.ttir.mlir").read_text())
    ours = known.clone()
    replaced(ours)
    names = names_of(ours)
    assert "probe.load" in names and "probe.store" in names and not {"tt.load", "tt.store"} & set(names)
    texts = [
        compile(str(written(tmp_path, print_op(m))), GPUTarget("cuda", capability, 32)).asm["ptx"]
        for m in (ours, known)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("capability", [80, 90])
def test_kernels_compute_what_the_evaluator_computes(tmp_path: Path, capability: int) -> None:
    x, want, got = small(1000, dtype=np.float32, seed=1), np.zeros(1000, np.float32), np.zeros(1000, np.float32)
    run(parse_module(ELEMENTWISE), 1, [x, want, 992])
    np.testing.assert_array_equal(want[:992], 3 * x[:992])
    with gpu(capability):
        compile(str(written(tmp_path, ELEMENTWISE)), GPUTarget("cuda", capability, 32))[(1, 1, 1)](x, got, 992)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("capability", [80, 90])
def test_a_plain_load_is_pipelined(tmp_path: Path, capability: int) -> None:
    target = GPUTarget("cuda", capability, 32)
    ours, known = (
        compile(str(written(tmp_path, text)), target) for text in (MATMUL, MATMUL.replace("probe.load", "tt.load"))
    )
    assert "probe.load" not in ours.asm["ttgir"] and ours.asm["ptx"].count("cp.async.cg") > 1
    assert ours.asm["ptx"] == known.asm["ptx"]


@pytest.mark.parametrize("capability", [80, 90])
def test_another_load_beside_a_pipelined_one_stays_a_load(tmp_path: Path, capability: int) -> None:
    text = MATMUL.replace("probe.load", "probe.doubled_load")
    a, b = small(4, 64, 64, dtype=np.float16, seed=1), small(4, 64, 64, dtype=np.float16, seed=2)
    want, got = np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)
    run(parse_module(text), 1, [a, b, want, 4])
    np.testing.assert_array_equal(want, 2 * (a.astype(np.float32) @ b.astype(np.float32)).sum(0))
    with gpu(capability):
        kernel = compile(str(written(tmp_path, text)), GPUTarget("cuda", capability, 32))
        assert "ttg.async_copy_global_to_local" in kernel.asm["ttgir"] and "probe.doubled_load" in kernel.asm["ttgir"]
        kernel[(1, 1, 1)](a, b, got, 4)
    np.testing.assert_array_equal(got, want)


def barriers(view: str) -> list[str]:
    """What stands between the accesses of the buffers, barriers among it."""
    module = after(BUFFERS.replace("VIEW", view), "allocate-shared-memory,insert-barriers")
    return [name for name in names_of(module) if "buffer_" in name or name == "ttg.barrier"]


def test_barriers_stand_only_between_accesses_of_the_same_bytes() -> None:
    assert barriers("view") == ["probe.buffer_store", "probe.buffer_store", "ttg.barrier", "probe.buffer_load"]


def test_barriers_are_conservative_for_an_op_that_is_no_view() -> None:
    assert barriers("opaque") == [
        *("probe.buffer_store", "ttg.barrier", "probe.buffer_store", "ttg.barrier", "probe.buffer_load")
    ]


STAGED = f"""
#b = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>
#s = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#u = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}}>
#smem = #ttg.shared_memory
#rows = #ttg.slice<{{dim = 1, parent = #b}}>
#cols = #ttg.slice<{{dim = 0, parent = #b}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:CAPABILITY", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @transposed(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %o: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    %one = arith.constant 1 : i32
    %w = arith.constant dense<32> : tensor<32x1xi32, #b>
    %i = tt.make_range {{start = 0 : i32, end = 32 : i32}} : tensor<32xi32, #rows>
    %j = tt.make_range {{start = 0 : i32, end = 32 : i32}} : tensor<32xi32, #cols>
    %r = tt.expand_dims %i {{axis = 1 : i32}} : tensor<32xi32, #rows> -> tensor<32x1xi32, #b>
    %c = tt.expand_dims %j {{axis = 0 : i32}} : tensor<32xi32, #cols> -> tensor<1x32xi32, #b>
    %d = arith.muli %r, %w : tensor<32x1xi32, #b>
    %e = tt.broadcast %d : tensor<32x1xi32, #b> -> tensor<32x32xi32, #b>
    %f = tt.broadcast %c : tensor<1x32xi32, #b> -> tensor<32x32xi32, #b>
    %at = arith.addi %e, %f : tensor<32x32xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #b>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #b>
    %p = tt.addptr %xs, %at : tensor<32x32x!tt.ptr<f32>, #b>, tensor<32x32xi32, #b>
    %q = tt.addptr %os, %at : tensor<32x32x!tt.ptr<f32>, #b>, tensor<32x32xi32, #b>
    %v = probe.load %p : tensor<32x32x!tt.ptr<f32>, #b>
    %a = ttg.local_alloc : () -> {_PAIR}
    %part = ttg.memdesc_index %a[%one] : {_PAIR} -> {_TILE}
    %view = probe.view %part : {_TILE}
    probe.buffer_store %v, %view : tensor<32x32xf32, #b> -> {_TILE}
    %t = ttg.memdesc_trans %view {{order = array<i32: 1, 0>}} : {_TILE} -> !ttg.memdesc<32x32xf32, #u, #smem, mutable>
    %y = probe.buffer_load %t : !ttg.memdesc<32x32xf32, #u, #smem, mutable> -> tensor<32x32xf32, #b>
    probe.store %q, %y : tensor<32x32x!tt.ptr<f32>, #b>
    tt.return
  }}
}}
"""


@pytest.mark.parametrize("capability", [80, 90])
def test_a_view_of_shared_memory_runs_to_the_end(tmp_path: Path, capability: int) -> None:
    text = STAGED.replace("CAPABILITY", str(capability))
    x, want, got = (
        small(32, 32, dtype=np.float32, seed=3),
        np.zeros((32, 32), np.float32),
        np.zeros((32, 32), np.float32),
    )
    run(parse_module(text), 1, [x, want])
    np.testing.assert_array_equal(want, x.T)
    path = tmp_path / "kernel.ttgir"
    path.write_text(text)
    with gpu(capability):
        kernel = compile(str(path), GPUTarget("cuda", capability, 32))
        assert kernel.asm["ptx"].count("bar.sync") == 1
        kernel[(1, 1, 1)](x, got)
    np.testing.assert_array_equal(got, want)


# -- a target -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProbeTarget(CUDATarget):
    """An Ampere GPU of another name with 2 KB of shared memory."""

    @property
    def backend(self) -> str:
        return "probe"

    @property
    def key(self) -> str:
        return f"probe:{self.capability}"

    @property
    def shared_memory(self) -> int:
        return 2 << 10


class ProbeOptions(CUDAOptions):
    """The options of the backend for that target."""

    @property
    def target(self) -> ProbeTarget:
        return ProbeTarget(80)


class ProbeBackend(CUDABackend):
    """Compiles for it by the stages of the CUDA backend."""

    kind = "probe"
    target_class = ProbeTarget
    options_class = ProbeOptions


@pytest.fixture
def probe_target() -> GPUTarget:
    register_backend("probe", ProbeBackend)
    return GPUTarget("probe", 80, 32)


def test_a_target_derived_from_another_compiles_to_its_code(tmp_path: Path, probe_target: GPUTarget) -> None:
    path = str(written(tmp_path, ELEMENTWISE))
    assert compile(path, probe_target).asm["ptx"] == compile(path, GPUTarget("cuda", 80, 32)).asm["ptx"]


def test_a_target_is_asked_for_its_own_capabilities(tmp_path: Path, probe_target: GPUTarget) -> None:
    path = str(written(tmp_path, MATMUL))
    compile(path, GPUTarget("cuda", 80, 32))
    with pytest.raises(Exception, match="shared memory"):
        compile(path, probe_target)
