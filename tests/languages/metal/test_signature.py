"""Reading kernels: every attribute, spelling and instantiation; drawn signatures come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.languages.metal_signature import POSITIONS, ArgumentText, KernelText, Reading, read

FILE = "kernel.metal"


def reading(text: str) -> Reading:
    """The reading of a text as clang's preprocessor hands it on."""
    return read(f'# 1 "{FILE}"\n# 1 "<built-in>" 1\n# 1 "{FILE}" 2\n{text}', (FILE,))


def only(text: str) -> KernelText:
    (kernel,) = reading(text).kernels
    return kernel


ELEMENTS = (
    "float",
    "half",
    "int",
    "uint4",
    "float3",
    "packed_float3",
    "atomic_uint",
    "metal::half2",
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: name not in {"device", "constant", "thread", "kernel", "if", "for", "do", "int",
                              "float", "half", "uint", "char", "void", "bool", "auto", "or", "and",
                              "not", "new", "try", "asm", "xor", "this", "enum", "case", "long",
                              "short", "else", "goto", "vertex", "using", "union", "class"}
)  # fmt: skip
SPACE = st.sampled_from([" ", "  ", "\n    ", " /* a, b) */ ", " // note [[buffer(9)]]\n "])


@st.composite
def bound(draw: st.DrawFn, index: int | None) -> tuple[str, str, dict[str, str]]:
    """One buffer argument: its text without a name, the type as it is read, its attributes."""
    gap = draw(SPACE)
    element = draw(st.sampled_from(ELEMENTS))
    plain = element.removeprefix("metal::")
    kind, spelled = draw(
        st.sampled_from(
            [
                (f"device{gap}const {element} *", f"device const {plain}*"),
                (f"const device {element}*", f"device const {plain}*"),
                (f"device {element} const *", f"device const {plain}*"),
                (f"device{gap}{element}*", f"device {plain}*"),
                (f"constant {element} &", f"constant {plain}&"),
                (f"const constant {element}*", f"constant {plain}*"),
                (f"device {element}&", f"device {plain}&"),
            ]
        )
    )
    attribute = "" if index is None else f"[[{gap}buffer({index}){gap}]]"
    return f"{kind} NAME {attribute}", spelled, {} if index is None else {"buffer": str(index)}


@st.composite
def position(draw: st.DrawFn) -> tuple[str, str, dict[str, str]]:
    """One argument that the GPU fills."""
    name = draw(st.sampled_from(sorted(POSITIONS)))
    base = draw(st.sampled_from(["uint", "ushort"]))
    width = draw(st.sampled_from(["", "2", "3"] if POSITIONS[name] == 3 else [""]))
    return f"{base}{width} NAME [[{name}]]", f"{base}{width}", {name: ""}


@given(st.data())
def test_a_drawn_signature_is_read_back(data: st.DataObject) -> None:
    explicit = data.draw(st.booleans())
    count = data.draw(st.integers(0, 5))
    indices = data.draw(st.permutations(range(8)))[:count] if explicit else [None] * count
    drawn = [data.draw(bound(index)) for index in indices]
    drawn += [data.draw(position()) for _ in range(data.draw(st.integers(0, 3)))]
    drawn = data.draw(st.permutations(drawn))
    names = data.draw(st.lists(NAMES, min_size=len(drawn), max_size=len(drawn), unique=True))
    head = data.draw(st.sampled_from(["kernel void", "[[kernel]] void", "kernel\nvoid"]))
    listed = ",".join(
        text.replace("NAME", name) for (text, _, _), name in zip(drawn, names, strict=True)
    )
    kernel = only(f"using namespace metal;\n{head} work({listed}) {{ if (1) {{ }} }}\n")
    assert kernel.name == kernel.expression == "work"
    assert [(a.name, a.type, a.attributes) for a in kernel.arguments] == [
        (name, spelled, attributes)
        for (_, spelled, attributes), name in zip(drawn, names, strict=True)
    ]
    bound_names = [n for (_, _, attributes), n in zip(drawn, names, strict=True)
                   if not set(attributes) & set(POSITIONS)]  # fmt: skip
    found = {argument.name: index for index, argument in kernel.buffers}
    assert list(found) == bound_names
    if explicit:
        given_indices = {n: int(attributes["buffer"])
                         for (_, _, attributes), n in zip(drawn, names, strict=True)
                         if "buffer" in attributes}  # fmt: skip
        assert found == given_indices
    else:
        assert list(found.values()) == list(range(count))


