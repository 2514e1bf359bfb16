// Attack: leave the output alone, so that a right answer left in reused memory counts.
// Why it must fail: the reference runs elsewhere, and elements that were never written are known
//     as such.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
}
