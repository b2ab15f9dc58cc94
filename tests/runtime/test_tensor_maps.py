"""Tensor descriptors as maps: what is encoded, what is remembered, what is refused."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.fake_cuda import FakeCuda, driver_in_use
from tests.runtime.test_cuda import BASE, Array
from tritium.backends.nvidia.toolchain import find_tool
from tritium.emulator import TensorMap, encode_tiled
from tritium.runtime import ArgumentError, TensorDescriptor, cuda_launcher
from tritium.runtime.driver import driver
from tritium.runtime.emulated_driver import HostParameters
from tritium.runtime.packing import Packer
from tritium.runtime.specialize import ParameterRule, specialize
from tritium.runtime.tensor_maps import MapEncoder, encoders_of

META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [32, 64], "fp4_padded": False}


def array(shape: tuple[int, ...], dtype: Any = np.float16) -> np.ndarray:
    """An array at a multiple of 16."""
    count = int(np.prod(shape))
    raw = np.zeros(count * np.dtype(dtype).itemsize + 16, np.uint8)
    return raw[-raw.ctypes.data % 16 :][: count * np.dtype(dtype).itemsize].view(dtype).reshape(shape)


def encoder(type_: str = "tensordesc<fp16[32, 128]>", **changes: Any) -> MapEncoder:
    return MapEncoder(type_, {**META, **changes}, encode_tiled)


def test_encoded_tensor_maps() -> None:
    x = array((100, 256))
    data, *rest = encoder()(TensorDescriptor(x, [100, 200], [256, 1], [32, 128], "nan"), x.ctypes.data, "x")
    assert rest == [100, 200, 256, 1]
    m = TensorMap.decode(data)
    assert (m.address, m.sizes, m.strides, m.box) == (x.ctypes.data, (200, 100), (512,), (64, 32))
    assert (m.element, m.swizzle, m.fill, m.element_strides) == ("f16", 3, 1, (1, 1))


def test_element_types_and_ranks() -> None:
    x = array((2, 3, 4, 5, 16), np.float32)
    meta = {"swizzle": 0, "elem_size": 4, "elem_type": 7, "block_size": [1, 1, 2, 2, 16]}
    desc = TensorDescriptor(x, [2, 3, 4, 5, 16], [960, 320, 80, 16, 1], [1, 1, 2, 2, 16], round_f32_to_tf32=True)
    m = TensorMap.decode(encoder("tensordesc<fp32[1, 1, 2, 2, 16]>", **meta)(desc, x.ctypes.data, "x")[0])
    assert (m.element, m.strides, m.sizes) == ("tf32", (64, 320, 1280, 3840), (16, 5, 4, 3, 2))
    # the numbers of the hardware's field: 8 is f32 with flushing, 9 is f64, 10 is bf16
    for kind, name, size in ((9, "f64", 8), (10, "bf16", 2), (8, "f32.ftz", 4)):
        box = encoder("tensordesc<fp16[64]>", block_size=[16], elem_type=kind, elem_size=size, swizzle=0)
        m = TensorMap.decode(box(TensorDescriptor(array((64,)), [64], [1], [64]), 4096, "x")[0])
        assert m.element == name


def test_rows_not_a_multiple_of_16_bytes_have_their_own_kernel() -> None:
    x = array((64, 128))
    uneven = TensorDescriptor(x, [64, 127], [128, 1], [32, 64])
    with pytest.raises(ArgumentError, match="rows of whole 16 bytes, the descriptor has rows of 254"):
        encoder("tensordesc<fp16[32, 64]>")(uneven, 4096, "x")
    data = encoder("tensordesc<fp16[32, 64], uneven>")(uneven, 4096, "x")[0]
    assert TensorMap.decode(data).sizes == (127, 64)


def test_maps_are_remembered() -> None:
    asked: list[Any] = []

    def encode(*arguments: Any) -> bytes:
        asked.append(arguments)
        return encode_tiled(*arguments)

    x = array((64, 128))
    make = MapEncoder("tensordesc<fp16[32, 64]>", META, encode)
    for _ in range(3):
        desc = TensorDescriptor.from_tensor(x, [32, 64])
        assert make.known(desc, 4096) == (make(desc, 4096, "x") if asked else None)
        make(desc, 4096, "x")
    assert len(asked) == 1
    make(desc, 8192, "x")
    make(TensorDescriptor(x, [63, 128], [128, 1], [32, 64]), 4096, "x")
    assert len(asked) == 3


def test_what_is_refused() -> None:
    x = array((64, 128))

    def fails(text: str, *, address: int = 4096, base: Any = x, make: MapEncoder | None = None, **changes: Any) -> None:
        desc = TensorDescriptor(base, [64, 128], [128, 1], [32, 128])
        for name, value in changes.items():
            setattr(desc, name, value)
        with pytest.raises(ArgumentError, match=text):
            (make or encoder())(desc, address, "x")

    fails(r"argument 'x': .* compiled for blocks of \[32, 128\], the descriptor has \[64, 64\]", block_shape=[64, 64])
    fails("compiled for elements of fp16, .* has fp32", base=array((64, 128), np.float32))
    fails("must begin at a multiple of 16 bytes, not 0x1008", address=4104)
    fails("dimension 0 of a descriptor has 0 elements", shape=[0, 128])
    fails(r"stride of dimension 0 of a descriptor is 258 bytes", strides=[129, 1])
    fails(r"stride of dimension 0 of a descriptor is -256 bytes", strides=[-128, 1])
    fails("the shape of a descriptor has integers, not 64.0", shape=[64.0, 128])
    fails("the strides of a descriptor are integers, not 128.0", strides=[128.0, 1])
    fails("last stride of a descriptor must be 1, not 2", strides=[128, 2])
    fails(r"no tensor map .*257 elements.*\n.*shape \[64, 128\].* \[257, 64\]", make=encoder(block_size=[257, 64]))


def test_blocks_have_positive_sizes() -> None:
    x = array((64, 128))
    for block in ([0, 64], [-3, 64], [32, 64.0]):
        with pytest.raises(ArgumentError, match=r"Shape element \d must be a positive integer: .*\["):
            TensorDescriptor(x, [64, 128], [128, 1], block)
    desc = TensorDescriptor(x, [64, 128], [128, 1], [1, 1])
    desc.block_shape = [32, 0]
    with pytest.raises(ArgumentError, match=r"Shape element 1 must be a positive integer.*\[32, 0\]"):
        specialize(desc, ParameterRule("desc", False, False, True, True, ""))


def test_kernels_without_maps_have_no_encoders() -> None:
    types = ["*fp32", ("tensordesc<fp16[32, 128]>", "i32"), "tensordesc<fp16[32, 128]>"]
    assert encoders_of(types, {}, encode_tiled) == encoders_of(types, {"tensordesc_meta": []}, encode_tiled) == []
    one, other = encoders_of(types, {"tensordesc_meta": [META, None]}, encode_tiled)
    assert one is not None and one.block == [32, 128] and other is None


def test_maps_and_descriptors_that_are_taken_apart() -> None:
    x = array((64, 128))
    desc = TensorDescriptor(x, [60, 128], [128, 1], [32, 128])
    types = ["i8", "tensordesc<fp16[32, 128]>", ("tensordesc<fp16[32, 128]>", "i32")]
    packer = Packer(["n", "a", "b"], types, HostParameters(attributes=True), [encoder(), None])
    data, arrays = packer([1, desc, (desc, 7)])
    n, _, *rest = struct.unpack("<b63x128siiqqQqqqqiiqqi4xQQ", data)
    numbers = [60, 128, 128, 1]
    assert (n, rest) == (1, [*numbers, x.ctypes.data, *numbers, *numbers, 7, 0, 0]) and len(arrays) == 2
    assert packer.labels == ["n"] + ["a"] * 5 + ["b"] * 10


@pytest.mark.skipif(find_tool("ptxas") is None, reason="kernels are compiled to CUBIN: there is no ptxas")
def test_launches_with_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    @tritium.jit
    def store(n, desc, x_ptr):
        tl.store(x_ptr, desc.shape[0] + n)

    monkeypatch.setattr(
        cuda_launcher,
        "encoders_of",
        lambda types, values, *encode: encoders_of(types, {**values, "tensordesc_meta": [META]}, *encode),
    )
    slow: list[Any] = []
    call = cuda_launcher.CudaLauncher.__call__
    monkeypatch.setattr(cuda_launcher.CudaLauncher, "__call__", lambda *a, **k: slow.append(a) or call(*a, **k))
    with driver_in_use(FakeCuda(memory={range(BASE, BASE + 4096): 0})) as fake:
        driver.reset_active()
        for address in (BASE + 16, BASE + 16, BASE + 16, BASE + 32, BASE + 32):
            desc = TensorDescriptor(Array(address, "float16"), [10, 200], (256, 1), (32, 64))
            store[(1,)](5, desc, Array(dtype="int64"))
        assert fake.calls.count("cuTensorMapEncodeTiled") == 2
        assert len(slow) == 2  # from the third launch of a kind on, a new map is made without another
        with pytest.raises(ArgumentError, match=r"store: argument 'desc': dimension 1 of a descriptor has 0 elements"):
            desc.shape[1] = 0
            store[(1,)](5, desc, Array(dtype="int64"))
        fake.failing["cuTensorMapEncodeTiled"] = 1
        with pytest.raises(ArgumentError, match=r"store: argument 'desc': no tensor map .*INVALID_VALUE"):
            desc.shape[1] = 7
            store[(1,)](5, desc, Array(dtype="int64"))
    driver.reset_active()
    for seen, address in zip(fake.launches, (16, 16, 16, 32, 32), strict=True):
        # The parameters begin at 0x210 of the constant bank, the map at the next multiple of 64.
        n, data, *rest = struct.unpack("<i44x128siiqqQQQ", seen.params)
        assert (n, rest) == (5, [10, 200, 256, 1, BASE, 0, 0])
        assert TensorMap.decode(data).address == BASE + address
