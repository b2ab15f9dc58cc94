"""Liger-Kernel (github.com/linkedin/Liger-Kernel): its functions for training language models."""

import torch
from harness import DEVICE, case, close, draw, main, same_function, start
from torch.nn import functional as F

start("src")

from liger_kernel.ops import (  # noqa: E402  # noqa: E402
    cross_entropy,
    dyt,
    fused_add_rms_norm,
    fused_linear_cross_entropy,
    group_norm,
    jsd,
    kl_div,
    layer_norm,
    poly_norm,
    relu_squared,
    rms_norm,
    rope,
)
from liger_kernel.ops import geglu as geglu_ops  # noqa: E402
from liger_kernel.ops import softmax as softmax_ops  # noqa: E402
from liger_kernel.ops import sparsemax as sparsemax_ops  # noqa: E402
from liger_kernel.ops import swiglu as swiglu_ops  # noqa: E402
from liger_kernel.ops import tvd as tvd_ops  # noqa: E402
from liger_kernel.ops.experimental import embedding as embedding_ops  # noqa: E402


@case
def geglu():
    for dtype in (torch.float32, torch.bfloat16):
        a, b = draw(2, 9, 300, dtype=dtype), draw(2, 9, 300, dtype=dtype)
        same_function(geglu_ops.LigerGELUMulFunction.apply, lambda x, y: F.gelu(x, approximate="tanh") * y, a, b)


@case
def swiglu():
    same_function(swiglu_ops.LigerSiLUMulFunction.apply, lambda x, y: F.silu(x) * y, draw(3, 7, 1000), draw(3, 7, 1000))


def _rms(x, w, offset=0.0, eps=1e-6):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * (w + offset)


@case
def rms_norms():
    for mode, offset, rows in (("llama", 0.0, None), ("gemma", 1.0, True), ("none", 0.0, None)):
        same_function(
            lambda x, w: rms_norm.LigerRMSNormFunction.apply(x, w, 1e-6, offset, mode, False, rows),
            lambda x, w: _rms(x, w, offset),
            draw(5, 6, 777),
            draw(777),
        )
    same_function(
        lambda x, w: rms_norm.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", True, None),
        _rms,
        draw(33000, 48),
        draw(48),
        tolerance=3e-4,
    )


@case
def layer_norms():
    same_function(
        lambda x, w, b: layer_norm.LigerLayerNormFunction.apply(x, w, b, 1e-5),
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5),
        draw(4, 9, 641),
        draw(641),
        draw(641),
    )


@case
def softmax():
    for columns in (300, 40000):
        same_function(softmax_ops.LigerSoftmaxFunction.apply, lambda x: x.softmax(-1), draw(3, 4, columns))


def _sparsemax(x):
    ordered = x.sort(-1, descending=True).values
    sums = ordered.cumsum(-1) - 1
    place = torch.arange(1, x.shape[-1] + 1, device=x.device)
    count = (ordered * place > sums).sum(-1, keepdim=True)
    return (x - sums.gather(-1, count - 1) / count).clamp(min=0)


@case
def sparsemax():
    same_function(lambda x: sparsemax_ops.LigerSparsemaxFunction.apply(x, -1), _sparsemax, draw(6, 130))


@case
def cross_entropies():
    target = torch.randint(0, 1030, (37,)).to(draw(1).device)
    target[::5] = -100
    apply = cross_entropy.LigerCrossEntropyFunction.apply
    logits = draw(37, 1030)
    for reduction in ("mean", "sum", "none"):
        same_function(
            lambda x: apply(x, target, None, -100, 0.0, 0.1, reduction)[0],
            lambda x: F.cross_entropy(x, target, label_smoothing=0.1, reduction=reduction),
            logits,
        ) if reduction != "none" else close(
            apply(logits.clone(), target, None, -100, 0.0, 0.1, "none")[0],
            F.cross_entropy(logits.double(), target, label_smoothing=0.1, reduction="none"),
        )
    weight = draw(1030, low=0.5)
    same_function(
        lambda x: apply(x, target, weight, -100, 0.0, 0.0, "mean", 30.0)[0],
        lambda x: F.cross_entropy(30 * torch.tanh(x / 30), target, weight.double()),
        20 * logits,
    )
    found = apply(logits.clone(), target, None, -100, 0.0, 0.0, "mean", None, False, True, True)
    kept = target != -100
    close(found[3][kept], logits.argmax(-1)[kept])


