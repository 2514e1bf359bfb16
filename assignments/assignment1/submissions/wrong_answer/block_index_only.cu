// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// The block's number is taken for the element's: all threads of a block do the same one.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
