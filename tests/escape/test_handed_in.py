"""What is handed in may be anything: pipes, devices, links, odd names, texts made for reports.

Attack: make the reader hang, follow a link out of the folder, or carry a command, an escape
sequence or markup into whatever shows the result.
Why it must fail: only plain files below a size are read, once; reports escape what is not ours.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import grade, submission
from grader.errors import RefusedError, UsageError
from grader.languages import cuda_c, language
from grader.report import write
from grader.result import Verdict

ASSIGNMENT = "assignment3"
HERE = Path(__file__).parent / "submissions"
HONEST = (HERE / "cuda_c" / "control_honest.cu").read_text()
ODD_NAMES = {
    "new line": "new\nline.cu",
    "right to left": "\u202euc.lenrek.cu",
    "escape": "\x1b[31mred\x1b[2J.cu",
    "quotes": "'\"`$(touch grade-escaped)`.cu",
    "markup": "<img src=x onerror=alert(1)>.cu",
    "command": "::error file=a::0wned.cu",
    "option": "--version.cu",
    "not UTF-8": os.fsdecode(b"\xff\xfe.cu"),
}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "submission"
    place.mkdir()
    return place


def read(place, **chosen):
    return submission.read(place, assignments.load(ASSIGNMENT), **chosen)


@pytest.fixture(autouse=True)
def in_time():
    """Whoever opens a pipe waits for ever: fail, do not hang."""
    timer = threading.Timer(60, lambda: os._exit(3))
    timer.start()
    yield
    timer.cancel()


def test_a_pipe(folder):
    os.mkfifo(folder / "kernel.cu")
    with pytest.raises(RefusedError):
        read(folder)
    with pytest.raises(RefusedError):
        read(folder / "kernel.cu")


def test_a_pipe_as_notes(folder):
    (folder / "kernel.cu").write_text(HONEST)
    os.mkfifo(folder / "notes.toml")
    found = read(folder)
    assert found.notes is None
    assert [text for text in found.mentions if "notes" in text]


def test_a_socket(folder):
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket has a hundred bytes
        server.bind("kernel.cu")
        os.chdir(here)
        with pytest.raises(RefusedError):
            read(folder)


def test_a_device(folder):
    try:
        os.mknod(folder / "kernel.cu", 0o020666, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        (folder / "kernel.cu").symlink_to("/dev/zero")
    with pytest.raises(RefusedError):
        read(folder)


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret.cu", "/dev/zero", "kernel.cu"])
def test_links(folder, target):
    (folder.parent / "secret.cu").write_text(HONEST)
    (folder / "kernel.cu").symlink_to(target)
    with pytest.raises(RefusedError):
        read(folder)


def test_links_to_headers(folder):
    """Attack: a header that is a link, or lies in a folder that is one, to what is not theirs.
    Why it must fail: only files that really lie in the submission are given to a compiler."""
    (folder.parent / "elsewhere").mkdir()
    (folder.parent / "elsewhere" / "secret.h").write_text("#define ANSWER 42\n")
    (folder / "linked.h").symlink_to("../elsewhere/secret.h")
    (folder / "inner").symlink_to(folder.parent / "elsewhere")
    (folder / "zero.h").symlink_to("/dev/zero")
    names = ("linked.h", "inner/secret.h", "zero.h", "../elsewhere/secret.h")
    lines = "".join(f'#include "{name}"\n' for name in names)
    (folder / "kernel.cu").write_text(lines + HONEST)
    found = read(folder)
    assert found.headers == ()
    assert len([text for text in found.mentions if "not included" in text]) == 2


ODD_INCLUDES = {
    "too long": f'#include "{"a" * 300}.h"\n',
    "too deep": f'#include "{"a/" * 3000}x.h"\n',
    "a file and a folder": '#include "x.h"\n#include "x.h/y.h"\n',
    "a folder and a file": '#include "x.h/y.h"\n#include "x.h"\n',
    "below the file itself": '#include "kernel.cu/y.h"\n',
    "a folder": '#include "x/"\n#include <.>\n',
    "escape": '#include "\x1b[31m\u202e.h"\n',
    "asks for what is not theirs": '#if __has_include("/etc/passwd")\n#error it is there\n#endif\n',
}


@pytest.mark.parametrize("compiler", ["nvrtc", "clang"])
@pytest.mark.parametrize("name", ODD_INCLUDES)
def test_odd_includes(folder, name, compiler):
    """Attack: includes that no file system can hold, so that whoever looks for them crashes.
    Why it must fail: what cannot be there is missing, and that is the compiler's to say."""
    if reason := cuda_c.missing(compiler):
        pytest.skip(f"{compiler}: {reason}")
    (folder / "kernel.cu").write_text(ODD_INCLUDES[name] + HONEST)
    (source,) = read(folder, language="cuda-c").sources
    builds, artefact = cuda_c.build(source.text, source.name, (), compiler=compiler)
    assert artefact or any(d.severity == "error" for build in builds for d in build.diagnostics)
    assert not any("it is there" in d.message for build in builds for d in build.diagnostics)


