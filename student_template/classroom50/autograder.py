"""Classroom 50's `autograder.py`: put it into the assignment's bundle.

A file `grader.txt` beside it says what pip installs, such as
grader[triton] @ git+https://github.com/ORG/grader@v0.1.0

It runs in the student's checkout and leaves `result.json` and `release-body.md` there. Exit 0 means
graded, whatever the points; anything else is an infrastructure error and leaves the release alone.
"""

import os
import subprocess
import sys
from pathlib import Path

GRADER = (Path(__file__).parent / "grader.txt").read_text().strip()
VENV = Path.home() / ".cache" / "grade-venv"


def main() -> int:
    grade = VENV / "bin" / "grade"
    if not grade.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(VENV / "bin" / "pip"), "install", "--quiet", GRADER], check=True)
    name = os.environ["ASSIGNMENT"]
    command = [str(grade), "submit", name, "--ci", "classroom50", "--exit-zero"]
    if not Path(name).is_dir():
        command.insert(3, ".")
    done = subprocess.run(command, check=False)
    return 0 if Path("result.json").is_file() and done.returncode in (0, 3) else 1


if __name__ == "__main__":
    sys.exit(main())
