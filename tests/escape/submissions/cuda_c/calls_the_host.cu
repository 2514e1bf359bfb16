// Attack: declare functions of the C library, in the hope that the engine links them.
// Why it must fail: a name that the module does not define is not looked up in the host's process.
// Expect: build_failed not_gradable

extern "C" __device__ int system(const char* command);
extern "C" __device__ void exit(int status);

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        system("touch /tmp/grade-escaped");
        exit(0);
    }
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
