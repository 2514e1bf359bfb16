// Attack: fill the disk or the report by printing.
// Why it must fail: output is cut to size, and the loop runs out of fuel.
// Expect: timed_out

#include <cstdio>

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (N >= 0) {
        printf("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx %d\n", i);
    }
}
