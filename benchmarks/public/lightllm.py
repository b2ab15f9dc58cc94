"""LightLLM (github.com/ModelTC/lightllm): kernels of serving language models."""

import torch
from workloads import DEVICE, package, path, rand, stand_in, workload

path()
for name in ("", ".common", ".common.basemodel", ".common.fused_moe", ".models", ".models.gemma_2b", ".models.llama"):
    package(f"lightllm{name}", f"lightllm{name}".replace(".", "/"))
package("lightllm.utils", "lightllm/utils")
stand_in("lightllm.utils.device_utils", is_tesla=lambda: False)
from lightllm.models.gemma_2b.triton_kernel.gelu_and_mul import gelu_and_mul_fwd  # noqa: E402
from lightllm.models.llama.triton_kernel.context_flashattention_nopad import (  # noqa: E402
    context_attention_fwd_no_prompt_cache,
)
from lightllm.models.llama.triton_kernel.rmsnorm import rmsnorm_forward  # noqa: E402
from lightllm.models.llama.triton_kernel.rotary_emb import rotary_emb_fwd  # noqa: E402
from lightllm.models.llama.triton_kernel.silu_and_mul import silu_and_mul_fwd  # noqa: E402

f16 = torch.float16


def _prefill(length, batch):
    starts = torch.arange(0, batch * length, length, dtype=torch.int32).to(DEVICE)
    lengths = torch.full((batch,), length, dtype=torch.int32, device=DEVICE)
    q, k, v = (rand(batch * length, heads, 128, dtype=f16) for heads in (32, 8, 8))

    def run():
        out = torch.empty_like(q)
        context_attention_fwd_no_prompt_cache(q, k, v, out, starts, lengths, length)
        return out

    return run


@workload
def prefill_short():
    return _prefill(192, 32)


@workload
def prefill_long():
    return _prefill(2048, 4)


@workload
def rms_norm():
    x, w = rand(8192, 4096), rand(4096)
    return lambda: rmsnorm_forward(x, w, 1e-5)


@workload
def rotary():
    q, k, cos, sin = rand(8192, 32, 128), rand(8192, 8, 128), rand(8192, 64), rand(8192, 64)

    def run():
        turned = q.clone(), k.clone()
        rotary_emb_fwd(*turned, cos, sin)
        return turned

    return run


def _gated(kernel):
    x = rand(4096, 22016)

    def run():
        out = torch.empty(4096, 11008, dtype=x.dtype, device=DEVICE)
        kernel(x, out)
        return out

    return run


@workload
def silu_gate():
    return _gated(silu_and_mul_fwd)


@workload
def gelu_gate():
    return _gated(gelu_and_mul_fwd)
