"""Tensor maps and the copies by them, against slices of NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.kernels import run
from tritium.emulator import (
    DataRace,
    LaunchError,
    MisalignedAccess,
    OutOfBounds,
    TensorMap,
    TensorMapError,
    UnknownInstruction,
    encode_tiled,
)

#: dtype -> the number of `CUtensorMapDataType`.
TYPES = {
    np.uint8: 0,
    np.uint16: 1,
    np.uint32: 2,
    np.int32: 3,
    np.uint64: 4,
    np.float16: 6,
    np.float32: 7,
    np.float64: 8,
}


def map_of(array, box, *, swizzle=0, fill=0, steps=None, strides=None, address=None) -> np.ndarray:
    """A tensor map of an array (innermost dimension last), at a multiple of 64."""
    strides = strides or array.strides
    data = encode_tiled(
        TYPES[array.dtype.type],
        array.ctypes.data if address is None else address,
        array.shape[::-1],
        strides[::-1][1:],
        box[::-1],
        (1,) * array.ndim if steps is None else steps[::-1],
        0,
        swizzle,
        2,
        fill,
    )
    return aligned(np.frombuffer(data, np.uint8), 64)


def aligned(array, alignment=16):
    """A copy at a multiple of `alignment`."""
    raw = np.zeros(array.nbytes + alignment, np.uint8)
    shift = -raw.ctypes.data % alignment
    out = raw[shift : shift + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def box_at(array, at, box, fill=0, steps=None):
    """What a load should bring: the box at some coordinates, `fill` where it leaves the array."""
    steps = steps or (1,) * array.ndim
    axes = [np.arange(a, a + b, s) for a, b, s in zip(at, box, steps)]
    places = np.ix_(*[np.clip(x, 0, n - 1) for x, n in zip(axes, array.shape)])
    mask = np.ones(1, bool)
    for x, n in zip(np.ix_(*axes), array.shape):
        mask = mask & (x >= 0) & (x < n)
    return np.where(mask, array[places], np.array(fill, array.dtype))


def swizzle_rows(data: np.ndarray, span: int) -> np.ndarray:
    """16-byte pieces of flat bytes, moved as swizzling moves them from an address that is a multiple of 1024."""
    if not span:
        return data
    pieces = data.reshape(-1, 16)
    number = np.arange(len(pieces))
    out = np.empty_like(pieces)
    out[number ^ (number >> 3 & (span // 16 - 1))] = pieces
    return out.ravel()


LOAD = """
  .shared .align 1024 .b8 tile[SIZE];
  .shared .align 8 .b8 bar[8];
  mov.u32 %r1, tile;
  mov.u32 %r2, bar;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared.b64 [%r2], 1;
  bar.sync 0;
  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], BYTES;
  @%p1 COPY
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra wait;
  mov.u32 %r3, 0;
again:
  mad.lo.u32 %r4, %r3, 512, 0;
  mad.lo.u32 %r4, %r0, 16, %r4;
  setp.ge.u32 %p3, %r4, BYTES;
  @%p3 bra next;
  add.u32 %r5, %r1, %r4;
  ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];
  cvt.u64.u32 %d10, %r4;
  add.u64 %d10, %d10, %d2;
  st.global.v4.u32 [%d10], {%r6, %r7, %r8, %r9};
next:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p4, %r3, ROUNDS;
  @%p4 bra again;
