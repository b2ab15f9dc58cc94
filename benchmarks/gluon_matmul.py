"""A persistent matmul in Gluon beside cuBLAS: warps that copy, warps that multiply, one CTA or pairs with multicast.

    python benchmarks/gluon_matmul.py                 on a GPU with wgmma; needs torch
    python benchmarks/gluon_matmul.py --emulated      the same kernels once at 256 x 512 on the emulated H100

The producer, one warp, copies tiles of 128 x 64 and 64 x 256 by TMA into a ring of three stages. Two consumer warp
groups multiply, release a stage one iteration later, and store their tile while the next one is copied and multiplied.
In a pair, two CTAs compute 256 x 256: B is copied once and multicast, which halves its bytes from L2.
The columns are TFLOP/s, the median and the range of five alternations.
"""

from __future__ import annotations

import argparse
import statistics

import torch

import tritium
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

ALTERNATIONS = 5
STAGES = 3


@gluon.jit
def tile_of(tile, rows, columns, GROUP: gl.constexpr):
    width = GROUP * columns
    first = tile // width * GROUP
    size = min(rows - first, GROUP)
    within = tile % width
    return first + within % size, within // size


@gluon.jit
def produce(
    a, b, sa, sb, full, free, pair_free, tiles, rows, columns, K, BM: gl.constexpr, BN: gl.constexpr,
    BK: gl.constexpr, STAGES: gl.constexpr, GROUP: gl.constexpr, CTAS: gl.constexpr,
):  # fmt: skip
    step = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        m, n = tile_of(tile, rows, columns, GROUP)
        for k in range(0, K, BK):
            stage, parity = step % STAGES, (step // STAGES & 1) ^ 1
            mbarrier.wait(free.index(stage), parity)
            if CTAS > 1:  # the first CTA writes the memory of both
                mbarrier.wait(pair_free.index(stage), parity)
            mbarrier.expect(full.index(stage), a.nbytes_per_cta + b.nbytes_per_cta)
            tma.async_load(a, [m * BM, k], full.index(stage), sa.index(stage))
            tma.async_load(b, [k, n * BN], full.index(stage), sb.index(stage), multicast=CTAS > 1)
            step += 1


@gluon.jit
def release(free, pair_free, stage, CTAS: gl.constexpr):
    mbarrier.arrive(free.index(stage))
    if CTAS > 1:
        mbarrier.arrive(pair_free.index(stage))


@gluon.jit
def consume(
    c, sa, sb, out, full, free, pair_free, tiles, rows, columns, K, BM: gl.constexpr, BN: gl.constexpr,
    BK: gl.constexpr, STAGES: gl.constexpr, GROUP: gl.constexpr, CTAS: gl.constexpr,
):  # fmt: skip
    split: gl.constexpr = [[1, 0]] if CTAS > 1 else []
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, BN, 16], cga_layout=split)
    step = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        m, n = tile_of(tile, rows, columns, GROUP)
        acc = gl.zeros([BM, BN], gl.float32, mma)
        for k in range(0, K, BK):
            stage = step % STAGES
            mbarrier.wait(full.index(stage), step // STAGES & 1)
            acc = warpgroup_mma(sa.index(stage), sb.index(stage), acc, is_async=True)
            acc = warpgroup_mma_wait(1, deps=[acc])
            if k > 0:
                release(free, pair_free, (step - 1) % STAGES, CTAS)
            step += 1
        acc = warpgroup_mma_wait(0, deps=[acc])
        release(free, pair_free, (step - 1) % STAGES, CTAS)
        tma.store_wait(0)  # the store of the tile before, whose buffer is written again
        out.store(acc.to(gl.float16))
        fence_async_shared()
        tma.async_store(c, [m * BM, n * BN], out)
    tma.store_wait(0)


@gluon.jit
def matmul_kernel(
    a, b, c, M, N, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    GROUP: gl.constexpr, CTAS: gl.constexpr,
):  # fmt: skip
    sa = gl.allocate_shared_memory(gl.float16, [STAGES, BM, BK], a.layout)
    sb = gl.allocate_shared_memory(gl.float16, [STAGES, BK, BN], b.layout)
    out = gl.allocate_shared_memory(gl.float16, [BM, BN], c.layout)
    full, free = mbarrier.allocate_mbarrier(batch=STAGES), mbarrier.allocate_mbarrier(batch=STAGES)
    together: gl.constexpr = mbarrier.MBarrierLayout(cga_layout=[[0]] if CTAS > 1 else [])
    pair_free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], together)
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(free.index(i), count=1)
        mbarrier.init(pair_free.index(i), count=1)
    rows, columns = gl.cdiv(M, BM), gl.cdiv(N, BN)
    tiles = rows * columns
    gl.warp_specialize(
        [
            (
                consume,
                (c, sa, sb, out, full, free, pair_free, tiles, rows, columns, K, BM, BN, BK, STAGES, GROUP, CTAS),
            ),
            (produce, (a, b, sa, sb, full, free, pair_free, tiles, rows, columns, K, BM, BN, BK, STAGES, GROUP, CTAS)),
        ],
        [1],
        [40],
    )
    for i in gl.static_range(STAGES):  # in a pair: not before the other CTA has arrived for the last time
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(free.index(i))
        mbarrier.invalidate(pair_free.index(i))


