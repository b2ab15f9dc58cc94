"""SGLang (github.com/sgl-project/sglang): kernels of serving language models, with stand-ins for the package around."""

import torch
import triton.language as tl
from workloads import DEVICE, anything, packages, path, rand, stand_in, workload

path("python")
packages("sglang", "python/sglang")


class _Nothing:
    """Settings: none is on."""

    def __getattr__(self, name):
        return self

    def get(self, *_):
        return False


for name in ("sglang.srt.utils", "sglang.srt.utils.common"):
    anything(
        name, get_device_core_count=lambda *_: 132, get_device_name=lambda *_: "none",
        ceil_align=lambda x, n: -(-x // n) * n, ceil_div=lambda x, n: -(-x // n),
    )  # fmt: skip
anything("sglang.srt.utils.patch_torch", register_fake_if_exists=lambda *_: lambda function: function)
for name in (
    "sglang.kernels.jit.utils", "sglang.srt.batch_invariant_ops", "sglang.srt.layers.deep_gemm_wrapper",
    "sglang.kernels.ops.quantization",
):  # fmt: skip
    anything(name)
anything("sglang.srt.layers.moe.utils", get_moe_padding_size=lambda *_: 0)
stand_in("sglang.srt.environ", envs=_Nothing())
from sglang.kernels.ops.attention.decode_attention import decode_attention_fwd  # noqa: E402
from sglang.kernels.ops.attention.extend_attention import extend_attention_fwd  # noqa: E402
from sglang.kernels.ops.attention.merge_state import merge_state_triton  # noqa: E402
from sglang.kernels.ops.attention.prefill_attention import context_attention_fwd  # noqa: E402
from sglang.kernels.ops.layernorm.rmsnorm_fp32 import rmsnorm_fp32  # noqa: E402
from sglang.kernels.ops.moe.fused_moe_triton_kernels import invoke_fused_moe_kernel  # noqa: E402
from sglang.kernels.ops.quantization.fp8_kernel import _per_token_group_quant_8bit_raw  # noqa: E402
from sglang.kernels.ops.quantization.int8_kernel import per_token_quant_int8  # noqa: E402
from sglang.kernels.ops.sampling.renorm_triton import top_k_renorm_probs_triton, top_p_renorm_probs_triton  # noqa: E402
from sglang.kernels.ops.sampling.temperature_softmax import temperature_softmax  # noqa: E402
from sglang.kernels.ops.speculative.row_argmax import row_argmax  # noqa: E402

f16, f32 = torch.float16, torch.float32


def _each(length, batch, dtype=torch.int32):
    return torch.arange(0, batch * length + 1, length, dtype=dtype).to(DEVICE)


@workload
def prefill_short():
    batch, length = 32, 192
    lengths = torch.full((batch,), length, dtype=torch.int32, device=DEVICE)
    q, k, v = (rand(batch * length, heads, 128, dtype=f16) for heads in (32, 8, 8))

    def run():
        out = torch.empty_like(q)
        context_attention_fwd(q, k, v, out, _starts, lengths, length, is_causal=True)
        return out

    _starts = _each(length, batch)
    return run


@workload
def decode():
    batch, length, splits = 64, 2048, 8
    starts, where = _each(length, batch), torch.randperm(batch * length).int().to(DEVICE)
    k, v = (rand(batch * length, 8, 128, dtype=f16) for _ in "kv")
    q, counts = rand(batch, 32, 128, dtype=f16), torch.full((batch,), splits, dtype=torch.int32, device=DEVICE)

    def run():
        out = torch.empty_like(q)
        parts = torch.empty(batch, 32, splits, 128, dtype=f32, device=DEVICE)
        sums = torch.empty(batch, 32, splits, dtype=f32, device=DEVICE)
        decode_attention_fwd(q, k, v, out, starts, where, parts, sums, counts, splits, 0.088, 1.0, 1.0)
        return out

    return run


@workload
def extend_after_prefix():
    batch, prefix, new = 8, 1024, 256
    new_starts, old_starts = _each(new, batch), _each(prefix, batch)
    where = torch.randperm(batch * prefix).long().to(DEVICE)
    old_k, old_v = (rand(batch * prefix, 8, 128, dtype=f16) for _ in "kv")
    q, k, v = (rand(batch * new, heads, 128, dtype=f16) for heads in (32, 8, 8))

    def run():
        out = torch.empty_like(q)
        extend_attention_fwd(q, k, v, out, old_k, old_v, new_starts, old_starts, where, None, True, None, new, 1.0, 1.0)
        return out

    return run


@workload
def merged_states():
    a, b, s, t = (
        rand(4096, 32, 128, dtype=f16),
        rand(4096, 32, 128, dtype=f16),
        rand(4096, 32, dtype=f32),
        rand(4096, 32, dtype=f32),
    )
    return lambda: merge_state_triton(a, s, b, t)


@workload
def mixture_of_experts():
    """4,096 tokens, 2 of 8 experts each, sorted by expert in blocks of 64 rows."""
    tokens, experts, chosen, width, out, block = 4096, 8, 2, 2048, 4096, 64
    x, w = rand(tokens, width, dtype=f16), rand(experts, out, width, dtype=f16, scale=0.02)
    weights = torch.full((tokens, chosen), 0.5, device=DEVICE)
    places = torch.stack([torch.arange(tokens) % experts, (torch.arange(tokens) + 3) % experts], 1)
    order, owners = [], []
    for expert in range(experts):
        rows = (places.flatten() == expert).nonzero().flatten().tolist()
        rows += [tokens * chosen] * (-len(rows) % block)
        order += rows
        owners += [expert] * (len(rows) // block)
    order, owners, count = (torch.tensor(v, dtype=torch.int32, device=DEVICE) for v in (order, owners, [len(order)]))
    config = {
        "BLOCK_SIZE_M": block, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8, "num_warps": 4,
        "num_stages": 4,
    }  # fmt: skip
    places = places.int().to(DEVICE)

    def run():
        got = torch.empty(tokens, chosen, out, dtype=f16, device=DEVICE)
        invoke_fused_moe_kernel(
            x, w, None, got, None, None, None, weights, places, order, owners, count, True, chosen, config,
            tl.float16, False, False, False, False, False,
        )  # fmt: skip
        return got

    return run


@workload
def quantization():
    x = rand(8192, 4096)
    return lambda: [*per_token_quant_int8(x), *(t.float() for t in _per_token_group_quant_8bit_raw(x, 128))]


@workload
def sampling():
    x, heat = rand(128, 128000, dtype=f32, scale=3.0), rand(128, 1, dtype=f32).abs() + 0.5
    p = rand(128, 32000, dtype=f32, scale=3.0).softmax(-1)
    return lambda: [
        temperature_softmax(x.clone(), heat), row_argmax(x), top_k_renorm_probs_triton(p, 50),
        top_p_renorm_probs_triton(p, 0.9),
    ]  # fmt: skip


@workload
def rms_norm():
    x, w = rand(8192, 4096, dtype=f32), rand(4096, dtype=f32)
    return lambda: rmsnorm_fp32(x, w, 1e-6)
