"""flash-linear-attention (github.com/fla-org/flash-linear-attention): against its own loops in torch."""

import os
import sys

os.environ["TRITON_BACKENDS_IN_TREE"] = "1"

import torch  # noqa: E402
from harness import DEVICE, case, draw, main, same_function, start  # noqa: E402
from torch.nn import functional as F  # noqa: E402

sys.path.pop(0)  # this file has the package's name
start("")

from fla.modules.activations import logsigmoid, sigmoid, swiglu, swish  # noqa: E402
from fla.modules.l2norm import l2norm  # noqa: E402
from fla.modules.layernorm import layer_norm, rms_norm  # noqa: E402
from fla.modules.rotary import rotary_embedding, rotary_embedding_ref  # noqa: E402
from fla.ops.delta_rule import chunk_delta_rule, fused_recurrent_delta_rule  # noqa: E402
from fla.ops.delta_rule.naive import delta_rule_recurrence  # noqa: E402
from fla.ops.gla import chunk_gla, fused_recurrent_gla  # noqa: E402
from fla.ops.linear_attn import chunk_linear_attn  # noqa: E402
from fla.ops.retention import chunk_retention  # noqa: E402
from fla.ops.simple_gla import chunk_simple_gla  # noqa: E402
from fla.ops.utils import chunk_global_cumsum, chunk_local_cumsum  # noqa: E402

# products of chunks, in float32 where the reference has float64
CHUNKS = 2e-3 if DEVICE == "cpu" else 1e-2  # tf32 has 11 bits of each factor


def _gated(q, k, v, gk):
    """o[t] = scale q[t] S[t], S[t] = diag(exp(gk[t])) S[t-1] + k[t] v[t]^T; everything (batch, time, heads, size)."""
    state = q.new_zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3])
    rows = []
    for t in range(q.shape[1]):
        state = state * gk[:, t].exp()[..., None] + k[:, t, :, :, None] * v[:, t, :, None, :]
        rows.append((q[:, t, :, :, None] * state).sum(-2) * q.shape[-1] ** -0.5)
    return torch.stack(rows, 1)


def _qkv(time, key=32, value=64):
    return draw(2, time, 2, key), draw(2, time, 2, key), draw(2, time, 2, value)


@case
def activations():
    x, y = draw(7, 330), draw(7, 330)
    same_function(sigmoid, torch.sigmoid, x)
    same_function(swish, F.silu, x)
    same_function(logsigmoid, F.logsigmoid, x)
    same_function(swiglu, lambda a, b: F.silu(a) * b, x, y)


@case
def norms():
    same_function(l2norm, lambda x: x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6), draw(5, 9, 100))
    same_function(
        lambda x, w: rms_norm(x, w, None, eps=1e-5),
        lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-5),
        draw(3, 9, 200),
        draw(200),
    )
    same_function(
        lambda x, w, b: layer_norm(x, w, b, eps=1e-5),
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5),
        draw(3, 9, 200),
        draw(200),
        draw(200),
    )


@case
def rotary():
    cos, sin = draw(37, 16), draw(37, 16)
    same_function(
        lambda x: rotary_embedding(x, cos, sin),
        lambda x: rotary_embedding_ref(x, cos.double(), sin.double()),
        draw(2, 37, 3, 32),
    )


@case
def cumulative_sums():
    x = draw(2, 130, 3)
    same_function(chunk_global_cumsum, lambda a: a.cumsum(1), x, gradient=False)

    def chunked(a):
        return torch.cat([part.cumsum(1) for part in a.split(64, 1)], 1)

    same_function(lambda a: chunk_local_cumsum(a, 64), chunked, x, gradient=False)
    same_function(lambda a: chunk_local_cumsum(a, 64), chunked, draw(2, 130, 3, 40), gradient=False)


@case
def gated_linear_attention_recurrent():
    gates = F.logsigmoid(draw(2, 50, 2, 32))
    same_function(lambda *x: fused_recurrent_gla(*x)[0], _gated, *_qkv(50), gates, tolerance=1e-4)


@case
def gated_linear_attention_in_chunks():
    gates = F.logsigmoid(draw(2, 130, 2, 32))
    same_function(lambda *x: chunk_gla(*x)[0], _gated, *_qkv(130), gates, tolerance=CHUNKS)


@case
def simple_gated_linear_attention():
    gates = F.logsigmoid(draw(2, 130, 2))
    same_function(
        lambda q, k, v, g: chunk_simple_gla(q, k, v, g)[0],
        lambda q, k, v, g: _gated(q, k, v, g[..., None].expand(k.shape)),
        *_qkv(130),
        gates,
        tolerance=CHUNKS,
    )


@case
def linear_attention():
    same_function(
        lambda q, k, v: chunk_linear_attn(q, k, v, normalize=False)[0],
        lambda q, k, v: _gated(q, k, v, torch.zeros_like(k)),
        *_qkv(130),
        tolerance=CHUNKS,
    )


@case
def retention():
    def decayed(q, k, v):
        decay = torch.log(1 - 2.0 ** (-5 - torch.arange(2, dtype=torch.float64, device=q.device)))
        return _gated(q, k, v, decay[None, None, :, None].expand(k.shape))

    same_function(lambda q, k, v: chunk_retention(q, k, v)[0], decayed, *_qkv(130), tolerance=CHUNKS)


def _delta(q, k, v, beta):
    turned = [x.transpose(1, 2) for x in (q, k, v, beta)]
    return delta_rule_recurrence(*turned)[0].transpose(1, 2)


@case
def delta_rule():
    q, k, v = _qkv(70)
    k = F.normalize(k, dim=-1)
    beta = draw(2, 70, 2).sigmoid()
    same_function(lambda *x: fused_recurrent_delta_rule(*x)[0], _delta, q, k, v, beta, tolerance=CHUNKS)
    narrow = [x.bfloat16() for x in (q, k, v, beta)]
    same_function(lambda *x: chunk_delta_rule(*x)[0], _delta, *narrow, tolerance=3e-2)


main()