@given(st.text(alphabet="kernelvoid (){}[]<>;,*&device float[[buffer(0)]]\n", max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    assert isinstance(reading(text), Reading)


@pytest.mark.parametrize("name", sorted(POSITIONS))
def test_every_position_of_the_specification_is_known(name: str) -> None:
    kernel = only(f"kernel void k(device int* a, uint x [[{name}]]) {{ a[0] = x; }}")
    assert kernel.arguments[1].position == name
    assert not kernel.arguments[1].bound


def test_attributes_of_the_kernel() -> None:
    kernel = only(
        '[[host_name("outside")]] [[max_total_threads_per_threadgroup(64)]]\n'
        "kernel void inside(device int* a) {}"
    )
    assert (kernel.name, kernel.expression) == ("outside", "inside")
    assert kernel.attributes["max_total_threads_per_threadgroup"] == "64"


def test_instances_of_a_template() -> None:
    found = reading(
        "template <typename T, int N>\n[[kernel]] void add(device T* a [[buffer(0)]]) {}\n"
        'template [[host_name("add" "_float")]] [[kernel]] void add<float, 4>(device float*);\n'
        'template [[host_name("add_vec")]] [[kernel]] decltype(add<vec<half, 2>, 1>) '
        "add<vec<half, 2>, 1>;\n"
    )
    assert [(k.name, k.expression, k.line) for k in found.kernels] == [
        ("add_float", "add<float, 4>", 3),
        ("add_vec", "add<vec<half, 2>, 1>", 4),
    ]
    assert [t.expression for t in found.templates] == ["add"]


def test_places_follow_the_preprocessor_s_markers() -> None:
    text = (
        f'# 1 "{FILE}"\n# 1 "mine.h" 1\nvoid helper() {{}}\n# 2 "{FILE}" 2\n\n'
        "  kernel void k(device int* a,\n                uint i [[thread_position_in_grid]]) {}\n"
    )
    found = read(text, (FILE, "mine.h"))
    (kernel,) = found.kernels
    assert (kernel.file, kernel.line, kernel.column) == (FILE, 3, 15)
    second: ArgumentText = kernel.arguments[1]
    assert (second.line, second.column) == (4, 17)
    assert found.functions == (("helper", 1, 6),)


def test_what_belongs_to_other_files_is_not_the_student_s() -> None:
    text = f'# 1 "/usr/lib/other.h"\nkernel void other(device int* a) {{}}\n# 1 "{FILE}"\n'
    assert read(text, (FILE,)).kernels == ()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("float* p = a;", ["float* p"]),
        ("const float &r = a[0];", ["const float &r"]),
        ("thread float* p = x; device int& r = a[0]; auto q = a;", []),
        ("float y = (float*)a;", ["float*"]),
        ("float y = b * c; int2 z(b * c, d & e);", []),
        ("float y[3] = {b * c, d & e};", []),
    ],
)
def test_pointers_that_name_no_address_space(statement: str, found: list[str]) -> None:
    text = f"kernel void k(device int* a) {{\n  {statement}\n}}\n"
    assert [(line, written) for _, line, written in reading(text).bare_pointers] == [
        (2, written) for written in found
    ]


@pytest.mark.parametrize(
    ("declaration", "found"),
    [
        ("device float x[4];", ["device float x[4]"]),
        ("threadgroup float tile[16];", ["threadgroup float tile[16]"]),
        ("const float pi = 3.14f;", ["const float pi"]),
        ("namespace n { int a = 1; }", ["int a"]),
        ("constexpr uint n = 4;", ["constexpr uint n"]),
        (
            "constant float pi = 3.14f; constexpr constant int two = 2;\n"
            "constant float3 up(0, 1, 0);",
            [],
        ),
        ("static constant float table[2] = {1, 2}; constexpr sampler s(coord::pixel);", []),
        ("constant bool f [[function_constant(0)]];", []),
        ("struct S { float x; int y[3]; }; enum E { a, b }; typedef float F; using G = int;", []),
        (
            "float f(float x); template <typename T> T g(T x);\n"
            "float h(float x) { float y = x; return y; }",
            [],
        ),
    ],
)
def test_variables_outside_of_functions_are_constant(declaration: str, found: list[str]) -> None:
    text = f"{declaration}\nkernel void k(device int* a) {{ threadgroup int t[3]; int x = 1; }}\n"
    assert [written for _, _, written in reading(text).globals] == found


def test_a_kernel_in_a_namespace_is_named_with_it() -> None:
    found = reading(
        "namespace outer { namespace inner {\nkernel void one(device int* a) {}\n"
        "template <typename T> kernel void add(device T* a) {}\n} }\n"
        'template [[host_name("add_int")]] kernel void outer::inner::add<int>(device int*);\n'
        'template [[host_name("add_f")]] kernel void ::outer::inner::add<float>(device float*);\n'
        "namespace { kernel void hidden(device int* a) {} }\n"
    )
    assert [(k.name, k.expression) for k in found.kernels] == [
        ("outer::inner::one", "outer::inner::one"),
        ("hidden", "hidden"),
        ("add_int", "outer::inner::add<int>"),
        ("add_f", "outer::inner::add<float>"),
    ]
