// Attack: define away the words in which the contract is judged.
// Why it must fail: they are undefined again before they are used.
// Expect: build_failed

__global__ void vec_add(const double* A, const double* B, double* C, long long N) {
    C[0] = A[0];
}
#define static_assert(...)
#define static_cast
#define sizeof(...) 1
#define float double
#define int long long
