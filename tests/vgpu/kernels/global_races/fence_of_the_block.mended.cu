//@ partial: scratch i32[gx]
//@ counter: inout i32[1] = 0
//@ c: out i32[1]
//@ sizes: n=3; n=5; n=8
//@ blocks: 40, 50, 60
//@ grid: n
//@ values: c = [gx * (gx + 1) // 2]
extern "C" __global__ void k(int* partial, int* counter, int* c) {
    if (threadIdx.x != 0) return;
    partial[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    if (atomicAdd(counter, 1) == gridDim.x - 1) {
        __threadfence();
        int total = 0;
        for (int j = 0; j < gridDim.x; j++) total += partial[j];
        *c = total;
    }
}
