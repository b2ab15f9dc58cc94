"""The CPU's whole stage table, from a file with TTIR: results, other machines, errors that running kernels report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.cpu import BackendError, host_target
from tritium.compiler import GPUTarget, IRSource, SourceError
from tritium.runtime import DeviceAssertError, SanitizerError
from tritium.runtime.tensor_descriptor import TensorDescriptor

ADD = """
module {
  tt.func public @add_kernel(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out_ptr: !tt.ptr<f32>, %n: i32) {
    %size = arith.constant 64 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %size : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %start : i32 -> tensor<64xi32>
    %offs = arith.addi %s, %r : tensor<64xi32>
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %mask = arith.cmpi slt, %offs, %ns : tensor<64xi32>
    %xs = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %xp, %mask : tensor<64x!tt.ptr<f32>>
    %z = arith.addf %x, %x : tensor<64xf32>
    %os = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %op = tt.addptr %os, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %op, %z, %mask : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
"""

CHECK = """
module {
  tt.func public @check(%n: i32) {
    %zero = arith.constant 3 : i32
    %pid = tt.get_program_id x : i32
    %ok = arith.cmpi slt, %pid, %n : i32
    tt.assert %ok, "too many programs" : i1
    tt.return
  }
}
"""

PRINT = """
module {
  tt.func public @show(%n: i32) {
    %r = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    tt.print " r: " {hex = false, isSigned = array<i32: 1>} : %r : tensor<2xi32>
    tt.return
  }
}
"""


def written(folder: Path, text: str, name: str = "kernel.ttir") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_is_compiled_and_run(tmp_path: Path) -> None:
    kernel = tritium.compile(written(tmp_path, ADD))
    assert list(kernel.asm) == ["ttir", "ttcir", "llir", "asm", "obj"]
    assert set(kernel.times) == {"ttir", "ttcir", "llir", "obj"}
    assert "add_kernel" in kernel.asm["asm"] and kernel.name == "add_kernel"
    assert kernel.src.signature == {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    x, out = np.arange(200, dtype=np.float32), np.zeros(200, np.float32)
    kernel[(4,)](x, out, 190)
    assert np.array_equal(out, np.where(np.arange(200) < 190, 2 * x, 0))


def test_every_stage_can_be_where_it_starts(tmp_path: Path) -> None:
    kernel = tritium.compile(written(tmp_path, ADD))
    for stage, rest in (("ttcir", ["ttcir", "llir", "asm", "obj"]), ("llir", ["llir", "asm", "obj"])):
        again = tritium.compile(written(tmp_path, kernel.asm[stage], f"again.{stage}"))
        assert list(again.asm) == rest
        assert again.name == "add_kernel"
        assert again.kernel == kernel.kernel


def test_the_host_has_several_names(tmp_path: Path) -> None:
    path = written(tmp_path, ADD)
    hashes = {tritium.compile(path, GPUTarget("cpu", name, 1)).hash for name in ("", "host", host_target().cpu)}
    assert hashes == {tritium.compile(path).hash}


def test_launching_as_pytorchs_compiler_does(tmp_path: Path) -> None:
    kernel = tritium.compile(written(tmp_path, ADD))
    x, out, seen = np.arange(64, dtype=np.float32), np.zeros(64, np.float32), []
    kernel.run(1, 1, 1, 0, kernel.function, kernel.packed_metadata, "m", seen.append, seen.append, x, out, 64)
    assert np.array_equal(out, 2 * x) and seen == ["m", "m"]


@pytest.mark.parametrize("arch", ["aarch64", "neoverse-v1", "x86-64-v3", "x86-64", "sapphirerapids"])
def test_other_machines(tmp_path: Path, arch: str) -> None:
    kernel = tritium.compile(written(tmp_path, ADD), GPUTarget("cpu", arch, 1))
    words = kernel.asm["asm"].split()
    assert ("fadd" in words) == (arch in ("aarch64", "neoverse-v1"))
    if arch in ("aarch64", "neoverse-v1"):
        with pytest.raises(BackendError, match="compiled for aarch64 and cannot run on this machine"):
            kernel[(1,)](np.zeros(4, np.float32), np.zeros(4, np.float32), 4)


@tritium.jit
def adds_up(desc, out, pair, n):
    at = tl.arange(0, 8)
    tl.store(out + at[:, None] * 8 + at[None, :], desc.load([0, 0]) + pair[0] + pair[1][0] + n)


@pytest.mark.parametrize("stage", ["source", "ttir", "ttcir"])
def test_parameters_with_dots_in_their_names(tmp_path: Path, stage: str) -> None:
    x, out = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros((8, 8), np.float32)
    made = adds_up.warmup(TensorDescriptor(x, [8, 8], [8, 1], [8, 8]), out, (2, (3.5,)), 7, grid=(1,))
    path = tmp_path / f"adds_up.{stage}"
    path.write_text(str(made.asm[stage]))
    assert list(IRSource(path).signature.items()) == [
        ("desc", "*fp32"), ("desc.shape.0", "i64"), ("desc.shape.1", "i64"), ("desc.stride.0", "i64"),
        ("desc.stride.1", "i64"), ("out", "*fp32"), ("pair_0", "i32"), ("pair_1_0", "fp32"), ("n", "i32"),
    ]  # fmt: skip
    tritium.compile(path)[(1,)](x, 8, 8, 8, 1, out, 2, 3.5, 7)
    np.testing.assert_array_equal(out, x + 12.5)


def test_the_sanitizer_finds_the_access(tmp_path: Path) -> None:
    kernel = tritium.compile(written(tmp_path, ADD), options={"sanitize": True})
    x, out = np.arange(200, dtype=np.float32), np.zeros(200, np.float32)
    kernel[(4,)](x, out, 200)
    assert np.array_equal(out, 2 * x)
    with pytest.raises(
        SanitizerError, match="out-of-bounds store of 'out_ptr': index 150, allowed are 0 to 150"
    ) as found:
        kernel[(4,)](x, out[:150], 200)
    assert (found.value.program, found.value.access, found.value.index) == ((2, 0, 0), "store", 150)
    assert found.value.line == 1 + ADD[: ADD.index("tt.store")].count("\n")
    with pytest.raises(SanitizerError, match="out-of-bounds load of 'x_ptr': index 199"):
        kernel[(4,)](x[:199], out, 200)


def test_assertions(tmp_path: Path) -> None:
    kernel = tritium.compile(written(tmp_path, CHECK), options={"debug": True})
    kernel[(3,)](3)
    for _ in range(2):
        with pytest.raises(DeviceAssertError, match="device-side assertion failed: too many programs") as found:
            kernel[(4,)](3)
        assert found.value.program == (3, 0, 0)
    kernel[(3,)](3)


def test_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tritium.compile(written(tmp_path, PRINT))[(1,)](3)
    assert capsys.readouterr().out == "pid (0, 0, 0) idx (0) r: 0\npid (0, 0, 0) idx (1) r: 1\n"


def test_a_text_takes_truth_as_one_bit(tmp_path: Path) -> None:
    text = "tt.func public @k(%p: !tt.ptr<i32>, %b: i1) { %x = arith.extui %b : i1 to i32 tt.store %p, %x : !tt.ptr<i32> tt.return }"
    kernel, out = tritium.compile(written(tmp_path, text)), np.full(1, 7, np.int32)
    for truth in (True, False, 1, 0, -1):
        kernel[(1,)](out, truth)
        assert out[0] == (truth != 0)


def test_nothing_to_compile(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no kernel"):
        IRSource(written(tmp_path, "module { }"))
    with pytest.raises(FileNotFoundError):
        tritium.compile(str(tmp_path / "missing.ttir"))


def test_damaged_text_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(tritium.TritiumError, match=r"kernel.ttir:5:"):
        tritium.compile(written(tmp_path, ADD.replace("tt.get_program_id", "tt.get_programme_id")))
    with pytest.raises(tritium.TritiumError):
        tritium.compile(written(tmp_path, ADD.replace("%z = arith.addf %x, %x", "%z = arith.addf %x, %n")))
    with pytest.raises(BackendError):
        tritium.compile(written(tmp_path, "define void @k(ptr %a) { ret i32 0 }", "k.llir"))
    assert not list((tmp_path / "cache" / "kernels").rglob("*.kernel"))


def test_text_that_ends_llvm_is_an_error_not_the_end(tmp_path: Path) -> None:
    """The verifier accepts this call of an intrinsic that x86 has no code for; LLVM then ends its process."""
    text = """declare i64 @llvm.read_register.i64(metadata)
define void @k(ptr %args, ptr %ctx, i64 %begin, i64 %end) {
  %r = call i64 @llvm.read_register.i64(metadata !0)
  store i64 %r, ptr %args
  ret void
}
!0 = !{!"no such register"}
"""
    with pytest.raises(BackendError):
        tritium.compile(written(tmp_path, text, "k.llir"))
