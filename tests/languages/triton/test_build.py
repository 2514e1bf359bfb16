"""From a file to an artefact through the sandboxed child: caching, logs, and children that die."""

from __future__ import annotations

import pytest

from grader import cache
from grader.languages import triton
from grader.sandbox import Limits

pytestmark = pytest.mark.skipif(
    triton.missing() is not None, reason="Triton has wheels for Linux only"
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))


def test_an_artefact_serves_every_call(contract, kernel):
    (build,), artefact = triton.build(kernel, "kernel.py", (contract,))
    assert build.ok and build.compiler == "triton" and build.version == triton.version()
    assert artefact.names == ("optimised", "optimised, undefined lanes")
    for call in contract.calls:
        variant = artefact.select("optimised", "vec_add", call)
        assert variant.entries == {"vec_add": "vec_add"}
        assert variant.block == (128, 1, 1)
        assert variant.optimised
        undefined = artefact.select("optimised, undefined lanes", "vec_add", call)
        assert not undefined.optimised
        assert undefined.parameters == variant.parameters
    assert artefact.select("optimised", "vec_add", {"n": 5}) is None


def test_a_second_build_asks_no_child(contract, kernel, monkeypatch):
    first = triton.build(kernel, "kernel.py", (contract,))
    monkeypatch.setattr("grader.sandbox.call", None)
    assert triton.build(kernel, "kernel.py", (contract,))[1] == first[1]


def test_a_damaged_entry_is_built_again(contract, kernel, tmp_path):
    first = triton.build(kernel, "kernel.py", (contract,))
    (entry,) = (tmp_path / "triton").iterdir()
    entry.write_text("{}")
    assert triton.build(kernel, "kernel.py", (contract,))[1] == first[1]


def test_the_child_learns_no_size(contract):
    asked = triton._representative(contract, "no such decorator")
    assert asked.calls == ({"n": 16}, {"n": 1}, {"n": 7}, {"n": 16})


def test_a_compile_error_is_a_diagnostic_and_the_log_is_kept(contract, kernel):
    text = kernel.replace("tl.arange", "tl.arrange") + "\nprint('hello')\n"
    (build,), artefact = triton.build(text, "add.py", (contract,))
    assert artefact is None and not build.ok
    (diagnostic,) = build.diagnostics
    assert (diagnostic.file, diagnostic.line) == ("add.py", 7)
    assert "hello" in build.log


def test_a_child_that_dies_is_a_diagnostic_that_is_not_kept(contract, kernel):
    (build,), artefact = triton.build(f"import os\nos._exit(0)\n{kernel}", "add.py", (contract,))
    assert artefact is None
    assert "ended the build" in build.diagnostics[0].message
    assert not (cache.root() / "triton").exists()


def test_an_import_that_never_ends(contract, kernel, monkeypatch):
    monkeypatch.setattr(triton, "LIMITS", Limits(wall_seconds=3, cpu_seconds=3))
    (build,), _ = triton.build(f"while True: pass\n{kernel}", "add.py", (contract,))
    assert "took more than 3 s" in build.diagnostics[0].message


def test_a_file_that_needs_the_real_torch_gets_it(contract, kernel):
    pytest.importorskip("torch", reason="needs torch")
    text = f"import torch\nBLOCK = int(torch.finfo(torch.float32).bits) * 8\n{kernel}"
    (build,), artefact = triton.build(text, "add.py", (contract,))
    assert build.ok, build.diagnostics
    assert {v.constants["BLOCK"] for v in artefact.variants} == {256}


def test_a_malformed_reply_is_not_believed(contract, kernel):
    forged = (
        "import grader.languages.triton_compile as child\n"
        "child.compile_all = lambda *_: iter([({'name': 7, 'kernel': 'vec_add'}, 'no PTX')])\n"
    )
    (build,), artefact = triton.build(forged + kernel, "add.py", (contract,))
    assert artefact is None
    assert build.diagnostics[0].message == "the file's own code interfered with its build"
