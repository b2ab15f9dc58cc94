"""Cut cross entropy (github.com/apple/ml-cross-entropy): the loss of a vocabulary whose logits are never stored."""

import os

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # it compiles a few lines of torch besides

import torch  # noqa: E402
from harness import DEVICE, case, draw, main, same_function, start  # noqa: E402
from torch.nn import functional as F  # noqa: E402

start("")

if DEVICE == "cpu":  # what its newer releases ask of a GPU
    torch.cuda.is_bf16_supported = lambda *args, **kwargs: True

from cut_cross_entropy import linear_cross_entropy  # noqa: E402


def _targets(rows, words):
    targets = torch.randint(0, words, (rows,))
    targets[::7] = -100
    return targets.to(DEVICE)


@case
def losses():
    """Gradients are summed under locks, which programs take by spinning."""
    for reduction in ("mean", "sum", "none"):
        targets = _targets(150, 500)
        same_function(
            lambda e, c: linear_cross_entropy(e, c, targets, reduction=reduction, filter_eps=None),
            lambda e, c: F.cross_entropy(e @ c.T, targets, reduction=reduction),
            draw(150, 64, dtype=torch.float16),
            draw(500, 64, dtype=torch.float16) / 8,
            tolerance=1e-2,
        )


@case
def softened_losses():
    targets = _targets(150, 500)
    same_function(
        lambda e, c: linear_cross_entropy(e, c, targets, softcap=20.0, filter_eps=None),
        lambda e, c: F.cross_entropy(20 * torch.tanh(e @ c.T / 20), targets),
        draw(150, 64, dtype=torch.bfloat16),
        draw(500, 64, dtype=torch.bfloat16) / 8,
    )


@case
def shifted_losses():
    """Each position's target is the next; what is small is left out of the gradients."""
    targets = _targets(120, 300).view(4, 30)
    same_function(
        lambda e, c: linear_cross_entropy(e, c, targets, shift=True),
        lambda e, c: F.cross_entropy((e[:, :-1] @ c.T).flatten(0, 1), targets[:, 1:].flatten()),
        draw(4, 30, 128, dtype=torch.float16),
        draw(300, 128, dtype=torch.float16) / 8,
        tolerance=2e-2,
    )


main()
