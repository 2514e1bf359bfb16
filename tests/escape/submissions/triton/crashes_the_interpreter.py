"""Attack: crash the interpreter by reading address 0.

Why it must fail: a child that ran student code and died is a build that failed.

Expect: build_failed
"""

import ctypes

ctypes.string_at(0)