def test_a_linked_folder_inside(folder):
    (folder.parent / "elsewhere").mkdir()
    (folder.parent / "elsewhere" / "kernel.cu").write_text(HONEST)
    (folder / "inner").symlink_to(folder.parent / "elsewhere")
    with pytest.raises(RefusedError):
        read(folder, file="inner/kernel.cu")


def test_a_file_outside_by_name(folder):
    (folder.parent / "secret.cu").write_text(HONEST)
    (folder / "kernel.cu").write_text(HONEST)
    with pytest.raises((RefusedError, UsageError)):
        read(folder, file="../secret.cu")


def test_a_folder_called_like_a_kernel(folder):
    (folder / "kernel.cu").mkdir()
    with pytest.raises(RefusedError):
        read(folder)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"x" * (2 << 20), b"\x7fELF" + bytes(100)], ids=["8", "big", "elf"]
)
def test_contents_that_are_no_source(folder, content):
    (folder / "kernel.cu").write_bytes(content)
    with pytest.raises(RefusedError):
        read(folder)


@pytest.mark.parametrize("depth", [100, 100_000])
def test_deeply_nested_notes(folder, depth):
    (folder / "kernel.cu").write_text(HONEST)
    (folder / "notes.toml").write_text("a = " + "[" * depth + "]" * depth + "\n")
    result = graded(folder)
    assert result.verdict is Verdict.ACCEPTED


