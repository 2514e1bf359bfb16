"""The build child: what it compiles, for which calls, and what it refuses with which words."""

from __future__ import annotations

import sys

import pytest

from grader.languages import Contract, Parameter


def message(header):
    assert header["variants"] == []
    (problem,) = header["diagnostics"]
    return problem["line"], problem["message"]


def test_one_variant_per_specialisation(compile_here, kernel):
    header, ptx = compile_here(kernel)
    assert header["diagnostics"] == []
    by_calls = {
        tuple(v["calls"]): (v, text) for v, text in zip(header["variants"], ptx, strict=True)
    }
    assert set(by_calls) == {(0, 3), (1,), (2,)}  # multiples of 16; 1; the rest
    names = {c: [p["name"] for p in v["parameters"]] for c, (v, _) in by_calls.items()}
    assert names[(0, 3)] == ["A", "B", "C", "n", "", ""]
    assert names[(1,)] == ["A", "B", "C", "", ""]  # n == 1 is compiled in
    assert "ld.global.v4" in by_calls[(0, 3)][1]
    assert "ld.global.v4" not in by_calls[(2,)][1]
    assert all(v["constants"]["BLOCK"] == 1024 for v in header["variants"])


@pytest.mark.parametrize(
    ("prefix", "block"),
    [
        ("", 1024),
        ("BLOCK = 256\n", 256),
        ("import triton.language as tl\nBLOCK = tl.constexpr(64)\n", 64),
    ],
)
def test_block_is_a_module_constant_or_the_default(compile_here, kernel, prefix, block):
    header, _ = compile_here(prefix + kernel)
    assert {v["constants"]["BLOCK"] for v in header["variants"]} == {block}


def test_warps_and_stages_of_the_module(compile_here, kernel):
    header, ptx = compile_here("num_warps = 8\nnum_stages = 2\n" + kernel)
    assert header["variants"][0]["constants"]["num_warps"] == 8
    assert header["variants"][0]["constants"]["num_stages"] == 2
    assert ".reqntid 256" in ptx[0]


def test_every_autotune_choice_and_heuristics(compile_here, kernel):
    decorated = kernel.replace(
        "@triton.jit",
        "@triton.autotune([triton.Config({'BLOCK': 128}, num_warps=4),\n"
        "                  triton.Config({'BLOCK': 512}, num_warps=8)], key=['n'])\n"
        "@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})\n"
        "@triton.jit",
    ).replace("BLOCK: tl", "EVEN: tl.constexpr, BLOCK: tl")
    header, _ = compile_here(decorated)
    found = {
        (v["name"], call): v["constants"]["EVEN"] for v in header["variants"] for call in v["calls"]
    }
    assert found[("BLOCK=128 num_warps=4", 3)] == 1  # 1024 is a multiple of both
    assert found[("BLOCK=512 num_warps=8", 2)] == 0  # 1000 of neither
    assert len(found) == 8


