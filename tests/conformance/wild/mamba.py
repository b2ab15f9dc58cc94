"""mamba (github.com/state-spaces/mamba): selective state spaces and the norms around them."""

import os

import torch
from harness import PRODUCTS, case, draw, main, package, same_function, start
from torch.nn import functional as F

start("")
package("mamba_ssm", "mamba_ssm")
os.environ.setdefault("MAMBA_DETERMINISTIC", "0")

from mamba_ssm.ops.triton.k_activations import _swiglu_bwd, _swiglu_fwd  # noqa: E402
from mamba_ssm.ops.triton.layer_norm import layer_norm_fn, rms_norm_fn  # noqa: E402
from mamba_ssm.ops.triton.layernorm_gated import rmsnorm_fn  # noqa: E402
from mamba_ssm.ops.triton.selective_state_update import selective_state_update  # noqa: E402
from mamba_ssm.ops.triton.ssd_bmm import _bmm_chunk_fwd  # noqa: E402
from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined  # noqa: E402


@case
def layer_norms():
    same_function(
        lambda x, w, b: layer_norm_fn(x, w, b),
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-6),
        draw(3, 9, 200),
        draw(200),
        draw(200),
    )
    same_function(
        lambda x, w, r: rms_norm_fn(x, w, None, residual=r),
        lambda x, w, r: F.rms_norm(x + r, x.shape[-1:], w, 1e-6),
        draw(3, 9, 200),
        draw(200),
        draw(3, 9, 200),
    )


@case
def gated_rms_norm():
    same_function(
        lambda x, w, z: rmsnorm_fn(x, w, None, z=z, norm_before_gate=False),
        lambda x, w, z: F.rms_norm(x * F.silu(z), x.shape[-1:], w, 1e-6),
        draw(3, 9, 256),
        draw(256),
        draw(3, 9, 256),
    )


@case
def swiglu():
    def by_parts(xy):
        x, y = xy.chunk(2, -1)
        return F.silu(x) * y

    same_function(_swiglu_fwd, by_parts, draw(5, 300), gradient=False)
    upstream = draw(5, 150)

    def backward(xy):
        wide = xy.detach().requires_grad_()
        return torch.autograd.grad(by_parts(wide), wide, upstream.double())[0]

    same_function(lambda xy: _swiglu_bwd(xy, upstream), backward, draw(5, 300), gradient=False)


@case
def state_update():
    def step(state, x, dt, A, B, C, D, z, bias):
        dt = F.softplus(dt + bias)
        state = state * torch.exp(dt[..., None] * A) + dt[..., None] * x[..., None] * B[:, None]
        return (torch.einsum("bdn,bn->bd", state, C) + D * x) * F.silu(z)

    shapes = [(3, 70, 16), (3, 70), (3, 70), (70, 16), (3, 16), (3, 16), (70,), (3, 70), (70,)]
    inputs = [draw(*shape) for shape in shapes]
    inputs[3] = -inputs[3].abs()
    same_function(
        lambda s, x, dt, A, B, C, D, z, bias: selective_state_update(s, x, dt, A, B, C, D, z, bias, True),
        step,
        *inputs,
        gradient=False,
    )


@case
def product_of_chunks():
    def by_chunks(a, b):
        a, b = (x.unflatten(1, (2, 64)) for x in (a, b))
        return torch.einsum("bcmgk,bcngk->bcgmn", a, b)

    same_function(
        lambda a, b: _bmm_chunk_fwd(a, b, 64), by_chunks, draw(2, 128, 3, 40), draw(2, 128, 3, 40), gradient=False,
        tolerance=PRODUCTS,
    )  # fmt: skip


def _scan(x, dt, A, B, C):
    """y[t] = C[t] S[t], S[t] = exp(dt[t] A) S[t-1] + dt[t] x[t] B[t]^T."""
    state, rows = x.new_zeros(*x.shape[:1], *x.shape[2:], B.shape[-1]), []
    for t in range(x.shape[1]):
        decay = torch.exp(dt[:, t] * A)[..., None, None]
        state = state * decay + (dt[:, t, :, None] * x[:, t])[..., None] * B[:, t, :, None, :]
        rows.append((state * C[:, t, :, None, :]).sum(-1))
    return torch.stack(rows, 1)


@case
def state_space_duality():
    """`mamba_chunk_scan_combined`, forward and backward: five kernels on the way there, some ten on the way back."""
    x, dt, A = draw(1, 128, 2, 32), F.softplus(draw(1, 128, 2) - 1), -torch.exp(draw(2))
    B, C = draw(1, 128, 2, 16), draw(1, 128, 2, 16)
    same_function(lambda *v: mamba_chunk_scan_combined(*v, chunk_size=64), _scan, x, dt, A, B, C, tolerance=3e-3)


main()
