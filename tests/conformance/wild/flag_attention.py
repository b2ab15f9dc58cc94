"""FlagAttention (github.com/FlagOpen/FlagAttention): forms of attention, forward and backward."""

import torch
from harness import DEVICE, case, close, draw, main, same_function, start
from torch.nn import functional as F

start("src")

import flag_attn  # noqa: E402


def _reference(q, k, v, causal):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    rows, columns = q.shape[2], k.shape[2]
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        later = torch.ones(rows, columns, dtype=torch.bool, device=q.device).triu(columns - rows + 1)
        scores = scores.masked_fill(later, -float("inf"))
    return scores.softmax(-1) @ v


@case
def flash_attention():
    for rows, columns, heads in ((128, 128, 4), (100, 170, 2)):
        # with later rows only, parts of keys that no row may see are NaN in their kernel for many multiprocessors
        for causal in (False, True) if rows == columns or DEVICE == "cpu" else (False,):
            same_function(
                lambda q, k, v, causal=causal: flag_attn.flash_attention(q, k, v, causal=causal),
                lambda q, k, v, causal=causal: _reference(q, k, v, causal),
                *(draw(2, h, n, 64, dtype=torch.float16) for h, n in ((4, rows), (heads, columns), (heads, columns))),
                tolerance=1e-2,
            )


@case
def attention_in_two_pieces():
    """Near keys are scored by one pair of matrices, distant ones by another."""
    distance = 50

    def reference(q1, k1, q2, k2, v):
        n = v.shape[2]
        near, far = (q @ k.transpose(-1, -2) / 8 for q, k in ((q1, k1), (q2, k2)))
        at = torch.arange(n, device=v.device)
        scores = torch.where(at[:, None] - at >= distance, far, near)
        return scores.masked_fill(at[:, None] < at, -float("inf")).softmax(-1) @ v

    same_function(
        lambda *x: flag_attn.piecewise_attention(*x, distance, causal=True),
        reference,
        *(draw(2, 3, 128, 64, dtype=torch.float16) for _ in range(5)),
        tolerance=1e-2,
    )


@case
def attention_by_parts_of_keys():
    q, k, v = (draw(2, 4, n, 64, dtype=torch.float16) for n in (4, 1000, 1000))
    close(
        flag_attn.flash_attention_split_kv(q, k, v),
        F.scaled_dot_product_attention(*(x.double() for x in (q, k, v))),
        1e-2,
    )


@case
def attention_over_pages():
    pages, size = torch.randperm(40)[:24].view(3, 8).int().to(DEVICE), 16
    keys, values = (draw(40, 2, size, 64, dtype=torch.float16) for _ in "kv")
    q, lengths = draw(3, 4, 64, dtype=torch.float16), torch.tensor([1, 77, 128], dtype=torch.int32, device=DEVICE)
    got = flag_attn.paged_attention(q, keys, values, lengths, pages, 0.125, 128)
    for row, length in enumerate(lengths.tolist()):
        k, v = (x[pages[row].long()].transpose(0, 1).flatten(1, 2)[:, :length].double() for x in (keys, values))
        one = [x.repeat_interleave(2, 0) for x in (k, v)]
        close(got[row], F.scaled_dot_product_attention(q[row].double()[:, None], *one)[:, 0], 1e-2)


main()
