// Attack: no guard, behind more harmless findings than are kept: the same value, written by many
//     threads at once, in six hundred places.
// Why it must fail: a finding that weighs less makes room.
// Expect: out_of_bounds

#define TEN(x) x x x x x x x x x x

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    __shared__ volatile int same;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    TEN(TEN(same = 1; same = 2; same = 3; same = 4; same = 5; same = 6;))
    C[i] = A[i] + B[i];
}
