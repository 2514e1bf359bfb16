"""The `grade` command: options in, exit code out.

Commands import what they need when they run, so that `grade --help` is instant.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import textwrap
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from grader import __version__
from grader.batch import options
from grader.errors import GradeError, UsageError

app = typer.Typer(
    name="grade",
    help="Grade GPU kernels (CUDA C, Metal, Triton) without a GPU.",
    epilog="Exit codes: 0 accepted, 1 not accepted, 2 bad command or assignment, "
    "3 not gradable here, 4 the grader failed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Assignment = Annotated[str, typer.Argument(help="An assignment's name, or its folder.")]
Submission = Annotated[
    Path | None,
    typer.Argument(
        metavar="[PATH]",
        help="A folder or one file; by default ./ASSIGNMENT, else the current folder.",
        show_default=False,
    ),
]
JsonFile = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Also write the result as JSON (- is stdout)."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="One line.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Every case, finding and log.")]
Debug = Annotated[bool, typer.Option("--debug", help="Tracebacks of the grader's own faults.")]
Language = Annotated[
    str | None,
    typer.Option(help="Grade only this language: cuda-c, metal or triton.", show_default=False),
]
Device = Annotated[
    str,
    typer.Option(
        help="What measures speed beside the virtual GPU: auto, virtual (nothing), cuda, metal."
    ),
]
AlsoOn = Annotated[
    str,
    typer.Option(
        "--device",
        help="Where kernels run beside the virtual GPU: virtual (nowhere else), auto, cuda, metal.",
    ),
]
Compiler = Annotated[
    str | None,
    typer.Option(
        help="For CUDA C: nvrtc, or clang with headers of our own.",
        show_default="nvrtc where it is installed",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Child processes at a time.", show_default="the number of cores"),
]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"grade {__version__}")
        raise typer.Exit


@app.command()
def submit(
    assignment: Assignment,
    path: Submission = None,
    file: Annotated[
        str | None,
        typer.Option(metavar="F", help="The kernel file, where a folder holds several."),
    ] = None,
    language: Language = None,
    device: Device = "auto",
    sanitizer: Annotated[
        str | None,
        typer.Option(
            metavar="TOOLS",
            help="On an NVIDIA card: memcheck,racecheck,initcheck,synccheck, or some of them.",
            show_default=False,
        ),
    ] = None,
    frameworks: Annotated[
        bool, typer.Option("--baselines", help="Time numpy, torch, MLX and CuPy beside it.")
    ] = False,
    compiler: Compiler = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the reports go; by default .grade/ASSIGNMENT."),
    ] = None,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit 0 where a submission is not accepted.")
    ] = False,
    weak_sandbox: Annotated[
        bool,
        typer.Option(
            "--weak-sandbox", help="In CI, grade even where the sandbox is weaker than Landlock."
        ),
    ] = False,
    jobs: Jobs = None,
    ci_system: Annotated[
        str,
        typer.Option(
            "--ci",
            metavar="SYSTEM",
            help="Also tell auto, github, classroom, classroom50, gradescope or none.",
        ),
    ] = "auto",
    handing_in: Annotated[
        bool | None,
        typer.Option(
            "--hand-in/--no-hand-in",
            help="By default what is accepted is handed in as grade.toml says.",
            show_default=False,
        ),
    ] = None,
    json_file: JsonFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Grade a submission and write its report."""
    from grader import ci, report, sandbox, warm
    from grader.report import terminal

    if os.environ.get("CI"):
        sandbox.demand(weak_is_allowed=weak_sandbox)
    human = terminal.console(stderr=json_file == "-")
    system = ci.mode(ci_system, os.environ)
    with ci.quoted(system, human.file):
        with warm.children(), terminal.progress(quiet=quiet) as step:
            from grader import grade, hand_in  # while the warm process starts
            from grader.devices import sanitizer as sanitizing

            result = grade.submit(
                assignment,
                path,
                file=file,
                language=language,
                device=device,
                tools=sanitizing.tools(sanitizer) if sanitizer is not None else (),
                frameworks=frameworks,
                compiler=compiler,
                jobs=jobs,
                step=step,
            )
            folder = out if out is not None else Path(".grade", result.assignment)
            step("writing the reports")
            report.write(result, folder)
            packed = hand_in.pack(result, grade.place(assignment, path), folder)
        terminal.show(result, human, quiet=quiet, verbose=verbose, folder=folder)
    report.write_json(result, json_file)
    ci.report(result, system, human.file, folder=packed.source, environment=os.environ)
    hand_in.finish(result, packed, human, asked=handing_in, in_ci=system != "none", quiet=quiet)
    raise typer.Exit(0 if exit_zero and result.verdict.exit_code == 1 else result.verdict.exit_code)


