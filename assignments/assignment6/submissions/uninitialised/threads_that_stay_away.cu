// expect: verdict=uninitialised
// expect: kind=uninitialised line=25
// Threads without elements store nothing, but the tree reads their place.

extern __shared__ float s[];

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    if (first < n) {
        s[threadIdx.x] = sum;
    }
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
