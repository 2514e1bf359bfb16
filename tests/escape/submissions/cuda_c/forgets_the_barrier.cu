// Attack: read what a neighbour puts into shared memory without waiting for it, right by luck of
//     the order.
// Why it must fail: two threads that touch one element with no barrier between are a race, whoever
//     was first.
// Expect: race

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float sums[1024];
    int last = blockDim.x - 1;
    sums[threadIdx.x] = i < N ? A[i] + B[i] : 0.0f;
    float mirrored = sums[last - threadIdx.x];
    int j = blockIdx.x * blockDim.x + last - threadIdx.x;
    if (j < N) {
        C[j] = mirrored;
    }
}
