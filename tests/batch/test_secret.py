"""A secret from the environment, from a student's folder to the instructor's grade."""

from __future__ import annotations

import json
import shutil
import zipfile
import zlib
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import cases, cli
from grader.batch.gradebook import Gradebook
from grader.batch.grades import grades
from grader.batch.settings import Settings
from grader.result import Verdict

SECRET = "the word that only the instructor has"
# Right on the sizes it knows, wrong on any other: only who has no secret knows the hidden size.
LEARNT = """\
__global__ void vec_add(const float* A, const float* B, float* C, int N) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool known = {known};
    if (i < N) C[i] = known ? A[i] + B[i] : 0.0f;
}}
"""


@pytest.fixture
def handed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A drop folder in which a group of two handed in what it learnt by heart, accepted here."""
    for variable in (cases.SECRET, cases.SECRET_FILE):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    course = assignments.load("assignment3")
    sizes = sorted({cases.sizes(course, case, b"")["N"] for case in course.cases})
    work, drop = tmp_path / "work", tmp_path / "drop"
    work.mkdir()
    drop.mkdir()
    (work / "kernel.cu").write_text(LEARNT.format(known=" || ".join(f"N == {n}" for n in sizes)))
    (work / "grade.toml").write_text(
        f'students = ["ann_a", "bob"]\n[hand_in]\nto = "folder"\nfolder = "{drop}"\n'
    )
    monkeypatch.chdir(work)
    assert cli._run(["submit", "assignment3", ".", "--ci", "none", "--quiet"]) == 0
    assert json.loads(Path(".grade/assignment3/result.json").read_text())["verdict"] == "accepted"
    (archive,) = drop.iterdir()
    assert archive.name.startswith("ann_a+bob_assignment3_")
    with zipfile.ZipFile(archive) as packed:
        assert {"kernel.cu", "result.json", "students.txt"} <= set(packed.namelist())
    shutil.copy(archive, drop / archive.name.replace("assignment3", "assignment1"))
    return drop


def batch(folder: Path, *more: str) -> int:
    """How many were graded."""
    said = folder.parent / "said.json"
    assert cli._run([
        "batch", "assignment3", "--submissions", str(folder), "--weak-sandbox", "--quiet",
        "--gradebook", str(folder.parent / "gradebook.db"), "--json", str(said), *more,
    ]) == 0  # fmt: skip
    summary = json.loads(said.read_text())
    assert [s["reason"] for s in summary["skipped"]] == ["it was handed in for another assignment"]
    return int(summary["graded"])


def test_from_a_students_folder_to_the_grade_that_counts(
    handed_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cases.SECRET, SECRET)
    assert batch(handed_in) == 1
    with Gradebook(handed_in.parent / "gradebook.db") as book:
        found = {g.student.id: g for g in grades(book, "assignment3", Settings())}
        assert set(found) == {"ann_a", "bob"}  # each of the group has the grade
        assert {g.verdict for g in found.values()} == {Verdict.WRONG_ANSWER}
        row = found["bob"].result
        assert row is not None
        wrong = [c for c in book.whole(row).cases if c.verdict is not Verdict.ACCEPTED]
        assert [c.hidden for c in wrong] == [True] and wrong[0].mismatch is not None
        assert found["bob"].points == 100 - 15 - 15 - 4  # notes, speed, a case

    # The same secret by another way is the same setting: nothing is graded again.
    place = handed_in.parent / "hidden"
    place.mkdir()
    (place / "secret").write_text(f"{SECRET}\n")
    monkeypatch.setenv(cases.SECRET, f"{SECRET}\n")
    assert batch(handed_in) == 0
    monkeypatch.delenv(cases.SECRET)
    monkeypatch.setenv(cases.SECRET_FILE, str(place / "secret"))
    assert batch(handed_in) == 0
    monkeypatch.delenv(cases.SECRET_FILE)
    assert batch(handed_in, "--hidden", str(place)) == 0
    monkeypatch.delenv(cases.SECRET_FILE, raising=False)
    monkeypatch.setenv(cases.SECRET, "another word")
    assert batch(handed_in) == 1
    monkeypatch.delenv(cases.SECRET)
    assert batch(handed_in) == 1
    with Gradebook(handed_in.parent / "gradebook.db") as book:
        (verdict,) = {g.verdict for g in grades(book, "assignment3", Settings())}
        assert verdict is Verdict.ACCEPTED  # without a secret it is what the students saw

    for path in handed_in.parent.rglob("*"):
        if path.is_file() and path.parent != place:
            data = path.read_bytes()
            assert SECRET.encode() not in data, path
            if path.name == "gradebook.db":
                with Gradebook(path) as book:
                    rows = book._db.execute("SELECT result FROM results")
                    assert not any(SECRET.encode() in zlib.decompress(r["result"]) for r in rows)


def test_the_bundle_for_gradescope_holds_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes to another company's machine: its run there is without the secret, and says so."""
    monkeypatch.setenv(cases.SECRET, SECRET)
    out = tmp_path / "bundle.zip"
    assert cli._run(["export", "assignment3", "--to", "gradescope-bundle", "--out", str(out)]) == 0
    with zipfile.ZipFile(out) as packed:
        assert len(packed.namelist()) > 100
        assert not any(SECRET.encode() in packed.read(name) for name in packed.namelist())
