// expect: verdict=accepted
// The same with the guard first, a declared block and 64-bit indices.

#define BLOCK 128

__global__ void vec_add(const float* first, const float* second, float* sum, int count) {
    const size_t element = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (element >= size_t(count)) return;
    sum[element] = first[element] + second[element];
}