def test_planted_modules(folder):
    """Attack: modules in the submission's folder, named like what the grader or pytest imports.
    Why it must fail: no part of a submission is on the import path of anything."""
    (folder / "kernel.cu").write_text(HONEST)
    for name in ("sitecustomize", "usercustomize", "conftest", "torch", "numpy", "json", "grader"):
        (folder / f"{name}.py").write_text("import os; os._exit(77)\n")
    result = graded(folder)
    assert result.verdict is Verdict.ACCEPTED
    done = command(folder, folder.parent / "out", "--language", "cuda-c", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_assignment_of_its_own(folder):
    """Attack: hand in an easier assignment, its inputs, an oracle and tests beside the kernel.
    Why it must fail: of a submission only the kernel and the notes are read."""
    (folder / "kernel.cu").write_text((HERE / "cuda_c" / "control_wrong.cu").read_text())
    easy = (
        "name = 'assignment3'\n[tolerance.float32]\nrtol = 1e9\natol = 1e9\n[points]\nbuild = 100\n"
    )
    for place in (folder, folder / "assignments" / "assignment3"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "assignment.toml").write_text(easy)
        (place / "inputs.py").write_text("import os; os._exit(77)\n")
        (place / "reference.py").write_text("import os; os._exit(77)\n")
        (place / "grade.toml").write_text("[grade]\nassignments = 'assignments'\n")
    result = graded(folder)
    assert result.verdict is Verdict.WRONG_ANSWER
    assert 0 < result.score.points < result.score.out_of // 2


def graded(place):
    needs("cuda-c")
    return grade.submit(ASSIGNMENT, place, language="cuda-c", small=True)


def needs(name):
    if name not in assignments.load(ASSIGNMENT).languages:
        pytest.skip(f"{ASSIGNMENT} is not set in {name}")
    if reason := language(name).missing():
        pytest.skip(f"{name}: {reason}")


def command(path, out, *flags, cwd=None):
    """`grade submit`, as a workflow would run it."""
    root = Path(__file__).parents[2]
    code = f"import sys; sys.path.insert(0, {str(root)!r}); from grader.cli import main; main()"
    words = [sys.executable, "-P", "-c", code, "submit", str(root / "assignments" / ASSIGNMENT)]
    return subprocess.run(
        [*words, str(path), "--out", str(out), *flags],
        cwd=cwd,
        env={**os.environ, "CI": "true", "GITHUB_ACTIONS": "true", "FORCE_COLOR": ""},
        capture_output=True,
        timeout=300,
        check=False,
        text=True,
    )


# An annotation of ours: properties without a bare colon or comma, then the message.
OURS = re.compile(
    r"::(error|warning|notice) (file|line|endLine|col|endColumn|title)=[^:,]*"
    r"(,(line|endLine|col|endColumn|title)=[^:,]*)*::"
)


class _Tags(HTMLParser):
    """Every element and attribute of a page, and the text of its scripts."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def look_at(text, html):
    """Nothing in what is shown acts: no control characters, commands or foreign elements."""
    for char in text:
        kind = unicodedata.category(char)
        assert char in "\n\t" or kind not in ("Cc", "Cf"), f"{char!r} is shown"
    stopped = ""
    for line in text.splitlines():
        # The two forms in which a workflow's runner takes a line as a command. Between
        # stop-commands and its token it takes none; outside it may see our own alone.
        if stopped:
            stopped = "" if line == f"::{stopped}::" else stopped
            continue
        if found := re.fullmatch(r"::stop-commands::([0-9a-f]{32})", line):
            stopped = found[1]
            continue
        if OURS.match(line):
            assert "0wned" not in line.partition("::")[2].partition("::")[0]
            assert not line.startswith("::error file=a::0wned")
            continue
        assert not re.match(r"\s*::[a-z]", line), line
        assert "##[" not in line
    assert not stopped, "commands were never allowed again"
    if html:
        page = _Tags()
        page.feed(html)
        for tag, attributes in page.found:
            assert not [name for name in attributes if name.startswith("on")], tag
            assert attributes.get("src", "data:").startswith("data:")


@pytest.mark.parametrize("what", ODD_NAMES)
def test_odd_names(folder, what):
    path = folder / ODD_NAMES[what]
    path.write_text(HONEST.replace("A[i] + B[i]", "A[i] - B[i]"))
    done = command(folder, folder.parent / "out")
    assert done.returncode == 1, done.stdout + done.stderr
    reports = folder.parent / "out"
    if what == "not UTF-8":
        assert "is not UTF-8" in done.stdout + done.stderr
    html = (reports / "report.html").read_text() if (reports / "report.html").exists() else ""
    look_at(done.stdout + done.stderr, html)
    assert not (Path.cwd() / "grade-escaped").exists()


@pytest.mark.parametrize(
    "path",
    [
        HERE / "cuda_c" / "errors_with_commands.cu",
        HERE / "cuda_c" / "prints_a_verdict.cu",
        HERE / "cuda_c" / "renames_its_lines.cu",
        HERE / "triton" / "raises_with_commands.py",
    ],
    ids=lambda path: path.name,
)
def test_messages_made_for_reports(path, tmp_path):
    needs("cuda-c" if path.suffix == ".cu" else "triton")
    done = command(path, tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    look_at(done.stdout + done.stderr, (tmp_path / "report.html").read_text())
    assert "root:" not in (tmp_path / "report.html").read_text()
    markdown = (tmp_path / "report.md").read_text()
    assert "<script" not in re.sub(r"```.*?```|`[^`\n]*`", "", markdown, flags=re.DOTALL)
    assert "\x1b" not in markdown


def test_reports_of_hostile_results_are_written(tmp_path):
    result = graded(HERE / "cuda_c" / "prints_a_verdict.cu")
    assert result.verdict is Verdict.WRONG_ANSWER
    write(result, tmp_path)
    assert (tmp_path / "result.json").exists()
