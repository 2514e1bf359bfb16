//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=96; n=192; n=480
//@ blocks: 32, 64, 96
//@ grids: exact
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* a, int* c, int n) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i % n];
    for (int d = 8; d > 0; d /= 2) x += tile.shfl_down(x, d);
    if (i < n) c[i] = x;
}
