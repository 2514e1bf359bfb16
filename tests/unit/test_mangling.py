"""Names of PTX entries, as NVRTC mangles them."""

from __future__ import annotations

import pytest

from grader.mangling import function_name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("vec_add", "vec_add"),
        ("_Z7vec_addPKfS0_Pfi", "vec_add"),
        ("_Z4fillIfLi3EEvPT_", "fill"),
        ("_ZL7vec_addPKf", "vec_add"),
        ("_ZN5outer5inner1kEv", "k"),
        ("_ZN12_GLOBAL__N_11kEv", "k"),
        ("_Z", "_Z"),
        ("_Z3ab", "ab"),
    ],
)
def test_the_function_s_own_name(symbol: str, name: str) -> None:
    assert function_name(symbol) == name


def test_every_entry_that_nvrtc_makes_has_its_name() -> None:
    text = """
    __global__ void a(float*, int4) {}
    static __global__ void b() {}
    namespace n { namespace m { __global__ void c(float) {} } }
    namespace { __global__ void d(unsigned long long) {} }
    extern "C" __global__ void e() {}
    template <class T, int N> __global__ void f(T*) {}
    template __global__ void f<float, 3>(float*);
    """
    from grader.languages.cuda_compile import compile_submission

    _, artefact = compile_submission(text, "k.cu", (), submission_headers={}, toolkit=None)
    assert artefact is not None
    assert {function_name(entry) for entry in artefact.variants[0].entries} >= set("acdef")
