"""wgmma on matrices in shared memory, against matrix products of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.kernels import run
from tritium.emulator import DataRace, OutOfBounds, UnknownInstruction

MODES = {16: 0, 128: 1, 64: 2, 32: 3}


def arrange(matrix: np.ndarray, width: int, mn_major: bool) -> tuple[np.ndarray, int, int]:
    """The bytes of a [rows, k] matrix as the figures of the PTX ISA place them, and the leading and stride offsets.

    Atoms are 8 rows of `width` bytes; one after the other down first, then to the right.
    """
    if mn_major:
        matrix = matrix.T  # the rows of an atom run along M or N
    rows, columns = matrix.shape
    size = matrix.itemsize
    across = columns * size // width
    image = np.zeros(rows * columns * size, np.uint8)
    for r in range(rows):
        for x in range(across):
            piece = np.frombuffer(matrix[r, x * width // size : (x + 1) * width // size].tobytes(), np.uint8)
            start = (x * (rows // 8) + r // 8) * 8 * width + r % 8 * width
            for chunk in range(width // 16):
                at = start + chunk * 16
                at ^= (at >> 7 & width // 16 - 1) << 4
                image[at : at + 16] = piece[chunk * 16 : chunk * 16 + 16]
    down, right = 8 * width, rows * width
    if width == 16 and mn_major:
        return image, down, right  # without swizzling, the two offsets of such a matrix mean the other way
    return image, right, down


KERNEL = """
  .shared .align 1024 .b8 tiles[32768];
  mov.u32 %r1, tiles;
  mul.lo.u32 %r2, %r0, 16;
  add.u32 %r3, %r1, %r2;
  cvt.u64.u32 %d9, %r2;
  add.u64 %d10, %d0, %d9;
  add.u64 %d11, %d1, %d9;
  mov.u32 %r4, 0;
copy:
  ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%d10];
  st.shared.v4.b32 [%r3], {%r5, %r6, %r7, %r8};
  ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%d11];
  st.shared.v4.b32 [%r3+16384], {%r5, %r6, %r7, %r8};
  add.u64 %d10, %d10, 2048;
  add.u64 %d11, %d11, 2048;
  add.u32 %r3, %r3, 2048;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 8;
  @%p1 bra copy;
  fence.proxy.async.shared::cta;
  BARRIER
  shr.u32 %r9, %r1, 4;
  cvt.u64.u32 %d12, %r9;
  or.b64 %d13, %d12, {a};
  add.u64 %d12, %d12, 1024;
  or.b64 %d14, %d12, {b};
  mov.b32 %r10, 0f3F800000;
  mov.b32 %r11, 0f3F800000;
  mov.b32 %r12, 0f3F800000;
  mov.b32 %r13, 0f3F800000;
  setp.eq.u32 %p2, 0, {drop};
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k{k}.f32.{ty}.{ty} {{%r10, %r11, %r12, %r13}}, %d13, %d14, %p2, 1, -1{majors};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %d15, %r0, 16;
  add.u64 %d15, %d15, %d2;
  st.global.v4.b32 [%d15], {{%r10, %r11, %r12, %r13}};
"""


def multiply(x, y, ty, width, majors=(False, False), drop=0, barrier="bar.sync 0;", shift=0):
    """The product of [64, k] and [8, k] by one wgmma, and the kernel's text."""
    descriptors = []
    images = []
    for matrix, mn_major in zip((x, y), majors):
        image, leading, stride = arrange(
            matrix, width if not mn_major or matrix.shape[0] * 2 >= width else 16, mn_major
        )
        mode = MODES[width if not mn_major or matrix.shape[0] * 2 >= width else 16]
        images.append(np.concatenate([image, np.zeros(16384 - image.size, np.uint8)]))
        descriptors.append(leading // 16 << 16 | stride // 16 << 32 | mode << 62)
    out = np.zeros((128, 4), np.float32)
    names = {"a": descriptors[0] + shift, "b": descriptors[1], "k": x.shape[1], "ty": ty, "drop": drop}
    names["majors"] = f", {int(majors[0])}, {int(majors[1])}" if ty == "f16" else ""
    body = KERNEL
    for name, value in names.items():
        body = body.replace("{" + name + "}", str(value))
    body = body.replace("BARRIER", barrier).replace("{{", "{").replace("}}", "}")
    run(body, *images, out, threads=128, target="sm_90a", version="8.6")
    lanes = np.arange(128)
    result = np.zeros((64, 8), np.float32)
    for n in range(4):
        result[lanes // 32 * 16 + lanes % 32 // 4 + n // 2 * 8, lanes % 4 * 2 + n % 2] = out[:, n]
    return result


def halves(seed):
    rng = np.random.default_rng(seed)
    return rng.integers(-8, 9, (64, 16)).astype(np.float16), rng.integers(-8, 9, (8, 16)).astype(np.float16)


@pytest.mark.parametrize("width", [16, 32])
def test_k_major(seed, width):
    x, y = halves(seed)
    wanted = -(x.astype(np.float32) @ y.astype(np.float32).T)
    np.testing.assert_array_equal(multiply(x, y, "f16", width), wanted + 1)
    np.testing.assert_array_equal(multiply(x, y, "f16", width, drop=1), wanted)


@pytest.mark.parametrize("width", [16, 32, 64, 128])
def test_mn_major(seed, width):
    x, y = halves(seed)
    wanted = 1 - x.astype(np.float32) @ y.astype(np.float32).T
    np.testing.assert_array_equal(multiply(x, y, "f16", width, (True, True)), wanted)


def test_bytes(seed):
    rng = np.random.default_rng(seed)
    x, y = (rng.choice([0, 0x3C, 0xBC, 0x40, 0x44], (n, 32)).astype(np.uint8) for n in (64, 8))  # e5m2
    values = [(m.astype(np.uint16) << 8).view(np.float16).astype(np.float32) for m in (x, y)]
    np.testing.assert_array_equal(multiply(x, y, "e5m2", 32), 1 - values[0] @ values[1].T)


def test_what_goes_wrong(seed):
    x, y = halves(seed)
    with pytest.raises(DataRace, match="wgmma"):
        multiply(x, y, "f16", 32, barrier="")
    with pytest.raises(OutOfBounds, match="reaches byte"):
        multiply(x, y, "f16", 32, shift=2000)
    with pytest.raises(UnknownInstruction):
        run(
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r1, %r2, %r3, %r4}, %d1, %d2, %r5, 0, 1, 1, 1, 0, 0;",
            np.zeros(1),
            threads=128,
            check=False,
        )
