"""Dropout twice: with a mask of what to keep in memory, and with one that a seed decides, so that no mask is stored.

    python examples/low_memory_dropout.py
"""

import tritium as triton
import tritium.language as tl


@triton.jit
def _dropout(
    x_ptr,  # pointer to the input
    x_keep_ptr,  # pointer to a mask of 0s and 1s
    output_ptr,  # pointer to the output
    n_elements,  # number of elements in the `x` tensor
    p,  # probability that an element of `x` is changed to zero
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    # Load data
    x = tl.load(x_ptr + offsets, mask=mask)
    x_keep = tl.load(x_keep_ptr + offsets, mask=mask)
    # What is kept is scaled up, so that the expected sum stays.
    output = tl.where(x_keep, x / (1 - p), 0.0)
    # Write-back output
    tl.store(output_ptr + offsets, output, mask=mask)


@triton.jit
def _seeded_dropout(
    x_ptr,
    output_ptr,
    n_elements,
    p,
    seed,
    BLOCK_SIZE: tl.constexpr,
):
    # compute memory offsets of elements handled by this instance
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    # load data from x
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    # randomly prune it: the number of an element depends on the seed and its offset only
    random = tl.rand(seed, offsets)
    x_keep = random > p
    # write-back
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


def dropout(x, x_keep, p):
    """x / (1 - p) where x_keep is not 0, elsewhere 0."""
    output = x.new_empty(x.shape)
    n_elements = x.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta['BLOCK_SIZE']), )
    _dropout[grid](x, x_keep, output, n_elements, p, BLOCK_SIZE=1024)
    return output


def seeded_dropout(x, p, seed):
    """x / (1 - p) with probability 1 - p, elsewhere 0; the same for the same seed."""
    output = x.new_empty(x.shape)
    n_elements = x.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta['BLOCK_SIZE']), )
    _seeded_dropout[grid](x, output, n_elements, p, seed, BLOCK_SIZE=1024)
    return output


def main():
    import torch

    torch.manual_seed(0)
    x = torch.randn(size=(10, ))
    p = 0.5
    x_keep = (torch.rand(size=(10, )) > p).to(torch.int32)
    rows = {
        'input': x,
        'keep mask': x_keep,
        'output': dropout(x, x_keep, p),
        'seed 123': seeded_dropout(x, p, seed=123),
        'seed 123 again': seeded_dropout(x, p, seed=123),
        'seed 512': seeded_dropout(x, p, seed=512),
    }
    for name, row in rows.items():
        print(f'{name:<15}' + ' '.join(f'{value:9.4f}' for value in row.tolist()))


if __name__ == '__main__':
    main()
