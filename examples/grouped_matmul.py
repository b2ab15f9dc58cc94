"""Many matrix products of different sizes in one launch: programs take blocks of all of them in turn.

    python examples/grouped_matmul.py
"""

import tritium as triton
import tritium.language as tl


@triton.jit
def grouped_matmul_kernel(
        a_ptrs, b_ptrs, c_ptrs,  # addresses of the matrices of each product, int64
        sizes_ptr,  # M, N, K of each product, int32
        strides_ptr,  # how far it is to the next row of A, B and C, int32; columns are contiguous
        n_products,  #
        DTYPE: tl.constexpr,  # "fp16" or "fp32"
        PROGRAMS: tl.constexpr,  # how many programs there are
        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr  #
):
    """C = A x B for every product; blocks are numbered through, and program p takes p, p + PROGRAMS and so on."""
    pointer: tl.constexpr = tl.pointer_type(tl.float16 if DTYPE == "fp16" else tl.float32)
    block = tl.program_id(0)
    first = 0  # number of the first block of the product at hand
    for product in range(n_products):
        M = tl.load(sizes_ptr + product * 3)
        N = tl.load(sizes_ptr + product * 3 + 1)
        K = tl.load(sizes_ptr + product * 3 + 2)
        columns = tl.cdiv(N, BLOCK_N)
        behind = first + tl.cdiv(M, BLOCK_M) * columns
        while block < behind:
            stride_a = tl.load(strides_ptr + product * 3)
            stride_b = tl.load(strides_ptr + product * 3 + 1)
            stride_c = tl.load(strides_ptr + product * 3 + 2)
            a = tl.load(a_ptrs + product).to(pointer)
            b = tl.load(b_ptrs + product).to(pointer)
            c = tl.load(c_ptrs + product).to(pointer)
            rows = (block - first) // columns * BLOCK_M + tl.arange(0, BLOCK_M)
            cols = (block - first) % columns * BLOCK_N + tl.arange(0, BLOCK_N)
            ks = tl.arange(0, BLOCK_K)
            a_block = a + rows[:, None] * stride_a + ks[None, :]
            b_block = b + ks[:, None] * stride_b + cols[None, :]
            total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
            for k in range(0, K, BLOCK_K):
                x = tl.load(a_block, mask=(rows[:, None] < M) & (ks[None, :] < K - k), other=0.0)
                y = tl.load(b_block, mask=(ks[:, None] < K - k) & (cols[None, :] < N), other=0.0)
                total = tl.dot(x, y, total)
                a_block += BLOCK_K
                b_block += BLOCK_K * stride_b
            inside = (rows[:, None] < M) & (cols[None, :] < N)
            tl.store(c + rows[:, None] * stride_c + cols[None, :], total.to(c.dtype.element_ty), mask=inside)
            block += PROGRAMS
        first = behind


def grouped_matmul(pairs, programs=8, block_m=64, block_n=64, block_k=32):
    """[a @ b for a, b in pairs], for matrices of one dtype, float16 or float32, whose columns are contiguous."""
    import torch

    dtype = pairs[0][0].dtype
    results = [a.new_empty((a.shape[0], b.shape[1])) for a, b in pairs]
    matrices = [(a, b, c) for (a, b), c in zip(pairs, results)]
    addresses = [torch.tensor([m[i].data_ptr() for m in matrices]) for i in range(3)]
    sizes = torch.tensor([(a.shape[0], b.shape[1], a.shape[1]) for a, b in pairs], dtype=torch.int32)
    strides = torch.tensor([[x.stride(0) for x in m] for m in matrices], dtype=torch.int32)
    grouped_matmul_kernel[(programs, )](*addresses, sizes, strides, len(pairs),
                                        DTYPE='fp16' if dtype == torch.float16 else 'fp32', PROGRAMS=programs,
                                        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k)
    return results


def main():
    import torch

    torch.manual_seed(0)
    pairs = [(torch.randn(m, k), torch.randn(k, n)) for m, n, k in ((256, 128, 64), (100, 300, 77), (1, 500, 32))]
    for (a, b), c in zip(pairs, grouped_matmul(pairs)):
        error = (c - a.double() @ b.double()).abs().max().item()
        print(f'{tuple(a.shape)} times {tuple(b.shape)}: the maximum error is {error:.3g}')


if __name__ == '__main__':
    main()
