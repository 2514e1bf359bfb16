// expect: verdict=accepted
// Declares BLOCK, so the grader launches blocks of that many threads and the index may rely on it.

constexpr int BLOCK = 512;

__device__ float sum_at(const float* a, const float* b, int i) {
    return a[i] + b[i];
}

__global__ void __launch_bounds__(BLOCK) vec_add(const float* A, const float* B, float* C, int N) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= static_cast<unsigned>(N)) return;
    C[i] = sum_at(A, B, i);
}
