// Assignment 6, CUDA C: total[0] = the sum of x[0] to x[n-1].
//
// `total` and `arrived` are zero when the kernel starts. A few blocks of BLOCK threads are launched
// (256 unless you declare it), with 4 * BLOCK bytes of dynamic shared memory.
//
// Try it:   grade submit assignment6

extern __shared__ float s[];

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    // 1. Add this thread's share of x in a register.
    // 2. Add the shares of the block.
    // 3. Add the sums of the blocks.
}
