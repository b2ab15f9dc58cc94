// Softmax of rows of up to 1024 elements, one block of 256 threads per row, four elements per thread in registers.
#include <math_constants.h>

__device__ float across(float value, bool maximum, float* partial) {
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xffffffff, value, step);
        value = maximum ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float result = partial[0];
    for (int warp = 1; warp < 8; ++warp) result = maximum ? fmaxf(result, partial[warp]) : result + partial[warp];
    __syncthreads();
    return result;
}

extern "C" __global__ void softmax(const float* x, float* out, int columns) {
    __shared__ float partial[8];
    const float* row = x + (size_t)blockIdx.x * columns;
    float values[4], largest = -CUDART_INF_F, sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int c = threadIdx.x + 256 * k;
        values[k] = c < columns ? row[c] : -CUDART_INF_F;
        largest = fmaxf(largest, values[k]);
    }
    largest = across(largest, true, partial);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += values[k] = __expf(values[k] - largest);
    sum = across(sum, false, partial);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int c = threadIdx.x + 256 * k;
        if (c < columns) out[(size_t)blockIdx.x * columns + c] = __fdividef(values[k], sum);
    }
}
