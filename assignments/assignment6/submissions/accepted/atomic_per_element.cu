// expect: verdict=accepted
// expect: speed=0
// One atomic for each element: right, and every one of them waits for the others.

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(total, x[i]);
    }
}
