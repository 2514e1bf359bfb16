// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// Counts from 1 and keeps inside the arrays, but nobody does element 0.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
