"""Attack: never return from the import, without using the processor.

Why it must fail: the limit is of wall time as well.

Expect: build_failed
"""

import time

time.sleep(10_000)
