//@ a: in f16[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=4; n=101; n=1000
//@ values: c = a.astype(np.float32)
#include <cuda_fp16.h>
extern "C" __global__ void k(const __half* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __half2float(a[i]);
}
