// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=total
// No loop: what lies beyond the number of threads is left out.

extern __shared__ float s[];

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    float sum = 0.0f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum = x[i];
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
