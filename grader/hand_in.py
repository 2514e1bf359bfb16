"""Handing in: `submission.zip`, and where `grade.toml` says that it goes.

::

    grader = "0.1.0"              # the version this term is graded with
    students = ["ann", "bob"]     # who hands in together

    [hand_in]                     # without it nothing leaves this machine
    to = "git"                    # "git": commit, tag, push; "folder": a drop folder; "nothing"
    remote = "origin"
    folder = "/courses/drop"      # relative: from grade.toml

    [due]
    assignment3 = 2026-11-30T23:59:00+01:00

Safe to repeat: what was handed in already is not handed in again.
"""

from __future__ import annotations

import datetime
import getpass
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.console import Console

from grader import __version__, cases
from grader.errors import UsageError
from grader.report import json as result_json
from grader.report import replace, terminal
from grader.result import Record, Result, Verdict

NAME = "grade.toml"
ZIP = "submission.zip"
GIT_SECONDS = 60
_MADE = ("result.json", "SHA256SUMS", "students.txt")
_DATE = (1980, 1, 1, 0, 0, 0)
_REMOTE = re.compile(r"^(?:https://(?:[^@/]+@)?|(?:ssh://)?git@)([^:/]+)[:/](.+?)(?:\.git)?/?$")


class Target(BaseModel):
    """The table `[hand_in]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    to: Literal["git", "folder", "nothing"] = "nothing"
    remote: str = "origin"
    folder: str = ""


class Config(BaseModel):
    """The whole of `grade.toml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    grader: str | None = None
    students: tuple[str, ...] = ()
    hand_in: Target = Field(default_factory=Target)
    due: dict[str, datetime.datetime] = {}


class Packed(Record):
    """`submission.zip`: what is in it, and what of the folder is not and why.

    `source` is the folder the files are from, `sha256` covers names and contents of what the
    student wrote; `archive` is null where nothing could be graded.
    """

    source: Path
    archive: Path | None = None
    inside: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    sha256: str = ""


def load(folder: Path) -> tuple[Config, Path | None]:
    """The `grade.toml` of this folder or the nearest one above it, and where it is.

    Raises UsageError for one that cannot be read.
    """
    here = folder.resolve()
    path = next((p / NAME for p in (here, *here.parents) if (p / NAME).is_file()), None)
    if path is None:
        return Config(), None
    try:
        return Config.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))), path
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise UsageError(f"{path}: {key}: {first['msg']}") from None
    except (OSError, ValueError, RecursionError) as error:  # ValueError: its text, or its TOML
        raise UsageError(f"{path}: cannot be read: {error}") from None


def version_remark(config: Config) -> str:
    """That this is not the grader the course uses, or nothing."""
    if config.grader in (None, __version__):
        return ""
    return (
        f"grade.toml asks for grader {config.grader}, this is {__version__}: "
        "the grade that counts may differ (your course says how to install that version)"
    )


def hidden_remark(result: Result) -> str:
    """How many points rest on hidden cases, whose values here are not those that count."""
    total = sum(case.weight for case in result.cases)
    hidden = sum(case.weight for case in result.cases if case.hidden)
    if not hidden or cases.secret():
        return ""
    by_case = [line for line in result.score.lines if line.item in ("correct", "bounds", "sync")]
    held = round(sum(line.out_of for line in by_case) * hidden / total)
    return (
        f"{held} of {result.score.out_of} points rest on hidden cases; they were run here with "
        "other values than those your instructor grades with"
    )


def late(config: Config, assignment: str, now: datetime.datetime) -> str:
    """How late it is, in words; nothing where no due date is known."""
    due = config.due.get(assignment)
    if due is None:
        return ""
    due = due if due.tzinfo else due.astimezone()
    if now <= due:
        return f"due {due:%Y-%m-%d %H:%M %Z}".rstrip()
    days = -(-(now - due) // datetime.timedelta(days=1))
    return f"{days} day{'s' * (days != 1)} late"


def pack(result: Result, place: Path, out: Path) -> Packed:
    """Write `submission.zip` into `out`: the files that were graded, notes, result and hashes.

    `place` is what was submitted, a folder or a file. Raises UsageError where a file changed while
    it was graded.
    """
    folder = place if place.is_dir() else place.parent
    if not result.files:
        return Packed(source=folder)
    config, _ = load(folder)
    files: dict[str, bytes] = {}
    for source in result.files:
        data = _read(folder / source.name)
        if hashlib.sha256(data).hexdigest() != source.sha256:
            raise UsageError(
                f"{source.name} changed while it was being graded", "Submit it once more."
            )
        files[source.name] = data
    if result.notes is not None and result.notes.file:
        files[result.notes.file] = _read(folder / result.notes.file)
    written = _sums(files)
    if config.students:
        files["students.txt"] = ("\n".join(config.students) + "\n").encode()
    files["result.json"] = result_json.dumps(result).encode()
    files["SHA256SUMS"] = _sums(files).encode()
    replace(out / ZIP, _zipped(files))
    others = sorted(folder.iterdir()) if place.is_dir() else []
    left = [
        f"{path.name} ({'a folder' if path.is_dir() else 'not what is graded'})"
        for path in others
        if not path.name.startswith(".")
        and not any(name == path.name or name.startswith(f"{path.name}/") for name in files)
    ]
    return Packed(
        source=folder,
        archive=out / ZIP,
        inside=tuple(sorted(files)),
        left_out=tuple(left),
        sha256=hashlib.sha256(written.encode()).hexdigest(),
    )


def _sums(files: dict[str, bytes]) -> str:
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def _zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(files):
            place = zipfile.ZipInfo(name, _DATE)
            place.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(place, files[name])
    return out.getvalue()


# ---- where it goes -----------------------------------------------------------------------------


def finish(
    result: Result, packed: Packed, console: Console, *, asked: bool | None, in_ci: bool,
    quiet: bool,
) -> None:  # fmt: skip
    """Say what `submission.zip` holds, and hand it in where grade.toml and the result say so.

    In CI nothing is handed in unless `asked`. What could not be sent is said; it changes no
    verdict. Raises UsageError for a grade.toml that cannot be read.
    """
    config, toml = load(packed.source)

    def say(text: str, indent: int = 0) -> None:
        terminal.lines(console, text, indent=indent, whole=True)

    if packed.archive is not None and not quiet:
        say(f"{packed.archive}: {', '.join(packed.inside)}")
        if packed.left_out:
            shown = ", ".join(packed.left_out[:6])
            more = f" and {len(packed.left_out) - 6} more" if len(packed.left_out) > 6 else ""
            say(f"not in it: {shown}{more}", indent=2)
    for remark in (version_remark(config), "" if in_ci else hidden_remark(result)):
        if remark and not quiet:
            say(remark)
    if packed.archive is None or toml is None or (in_ci and not asked):
        if asked:
            say("not handed in: " + ("nothing was graded" if toml else "there is no grade.toml"))
        return
    if config.hand_in.to != "nothing" and not asked and not Path.cwd().is_relative_to(toml.parent):
        # Whoever grades a folder of somebody else's obeys neither its grade.toml nor its git hooks.
        say(f"not handed in: {toml} is of a folder you are not in; go there, or use --hand-in")
        return
    points = "no score" if result.score.points is None else f"{result.score.points} points"
    due = late(config, result.assignment, datetime.datetime.now(datetime.UTC))
    told = ", ".join(filter(None, (result.verdict.value.replace("_", " "), points, due)))
    ask = sys.stdin.isatty() and console.is_terminal and not quiet
    agreed, why = wanted(result, config, asked=asked, ask=ask, question=f"{told}: hand in? [y/N] ")
    if not agreed:
        if why:
            say(why)
        return
    try:
        say(send(result, packed, config, toml))
    except UsageError as error:
        say(f"not handed in: {error.message}")
        if error.hint:
            say(error.hint, indent=2)


def wanted(
    result: Result, config: Config, *, asked: bool | None, ask: bool, question: str
) -> tuple[bool, str]:
    """Whether to hand in, and why not.

    An accepted result goes where grade.toml says. One that is not is handed in with `--hand-in`,
    or where somebody at a terminal (`ask`) says so.
    """
    if config.hand_in.to == "nothing":
        where = "grade.toml says nowhere to hand it in; hand in submission.zip yourself"
        return False, where if asked else ""
    if asked is False:
        return False, "not handed in: --no-hand-in"
    if asked or result.verdict is Verdict.ACCEPTED:
        return True, ""
    if ask:
        agreed = input(question).strip().lower() in ("y", "yes")
        return agreed, "" if agreed else "not handed in"
    return False, "not handed in: it is not accepted; --hand-in hands it in all the same"


def send(result: Result, packed: Packed, config: Config, toml: Path) -> str:
    """Hand in and say where it is. Raises UsageError where that cannot be."""
    if config.hand_in.to == "folder":
        return _drop(result, packed, config, toml)
    return _git(result, packed, config)


def _drop(result: Result, packed: Packed, config: Config, toml: Path) -> str:
    """Put the archive into the drop folder; nothing there is ever overwritten."""
    assert packed.archive is not None
    target = toml.parent / config.hand_in.folder
    if not config.hand_in.folder or not target.is_dir():
        raise UsageError(
            f"{toml}: hand_in.folder: expected a folder, found {config.hand_in.folder!r}",
            f"{packed.archive} is complete; hand it in by another way.",
        )
    who = "+".join(config.students) or getpass.getuser()
    who = re.sub(r"[^\w.@+-]", "_", who)
    mark = packed.sha256[:12]
    there = sorted(target.glob(f"{who}_{result.assignment}_*_{mark}.zip"))
    if there:
        return f"handed in already: {there[0]}"
    now = datetime.datetime.now(datetime.UTC)
    path = target / f"{who}_{result.assignment}_{now:%Y%m%dT%H%M%SZ}_{mark}.zip"
    try:
        handle, beside = tempfile.mkstemp(dir=target, prefix=".handing-in-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(packed.archive.read_bytes())
                os.fsync(file.fileno())
            Path(beside).chmod(0o644)
            path.hardlink_to(beside)  # fails where the name is taken
        finally:
            Path(beside).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written: {error.strerror}",
            f"{packed.archive} is complete; hand it in by another way.",
        ) from None
    return f"handed in: {path}"


def _git(result: Result, packed: Packed, config: Config) -> str:
    """Commit the files that were graded, tag the commit, push both."""
    folder = packed.source
    if _run(folder, "rev-parse", "--is-inside-work-tree") != "true":
        raise UsageError(
            f"{folder} is in no git repository, and grade.toml hands in by git",
            "Clone your repository and work in there.",
        )
    names = [name for name in packed.inside if name not in _MADE]
    _run(folder, "add", "--", *names, needed=True)
    if _run(folder, "diff", "--cached", "--name-only", "--", *names):
        message = f"Hand in {result.assignment}"
        _run(folder, "commit", "--quiet", "-m", message, "--", *names, needed=True)
    prefix = f"submit/{result.assignment}/"
    tags = (_run(folder, "tag", "--points-at", "HEAD", "--list", f"{prefix}*") or "").split()
    tag = tags[-1] if tags else ""
    if not tag:
        tag = f"{prefix}{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H-%M-%SZ}"
        _run(folder, "tag", tag, needed=True)
    commit = _run(folder, "rev-parse", "HEAD", needed=True) or ""
    remote = config.hand_in.remote
    branch = _run(folder, "symbolic-ref", "--quiet", "HEAD")
    refs = [f"refs/tags/{tag}", *([f"HEAD:{branch}"] if branch else [])]
    if _run(folder, "push", "--quiet", remote, *refs) is None:
        raise UsageError(
            f"{tag} is tagged here and was not sent: {remote} could not be reached, or refused it",
            f"Send it with: git push {remote} HEAD {tag}",
        )
    return f"handed in: {_address(_run(folder, 'remote', 'get-url', remote) or '', commit)} ({tag})"


def _address(remote: str, commit: str) -> str:
    """Where a commit can be looked at, if the remote is a web host."""
    match = _REMOTE.match(remote)
    return f"https://{match[1]}/{match[2]}/commit/{commit}" if match else f"commit {commit}"


def _run(folder: Path, *arguments: str, needed: bool = False) -> str | None:
    """What git says; None where it fails. Raises UsageError where it is `needed`."""
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}
    environment.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env=environment,
            timeout=GIT_SECONDS,
        )
    except FileNotFoundError:
        raise UsageError("grade.toml hands in by git, and there is no git here") from None
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        if needed:
            said = done.stderr.strip().splitlines()
            raise UsageError(f"git {arguments[0]}: {said[-1] if said else 'it failed'}")
        return None
    return done.stdout.strip()
