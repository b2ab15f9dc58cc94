"""attorch (github.com/BobMcDear/attorch): layers of torch.nn with their gradients."""

import torch
from torch.nn import functional as F
from workloads import DEVICE, both_ways, path, rand, whole, workload

path()
import attorch  # noqa: E402

f16, f32 = torch.float16, torch.float32


def _activation(name):
    layer = getattr(attorch, name)()
    return both_ways(layer, rand(8192, 4096, dtype=f16))


@workload
def conv2d():
    """A 3 x 3 convolution in the middle of a ResNet."""
    layer = attorch.Conv2d(128, 128, 3, padding=1, bias=False, device=DEVICE).to(DEVICE)
    x, weight = rand(32, 128, 28, 28, dtype=f16), rand(128, 128, 3, 3, dtype=f16, scale=0.05)
    layer.weight = torch.nn.Parameter(weight, requires_grad=False)
    return lambda: layer(x)


@workload
def conv2d_float32():
    layer = attorch.Conv2d(64, 64, 3, padding=1, bias=False, device=DEVICE).to(DEVICE)
    layer.weight = torch.nn.Parameter(rand(64, 64, 3, 3, dtype=f32, scale=0.05), requires_grad=False)
    x = rand(16, 64, 56, 56, dtype=f32)
    return lambda: layer(x)


@workload
def gelu():
    return _activation("GELU")


@workload
def softmax():
    return both_ways(attorch.Softmax(-1), rand(8192, 4096, dtype=f32))


@workload
def layer_norm():
    return both_ways(attorch.LayerNorm(4096, device=DEVICE).to(DEVICE), rand(8192, 4096, dtype=f32))


@workload
def rms_norm():
    return both_ways(attorch.RMSNorm(4096, device=DEVICE).to(DEVICE), rand(8192, 4096, dtype=f32))


@workload
def batch_norm():
    return both_ways(attorch.BatchNorm2d(256, device=DEVICE).to(DEVICE), rand(64, 256, 28, 28, dtype=f32))


@workload
def linear():
    layer = attorch.Linear(4096, 4096, act_func="gelu", bias=True, device=DEVICE).to(DEVICE)
    layer.weight = torch.nn.Parameter(rand(4096, 4096, dtype=f16, scale=0.02))
    layer.bias = torch.nn.Parameter(rand(4096, dtype=f16))
    return both_ways(layer, rand(4096, 4096, dtype=f16))


@workload
def cross_entropy():
    targets = whole(1000, 16384)
    loss = attorch.CrossEntropyLoss()
    return both_ways(lambda x: loss(x, targets), rand(16384, 1000, dtype=f32))


@workload
def negative_log_likelihood():
    targets = whole(4096, 8192)
    loss = attorch.NLLLoss()
    return both_ways(lambda x: loss(x, targets), F.log_softmax(rand(8192, 4096, dtype=f32), -1))


@workload
def mean_squared_error():
    return both_ways(attorch.MSELoss(), rand(4096, 4096, dtype=f32), rand(4096, 4096, dtype=f32), fixed=(1,))


@workload
def gated_linear_unit():
    return both_ways(attorch.GLU(), rand(8192, 8192, dtype=f16))


@workload
def attention():
    from attorch.multi_head_attention_kernels import _attention

    q, k, v = (rand(4, 16, 1024, 64, dtype=f16) for _ in range(3))
    return both_ways(lambda *x: _attention.apply(*x, True, 0.125, False), q, k, v)
