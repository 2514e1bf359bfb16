"""Gradescope's autograder as an archive: this grader, one assignment, and the two scripts.

Gradescope unpacks it into /autograder/source and runs setup.sh there once.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from grader.assignment_schema import Assignment
from grader.errors import UsageError

SETUP = """\
#!/usr/bin/env bash
# Runs once, when Gradescope builds the image.
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install --no-cache-dir '/autograder/source[triton]' || \\
  /autograder/venv/bin/pip install --no-cache-dir /autograder/source
# The engine's runtime and the reference are made here, not while a student waits.
export GRADE_CACHE=/autograder/cache GRADE_ASSIGNMENTS=/autograder/source/assignments
cd /autograder/source
/autograder/venv/bin/grade submit {name} warm --out /tmp/warm --exit-zero || true
"""

RUN = """\
#!/usr/bin/env bash
# Runs for every submission; results.json is written even where the grader fails.
export GRADE_CACHE=/autograder/cache GRADE_ASSIGNMENTS=/autograder/source/assignments
mkdir -p /autograder/results
cd /autograder/submission
/autograder/venv/bin/grade submit {name} . --ci gradescope --exit-zero --out /tmp/report{weak}
if [ ! -s /autograder/results/results.json ]; then
  echo '{{"score": 0, "output": "The grader failed; this is not about your kernel. Tell your
instructor.", "stdout_visibility": "visible"}}' | tr '\\n' ' ' > /autograder/results/results.json
fi
"""

_DATE = (1980, 1, 1, 0, 0, 0)


def gradescope(assignment: Assignment, *, weak_sandbox: bool = False) -> bytes:
    """The archive to upload under `Configure Autograder`. It holds the reference kernels.

    Raises UsageError where the grader is installed without its sources.
    """
    package = Path(__file__).parent.parent
    checkout = package.parent
    if not (checkout / "pyproject.toml").is_file():
        raise UsageError(
            f"expected pyproject.toml beside {package}",
            "Make the bundle from a checkout of the grader, not from an installed package.",
        )
    weak = " --weak-sandbox" if weak_sandbox else ""
    files: dict[str, bytes] = {
        "setup.sh": SETUP.format(name=assignment.name).encode(),
        "run_autograder": RUN.format(name=assignment.name, weak=weak).encode(),
        "pyproject.toml": (checkout / "pyproject.toml").read_bytes(),
        "README.md": (checkout / "README.md").read_bytes(),
    }
    files |= _tree(package, "grader")
    files |= _tree(assignment.folder, f"assignments/{assignment.name}")
    for language in assignment.languages:
        reference = assignment.reference(language)
        if reference:
            files |= _tree(reference.parent, f"reference/{assignment.name}")
            files[f"warm/{assignment.files.starter(language)}"] = reference.read_bytes()
            break
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(files):
            place = zipfile.ZipInfo(name, _DATE)
            place.compress_type = zipfile.ZIP_DEFLATED
            runs = name in ("setup.sh", "run_autograder")
            place.external_attr = (0o100755 if runs else 0o100644) << 16
            packed.writestr(place, files[name])
    return out.getvalue()


def _tree(folder: Path, name: str) -> dict[str, bytes]:
    """Every file below a folder but compiled Python and the known submissions."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.is_file() and "__pycache__" not in inner.parts and inner.parts[0] != "submissions":
            found[f"{name}/{inner.as_posix()}"] = path.read_bytes()
    return found
