"""Attack: use up the machine's memory.

Why it must fail: resident memory is watched, and the child goes first.

Expect: build_failed
"""

kept = []
while True:
    kept.append(bytearray(b"x") * (64 << 20))
