// Attack: leave a comment open at the end, to swallow the contract that is appended.
// Why it must fail: an open comment is an error of the compiler's.
// Expect: build_failed

__global__ void vec_add(const double* A, const double* B, double* C, long long N) {
    C[0] = A[0];
}
/*