@app.command()
def check(
    assignment: Assignment,
    path: Submission = None,
    file: Annotated[
        str | None,
        typer.Option(metavar="F", help="The kernel file, where a folder holds several."),
    ] = None,
    language: Language = None,
    device: AlsoOn = "virtual",
    compiler: Compiler = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again after every save, until Ctrl-C.")
    ] = False,
    jobs: Jobs = None,
    json_file: JsonFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Check the small cases only, quickly; writes no report."""
    from grader import grade, report, warm
    from grader import watch as watching
    from grader.report import terminal

    human = terminal.console(stderr=json_file == "-")
    place = grade.place(assignment, path)
    before = result = None
    rounds = watching.saves(place) if watch else (None,)
    with warm.children():
        for _ in rounds:
            try:
                with terminal.progress(quiet=quiet) as step:
                    result = grade.submit(
                        assignment,
                        place,
                        file=file,
                        language=language,
                        device=device,
                        compiler=compiler,
                        jobs=jobs,
                        small=True,
                        step=step,
                    )
                terminal.show(result, human, quiet=quiet, verbose=verbose, brief=True)
                if before is not None:
                    terminal.show_difference(watching.difference(before, result), human)
                report.write_json(result, json_file)
                before = watching.remembered(before, result)
            except BrokenPipeError:  # nobody reads what the next round would say
                raise
            except Exception as error:
                if not watch:
                    raise
                _explain(error, debug)
    assert result is not None  # one pass without --watch; with it the loop ends by Ctrl-C
    raise typer.Exit(result.verdict.exit_code)


@app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ASSIGNMENT]...", help="By default every assignment found."),
    ] = None,
    device: AlsoOn = "virtual",
    compiler: Compiler = None,
    jobs: Jobs = None,
    json_file: JsonFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Prove that assignments grade as they should."""
    from grader import report
    from grader import verify as proof
    from grader.report import terminal

    human = terminal.console(stderr=json_file == "-")
    with terminal.progress(quiet=quiet) as step:
        found = proof.verify(
            names or (),
            jobs=jobs or os.cpu_count() or 1,
            device=device,
            compiler=compiler,
            step=step,
        )
    terminal.show_verification(found, human, quiet=quiet, verbose=verbose)
    report.write_json(found, json_file)
    raise typer.Exit(0 if found.ok else 1)


