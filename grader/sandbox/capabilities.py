"""Root without its powers: drops every capability of this process, for good (capabilities(7))."""

from __future__ import annotations

import ctypes
import os
import struct

VERSION_3 = 0x20080522
PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
LAST_POSSIBLE = 63


def drop() -> None:
    """Empty the bounding, ambient, permitted, effective and inheritable sets.

    A process of an ordinary user has none, so nothing changes there. Raises OSError.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(LAST_POSSIBLE + 1):
        # Fails for a number the kernel does not know, and without CAP_SETPCAP: nothing to drop.
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("<Ii", VERSION_3, 0), 8)
    nothing = ctypes.create_string_buffer(24)
    if libc.capset(header, nothing):
        code = ctypes.get_errno()
        raise OSError(code, f"capset: {os.strerror(code)}")
