"""The page of messages: what each verdict and finding means, its causes, and how to mend it."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Literal

from pydantic import Field

from grader.report.findings import leading_fault
from grader.result import Record, Result, Verdict


class Message(Record):
    """One entry. `kind` says whether the slug is a verdict, a kind of finding, both or an error."""

    slug: str
    kind: Literal["verdict", "finding", "both", "error"] = Field(alias="is")
    means: str
    example: str
    causes: tuple[str, ...]
    fixes: tuple[str, ...]


@functools.cache
def messages() -> dict[str, Message]:
    """Every entry by its slug, in the order of the page."""
    text = resources.files("grader.report").joinpath("messages.toml").read_text(encoding="utf-8")
    entries = [Message.model_validate(entry) for entry in tomllib.loads(text)["message"]]
    return {entry.slug: entry for entry in entries}


def about(result: Result) -> Message | None:
    """The entry of the finding that leads, else of the verdict; None for an accepted kernel."""
    if result.verdict is Verdict.ACCEPTED:
        return None
    leading = leading_fault(result)
    return messages()[leading.fault.kind if leading else result.verdict.value]
