// Attack: have no guard, so that the last block reads and writes past the end, which a card
//     forgives.
// Why it must fail: every access is checked against its buffer, and sizes are no multiples of the
//     block.
// Expect: out_of_bounds

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] = A[i] + B[i];
}
