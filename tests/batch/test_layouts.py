"""Folders of submissions as every system lays them out."""

from __future__ import annotations

import contextlib
import datetime
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.batch import layouts, roster
from grader.errors import UsageError

ROSTER = roster.parse(
    "id,name,email,github_username,ID number\n"
    "jdoe,Jane Doe,jane@x.edu,octojane,100001\nbob,Bob Roe,bob@x.edu,bobby,100002\n"
)
KERNEL = "__global__ void vec_add() {}\n"


def write(path: Path, text: str = KERNEL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def owners(finding: layouts.Finding) -> dict[str, str]:
    return {s: f.path.name for f in finding.found for s in f.students}


def test_a_folder_per_student(tmp_path: Path) -> None:
    write(tmp_path / "jdoe" / "kernel.cu")
    write(tmp_path / "Bob Roe" / "assignment3" / "kernel.cu")
    write(tmp_path / "mallory" / "kernel.cu")
    write(tmp_path / "grades.xlsx")
    (tmp_path / "link").symlink_to(tmp_path / "jdoe")
    finding = layouts.discover(tmp_path, "assignment3", ROSTER)
    assert owners(finding) == {"jdoe": "jdoe", "bob": "assignment3"}
    skipped = {s.name: s.reason for s in finding.skipped}
    assert skipped["mallory"] == "mallory is not on the roster"
    assert set(skipped) == {"mallory", "grades.xlsx", "link"}


def test_classroom_clones(tmp_path: Path) -> None:
    write(tmp_path / "assignment3-submissions" / "assignment3-octojane" / "kernel.cu")
    write(tmp_path / "assignment3-submissions" / "assignment3-nobody" / "kernel.cu")
    finding = layouts.discover(tmp_path, "assignment3", ROSTER)
    assert list(owners(finding)) == ["jdoe"]
    assert finding.layout == "Classroom's clones"
    assert [s.name for s in finding.skipped] == ["assignment3-nobody"]


def test_files_and_archives_named_after_a_student(tmp_path: Path) -> None:
    write(tmp_path / "jdoe_vec_add.cu")
    write(tmp_path / "bob.zip", "no zip, which is found out when it is graded")
    finding = layouts.discover(tmp_path, "assignment3", ROSTER)
    assert owners(finding) == {"jdoe": "jdoe_vec_add.cu", "bob": "bob.zip"}


def test_canvas_and_moodle_downloads(tmp_path: Path) -> None:
    write(tmp_path / "doejane_LATE_100001_4333716_kernel.cu")
    write(tmp_path / "Bob Roe_99_assignsubmission_file_" / "kernel.cu")
    finding = layouts.discover(tmp_path, "assignment3", ROSTER)
    assert set(owners(finding)) == {"jdoe", "bob"}


def test_files_that_a_download_laid_side_by_side_are_one_submission(tmp_path: Path) -> None:
    """Canvas, Moodle without folders, and Blackboard put everybody's files into one folder."""
    for name in (
        "doejane_100001_11_kernel-2.cu", "doejane_100001_12_notes-1.toml",
        "Bob Roe_77_assignsubmission_file_kernel.cu",
        "Bob Roe_77_assignsubmission_file_tile.cuh",
        "Vector Addition_annb_attempt_2026-11-30-14-32-05_kernel.cu",
        "Vector Addition_annb_attempt_2026-11-30-14-32-05.txt",
    ):  # fmt: skip
        write(tmp_path / name)
    people = roster.parse(
        "Identifier,Full name,Email address,ID number\n"
        "Participant 77,Róbert Roe,rob@x.edu,100002\nParticipant 78,Jane Doe,jane@x.edu,100001\n"
        "Participant 79,Ann B,annb@x.edu,100003\n"
    )
    finding = layouts.discover(tmp_path, "assignment3", people)
    found = {f.students[0]: f.path for f in finding.found}
    assert set(found) == {"rob@x.edu", "jane@x.edu", "annb@x.edu"} and not finding.skipped
    names = {who: sorted(p.name for p in layouts.files(path)) for who, path in found.items()}
    assert names["jane@x.edu"] == ["kernel.cu", "notes.toml"]
    assert names["rob@x.edu"] == ["kernel.cu", "tile.cuh"]
    again = layouts.discover(tmp_path, "assignment3", people)
    assert {f.students: f.sha256 for f in again.found} == {
        f.students: f.sha256 for f in finding.found
    }
    assert {f.submitted for f in again.found} == {f.submitted for f in finding.found}


def test_a_participants_number_tells_two_of_one_name_apart(tmp_path: Path) -> None:
    people = roster.parse(
        "Identifier,Full name,Email address\nParticipant 7,Jo Kim,a@x.edu\n"
        "Participant 8,Jo Kim,b@x.edu\n"
    )
    for number in (7, 8):
        write(tmp_path / f"Jo Kim_{number}_assignsubmission_file" / "kernel.cu")
    write(tmp_path / "Participant_8_assignsubmission_onlinetext" / "onlinetext.html")
    finding = layouts.discover(tmp_path, "assignment3", people)
    assert {s for f in finding.found for s in f.students} == {"a@x.edu", "b@x.edu"}


_NAME = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=30
).filter(lambda name: name not in (".", ".."))
_DROPPED = "_assignment3_20261130T120000Z_0123456789ab.zip"
_LMS = st.sampled_from([
    "{}", "{}.cu", "{}.zip", "{}_1_2_kernel.cu", "{}_LATE_1_2_kernel.py", "submission_{}",
    "{}_9_assignsubmission_file_", "{}_9_assignsubmission_file_k.cu", "assignment3-{}",
    "x_{}_attempt_2026-11-30-14-32-05_k.cu", "{}" + _DROPPED, "+{}+" + _DROPPED,
])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(_LMS, _NAME, st.booleans()), max_size=8), st.booleans())
def test_any_names_are_found_or_skipped(
    entries: list[tuple[str, str, bool]], with_roster: bool
) -> None:
    """Whatever students call themselves and their files, everything is said about, once."""
    with tempfile.TemporaryDirectory() as folder:
        for form, name, is_folder in entries:
            path = Path(folder, form.format(name))
            with contextlib.suppress(OSError):  # too long, or there already
                write(path / "kernel.cu") if is_folder else write(path)
        people = roster.parse("id\n" + "".join(f"s{n}\n" for n in range(3)))
        try:
            finding = layouts.discover(Path(folder), "assignment3", people if with_roster else None)
        except UsageError:
            return
        whose = [s for f in finding.found for s in f.students]
        assert len(whose) == len(set(whose)) and all(whose)
        for record in (*finding.found, *finding.skipped):
            assert record.model_dump_json()


