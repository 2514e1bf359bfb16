"""Attack: die by a signal, which a grader might take for its own fault.

Why it must fail: a child that ran student code and died is a build that failed.

Expect: build_failed
"""

import os

os.kill(os.getpid(), 9)
