// Attack: close the function from inline assembly and write an entry of its own behind it.
// Why it must fail: the text of a kernel is parsed, not trusted; a second entry is not the one
//     that is launched.
// Expect: build_failed not_gradable wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile(
        "ret;\n}\n.visible .entry stolen(.param .u64 p) {\n.reg .b32 %fake;\nmov.u32 %fake, 0;");
    if (i < N) {
        C[i] = 0.0f;
    }
}