"""


def load_box(tensor, map_, at, size, copy=None, **options):
    """Run a kernel that loads the box at some coordinates and stores shared memory as it is."""
    rank = tensor.ndim
    where = ", ".join(str(c) for c in reversed(at))
    copy = copy or (
        f"cp.async.bulk.tensor.{rank}d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
        f"[%r1], [%d0, {{{where}}}], [%r2];"
    )
    out = aligned(np.zeros(size, np.uint8))
    rounds = -(-size // 512)
    body = LOAD.replace("COPY", copy).replace("ROUNDS", str(rounds))
    body = body.replace("SIZE", str(size)).replace("BYTES", str(size))
    options = {"target": "sm_90a", "check_uninitialized": True, **options}
    run(body, map_, tensor, out, gpu=False, **options)
    return out


CASES = [
    ((300,), (64,), (12,), np.float32, 0),
    ((300,), (64,), (-8,), np.float32, 0),
    ((40, 64), (8, 64), (3, 0), np.float16, 3),
    ((40, 64), (16, 32), (30, 48), np.float16, 2),
    ((40, 64), (16, 32), (-3, -16), np.uint8, 1),
    ((9, 10, 32), (4, 2, 16), (7, -1, 24), np.int32, 2),
    ((5, 4, 3, 16), (2, 3, 2, 8), (4, 2, -1, 4), np.uint32, 1),
    ((3, 2, 4, 3, 8), (2, 2, 2, 3, 4), (2, -1, 1, 0, 6), np.float64, 0),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_loads(case):
    shape, box, at, dtype, swizzle = case
    rng = np.random.default_rng(len(shape))
    tensor = aligned(rng.integers(1, 100, shape).astype(dtype))
    expected = box_at(tensor, at, box)
    out = load_box(tensor, map_of(tensor, box, swizzle=swizzle), at, expected.nbytes)
    flat = np.frombuffer(expected.tobytes(), np.uint8)
    np.testing.assert_array_equal(out, swizzle_rows(flat, {0: 0, 1: 32, 2: 64, 3: 128}[swizzle]))


def test_every_second_element_and_nan_outside():
    tensor = aligned(np.arange(1, 16 * 32 + 1, dtype=np.float32).reshape(16, 32))
    map_ = map_of(tensor, (8, 16), steps=(2, 2), fill=1)
    out = load_box(tensor, map_, (12, 24), 4 * 8 * 4).view(np.float32).reshape(4, 8)
    np.testing.assert_array_equal(out[:2, :4], tensor[12:16:2, 24:32:2])
    assert np.isnan(out[2:]).all() and np.isnan(out[:, 4:]).all()


def test_addresses_have_64_bits():
    """2**28 steps of 2**36 bytes lead around all of memory."""
    tensor = aligned(np.arange(8 * 16, dtype=np.float32).reshape(8, 16))
    data = encode_tiled(7, tensor.ctypes.data, (16, 8, 1 << 30), (64, 1 << 36), (16, 8, 1), (1, 1, 1), 0, 0, 2, 0)
    map_ = aligned(np.frombuffer(data, np.uint8), 64)
    out = load_box(tensor[None], map_, (1 << 28, 2, 0), 512).view(np.float32).reshape(8, 16)
    np.testing.assert_array_equal(out[:6], tensor[2:])
    assert not out[6:].any()


def test_gathered_and_scattered_rows():
    tensor = aligned(np.arange(64 * 32, dtype=np.float32).reshape(64, 32))
    copy = (
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
        "[%r1], [%d0, {8, 5, 60, 99, 5}], [%r2];"
    )
    map_ = map_of(tensor, (1, 16))
    out = load_box(tensor, map_, (0, 0), 4 * 64, copy, check=False, target="sm_100a").view(np.float32).reshape(4, 16)
    zeros = np.zeros(16, np.float32)
    np.testing.assert_array_equal(out, [tensor[5, 8:24], tensor[60, 8:24], zeros, tensor[5, 8:24]])
    with pytest.raises(UnknownInstruction, match="sm_90a has no .*gather4"):
        load_box(tensor, map_, (0, 0), 4 * 64, copy, check=False)
    scatter = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d0, {24, 1, 63, -1, 9}], [%r1];"
    data = np.arange(64, dtype=np.float32).reshape(4, 16)
    body = STORE.replace("COPY", scatter).replace("ROUNDS", "1").replace("SIZE", "512")
    wide = aligned(np.concatenate([data, data]))
    expected = tensor.copy()
    for row, values in zip((1, 63, 9), data[[0, 1, 3]]):
        expected[row, 24:] = values[:8]
    run(body, map_, tensor, wide, target="sm_100a", gpu=False, check=False)
    np.testing.assert_array_equal(tensor, expected)


STORE = """
  .shared .align 1024 .b8 tile[SIZE];
  mov.u32 %r1, tile;
  mov.u32 %r3, 0;
