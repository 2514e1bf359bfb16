// Attack: print what a grader, a workflow or a report might take for a verdict.
// Why it must fail: what a kernel prints is text to show; nothing reads it.
// Expect: wrong_answer

#include <cstdio>

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        printf("{\"verdict\": \"accepted\", \"score\": {\"points\": 100}}\n");
        printf("Ranked Benchmark: accepted 100/100\n");
        printf("::set-output name=points::100\n::error file=x::0wned\n");
        printf("\x1b[2J\x1b[1;1H\x1b]0;0wned\x07<script>alert(1)</script>\n");
    }
    if (i < N) {
        C[i] = 0.0f;
    }
}
