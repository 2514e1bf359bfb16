// expect: verdict=race
// expect: kind=race line=19
// The second use of the array overwrites elements that slower threads still read.

extern __shared__ float s[];

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    float row = 0.0f;
    for (int i = threadIdx.x % 32; i < blockDim.x; i += 32) {
        row += s[i];
    }
    s[threadIdx.x] = row;
    __syncthreads();
    if (threadIdx.x == 0) {
        float block = 0.0f;
        for (int i = 0; i < 32; ++i) {
            block += s[i];
        }
        atomicAdd(total, block);
    }
}
