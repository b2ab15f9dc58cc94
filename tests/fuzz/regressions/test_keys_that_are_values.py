"""One tile of a specialized loop is keys and values: its slot was carried to the next iteration, and nothing compiled."""

import pytest

import tritium
import tritium.language as tl
from tests.fuzz.kernels.compare import check


@tritium.jit
def kernel(x_bf16, o1_f32, ROWS: tl.constexpr, KEYS: tl.constexpr, STAGES: tl.constexpr):
    rows, inner = tl.arange(0, ROWS)[:, None], tl.arange(0, 16)[None, :]
    queries = tl.load(x_bf16 + rows * 16 + inner)
    keys = tl.make_tensor_descriptor(x_bf16, [3 * KEYS, 16], [16, 1], [KEYS, 16])
    total = tl.zeros([ROWS, 16], tl.float32)
    top = tl.full([ROWS], -1000.0, tl.float32)
    for i in tl.range(0, 3, warp_specialize=True, num_stages=STAGES):
        block = keys.load([i * KEYS, 0])
        s = tl.dot(queries, block.T)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.where(s >= new[:, None] - 2.0, 1.0, 0.5)
        total = total * tl.where(top < new, 0.5, 1.0)[:, None]
        total = tl.dot(p.to(tl.bfloat16), block, total)
        top = new
    tl.store(o1_f32 + rows * 16 + inner, total)


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("rows, keys, stages", [(64, 16, 2), (128, 32, 3)])
def test_both_products_read_the_tile(rows, keys, stages, warps):
    sizes = {"ROWS": rows, "KEYS": keys, "STAGES": stages}
    both = ("interpreter", "emulated:90")
    ran = check(kernel, scalars=sizes, outputs={"o1_f32": rows * 16}, targets=both, num_warps=warps)
    assert ran == ["interpreter", "emulated:90"]
