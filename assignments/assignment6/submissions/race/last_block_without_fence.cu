// expect: verdict=race
// expect: kind=race line=36 buffer=partial
// Nothing says that `partial` is in memory before the counter goes up.

extern __shared__ float s[];

__device__ float block_sum(float value) {
    s[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            s[threadIdx.x] += s[threadIdx.x + half];
        }
        __syncthreads();
    }
    return s[0];
}

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    __shared__ bool last;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        last = atomicAdd(arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;

    float rest = 0.0f;
    for (int block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
        rest += partial[block];
    }
    rest = block_sum(rest);
    if (threadIdx.x == 0) {
        total[0] = rest;
    }
}
