"""A kernel that starts before the one in front of it is done: programmatic dependent launch, on GPUs since Hopper.

Both kernels do what needs nothing of each other while the first one still runs, and meet where one waits. On a CPU,
and wherever launches do not overlap, waiting returns at once.

    python examples/dependent_launch.py
"""

import tritium as triton
import tritium.language as tl


@triton.jit
def scale_kernel(x_ptr, y_ptr, n_elements, factor, BLOCK_SIZE: tl.constexpr, OVERLAP: tl.constexpr):
    """y = x * factor; the next kernel may start as soon as every program has read its block."""
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = at < n_elements
    if OVERLAP:
        tl.extra.cuda.gdc_wait()  # x may be what another kernel writes
    x = tl.load(x_ptr + at, mask=mask)
    if OVERLAP:
        tl.extra.cuda.gdc_launch_dependents()
    tl.store(y_ptr + at, x * factor, mask=mask)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr, OVERLAP: tl.constexpr):
    """out = x + y, where x is older than the kernel in front, and y is what that one writes."""
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = at < n_elements
    x = tl.load(x_ptr + at, mask=mask)
    if OVERLAP:
        tl.extra.cuda.gdc_wait()
    y = tl.load(y_ptr + at, mask=mask)
    tl.store(out_ptr + at, x + y, mask=mask)


def scaled_sum(x, z, factor, overlap=True):
    """x + factor * z for float tensors of one shape, by two kernels that may overlap."""
    y, out = z.new_empty(z.shape), x.new_empty(x.shape)
    n_elements = x.numel()
    grid = (triton.cdiv(n_elements, 1024), )
    options = {'BLOCK_SIZE': 1024, 'OVERLAP': overlap, 'launch_pdl': overlap}
    scale_kernel[grid](z, y, n_elements, factor, **options)
    add_kernel[grid](x, y, out, n_elements, **options)
    return out


def main():
    import torch

    torch.manual_seed(0)
    x, z = torch.rand(98432), torch.rand(98432)
    for overlap in (False, True):
        error = (scaled_sum(x, z, 3.0, overlap) - (x + 3 * z)).abs().max().item()
        print(f'overlap={overlap}: the maximum error is {error:.3g}')


if __name__ == '__main__':
    main()
