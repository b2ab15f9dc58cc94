"""Attention without the matrix of scores in memory: forward with a running softmax, backward by computing scores again.

    python examples/attention.py
"""

import tritium as triton
import tritium.language as tl


@triton.jit
def _attend(
        acc, total, peak,  # what has been summed up so far: (BLOCK_M, HEAD_DIM), (BLOCK_M,), (BLOCK_M,)
        q, k_desc, v_desc,  #
        rows, N_CTX, scale,  #
        start, stop,  # the keys to look at
        BLOCK_N: tl.constexpr,  #
        CAUSAL: tl.constexpr,  #
        MASKED: tl.constexpr,  # whether some of these keys are not for some of the queries
        WARP_SPECIALIZE: tl.constexpr  #
):
    """Add what the keys from `start` to `stop` give to the block of queries `q`."""
    for first in tl.range(start, stop, BLOCK_N, warp_specialize=WARP_SPECIALIZE):
        first = tl.multiple_of(first, BLOCK_N)
        k = k_desc.load([first, 0])
        scores = tl.dot(q, k.T) * scale
        if MASKED:
            columns = first + tl.arange(0, BLOCK_N)
            seen = columns[None, :] < N_CTX
            if CAUSAL:
                seen = seen & (rows[:, None] >= columns[None, :])
            scores = tl.where(seen, scores, -1.0e30)
        # The sums so far are relative to the greatest score so far: a greater one scales them down.
        new_peak = tl.maximum(peak, tl.max(scores, 1))
        weights = tl.exp2(scores - new_peak[:, None])
        correction = tl.exp2(peak - new_peak)
        total = total * correction + tl.sum(weights, 1)
        acc = acc * correction[:, None]
        v = v_desc.load([first, 0])
        acc = tl.dot(weights.to(v.dtype), v, acc)
        peak = new_peak
    return acc, total, peak


@triton.jit
def attention_forward(
        q_ptr, k_ptr, v_ptr, out_ptr,  # (batch * heads, N_CTX, HEAD_DIM), contiguous
        logsum_ptr,  # (batch * heads, N_CTX): the logarithm to base 2 of each query's sum, for the backward pass
        N_CTX, scale,  #
        HEAD_DIM: tl.constexpr,  #
        BLOCK_M: tl.constexpr,  # queries a program takes
        BLOCK_N: tl.constexpr,  # keys it looks at in one step
        CAUSAL: tl.constexpr,  # whether a query sees only keys at its own and earlier positions
        WARP_SPECIALIZE: tl.constexpr = False  #
):
    """out = softmax(q @ k^T * scale) @ v for one block of queries of one head."""
    first_row = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64)
    offset = head * N_CTX * HEAD_DIM
    q_desc = tl.make_tensor_descriptor(q_ptr + offset, [N_CTX, HEAD_DIM], [HEAD_DIM, 1], [BLOCK_M, HEAD_DIM])
    k_desc = tl.make_tensor_descriptor(k_ptr + offset, [N_CTX, HEAD_DIM], [HEAD_DIM, 1], [BLOCK_N, HEAD_DIM])
    v_desc = tl.make_tensor_descriptor(v_ptr + offset, [N_CTX, HEAD_DIM], [HEAD_DIM, 1], [BLOCK_N, HEAD_DIM])
    out_desc = tl.make_tensor_descriptor(out_ptr + offset, [N_CTX, HEAD_DIM], [HEAD_DIM, 1], [BLOCK_M, HEAD_DIM])

    rows = first_row + tl.arange(0, BLOCK_M)
    peak = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    q = q_desc.load([first_row, 0])
    scale *= 1.44269504  # 1 / log(2): powers of two are what hardware computes

    # Most blocks of keys are seen by all queries; only those on the diagonal and at the end need a mask.
    if CAUSAL:
        end = tl.minimum(first_row + BLOCK_M, N_CTX)
        full = tl.minimum(first_row, N_CTX) // BLOCK_N * BLOCK_N
    else:
        end = N_CTX
        full = N_CTX // BLOCK_N * BLOCK_N
    acc, total, peak = _attend(acc, total, peak, q, k_desc, v_desc, rows, N_CTX, scale, 0, full, BLOCK_N, CAUSAL, False,
                               WARP_SPECIALIZE)
    acc, total, peak = _attend(acc, total, peak, q, k_desc, v_desc, rows, N_CTX, scale, full, end, BLOCK_N, CAUSAL,
                               True, WARP_SPECIALIZE)

    acc = acc / total[:, None]
    tl.store(logsum_ptr + head * N_CTX + rows, peak + tl.log2(total), mask=rows < N_CTX)
    out_desc.store([first_row, 0], acc.to(out_ptr.dtype.element_ty))