def test_host_side_is_neither_needed_nor_run(compile_here, kernel, monkeypatch):
    # A build child is fresh; this process may have loaded the real torch for another test.
    for name in [n for n in sys.modules if n.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    header, _ = compile_here(
        "import torch\nimport torch.nn.functional as F\n" + kernel + "\n"
        "class Add(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x: torch.Tensor):\n"
        "        return x\n"
        "x = torch.rand(98432, device=triton.runtime.driver.active.get_active_torch_device())\n"
        "vec_add[lambda meta: (triton.cdiv(98432, meta['BLOCK']),)](x, x, x, 98432, BLOCK=1024)\n"
        "assert F.relu(x) is not None\n"
    )
    assert header["diagnostics"] == []


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("def vec_add", "def vecadd"), 6, "expected a @triton.jit function vec_add; found vecadd"),
        (("@triton.jit", ""), 6, "put `@triton.jit` above `def vec_add`"),
        ((": tl.constexpr", ""), 6, "write `BLOCK: tl.constexpr`"),
        (("b_ptr, c_ptr, n", "b_ptr, n"), 6, "expected 4 arguments besides constexprs (A: *fp32"),
        (("c_ptr, n,", "c_ptr, n: tl.constexpr,"), 6, "n is an argument of the launch"),
        (("c_ptr, n,", "c_ptr, n: tl.float32,"), 6, "expected n to be i32"),
        (("vec_add(a_ptr", "vec_add(a_ptr: tl.float32"), 6, "expected a_ptr to be *fp32"),
        (("BLOCK", "SIZE"), 6, "SIZE has no value: write `SIZE = …`"),
        (("tl.arange", "tl.arrange"), 7, "did you mean tl.arange?"),
        (("offs < n", "offs < LIMIT"), 8, "LIMIT is not defined"),
        (("import triton\n", "import triton\nLIMIT = 5\n"), 9, None),
        (("tl.load(b_ptr", "tl.load(b_ptr[0]"), 10, "tl.load(b_ptr + 0) reads memory"),
        (
            ("tl.load(a_ptr + offs, mask=mask)", "a_ptr[offs]"),
            9,
            "tl.load(a_ptr + offs) reads memory",
        ),
        (("tl.store(c_ptr + offs, a + b, mask=mask)", "c_ptr[offs] = a"), 11, "tl.store(pointer"),
        (
            ("import triton\n", "import triton\ndef plus(a, b):\n    return a + b\n"),
            13,
            "write @triton.jit above it",
        ),
        (("mask = offs < n", "mask = offs <"), 8, "the file is not valid Python"),
        (("import triton\n", "import triton\nimport no_such_module\n"), 2, "no_such_module"),
        (("import triton\n", "import triton\n1 / 0\n"), 2, "ZeroDivisionError"),
        (("import triton\n", "import sys\nsys.exit(0)\n"), 2, "__main__"),
        (("import triton\n", "import triton\nBLOCK = 1000\n"), 8, "(BLOCK = 1000)"),
        (("import triton\n", "import triton\nnum_warps = 3\n"), 7, "(num_warps = 3)"),
    ],
)
def test_refusals_name_the_line_and_the_remedy(compile_here, kernel, change, line, words):
    text = kernel.replace(*change)
    if words is None:  # a global read in the kernel
        text, words = text.replace("offs < n", "offs < LIMIT"), "cannot read the global LIMIT"
    if "def plus" in text:
        text = text.replace("a + b, mask", "plus(a, b), mask")
    header, _ = compile_here(text)
    found_line, found = message(header)
    assert words in found
    assert found_line == line


def test_an_error_in_a_helper_is_on_the_helpers_line(compile_here, kernel):
    text = kernel + "\n\n@triton.jit\ndef twice(x):\n    return tl.dubble(x)\n"
    header, _ = compile_here(text.replace("a + b", "twice(a)"))
    assert message(header)[0] == 16


def test_pointers_of_all_types_compile(compile_here):
    types = ("fp16", "bf16", "fp64", "i8", "i16", "i64", "u8", "u32")
    contract = Contract(
        kernel="copy",
        parameters=tuple(Parameter(name=f"p{i}", type=f"*{t}") for i, t in enumerate(types)),
        constants={"BLOCK": 128},
    )
    names = ", ".join(f"p{i}" for i in range(len(types)))
    body = "".join(f"    tl.store(p{i} + o, tl.load(p{i} + o))\n" for i in range(len(types)))
    header, ptx = compile_here(
        "import triton\nimport triton.language as tl\n@triton.jit\n"
        f"def copy({names}, BLOCK: tl.constexpr):\n    o = tl.arange(0, BLOCK)\n{body}",
        contract,
    )
    assert header["diagnostics"] == []
    assert header["variants"][0]["calls"] == []
    assert ptx[0].count(".param .u64") == len(types) + 2
