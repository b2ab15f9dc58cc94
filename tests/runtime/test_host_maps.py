"""Tensor maps of descriptors that kernels make from their arguments, encoded by the launcher (`host-maps`)."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl
from tests.runtime.fake import kernel_of, program, slot
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.runtime.fastpath.native import native_fastpath
from tritium.runtime.host_maps import HostMaps, function_of
from tritium.runtime.jit import JITFunction
from tritium.runtime.launcher import Launcher
from tritium.runtime.packing import Packer
from tritium.runtime.tensor_maps import NotEncodable


@pytest.fixture
def emulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


@tt.jit
def sums(x, y, out, M, N, K, B: tl.constexpr):
    """Rows of x (two arrays of M rows, one after the other), and of y without its first, which end at N or at K."""
    a = tl.make_tensor_descriptor(x, [M * 2, N], [K, 1], [B, B], padding_option="nan")
    b = tl.make_tensor_descriptor(y + K, [tl.minimum(M, 64), N], [K, 1], [B, B])
    c = tl.make_tensor_descriptor(out, [M, K], [K, 1], [B, B])
    for i in range(tl.program_id(0) * B, M, 2 * B):
        for j in range(0, K, B):
            c.store([i, j], a.load([i + M, j]) + b.load([i, j]))


def maps_of(kernel: Any) -> int:
    return len(kernel.values.get("argument_maps") or ())


def _arrays(rng: np.random.Generator, m: int, k: int) -> list[np.ndarray]:
    x, y = rng.normal(size=(2 * m, k)).astype(np.float32), rng.normal(size=(m + 1, k)).astype(np.float32)
    for array in (x, y):
        at = rng.integers(0, array.size, 12)
        array.reshape(-1)[at] = [np.inf, -np.inf, np.nan, -0.0, 0.0, 1e-42] * 2
    return [x, y, np.full((m, k), 7, np.float32)]


@pytest.mark.parametrize(("m", "n"), [(64, 64), (40, 61), (72, 16)])
def test_bits_are_the_same_as_of_descriptors_made_in_the_kernel(emulated: None, seed: int, m: int, n: int) -> None:
    found = []
    for without in ("", "host-maps"):
        x, y, out = _arrays(np.random.default_rng(seed), m, 64)
        kernel = sums[(2,)](x, y, out, m, n, 64, B=32, without=without)
        assert maps_of(kernel) == (3 if not without else 0)
        assert bool(kernel.values["global_scratch_size"]) == bool(without)
        assert ("tensormap.replace" in kernel.asm["ptx"]) == bool(without)
        found.append(out)
    assert (found[0].view(np.uint32) == found[1].view(np.uint32)).all()
    assert np.isnan(found[0]).any()


@tt.jit
def unused(x, out, M, N):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [16, 16])
    if M > 0:
        tl.store(out + tl.arange(0, 16), tl.sum(d.load([0, 0]), 1))
    else:
        tl.store(out + tl.arange(0, 16), tl.full((16,), 3.0, tl.float32))


def test_a_descriptor_that_cannot_be_encoded_is_made_by_the_kernel_if_it_is_used(emulated: None) -> None:
    x, out = np.ones((16, 16), np.float32), np.zeros(16, np.float32)
    kernel = unused[(1,)](x, out, 16, 16)
    assert maps_of(kernel) == 1 and (out == 16).all()
    unused[(1,)](x, out, 0, 16)
    assert (out == 3).all()
    kernel[(1,)](x, out, 16, 16)  # the compiled kernel itself
    assert (out == 16).all()
    kernel[(1,)](x, out, 0, 16)
    assert (out == 3).all()


@tt.jit
def from_elsewhere(x, table, out, M, N, MADE: tl.constexpr):
    n = N
    if MADE == "program":
        n = N * tl.program_id(0)
    elif MADE == "loaded":
        n = tl.load(table)
    elif MADE == "loop":
        for _ in range(M):
            n = n * 2
    base = x
    if MADE == "pointer":
        base = tl.load(table.to(tl.pointer_type(tl.uint64))).to(tl.pointer_type(tl.float32))
    d = tl.make_tensor_descriptor(base, [M, n], [N, 1], [16, 16])
    tl.store(out + tl.arange(0, 16), tl.sum(d.load([0, 0]), 1))


def _compiled(made: str, **options: Any) -> Any:
    types = {"x": "*fp32", "table": "*i32", "out": "*fp32", "M": "i32", "N": "i32", "MADE": "constexpr"}
    source = ASTSource(from_elsewhere, types, {"MADE": made})
    return compile(source, target=GPUTarget("cuda", 90, 32), options=options, until="ptx")


@pytest.mark.parametrize(
    ("made", "maps"), [("arguments", 1), ("program", 0), ("loaded", 0), ("loop", 0), ("pointer", 0)]
)
def test_only_functions_of_arguments_are_made_by_the_launcher(
    made: str, maps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    assert maps_of(_compiled(made, host_maps=True)) == maps
    assert maps_of(_compiled(made)) == 0  # a kernel that is compiled without a launch has the parameters of its source


@tt.jit
def both(given, x, M, N):
    made = tl.make_tensor_descriptor(x, [M, N], [N, 1], [16, 16])
    made.store([0, 0], given.load([0, 0]) * 2.0)


@tt.jit
def lowered(given, x, M, N):  # rows of 8 bytes, which TMA does not transfer
    made = tl.make_tensor_descriptor(x, [M, N], [N, 1], [16, 16])
    made.store([0, 0], tl.broadcast_to(tl.sum(given.load([0, 0]), 1)[:, None], (16, 16)))


@pytest.mark.parametrize(("kernel", "columns", "maps"), [(both, 16, 1), (lowered, 2, 0)])
def test_beside_descriptors_that_a_launch_passes(emulated: None, kernel: Any, columns: int, maps: int) -> None:
    base, x = np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
    given = tt.tools.tensor_descriptor.TensorDescriptor(base, [16, 16], [16, 1], [16, columns])
    made = kernel[(1,)](given, x, 16, 16)
    assert maps_of(made) == maps and (x == 2).all()


def test_a_kernel_compiled_again_from_its_ttgir_takes_the_same_arguments(emulated: None, tmp_path: Path) -> None:
    x, out = np.ones((16, 16), np.float32), np.zeros(16, np.float32)
    path = tmp_path / "unused.ttgir"
    path.write_text(unused.warmup(x, out, 16, 16, grid=(1,)).asm["ttgir"])
    again = compile(str(path), target=GPUTarget("cuda", 90, 32), until="ptx")
    assert maps_of(again) == 1 and list(again.src.signature) == ["x", "out", "M", "N"]
    again[(1,)](x, out, 16, 16)
    assert (out == 16).all()


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_expressions_wrap_around_as_integers_of_the_kernel(bits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = {8: np.int8, 32: np.int32, 64: np.int64}[bits]
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for a, b in [*rng.integers(low, high, (8, 2), dtype, True).tolist(), (low, 1), (high, high), (-7, 3), (7, -3)]:
        x, y = np.array([a], dtype), np.array([b], dtype)
        with np.errstate(over="ignore"):
            wanted = {name: int(getattr(operator, name)(x, y)[0]) for name in ("add", "sub", "mul")}
            wanted |= {"min": min(a, b), "max": max(a, b), "rem": int(np.fmod(x, y)[0])}
        for name, value in wanted.items():
            assert function_of([[name, bits, ["arg", bits, 0], ["arg", bits, 1]]])([a, b]) == (value,)
        assert function_of([["add", bits, ["mul", bits, ["div", bits, a, b], b], wanted["rem"]]])([]) == (a,)
        assert function_of([["zext", bits, a]])([]) == (a % (1 << bits),)
        assert function_of([["wrap", 8, a]])([]) == (int(x.astype(np.int8)[0]),)


ROW = {"swizzle": 0, "elem_size": 4, "elem_type": 7, "block_size": [16, 16], "fp4_padded": False}
MAP = "{'base':['arg',64,0],'shape':[['arg',64,1],64],'strides':[['mul',64,['arg',64,1],4],1],'nan':false}"


def encode(kind: int, address: int, sizes: list[int], strides: list[int], *rest: Any) -> bytes:
    """A map that says what it is made from."""
    return np.array([kind, address, *sizes, *strides, *[0] * 16], np.int64).tobytes()[:128]


@pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")
def test_launches_of_the_fast_path_make_maps_from_their_arguments(
    compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel of the CPU that copies its parameters; every way that a launch takes stores the same maps."""

    def copied(out, n, m):
        pass

    made: list[int] = []

    def with_maps(names: Any, types: Any) -> Packer:
        def count(*arguments: Any) -> bytes:
            made.append(arguments[1])
            return encode(*arguments)

        return Packer(names, types, maps=HostMaps([{"map": MAP, "type": "tensordesc<f32[16,16]>", "meta": ROW}], count))

    slow: list[Any] = []
    launch_any = JITFunction._launch_any
    monkeypatch.setattr("tritium.runtime.launcher.Packer", with_maps)
    monkeypatch.setattr(JITFunction, "_launch_any", lambda *args: slow.append(args) or launch_any(*args))
    words = 3 + 16
    body = slot(0, "ptr") + f"  call void @llvm.memcpy.p0.p0.i64(ptr %a0, ptr %args, i64 {8 * words}, i1 false)\n"
    text = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    kernel = kernel_of(copied, lambda signature, constants: program(body, text, "copied"))
    one, two = (np.zeros(32, np.int64) for _ in range(2))

    def launch(out: np.ndarray, n: int, m: int, grid: Any = (1,)) -> None:
        kernel[grid](out, n, m)
        at = out.ctypes.data
        assert out[:words].tolist() == [at, n, m, 7, at, 64, n, n * 16, *[0] * (words - 8)]

    for _ in range(4):
        launch(one, 64, 2)
    slow.clear(), made.clear()
    launch(one, 64, 2)
    launch(one, 64, 3)  # an argument that no map depends on
    launch(one, 64, 2, lambda meta: (1,))
    assert not slow and not made
    launch(two, 64, 2)
    launch(two, 80, 2)
    launch(one, 64, 2)
    assert not slow and len(made) == 2
    with pytest.raises(NotEncodable):  # which launchers for GPUs handle
        kernel[(1,)](one, 1 << 40, 2)
    assert isinstance(kernel.warmup(one, 64, 2, grid=(1,)).launcher, Launcher)
