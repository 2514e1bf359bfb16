"""The parent's cache: content keys, whole entries, misses instead of errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import cache


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_what_is_written_is_read_back():
    assert cache.read("ptx", "a") is None
    cache.write("ptx", "a", b"one")
    cache.write("ptx", "a", b"two")
    assert cache.read("ptx", "a") == b"two"
    assert cache.read("other", "a") is None


def test_keys_depend_on_every_part_and_on_where_it_ends():
    assert cache.key("ab", "c") != cache.key("a", "bc")
    assert cache.key("a", b"b") == cache.key("a", "b")


def test_a_folder_that_cannot_be_written_is_a_miss(folder):
    folder.write_text("not a folder")
    cache.write("ptx", "a", b"one")
    assert cache.read("ptx", "a") is None


def test_changed_code_is_other_code(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.py").write_text("1\n")
    first = cache.code(tmp_path)
    assert cache.code(tmp_path) == first
    (tmp_path / "notes.txt").write_text("not code\n")
    assert cache.code(tmp_path) == first
    (tmp_path / "inner" / "a.py").write_text("10\n")
    assert cache.code(tmp_path) != first


def test_a_damaged_object_is_a_miss():
    cache.write("kind", "whole", b'{"a": 1}')
    for name, data in (("cut", b'{"a": '), ("empty", b""), ("other", b"[1]"), ("odd", b"\xff")):
        cache.write("kind", name, data)
        assert cache.read_json("kind", name) is None
    assert cache.read_json("kind", "whole") == {"a": 1}
    assert cache.read_json("kind", "none") is None
