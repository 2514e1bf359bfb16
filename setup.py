"""Puts the assignments into the package: an installed grader finds them where a checkout does.

Everything else about the package is in pyproject.toml.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
COURSE = ("assignments", "reference", "student_template")


class BuildWithCourse(build_py):
    """Copies the course into `grader/course/` of what is built; an editable install needs none."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for tree in COURSE:
            target = Path(self.build_lib, "grader", "course", tree)
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(HERE / tree, target, ignore=shutil.ignore_patterns("__pycache__"))


setup(cmdclass={"build_py": BuildWithCourse})
