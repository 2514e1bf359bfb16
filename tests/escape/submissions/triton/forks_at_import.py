"""Attack: a fork bomb.

Why it must fail: a build child cannot make a process.

Expect: build_failed
"""

import os

while True:
    os.fork()
