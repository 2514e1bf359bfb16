"""The check of a note is quick and imports no framework."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REFERENCE = Path(__file__).parents[3] / "reference" / "assignment3" / "notes.toml"

SCRIPT = """
import sys, time
from pathlib import Path
from grader import notes
started = time.process_time()
found = notes.check(Path(sys.argv[1]))
print(time.process_time() - started)
print([entry.verdict for entry in found.entries])
print(sorted({"numpy", "torch", "mlx", "cupy", "triton", "llvmlite"} & set(sys.modules)))
"""


def test_a_cold_check_takes_under_a_fifth_of_a_second_and_imports_no_framework() -> None:
    times = []
    for _ in range(3):  # seconds of the processor, the best of three: the machine may be busy
        out = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(REFERENCE)],
            capture_output=True,
            text=True,
            check=True,
            cwd=REFERENCE.parents[2],
        ).stdout.splitlines()
        assert out[1:] == ["['right', 'right']", "[]"]
        times.append(float(out[0]))
        if times[-1] < 0.2:
            break
    assert min(times) < 0.2
