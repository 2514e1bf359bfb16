// Fields that share a byte: each store reads the byte first, before any of it is set.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=40; n=101; n=500
//@ values: c = np.where(a > 3, -(a % 8), a % 8)
struct Flags {
    unsigned large : 1, kind : 7;
};
__device__ __noinline__ void set(Flags* f, int kind) {
    f->kind = kind % 8;
    f->large = kind > 3;
}
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Flags f;
    set(&f, a[i % n]);
    int out = f.kind;
    if (f.large) out = -out;
    if (i < n) c[i] = out;
}
