"""SageAttention (github.com/thu-ml/SageAttention): attention whose scores are dots of 8-bit integers."""

import torch
from workloads import package, path, rand, workload

path()
package("sageattention", "sageattention")
package("sageattention.triton", "sageattention/triton") if (path() / "sageattention/triton").is_dir() else None
try:
    from sageattention.triton import attn_qk_int8_per_block, attn_qk_int8_per_block_causal, quant_per_block
except ImportError:  # releases before 2.0 have no folder for Triton's kernels
    from sageattention import attn_qk_int8_per_block, attn_qk_int8_per_block_causal, quant_per_block

f16 = torch.float16


def _attention(kernel):
    q, k, v = (rand(2, heads, 4096, 128, dtype=f16) for heads in (16, 8, 8))

    def run():
        made = quant_per_block.per_block_int8(q, k)
        return kernel.forward(*made[::2], v, *made[1::2])

    return run


@workload
def attention():
    return _attention(attn_qk_int8_per_block)


@workload
def causal_attention():
    return _attention(attn_qk_int8_per_block_causal)
