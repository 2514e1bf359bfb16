// Two fields of a byte each: the second is used and was never set.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=40; n=101; n=500
struct Flags {
    unsigned kind : 8, rank : 8;
};
__device__ __noinline__ void set(Flags* f, int kind) { f->kind = kind; }
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Flags f;
    set(&f, a[i % n]);
    int out = f.kind;  //? uninitialised
    if (f.rank > 3) out = -out;  //! uninitialised
    if (i < n) c[i] = out;  //? uninitialised
}
