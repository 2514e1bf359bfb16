"""Attack: fill the disk.

Why it must fail: what lies in the private directory is counted, and nothing else can be
    written.

Expect: build_failed
"""

from pathlib import Path

n = 0
while True:
    n += 1
    Path(f"{n}").write_bytes(bytes(1 << 24))
