// expect: verdict=misaligned
// expect: kind=misaligned line=10 access=read buffer=A
// The last four elements as one float4: its address is a multiple of 16 for some N only.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    C[i] = A[i] + B[i];
    if (i == 0 && N >= 4) {
        float4 a = *(const float4*)(A + N - 4);
        C[N - 1] = a.w + B[N - 1];
    }
}
