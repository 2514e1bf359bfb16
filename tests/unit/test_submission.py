"""Reading what was handed in: what counts, and what is refused with a paragraph."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from grader import assignment, submission
from grader.assignment_schema import Assignment
from grader.errors import RefusedError, UsageError

KERNEL = "__global__ void vec_add() {}\n"


@pytest.fixture(scope="module")
def course() -> Assignment:
    shipped = Path(__file__).resolve().parents[2] / "assignments" / "assignment3"
    found = assignment.read(shipped / "assignment.toml")
    return found.model_copy(update={"languages": ("cuda-c", "metal", "triton")})


def refused(folder: Path, course: Assignment, **options: str) -> str:
    with pytest.raises(RefusedError) as raised:
        submission.read(folder, course, **options)  # type: ignore[arg-type]
    assert raised.value.exit_code == 1
    return f"{raised.value.message} {raised.value.hint}"


def test_a_folder_with_a_kernel_of_each_language_and_notes(
    tmp_path: Path, course: Assignment
) -> None:
    (tmp_path / "kernel.cu").write_bytes(b"\xef\xbb\xbf" + KERNEL.encode())
    (tmp_path / "vec_add.METAL").write_text("kernel void vec_add() {}\n")
    (tmp_path / "notes.toml").write_text("[[kernel]]\n")
    (tmp_path / "README.md").write_text("mine\n")
    (tmp_path / ".hidden.cu").write_text("no\n")
    found = submission.read(tmp_path, course)
    assert [(s.language, s.name) for s in found.sources] == [
        ("cuda-c", "kernel.cu"), ("metal", "vec_add.METAL"),
    ]  # fmt: skip
    assert found.sources[0].text == KERNEL
    assert found.notes is not None and found.notes.name == "notes.toml"
    assert found.mentions == ()


def test_the_starters_name_wins_and_the_others_are_mentioned(
    tmp_path: Path, course: Assignment
) -> None:
    for name in ("old.cu", "kernel.cu", "try2.cu"):
        (tmp_path / name).write_text(KERNEL)
    found = submission.read(tmp_path, course)
    assert [source.name for source in found.sources] == ["kernel.cu"]
    assert len(found.mentions) == 2 and "try2.cu" in found.mentions[1]
    chosen = submission.read(tmp_path, course, file="old.cu")
    assert [source.name for source in chosen.sources] == ["old.cu"]


def test_a_path_may_be_one_file(tmp_path: Path, course: Assignment) -> None:
    (tmp_path / "a.cu").write_text(KERNEL)
    (tmp_path / "b.cu").write_text(KERNEL)
    (tmp_path / "notes.md").write_text("---\n---\n")
    found = submission.read(tmp_path / "b.cu", course)
    assert [source.name for source in found.sources] == ["b.cu"]
    assert found.notes is not None and found.notes.name == "notes.md"


def test_the_hash_covers_names_and_contents(tmp_path: Path, course: Assignment) -> None:
    (tmp_path / "kernel.cu").write_text(KERNEL)
    first = submission.read(tmp_path, course).sha256
    assert submission.read(tmp_path / "kernel.cu", course).sha256 == first
    (tmp_path / "kernel.cu").write_text(KERNEL + "\n")
    second = submission.read(tmp_path, course).sha256
    (tmp_path / "kernel.cu").rename(tmp_path / "other.cu")
    assert len({first, second, submission.read(tmp_path, course).sha256}) == 3


def test_no_kernel(tmp_path: Path, course: Assignment) -> None:
    assert "found no file" in refused(tmp_path, course)
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    text = refused(tmp_path, course)
    assert ".cu file (cuda-c)" in text and "kernel.cpp" in text
    assert "kernel.cpp" in refused(tmp_path / "kernel.cpp", course)
    (tmp_path / "assignment3").mkdir()
    (tmp_path / "assignment3" / "kernel.cu").write_text(KERNEL)
    assert str(tmp_path / "assignment3") in refused(tmp_path, course)


def test_two_candidates(tmp_path: Path, course: Assignment) -> None:
    (tmp_path / "a.cu").write_text(KERNEL)
    (tmp_path / "b.cu").write_text(KERNEL)
    text = refused(tmp_path, course)
    assert "a.cu, b.cu" in text and "kernel.cu" in text and "--file" in text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"\x7fELF\0\0\0", "binary"),
        (KERNEL.encode() + b"\xff\n", "kernel.cu:2: not UTF-8: byte 0xff"),
        ("é\n".encode("latin-1"), "UTF-8"),
        (KERNEL.encode("utf-16"), "UTF-16"),
        (b"/" * (submission.LARGEST_BYTES + 1), "1,048,577 bytes, expected at most 1,048,576"),
    ],
)
def test_contents_that_are_no_source(
    tmp_path: Path, course: Assignment, content: bytes, words: str
) -> None:
    (tmp_path / "kernel.cu").write_bytes(content)
    assert words in refused(tmp_path, course)


def test_carriage_returns_alone_end_lines_too(tmp_path: Path, course: Assignment) -> None:
    (tmp_path / "kernel.cu").write_bytes(b"// mine\r" + KERNEL.replace("\n", "\r").encode())
    assert submission.read(tmp_path, course).sources[0].text == "// mine\n" + KERNEL
    (tmp_path / "kernel.cu").write_bytes(b"// mine\r\n" + KERNEL.encode())
    assert submission.read(tmp_path, course).sources[0].text == "// mine\r\n" + KERNEL


def test_a_huge_file_is_not_read(tmp_path: Path, course: Assignment) -> None:
    with (tmp_path / "kernel.cu").open("wb") as file:
        file.truncate(50 << 30)  # sparse: reading it would take the machine's memory
    start = time.process_time()
    assert "53,687,091,200 bytes" in refused(tmp_path, course)
    assert time.process_time() - start < 1  # of this process alone: others may keep it waiting


def test_links(tmp_path: Path, course: Assignment) -> None:
    outside = tmp_path / "outside.cu"
    outside.write_text(KERNEL)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "kernel.cu").symlink_to(outside)
    text = refused(folder, course)
    assert "leads out of" in text and str(outside) in text
    assert "leads out of" in refused(folder, course, file="../outside.cu")
    (folder / "kernel.cu").unlink()
    (folder / "kernel.cu").symlink_to("nowhere.cu")
    assert "leads nowhere" in refused(folder, course)
    (folder / "kernel.cu").unlink()
    (folder / "real.txt").write_text(KERNEL)
    (folder / "kernel.cu").symlink_to("real.txt")
    assert submission.read(folder, course).sources[0].text == KERNEL


def test_a_pipe_or_a_device_does_not_hang(tmp_path: Path, course: Assignment) -> None:
    os.mkfifo(tmp_path / "kernel.cu")
    assert "not a regular file" in refused(tmp_path, course)
    assert "not a regular file" in refused(tmp_path / "kernel.cu", course)


def test_a_bad_file_of_one_language_does_not_stop_another(
    tmp_path: Path, course: Assignment
) -> None:
    (tmp_path / "kernel.cu").write_text(KERNEL)
    (tmp_path / "kernel.metal").write_bytes(b"\0")
    (tmp_path / "notes.toml").write_bytes(b"\xff")
    found = submission.read(tmp_path, course)
    assert [source.language for source in found.sources] == ["cuda-c"]
    assert found.notes is None
    assert any("kernel.metal is a binary" in mention for mention in found.mentions)
    assert any("notes were not read" in mention for mention in found.mentions)


def test_a_starter_nobody_wrote_in_counts_only_alone(tmp_path: Path, course: Assignment) -> None:
    starters = {language: course.starter(language) for language in course.languages}
    for path in starters.values():
        assert path is not None
        # What git does to line ends on Windows changes nothing.
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = submission.read(tmp_path, course)
    assert len(found.sources) == 3 and "still as the starter has them" in found.mentions[0]

    (tmp_path / "kernel.metal").write_text("kernel void vec_add( {}\n")
    found = submission.read(tmp_path, course)
    assert [source.name for source in found.sources] == ["kernel.metal"]
    assert found.mentions == (
        "kernel.cu and kernel.py were not graded: still as the starter has them",
    )
    assert submission.read(tmp_path, course, file="kernel.py").sources[0].language == "triton"

    (tmp_path / "kernel.metal").write_text("\n")
    assert "kernel.metal is empty" in refused(tmp_path, course)


def test_a_language_can_be_chosen(tmp_path: Path, course: Assignment) -> None:
    (tmp_path / "kernel.cu").write_text(KERNEL)
    assert ".metal file (metal)" in refused(tmp_path, course, language="metal")
    cuda_only = course.model_copy(update={"languages": ("cuda-c",)})
    with pytest.raises(UsageError, match="not set in metal"):
        submission.read(tmp_path, cuda_only, "metal")


def test_paths_that_are_not_there(tmp_path: Path, course: Assignment) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        submission.read(tmp_path / "none", course)
    with pytest.raises(UsageError, match="no such file"):
        submission.read(tmp_path, course, file="none.cu")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path, course: Assignment) -> None:
    (tmp_path / "kernel.cu").write_text(KERNEL)
    (tmp_path / "kernel.cu").chmod(0)
    assert "cannot be read" in refused(tmp_path, course)


def test_beside_the_starters_file_others_are_not_graded(tmp_path, course):
    (tmp_path / "kernel.cu").write_text("__global__ void vec_add() {}")
    for stray in ("plot.py", "test_me.py"):
        (tmp_path / stray).write_text("x = 1")
    found = submission.read(tmp_path, course)
    assert [source.name for source in found.sources] == ["kernel.cu"]
    assert {m.split()[0] for m in found.mentions} == {"plot.py", "test_me.py"}
    assert all("kernel.cu is the one that counts" in m for m in found.mentions)


def test_what_a_kernel_includes_of_its_folder_belongs_to_it(tmp_path, course):
    (tmp_path / "inner").mkdir()
    (tmp_path / "kernel.cu").write_text('#include "inner/tile.cuh"\n#include <cmath>\n')
    (tmp_path / "inner" / "tile.cuh").write_text('#include "size.h"\n#include "../deep.h"\n')
    (tmp_path / "inner" / "size.h").write_text("#define TILE 16\n")
    (tmp_path / "deep.h").write_text("")
    (tmp_path / "unused.h").write_text("")
    found = submission.read(tmp_path, course)
    assert [h.name for h in found.headers] == ["deep.h", "inner/size.h", "inner/tile.cuh"]
    before = found.sha256
    (tmp_path / "inner" / "size.h").write_text("#define TILE 32\n")
    assert submission.read(tmp_path, course).sha256 != before


def test_headers_never_come_from_outside_or_stand_in_for_ours(tmp_path, course):
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret.h").write_text("secret")
    (folder / "kernel.cu").write_text(
        '#include "../secret.h"\n#include "link.h"\n#include "grade_prelude.h"\n'
        f'#include "{tmp_path}/secret.h"\n#include "kernel.cu"\n'
    )
    (folder / "link.h").symlink_to(tmp_path / "secret.h")
    (folder / "grade_prelude.h").write_text("#define float double\n")
    found = submission.read(folder, course)
    assert found.headers == ()
    assert any("link.h leads out of" in mention for mention in found.mentions)


def test_headers_are_bounded(tmp_path, course):
    lines = [f'#include "h{n}.h"' for n in range(100)]
    (tmp_path / "kernel.cu").write_text("\n".join(lines))
    for n in range(100):
        (tmp_path / f"h{n}.h").write_text("//")
    with pytest.raises(RefusedError, match="includes more than 64 files"):
        submission.read(tmp_path, course)
