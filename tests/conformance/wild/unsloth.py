"""unsloth (github.com/unslothai/unsloth): kernels of fine-tuning, with their helper module stood in for."""

import contextlib
import sys

import torch
import triton
import triton.language as tl
from harness import case, close, draw, main, package, stand_in, start
from torch.nn import functional as F
from triton.language.extra import libdevice

sys.path.pop(0)  # this file has the package's name
start("")
package("unsloth", "unsloth")
package("unsloth.kernels", "unsloth/kernels")


def _settings(n: int) -> tuple[int, int]:
    return triton.next_power_of_2(n), 4


stand_in("unsloth.device_type", DEVICE_COUNT=1)
stand_in(
    "unsloth.kernels.utils",
    calculate_settings=_settings,
    triton_tanh=libdevice.tanh,
    triton_cast=tl.cast,
    torch_gpu_device=lambda *_: contextlib.nullcontext(),
    torch_device_stream=lambda *_: None,
)

from unsloth.kernels import geglu, rope_embedding, swiglu  # noqa: E402


def _backward(function, gate, up, upstream):
    wide = [x.double().requires_grad_() for x in (gate, up)]
    made = function(*wide)
    return made, *torch.autograd.grad(made, wide, upstream.double())


def _check(forward, backward, function):
    gate, up = draw(2, 9, 700), draw(2, 9, 700)
    close(forward(gate, up), function(gate.double(), up.double()))
    upstream = draw(18, 700)
    want = _backward(function, gate.view(18, 700), up.view(18, 700), upstream)
    made, by_up, by_gate = backward(upstream.clone(), gate.view(18, 700).clone(), up.view(18, 700).clone())
    close(made, want[0])
    close(by_up, upstream.double() * function(gate.double().view(18, 700), torch.ones(18, 700).double().to(up.device)))
    close(by_gate, want[1])


@case
def swiglu_both_ways():
    _check(swiglu.swiglu_fg_kernel, swiglu.swiglu_DWf_DW_dfg_kernel, lambda e, g: F.silu(e) * g)


@case
def geglu_both_ways():
    _check(geglu.geglu_exact_forward_kernel, geglu.geglu_exact_backward_kernel, lambda e, g: F.gelu(e) * g)
    _check(
        geglu.geglu_approx_forward_kernel,
        geglu.geglu_approx_backward_kernel,
        lambda e, g: F.gelu(e, approximate="tanh") * g,
    )


@case
def rotary():
    angles = torch.outer(torch.arange(33.0), 10000 ** (-torch.arange(0, 32.0) / 32))
    full = torch.cat((angles, angles), -1).to(draw(1).device)
    q, k = draw(2, 6, 33, 64), draw(2, 3, 33, 64)
    got = rope_embedding.fast_rope_embedding(q, k, full.cos(), full.sin())
    for x, y in zip((q.double(), k.double()), got):
        close(y, x * full.double().cos() + torch.cat((-x[..., 32:], x[..., :32]), -1) * full.double().sin())


main()
