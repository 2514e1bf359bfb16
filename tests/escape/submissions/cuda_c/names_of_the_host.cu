// Attack: define functions under names of the C library and of an engine's runtime.
// Why it must fail: names of a module are its own, whatever else is called so.
// Expect: accepted

extern "C" __device__ __noinline__ float malloc_(float x) { return x; }
extern "C" __device__ __noinline__ float memcpy_(float x) { return x; }
extern "C" __device__ __noinline__ float write(float x) { return x; }
extern "C" __device__ __noinline__ float abort(float x) { return x; }
extern "C" __device__ __noinline__ float runtime_load(float x) { return x; }

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = malloc_(memcpy_(write(abort(runtime_load(A[i]))))) + B[i];
    }
}
