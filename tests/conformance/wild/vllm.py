"""vLLM (github.com/vllm-project/vllm): kernels of serving language models, without the package around them.

Its `vllm.triton_utils` imports Gluon, which is not there; the kernels take Triton from it and nothing else.
"""

import enum
import math
import os
import sys

import torch
import triton
import triton.language as tl
from harness import DEVICE, PRODUCTS, case, close, draw, main, package, stand_in, start

sys.path.pop(0)  # this file has the package's name
ROOT = start("")


class _Nothing:
    """Settings and platforms: no to every question."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: False


class _Settings:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return False


class _Platform(_Nothing):
    is_cuda = is_cuda_alike = lambda *_: True  # noqa: E731
    fp8_dtype = lambda *_: torch.float8_e4m3fn  # noqa: E731


def _packages():
    """Each folder is a package without its `__init__`."""
    for folder, _, _ in os.walk(os.path.join(ROOT, "vllm")):
        below = os.path.relpath(folder, ROOT)
        package(".".join(below.split(os.sep)), below)


def _module(name, **members):
    """A module of the package, with the few members that kernels' files import."""
    stand_in(name, **members)
    parent, _, short = name.rpartition(".")
    setattr(sys.modules[parent], short, sys.modules[name])


class _Quantization(enum.IntEnum):
    NONE = 0
    FP8_PER_TENSOR = 1


_packages()
_module("vllm.triton_utils", triton=triton, tl=tl, HAS_TRITON=True, LOG2E=math.log2(math.e), LOGE2=math.log(2))
_module("vllm.platforms", current_platform=_Platform())
_module("vllm.logger", init_logger=lambda *_: _Nothing())
stand_in("vllm.envs")
sys.modules["vllm.envs"].__getattr__ = lambda name: getattr(_Settings(), name)
sys.modules["vllm"].envs = sys.modules["vllm.envs"]
_module("vllm.utils.torch_utils", direct_register_custom_op=lambda *_, **__: None, async_tensor_h2d=torch.tensor)

from vllm.lora.ops.triton_ops.lora_expand_op import _lora_expand  # noqa: E402
from vllm.lora.ops.triton_ops.lora_shrink_op import _lora_shrink  # noqa: E402
from vllm.v1.attention.ops.triton_decode_attention import decode_attention_fwd  # noqa: E402
from vllm.v1.attention.ops.triton_merge_attn_states import merge_attn_states  # noqa: E402
from vllm.v1.attention.ops.triton_prefill_attention import context_attention_fwd  # noqa: E402


def _attention(q, k, v, causal):
    """q of (tokens, heads, size), k and v of (tokens, fewer heads, size), in float64."""
    q, k, v = (x.double().transpose(0, 1) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[0] // x.shape[0], 0) for x in (k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores[0]).triu(1).bool(), -math.inf)
    return (scores.softmax(-1) @ v).transpose(0, 1)


@case
def prefill():
    for dtype, causal in ((torch.float16, True), (torch.bfloat16, False)):
        lengths = torch.tensor([37, 80, 1], dtype=torch.int32)
        starts = torch.tensor([0, 37, 117], dtype=torch.int32)
        q, k, v = draw(118, 4, 64, dtype=dtype), draw(118, 2, 64, dtype=dtype), draw(118, 2, 64, dtype=dtype)
        out = torch.empty_like(q)
        context_attention_fwd(q, k, v, out, starts.to(DEVICE), lengths.to(DEVICE), 80, is_causal=causal)
        for first, count in zip(starts.tolist(), lengths.tolist()):
            rows = slice(first, first + count)
            close(out[rows], _attention(q[rows], k[rows], v[rows], causal), what=f"sequence at {first}")


@case
def decode():
    batch, heads, groups, size, longest = 3, 8, 2, 64, 90
    lengths = torch.tensor([90, 17, 1], dtype=torch.int32)
    q, k, v = draw(batch, heads, size), draw(batch * longest, groups, size), draw(batch * longest, groups, size)
    table = torch.arange(batch * longest, dtype=torch.int32).view(batch, longest).to(DEVICE)
    out, lse = torch.empty_like(q), torch.empty(batch, heads, device=DEVICE)
    parts = torch.empty(batch, heads, 4, size + 1, device=DEVICE)
    decode_attention_fwd(q, k, v, out, lse, table, lengths.to(DEVICE), parts, 4, 1 / math.sqrt(size))
    for row, count in enumerate(lengths.tolist()):
        keys = table[row, :count].long()
        close(out[row : row + 1], _attention(q[row : row + 1], k[keys], v[keys], False), PRODUCTS)


@case
def merged_states():
    for dtype in (torch.float32, torch.float16):
        a, b = draw(33, 5, 64, dtype=dtype), draw(33, 5, 64, dtype=dtype)
        first, second = draw(5, 33), draw(5, 33)
        out, lse = torch.empty_like(a), torch.empty_like(first)
        merge_attn_states(out, a, first, b, second, lse)
        close(lse, torch.logaddexp(first.double(), second.double()))
        weight = torch.sigmoid(first.double() - second.double()).T[..., None]
        close(out, weight * a.double() + (1 - weight) * b.double())


@case
def low_rank_updates():
    tokens, rank, hidden, adapters = 50, 16, 128, 3
    x = draw(tokens, hidden, dtype=torch.float16)
    down = [draw(adapters, 1, rank, hidden, dtype=torch.float16)]
    up = [draw(adapters, 1, hidden, rank, dtype=torch.float16)]
    chosen = torch.randint(-1, adapters, (tokens,), dtype=torch.int32)
    ids, counts = torch.unique(chosen, return_counts=True)
    empty = adapters + 1 - len(ids)
    order = torch.argsort(chosen, stable=True).int()
    starts = torch.zeros(adapters + 2, dtype=torch.int32)
    starts[1 : len(counts) + 1] = counts.cumsum(0)
    counts = torch.cat([counts, torch.zeros(empty, dtype=torch.int64)]).int()
    ids = torch.cat([ids, torch.full((empty,), -1)]).int()
    mapping = [t.to(DEVICE) for t in (chosen, order, counts, starts, ids)]
    flags = (torch.tensor([False]), torch.tensor([adapters + 1], dtype=torch.int32))
    small = torch.zeros(1, tokens, rank, device=DEVICE)
    _lora_shrink(x, [w[:, 0] for w in down], small, *mapping, *flags, 0.5)
    out = torch.zeros(tokens, hidden, dtype=torch.float16, device=DEVICE)
    _lora_expand(small, [w[:, 0] for w in up], out, *mapping, *flags, 0, False)
    index = chosen.clamp(min=0).long().to(DEVICE)
    kept = (chosen >= 0).double().to(DEVICE)[:, None]
    want = 0.5 * torch.einsum("th,trh->tr", x.double(), down[0][index, 0].double()) * kept
    close(small[0], want, 2e-2)
    close(out, torch.einsum("tr,thr->th", want, up[0][index, 0].double()) * kept, 2e-2)


main()
