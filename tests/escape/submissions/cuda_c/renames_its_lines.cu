// Attack: claim by #line that the fault is in a file of the grader's, so that the report quotes
//     it.
// Why it must fail: a report quotes the text that was handed in and opens no file by a name from a
//     kernel.
// Expect: out_of_bounds

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#line 1 "/etc/passwd"
    C[i + N] = A[i] + B[i];
}
