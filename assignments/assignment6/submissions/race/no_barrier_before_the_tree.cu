// expect: verdict=race
// expect: kind=race line=13
// The tree starts before all threads have stored their share.

extern __shared__ float s[];

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    s[threadIdx.x] = sum;
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
