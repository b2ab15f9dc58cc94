"""flash-linear-attention (github.com/fla-org/flash-linear-attention): linear attention in chunks, and its modules."""

import torch
from torch.nn import functional as F
from workloads import both_ways, package, path, rand, workload

path()
package("fla", "fla", __version__="0")
package("fla.ops", "fla/ops")
package("fla.modules", "fla/modules")
from fla.modules.activations import swiglu as fla_swiglu  # noqa: E402
from fla.modules.activations import swish  # noqa: E402
from fla.modules.norm.l2norm import l2norm  # noqa: E402
from fla.modules.norm.layernorm import layer_norm as fla_layer_norm  # noqa: E402
from fla.modules.norm.layernorm import rms_norm as fla_rms_norm  # noqa: E402
from fla.modules.rotary import rotary_embedding  # noqa: E402
from fla.ops.delta_rule import chunk_delta_rule  # noqa: E402
from fla.ops.gated_delta_rule import chunk_gated_delta_rule  # noqa: E402
from fla.ops.gla import chunk_gla, fused_recurrent_gla  # noqa: E402
from fla.ops.simple_gla import chunk_simple_gla  # noqa: E402
from fla.ops.utils import chunk_global_cumsum, chunk_local_cumsum  # noqa: E402

BATCH, TIME, HEADS = 2, 2048, 16


def _qkv(key=128, value=128, time=TIME):
    return [rand(BATCH, time, HEADS, size) for size in (key, key, value)]


def _log_gates(*shape, dtype=torch.float32):
    return F.logsigmoid(rand(*shape, dtype=torch.float32) + 3).to(dtype)


@workload
def gated_linear_attention():
    return both_ways(lambda *x: chunk_gla(*x)[0], *_qkv(), _log_gates(BATCH, TIME, HEADS, 128))


@workload
def simple_gated_linear_attention():
    """Forward only: the backward pass refuses Triton 3.6 on Hopper."""
    q, k, v = _qkv()
    gates = _log_gates(BATCH, TIME, HEADS)
    return lambda: chunk_simple_gla(q, k, v, gates)[0]


@workload
def delta_rule():
    q, k, v = _qkv()
    k = F.normalize(k.float(), dim=-1).bfloat16()
    beta = rand(BATCH, TIME, HEADS).sigmoid()
    return both_ways(lambda *x: chunk_delta_rule(*x)[0], q, k, v, beta)


@workload
def gated_delta_rule():
    q, k, v = _qkv()
    k = F.normalize(k.float(), dim=-1).bfloat16()
    beta, gates = rand(BATCH, TIME, HEADS).sigmoid(), _log_gates(BATCH, TIME, HEADS)
    return lambda: chunk_gated_delta_rule(q, k, v, gates, beta)[0]


@workload
def gated_linear_attention_recurrent():
    q, k, v = _qkv(time=512)
    gates = _log_gates(BATCH, 512, HEADS, 128, dtype=torch.bfloat16)
    return lambda: fused_recurrent_gla(q, k, v, gates)[0]


@workload
def cumulative_sums():
    x = rand(BATCH, 8192, 32, dtype=torch.float32)
    wide = rand(BATCH, TIME, HEADS, 128, dtype=torch.float32)
    return lambda: [chunk_global_cumsum(x), chunk_local_cumsum(x, 64), chunk_local_cumsum(wide, 64)]


@workload
def activations():
    return both_ways(lambda x, y: fla_swiglu(swish(x), y), rand(8192, 4096), rand(8192, 4096))


@workload
def l2_norm():
    return both_ways(l2norm, rand(BATCH, 4096, HEADS, 128))


@workload
def rms_norm():
    return both_ways(lambda x, w: fla_rms_norm(x, w, None, eps=1e-5), rand(4, 2048, 4096), rand(4096))


@workload
def layer_norm():
    return both_ways(lambda x, w, b: fla_layer_norm(x, w, b, eps=1e-5), rand(4, 2048, 2048), rand(2048), rand(2048))


@workload
def rotary():
    cos, sin = rand(TIME, 64), rand(TIME, 64)
    return both_ways(lambda x: rotary_embedding(x, cos, sin), rand(BATCH, TIME, 32, 128))
