// Attack: leak one bit of the grader's disk per compilation through __has_include.
// Why it must fail: in the compiler's process those files do not exist.
// Expect: accepted

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __has_include("/etc/shadow") || __has_include("../../../reference/assignment3/kernel.cu")
    C[i] = 1e30f;
#else
    if (i < N) {
        C[i] = A[i] + B[i];
    }
#endif
}
