"""What the host compiler gets to see, and how kernels are called there."""

from __future__ import annotations

from grader.programs.host_source import host_halves
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
  __device__ S(int i) : v(__int2float_rn(i)) { v += 1; }
};
int main() { k<<<1, 32>>>(0); }
"""


def host_half(text: str) -> str:
    return host_halves({"a.cu": text})["a.cu"]


def test_device_code_is_blanked_and_lines_stay() -> None:
    half = host_half(TEXT)
    assert [len(a) for a in half.split("\n")] == [len(a) for a in TEXT.split("\n")]
    for gone in ("__fmul_rn", "__shfl_sync", "__ldg", "threadIdx", "__int2float_rn", "v += 1"):
        assert gone not in half
    for kept in (
        "__host__ __device__ int shared(int x) { return x + 1; }",
        "__global__ void k(float* x) {",
        "__constant__ float table[4];",
        "S(float v) : v(v) {}",
        "__device__ S(int i) ; ",
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


def test_a_device_function_stays_where_any_file_names_it() -> None:
    files = {
        "sum.cuh": "template <class T> __device__ T sum(T v);\n",
        "float.cuh": "// the sum\ntemplate <> __device__ float sum(float v) { return v; }\n",
        "main.cu": "// no sum\nint main() { int sum = 0; return sum; }\n",
    }
    halves = host_halves(files)
    assert [" ".join(halves[name].split()) for name in ("sum.cuh", "float.cuh")] == [
        "template <class T> T sum(T v);",
        "// the sum template <> float sum(float v) ;",
    ]
    halves = host_halves({**files, "main.cu": "// no sum\nint main() {}\n"})
    assert [" ".join(halves[name].split()) for name in ("sum.cuh", "float.cuh")] == [
        "",
        "// the sum",
    ]


def test_macros_may_say_where_a_function_runs() -> None:
    text = (
        "#define ON_DEVICE inline __device__  // both\n"
        "#define BOTH __host__ __device__\n"
        "#define KERNEL __global__ void\n"
        "ON_DEVICE float rcp(float x) { return __frcp_rn(x); }\n"
        "ON_DEVICE float named(float x) { return __frcp_rn(x); }\n"
        "BOTH float twice(float x) { return 2 * x; }\n"
        "KERNEL k(float* x) { x[threadIdx.x] = rcp(2); }\n"
        "int main() { k<<<1, 1>>>(use(named)); }"
    )
    half = host_half(text)
    assert [" ".join(line.split()) for line in half.split("\n")][3:] == [
        "",
        "float named(float x) ;",
        "BOTH float twice(float x) { return 2 * x; }",
        "KERNEL k(float* x) { }",
        "int main() { k<<<1, 1>>>(use(named)); }",
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
