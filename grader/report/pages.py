"""Writes the pages of docs/ that come from the code: `python -m grader.report.pages docs`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.pattern_advice import described
from grader.report import assignment_format
from grader.report.json import schema
from grader.report.messages import messages

WRITTEN = "<!-- Written by `make docs`; edit {source} instead. -->"


def pages() -> dict[str, str]:
    """File name in docs/ and content."""
    return {
        "assignment-format.md": assignment_format.page(
            WRITTEN.format(source="grader/assignment_schema.py")
        ),
        "messages.md": _messages(),
        "result-format.md": _result_format(),
        "result.schema.json": json.dumps(schema(), indent=1, ensure_ascii=False) + "\n",
    }


def _messages() -> str:
    parts = [
        "# Messages",
        WRITTEN.format(source="grader/report/messages.toml"),
        "What `grade` says, what it means, and what to do. A *verdict* is the word for a whole "
        "case or submission, a *finding* is one thing that was found on one line; an error "
        "changes the verdict, warnings and notes do not. An *error* ends a command before "
        "anything is graded.",
    ]
    for entry in messages().values():
        kind = "verdict and finding" if entry.kind == "both" else entry.kind
        parts.append(f"## {entry.slug}\n\n*{kind}.* {entry.means}")
        parts.append(f"> {entry.example}")
        if entry.causes:
            parts.append("Likely causes\n\n" + "\n".join(f"- {text}" for text in entry.causes))
        parts.append("What to do\n\n" + "\n".join(f"- {text}" for text in entry.fixes))
    parts.append("## Patterns of wrong numbers")
    parts.append(
        "What the wrong or missing elements of an output have in common stands at the end of the "
        "message and decides the next step. N is a number that was found, A a name."
    )
    rows = [f"| {pattern} | {advice.replace('|', chr(92) + '|')} |"
            for pattern, advice in described()]  # fmt: skip
    parts.append("\n".join(["| pattern | what to do |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _result_format() -> str:
    described = schema()
    parts = [
        "# `result.json`",
        WRITTEN.format(source="grader/result.py"),
        "One graded submission. The file is the record itself, versioned by `schema`; "
        "[result.schema.json](result.schema.json) is its JSON Schema. Two gradings of the same "
        "files differ in `created` and in keys called `seconds`, and in nothing else. Keys that "
        "have no value are null or empty, never missing. NaN and infinities are the words "
        "`NaN`, `infinity` and `-infinity`.",
        *_table("result", described),
    ]
    for name, definition in described["$defs"].items():
        if "enum" in definition:
            values = ", ".join(f"`{value}`" for value in definition["enum"])
            parts.append(f"## {name}\n\n{_first(definition)}\n\n{values}")
        else:
            parts += _table(name, definition)
    return "\n\n".join(parts) + "\n"


def _first(definition: dict[str, Any]) -> str:
    return str(definition.get("description", ""))


def _table(name: str, definition: dict[str, Any]) -> Iterator[str]:
    yield f"## {name}\n\n{_first(definition)}"
    rows = ["| key | type | |", "|---|---|---|"]
    for key, value in definition.get("properties", {}).items():
        rows.append(f"| `{key}` | {_type(value)} | {_first(value)} |")
    yield "\n".join(rows)


def _type(value: dict[str, Any]) -> str:
    """A type in words: `list of Fault`, `text or null`."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return " or ".join(f"`{choice}`" for choice in value["enum"])
    if "anyOf" in value:
        return " or ".join(_type(choice) for choice in value["anyOf"])
    if value.get("type") == "array":
        if "prefixItems" in value:
            return f"list of {len(value['prefixItems'])} × {_type(value['prefixItems'][0])}"
        return f"list of {_type(value.get('items', {}))}"
    if value.get("type") == "object":
        inside = value.get("additionalProperties")
        return f"map from text to {_type(inside)}" if isinstance(inside, dict) else "object"
    words = {"string": "text", "integer": "whole number", "number": "number", "null": "null"}
    return words.get(value.get("type", ""), str(value.get("type", "anything")))


def main(folder: Path) -> None:
    """Write every page into `folder`."""
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
