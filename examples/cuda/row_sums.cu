// The sum of each row, one block of 256 threads per row: shuffles within warps, shared memory between them.
extern "C" __global__ void row_sums(const float* x, float* out, int columns) {
    __shared__ float partial[8];
    const float* row = x + (size_t)blockIdx.x * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 8 ? partial[threadIdx.x] : 0.0f;
        for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}
