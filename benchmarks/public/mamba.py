"""mamba (github.com/state-spaces/mamba): selective state spaces and the norms around them."""

import os

import torch
from torch.nn import functional as F
from workloads import both_ways, package, path, rand, workload

path()
package("mamba_ssm", "mamba_ssm")
os.environ.setdefault("MAMBA_DETERMINISTIC", "0")
from mamba_ssm.ops.triton.k_activations import _swiglu_bwd, _swiglu_fwd  # noqa: E402
from mamba_ssm.ops.triton.layer_norm import rms_norm_fn  # noqa: E402
from mamba_ssm.ops.triton.layernorm_gated import rmsnorm_fn  # noqa: E402
from mamba_ssm.ops.triton.selective_state_update import selective_state_update  # noqa: E402
from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined  # noqa: E402

f32 = torch.float32


@workload
def state_space_duality():
    """Mamba-2's scan in chunks: five kernels forward, some ten backward."""
    x, B, C = rand(2, 2048, 32, 64), rand(2, 2048, 1, 128, scale=0.3), rand(2, 2048, 1, 128, scale=0.3)
    dt = F.softplus(rand(2, 2048, 32, dtype=f32) - 2)
    A = -torch.exp(rand(32, dtype=f32))
    return both_ways(lambda *v: mamba_chunk_scan_combined(*v, chunk_size=256), x, dt, A, B, C)


@workload
def rms_norm():
    return both_ways(
        lambda x, w, r: rms_norm_fn(x, w, None, residual=r), rand(8192, 4096), rand(4096), rand(8192, 4096)
    )


@workload
def gated_rms_norm():
    return both_ways(
        lambda x, w, z: rmsnorm_fn(x, w, None, z=z, norm_before_gate=False),
        rand(8192, 4096), rand(4096), rand(8192, 4096),
    )  # fmt: skip


@workload
def swiglu():
    xy, upstream = rand(4096, 16384), rand(4096, 8192)
    return lambda: [_swiglu_fwd(xy), _swiglu_bwd(xy, upstream)]


@workload
def state_update():
    """One token of 128 sequences."""
    state, x, dt, z = rand(128, 32, 64, 128), rand(128, 32, 64), rand(128, 32, 64), rand(128, 32, 64)
    A, B, C = -rand(32, 64, 128, dtype=f32).abs(), rand(128, 1, 128), rand(128, 1, 128)
    D, bias = rand(32, 64, dtype=f32), rand(32, 64, dtype=f32)
    return lambda: selective_state_update(state.clone(), x, dt, A, B, C, D, z, bias, True)
