// Slots of a queue are handed out by reading and storing the tail.
//@ a: in i32[n]
//@ tail: inout i32[1] = 0
//@ queue: scratch i32[gx * bx]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* tail, int* queue, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] % 2) {
        int slot = *tail;  //! race tail
        *tail = slot + 1;  //! race tail
        queue[slot] = i;  //! race queue
    }
}
