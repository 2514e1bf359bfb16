"""Attack: overflow the C stack through a deep structure.

Why it must fail: a child that ran student code and died is a build that failed.

Expect: build_failed
"""

import sys

sys.setrecursionlimit(1 << 30)


def deeper(x):
    return deeper(x) + [x].__repr__()


deeper(1)