@triton.jit
def attention_delta(
        out_ptr, d_out_ptr, delta_ptr,  #
        n_rows,  # batch * heads * N_CTX
        HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr  #
):
    """delta = the dot product of each row of the output with its gradient."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, HEAD_DIM)
    at = rows[:, None].to(tl.int64) * HEAD_DIM + columns[None, :]
    mask = rows < n_rows
    out = tl.load(out_ptr + at, mask=mask[:, None], other=0.0).to(tl.float32)
    d_out = tl.load(d_out_ptr + at, mask=mask[:, None], other=0.0).to(tl.float32)
    tl.store(delta_ptr + rows, tl.sum(out * d_out, 1), mask=mask)


@triton.jit
def _weights(q, k, logsum, rows, columns, N_CTX, scale, CAUSAL: tl.constexpr):
    """The softmax's weights of a block of keys (down) for a block of queries (across), computed again."""
    weights = tl.exp2(tl.dot(k, q.T) * (scale * 1.44269504) - logsum[None, :])
    seen = (rows[None, :] < N_CTX) & (columns[:, None] < N_CTX)
    if CAUSAL:
        seen = seen & (rows[None, :] >= columns[:, None])
    return tl.where(seen, weights, 0.0)


@triton.jit
def attention_backward_keys(
        q_ptr, k_ptr, v_ptr, d_out_ptr, logsum_ptr, delta_ptr,  #
        d_k_ptr, d_v_ptr,  #
        N_CTX, scale,  #
        HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr  #
):
    """The gradients of one block of keys and values: a sum over the queries that see it."""
    first_column = tl.program_id(0) * BLOCK_N
    head = tl.program_id(1).to(tl.int64)
    columns = first_column + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, HEAD_DIM)
    rows_base = head * N_CTX
    base = rows_base * HEAD_DIM
    keys = columns[:, None] * HEAD_DIM + dims[None, :]
    inside = columns[:, None] < N_CTX
    k = tl.load(k_ptr + base + keys, mask=inside, other=0.0)
    v = tl.load(v_ptr + base + keys, mask=inside, other=0.0)
    d_k = tl.zeros([BLOCK_N, HEAD_DIM], tl.float32)
    d_v = tl.zeros([BLOCK_N, HEAD_DIM], tl.float32)
    start = first_column // BLOCK_M * BLOCK_M if CAUSAL else 0
    for first_row in range(start, N_CTX, BLOCK_M):
        rows = first_row + tl.arange(0, BLOCK_M)
        queries = rows[:, None] * HEAD_DIM + dims[None, :]
        q = tl.load(q_ptr + base + queries, mask=rows[:, None] < N_CTX, other=0.0)
        d_out = tl.load(d_out_ptr + base + queries, mask=rows[:, None] < N_CTX, other=0.0)
        logsum = tl.load(logsum_ptr + rows_base + rows, mask=rows < N_CTX, other=0.0)
        delta = tl.load(delta_ptr + rows_base + rows, mask=rows < N_CTX, other=0.0)
        weights = _weights(q, k, logsum, rows, columns, N_CTX, scale, CAUSAL)
        d_v = tl.dot(weights.to(d_out.dtype), d_out, d_v)
        d_scores = weights * (tl.dot(v, d_out.T) - delta[None, :])
        d_k = tl.dot(d_scores.to(q.dtype), q, d_k)
    tl.store(d_k_ptr + base + keys, (d_k * scale).to(d_k_ptr.dtype.element_ty), mask=inside)
    tl.store(d_v_ptr + base + keys, d_v.to(d_v_ptr.dtype.element_ty), mask=inside)


