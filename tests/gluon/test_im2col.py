"""TMA loads of columns of pixels (im2col), emulated, against NumPy: padding, filter taps, strides, a convolution."""

import numpy as np
import pytest

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col
from tritium.frontend.errors import CompilationError
from tritium.runtime.errors import DescriptorError

pytestmark = pytest.mark.usefixtures("hopper")


@gluon.jit
def copy_pixels(src, dst, n, h, w, c, r: gl.constexpr, s, MULTICAST: gl.constexpr = False):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load_im2col(src, [n, h, w, c], [r, s.to(gl.int16)], barrier, buffer, multicast=MULTICAST)
    mbarrier.wait(barrier, 0, deps=(buffer,))
    mbarrier.invalidate(barrier)
    tma.async_store(dst, [0, 0], buffer)
    tma.store_wait(0)


def described(images, pixels, channels, pad, out, step=1, swizzle=128, **layout):
    """A descriptor of the pixels that a filter of 2 * pad + 1 rows and columns passes over, one of the result."""
    layout = gl.NVMMASharedLayout(swizzle, 8 * images.itemsize, 2, **layout)
    upper = [(o - 1) * step + 1 - n - pad for o, n in zip(out, images.shape[1:3])]
    return TensorDescriptorIm2Col.from_tensor(
        images, [pixels, channels], layout, element_strides=[1, step, step, 1], pixel_box_lower_corner=[-pad, -pad],
        pixel_box_upper_corner=upper,
    ), layout  # fmt: skip


@pytest.mark.parametrize(("channel", "tap"), [(0, (0, 0)), (32, (1, 2)), (64, (2, 0))])
@pytest.mark.parametrize("step", [1, 2])
def test_pixels_under_one_tap_of_a_filter(channel, tap, step):
    images = np.random.randn(2, 6, 8, 80).astype(np.float16)
    rows, columns = -(-6 // step), -(-8 // step)
    pixels = 32
    src, layout = described(images, pixels, 64, 1, (rows, columns), step)
    out = np.full((pixels, 64), 7, np.float16)
    found = copy_pixels[(1,)](src, TensorDescriptor.from_tensor(out, [pixels, 64], layout), 0, -1, -1, channel, *tap)
    padded = np.pad(images, ((0, 0), (1, 3), (1, 3), (0, 64)))
    want = padded[:, tap[0] :: step, tap[1] :: step, channel : channel + 64][:, :rows, :columns].reshape(-1, 64)
    want = np.concatenate([want, np.zeros((pixels, 64), np.float16)])[:pixels]
    assert np.array_equal(out, want)
    assert "im2col.mbarrier" in found.asm["ptx"]
    assert "tensordesc_im2col<32x64xf16" in found.asm["ttgir"]


@pytest.mark.parametrize("pixels", [32, 512])
def test_channels_in_several_copies_and_multicast(pixels):
    images = np.arange(pixels * 32, dtype=np.float32).reshape(1, 1, pixels, 32)
    for ctas in (1, 2):
        src, layout = described(
            images, pixels, 32, 0, (1, pixels), swizzle=32, cga_layout=[[0, 0]] if ctas == 2 else []
        )
        out = np.zeros((pixels, 32), np.float32)
        dst = TensorDescriptor.from_tensor(out, [pixels, 32], layout)
        found = copy_pixels[(1,)](src, dst, 0, 0, 0, 0, 0, 0, MULTICAST=True, num_ctas=ctas)
        assert np.array_equal(out, images.reshape(pixels, 32))
        assert ("im2col.mbarrier::complete_tx::bytes.multicast::cluster" in found.asm["ptx"]) == (ctas == 2)


@gluon.jit
def convolve(src, weights, dst, S, steps, MMA: gl.constexpr):
    left = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    right = gl.allocate_shared_memory(src.dtype, weights.block_type.shape, weights.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    acc = gl.zeros([64, 64], gl.float32, MMA)
    for i in range(steps):
        r, s = i // S, i % S
        mbarrier.expect(barrier, src.nbytes_per_cta + weights.nbytes_per_cta)
        tma.async_load_im2col(src, [0, -1, -1, 0], [r.to(gl.int16), s.to(gl.int16)], barrier, left)
        tma.async_load(weights, [0, i * 64], barrier, right)
        mbarrier.wait(barrier, i & 1)
        acc = warpgroup_mma(left, right.permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=(acc,))
    mbarrier.invalidate(barrier)
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], dst.layout, acc.to(gl.float16))
    fence_async_shared()
    tma.async_store(dst, [0, 0], tile)
    tma.store_wait(0)


