// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=17 access=read
// The tree starts with the whole block: the upper half reads past the end of the array.

extern __shared__ float s[];

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            s[threadIdx.x] += s[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, s[0]);
    }
}
