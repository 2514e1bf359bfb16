// The wait for the lock is a plain load: a compiler may do it once and wait for ever.
//@ lock: inout i32[1] = 0
//@ total: inout i32[1] = 0
//@ n: i32 = n
//@ sizes: n=3; n=5; n=6
//@ blocks: 1, 40, 100
//@ grid: n
extern "C" __global__ void k(int* lock, int* total, int n) {
    if (threadIdx.x) return;
    for (bool done = false; !done;) {
        while (*lock != 0) {}                //! race lock
        if (atomicCAS(lock, 0, 1) == 0) {    //! race lock
            __threadfence();
            *total += 1;
            __threadfence();
            atomicExch(lock, 0);             //? race lock
            done = true;
        }
    }
}
