"""Attack: end the build with status 0 before anything was compiled.

Why it must fail: without a reply there is no build.

Expect: build_failed
"""

import os

os._exit(0)
