// Attack: let a library do the work.
// Why it must fail: only the toolkit's device headers are there.
// Expect: build_failed

#include <cublas_v2.h>
#include <thrust/device_ptr.h>
#include <thrust/transform.h>

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        thrust::transform(thrust::seq, A, A + N, B, C, thrust::plus<float>());
    }
}
