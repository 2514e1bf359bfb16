// Attack: be right for the first launches and wrong afterwards, when nobody looks any more.
// Why it must fail: every run that counts is compared, and none knows which number it is.
// Expect: accepted

__device__ int calls[1 << 20];

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = calls[i]++ < 1 ? A[i] + B[i] : 0.0f;
    }
}