@case
def fused_linear_cross_entropies():
    target = torch.randint(0, 500, (24,)).to(draw(1).device)
    same_function(
        lambda x, w, b: fused_linear_cross_entropy.LigerFusedLinearCrossEntropyFunction.apply(x, w, target, b)[0],
        lambda x, w, b: F.cross_entropy(x @ w.T + b, target),
        draw(24, 64),
        draw(500, 64),
        draw(500),
    )


@case
def rotary():
    angles = torch.outer(torch.arange(33.0), 10000 ** (-torch.arange(0, 32.0) / 32))
    full = torch.cat((angles, angles), -1)[None].to(draw(1).device)
    cos, sin = full.cos(), full.sin()

    def turned(x):
        half = x.shape[-1] // 2
        return x * cos.double()[:, None] + torch.cat((-x[..., half:], x[..., :half]), -1) * sin.double()[:, None]

    same_function(
        lambda q, k: rope.LigerRopeFunction.apply(q, k, cos, sin),
        lambda q, k: (turned(q), turned(k)),
        draw(2, 6, 33, 64),
        draw(2, 3, 33, 64),
    )


@case
def group_norms():
    same_function(
        lambda x, w, b: group_norm.LigerGroupNormFunction.apply(x, w, b, 12, 4, 1e-5),
        lambda x, w, b: F.group_norm(x, 4, w, b, 1e-5),
        draw(3, 12, 50),
        draw(12),
        draw(12),
    )


@case
def divergences():
    p, q = draw(9, 517).log_softmax(-1), draw(9, 517).log_softmax(-1)

    def generalized(x, y, beta=0.3):
        mean = torch.log(beta * y.exp() + (1 - beta) * x.exp())
        near = F.kl_div(mean, y, reduction="sum", log_target=True)
        return (beta * near + (1 - beta) * F.kl_div(mean, x, reduction="sum", log_target=True)) / x.shape[0]

    same_function(lambda x, y: jsd.LigerJSDFunction.apply(x, y, None, 0.3), generalized, p, q, fixed=[1])
    for reduction in ("batchmean", "none"):
        same_function(
            lambda x, y: kl_div.LigerKLDivLossFunction.apply(x, y, reduction, True),
            lambda x, y: F.kl_div(x, y, reduction=reduction, log_target=True),
            p,
            q,
            fixed=[1],
            gradient=reduction != "none",
        )


@case
def tvd():
    same_function(
        tvd_ops.LigerTVDLossFunction.apply,
        lambda p, q: (p - q).abs().sum() / 2 / p.shape[0],
        draw(9, 517).softmax(-1),
        draw(9, 517).softmax(-1),
        fixed=[1],
    )


@case
def dynamic_tanh():
    same_function(
        dyt.LigerDyTFunction.apply,
        lambda x, a, g, b: g * torch.tanh(a * x) + b,
        draw(3, 8, 600),
        draw(1),
        draw(600),
        draw(600),
        gradient=DEVICE == "cuda",  # backward asks a device for its size
    )


@case
def fused_add_rms_norms():
    same_function(
        lambda x, r, w: fused_add_rms_norm.LigerFusedAddRMSNormFunction.apply(x, r, w, 1e-6),
        lambda x, r, w: (_rms(x + r, w), x + r),
        draw(3, 5, 333),
        draw(3, 5, 333),
        draw(333),
    )


@case
def relu_squares():
    same_function(relu_squared.LigerReLUSquaredFunction.apply, lambda x: F.relu(x).square(), draw(5, 70))


def _polynomial(x, w, b, eps=1e-6):
    parts = [u * torch.rsqrt(u.square().mean(-1, keepdim=True) + eps) for u in (x**3, x**2, x)]
    return sum(w[i] * part for i, part in enumerate(parts)) + b


@case
def poly_norms():
    same_function(
        lambda x, w, b: poly_norm.LigerPolyNormFunction.apply(x, w, b, 1e-6, False),
        _polynomial,
        draw(6, 210),
        draw(3),
        draw(1)[0],
    )


@case
def embeddings():
    places = torch.randint(0, 40, (5, 6)).to(draw(1).device)
    same_function(
        lambda t: embedding_ops.LigerEmbeddingFunction.apply(t, places), lambda t: F.embedding(places, t), draw(40, 96)
    )


main()
