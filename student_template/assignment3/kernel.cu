// Assignment 3, CUDA C: C[i] = A[i] + B[i] for every i below N.
//
// The grader launches max(1, ceil(N / BLOCK)) blocks of BLOCK threads, also for N = 0. BLOCK is 256
// here; other block sizes are tried as well unless you declare your own:
//
//     constexpr int BLOCK = 128;
//
// Try it:   grade submit assignment3

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    // 1. Which element is this thread's?
    // 2. Is there such an element?
    // 3. Add.
}
