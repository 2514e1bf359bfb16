// Attack: smuggle a workflow command, terminal escapes and markup through the compiler's message.
// Why it must fail: reports escape every text that is not ours.
// Expect: build_failed

#error ::error file=grade::0wned%0A::set-output name=points::100 <script>alert(1)</script> [2J
__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
}
