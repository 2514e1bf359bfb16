"""Where the text of a file comes from: packages without an import, checkouts, never the network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader import notes
from grader.notes import facts, ladder, paths, sources
from grader.notes.__main__ import main
from grader.notes.sources import Sources
from tests.unit.notes.table import (
    METAL,
    MLX_CUDA,
    OUT,
    READS,
    VV,
    at,
    metal_add,
    mlx_cuda,
    numpy_add,
)

GUARD = "#if !defined(TORCH_STABLE_ONLY) && !defined(TORCH_TARGET_VERSION)\n"
TAIL = '#else\n#error "not here"\n#endif  // !defined(TORCH_STABLE_ONLY)\n'


@pytest.mark.parametrize("header", ["#pragma once\nint f();\n", "int f();\n\n", "int f();"])
def test_the_guard_around_a_header_is_undone(header: str) -> None:
    assert sources.unwrapped(GUARD + header + "\n" + TAIL) == header


def test_a_header_without_the_guard_stays_as_it_is() -> None:
    text = "#pragma once\n#else\n#error\n"
    assert sources.unwrapped(text) == text


def test_installed_headers_are_those_of_the_repository() -> None:
    """The blobs of the facts are found again in the installed package, unwrapped."""
    checked = 0
    for framework in ("pytorch", "mlx", "cupy"):
        version = sources.installed_version(framework)
        tag = "v" + (version or "").partition("+")[0]
        for record in facts.records():
            if (record.framework, record.ref) != (framework, tag) or record.blob is None:
                continue
            found = sources.in_package(framework, record.path)
            if found is not None and found.text is not None:
                assert facts.blob_id(found.text.encode()) == record.blob, record.path
                checked += 1
    if not checked:
        pytest.skip("no installed framework is a release that the facts know")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-C",
            str(folder),
            *arguments,
        ],
        check=True,
        capture_output=True,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository that calls itself MLX 9.9.0 and moved its kernel down by ten lines."""
    folder = tmp_path / "mlx"
    file = folder / MLX_CUDA
    file.parent.mkdir(parents=True)
    lines = [""] * 95
    lines[91:96] = [
        "  IdxT index = cg::this_grid().thread_rank();", "", f"  {READS}",
        "    for (IdxT i = index * N_READS; i < size; ++i) {", f"      {OUT}",
    ]  # fmt: skip
    file.write_text("\n".join(lines) + "\n")
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    git(folder, "tag", "v9.9.0")
    file.write_text("changed\n")
    return folder


def claims(text: str, use: Sources) -> dict[str, tuple[str, str]]:
    (entry,) = notes.check_text(text, "notes.toml", use=use).entries
    return {claim.claim: (claim.verdict, claim.reason) for claim in entry.claims}


def test_a_checkout_the_user_names_decides_an_unknown_release(checkout: Path) -> None:
    note = mlx_cuda("9.9.0", MLX_CUDA, 92)
    alone = claims(note, Sources(packages=False))
    assert alone["file"][0] == alone["bounds_check"][0] == "unknown"
    found = claims(note, Sources(packages=False, checkouts={"mlx": checkout}))
    assert found["bounds_check"] == (
        "right", f"line 94 is right (bounds check of {MLX_CUDA} at v9.9.0)",
    )  # fmt: skip
    assert found["global_id"][0] == found["operation"][0] == "right"
    off = claims(
        mlx_cuda("9.9.0", MLX_CUDA, 82), Sources(packages=False, checkouts={"mlx": checkout})
    )
    assert off["bounds_check"][0] == "partly"
    assert "it is line 94, not 84" in off["bounds_check"][1]


def test_the_command_takes_a_checkout(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "notes.toml"
    file.write_text(mlx_cuda("9.9.0", MLX_CUDA, 92))
    assert main([str(file), "--checkout", f"mlx={checkout}"]) == 0
    said = capsys.readouterr().out
    assert "mlx cuda v9.9.0: right" in said
    assert "bounds_check: right. line 94 is right" in said
    file.write_text(mlx_cuda("0.29.4", MLX_CUDA, 82, bounds_check={"lines": 84}))
    assert main([str(file)]) == 1
    assert "notes.toml:13: kernel[1].bounds_check" in capsys.readouterr().out
    for wrong in (["--checkout", "numpy"], ["--checkout", f"tensorflow={checkout}"]):
        with pytest.raises(SystemExit):
            main([str(file), *wrong])


def test_an_installed_header_decides_a_release_the_facts_do_not_know() -> None:
    version = sources.installed_version("mlx")
    if version is None or f"v{version}" in {one.tag for one in facts.releases("mlx")}:
        pytest.skip("needs an installed mlx of a release that the facts do not know")
    found = sources.in_package("mlx", METAL)
    assert found is not None and found.text is not None
    lines = facts.split_lines(found.text)
    kernel = next(n for n, line in enumerate(lines) if "void binary_vv(" in line)
    at_line = next(n for n in range(kernel, len(lines)) if "index + N > size" in lines[n]) + 1
    quoted = at(at_line, lines[at_line - 1])
    note = metal_add(version, at_line - 2, quoted, at(at_line + 2, VV))
    assert claims(note, Sources())["bounds_check"][0] == "right"
    assert claims(note, Sources(packages=False))["bounds_check"][0] == "unknown"


def test_a_checkout_says_that_a_file_does_not_exist(checkout: Path) -> None:
    use = Sources(packages=False, checkouts={"mlx": checkout})
    ref = ladder.resolve("mlx", "9.9.0", None, use)
    place = ladder.locate(paths.clean("mlx/backend/cuda/nowhere.cu", "mlx"), ref, use)
    assert (place.verdict, place.reason) == ("wrong", "does not exist in the checkout at v9.9.0")


def test_a_plain_folder_is_read_as_it_lies(checkout: Path, tmp_path: Path) -> None:
    found = sources.in_checkout(checkout, None, MLX_CUDA)
    assert found is not None and found.text == "changed\n"
    outside = tmp_path / "secret.txt"
    outside.write_text("secret")
    (checkout / "link.cu").symlink_to(outside)
    assert sources.in_checkout(checkout, None, "link.cu") is None
    assert sources.in_checkout(tmp_path / "missing", None, "x") is None


def test_without_being_asked_nothing_reaches_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    claims(numpy_add("9.9", "numpy/_core", 0), Sources())
    with pytest.raises(AssertionError):
        sources.clone("numpy", "v9.9.9")


def test_no_framework_is_imported_to_find_its_version() -> None:
    code = (
        "import sys; from grader.notes import sources; "
        "print([sources.installed_version(n) for n in sources.PACKAGES]); "
        "assert not {'torch', 'mlx', 'cupy'} & set(sys.modules)"
    )
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, capture_output=True)
