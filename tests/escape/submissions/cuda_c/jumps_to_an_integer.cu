// Attack: call an address made of an integer as if it were a function.
// Why it must fail: a function's address is a number of the engine's; any other is an error.
// Expect: crashed not_gradable out_of_bounds build_failed

typedef float (*Function)(float);

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile unsigned long long address = 0x4141414141414141ull + i;
    if (i < N) {
        C[i] = ((Function)address)(A[i]);
    }
}
