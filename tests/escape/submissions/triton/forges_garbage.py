"""Attack: write noise to every descriptor, then end the process.

Why it must fail: a reply that is no reply is a build that failed; it is neither a verdict nor
    our error.

Expect: build_failed
"""

import contextlib
import os

for fd in range(1, 64):
    with contextlib.suppress(OSError):
        os.write(fd, b"accepted 100/100\n" * 10)
os._exit(0)
