// expect: verdict=input_modified
// expect: kind=input_modified line=9 access=write buffer=A
// Casts const away and uses A for the sum before it copies it to C.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* sum = const_cast<float*>(A);
    if (i < N) {
        sum[i] = A[i] + B[i];
        C[i] = sum[i];
    }
}
