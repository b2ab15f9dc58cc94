"""vLLM (github.com/vllm-project/vllm): kernels of serving language models, with stand-ins for its package."""

import math

import torch
import triton
import triton.language as tl
from workloads import DEVICE, anything, packages, path, rand, stand_in, whole, workload

path()
packages("vllm", "vllm")


class _Answer:
    """Platforms, loggers and settings: False to every question."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: False

    is_cuda = is_cuda_alike = has_device_capability = lambda *_: True
    fp8_dtype = lambda *_: torch.float8_e4m3fn  # noqa: E731
    num_compute_units = lambda *_: 132  # noqa: E731


stand_in(
    "vllm.triton_utils", triton=triton, tl=tl, HAS_TRITON=True, LOG2E=math.log2(math.e), LOGE2=math.log(2),
    triton_jit=triton.jit,
)  # fmt: skip
stand_in("vllm.platforms", current_platform=_Answer())
stand_in("vllm.logger", init_logger=lambda *_: _Answer())
anything("vllm.envs", answer=False)
stand_in("vllm.v1.attention.backends.utils", PAD_SLOT_ID=-1)
stand_in("vllm.utils.torch_utils", direct_register_custom_op=lambda *_, **__: None, async_tensor_h2d=torch.tensor)
from vllm.lora.ops.triton_ops.lora_expand_op import _lora_expand  # noqa: E402
from vllm.lora.ops.triton_ops.lora_shrink_op import _lora_shrink  # noqa: E402
from vllm.v1.attention.ops.triton_decode_attention import decode_attention_fwd  # noqa: E402
from vllm.v1.attention.ops.triton_merge_attn_states import merge_attn_states  # noqa: E402
from vllm.v1.attention.ops.triton_prefill_attention import context_attention_fwd  # noqa: E402

f16 = torch.float16


def _prefill(length, batch, causal, dtype=f16, heads=32, size=128):
    starts = torch.arange(0, batch * length, length, dtype=torch.int32).to(DEVICE)
    lengths = torch.full((batch,), length, dtype=torch.int32, device=DEVICE)
    q, k, v = (rand(batch * length, h, size, dtype=dtype) for h in (heads, heads // 4, heads // 4))

    def run():
        out = torch.empty_like(q)
        context_attention_fwd(q, k, v, out, starts, lengths, length, is_causal=causal)
        return out

    return run


@workload
def prefill_short():
    return _prefill(128, 64, True)


@workload
def prefill_short_bfloat16():
    return _prefill(256, 16, False, torch.bfloat16, size=64)


@workload
def prefill_long():
    return _prefill(2048, 4, True)


@workload
def decode():
    batch, heads, groups, size, longest = 64, 32, 8, 128, 2048
    lengths = torch.full((batch,), longest, dtype=torch.int32, device=DEVICE)
    q = rand(batch, heads, size, dtype=f16)
    k, v = (rand(batch * longest, groups, size, dtype=f16) for _ in "kv")
    table = torch.arange(batch * longest, dtype=torch.int32).view(batch, longest).to(DEVICE)
    parts = torch.empty(batch, heads, 8, size + 1, device=DEVICE)

    def run():
        out, lse = torch.empty_like(q), torch.empty(batch, heads, dtype=f16, device=DEVICE)
        decode_attention_fwd(q, k, v, out, lse, table, lengths, parts, 8, 1 / math.sqrt(size))
        return out

    return run


@workload
def merged_states():
    a, b = rand(4096, 32, 128, dtype=f16), rand(4096, 32, 128, dtype=f16)
    first, second = rand(32, 4096, dtype=torch.float32), rand(32, 4096, dtype=torch.float32)

    def run():
        out, lse = torch.empty_like(a), torch.empty_like(first)
        merge_attn_states(out, a, first, b, second, lse)
        return out, lse

    return run


@workload
def low_rank_updates():
    tokens, rank, hidden, adapters = 2048, 16, 4096, 8
    x = rand(tokens, hidden, dtype=f16)
    down = [rand(adapters, rank, hidden, dtype=f16, scale=0.02)]
    up = [rand(adapters, hidden, rank, dtype=f16)]
    chosen = torch.arange(tokens, dtype=torch.int32) % adapters
    ids, counts = torch.unique(chosen, return_counts=True)
    order = torch.argsort(chosen, stable=True).int()
    starts = torch.zeros(adapters + 2, dtype=torch.int32)
    starts[1 : len(counts) + 1] = counts.cumsum(0)
    counts = torch.cat([counts, torch.zeros(1, dtype=torch.int64)]).int()
    ids = torch.cat([ids, torch.full((1,), -1)]).int()
    mapping = [t.to(DEVICE) for t in (chosen, order, counts, starts, ids)]
    flags = (torch.tensor([False]), torch.tensor([adapters + 1], dtype=torch.int32))

    def run():
        small = torch.zeros(1, tokens, rank, device=DEVICE)
        _lora_shrink(x, down, small, *mapping, *flags, 0.5)
        out = torch.zeros(tokens, hidden, dtype=f16, device=DEVICE)
        _lora_expand(small, up, out, *mapping, *flags, 0, False)
        return small, out

    return run


@workload
def lightning_attention():
    from vllm.model_executor.layers.lightning_attn import lightning_attention as published

    q, k, v = (rand(2, 16, 2048, 128, dtype=torch.float32, scale=0.2) for _ in range(3))
    decays = torch.linspace(0.05, 0.5, 16).view(16, 1, 1).to(DEVICE)
    return lambda: published(q, k, v, decays, block_size=256, kv_history=torch.zeros(2, 16, 128, 128, device=DEVICE))


@workload
def weights_of_four_bits():
    from vllm.model_executor.layers.quantization.awq_triton import awq_dequantize_triton, awq_gemm_triton

    words, zeros = whole(1 << 31, 4096, 512, dtype=torch.int32), whole(1 << 31, 32, 512, dtype=torch.int32)
    scales, x = rand(32, 4096, dtype=f16, scale=0.01), rand(64, 4096, dtype=f16)
    return lambda: [awq_dequantize_triton(words, scales, zeros), awq_gemm_triton(x, words, scales, zeros, 4)]
