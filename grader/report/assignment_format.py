"""docs/assignment-format.md: every key of `assignment.toml`, from the fields of its schema.

A table for each kind of table of the file, with type, default and meaning of each key; then the
files beside it, and the commented example that `grade new` copies.
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from grader import new
from grader.assignment_schema import Assignment, Language, Section

INTRODUCTION = """\
`assignments/NAME/assignment.toml` says what students write, how it is launched, on which inputs, \
and what earns points. `grade verify NAME` proves it; a mistake is named with its key and line. \
Unknown keys are mistakes. `grade new NAME` makes an assignment to start from, and \
[instructor-guide.md](instructor-guide.md) walks through one.

A *language* is `cuda-c`, `metal` or `triton`. An *expression* is a whole number or text such as \
`"max(1, cdiv(N, BLOCK))"`: names of sizes (and, where it says so, constants), whole numbers, `+ - \
* // %`, `cdiv(a, b)` (a / b rounded up), `min` and `max`. *Needed* keys have no default."""

LISTED = {"expression": "expressions", "language": "languages", "whole number": "whole numbers"}
"""What a list or table holds, in the plural."""

BESIDE = """\
## inputs.py

Your code, trusted; it runs where the expected numbers are known and never beside a student's.

```python
def inputs(sizes, rng, case): ...   # {name: array or number} for every input, inout and scalar
def oracle(inputs, sizes): ...      # {name: float64 array} for every output, or (array, scale)
```

`sizes` maps names to numbers, `rng` is a numpy Generator seeded by assignment, case and, of a \
hidden case, the secret; `case.values` is its word. Arrays have the buffer's shape and type. \
`scale` replaces |expected| in the tolerance: the sum of the magnitudes, where terms cancel.

## Files beside it

| file | is |
|---|---|
| `assignments/NAME/README.md` | the statement; names the kernels, parameters and constants, has a \
row `\\| item \\| points \\| …` for each item and the command `grade submit NAME` |
| `assignments/NAME/submissions/VERDICT/` | known submissions; comments at their top name findings \
that must be reported, `// expect: kind=out_of_bounds line=9 access=read buffer=A`, and points \
that must be given, in all or for an item of the rubric: `// expect: points=85 speed="<= 3"` |
| `reference/NAME/kernel.cu`, `.metal`, `.py` | the reference of each language |
| `reference/NAME/frameworks.py` | `with_numpy(inputs, sizes)`, `with_torch`, `with_mlx`, \
`with_cupy`: what `oracle` returns, by a framework, in the buffer's type. `inputs` are the \
framework's own arrays, on the device that is meant (scalars are numbers), and so is what is \
returned. `grade verify` compares them with the oracle, `grade submit --baselines` times them |
| `student_template/NAME/` | the starters: they build and are not accepted |"""


def page(written: str) -> str:
    """The page; `written` is the line that says how it came about."""
    parts = ["# `assignment.toml`", written, INTRODUCTION]
    for model, headings in _sections():
        about = inspect.getdoc(model) or ""
        if model is Assignment:
            about = "The keys at its top, and the tables that follow."
        parts.append(f"## {', '.join(headings)}\n\n{_prose(about)}")
        parts.append("\n".join(_rows(model)))
    example = (new.EXAMPLE / "assignment.toml").read_text(encoding="utf-8")
    parts += [BESIDE, f"## An example\n\n```toml\n{example}```"]
    return "\n\n".join(parts) + "\n"


def tables() -> Iterator[tuple[str, type[Section]]]:
    """Path in the file, as in `launch.cuda-c`, and schema of each kind of table, in its order.

    `NAME` stands for a name that the author or the grader chose; the path of the whole file is
    empty.
    """
    for path, model, _ in _tables("", Assignment, "{}"):
        yield path, model


def _tables(path: str, model: type[Section], form: str) -> Iterator[tuple[str, type[Section], str]]:
    yield path, model, form.format(path)
    for name, field in _fields(model):
        inside = f"{path}.{name}".lstrip(".")
        for inner, shape in _inner(field.annotation):
            if shape == "map":
                yield from _tables(f"{inside}.{_key_of(name)}", inner, "[{}]")
            else:
                # The bands of a scale are written inline, in the table that has the scale.
                form = "[{}]" if shape == "table" else "[[{}]]" if name != "bands" else "{}"
                yield from _tables(inside, inner, form)


def _key_of(name: str) -> str:
    """What the names in a map stand for."""
    return {"tolerance": "DTYPE", "checks": "FAULT"}.get(name, "NAME")


def _sections() -> Iterator[tuple[type[Section], list[str]]]:
    """Each schema once, with all the headings it has in the file."""
    headings: dict[type[Section], list[str]] = {}
    for _, model, heading in _tables("", Assignment, "{}"):
        headings.setdefault(model, []).append(f"`{heading}`" if heading else "The file")
    yield from headings.items()


def _fields(model: type[Section]) -> Iterator[tuple[str, FieldInfo]]:
    """Every key and its field; what `load` sets is not a key."""
    for name, field in model.model_fields.items():
        if not field.exclude:
            yield field.alias or name, field


def _inner(annotation: Any) -> Iterator[tuple[type[Section], str]]:
    """The schemas that a key's value holds, and how: `table`, `array` or `map`."""
    if inspect.isclass(annotation) and issubclass(annotation, Section):
        yield annotation, "table"
        return
    origin, arguments = get_origin(annotation), get_args(annotation)
    shape = {tuple: "array", dict: "map"}.get(origin) if origin else None
    for argument in arguments:
        for model, inside in _inner(argument):
            yield model, shape or inside


def _rows(model: type[Section]) -> Iterator[str]:
    yield "| key | type | default | |\n|---|---|---|---|"
    for name, field in _fields(model):
        meaning = _prose(field.description or "")
        yield f"| `{name}` | {_type(field.annotation)} | {_default(field)} | {meaning} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    default = field.default
    if default is PydanticUndefined or default is None or default in ((), {}):
        return ""
    if isinstance(default, tuple):
        return ", ".join(f"`{value}`" for value in default)
    if default == "" or (isinstance(default, str) and default != default.strip()):
        return '`""`'
    return f"`{json.dumps(default) if not isinstance(default, str) else default}`"


def _type(annotation: Any) -> str:
    """A type in words: `list of expressions`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation == Language:
        return "language"
    if origin is Literal:
        if len(arguments) > 5:
            return "one of " + ", ".join(f"`{value}`" for value in arguments)
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, types.UnionType):
        choices = [choice for choice in arguments if choice is not type(None)]
        if {str, int} <= set(choices):
            rest = [choice for choice in choices if choice not in (str, int)]
            return " or ".join(["expression", *map(_type, rest)])
        return " or ".join(map(_type, choices))
    if origin is tuple:
        inner = _type(arguments[0])
        if Ellipsis not in arguments:
            return f"[{', '.join(map(_type, arguments))}]"
        if inner == "table":
            return "array of tables"
        return f"list of {LISTED.get(inner, inner)}"
    if origin is dict:
        inner = _type(arguments[1])
        return "table" if inner == "table" else f"table of {LISTED.get(inner, inner)}"
    if inspect.isclass(annotation) and issubclass(annotation, Section):
        return "table"
    words = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return words.get(annotation, str(annotation))


def _prose(text: str) -> str:
    """A docstring or description for Markdown: `|` would end a cell."""
    return text.replace("|", "\\|")