@app.command()
def new(
    name: Annotated[
        str,
        typer.Argument(help="Its name: what students will type. For --student-template a folder."),
    ],
    like: Annotated[
        str | None,
        typer.Option(
            metavar="ASSIGNMENT",
            help="The assignment to copy.",
            show_default="a small example with a comment at each key",
        ),
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(metavar="L[,L]", help="cuda-c, metal, triton.", show_default="all it has"),
    ] = None,
    student_template: Annotated[
        bool,
        typer.Option(
            "--student-template",
            help="Lay out the repository that students start from instead: every assignment, "
            "or the one of --like.",
        ),
    ] = False,
    json_file: JsonFile = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make an assignment that verifies already, to change step by step."""
    from grader import new as making
    from grader.report import terminal, write_json

    asked = [word.strip() for word in (languages or "").split(",") if word.strip()]
    if student_template:
        from grader import student_repository

        laid_out = student_repository.lay_out(Path(name), only=like, languages=asked)
        terminal.show_laid_out(laid_out, terminal.console(stderr=json_file == "-"), quiet=quiet)
        write_json(laid_out, json_file)
        return
    made = making.create(name, like=like, languages=asked)
    terminal.show_created(made, terminal.console(stderr=json_file == "-"), quiet=quiet)
    write_json(made, json_file)


@app.command()
def peek(
    operation: Annotated[str, typer.Argument(help="add, multiply, maximum, exp or where.")],
    framework: Annotated[
        str | None,
        typer.Option(help="Only numpy, pytorch, torch.compile, mlx or cupy.", show_default=False),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(help="Its version; by default the one that is installed.", show_default=False),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Let PyTorch's profiler look on: kernel, grid, block.")
    ] = False,
    json_file: JsonFile = None,
    debug: Debug = False,
) -> None:
    """Show what the frameworks run for an operation: file and line of each step."""
    from grader import peek as looking
    from grader.report import peek as shown
    from grader.report import terminal, write_json

    found = looking.peek(operation, framework, version, live=live)
    shown.show(found, terminal.console(stderr=json_file == "-"))
    write_json(found, json_file)


@app.command()
def run(
    file: Annotated[
        Path,
        typer.Argument(
            help="A kernel's file (.cu, .metal), a CUDA program with a main(), "
            "or a Python script (.py)."
        ),
    ],
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which kernel: a name, or a template instance such as 'reduce<float, 256>'.",
            show_default="the only one",
        ),
    ] = None,
    grid: Annotated[
        str | None, typer.Option(metavar="X[,Y[,Z]]", help="Blocks.", show_default=False)
    ] = None,
    block: Annotated[
        str | None,
        typer.Option(metavar="X[,Y[,Z]]", help="Threads in a block.", show_default=False),
    ] = None,
    shared: Annotated[int, typer.Option(metavar="BYTES", help="Dynamic shared memory.")] = 0,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC",
            help="One for each parameter, in order: a:f32[1000] is random, out:f32[1000]=0 "
            "filled, out:f32[1000]=undefined never written, a:f32@file.npy read from a file, "
            "n:i32=1000 a scalar.",
            show_default=False,
        ),
    ] = None,
    optimised_only: Annotated[
        bool, typer.Option("--optimised-only", help="Leave out the unoptimised build.")
    ] = False,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- ARGS]", help="For a program or a script.", show_default=False),
    ] = None,
    stdin: Annotated[
        Path | None,
        typer.Option(
            "--input", metavar="FILE", help="Standard input of a program.", show_default=False
        ),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="FILE",
            help="Another file of the program (.cu, .cpp); they may also stand behind the first.",
            show_default=False,
        ),
    ] = None,
    define: Annotated[
        list[str] | None,
        typer.Option(
            "--define",
            "-D",
            metavar="NAME[=VALUE]",
            help="A macro for all files, as of nvcc.",
            show_default=False,
        ),
    ] = None,
    include: Annotated[
        list[Path] | None,
        typer.Option(
            "--include",
            "-I",
            metavar="FOLDER",
            help="Where headers lie too, as of nvcc.",
            show_default=False,
        ),
    ] = None,
    compiler: Compiler = None,
    json_file: JsonFile = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run one kernel on the virtual GPU with every check: no assignment, no GPU.

    Of a CUDA C file with a main() the whole program, from all the files given; of a Python script
    (.py) every Triton kernel that it launches.
    """
    if file.exists() and not file.is_file():
        raise UsageError(f"expected a file to run, found {file}, which is no regular file")
    from grader import file_to_run

    definitions, folders = file_to_run.definitions(define or ()), include or ()
    if file.suffix != ".cu" and (definitions or folders):
        raise UsageError(f"-D and -I are for CUDA C, found {file}")
    if file.suffix == ".py":
        _run_script(file, arguments or [], json_file=json_file, quiet=quiet)
    if kernel is None and grid is None and block is None and not arg:
        files = (beside or (), folders)
        _run_program(file, arguments or (), stdin, files, definitions, json_file, quiet)
    if arguments or stdin:
        raise UsageError(f"{file} is a kernel: only a program or a script takes ARGS")
    from grader import run_file
    from grader.report import run_file as shown
    from grader.report import terminal, write_json

    human = terminal.console(stderr=json_file == "-")
    with terminal.progress(quiet=quiet) as step:
        found = run_file.run(
            file,
            kernel=kernel,
            grid=run_file.dimensions("--grid", grid),
            block=run_file.dimensions("--block", block),
            shared_bytes=shared,
            specs=arg or (),
            optimised_only=optimised_only,
            compiler=compiler,
            folders=folders,
            defines=definitions,
            step=step,
        )
    shown.show(found, file.read_text(encoding="utf-8"), human, quiet=quiet)
    write_json(found, json_file)
    raise typer.Exit(found.exit_code)


def _run_script(
    file: Path, arguments: list[str], *, json_file: str | None, quiet: bool
) -> NoReturn:
    from grader.languages import triton_program
    from grader.report import script as shown
    from grader.report import terminal, write_json

    with terminal.progress(quiet=quiet) as step:
        step(f"running {file.name}")
        found = triton_program.run(file, arguments)
    human = terminal.console(stderr=json_file == "-")
    shown.show(found, file.read_text(encoding="utf-8"), human, quiet=quiet)
    write_json(found, json_file)
    raise typer.Exit(found.exit_code)


def _run_program(
    file: Path,
    arguments: Sequence[str],
    stdin: Path | None,
    files: tuple[Sequence[Path], Sequence[Path]],
    defines: Sequence[str],
    json_file: str | None,
    quiet: bool,
) -> None:
    """Run the file as a whole program and exit, if it has a main(); `files` are those beside it,
    and the folders where headers lie too."""
    from grader import file_to_run, run_program
    from grader.report import run_program as shown
    from grader.report import terminal, write_json

    text = file_to_run.read(file)
    own = list(itertools.takewhile(file_to_run.is_source, arguments))
    arguments, beside, folders = arguments[len(own) :], [*files[0], *map(Path, own)], files[1]
    if file.suffix != ".cu" or not (beside or run_program.is_program(text)):
        return
    given = stdin.read_bytes() if stdin else b""
    with terminal.progress(quiet=quiet) as step:
        found = run_program.run(
            file, text, arguments, stdin=given, beside=beside, folders=folders, defines=defines,
            step=step,
        )  # fmt: skip
    texts = run_program.texts(file, text, beside, folders)
    shown.show(found, texts, terminal.console(stderr=json_file == "-"), quiet=quiet)
    write_json(found, json_file)
    raise typer.Exit(found.exit_code)


@app.command()
def devices(json_file: JsonFile = None, debug: Debug = False) -> None:
    """Say what can be compiled and run here; for what cannot, why."""
    from grader.devices.survey import survey
    from grader.report import terminal, write_json

    found = survey()
    terminal.show_survey(found, terminal.console(stderr=json_file == "-"))
    write_json(found, json_file)


options.register(app)
app.command("doctor", hidden=True, help="The same as `grade devices`.")(devices)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with the code of the table in docs/how-it-works.md."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.exit(_run(arguments))


def _run(arguments: list[str]) -> int:
    code: Any
    try:
        code = app(args=arguments, prog_name="grade", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("grade: stopped.", err=True)
        return 130
    except BrokenPipeError:
        # The reader of our output went away (`grade … | head`): nothing is left to say to it.
        sys.stderr.close()
        return 1
    except Exception as error:
        if hasattr(error, "show") and hasattr(error, "exit_code"):  # a usage error of the parser
            error.show()
            return int(error.exit_code)
        return _explain(error, "--debug" in arguments)
    return code if isinstance(code, int) else 0


def _explain(error: Exception, debug: bool) -> int:
    """Say what ended a command, and whose turn it is; the exit code."""
    if isinstance(error, GradeError):
        _say(error.message, error.hint)
    else:
        _say(
            f"The grader failed; this is not about your kernel. {type(error).__name__}: {error}",
            "Run the command again with --debug and report what it prints.",
        )
    if debug:
        traceback.print_exception(error)
    return error.exit_code if isinstance(error, GradeError) else 4


def _say(message: str, hint: str) -> None:
    for text, indent in ((f"grade: {message}", ""), (hint, "  ")):
        for line in text.splitlines():
            typer.echo(_fitted(line, indent), err=True)


def _fitted(line: str, indent: str) -> str:
    """A line that fits a terminal; a log keeps it in one piece, to be searched."""
    if not sys.stderr.isatty():
        return indent + line
    width = min(80, shutil.get_terminal_size().columns)
    return textwrap.fill(
        line, max(20, width), initial_indent=indent, subsequent_indent="  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
