// Leaky ReLU, CUDA C: y[i] = x[i] where x[i] is positive, else slope * x[i], for every i below n.
//
// The grader launches max(1, ceil(n / BLOCK)) blocks of BLOCK threads. BLOCK is 256 here; other
// block sizes are tried as well unless you declare your own:
//
//     constexpr int BLOCK = 128;
//
// Try it:   grade submit worked_example

__global__ void leaky_relu(const float* x, float* y, float slope, int n) {
    // 1. Which element is this thread's?
    // 2. Is there such an element?
    // 3. Compute it.
}
