// The count is read plainly, and what was read is no longer true when the addition comes.
//@ count: inout i32[1] = 0
//@ limit: i32 = limit
//@ sizes: limit=5; limit=41; limit=100
//@ grid: 4
extern "C" __global__ void k(int* count, int limit) {
    if (*count < limit)        //! race count
        atomicAdd(count, 1);   //! race count
}
