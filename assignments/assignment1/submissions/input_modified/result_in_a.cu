// expect: verdict=input_modified
// expect: kind=input_modified line=9 access=write buffer=A
// Stores to A through a cast; C stays empty.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* target = (float*)A;
    if (i < N) {
        target[i] = A[i] + B[i];
    }
}
