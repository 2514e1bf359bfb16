"""`result.json` and its schema: the records themselves, versioned by `schema`."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from grader.result import Result


def dumps(record: BaseModel) -> str:
    """A record as indented JSON with a final newline; keys in the order of the schema.

    NaN and infinities, which JSON has no numbers for, are already text in the records.
    """
    data = record.model_dump(mode="json", by_alias=True)
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def loads(text: str) -> Result:
    """Read a `result.json` back. Raises pydantic.ValidationError for anything else."""
    return Result.model_validate_json(text)


def schema() -> dict[str, Any]:
    """JSON Schema of `result.json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Result.model_json_schema(by_alias=True, mode="serialization"),
    }
