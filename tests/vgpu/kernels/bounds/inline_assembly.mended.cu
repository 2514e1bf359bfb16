// Inline assembly with its own registers, spelt without spaces, behind a guard.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=1009
//@ blocks: 40, 256
//@ values: c = 2 * a + (2 * a > 5)
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum;
    asm("{.reg.b32 t; .reg.pred q;\n"
        " shl.b32 t, %1, 1;\n"
        " setp.gt.s32 q, t, 5;\n"
        "@q add.s32 t, t, 1;\n"
        " mov.b32 %0, t;}" : "=r"(sum) : "r"(a[i]));
    c[i] = sum;
}