again:
  mad.lo.u32 %r4, %r3, 512, 0;
  mad.lo.u32 %r4, %r0, 16, %r4;
  cvt.u64.u32 %d10, %r4;
  add.u64 %d10, %d10, %d2;
  ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d10];
  add.u32 %r5, %r1, %r4;
  st.shared.v4.u32 [%r5], {%r6, %r7, %r8, %r9};
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p4, %r3, ROUNDS;
  @%p4 bra again;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 COPY
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
"""


def store_box(tensor, map_, at, data, operation="", **options):
    rank, size = tensor.ndim, data.nbytes
    where = ", ".join(str(c) for c in reversed(at))
    name = f"cp.reduce.async.bulk.tensor.{rank}d" if operation else f"cp.async.bulk.tensor.{rank}d"
    kind = f".{operation}.tile" if operation else ".tile"
    copy = f"{name}.global.shared::cta{kind}.bulk_group [%d0, {{{where}}}], [%r1];"
    body = STORE.replace("COPY", copy).replace("ROUNDS", str(-(-size // 512))).replace("SIZE", str(size))
    run(body, map_, tensor, aligned(data), target="sm_90a", gpu=False, **options)


@pytest.mark.parametrize("swizzle", [0, 1, 2, 3])
def test_stores(swizzle):
    span = {0: 64, 1: 32, 2: 64, 3: 128}[swizzle]
    box = (16, span // 2)
    tensor = aligned(np.zeros((40, 96), np.float16))
    data = np.arange(1, 16 * span // 2 + 1).astype(np.float16).reshape(box)
    at = (30, 96 - span // 4)
    store_box(
        tensor,
        map_of(tensor, box, swizzle=swizzle),
        at,
        swizzle_rows(data.view(np.uint8).ravel(), span if swizzle else 0),
    )
    expected = np.zeros_like(tensor)
    expected[30:40, 96 - span // 4 :] = data[:10, : span // 4]
    np.testing.assert_array_equal(tensor, expected)


def test_stores_end_at_whole_pieces():
    """Of a row that ends inside of 16 bytes all of these are written; behind the last row nothing is."""
    tensor = aligned(np.zeros((10, 32), np.float32))
    data = np.arange(1, 8 * 16 + 1).astype(np.float32).reshape(8, 16)
    map_ = map_of(tensor, (8, 16))
    map_[:] = np.frombuffer(TensorMap.decode(map_.tobytes())._replace(sizes=(21, 9)).encode(), np.uint8)
    store_box(tensor, map_, (4, 16), data)
    expected = np.zeros_like(tensor)
    expected[4:9, 16:24] = data[:5, :8]
    np.testing.assert_array_equal(tensor, expected)


REDUCTIONS = [
    ("add", np.float32, np.add),
    ("add", np.float16, np.add),
    ("min", np.int32, np.minimum),
    ("max", np.float16, np.maximum),
    ("xor", np.uint32, np.bitwise_xor),
    ("or", np.uint64, np.bitwise_or),
    ("and", np.int32, np.bitwise_and),
    ("inc", np.uint32, lambda a, b: np.where(a >= b, 0, a + 1)),
]


@pytest.mark.parametrize(("name", "dtype", "function"), REDUCTIONS)
def test_reductions(name, dtype, function):
    rng = np.random.default_rng(3)
    tensor = aligned(rng.integers(0, 50, (20, 32)).astype(dtype))
    data = rng.integers(0, 50, (32, 16)).astype(dtype)
    expected = tensor.copy()
    expected[12:, 8:24] = function(tensor[12:, 8:24], data[:8])
    store_box(tensor, map_of(tensor, (32, 16)), (12, 8), data, name)
    np.testing.assert_array_equal(tensor, expected)


MADE = """
  .shared .align 128 .b8 made[128];
  mov.u32 %r20, made;
  shl.b32 %r21, %r0, 2;
  add.u32 %r21, %r21, %r20;
  st.shared.b32 [%r21], 0;
  bar.warp.sync -1;
  setp.eq.u32 %p1, %r0, 0;
  cvt.u64.u32 %d20, %r20;
  @!%p1 bra filled;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%d20], %d1;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%d20], 1;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d20], 0, 32;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d20], 1, 4;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d20], 0, 40;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d20], 1, 9;
  mov.u64 %d21, 192;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%d20], 0, %d21;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%d20], 0, 1;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%d20], 1, 1;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%d20], 7;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%d20], 0;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%d20], 3;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%d20], 0;
