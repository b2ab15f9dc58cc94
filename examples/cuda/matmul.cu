// C = A B in f16 with f32 accumulators, on tensor cores through nvcuda::wmma. M, N, K are multiples of 128, 128 and 32.
// A block of 8 warps computes 128 x 128; each warp 32 x 64. Tiles of K = 32 are double-buffered by cp.async.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int M = 128, N = 128, K = 32, PAD = 8;

__device__ void copy(half* to, const half* from) {
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
}

extern "C" __global__ void __launch_bounds__(256) matmul(const half* a, const half* b, half* c, int m, int n, int k) {
    __shared__ __align__(16) half as[2][M][K + PAD], bs[2][K][N + PAD];
    int row = blockIdx.y * M, column = blockIdx.x * N, warp = threadIdx.x / 32;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][4];
    for (auto& line : acc)
        for (auto& tile : line) wmma::fill_fragment(tile, 0.0f);

    auto load = [&](int slot, int at) {
        for (int i = threadIdx.x; i < M * K / 8; i += 256) {
            int r = i / (K / 8), part = i % (K / 8) * 8;
            copy(&as[slot][r][part], a + (size_t)(row + r) * k + at + part);
        }
        for (int i = threadIdx.x; i < K * N / 8; i += 256) {
            int r = i / (N / 8), part = i % (N / 8) * 8;
            copy(&bs[slot][r][part], b + (size_t)(at + r) * n + column + part);
        }
        asm volatile("cp.async.commit_group;");
    };

    load(0, 0);
    for (int at = 0, slot = 0; at < k; at += K, slot ^= 1) {
        if (at + K < k) {
            load(slot ^ 1, at + K);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        for (int step = 0; step < K; step += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[4];
            for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(left[i], &as[slot][warp_row + 16 * i][step], K + PAD);
            for (int j = 0; j < 4; ++j) wmma::load_matrix_sync(right[j], &bs[slot][step][warp_column + 16 * j], N + PAD);
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 4; ++j) wmma::mma_sync(acc[i][j], left[i], right[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, half> result;
            for (int e = 0; e < result.num_elements; ++e) result.x[e] = __float2half(acc[i][j].x[e]);
            half* to = c + (size_t)(row + warp_row + 16 * i) * n + column + warp_column + 16 * j;
            wmma::store_matrix_sync(to, result, n, wmma::mem_row_major);
        }
}
