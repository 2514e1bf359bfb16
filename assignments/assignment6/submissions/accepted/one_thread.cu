// expect: verdict=accepted
// expect: speed=0
// One thread sums everything: no atomics, no barriers, and one long chain of additions.

__global__ void reduce_sum(const float* x, float* total, float* partial, unsigned int* arrived,
                           int n) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += x[i];
    }
    *total = static_cast<float>(sum);
}