filled:
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [%d20], 128;
  ACQUIRE
  bar.sync 0;
"""
ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;"


def made_map(acquire):
    """Load by a map that the kernel makes of rows of 40 in an array of rows of 48."""
    tensor = aligned(np.arange(9 * 48, dtype=np.float32).reshape(9, 48))
    map_ = aligned(np.zeros(128, np.uint8), 128)
    copy = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d0, {16, 6}], [%r2];"
    out = aligned(np.zeros(512, np.uint8))
    body = MADE.replace("ACQUIRE", acquire) + LOAD.replace("COPY", copy).replace("ROUNDS", "1")
    run(body.replace("SIZE", "512").replace("BYTES", "512"), map_, tensor, out, target="sm_90a", gpu=False)
    flat = np.frombuffer(box_at(tensor[:, :40], (6, 16), (4, 32)).tobytes(), np.uint8)
    np.testing.assert_array_equal(out, swizzle_rows(flat, 128))


def test_a_map_that_the_kernel_makes():
    made_map(ACQUIRE)
    with pytest.raises(TensorMapError, match=r"has not acquired"):
        made_map("")


def test_maps_that_do_not_fit():
    tensor = aligned(np.zeros((40, 64), np.float16))
    with pytest.raises(TensorMapError, match="it has 2 dimensions, the instruction 3"):
        load_box(tensor[None], map_of(tensor, (8, 64)), (0, 0, 0), 1024)
    with pytest.raises(TensorMapError, match="the element type 255 is unknown"):
        load_box(tensor, aligned(np.full(128, 255, np.uint8), 64), (0, 0), 1024)
    with pytest.raises(TensorMapError, match=r"its rows have 64 bytes, the swizzle 128"):
        load_box(tensor, map_of(tensor, (8, 32), swizzle=3), (0, 0), 512)
    with pytest.raises(MisalignedAccess, match=r"0x40"):
        map_ = map_of(tensor, (8, 64))
        copy = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1+64], [%d0, {0, 0}], [%r2];"
        load_box(tensor, map_, (0, 0), 1024, copy)
    with pytest.raises(OutOfBounds, match="a box of 1024 bytes at 0x0: outside shared memory"):
        load_box(tensor, map_of(tensor, (8, 64)), (0, 0), 512)
    with pytest.raises(TensorMapError, match="innermost coordinate 30 of elements of 2 bytes is at no multiple of 16"):
        load_box(tensor, map_of(tensor, (8, 32)), (0, 30), 512)
    with pytest.raises(OutOfBounds, match="reads 2 bytes"):
        load_box(tensor[:20], map_of(aligned(tensor), (8, 64), address=tensor.ctypes.data), (16, 0), 1024, memory=None)
    with pytest.raises(TensorMapError, match="min of f32 in memory does not exist"):
        store_box(
            tensor,
            map_of(aligned(np.zeros((16, 8), np.float32)), (16, 8)),
            (0, 0),
            np.zeros((16, 8), np.float32),
            "min",
        )
    windows = (
        "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r1], [%d0, {0, 0, 0}], [%r2]"
    )
    with pytest.raises(TensorMapError, match=r"it is one of tiles, the instruction copies windows \(im2col\)"):
        load_box(tensor[None], map_of(tensor[None], (1, 8, 64)), (0, 0, 0), 1024, f"{windows}, {{1}};", check=False)
    with pytest.raises(UnknownInstruction, match="takes 1 offsets in a window"):
        load_box(tensor[None], map_of(tensor[None], (1, 8, 64)), (0, 0, 0), 1024, f"{windows}, {{1, 2}};", check=False)


BAD = [
    ({"address": 8}, "address 0x8 is no multiple of 16"),
    ({"strides": (40, 2)}, "stride of dimension 1 is 40 bytes"),
    ({"box": (257, 8)}, "257 elements in dimension 1"),
    ({"box": (8, 4)}, "has 8 bytes, which is no multiple of 16"),
    ({"box": (8, 64), "swizzle": 2}, "has 128 bytes, more than the 64"),
    ({"steps": (1, 9)}, "element stride of dimension 0 is 9"),
    ({"swizzle": 7}, "swizzle mode 7"),
]


@pytest.mark.parametrize(("change", "text"), BAD)
def test_what_is_no_map(change, text):
    tensor = aligned(np.zeros((40, 64), np.float16))
    options = {"box": (8, 32), **change}
    with pytest.raises(LaunchError, match=text):
        map_of(tensor, **options)


MULTICAST = """
  .shared .align 1024 .b8 tile[1024];
  .shared .align 8 .b8 bar[8];
  mov.u32 %r1, tile;
  mov.u32 %r2, bar;
  mov.u32 %r10, %cluster_ctarank;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024;
  MEET
  mul.lo.u32 %r11, %r10, 8;
  mad.lo.u32 %r12, %r10, 512, %r1;
  mov.b16 %h1, 3;
  @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
    [%r12], [%d0, {0, %r11}], [%r2], %h1;
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra wait;
  mad.lo.u32 %r3, %r0, 16, %r1;
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];
  mad.lo.u32 %r8, %r10, 1024, 0;
  mad.lo.u32 %r8, %r0, 16, %r8;
  cvt.u64.u32 %d10, %r8;
  add.u64 %d10, %d10, %d2;
  st.global.v4.u32 [%d10], {%r4, %r5, %r6, %r7};
  barrier.cluster.arrive;
  barrier.cluster.wait;
"""
MEET = "barrier.cluster.arrive.release;\n  barrier.cluster.wait.acquire;"


def multicast(meet=MEET):
    """Each block of a cluster loads half a tile for both."""
    tensor = aligned(np.arange(16 * 32, dtype=np.float16).reshape(16, 32))
    out = aligned(np.zeros((2, 16, 32), np.float16))
    map_ = map_of(tensor, (8, 32))
    run(MULTICAST.replace("MEET", meet), map_, tensor, out, threads=64, grid=2, cluster=2, target="sm_90a", gpu=False)
    np.testing.assert_array_equal(out, [tensor, tensor])


def test_multicast():
    multicast()
    with pytest.raises(DataRace, match="uses an mbarrier .* no barrier orders the two"):
        multicast("bar.sync 0;")
    with pytest.raises(TensorMapError, match="the CTA mask 0x7 is not one of a cluster of 2 CTAs"):
        tensor = aligned(np.zeros((16, 32), np.float16))
        text = MULTICAST.replace("MEET", MEET).replace("%h1, 3", "%h1, 7")
        run(text, map_of(tensor, (8, 32)), tensor, tensor, threads=64, grid=2, cluster=2, target="sm_90a", gpu=False)
