// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=9 access=read buffer=A
// expect: kind=out_of_bounds line=12 access=write buffer=C
// Rounds the number of float4 up: the last one reaches past the end unless N is a multiple of 4.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (N + 3) / 4) {
        float4 a = ((const float4*)A)[i];
        float4 b = ((const float4*)B)[i];
        float4 c = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        ((float4*)C)[i] = c;
    }
}
