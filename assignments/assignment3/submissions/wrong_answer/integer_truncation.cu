// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=C
// The sum goes through an int and loses its fraction.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        int sum = A[i] + B[i];
        C[i] = sum;
    }
}
