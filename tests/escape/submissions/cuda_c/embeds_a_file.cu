// Attack: have the assembler or the preprocessor read a file: .incbin, #embed.
// Why it must fail: PTX knows no .incbin, and the file cannot be opened.
// Expect: build_failed not_gradable

__device__ const unsigned char stolen[] = {
#embed "/etc/passwd"
};
asm(".incbin \"/etc/passwd\"");

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = stolen[i % 16];
    }
}
