"""The system calls that computing, compiling and writing a file need, with their numbers.

Everything that is not in this table fails in a sandboxed process: an allow-list, so that a call
that a later kernel adds is refused too. Left out on purpose, because a path or a pid in memory
cannot be judged by a filter and Landlock does not govern it: chmod, chown, utimensat and the xattr
family (they change the metadata of files that the process may not even open), symlink and link,
setsid and setpgid (nothing leaves its process group, so killing the group ends everything),
prlimit64 on others, sched_set*, ioprio_set, and of course sockets, ptrace, process_vm_*, mount,
namespaces, keyrings, bpf, perf, userfaultfd, io_uring, memfd and System V shared memory (memory
that no resident size shows).

Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h (arm64).
"""

from __future__ import annotations

# name: (x86-64, arm64); None where the architecture has no such call.
ALWAYS: dict[str, tuple[int | None, int | None]] = {
    # files that Landlock judged when they were opened
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "close": (3, 57),
    "close_range": (436, 436),
    "lseek": (8, 62),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "ftruncate": (77, 46),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "fadvise64": (221, 223),
    "flock": (73, 32),
    "copy_file_range": (326, 285),
    "sendfile": (40, 71),
    "getdents": (78, None),
    "getdents64": (217, 61),
    # paths, which Landlock judges
    "open": (2, None),
    "openat": (257, 56),
    "creat": (85, None),
    "truncate": (76, 45),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    # questions about paths, which nobody judges: they tell that a file exists, not what is in it
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "umask": (95, 166),
    # memory
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "brk": (12, 214),
    "madvise": (28, 233),
    "mincore": (27, 232),
    "msync": (26, 227),
    "get_mempolicy": (239, 236),
    "membarrier": (324, 283),
    # signals to itself, waiting, timers
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "pause": (34, None),
    "alarm": (37, None),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "eventfd": (284, None),
    "eventfd2": (290, 19),
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "wait4": (61, 260),
    "waitid": (247, 95),
    # threads
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "arch_prctl": (158, None),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "getcpu": (309, 168),
    "exit": (60, 93),
    "exit_group": (231, 94),
    # questions about itself and the machine
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getgroups": (115, 158),
    "getpgrp": (111, None),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "getpriority": (140, 141),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "capget": (125, 90),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrandom": (318, 278),
}

# Allowed under a condition on an argument: see seccomp.py.
JUDGED: dict[str, tuple[int | None, int | None]] = {
    "mmap": (9, 222),
    "clone": (56, 220),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
}

# Allowed only where the order says that other programs are to be run.
STARTING: dict[str, tuple[int | None, int | None]] = {
    "execve": (59, 221),
    "execveat": (322, 281),
}

# Allowed only where the limits leave room for more than one process.
FORKING: dict[str, tuple[int | None, int | None]] = {"fork": (57, None), "vfork": (58, None)}

# Allowed only where a GPU's driver is spoken to: without it NVIDIA's does not start (error 304).
# That it needs no other call that is refused here has not been tried (docs/devices.md).
DRIVER: dict[str, tuple[int | None, int | None]] = {"memfd_create": (319, 279)}

# "No such call" instead of "not permitted": libraries then fall back to an older one (clone3 takes
# its flags in memory, where a filter cannot see them).
ABSENT: dict[str, tuple[int | None, int | None]] = {
    "clone3": (435, 435),
    "memfd_create": (319, 279),
    "openat2": (437, 437),
    "io_uring_setup": (425, 425),
}

# "Not supported": it takes disk that the count of written bytes does not show; glibc writes zeros
# instead.
UNSUPPORTED: dict[str, tuple[int | None, int | None]] = {"fallocate": (285, 47)}
