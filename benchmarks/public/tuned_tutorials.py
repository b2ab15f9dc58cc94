"""Triton's tutorials 02, 03, 05, 06, 08 and 09 as published: their own functions, autotuned over all that they list.

Each workload calls what the tutorial's own benchmark calls; its peer is the operator of torch that does the same.
"""

import torch
from torch.nn import functional as F
from tutorials_reader import tutorial
from workloads import both_ways, path, rand, workload

FOLDER = path("python/tutorials")
f16, f32, fp8 = torch.float16, torch.float32, torch.float8_e4m3fn
_read = {}


def _module(number):
    if number not in _read:
        _read[number] = tutorial(FOLDER, number, True)
    return _read[number]


def _softmax(columns):
    x = rand(4096, columns, dtype=f32)
    return lambda: _module("02").softmax(x), lambda: torch.softmax(x, 1)


@workload
def t02_softmax_1024():
    return _softmax(1024)


@workload
def t02_softmax_8192():
    return _softmax(8192)


def _matmul(n):
    a, b = rand(n, n, dtype=f16), rand(n, n, dtype=f16)
    return lambda: _module("03").matmul(a, b), lambda: a @ b


@workload
def t03_matmul_4096():
    return _matmul(4096)


@workload
def t03_matmul_2048():
    return _matmul(2048)


@workload
def t03_matmul_8192():
    return _matmul(8192)


def _layer_norm(columns, backward):
    x, w, b = rand(4096, columns, dtype=f16), rand(columns, dtype=f16), rand(columns, dtype=f16)
    apply = _module("05").LayerNorm.apply
    if backward:
        run = both_ways(lambda x, w, b: apply(x, (columns,), w, b, 1e-5), x, w, b)
        return run, both_ways(lambda x, w, b: F.layer_norm(x, (columns,), w, b), x, w, b)
    return lambda: apply(x, (columns,), w, b, 1e-5), lambda: F.layer_norm(x, (columns,), w, b)


@workload
def t05_layer_norm_forward_4096():
    return _layer_norm(4096, False)


@workload
def t05_layer_norm_forward_8192():
    return _layer_norm(8192, False)


@workload
def t05_layer_norm_both_4096():
    return _layer_norm(4096, True)


def _attention(size, causal, specialized=False, time=4096, batch=4, heads=32):
    q, k, v = (rand(batch, heads, time, size, dtype=f16) for _ in range(3))
    return (
        lambda: _module("06").attention(q, k, v, causal, size**-0.5, specialized),
        lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
    )


@workload
def t06_attention_d128():
    return _attention(128, False)


@workload
def t06_attention_d128_specialized():
    return _attention(128, False, True)


@workload
def t06_attention_d128_causal():
    return _attention(128, True)


@workload
def t06_attention_d64():
    return _attention(64, False)


@workload
def t06_attention_d64_causal():
    return _attention(64, True)


@workload
def t06_attention_d128_1k_keys():
    return _attention(128, False, time=1024, batch=16)


@workload
def t06_attention_d128_16k_keys():
    return _attention(128, False, time=16384, batch=1)


def _backward(size, causal):
    leaves = [rand(4, 32, 4096, size, dtype=f16).requires_grad_() for _ in range(3)]
    upstream = rand(4, 32, 4096, size, dtype=f16)
    kept = {}

    def gradients(of, forward):
        if of not in kept:
            kept[of] = forward()
        return torch.autograd.grad(kept[of], leaves, upstream, retain_graph=True)

    scale = size**-0.5
    return (
        lambda: gradients("kernel", lambda: _module("06").attention(*leaves, causal, scale, False)),
        lambda: gradients("torch", lambda: F.scaled_dot_product_attention(*leaves, is_causal=causal)),
    )


@workload
def t06_attention_backward_d128():
    return _backward(128, False)


@workload
def t06_attention_backward_d128_causal():
    return _backward(128, True)


@workload
def t06_attention_backward_d64():
    return _backward(64, False)


def _groups():
    a = [rand(n, n, dtype=f16) for n in (1024, 512, 256, 2048, 4096, 4096)]
    b = [rand(n, n, dtype=f16) for n in (1024, 512, 256, 2048, 4096, 4096)]
    return a, b


@workload
def t08_grouped():
    a, b = _groups()
    return lambda: _module("08").group_gemm_fn(a, b), lambda: [x @ y for x, y in zip(a, b)]


@workload
def t08_grouped_descriptors():
    a, b = _groups()
    b = [x.T.contiguous() for x in b]
    return lambda: _module("08").group_gemm_tma_fn(a, b), lambda: [x @ y.T for x, y in zip(a, b)]


def _persistent(function, dtype, *more, turned=False):
    a, b = rand(8192, 8192, dtype=f32, scale=0.25).to(dtype), rand(8192, 8192, dtype=f32).to(dtype)
    b = b.T if turned else b
    peer = (lambda: a @ (b if turned else b.T)) if dtype is f16 else None
    return lambda: getattr(_module("09"), function)(a, b, *more), peer


@workload
def t09_matmul():
    return _persistent("matmul", f16, turned=True)


@workload
def t09_matmul_tma():
    return _persistent("matmul_tma", f16, False)


@workload
def t09_matmul_persistent():
    return _persistent("matmul_persistent", f16, turned=True)


@workload
def t09_matmul_tma_persistent():
    return _persistent("matmul_tma_persistent", f16, False)


@workload
def t09_matmul_descriptor_persistent():
    return _persistent("matmul_descriptor_persistent", f16, False)


@workload
def t09_matmul_descriptor_persistent_specialized():
    return _persistent("matmul_descriptor_persistent", f16, True)


@workload
def t09_matmul_fp8():
    return _persistent("matmul", fp8, turned=True)


@workload
def t09_matmul_tma_fp8():
    return _persistent("matmul_tma", fp8, False)


@workload
def t09_matmul_tma_persistent_fp8():
    return _persistent("matmul_tma_persistent", fp8, False)


@workload
def t09_matmul_descriptor_persistent_fp8():
    return _persistent("matmul_descriptor_persistent", fp8, False)