@triton.jit
def attention_backward_queries(
        q_ptr, k_ptr, v_ptr, d_out_ptr, logsum_ptr, delta_ptr,  #
        d_q_ptr,  #
        N_CTX, scale,  #
        HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr  #
):
    """The gradient of one block of queries: a sum over the keys that it sees."""
    first_row = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64)
    rows = first_row + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    rows_base = head * N_CTX
    base = rows_base * HEAD_DIM
    queries = rows[:, None] * HEAD_DIM + dims[None, :]
    inside = rows[:, None] < N_CTX
    q = tl.load(q_ptr + base + queries, mask=inside, other=0.0)
    d_out = tl.load(d_out_ptr + base + queries, mask=inside, other=0.0)
    logsum = tl.load(logsum_ptr + rows_base + rows, mask=rows < N_CTX, other=0.0)
    delta = tl.load(delta_ptr + rows_base + rows, mask=rows < N_CTX, other=0.0)
    d_q = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    end = tl.minimum(first_row + BLOCK_M, N_CTX) if CAUSAL else N_CTX
    for first_column in range(0, end, BLOCK_N):
        columns = first_column + tl.arange(0, BLOCK_N)
        keys = columns[:, None] * HEAD_DIM + dims[None, :]
        k = tl.load(k_ptr + base + keys, mask=columns[:, None] < N_CTX, other=0.0)
        v = tl.load(v_ptr + base + keys, mask=columns[:, None] < N_CTX, other=0.0)
        weights = _weights(q, k, logsum, rows, columns, N_CTX, scale, CAUSAL)
        d_scores = weights * (tl.dot(v, d_out.T) - delta[None, :])
        d_q = tl.dot(d_scores.to(k.dtype).T, k, d_q)
    tl.store(d_q_ptr + base + queries, (d_q * scale).to(d_q_ptr.dtype.element_ty), mask=inside)


def forward(q, k, v, causal=False, scale=None, block_m=64, block_n=32):
    """(softmax(q @ k^T * scale) @ v, logarithms of the sums) of tensors (batch, heads, N_CTX, HEAD_DIM)."""
    batch, heads, n_ctx, head_dim = q.shape
    scale = head_dim ** -0.5 if scale is None else scale
    out = q.new_empty(q.shape)
    logsum = q.new_empty((batch, heads, n_ctx)).float()
    grid = (triton.cdiv(n_ctx, block_m), batch * heads)
    attention_forward[grid](q, k, v, out, logsum, n_ctx, scale, HEAD_DIM=head_dim, BLOCK_M=block_m, BLOCK_N=block_n,
                            CAUSAL=causal)
    return out, logsum


def backward(q, k, v, out, logsum, d_out, causal=False, scale=None, block_m=32, block_n=32):
    """The gradients of q, k and v for the gradient `d_out` of what `forward` gave."""
    batch, heads, n_ctx, head_dim = q.shape
    scale = head_dim ** -0.5 if scale is None else scale
    d_q, d_k, d_v = (x.new_empty(x.shape) for x in (q, k, v))
    delta = logsum.new_empty(logsum.shape)
    n_rows = batch * heads * n_ctx
    attention_delta[(triton.cdiv(n_rows, 64), )](out, d_out, delta, n_rows, HEAD_DIM=head_dim, BLOCK_M=64)
    blocks = {'HEAD_DIM': head_dim, 'BLOCK_M': block_m, 'BLOCK_N': block_n, 'CAUSAL': causal}
    grid = (triton.cdiv(n_ctx, block_n), batch * heads)
    attention_backward_keys[grid](q, k, v, d_out, logsum, delta, d_k, d_v, n_ctx, scale, **blocks)
    grid = (triton.cdiv(n_ctx, block_m), batch * heads)
    attention_backward_queries[grid](q, k, v, d_out, logsum, delta, d_q, n_ctx, scale, **blocks)
    return d_q, d_k, d_v


def reference(q, k, v, causal, scale):
    """The same, by PyTorch, with the matrix of scores in memory."""
    import torch

    scores = (q @ k.transpose(-1, -2)) * scale
    if causal:
        n = q.shape[-2]
        scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float('-inf'))
    return torch.softmax(scores, -1) @ v


def main():
    import torch

    torch.manual_seed(0)
    for causal in (False, True):
        q, k, v, d_out = (torch.randn(2, 3, 200, 64) for _ in range(4))
        out, logsum = forward(q, k, v, causal)
        gradients = backward(q, k, v, out, logsum, d_out, causal)
        wide = [x.double().requires_grad_() for x in (q, k, v)]
        expected = reference(*wide, causal, 64 ** -0.5)
        expected.backward(d_out.double())
        errors = [(out - expected).abs().max().item()]
        errors += [(g - w.grad).abs().max().item() for g, w in zip(gradients, wide)]
        names = ('out', 'd_q', 'd_k', 'd_v')
        shown = ', '.join(f'{n} {e:.2g}' for n, e in zip(names, errors))
        print(f'{"causal" if causal else "full"} attention, maximum errors: {shown}')


if __name__ == '__main__':
    main()
