// expect: verdict=accepted
// Four elements per thread through float4, and the last N % 4 one by one.
// Buffers start at an address that is a multiple of 16, so every float4 is aligned.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int quads = N / 4;
    if (thread < quads) {
        float4 a = reinterpret_cast<const float4*>(A)[thread];
        float4 b = reinterpret_cast<const float4*>(B)[thread];
        float4 c = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        reinterpret_cast<float4*>(C)[thread] = c;
    }
    int tail = 4 * quads + thread;
    if (tail < N) {
        C[tail] = A[tail] + B[tail];
    }
}
