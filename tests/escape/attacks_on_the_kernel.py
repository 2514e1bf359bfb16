"""Attacks on the kernel: privileges, rare calls, other numbers of the same calls.

Jobs for code that already runs in a child and wants out. Each replies `{"got": [...]}`, what it
achieved: an empty list when it was held. A docstring says the attack and why it must fail.
`request["canary"]` is a file outside that only the parent may know, `request["parent"]` a pid
outside.
"""

# The attacks are on system calls, so they name the calls.
from __future__ import annotations

import ctypes
import mmap
import struct

from loot import Loot


def regain_privileges(request, blobs):
    """Attack: capabilities, user ids, namespaces, mounts, chroot.
    Why it must fail: no_new_privs, an empty bounding set, and none of the calls on the list."""
    loot = Loot()
    everything = struct.pack("6I", *[0xFFFFFFFF] * 6)
    header = struct.pack("Ii", 0x20080522, 0)
    loot.syscall("capset", (126, 91), header, everything)
    for name, numbers in {"setuid": (105, 146), "setresuid": (117, 147)}.items():
        loot.syscall(name, numbers, 0, 0, 0)
    loot.syscall("setgroups", (116, 159), 0, 0)
    for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000):
        loot.syscall("unshare", (272, 97), flag)
        loot.syscall("clone namespace", (56, 220), flag | 0x10000 | 0x800 | 0x100, 0, 0, 0, 0)
    loot.syscall("setns", (308, 268), 3, 0)
    loot.syscall("mount", (165, 40), 0, 0, 0, 0, 0)
    loot.syscall("umount", (166, 39), 0, 0)
    loot.syscall("fsopen", (430, 430), 0, 0)
    loot.syscall("open_tree", (428, 428), -100, 0, 0)
    loot.syscall("pivot_root", (155, 41), 0, 0)
    loot.syscall("chroot", (161, 51), 0)
    loot.syscall("personality", (135, 92), 0x0040000)
    for option, argument in ((8, 1), (24, 0), (28, 0), (1, 0), (4, 1), (36, 1), (0x59616D61, -1)):
        loot.syscall(f"prctl {option}", (157, 167), option, argument, 0, 0, 0)
    return loot.reply


def rare_kernel_doors(request, blobs):
    """Attack: the calls most kernel exploits go through.
    Why it must fail: an allow-list; none of them is needed to compute."""
    loot = Loot()
    doors = {
        "bpf": (321, 280),
        "perf_event_open": (298, 241),
        "userfaultfd": (323, 282),
        "io_uring_setup": (425, 425),
        "io_uring_enter": (426, 426),
        "keyctl": (250, 219),
        "add_key": (248, 217),
        "request_key": (249, 218),
        "memfd_create": (319, 279),
        "memfd_secret": (447, 447),
        "shmget": (29, 194),
        "semget": (64, 190),
        "msgget": (68, 186),
        "mq_open": (240, 180),
        "inotify_init1": (294, 26),
        "fanotify_init": (300, 262),
        "open_by_handle_at": (304, 265),
        "name_to_handle_at": (303, 264),
        "splice": (275, 76),
        "vmsplice": (278, 75),
        "init_module": (175, 105),
        "finit_module": (313, 273),
        "kexec_load": (246, 104),
        "quotactl": (179, 60),
        "syslog": (103, 116),
        "acct": (163, 89),
        "settimeofday": (164, 170),
        "iopl": (172, None),
        "modify_ldt": (154, None),
        "seccomp": (317, 277),
        "landlock_create_ruleset": (444, 444),
        "mbind": (237, 235),
        "move_pages": (279, 239),
        "remap_file_pages": (216, 234),
        "mlock": (149, 228),
        "mlockall": (151, 230),
        "not yet invented": (900, 900),
    }
    for name, numbers in doors.items():
        loot.syscall(name, numbers, 0, 0, 0, 0, 0)
    return loot.reply


def call_in_32_bit(request, blobs):
    """Attack: the 32-bit system calls have other numbers, which the filter would misread.
    Why it must fail: a call of another architecture ends the process."""
    code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"  # mov eax, 20 (getpid); int 0x80; ret
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    everything = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    page = mmap.mmap(-1, 4096, flags=private, prot=everything)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return {"got": [ctypes.CFUNCTYPE(ctypes.c_int)(address)()]}, []


def call_as_x32(request, blobs):
    """Attack: the x32 numbers name the same calls with a bit set, past an equality test.
    Why it must fail: numbers with that bit end the process."""
    return {"got": [ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | 41), 2, 1, 0)]}, []
