// A fence that orders memory for the own block only, for data that another block reads.
//@ partial: scratch i32[gx]
//@ counter: inout i32[1] = 0
//@ c: out i32[1]
//@ sizes: n=3; n=5; n=8
//@ blocks: 40
//@ grid: n
//@ grids: exact
extern "C" __global__ void k(int* partial, int* counter, int* c) {
    if (threadIdx.x != 0) return;
    partial[blockIdx.x] = blockIdx.x + 1;  //! race partial
    __threadfence_block();
    if (atomicAdd(counter, 1) == gridDim.x - 1) {
        __threadfence_block();
        int total = 0;
        for (int j = 0; j < gridDim.x; j++) total += partial[j];  //! race partial
        *c = total;
    }
}
