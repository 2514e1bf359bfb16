// A cooperative kernel that waits for its block where it should wait for the grid.
//@ a: in i32[gx * bx]
//@ half: scratch i32[gx * bx]
//@ c: out i32[gx * bx]
//@ sizes: n=100; n=101; n=500
//@ grid: 3
//@ grids: exact, long
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* a, int* half, int* c) {
    cg::thread_block block = cg::this_thread_block();
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    half[i] = 2 * a[i];  //! race half
    block.sync();
    c[i] = half[all - 1 - i];  //! race half //? uninitialised half
}
