// expect: verdict=build_failed
// expect: kind=diagnostic line=5
// __device__ makes a function that only kernels can call; a kernel is __global__.

__device__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
