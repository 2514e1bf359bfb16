// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// Assumes 256 threads without declaring BLOCK: with blocks of 128 every other half is missing.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
