"""Conch (github.com/stackav-oss/conch): kernels for serving language models, with vLLM's interfaces, and for vision."""

import sys

import torch
from harness import DEVICE, case, close, draw, main, start
from torch.nn import functional as F

sys.path.pop(0)  # this file has the package's name
start("")

from conch.ops.activation.gelu_tanh_and_mul import gelu_tanh_and_mul  # noqa: E402
from conch.ops.activation.silu_and_mul import silu_and_mul  # noqa: E402
from conch.ops.attention.paged_attention import paged_attention  # noqa: E402
from conch.ops.attention.varlen_attention import varlen_attention  # noqa: E402
from conch.ops.embedding.rotary_embedding import rotary_embedding  # noqa: E402
from conch.ops.normalization.gemma_rms_norm import gemma_rms_norm  # noqa: E402
from conch.ops.normalization.rms_norm import fused_add_rms_norm, rms_norm  # noqa: E402
from conch.ops.quantization.bitsandbytes.functional import dequantize_4bit, quantize_4bit  # noqa: E402
from conch.ops.quantization.fp8 import scaled_fp8_quant  # noqa: E402
from conch.ops.quantization.gemm import mixed_precision_gemm, scaled_gemm  # noqa: E402
from conch.ops.quantization.int8 import scaled_int8_quant  # noqa: E402
from conch.ops.vision.nms import nms  # noqa: E402


@case
def gates_and_norms():
    x = draw(30, 600, dtype=torch.float16)
    gate, up = x.double().chunk(2, -1)
    close(silu_and_mul(x), F.silu(gate) * up)
    close(gelu_tanh_and_mul(x), F.gelu(gate, approximate="tanh") * up)
    w, residual = draw(600, dtype=torch.float16), draw(30, 600, dtype=torch.float16)
    close(rms_norm(x, w, 1e-6), F.rms_norm(x.double(), (600,), w.double(), 1e-6))
    close(gemma_rms_norm(x.clone(), w, 1e-6), F.rms_norm(x.double(), (600,), w.double() + 1, 1e-6))
    total = x.double() + residual.double()
    got, left = fused_add_rms_norm(x.clone(), residual.clone(), w, 1e-6)
    close(left, total)
    close(got, F.rms_norm(total, (600,), w.double(), 1e-6), 1e-2)


@case
def rotary():
    q, k, table = draw(20, 4 * 64), draw(20, 2 * 64), draw(50, 64)
    at = torch.randint(0, 50, (20,)).to(DEVICE)
    cos, sin = table[at].double().chunk(2, -1)
    want = []
    for x in (q, k):
        a, b = x.double().view(20, -1, 64).chunk(2, -1)
        c, s = cos[:, None], sin[:, None]
        want.append(torch.cat((a * c - b * s, b * c + a * s), -1).flatten(1))
    got = rotary_embedding(at, q, k, 64, table)
    close(got[0], want[0])
    close(got[1], want[1])


def _paged(lengths, size=16):
    """Caches of keys and values, the pages of each row, and its keys and values behind each other."""
    pages = torch.randperm(64)[: len(lengths) * 12].view(len(lengths), 12).int().to(DEVICE)
    keys, values = (draw(64, size, 2, 64, dtype=torch.float16) for _ in "kv")
    rows = []
    for row, length in enumerate(lengths):
        flat = (x[pages[row].long()].flatten(0, 1)[:length].transpose(0, 1).double() for x in (keys, values))
        rows.append([x.repeat_interleave(2, 0) for x in flat])
    return keys, values, pages, rows


@case
def attention_over_pages():
    lengths = [1, 77, 190]
    keys, values, pages, rows = _paged(lengths)
    seen = torch.tensor(lengths, dtype=torch.int32, device=DEVICE)
    q = draw(3, 4, 64, dtype=torch.float16)
    got = paged_attention(q, keys, values, pages, seen, scale=0.125)
    for row in range(3):
        close(got[row], F.scaled_dot_product_attention(q[row].double()[:, None], *rows[row])[:, 0], 1e-2)
    starts = torch.tensor([0, 1, 78, 268], dtype=torch.int32, device=DEVICE)
    q = draw(268, 4, 64, dtype=torch.float16)
    got = varlen_attention(q, keys, values, starts, 190, seen, 190, pages, causal=True, scale=0.125)
    for row, (begin, end) in enumerate(zip(starts.tolist(), starts.tolist()[1:])):
        one = q[begin:end].double().transpose(0, 1)
        close(got[begin:end], F.scaled_dot_product_attention(one, *rows[row], is_causal=True).transpose(0, 1), 1e-2)


@case
def quantized_products():
    a, b = (torch.randint(-50, 50, shape, dtype=torch.int8).to(DEVICE) for shape in ((70, 128), (128, 96)))
    rows, columns = draw(70, 1, low=0.1), draw(96, 1, low=0.1)
    want = (a.double() @ b.double()) * rows.double() * columns.double().t()
    close(scaled_gemm(a, b, rows, columns, torch.float16), want / 1.0, 1e-2)
    for bits in (4, 8):
        numbers = torch.randint(0, 2**bits, (256, 128))
        words = (numbers.view(-1, 32 // bits, 128) << bits * torch.arange(32 // bits)[:, None]).sum(1)
        words = ((words + 2**31) % 2**32 - 2**31).int().to(DEVICE)
        x, scales = draw(33, 256, dtype=torch.float16), draw(2, 128, dtype=torch.float16, low=0.01)
        bias = 2 ** (bits - 1)
        wide = (numbers.to(DEVICE) - bias) * scales.double().repeat_interleave(128, 0)
        close(mixed_precision_gemm(x, words, scales, None, bits, bias, 128), x.double() @ wide, 1e-2)


@case
def quantization():
    x, scale = draw(30, 200), torch.tensor([0.02], device=DEVICE)
    got, _ = scaled_int8_quant(x, scale)
    off = (got.double() - (x.double() / 0.02).clamp(-128, 127)).abs()
    assert float(off.max()) <= 1, "a byte is off by more than a rounding"
    got, _ = scaled_fp8_quant(x, scale)
    want = (x.double() / float(scale)).clamp(-448, 448)
    assert bool(((got.double() - want).abs() <= want.abs() / 16 + 2.0**-9).all())
    for kind in ("nf4", "fp4"):
        flat = x.flatten()[:5952]
        small, state = quantize_4bit(flat, quant_type=kind)
        close(dequantize_4bit(small, state, quant_type=kind), flat.double(), 0.2)


@case
def boxes_that_overlap():
    corner, size, scores = draw(200, 2, low=0.0), draw(200, 2, low=0.1) / 4, draw(200, low=0.0)
    boxes = torch.cat((corner, corner + size), 1)
    left, kept = scores.argsort(descending=True).tolist(), []
    wide = boxes.double().cpu()
    area = (wide[:, 2] - wide[:, 0]) * (wide[:, 3] - wide[:, 1])
    while left:
        best = left.pop(0)
        kept.append(best)
        low, high = torch.maximum(wide[best, :2], wide[left, :2]), torch.minimum(wide[best, 2:], wide[left, 2:])
        both = (high - low).clamp(min=0).prod(-1)
        left = [b for b, share in zip(left, both / (area[best] + area[left] - both)) if share <= 0.4]
    assert nms(boxes, scores, 0.4).tolist() == kept


main()
