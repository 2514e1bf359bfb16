"""What the host compiler gets to see, and how kernels are called there."""

from __future__ import annotations

from grader.programs.host_source import host_half
from grader.programs.symbols import entry, launched

TEXT = """
__device__ float twice(float x) { return __fmul_rn(x, 2); }
template <class T>
__device__ T both(T x) {
  return __shfl_sync(~0u, x, 0);
}
__host__ __device__ int shared(int x) { return x + 1; }
__global__ void k(float* x) { x[threadIdx.x] = twice(x[0]); }
__constant__ float table[4];
struct S {
  float v;
  __device__ float get() const { return __ldg(&v); }
  __host__ __device__ S(float v) : v(v) {}
};
int main() { k<<<1, 32>>>(0); }
"""


def test_device_code_is_blanked_and_lines_stay() -> None:
    half = host_half(TEXT)
    assert [len(a) for a in half.split("\n")] == [len(a) for a in TEXT.split("\n")]
    for gone in ("__fmul_rn", "__shfl_sync", "__ldg", "threadIdx"):
        assert gone not in half
    for kept in (
        "__host__ __device__ int shared(int x) { return x + 1; }",
        "__global__ void k(float* x) {",
        "__constant__ float table[4];",
        "S(float v) : v(v) {}",
        "int main() { k<<<1, 32>>>(0); }",
    ):
        assert kept in half


def test_all_declarations_of_a_device_function_go_or_stay_together() -> None:
    text = (
        "template <class T> __device__ T wide(float a);\n"
        "template <> __device__ int wide(float a) { return __float2int_rn(a); }\n"
        "static __device__ float* unnamed(int n);\n"
        "__device__ float add(float x);\n"
        "__device__ float add(float x) { return x + 1; }\n"
        "__device__ float (*pointer)(float) = add;\n"
        "__device__ float value(1);\n"
        "int main() { use<wide<int>>(); }"
    )
    half = host_half(text)
    assert [len(a) for a in half.split("\n")] == [len(a) for a in text.split("\n")]
    assert [" ".join(line.split()) for line in half.split("\n")] == [
        "template <class T> T wide(float a);",
        "template <> int wide(float a) ;",
        "",
        "float add(float x);",
        "float add(float x) ;",
        "__device__ float (*pointer)(float) = add;",
        "__device__ float value(1);",
        "int main() { use<wide<int>>(); }",
    ]


def test_launches_that_an_editor_has_pulled_apart() -> None:
    apart = "int main() { k << <2, 32 >> > (0); }"
    assert host_half(apart) == "int main() { k  <<<2, 32  >>> (0); }"
    for kept in ("ostream& operator<< <int>(A<B<int>> >(0));", "x = a << b; A<B<int> > c(0);"):
        assert host_half(kept) == kept


def test_kernels_by_symbol_and_name() -> None:
    code = (
        '@0 = private unnamed_addr constant [19 x i8] c"_ZN1n1kIfLi2EEEvPf\\00", align 1\n'
        '@1 = private unnamed_addr constant [8 x i8] c"_ZL1sPf\\00", align 1\n'
        "  %2 = tail call i32 @__cudaRegisterFunction(ptr %1, ptr nonnull @_ZN1n1dEPf, "
        "ptr nonnull @0, ptr nonnull @0, i32 -1)\n"
        "  %3 = tail call i32 @__cudaRegisterFunction(ptr %1, ptr nonnull @_ZL1dPf, "
        "ptr nonnull @1, ptr nonnull @1, i32 -1)\n"
        '!5 = distinct !DISubprogram(name: "k<float, 2>", linkageName: "_ZN1n1dEPf", scope: !7,\n'
        '!6 = distinct !DISubprogram(name: "s", linkageName: "_ZL1dPf", scope: !3,\n'
        '!7 = !DINamespace(name: "n", scope: null)\n'
    )
    found = launched(code)
    assert found == {"_ZN1n1kIfLi2EEEvPf": "n::k<float, 2>", "_ZL1sPf": "s"}
    entries = {"n::k<float, 2>": "_ZN1n1kIfLi2EEEvPf", "_Z1sPf": "_Z1sPf"}
    assert entry("_ZN1n1kIfLi2EEEvPf", "n::k<float, 2>", entries) == "_ZN1n1kIfLi2EEEvPf"
    assert entry("_ZL1sPf", "s", entries) == "_Z1sPf"
    assert entry("_Z5otherv", "other", entries) is None
