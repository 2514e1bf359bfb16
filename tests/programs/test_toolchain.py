"""What `grade devices` says of whole programs, and the runtime object that is kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.devices.survey import survey
from grader.programs import toolchain
from tests.programs.running import needs_host


@needs_host
def test_the_survey_has_a_row_for_programs() -> None:
    (row,) = [item for item in survey().found if item.kind == "program"]
    assert row.missing is None
    assert row.detail == toolchain.state()
    assert "clang of ziglang" in row.detail


@needs_host
def test_whether_the_library_is_built_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    assert toolchain.state().endswith("will be built at first use (about a minute)")
    toolchain.folder().mkdir(parents=True)
    (toolchain.folder() / toolchain.ORDER).write_text("")
    assert toolchain.state().endswith("is built")


def test_without_linux_there_are_no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert "Linux only" in str(toolchain.missing())
    assert toolchain.state() == ""


@needs_host
def test_the_runtime_is_compiled_once_for_its_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    sources = tmp_path / "runtime"
    shutil.copytree(toolchain.RUNTIME, sources)
    monkeypatch.setattr(toolchain, "RUNTIME", sources)
    toolchain.runtime_object.cache_clear()
    first = toolchain.runtime_object()
    assert first.read_bytes()[:4] == b"\x7fELF"
    changed = first.stat().st_mtime_ns
    toolchain.runtime_object.cache_clear()
    assert toolchain.runtime_object() == first
    assert first.stat().st_mtime_ns == changed
    (sources / "host.c").write_text((sources / "host.c").read_text() + "\n")
    toolchain.runtime_object.cache_clear()
    assert toolchain.runtime_object() != first
    toolchain.runtime_object.cache_clear()
