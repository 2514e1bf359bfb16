// expect: verdict=race
// expect: kind=race line=16
// All threads of a block add to one element of shared memory at once.

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    __shared__ float block;
    if (threadIdx.x == 0) {
        block = 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    block += sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(total, block);
    }
}
