"""Attack: end the program while it is imported, with a message that claims a verdict.

Why it must fail: an exception at import is a build that failed.

Expect: build_failed
"""

import sys

sys.exit("accepted: 100 of 100 points")
