// Attack: answer with what an earlier kernel left in shared memory, which may be the reference's
//     result.
// Why it must fail: shared memory that was never written has no value: using it is a fault.
// Expect: uninitialised wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float left[1024];
    if (i < N) {
        C[i] = left[threadIdx.x];
    }
}
