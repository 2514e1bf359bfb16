// Attack: sleep until the grader gives up on the whole class.
// Why it must fail: device time is not the host's, and the loop runs out of fuel.
// Expect: timed_out not_gradable

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (N >= 0) {
        __nanosleep(1000000000);
    }
    C[i] = 0.0f;
}
