"""Matrix multiplication of numbers of 8 and 4 bits that share scales: 32 neighbours, or 16, have one factor.

On GPUs since Blackwell this is one instruction; elsewhere the compiler makes it of what there is.

    python examples/block_scaled_matmul.py
"""

import tritium as triton
import tritium.language as tl


@triton.jit
def block_scaled_matmul_kernel(
        a_ptr, a_scale_ptr,  # (M, K) and (M, K // GROUP)
        b_ptr, b_scale_ptr,  # (N, K) and (N, K // GROUP)
        c_ptr,  # (M, N)
        M, N, K,  #
        A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr,  # "e4m3", "e5m2", or "e2m1" with two numbers in a byte
        GROUP: tl.constexpr,  # how many neighbours along K share a scale
        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr  #
):
    """C = (A * its scales) x (B * its scales)^T, one block a program; M, N and K are multiples of the block's sizes."""
    PACK_A: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1  # numbers in a byte
    PACK_B: tl.constexpr = 2 if B_FORMAT == "e2m1" else 1
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    a_at = rows[:, None] * (K // PACK_A) + tl.arange(0, BLOCK_K // PACK_A)[None, :]
    b_at = columns[None, :] * (K // PACK_B) + tl.arange(0, BLOCK_K // PACK_B)[:, None]
    groups = tl.arange(0, BLOCK_K // GROUP)
    a_scale_at = rows[:, None] * (K // GROUP) + groups[None, :]
    b_scale_at = columns[:, None] * (K // GROUP) + groups[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + a_at + k // PACK_A)
        b = tl.load(b_ptr + b_at + k // PACK_B)
        a_scale = tl.load(a_scale_ptr + a_scale_at + k // GROUP)
        b_scale = tl.load(b_scale_ptr + b_scale_at + k // GROUP)
        total = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, total)
    c_at = rows[:, None] * N + columns[None, :]
    tl.store(c_ptr + c_at, total.to(c_ptr.dtype.element_ty))


#: What the 16 numbers of 4 bits are: sign, two bits of exponent, one of mantissa.
FOUR_BITS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)


def quantize(x, kind, group=32):
    """(numbers, scales, what they stand for) of a matrix: `kind` is "e4m3", "e5m2" or "e2m1".

    Scales are powers of two, as exponents with 127 for 1. Two numbers of 4 bits share a byte, the first in its low half.
    """
    import torch

    rows, columns = x.shape
    parts = x.reshape(rows, columns // group, group)
    largest = {'e4m3': 448.0, 'e5m2': 57344.0, 'e2m1': 6.0}[kind]
    exponents = torch.ceil(torch.log2(parts.abs().amax(-1).clamp(min=1e-30) / largest)).clamp(-127, 127)
    small = parts / torch.exp2(exponents)[..., None]
    if kind == 'e2m1':
        table = torch.tensor(FOUR_BITS)
        codes = (small[..., None] - table).abs().argmin(-1).reshape(rows, columns)
        numbers = (codes[:, ::2] | codes[:, 1::2] << 4).to(torch.uint8)
        rounded = table[codes].reshape(parts.shape)
    else:
        numbers = small.to(torch.float8_e4m3fn if kind == 'e4m3' else torch.float8_e5m2)
        rounded, numbers = numbers.float(), numbers.reshape(rows, columns)
    exact = (rounded * torch.exp2(exponents)[..., None]).reshape(rows, columns)
    return numbers, (exponents + 127).to(torch.uint8), exact


def block_scaled_matmul(a, a_scale, a_format, b, b_scale, b_format, dtype=None, group=32, blocks=(64, 64, 128)):
    """a @ b.T of what `quantize` gives, in `dtype` (float32 by default)."""
    import torch

    M, N, K = a.shape[0], b.shape[0], a_scale.shape[1] * group
    c = torch.empty((M, N), dtype=dtype or torch.float32)
    block_m, block_n, block_k = blocks
    block_scaled_matmul_kernel[(M // block_m, N // block_n)](a, a_scale, b, b_scale, c, M, N, K, A_FORMAT=a_format,
                                                             B_FORMAT=b_format, GROUP=group, BLOCK_M=block_m,
                                                             BLOCK_N=block_n, BLOCK_K=block_k)
    return c


def main():
    import torch

    torch.manual_seed(0)
    x, y = torch.randn(128, 256), torch.randn(192, 256)
    for a_format, b_format in (('e4m3', 'e4m3'), ('e2m1', 'e2m1'), ('e4m3', 'e2m1')):
        (a, a_scale, a_exact), (b, b_scale, b_exact) = quantize(x, a_format), quantize(y, b_format)
        c = block_scaled_matmul(a, a_scale, a_format, b, b_scale, b_format)
        error = (c - a_exact.double() @ b_exact.double().T).abs().max().item()
        loss = (c - x.double() @ y.double().T).abs().max().item()
        print(f'{a_format} times {b_format}: the maximum error is {error:.3g}; rounding to so few bits costs {loss:.3g}')


if __name__ == '__main__':
    main()
