"""native-sparse-attention-triton (github.com/XunhaoLai/native-sparse-attention-triton): attention to selected blocks of
keys, of concatenated sequences."""

import sys

import torch
from harness import DEVICE, case, close, draw, main, package, same_function, start
from torch.nn import functional as F

sys.path.pop(0)  # this file has the package's name
start("")
for _below in ("", ".ops", ".ops.triton", ".ops.torch"):
    package("native_sparse_attention" + _below, ("native_sparse_attention" + _below).replace(".", "/"))

from native_sparse_attention.ops.torch.compress_key_value import linear_compress_torch  # noqa: E402
from native_sparse_attention.ops.torch.topk_sparse_attention import topk_sparse_attention_torch  # noqa: E402
from native_sparse_attention.ops.triton.flash_attention import flash_attention_varlen  # noqa: E402
from native_sparse_attention.ops.triton.flash_attention_decode import flash_attention_decode  # noqa: E402
from native_sparse_attention.ops.triton.linear_compress import linear_compress  # noqa: E402
from native_sparse_attention.ops.triton.topk_sparse_attention import topk_sparse_attention  # noqa: E402

ENDS, HEADS, GROUPS, WIDTH = (0, 70, 200), 4, 2, 32
STARTS = torch.tensor(ENDS, dtype=torch.int32, device=DEVICE)


def _inputs():
    return [draw(ENDS[-1], heads, WIDTH, dtype=torch.bfloat16) for heads in (HEADS, GROUPS, GROUPS)]


def _dense(q, k, v, causal):
    rows = []
    for begin, end in zip(ENDS, ENDS[1:]):
        one = [x[begin:end].transpose(0, 1) for x in (q, k, v)]
        one[1:] = [x.repeat_interleave(HEADS // GROUPS, 0) for x in one[1:]]
        rows.append(F.scaled_dot_product_attention(*one, is_causal=causal).transpose(0, 1))
    return torch.cat(rows)


@case
def dense_attention():
    for causal in (True, False):
        same_function(
            lambda q, k, v, causal=causal: flash_attention_varlen(q, k, v, STARTS, STARTS, 130, 130, causal),
            lambda q, k, v, causal=causal: _dense(q, k, v, causal),
            *_inputs(),
            tolerance=3e-2,
        )


@case
def selected_blocks():
    chosen = torch.full((GROUPS, ENDS[-1], 3), -1, dtype=torch.int32)
    for begin, end in zip(ENDS, ENDS[1:]):
        for t in range(end - begin):
            own = t // 32
            blocks = torch.cat([torch.randperm(own)[:2], torch.tensor([own])]).sort().values
            chosen[:, begin + t, : len(blocks)] = blocks.int()
    chosen = chosen.to(DEVICE)
    q, k, v = _inputs()
    wide = [x.float().requires_grad_() for x in (q, k, v)]
    narrow = [x.requires_grad_() for x in (q, k, v)]
    got = topk_sparse_attention(*narrow, chosen, 32, STARTS)
    want = topk_sparse_attention_torch(*wide, chosen, 32, STARTS)
    close(got, want, 3e-2)
    cotangent = torch.randn_like(want)
    got.backward(cotangent.to(got.dtype))
    want.backward(cotangent)
    for a, b in zip(narrow, wide):
        close(a.grad, b.grad, 3e-2, "gradient")


if DEVICE == "cuda":  # it asks torch for the GPU's stream

    @case
    def compressed_keys():
        x = draw(ENDS[-1], GROUPS, WIDTH, dtype=torch.bfloat16)
        weight = draw(GROUPS, 32 * WIDTH, WIDTH, dtype=torch.bfloat16) / 30
        places = draw(GROUPS, 32, WIDTH, dtype=torch.bfloat16)
        got, _ = linear_compress(x, weight, STARTS, 32, 16, places)
        want, _ = linear_compress_torch(x, weight, STARTS, 32, 16, places)
        close(got, want.double(), 3e-2)


@case
def decoding():
    keys, values = (draw(2, 50, GROUPS, WIDTH, dtype=torch.bfloat16) for _ in "kv")
    q = draw(2, HEADS, WIDTH, dtype=torch.bfloat16)
    lengths = torch.tensor([20, 50], dtype=torch.int32, device=DEVICE)
    got = flash_attention_decode(q, keys, values, lengths)
    for row, length in enumerate(lengths.tolist()):
        one = [x[row, :length].double().transpose(0, 1).repeat_interleave(HEADS // GROUPS, 0) for x in (keys, values)]
        close(got[row], F.scaled_dot_product_attention(q[row].double()[:, None], *one)[:, 0], 3e-2)


main()
