// Attack: compute once, keep the answer in device memory, and copy it from then on.
// Why it must fail: every run starts from a fresh module and fresh memory; what is left is an
//     honest kernel.
// Expect: accepted

__device__ float saved[1 << 20];
__device__ bool known[1 << 20];

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        if (!known[i]) {
            saved[i] = A[i] + B[i];
            known[i] = true;
        }
        C[i] = saved[i];
    }
}
