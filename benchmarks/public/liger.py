"""Liger-Kernel (github.com/linkedin/Liger-Kernel): functions of training language models, with their gradients."""

import torch
from workloads import both_ways, path, rand, whole, workload

path("src")
from liger_kernel.ops import (  # noqa: E402
    cross_entropy,
    dyt,
    fused_add_rms_norm,
    geglu,
    group_norm,
    jsd,
    kl_div,
    layer_norm,
    poly_norm,
    relu_squared,
    rms_norm,
    rope,
    softmax,
    sparsemax,
    swiglu,
    tvd,
)
from liger_kernel.ops.experimental import embedding  # noqa: E402

f32 = torch.float32
TOKENS, HIDDEN, INNER, WORDS = 4096, 4096, 11008, 32000


@workload
def swiglu_both():
    return both_ways(swiglu.LigerSiLUMulFunction.apply, rand(TOKENS, INNER), rand(TOKENS, INNER))


@workload
def geglu_both():
    return both_ways(geglu.LigerGELUMulFunction.apply, rand(TOKENS, INNER), rand(TOKENS, INNER))


@workload
def rms_norm_both():
    return both_ways(
        lambda x, w: rms_norm.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False, None),
        rand(2 * TOKENS, HIDDEN), rand(HIDDEN),
    )  # fmt: skip


@workload
def rms_norm_narrow():
    """Heads of 128: several rows per program."""
    return both_ways(
        lambda x, w: rms_norm.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False, None),
        rand(TOKENS * 32, 128), rand(128),
    )  # fmt: skip


@workload
def layer_norm_both():
    return both_ways(
        lambda x, w, b: layer_norm.LigerLayerNormFunction.apply(x, w, b, 1e-5),
        rand(2 * TOKENS, HIDDEN), rand(HIDDEN), rand(HIDDEN),
    )  # fmt: skip


@workload
def fused_add_rms_norm_both():
    return both_ways(
        lambda x, r, w: fused_add_rms_norm.LigerFusedAddRMSNormFunction.apply(x, r, w, 1e-6),
        rand(2 * TOKENS, HIDDEN), rand(2 * TOKENS, HIDDEN), rand(HIDDEN),
    )  # fmt: skip


@workload
def group_norm_both():
    return both_ways(
        lambda x, w, b: group_norm.LigerGroupNormFunction.apply(x, w, b, 256, 32, 1e-5),
        rand(32, 256, 1024, dtype=f32), rand(256, dtype=f32), rand(256, dtype=f32),
    )  # fmt: skip


@workload
def poly_norm_both():
    return both_ways(
        lambda x, w, b: poly_norm.LigerPolyNormFunction.apply(x, w, b, 1e-6, False),
        rand(2 * TOKENS, HIDDEN), rand(3), rand(1)[0],
    )  # fmt: skip


@workload
def dynamic_tanh():
    return both_ways(dyt.LigerDyTFunction.apply, rand(2 * TOKENS, HIDDEN), rand(1), rand(HIDDEN), rand(HIDDEN))


@workload
def relu_squared_both():
    return both_ways(relu_squared.LigerReLUSquaredFunction.apply, rand(TOKENS, INNER))


@workload
def rotary():
    angles = torch.outer(torch.arange(2048.0), 10000 ** (-torch.arange(0, 64.0) / 64))
    full = torch.cat((angles, angles), -1)[None].to(rand(1).device)
    cos, sin = full.cos().bfloat16(), full.sin().bfloat16()
    return both_ways(
        lambda q, k: rope.LigerRopeFunction.apply(q, k, cos, sin), rand(2, 32, 2048, 128), rand(2, 8, 2048, 128)
    )


@workload
def cross_entropy_both():
    target = whole(WORDS, TOKENS)
    apply = cross_entropy.LigerCrossEntropyFunction.apply
    logits = rand(TOKENS, WORDS)
    return both_ways(lambda x: apply(x.clone(), target, None, -100, 0.0, 0.1, "mean")[0], logits)


@workload
def softmax_both():
    return both_ways(softmax.LigerSoftmaxFunction.apply, rand(TOKENS, 8192))


@workload
def softmax_wide():
    return both_ways(softmax.LigerSoftmaxFunction.apply, rand(1024, 65536))


@workload
def sparsemax_both():
    return both_ways(lambda x: sparsemax.LigerSparsemaxFunction.apply(x, -1), rand(TOKENS, 1024, dtype=f32))


@workload
def jensen_shannon():
    p, q = (rand(1024, WORDS, dtype=f32).log_softmax(-1) for _ in "pq")
    return both_ways(lambda x, y: jsd.LigerJSDFunction.apply(x, y, None, 0.3), p, q, fixed=(1,))


@workload
def kullback_leibler():
    p, q = (rand(1024, WORDS, dtype=f32).log_softmax(-1) for _ in "pq")
    return both_ways(lambda x, y: kl_div.LigerKLDivLossFunction.apply(x, y, "batchmean", True), p, q, fixed=(1,))


@workload
def total_variation():
    p, q = (rand(1024, WORDS, dtype=f32).softmax(-1) for _ in "pq")
    return both_ways(tvd.LigerTVDLossFunction.apply, p, q, fixed=(1,))


@workload
def embedding_both():
    places = whole(WORDS, TOKENS)
    return both_ways(lambda t: embedding.LigerEmbeddingFunction.apply(t, places), rand(WORDS, HIDDEN, dtype=f32))
