"""Kernl (github.com/ELS-RD/kernl): kernels of 2023, for Triton 2.0, that speed transformers up."""

import os
import sys

os.environ["TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"] = "1"  # Triton 2.0 let kernels read any number of their module

import torch  # noqa: E402
import triton.language as tl  # noqa: E402
from harness import DEVICE, case, close, draw, main, stand_in, start  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from triton.language.extra import libdevice  # noqa: E402

sys.path.pop(0)  # this file has the package's name
start("src")
tl.libdevice = libdevice  # where these functions were then
stand_in("triton.ops")
stand_in(
    "triton.ops.matmul_perf_model",
    early_config_prune=lambda configs, named: configs[9:10] + configs[-3:],
    estimate_matmul_time=lambda **_: 1.0,
)

from kernl.implementations.attention import attention_forward  # noqa: E402
from kernl.implementations.attention_skinny import skinny_attention_forward  # noqa: E402
from kernl.implementations.attention_vec_mat import attention_vec_mat_forward  # noqa: E402
from kernl.implementations.batched_matmul import batched_matmul  # noqa: E402
from kernl.implementations.layer_norm import layer_norm  # noqa: E402
from kernl.implementations.linear_layer import linear_layer  # noqa: E402


@case
def norms():
    for columns in (768, 300):
        x, w, b = (draw(*shape, dtype=torch.float16) for shape in ((70, columns), (columns,), (columns,)))
        wide = [t.double() for t in (x, w, b)]
        close(layer_norm(x, w, b, 1e-5), F.layer_norm(wide[0], [columns], *wide[1:], 1.6e-5))
        close(layer_norm(x, w, None, 1e-5, use_rms_norm=True), F.rms_norm(wide[0], [columns], wide[1], 1.6e-5))


@case
def linear_layers():
    functions = {
        "": lambda x: x,
        "relu": F.relu,
        "gelu": F.gelu,
        "fast_gelu": lambda x: F.gelu(x, approximate="tanh"),
        "tanh": torch.tanh,
    }
    x, w, b = (draw(*shape, dtype=torch.float16) for shape in ((2, 40, 128), (96, 128), (96,)))
    w = w / 8
    for name, function in functions.items():
        close(linear_layer(x, w, b, name), function(F.linear(x.double(), w.double(), b.double())), 1e-2)


@case
def batched_products():
    a, b = draw(3, 100, 64, dtype=torch.float16), draw(3, 64, 130, dtype=torch.float16)
    close(batched_matmul(a, b), a.double() @ b.double(), 1e-2)


def _attention(function, rows, columns, **keywords):
    q, k, v = (draw(2, 3, size, 64, dtype=torch.float16) for size in (rows, columns, columns))
    out = torch.full_like(q, float("nan"))
    function(q, k, v, out, 0.125, **keywords)
    scores = q.double() @ k.double().transpose(-1, -2) * 0.125
    if keywords:
        later = torch.ones(rows, columns, dtype=torch.bool, device=DEVICE).triu(1)
        scores = scores.masked_fill(later, -float("inf"))
    close(out, scores.softmax(-1) @ v.double(), 1e-2)


@case
def attention():
    for rows, columns in ((128, 128), (70, 70)):
        _attention(attention_forward, rows, columns)
        _attention(attention_forward, rows, columns, is_causal=True)


@case
def attention_of_few_rows():
    """They take columns behind the last for scores of zero: these are to be a multiple of their blocks."""
    for rows in (16, 5):
        _attention(skinny_attention_forward, rows, 256)
    _attention(attention_vec_mat_forward, 1, 256)


main()
