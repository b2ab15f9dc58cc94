"""LightLLM (github.com/ModelTC/lightllm): kernels of serving language models."""

import sys

import torch
from harness import DEVICE, case, close, draw, main, package, stand_in, start
from torch.nn import functional as F

sys.path.pop(0)  # this file has the package's name
start("")
for name in ("", ".common.basemodel", ".common.fused_moe", ".models.gemma_2b", ".models.llama"):
    package(f"lightllm{name}", f"lightllm{name}".replace(".", "/"))
stand_in("lightllm.utils.device_utils", is_tesla=lambda: False)

from lightllm.common.basemodel.triton_kernel.destindex_copy_kv import (  # noqa: E402
    destindex_copy_kv,
    destindex_copy_quantize_kv,
)
from lightllm.common.fused_moe.softmax_topk import softmax_topk  # noqa: E402
from lightllm.models.gemma_2b.triton_kernel.gelu_and_mul import gelu_and_mul_fwd  # noqa: E402
from lightllm.models.llama.triton_kernel.context_flashattention_nopad import (  # noqa: E402
    context_attention_fwd_no_prompt_cache,
)
from lightllm.models.llama.triton_kernel.rmsnorm import rmsnorm_forward  # noqa: E402
from lightllm.models.llama.triton_kernel.rotary_emb import rotary_emb_fwd  # noqa: E402
from lightllm.models.llama.triton_kernel.silu_and_mul import silu_and_mul_fwd  # noqa: E402


def _poison(*shape, dtype=torch.float32):
    return torch.full(shape, float("nan"), dtype=dtype, device=DEVICE)


@case
def rms_norm():
    for dtype in (torch.float32, torch.float16):
        x, w = draw(37, 1000, dtype=dtype), draw(1000, dtype=dtype)
        close(rmsnorm_forward(x, w, 1e-5), F.rms_norm(x.double(), (1000,), w.double(), 1e-5))


@case
def rotary():
    q, k, angles = draw(37, 6, 64), draw(37, 2, 64), draw(37, 32)
    cos, sin = angles.cos(), angles.sin()
    want = []
    for x in (q.double(), k.double()):
        a, b, c, s = x[..., :32], x[..., 32:], cos.double()[:, None], sin.double()[:, None]
        want.append(torch.cat((a * c - b * s, a * s + b * c), -1))
    rotary_emb_fwd(q, k, cos, sin)
    close(q, want[0])
    close(k, want[1])


@case
def gated_activations():
    for kernel, activation in (
        (silu_and_mul_fwd, F.silu),
        (gelu_and_mul_fwd, lambda a: F.gelu(a, approximate="tanh")),
    ):
        x, out = draw(70, 600), _poison(70, 300)
        kernel(x, out)
        gate, up = x.double().chunk(2, -1)
        close(out, activation(gate) * up)


@case
def softmax_and_choice():
    for renormalized in (False, True):
        x = draw(33, 60)
        values, places = softmax_topk(x, 6, renormalized)
        want, chosen = x.double().softmax(-1).topk(6)
        close(values, want / want.sum(-1, keepdim=True) if renormalized else want)
        close(places, chosen)


@case
def attention_without_padding():
    """Sequences of several lengths behind each other, grouped heads, causal."""
    lengths = [70, 1, 130]
    starts = torch.tensor([0, 70, 71]).to(DEVICE).int()
    total = sum(lengths)
    q, k, v = (draw(total, heads, 64, dtype=torch.float16) for heads in (4, 2, 2))
    out = _poison(total, 4, 64, dtype=torch.float16)
    context_attention_fwd_no_prompt_cache(q, k, v, out, starts, torch.tensor(lengths).to(DEVICE).int(), max(lengths))
    for begin, length in zip(starts.tolist(), lengths):
        one = [x[begin : begin + length].double().transpose(0, 1) for x in (q, k, v)]
        one = [one[0], *(x.repeat_interleave(2, 0) for x in one[1:])]
        want = F.scaled_dot_product_attention(*one, is_causal=True).transpose(0, 1)
        close(out[begin : begin + length], want, 1e-2)


@case
def copies_into_caches():
    k, places = draw(20, 6, 64, dtype=torch.float16), torch.randperm(50)[:20].to(DEVICE)
    out = _poison(50, 6, 64, dtype=torch.float16)
    destindex_copy_kv(k, places, out)
    close(out[places], k.double())
    assert int(out.isnan().all(-1).all(-1).sum()) == 30
    narrow, scales = torch.zeros(50, 6, 64, dtype=torch.int8, device=DEVICE), _poison(50, 6, 1, dtype=torch.float16)
    destindex_copy_quantize_kv(k, places, narrow, scales)
    close(scales[places], k.double().abs().amax(-1, keepdim=True) / 127)
    close(narrow[places].float() * scales[places].float(), k.double(), 1.2 / 127)


main()
