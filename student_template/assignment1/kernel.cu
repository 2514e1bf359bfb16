// Assignment 1, CUDA C: C[i] = A[i] + B[i] for every i below N.
//
// Try it:   grade submit assignment1

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    // Which element is this thread's? Is there such an element? Then add.
}
