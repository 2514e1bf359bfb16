"""Lines of TOML keys: the walk agrees with tomllib on what there is, and counts lines right."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.toml_lines import TomlError, read

TEXT = '''# a note
title = "x"
[[kernel]]
framework = "numpy"   # here
[[kernel.file]]
path = 'a\\b'
symbol = ["f",
  "g"]
[[kernel.file]]
path = """
two
lines"""
role = "loop"
[kernel.bounds_check]
lines = [ 1,
 2 ]
quote = "a \\" # = b"
[[kernel]]
"quoted key" = {inner.deep = 1, other = [{x = 1}]}
a.b.c = 3
'''


def test_every_key_has_its_line() -> None:
    values, lines = read(TEXT)
    assert values["kernel"][0]["file"][1]["path"] == "two\nlines"
    assert lines[("title",)] == 2
    assert lines[("kernel", 0)] == 3
    assert lines[("kernel", 0, "framework")] == 4
    assert lines[("kernel", 0, "file", 0, "path")] == 6
    assert lines[("kernel", 0, "file", 0, "symbol", 1)] == 8
    assert lines[("kernel", 0, "file", 1, "path")] == 10
    assert lines[("kernel", 0, "file", 1, "role")] == 13
    assert lines[("kernel", 0, "bounds_check", "lines")] == 15
    assert lines[("kernel", 0, "bounds_check", "quote")] == 17
    assert lines[("kernel", 1, "quoted key", "other", 0, "x")] == 19
    assert lines[("kernel", 1, "a", "b", "c")] == 20


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = = 2\n", 2), ("[a\n", 1), ('x = """\nopen', 2), ("a = 1\na = 2\n", 2)],
)
def test_broken_toml_names_the_line(text: str, line: int) -> None:
    with pytest.raises(TomlError) as error:
        read(text)
    assert error.value.line == line
    assert "(at" not in error.value.message


@pytest.mark.parametrize("text", ["a = " + "[" * 5000 + "]" * 5000, "a = 1" + "0" * 5000])
def test_hostile_toml_is_an_error_not_a_crash(text: str) -> None:
    with pytest.raises(TomlError):
        read(text)


_KEYS = st.text("abc-_1", min_size=1, max_size=4)
_WRITTEN = st.recursive(
    st.one_of(
        st.integers(-9, 9).map(str),
        st.sampled_from(['"a#b"', "'c]d'", '"""x\n"y"""', "'''p\nq'''", "true", "1979-05-27"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[\n" + ",\n".join(items) + "]"),
        st.dictionaries(_KEYS, inner, max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{k} = {v}" for k, v in pairs.items()) + "}"
        ),
    ),
    max_leaves=6,
)


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    found = {path} if path else set()
    for key, inner in items:
        found |= _paths(inner, (*path, key))
    return found


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_KEYS, _KEYS, _WRITTEN), max_size=5))
def test_the_walk_finds_exactly_what_tomllib_finds(parts: list[tuple[str, str, str]]) -> None:
    text = "".join(f"# c\n[[t{table}]]\n{key} = {value} # x\n" for table, key, value in parts)
    values, lines = read(text)
    assert set(lines) == _paths(values)
    written = text.split("\n")
    for path, line in lines.items():
        if len(path) == 3:
            assert written[line - 1].startswith(f"{path[2]} = ")


@pytest.mark.parametrize("part", [".b", ' . "b"', ".'b'"])
def test_a_key_that_nobody_wrote_by_hand_is_refused_at_once(part: str) -> None:
    """Attack: half a megabyte of one dotted key, which tomllib reads in the square of its parts."""
    started = time.process_time()
    with pytest.raises(TomlError, match="more than 32 parts") as refused:
        read("x = 1\na" + part * (900_000 // len(part)) + " = 1\n")
    assert refused.value.line == 2
    assert time.process_time() - started < 1
    assert read("a" + part * 31 + " = 1\n")[0].keys() == {"a"}
    assert read('a = "' + "a.b " * 1000 + '"\n')[0]["a"].startswith("a.b a.b")
