"""TMA loads of columns of pixels (im2col), against loops over NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.test_tensor_copies import TYPES, aligned, load_box, swizzle_rows
from tritium.emulator import LaunchError, TensorMap, TensorMapError, encode_im2col


def windows_of(images, lower, upper, channels, pixels, *, swizzle=0, fill=0, steps=None) -> np.ndarray:
    """An im2col map of an array of images, channels last; corners and steps outermost dimension first."""
    data = encode_im2col(
        TYPES[images.dtype.type],
        images.ctypes.data,
        images.shape[::-1],
        images.strides[::-1][1:],
        lower[::-1],
        upper[::-1],
        channels,
        pixels,
        (1,) * images.ndim if steps is None else steps[::-1],
        0,
        swizzle,
        2,
        fill,
    )
    return aligned(np.frombuffer(data, np.uint8), 64)


def pixels_at(images, at, moved, lower, upper, channels, pixels, fill=0, steps=None) -> np.ndarray:
    """Each pixel of the boxes, in order, from `at` on; read `moved` away."""
    steps = steps or (1,) * images.ndim
    ends = [n + u for n, u in zip(images.shape[1:-1], upper)]
    found: list[tuple[int, ...]] = []
    image, place = at[0], list(at[1:-1])
    while len(found) < pixels:
        found.append((image, *(p + m for p, m in zip(place, moved))))
        for axis in range(len(place) - 1, -1, -1):
            place[axis] += steps[axis + 1]
            if place[axis] < ends[axis]:
                break
            place[axis] = lower[axis]
        else:
            image += steps[0]
    out = np.full((pixels, channels), fill, images.dtype)
    for row, where in zip(out, found):
        if all(0 <= i < n for i, n in zip(where, images.shape)):
            inside = images[where][at[-1] : at[-1] + channels]
            row[: len(inside)] = inside
    return out


CASES = [
    # shape, lower, upper, at, offsets, pixels, channels, steps, element type, swizzle
    ((2, 8, 40), (-1,), (-1,), (0, -1, 0), (1,), 32, 32, None, np.float16, 2),
    ((1, 4, 4, 32), (-1, -1), (-1, -1), (0, -1, -1, 0), (0, 0), 16, 32, None, np.float32, 3),
    ((3, 5, 6, 16), (-1, -1), (-1, -1), (0, 2, 3, 0), (2, 1), 64, 8, None, np.float32, 1),
    ((2, 9, 9, 16), (-1, -1), (-1, -1), (0, 3, -1, 8), (1, 2), 32, 8, (1, 2, 2, 1), np.float32, 0),
    ((2, 3, 4, 5, 16), (0, -1, -2), (0, 0, -1), (0, 1, -1, 0, 0), (0, 1, 2), 128, 16, None, np.uint8, 0),
]


@pytest.mark.parametrize(
    ("shape", "lower", "upper", "at", "moved", "pixels", "channels", "steps", "dtype", "swizzle"), CASES
)
def test_columns_of_pixels(shape, lower, upper, at, moved, pixels, channels, steps, dtype, swizzle):
    images = aligned(np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype))
    fill = dtype is not np.uint8
    map_ = windows_of(images, lower, upper, channels, pixels, swizzle=swizzle, fill=int(fill), steps=steps)
    coordinates, offsets = (", ".join(map(str, v[::-1])) for v in (at, moved))
    copy = (
        f"cp.async.bulk.tensor.{images.ndim}d.shared::cta.global.im2col.mbarrier::complete_tx::bytes "
        f"[%r1], [%d0, {{{coordinates}}}], [%r2], {{{offsets}}};"
    )
    got = load_box(images, map_, at, pixels * channels * images.itemsize, copy)
    want = pixels_at(images, at, moved, lower, upper, channels, pixels, np.nan if fill else 0, steps)
    span = 16 << swizzle if swizzle else 0
    found = np.frombuffer(swizzle_rows(got, span).tobytes(), dtype).reshape(pixels, channels)
    np.testing.assert_array_equal(found, want)


def test_maps_say_what_they_are():
    images = aligned(np.zeros((2, 8, 8, 32), np.float16))
    m = TensorMap.decode(windows_of(images, (-3, 0), (-1, 2), 32, 64).tobytes())
    assert m.box == (32, 64) and m.corners == ((0, -3), (2, -1)) and m.sizes == (32, 8, 8, 2)
    with pytest.raises(LaunchError, match="not between -128 and 127"):
        windows_of(images, (-129, 0), (0, 0), 32, 64)
    with pytest.raises(LaunchError, match="the box has 2048 elements in dimension 1, not between 1 and 1024"):
        windows_of(images, (0, 0), (0, 0), 32, 2048)
    with pytest.raises(LaunchError, match="2 offsets for each corner"):
        windows_of(images, (0,), (0,), 32, 64)
    with pytest.raises(TensorMapError, match=r"it is one of windows \(im2col\), the instruction copies tiles"):
        load_box(images, windows_of(images, (0, 0), (0, 0), 32, 64), (0, 0, 0, 0), 4096)
