// expect: verdict=bad_barrier
// expect: kind=warp_mask line=14
// The mask names all 32 lanes, but only those with elements take part.

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int k = i; k < n; k += gridDim.x * blockDim.x) {
            sum += x[k];
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        }
        if (threadIdx.x % 32 == 0) {
            atomicAdd(total, sum);
        }
    }
}
