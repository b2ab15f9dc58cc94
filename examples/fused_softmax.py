"""Softmax over rows, each row read once and kept on the chip; programs stride over the rows.

    python examples/fused_softmax.py
"""

import os

import tritium as triton
import tritium.language as tl


@triton.jit
def softmax_kernel(output_ptr, input_ptr, input_row_stride, output_row_stride, n_rows, n_cols,
                   BLOCK_SIZE: tl.constexpr, num_stages: tl.constexpr):
    # A program handles every num_programs-th row, starting with its own number.
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        row_start_ptr = input_ptr + row_idx * input_row_stride
        # BLOCK_SIZE is the power of two that holds n_cols, so that a row is one block.
        col_offsets = tl.arange(0, BLOCK_SIZE)
        input_ptrs = row_start_ptr + col_offsets
        mask = col_offsets < n_cols
        row = tl.load(input_ptrs, mask=mask, other=-float('inf'))
        # Without the maximum, exp overflows.
        row_minus_max = row - tl.max(row, axis=0)
        numerator = tl.exp(row_minus_max)
        denominator = tl.sum(numerator, axis=0)
        softmax_output = numerator / denominator
        output_row_start_ptr = output_ptr + row_idx * output_row_stride
        output_ptrs = output_row_start_ptr + col_offsets
        tl.store(output_ptrs, softmax_output, mask=mask)


def softmax(x):
    """Softmax of each row of a two-dimensional tensor whose columns are contiguous."""
    n_rows, n_cols = x.shape
    y = x.new_empty(x.shape)
    num_programs = min(n_rows, 4 * (os.cpu_count() or 1))
    softmax_kernel[(num_programs, )](y, x, x.stride(0), y.stride(0), n_rows, n_cols,
                                     BLOCK_SIZE=triton.next_power_of_2(n_cols), num_stages=2)
    return y


def main():
    import torch

    torch.manual_seed(0)
    x = torch.randn(1823, 781)
    error = torch.max(torch.abs(softmax(x) - torch.softmax(x, axis=1))).item()
    print(f'softmax of {tuple(x.shape)}: the maximum difference to torch is {error:.3g}')


if __name__ == '__main__':
    main()
