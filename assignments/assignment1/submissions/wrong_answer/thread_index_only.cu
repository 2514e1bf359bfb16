// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// blockIdx is forgotten: every block does the first elements and nobody the rest.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
