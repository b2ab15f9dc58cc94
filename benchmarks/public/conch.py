"""Conch (github.com/stackav-oss/conch): kernels of serving language models, and for vision."""

import torch
from workloads import path, rand, whole, workload

path()
from conch.ops.activation.silu_and_mul import silu_and_mul  # noqa: E402
from conch.ops.attention.paged_attention import paged_attention  # noqa: E402
from conch.ops.attention.varlen_attention import varlen_attention  # noqa: E402
from conch.ops.embedding.rotary_embedding import rotary_embedding  # noqa: E402
from conch.ops.normalization.rms_norm import fused_add_rms_norm  # noqa: E402
from conch.ops.normalization.rms_norm import rms_norm as conch_rms_norm  # noqa: E402
from conch.ops.quantization.fp8 import scaled_fp8_quant  # noqa: E402
from conch.ops.quantization.gemm import mixed_precision_gemm, scaled_gemm  # noqa: E402
from conch.ops.quantization.int8 import scaled_int8_quant  # noqa: E402

f16 = torch.float16


@workload
def gates():
    x = rand(4096, 22016, dtype=f16)
    return lambda: silu_and_mul(x)


@workload
def norms():
    x, w, residual = rand(8192, 4096, dtype=f16), rand(4096, dtype=f16), rand(8192, 4096, dtype=f16)
    return lambda: [conch_rms_norm(x, w, 1e-6), *fused_add_rms_norm(x.clone(), residual.clone(), w, 1e-6)]


@workload
def rotary():
    q, k, table = rand(4096, 32 * 128), rand(4096, 8 * 128), rand(4096, 128)
    at = whole(4096, 4096)
    return lambda: rotary_embedding(at, q.clone(), k.clone(), 128, table)


def _pages(rows, each):
    keys, values = (rand(rows * each, 16, 8, 128, dtype=f16) for _ in "kv")
    return keys, values, torch.randperm(rows * each).view(rows, each).int().to(keys.device)


@workload
def attention_over_pages():
    keys, values, pages = _pages(32, 128)
    lengths = torch.full((32,), 2048, dtype=torch.int32, device=keys.device)
    q = rand(32, 32, 128, dtype=f16)
    return lambda: paged_attention(q, keys, values, pages, lengths, scale=0.088)


@workload
def attention_of_sequences():
    keys, values, pages = _pages(4, 64)
    lengths = torch.full((4,), 1024, dtype=torch.int32, device=keys.device)
    starts = torch.arange(0, 4097, 1024, dtype=torch.int32).to(keys.device)
    q = rand(4096, 32, 128, dtype=f16)
    return lambda: varlen_attention(q, keys, values, starts, 1024, lengths, 1024, pages, causal=True, scale=0.088)


@workload
def matmul_int8():
    a, b = (whole(100, *shape, dtype=torch.int8) for shape in ((4096, 4096), (4096, 4096)))
    rows, columns = rand(4096, 1, dtype=torch.float32).abs(), rand(4096, 1, dtype=torch.float32).abs()
    return lambda: scaled_gemm(a, b, rows, columns, torch.bfloat16)


@workload
def matmul_int4():
    x, words, scales = (
        rand(64, 4096, dtype=f16),
        whole(1 << 31, 512, 4096, dtype=torch.int32),
        rand(32, 4096, dtype=f16),
    )
    return lambda: mixed_precision_gemm(x, words, scales, None, 4, 8, 128)


@workload
def quantization():
    x, scale = rand(8192, 4096, dtype=f16), torch.tensor([0.02], device=rand(1).device)
    return lambda: [scaled_int8_quant(x, scale)[0], scaled_fp8_quant(x, scale)[0].view(torch.uint8)]
