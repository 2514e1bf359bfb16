// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=12 access=read buffer=x
// One element for each thread, also where there is none.

extern __shared__ float s[];

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    float sum = 0.0f;
    int rounds = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
    for (int k = 0; k < rounds; ++k) {
        sum += x[(k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            s[threadIdx.x] += s[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, s[0]);
    }
}
