"""SageAttention (github.com/thu-ml/SageAttention): attention whose scores are products of 8-bit integers."""

import sys

import torch
from harness import DEVICE, case, close, draw, main, package, start
from torch.nn import functional as F

sys.path.pop(0)  # this file has the package's name
start("")
package("sageattention", "sageattention")
package("sageattention.triton", "sageattention/triton")

from sageattention.triton import (  # noqa: E402
    attn_qk_int8_block_varlen,
    attn_qk_int8_per_block,
    attn_qk_int8_per_block_causal,
    quant_per_block,
    quant_per_block_varlen,
    quant_per_thread,
)


def _inputs(rows, columns, heads=4, groups=2, width=64):
    shapes = (2, heads, rows, width), (2, heads // groups, columns, width), (2, heads // groups, columns, width)
    return [draw(*shape, dtype=torch.float16) for shape in shapes]


@case
def attention_by_bytes():
    for rows, columns in ((128, 192), (100, 70)):
        q, k, v = _inputs(rows, columns)
        wide = [q.double(), *(x.double().repeat_interleave(2, 1) for x in (k, v))]
        bytes_of = quant_per_block.per_block_int8(q, k)
        got, logarithms = attn_qk_int8_per_block.forward(*bytes_of[::2], v, *bytes_of[1::2], return_lse=True)
        close(got, F.scaled_dot_product_attention(*wide), 3e-2)
        scores = wide[0] @ wide[1].transpose(-1, -2) / 8
        close(logarithms, scores.logsumexp(-1) * 1.4426950408889634, 1e-2)
        mask = draw(2, 4, rows, columns) > -1
        got, _ = attn_qk_int8_per_block.forward(*bytes_of[::2], v, *bytes_of[1::2], attn_mask=mask)
        close(got, F.scaled_dot_product_attention(*wide, attn_mask=mask), 3e-2)


@case
def causal_attention_by_bytes():
    q, k, v = _inputs(200, 200)
    wide = [q.double(), *(x.double().repeat_interleave(2, 1) for x in (k, v))]
    bytes_of = quant_per_block.per_block_int8(q, k)
    got, _ = attn_qk_int8_per_block_causal.forward(*bytes_of[::2], v, *bytes_of[1::2])
    close(got, F.scaled_dot_product_attention(*wide, is_causal=True), 3e-2)


@case
def sequences_behind_each_other():
    ends = torch.tensor([0, 70, 200], dtype=torch.int32, device=DEVICE)
    q, k, v = (draw(200, heads, 64, dtype=torch.float16) for heads in (4, 2, 2))
    made = quant_per_block_varlen.per_block_int8(q, k, ends, ends, 130, 130)
    q8, q_scale, k8, k_scale, q_ends, k_ends = made
    got = attn_qk_int8_block_varlen.forward(q8, k8, v, ends, ends, 130, q_scale, k_scale, q_ends, k_ends)
    for begin, end in ((0, 70), (70, 200)):
        one = [x[begin:end].double().transpose(0, 1) for x in (q, k, v)]
        one = [one[0], *(x.repeat_interleave(2, 0) for x in one[1:])]
        close(got[begin:end], F.scaled_dot_product_attention(*one).transpose(0, 1), 3e-2)


@case
def bytes_by_threads():
    """What the parts of a tensor core's fragment hold has one scale each."""
    q, k, _ = _inputs(256, 128)
    q8, q_scale, k8, k_scale = quant_per_thread.per_thread_int8(q, k)
    for small, scale, x, factor in ((q8, q_scale, q, 0.125 * 1.4426950408889634), (k8, k_scale, k, 1.0)):
        assert int(small.abs().max()) == 127 and bool((scale > 0).all())
        shown = small.double().abs().amax((-1, -2)) * scale.double().amax(-1)
        assert bool((shown >= x.double().abs().amax((-1, -2)) * factor * 0.99).all())


main()