def test_a_convolution_is_one_matmul():
    images, weights = (np.random.randint(-3, 4, shape).astype(np.float16) for shape in ((1, 8, 8, 64), (64, 3, 3, 64)))
    src, layout = described(images, 64, 64, 1, (8, 8))
    out = np.zeros((64, 64), np.float16)
    flat = TensorDescriptor.from_tensor(weights.reshape(64, -1), [64, 64], layout)
    mma = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    convolve[(1,)](src, flat, TensorDescriptor.from_tensor(out, [64, 64], layout), 3, 9, mma)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0))).astype(np.float32)
    taps = [padded[0, r : r + 8, s : s + 8] @ weights[:, r, s].astype(np.float32).T for r in range(3) for s in range(3)]
    assert np.array_equal(out, sum(taps).reshape(64, 64).astype(np.float16))


@gluon.jit
def loads_tiles(src):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    tma.async_load(src, [0, 0], barrier, buffer)


@gluon.jit
def forgets_offsets(src):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    tma.async_load_im2col(src, [0, 0, 0, 0], [0], barrier, buffer)


def test_other_uses_are_refused_at_their_line():
    src, _ = described(np.zeros((1, 8, 8, 64), np.float16), 64, 64, 0, (8, 8))
    with pytest.raises(
        CompilationError, match=r"async_load takes a descriptor of tiles(.|\n)*hint: .*async_load_im2col"
    ):
        loads_tiles[(1,)](src)
    with pytest.raises(CompilationError, match=r"async_load_im2col: expected 2 offsets, but got 1"):
        forgets_offsets[(1,)](src)
    tiles = TensorDescriptor.from_tensor(np.zeros((64, 64), np.float16), [64, 64], src.layout)
    with pytest.raises(CompilationError, match="takes an im2col descriptor"):
        forgets_offsets[(1,)](tiles)


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("im2col mode requires rank 3, 4, or 5, got 2", {"shape": [64, 64], "strides": [64, 1]}),
        (r"block_shape must be 2D, \(pixels, channels\), not \[64\]", {"block_shape": [64]}),
        ("pixel_box_lower_corner needs 2 offsets", {"pixel_box_lower_corner": [0]}),
        (r"pixel_box_upper_corner\[1\] must be in \[-128, 127\], got 128", {"pixel_box_upper_corner": [0, 128]}),
        ("element_strides are 4 integers", {"element_strides": [1, 9, 1, 1]}),
        ("element_strides are 4 integers", {"element_strides": [1, 1, 1, 2]}),
        (r"block_shape\[0\] must be power of 2, got 48", {"block_shape": [48, 64]}),
        ("at most 1024 pixels, a block of 2048 has more", {"block_shape": [2048, 64]}),
    ],
)
def test_descriptors_that_tma_does_not_support(message, changes):
    given = {
        "base": np.zeros((1, 8, 8, 64), np.float16), "shape": [1, 8, 8, 64], "strides": [4096, 512, 64, 1],
        "block_shape": [64, 64], "layout": gl.NVMMASharedLayout(128, 16, 2), "pixel_box_lower_corner": [0, 0],
        "pixel_box_upper_corner": [0, 0],
    }  # fmt: skip
    with pytest.raises(DescriptorError, match=message):
        TensorDescriptorIm2Col(**(given | changes))
