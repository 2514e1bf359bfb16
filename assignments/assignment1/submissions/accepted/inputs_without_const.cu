// expect: verdict=accepted
// As textbooks declare it: nothing is const, and nothing but C is written to.

__global__ void vec_add(float *a, float *b, float *c, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
