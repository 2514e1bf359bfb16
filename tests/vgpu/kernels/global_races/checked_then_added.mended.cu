// The check and the addition are one step: compare-and-swap looks at what was read.
//@ count: inout i32[1] = 0
//@ limit: i32 = limit
//@ sizes: limit=5; limit=41; limit=100
//@ grid: 4
//@ grids: exact, long
//@ values: count = [min(limit, gx * bx)]
extern "C" __global__ void k(int* count, int limit) {
    int old = *count, assumed;
    while (old < limit) {
        assumed = old;
        old = atomicCAS(count, assumed, assumed + 1);
        if (old == assumed) break;
    }
}
