"""The options of the instructor's commands; what they do is in `command.py`.

Like `grader/cli.py` this imports nothing heavy, so that `grade --help` is instant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Assignment = Annotated[str, typer.Argument(help="An assignment's name, or its folder.")]
JsonFile = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Also write the summary as JSON (- is stdout)."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Debug = Annotated[bool, typer.Option("--debug", help="Tracebacks of the grader's own faults.")]
Gradebook = Annotated[
    Path,
    typer.Option(metavar="FILE", help="The gradebook; class.toml is looked for beside it."),
]
Why = Annotated[str, typer.Option(help="The reason, kept in the gradebook.")]
Who = Annotated[
    str | None, typer.Option(help="Who decided it.", show_default="the user of this machine")
]


def batch(
    assignment: Assignment,
    submissions: Annotated[
        Path,
        typer.Option(metavar="DIR", help="A folder, or an archive of it, in any usual layout."),
    ],
    roster: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV: plain, Classroom's or Canvas's.",
                     show_default=False),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Submissions at a time.", show_default="the number of cores"),
    ] = None,
    hidden: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="cases.toml and secret that no student can read.",
                     show_default=False),
    ] = None,
    gradebook: Gradebook = Path("gradebook.db"),
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="verdict=WORD", help="Grade these again.", show_default=False),
    ] = None,
    student: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Grade this student again.", show_default=False),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Grade again what was handed in since.",
                     show_default=False),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="List the grades that would change; change none.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Grade on the workers of Dask distributed: tcp://HOST:PORT, or local.",
            show_default=False,
        ),
    ] = None,
    weak_sandbox: Annotated[
        bool,
        typer.Option(
            "--weak-sandbox", help="Grade even where the sandbox is weaker than Landlock."
        ),
    ] = False,
    json_file: JsonFile = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Grade a class; what is graded already is not graded again."""
    from grader import sandbox
    from grader.batch import command
    from grader.report import terminal, write_json

    sandbox.demand(weak_is_allowed=weak_sandbox)
    summary = command.batch(
        assignment,
        submissions,
        roster_file=roster,
        workers=jobs,
        hidden_folder=hidden,
        gradebook=gradebook,
        chosen=command.selection(only or (), student or (), since),
        compare=compare,
        quiet=quiet,
        console=terminal.console(stderr=json_file == "-"),
        scheduler=scheduler,
        weak_sandbox=weak_sandbox,
    )
    write_json(summary, json_file)
    raise typer.Exit(130 if summary.left else 0)


def override(
    assignment: Assignment,
    student: Annotated[str, typer.Argument(help="Any identifier of the roster.")],
    why: Why,
    points: Annotated[
        int | None, typer.Option(help="In place of the automatic ones.", show_default=False)
    ] = None,
    plus: Annotated[
        int | None, typer.Option(help="Beside the automatic ones.", show_default=False)
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Withdraw what was set.")] = False,
    who: Who = None,
    gradebook: Gradebook = Path("gradebook.db"),
    debug: Debug = False,
) -> None:
    """Change a student's points by hand, with who and why."""
    from grader.batch import command
    from grader.report import terminal

    command.override(
        assignment, student, points=points, plus=plus, clear=clear, who_=command.who(who),
        why=why, gradebook=gradebook, console=terminal.console(stderr=False),
    )  # fmt: skip


def extend(
    assignment: Assignment,
    student: Annotated[str, typer.Argument(help="Any identifier of the roster.")],
    days: Annotated[float, typer.Option(help="Days after the due date of everyone.")],
    why: Why,
    who: Who = None,
    gradebook: Gradebook = Path("gradebook.db"),
    debug: Debug = False,
) -> None:
    """Move the due date of one student, with who and why."""
    from grader.batch import command
    from grader.report import terminal

    command.extend(
        assignment, student, days=days, who_=command.who(who), why=why, gradebook=gradebook,
        console=terminal.console(stderr=False),
    )  # fmt: skip


def export(
    assignment: Assignment,
    to: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="class, canvas, moodle, feedback, csv, gradescope, gradescope-bundle, "
            "classroom50, junit or sarif.",
        ),
    ],
    gradebook: Gradebook = Path("gradebook.db"),
    result: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="One result.json in place of a gradebook.", show_default=False
        ),
    ] = None,
    fill: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Canvas's exported gradebook to fill.", show_default=False
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(help="Canvas's column, where the name does not say.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A file, or a folder for several.", show_default=False),
    ] = None,
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Stable pseudonyms in place of names.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Write grades for another system."""
    from grader.batch import export as exporting
    from grader.report import terminal

    exporting.export(
        assignment,
        to,
        gradebook=gradebook,
        result=result,
        fill=fill,
        column=column,
        out=out,
        hide_names=anonymous,
        console=terminal.console(stderr=False),
    )


def register(app: typer.Typer) -> None:
    """Add these commands to `grade`."""
    for command in (batch, export, override, extend):
        app.command()(command)
