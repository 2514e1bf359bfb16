// Attack: set the inputs to zero, so that a reference computed from them afterwards is zero too.
// Why it must fail: writing an input is a fault, and the oracle has its own pristine copy.
// Expect: input_modified

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        const_cast<float*>(A)[i] = 0.0f;
        const_cast<float*>(B)[i] = 0.0f;
        C[i] = 0.0f;
    }
}
