// Attack: feed the engine's parser what no compiler writes.
// Why it must fail: a text it cannot read is the student's build that failed, not a crash of ours.
// Expect: build_failed not_gradable

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile(".loc 99999 99999 99999; .pragma \"nounroll\"; {{{{ add.f32 %nope, %nope, , ;");
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
