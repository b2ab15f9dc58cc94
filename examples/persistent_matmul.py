"""Matrix multiplication by few programs that stay: each computes one block after the other, so that loads of the next
block overlap with the end of the one before. Once with pointers, once with descriptors made in the kernel, once with
descriptors that the host passes.

    python examples/persistent_matmul.py
"""

import tritium as triton
import tritium.language as tl
from tritium.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _block_of(tile, rows_of_blocks, columns_of_blocks, GROUP_M: tl.constexpr):
    """Row and column of block number `tile`, in an order that goes down GROUP_M rows before it takes a column more."""
    in_group = GROUP_M * columns_of_blocks
    first_row = tile // in_group * GROUP_M
    height = tl.minimum(rows_of_blocks - first_row, GROUP_M)
    return first_row + tile % in_group % height, tile % in_group // height


@triton.jit
def matmul_persistent_kernel(
        a_ptr, b_ptr, c_ptr,  #
        M, N, K,  #
        stride_am, stride_bk, stride_cm,  # of rows; columns are contiguous
        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,  #
        PROGRAMS: tl.constexpr  #
):
    """C = A x B, with pointers."""
    rows_of_blocks, columns_of_blocks = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    for tile in tl.range(tl.program_id(0), rows_of_blocks * columns_of_blocks, PROGRAMS, flatten=True):
        row, column = _block_of(tile, rows_of_blocks, columns_of_blocks, GROUP_M)
        rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = column * BLOCK_N + tl.arange(0, BLOCK_N)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, tl.cdiv(K, BLOCK_K)):
            at = k * BLOCK_K + ks
            a = tl.load(a_ptr + rows[:, None] * stride_am + at[None, :], mask=(rows[:, None] < M) & (at[None, :] < K),
                        other=0.0)
            b = tl.load(b_ptr + at[:, None] * stride_bk + cols[None, :], mask=(at[:, None] < K) & (cols[None, :] < N),
                        other=0.0)
            total = tl.dot(a, b, total)
        inside = (rows[:, None] < M) & (cols[None, :] < N)
        tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], total.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def matmul_descriptors_kernel(
        a_ptr, b_ptr, c_ptr,  # (M, K), (N, K) and (M, N), contiguous
        M, N, K,  #
        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,  #
        PROGRAMS: tl.constexpr,  #
        HALVES: tl.constexpr,  # store the block in two halves, which takes less memory on the chip
        WARP_SPECIALIZE: tl.constexpr  # let some warps load while the others compute
):
    """C = A x B^T, with descriptors that each program makes."""
    WIDTH: tl.constexpr = BLOCK_N // 2 if HALVES else BLOCK_N
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, WIDTH])
    rows_of_blocks, columns_of_blocks = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), rows_of_blocks * columns_of_blocks, PROGRAMS, flatten=True,
                         warp_specialize=WARP_SPECIALIZE):
        row, column = _block_of(tile, rows_of_blocks, columns_of_blocks, GROUP_M)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, tl.cdiv(K, BLOCK_K)):
            a = a_desc.load([row * BLOCK_M, k * BLOCK_K])
            b = b_desc.load([column * BLOCK_N, k * BLOCK_K])
            total = tl.dot(a, b.T, total)
        if HALVES:
            left, right = total.reshape(BLOCK_M, 2, WIDTH).permute(0, 2, 1).split()
            c_desc.store([row * BLOCK_M, column * BLOCK_N], left.to(c_ptr.dtype.element_ty))
            c_desc.store([row * BLOCK_M, column * BLOCK_N + WIDTH], right.to(c_ptr.dtype.element_ty))
        else:
            c_desc.store([row * BLOCK_M, column * BLOCK_N], total.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_host_descriptors_kernel(
        a_desc, b_desc, c_desc,  # of (M, K), (N, K) and (M, N)
        K,  #
        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr  #
):
    """C = A x B^T, one block a program, with descriptors from the host."""
    row, column = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        total = tl.dot(a_desc.load([row, k]), b_desc.load([column, k]).T, total)
    c_desc.store([row, column], total.to(c_desc.dtype))


#: Block sizes that do well on CPUs; keyword arguments of the kernels.
BLOCKS = {'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32}


def matmul_persistent(a, b, programs=4):
    """a @ b for matrices whose columns are contiguous."""
    (M, K), N = a.shape, b.shape[1]
    c = a.new_empty((M, N))
    matmul_persistent_kernel[(programs, )](a, b, c, M, N, K, a.stride(0), b.stride(0), c.stride(0), GROUP_M=4,
                                           PROGRAMS=programs, **BLOCKS)
    return c


def matmul_descriptors(a, b, programs=4, halves=False):
    """a @ b.T for contiguous matrices."""
    (M, K), N = a.shape, b.shape[0]
    c = a.new_empty((M, N))
    matmul_descriptors_kernel[(programs, )](a, b, c, M, N, K, GROUP_M=4, PROGRAMS=programs, HALVES=halves,
                                            WARP_SPECIALIZE=False, **BLOCKS)
    return c


def matmul_host_descriptors(a, b):
    """a @ b.T for contiguous matrices."""
    (M, K), N = a.shape, b.shape[0]
    c = a.new_empty((M, N))
    m, n, k = BLOCKS.values()
    descriptors = [TensorDescriptor.from_tensor(x, list(block)) for x, block in ((a, (m, k)), (b, (n, k)), (c, (m, n)))]
    matmul_host_descriptors_kernel[(triton.cdiv(M, m), triton.cdiv(N, n))](*descriptors, K, **BLOCKS)
    return c


def main():
    import torch

    torch.manual_seed(0)
    a, b = torch.randn(300, 128), torch.randn(128, 200)
    expected = a.double() @ b.double()
    transposed = b.T.contiguous()
    for name, c in (('pointers', matmul_persistent(a, b)), ('descriptors', matmul_descriptors(a, transposed)),
                    ('descriptors, in halves', matmul_descriptors(a, transposed, halves=True)),
                    ('descriptors from the host', matmul_host_descriptors(a, transposed))):
        print(f'{name}: the maximum error is {(c - expected).abs().max().item():.3g}')


if __name__ == '__main__':
    main()
