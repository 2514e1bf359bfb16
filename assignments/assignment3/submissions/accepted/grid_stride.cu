// expect: verdict=accepted
// Right for any grid: each thread steps over the array by the number of threads there are.
// Parameter names are free, and so is extern "C".

extern "C" __global__ void vec_add(const float* __restrict__ x, const float* __restrict__ y,
                                   float* __restrict__ out, const int count) {
    int stride = gridDim.x * blockDim.x;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += stride) {
        out[k] = x[k] + y[k];
    }
}
