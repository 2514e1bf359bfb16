"""Attack: a bomb of threads, which are allowed.

Why it must fail: they are counted.

Expect: build_failed
"""

import threading
import time

while True:
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
