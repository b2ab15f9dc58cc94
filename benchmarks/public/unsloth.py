"""unsloth (github.com/unslothai/unsloth): kernels of fine-tuning, with stand-ins for its helper modules."""

import contextlib

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from workloads import package, path, rand, stand_in, workload

path()
package("unsloth", "unsloth")
package("unsloth.kernels", "unsloth/kernels")
stand_in("unsloth.device_type", DEVICE_COUNT=1, DEVICE_TYPE="cuda", DEVICE_TYPE_TORCH="cuda")
stand_in(
    "unsloth.kernels.utils",
    calculate_settings=lambda n: (triton.next_power_of_2(n), 8 if n > 2048 else 4),
    triton_tanh=libdevice.tanh,
    triton_cast=tl.cast,
    torch_gpu_device=lambda *_: contextlib.nullcontext(),
    torch_device_stream=lambda *_: None,
    MAX_FUSED_SIZE=65536,
    next_power_of_2=triton.next_power_of_2,
    is_cdna=lambda *_: False,
)
from unsloth.kernels import geglu, rope_embedding, swiglu  # noqa: E402

ROWS, INNER = 4096, 11008


def _gated(forward, backward):
    gate, up, upstream = rand(1, ROWS, INNER), rand(1, ROWS, INNER), rand(ROWS, INNER)

    def run():
        flat = [upstream.clone(), gate.view(ROWS, INNER).clone(), up.view(ROWS, INNER).clone()]
        return [forward(gate, up), *backward(*flat)]

    return run


@workload
def swiglu_both():
    return _gated(swiglu.swiglu_fg_kernel, swiglu.swiglu_DWf_DW_dfg_kernel)


@workload
def geglu_exact():
    return _gated(geglu.geglu_exact_forward_kernel, geglu.geglu_exact_backward_kernel)


@workload
def geglu_approximate():
    return _gated(geglu.geglu_approx_forward_kernel, geglu.geglu_approx_backward_kernel)


@workload
def rotary():
    angles = torch.outer(torch.arange(2048.0), 10000 ** (-torch.arange(0, 64.0) / 64))
    full = torch.cat((angles, angles), -1).to(rand(1).device)
    cos, sin = full.cos().bfloat16(), full.sin().bfloat16()
    q, k = rand(2, 32, 2048, 128), rand(2, 8, 2048, 128)
    return lambda: rope_embedding.fast_rope_embedding(q.clone(), k.clone(), cos, sin)
