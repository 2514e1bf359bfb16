// expect: verdict=uninitialised
// expect: kind=uninitialised
// The sum in shared memory is added to without having been set.

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    __shared__ float block;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    atomicAdd(&block, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(total, block);
    }
}
