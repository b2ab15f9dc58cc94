"""attorch (github.com/BobMcDear/attorch): layers of torch.nn."""

import sys
from copy import deepcopy

import torch
from harness import DEVICE, PRODUCTS, case, close, draw, main, same_function, start
from torch import nn

sys.path.pop(0)  # this file has the package's name
start("")

import attorch  # noqa: E402


def _same_layer(theirs: nn.Module, reference: nn.Module, *inputs: torch.Tensor, turned: bool = False) -> None:
    """Two layers with the same parameters (weights transposed where `turned`) are one function of inputs and them."""
    theirs, reference = theirs.to(DEVICE), deepcopy(reference).to(DEVICE).double()
    state = {name: value.float() for name, value in reference.state_dict().items()}
    theirs.load_state_dict({n: v.T.contiguous() if turned and v.dim() == 2 else v for n, v in state.items()})
    same_function(theirs, reference, *inputs, tolerance=PRODUCTS)
    for (name, ours), wanted in zip(theirs.named_parameters(), reference.parameters()):
        wide = wanted.grad.T if turned and wanted.dim() == 2 else wanted.grad
        close(ours.grad, wide, max(1e-4, PRODUCTS), f"gradient by {name}")


@case
def activations():
    plain = ("Sigmoid", "LogSigmoid", "Tanh", "ReLU", "GELU", "SiLU", "ReLU6", "Hardsigmoid", "Hardswish", "SELU")
    for name in (*plain, "Mish", "Softplus", "Softsign", "Tanhshrink", "LeakyReLU", "ELU", "CELU", "Hardshrink"):
        same_function(getattr(attorch, name)(), getattr(nn, name)(), 3 * draw(7, 331))


@case
def softmaxes():
    for name in ("Softmax", "LogSoftmax", "Softmin"):
        same_function(getattr(attorch, name)(-1), getattr(nn, name)(-1), draw(9, 210))


@case
def norms():
    _same_layer(attorch.LayerNorm(130, device=DEVICE), nn.LayerNorm(130), draw(20, 130))
    same_function(
        attorch.RMSNorm(130, device=DEVICE),
        nn.RMSNorm(130, eps=None).double().to(DEVICE),
        draw(20, 130),
        tolerance=1e-4,
    )


@case
def linear():
    _same_layer(attorch.Linear(70, 90, device=DEVICE), nn.Linear(70, 90), draw(33, 70), turned=True)
    gelu = nn.Sequential(nn.Linear(70, 90), nn.GELU())
    layer = attorch.Linear(70, 90, act_func="gelu", device=DEVICE)
    layer.load_state_dict({"weight": gelu[0].weight.T.contiguous(), "bias": gelu[0].bias})
    same_function(layer, gelu.to(DEVICE).double(), draw(33, 70), tolerance=PRODUCTS)


@case
def convolution():
    arguments = {"stride": 2, "padding": 1}
    _same_layer(
        attorch.Conv2d(8, 12, 3, device=DEVICE, **arguments), nn.Conv2d(8, 12, 3, **arguments), draw(3, 8, 15, 17)
    )


@case
def losses():
    target = torch.randint(0, 50, (31,)).to(DEVICE)
    for name in ("CrossEntropyLoss", "NLLLoss"):
        ours, reference = getattr(attorch, name)(), getattr(nn, name)()
        same_function(lambda x: ours(x, target), lambda x: reference(x, target), draw(31, 50).log_softmax(-1))
    for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss"):
        same_function(getattr(attorch, name)(), getattr(nn, name)(), draw(31, 50), draw(31, 50), fixed=[1])


@case
def gating():
    same_function(attorch.GLU(), nn.GLU(), draw(9, 130))


@case
def dropout():
    layer = attorch.Dropout(0.3)
    x = draw(200, 300).abs() + 1
    x.requires_grad_()
    made = layer(x * 1)
    kept = made != 0
    assert 0.68 < kept.float().mean() < 0.72
    close(made[kept], x[kept] / 0.7)
    made.backward(torch.ones_like(made))
    close(x.grad, kept / 0.7)


main()
