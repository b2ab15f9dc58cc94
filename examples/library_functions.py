"""Functions of the device library: on a GPU those of its vendor, on a CPU our own, by the same names.

    python examples/library_functions.py
"""

import tritium as triton
import tritium.language as tl
from tritium.language.extra import libdevice


@triton.jit
def asin_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """y = asin(x): which function of the library that is depends on the type, fp32 or fp64."""
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = at < n_elements
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(y_ptr + at, libdevice.asin(x), mask=mask)


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr, EXACT: tl.constexpr):
    """y = x * (probability that a normal variable is below x), or the customary approximation of it."""
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = at < n_elements
    x = tl.load(x_ptr + at, mask=mask).to(tl.float32)
    if EXACT:
        y = 0.5 * x * (1.0 + libdevice.erf(x * 0.7071067811865476))
    else:
        y = 0.5 * x * (1.0 + libdevice.tanh(0.7978845608028654 * (x + 0.044715 * libdevice.pow(x, 3.0))))
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)


def _apply(kernel, x, **options):
    y = x.new_empty(x.shape)
    kernel[(triton.cdiv(x.numel(), 1024), )](x, y, x.numel(), BLOCK_SIZE=1024, **options)
    return y


def asin(x):
    """The inverse sine of each element, of float32 or float64."""
    return _apply(asin_kernel, x)


def gelu(x, exact=True):
    """x * Phi(x) for each element."""
    return _apply(gelu_kernel, x, EXACT=exact)


def main():
    import torch

    torch.manual_seed(0)
    x = torch.rand(98432) * 2 - 1
    print(f'asin: the maximum error is {(asin(x) - torch.asin(x.double())).abs().max().item():.3g}')
    for exact in (True, False):
        y = torch.nn.functional.gelu(x.double() * 4, approximate='none' if exact else 'tanh')
        print(f'gelu, exact={exact}: the maximum error is {(gelu(x * 4, exact) - y).abs().max().item():.3g}')


if __name__ == '__main__':
    main()
