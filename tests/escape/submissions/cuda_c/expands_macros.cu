// Attack: a preprocessor bomb: ten lines that expand to 10^10 words.
// Why it must fail: the compiler has a limit of time and memory, and is the student's to break.
// Expect: build_failed

#define A1 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1
#define A2 A1 + A1 + A1 + A1 + A1 + A1 + A1 + A1 + A1 + A1
#define A3 A2 + A2 + A2 + A2 + A2 + A2 + A2 + A2 + A2 + A2
#define A4 A3 + A3 + A3 + A3 + A3 + A3 + A3 + A3 + A3 + A3
#define A5 A4 + A4 + A4 + A4 + A4 + A4 + A4 + A4 + A4 + A4
#define A6 A5 + A5 + A5 + A5 + A5 + A5 + A5 + A5 + A5 + A5
#define A7 A6 + A6 + A6 + A6 + A6 + A6 + A6 + A6 + A6 + A6
#define A8 A7 + A7 + A7 + A7 + A7 + A7 + A7 + A7 + A7 + A7
#define A9 A8 + A8 + A8 + A8 + A8 + A8 + A8 + A8 + A8 + A8
__device__ const long long big = A9 + A9 + A9 + A9 + A9 + A9 + A9 + A9 + A9 + A9;

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i] + big;
    }
}
