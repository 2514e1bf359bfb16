//@ a: in i32[gx * bx]
//@ half: scratch i32[gx * bx]
//@ c: out i32[gx * bx]
//@ sizes: n=100; n=101; n=500
//@ grid: 3
//@ grids: exact, long
//@ values: c = 2 * a[::-1]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* a, int* half, int* c) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    half[i] = 2 * a[i];
    grid.sync();
    c[i] = half[all - 1 - i];
}
