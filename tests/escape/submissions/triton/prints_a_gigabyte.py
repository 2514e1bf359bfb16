"""Attack: a gigabyte of output.

Why it must fail: the output has a limit.

Expect: build_failed
"""

for _ in range(1 << 24):
    print("x" * 64)