def descriptor(x, block, cga):
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.float16, cga_layout=cga)
    return TensorDescriptor.from_tensor(x, block, layout)


def matmul(a, b, c, ctas: int, programs: int, group: int = 8):
    """A launch of c = a @ b, as a function without arguments."""
    (M, K), N = a.shape, b.shape[1]
    BM, BN, BK = 128 * ctas, 256, 64
    split, same = ([[1, 0]], [[0, 0]]) if ctas > 1 else ([], [])
    maps = descriptor(a, [BM, BK], split), descriptor(b, [BK, BN], same), descriptor(c, [BM, BN], split)
    tiles = tritium.cdiv(M, BM) * tritium.cdiv(N, BN)
    grid = (min(tiles, programs // ctas),)
    return lambda: matmul_kernel[grid](*maps, M, N, K, BM, BN, BK, STAGES, group, ctas, num_warps=8, num_ctas=ctas)


def checked(device: str, M: int, N: int, K: int, ctas: int, programs: int) -> float:
    """The largest error of a product, relative to the largest element."""
    a, b = (torch.randn(shape, device=device).to(torch.float16) for shape in ((M, K), (K, N)))
    c = torch.full((M, N), float("nan"), device=device, dtype=torch.float16)
    matmul(a, b, c, ctas, programs)()
    expected = a.float() @ b.float()
    return ((c.float() - expected).abs().max() / expected.abs().max()).item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true", help="check the kernels on the emulated H100")
    if parser.parse_args().emulated:
        driver.set_active(EmulatedCUDADriver(90))
        for ctas in (1, 2):
            print(f"{ctas} CTA{'s' * (ctas > 1)}: largest error {checked('cpu', 256, 512, 256, ctas, ctas):.1e}")
        return
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    print(torch.cuda.get_device_name(0))
    for ctas in (1, 2):
        assert checked("cuda", 1024, 1024, 512, ctas, programs) < 1e-3
    for size in (2048, 4096, 8192):
        a, b = (torch.randn((size, size), device="cuda").to(torch.float16) for _ in range(2))
        c = torch.empty((size, size), device="cuda", dtype=torch.float16)
        runs = {
            "cuBLAS": lambda a=a, b=b, c=c: torch.mm(a, b, out=c),
            "one CTA": matmul(a, b, c, 1, programs),
            "pairs": matmul(a, b, c, 2, programs),
        }
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(ALTERNATIONS):
            for name, run in runs.items():
                times[name].append(tritium.testing.do_bench(run, warmup=20, rep=60, return_mode="median"))
        for name, found in times.items():
            middle, least, most = (2e-9 * size**3 / t for t in (statistics.median(found), max(found), min(found)))
            print(f"{size}  {name:8} {middle:.0f} ({least:.0f} to {most:.0f})")


if __name__ == "__main__":
    main()
