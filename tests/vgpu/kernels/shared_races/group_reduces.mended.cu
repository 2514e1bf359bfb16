// A sum by a cooperative group that is passed by value, as its base class.
//@ a: in i32[n]
//@ c: out i32[gx]
//@ n: i32 = n
//@ sizes: n=100; n=250; n=999
//@ blocks: 40, 96, 250
//@ grids: exact, long
//@ shared: 4 * bx
//@ values: c = [a[b * bx : (b + 1) * bx].sum() for b in range(gx)]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int sum(cg::thread_group group, int* s, int value) {
    int rank = group.thread_rank();
    for (int left = group.size(); left > 1; left = (left + 1) / 2) {
        s[rank] = value;
        group.sync();
        if (rank < left / 2) value += s[rank + (left + 1) / 2];
        group.sync();
    }
    return value;
}
extern "C" __global__ void k(const int* a, int* c, int n) {
    extern __shared__ int s[];
    cg::thread_block block = cg::this_thread_block();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int all = sum(block, s, i < n ? a[i] : 0);
    if (threadIdx.x == 0) c[blockIdx.x] = all;
}
