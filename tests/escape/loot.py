"""What an attack on the sandbox achieved: `attacks_on_*.py` collect it here."""

from __future__ import annotations

import ctypes
import errno
import platform

HELD = (errno.EPERM, errno.EACCES, errno.ENOSYS)
COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine(), 0)


class Loot:
    """Collects what got through."""

    def __init__(self):
        self.got = []

    def grab(self, what, action, *arguments, **named):
        """Do it; anything but an error of the kernel (or a wrapper around one) is loot."""
        try:
            result = action(*arguments, **named)
        except (OSError, ValueError) as error:
            number = getattr(error, "errno", None)
            # Under bubblewrap the thing is not there at all; a ValueError is setrlimit's EPERM.
            if number not in (*HELD, errno.ENOENT, errno.ESRCH, errno.EROFS, None):
                self.got.append(f"{what}: {error}")
            return None
        self.got.append(f"{what}: {result!r}"[:200])
        return result

    def syscall(self, what, numbers, *arguments):
        """Make a raw call; only "not permitted" and "no such call" mean that a filter held it."""
        number = numbers[COLUMN]
        if number is None:
            return
        libc = ctypes.CDLL(None, use_errno=True)
        ctypes.set_errno(0)
        words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
        result = libc.syscall(ctypes.c_long(number), *words)
        code = ctypes.get_errno()
        if result >= 0 or code not in HELD:
            self.got.append(f"{what}: {result} {errno.errorcode.get(code, code)}")

    @property
    def reply(self):
        return {"got": self.got}, []