METADATA = """\
submission_101:
  :submitters:
  - :name: Jane Doe
    :sid: '100001'
    :email: jane@x.edu
  - :name: Bob Roe
    :email: bob@x.edu
  :created_at: 2026-11-30 09:15:30.123456789 -05:00
  :score: 3.0
  :results:
    :tests:
    - :name: "Mallory"
      :email: mallory@x.edu
submission_102:
  :submitters:
  - :name: Eve
    :email: eve@x.edu
  :created_at: 2026-11-30 14:15:30 UTC
"""


def test_gradescope_export_with_a_group(tmp_path: Path) -> None:
    write(tmp_path / "submission_metadata.yml", METADATA)
    write(tmp_path / "submission_101" / "kernel.cu")
    write(tmp_path / "submission_102" / "kernel.cu")
    write(tmp_path / "submission_103" / "kernel.cu")
    finding = layouts.discover(tmp_path, "assignment3", ROSTER)
    (group,) = finding.found
    assert group.students == ("jdoe", "bob")
    when = group.submitted.astimezone(datetime.UTC).replace(microsecond=0)
    assert when == datetime.datetime(2026, 11, 30, 14, 15, 30, tzinfo=datetime.UTC)
    assert {s.name for s in finding.skipped} == {"submission_102, Eve", "submission_103"}


def test_the_last_of_several_counts(tmp_path: Path) -> None:
    old = write(tmp_path / "jdoe_first.cu")
    write(tmp_path / "jdoe_second.cu", KERNEL + "//\n")
    os.utime(old, (1, 1))
    finding = layouts.discover(tmp_path, "assignment3", ROSTER)
    assert owners(finding) == {"jdoe": "jdoe_second.cu"}
    assert [s.name for s in finding.skipped] == ["jdoe_first.cu"]


def test_digest_changes_with_contents_names_and_links_only(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    kernel = write(folder / "kernel.cu")
    first = layouts.digest(folder)
    write(folder / ".git" / "index", "not handed in")
    os.utime(kernel, (1, 1))
    assert layouts.digest(folder) == first
    (folder / "x").symlink_to("/etc/passwd")
    linked = layouts.digest(folder)
    assert linked != first
    kernel.rename(folder / "other.cu")
    assert layouts.digest(folder) not in (first, linked)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no submissions in"):
        layouts.discover(tmp_path, "assignment3")


def test_a_clone_is_as_late_as_its_commit_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last commit to the assignment counts, not later work, not the files' times."""
    repository = tmp_path / "class" / "ann"
    for name in ("assignment3", "assignment4"):
        (repository / name).mkdir(parents=True)

    def git(*words: str, when: int = 0) -> None:
        times = {"GIT_AUTHOR_DATE": f"{when} +0000", "GIT_COMMITTER_DATE": f"{when} +0000"}
        subprocess.run(
            ["git", "-c", "user.name=ann", "-c", "user.email=a@x", *words], cwd=repository,
            check=True, capture_output=True, env={**os.environ, **times},
        )  # fmt: skip

    git("init", "--quiet")
    for name, when in (("assignment3", 1_700_000_000), ("assignment4", 1_700_900_000)):
        (repository / name / "kernel.cu").write_text(f"// {name}")
        git("add", "-A")
        git("commit", "--quiet", "-m", name, when=when)
    # What a hostile repository may say in its configuration.
    ran = tmp_path / "ran"
    for key in ("gpg.program", "core.fsmonitor", "core.pager", "core.sshCommand"):
        git("config", key, f"touch {ran};")
    git("config", "log.showSignature", "true")
    for state in ("loose", "packed"):
        finding = layouts.discover(tmp_path / "class", "assignment3")
        (found,) = finding.found
        assert found.submitted.timestamp() == 1_700_000_000, state
        assert not ran.exists()
        git("gc", "--quiet")
        ran.unlink(missing_ok=True)  # the gc of this test obeys the configuration
    (repository / ".git" / "HEAD").write_text("ref: refs/../../../etc/passwd\n")
    (found,) = layouts.discover(tmp_path / "class", "assignment3").found
    assert found.submitted.timestamp() > 1_700_900_000  # the file's time
