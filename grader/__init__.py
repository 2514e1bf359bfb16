"""`grade`: an autograder for GPU-kernel exercises that needs no GPU.

submission -> build -> run -> verdict -> score -> report; `grade.py` knows the order.
"""

__version__ = "0.1.0"
