// Sum: a grid-stride loop in registers, shuffles inside a warp, shared memory between the warps of a
// block, and one atomic for each block.

__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffff, value, offset);
    }
    return value;
}

__global__ void reduce_sum(const float* __restrict__ x, float* total, float* partial,
                           unsigned int* arrived, int n) {
    __shared__ float sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        sums[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < warps ? sums[lane] : 0.0f);
        if (lane == 0) {
            atomicAdd(total, sum);
        }
    }
}
