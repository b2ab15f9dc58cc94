"""GPTQ-triton (github.com/fpgaminer/GPTQ-triton): products with weights of 4 bits, under an autotuner of its own."""

import torch
from harness import DEVICE, case, close, draw, main, package, stand_in, start
from torch.nn import functional as F

start("src")
package("gptq_triton", "src/gptq_triton")
stand_in("transformers.models.llama.modeling_llama", LlamaMLP=torch.nn.Module)

from gptq_triton.fused_mlp import triton_llama_mlp_4  # noqa: E402
from gptq_triton.quant_linear import triton_matmul4  # noqa: E402


def _packed(numbers, dim):
    """Eight numbers of 4 bits in a word, along `dim`."""
    parts = numbers.unflatten(dim, (-1, 8)).movedim(dim + 1, -1)
    words = (parts.long() << 4 * torch.arange(8)).sum(-1)
    return ((words + 2**31) % 2**32 - 2**31).int().to(DEVICE)


def _weights(k, n, group):
    """(words, scales, packed zeros, and what they stand for)"""
    numbers, zeros = torch.randint(0, 16, (k, n)), torch.randint(0, 15, (k // group, n))
    scales = (torch.rand(k // group, n) * 0.02 + 0.01).half()
    rows = torch.arange(k) // group
    wide = (numbers - zeros[rows] - 1) * scales[rows].double()
    return _packed(numbers, 0), scales.to(DEVICE), _packed(zeros, 1), wide.to(DEVICE)


@case
def products():
    for m, group in ((1, 256), (37, 256), (37, 128)):
        x, bias = draw(2, m, 256, dtype=torch.float16), draw(512, dtype=torch.float16)
        words, scales, zeros, wide = _weights(256, 512, group)
        got = triton_matmul4(group, x, words, scales, zeros, bias)
        close(got, x.double() @ wide + bias.double(), 1e-2)


@case
def fused_gates():
    x = draw(19, 256, dtype=torch.float16)
    gate, up = _weights(256, 256, 256), _weights(256, 256, 256)
    got = triton_llama_mlp_4(256, x, *gate[:3], *up[:3])
    close(got, F.silu(x.double() @ gate[3]) * (x.double() @ up[3]), 1e-2)


main()
