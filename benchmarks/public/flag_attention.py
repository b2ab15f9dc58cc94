"""FlagAttention (github.com/FlagOpen/FlagAttention): forms of attention, forward and backward."""

import torch
from workloads import both_ways, path, rand, whole, workload

path("src")
import flag_attn  # noqa: E402

f16 = torch.float16


@workload
def flash_attention():
    return both_ways(
        lambda q, k, v: flag_attn.flash_attention(q, k, v, causal=True),
        *(rand(4, heads, 2048, 128, dtype=f16) for heads in (16, 16, 16)),
    )


@workload
def piecewise_attention():
    return both_ways(
        lambda *x: flag_attn.piecewise_attention(*x, 1024, causal=True),
        *(rand(2, 16, 2048, 64, dtype=f16) for _ in range(5)),
    )


@workload
def attention_split_over_keys():
    q, k, v = rand(4, 16, 16, 128, dtype=f16), rand(4, 16, 8192, 128, dtype=f16), rand(4, 16, 8192, 128, dtype=f16)
    return lambda: flag_attn.flash_attention_split_kv(q, k, v)


@workload
def paged_attention():
    pages = whole(4096, 32, 128, dtype=torch.int32)
    keys, values = (rand(4096, 8, 16, 128, dtype=f16) for _ in "kv")
    q = rand(32, 32, 128, dtype=f16)
    lengths = torch.full((32,), 2048, dtype=torch.int32, device=q.device)
    return lambda: flag_attn.paged_attention(q, keys, values, lengths, pages, 0.088, 2048)
