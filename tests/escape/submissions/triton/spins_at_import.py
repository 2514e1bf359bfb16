"""Attack: never return from the import.

Why it must fail: the build has a limit of time.

Expect: build_failed
"""

while True:
    pass
