// Attack: leave a conditional open at the end, to skip the contract that is appended.
// Why it must fail: an open conditional is an error of the compiler's.
// Expect: build_failed

__global__ void vec_add(const double* A, const double* B, double* C, long long N) {
    C[0] = A[0];
}
#if 0
