"""flash-attention (github.com/Dao-AILab/flash-attention): its Triton kernels."""

import torch
from harness import DEVICE, case, draw, main, package, same_function, start
from torch.nn import functional as F

start("")
package("flash_attn", "flash_attn")

from flash_attn.ops.triton.cross_entropy import cross_entropy_loss  # noqa: E402
from flash_attn.ops.triton.layer_norm import layer_norm_fn, rms_norm_fn  # noqa: E402
from flash_attn.ops.triton.rotary import apply_rotary  # noqa: E402


@case
def rotary():
    cos, sin = draw(37, 16), draw(37, 16)

    def turned(x):
        a, b = x[..., :16], x[..., 16:32]
        c, s = cos.double()[:, None], sin.double()[:, None]
        return torch.cat((a * c - b * s, a * s + b * c, x[..., 32:]), -1)

    same_function(lambda x: apply_rotary(x, cos, sin), turned, draw(2, 37, 3, 48), gradient=False)


@case
def cross_entropy():
    target = torch.randint(0, 700, (23,)).to(DEVICE)
    same_function(
        lambda x: cross_entropy_loss(x, target, label_smoothing=0.1)[0],
        lambda x: F.cross_entropy(x, target, label_smoothing=0.1, reduction="none"),
        draw(23, 700),
    )


@case
def layer_norms():
    same_function(
        lambda x, w, b: layer_norm_fn(x, w, b, eps=1e-5),
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5),
        draw(3, 9, 200),
        draw(200),
        draw(200),
    )
    same_function(
        lambda x, w, r: rms_norm_fn(x, w, None, residual=r, eps=1e-5),
        lambda x, w, r: F.rms_norm(x + r, x.shape[-1:], w, 1e-5),
        draw(3, 9, 200),
        draw(200),
        draw(3, 9, 200),
    )


main()
