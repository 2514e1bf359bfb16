"""Attacks on the sandbox itself: code that already runs in a child and wants out.

Each is a job. It replies `{"got": [...]}`, what it achieved: an empty list when it was held. A
docstring says the attack and why it must fail. `request["canary"]` is a file outside that only the
parent may know; `request["parent"]` is a pid outside.
"""

# The attacks are on system calls, so they name the calls.
# ruff: noqa: PTH102, PTH105, PTH108, PTH110
from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

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


def read_outside(request, blobs):
    """Attack: read a file outside, a folder's listing, the password file, root's home.
    Why it must fail: Landlock gives the toolkit and the private directory only."""
    loot = Loot()
    canary = Path(request["canary"])
    loot.grab("read", canary.read_bytes)
    loot.grab("list", os.listdir, canary.parent)
    loot.grab("relative", Path("../" * 30 + str(canary)).read_bytes)
    for path in ("/etc/passwd", "/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/var/log"):
        loot.grab(path, os.open, path, os.O_RDONLY)
    loot.grab("root", os.listdir, "/")
    return loot.reply


def read_the_repository(request, blobs):
    """Attack: read the references, the assignments' oracles and the tests beside the package.
    Why it must fail: of a checkout only the package itself is readable."""
    import grader

    loot = Loot()
    root = Path(grader.__file__).parent.parent
    for name in ("reference", "assignments", "tests", ".git", "pyproject.toml"):
        loot.grab(name, os.open, root / name, os.O_RDONLY)
    loot.grab("root", os.listdir, root)
    return loot.reply


def write_outside(request, blobs):
    """Attack: write, create, truncate, rename or remove something outside.
    Why it must fail: Landlock gives writing to the private directory only."""
    loot = Loot()
    canary = Path(request["canary"])
    loot.grab("overwrite", canary.write_bytes, b"0wned")
    loot.grab("append", os.open, canary, os.O_WRONLY | os.O_APPEND)
    loot.grab("truncate", os.truncate, canary, 0)
    loot.grab("unlink", os.unlink, canary)
    loot.grab("rename in", os.rename, canary, "loot")
    loot.grab("replace", lambda: (Path("mine").write_bytes(b""), os.replace("mine", canary)))
    for folder in (canary.parent, "/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/usr/lib"):
        loot.grab(f"create in {folder}", (Path(folder) / "grade-escaped").write_bytes, b"")
        loot.grab(f"mkdir in {folder}", os.mkdir, Path(folder) / "grade-escaped-folder")
    return loot.reply


def write_into_the_toolkit(request, blobs):
    """Attack: plant a module in Python's own folders or in this package, for the next submission.
    Why it must fail: what is readable is not writable."""
    import grader

    loot = Loot()
    for folder in (*sys.path, Path(grader.__file__).parent, Path(os.__file__).parent):
        loot.grab(f"plant in {folder}", (Path(folder) / "torch_planted.py").write_bytes, b"")
    loot.grab("edit", Path(grader.__file__).open, "ab")
    return loot.reply


def change_metadata_outside(request, blobs):
    """Attack: chmod, chown, utime and setxattr on files that cannot be opened.
    Why it must fail: Landlock does not govern these calls, so seccomp refuses all of them."""
    loot = Loot()
    canary = request["canary"]
    loot.grab("chmod", os.chmod, canary, 0o666)
    loot.grab("chown", os.chown, canary, os.getuid(), os.getgid())
    loot.grab("utime", os.utime, canary, (1, 1))
    loot.grab("setxattr", os.setxattr, canary, "user.mark", b"1")
    with Path(os.__file__).open() as readable:
        loot.grab("fchmod", os.fchmod, readable.fileno(), 0o777)
    path = os.open(canary, os.O_PATH) if os.path.exists(canary) else -1
    loot.syscall("fchmodat2", (452, 452), path, ctypes.c_char_p(b""), 0o777, 0x1000)
    return loot.reply


def link_outside(request, blobs):
    """Attack: a link in the private directory to a file outside, for the parent to follow.
    Why it must fail: the links cannot be made; the parent never opens what a child named."""
    loot = Loot()
    loot.grab("symlink", os.symlink, request["canary"], "innocent.ptx")
    loot.grab("link", os.link, request["canary"], "innocent.o")
    loot.grab("fifo", os.mkfifo, "innocent.fifo")
    loot.grab("device", os.mknod, "innocent.dev", 0o600 | 0o060000, os.makedev(1, 1))
    return loot.reply


def network(request, blobs):
    """Attack: any socket at all, to send the submission of others home.
    Why it must fail: there is no system call left that makes a socket."""
    loot = Loot()
    for name in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            loot.grab(name, socket.socket, getattr(socket, name), kind)
    loot.grab("pair", socket.socketpair)
    return loot.reply


def start_processes(request, blobs):
    """Attack: fork, vfork, clone, spawn or execute something.
    Why it must fail: a job with `processes=0` may only make threads; clone3, whose flags a filter
    cannot see, does not exist for it."""
    loot = Loot()
    loot.grab("fork", os.fork)
    loot.grab("spawn", os.posix_spawn, "/bin/true", ["true"], {})
    loot.grab("run", subprocess.run, ["/bin/true"])
    loot.grab("exec", os.execv, "/bin/true", ["true"])
    loot.syscall("clone", (56, 220), signal.SIGCHLD, 0, 0, 0, 0)
    loot.syscall("clone with VM", (56, 220), 0x100 | signal.SIGCHLD, 0, 0, 0, 0)
    loot.syscall("vfork", (58, None))
    loot.syscall("clone3", (435, 435), ctypes.create_string_buffer(88), 88)
    thread = threading.Thread(target=lambda: None)
    thread.start()  # honest work goes on
    thread.join()
    return loot.reply


def double_processes(request, blobs):
    """Attack: a fork bomb: every process makes another, and so do those.
    Why it must fail: each fork waits for the parent's permission, so it cannot outrun the count."""
    while True:
        if os.fork() == 0:
            os.write(1, b"+")


def double_processes_by_vfork(request, blobs):
    """Attack: the same by clone with CLONE_VM, as posix_spawn does, from many threads at once.
    Why it must fail: every clone that is no thread's is asked about, whatever its flags."""
    python = os.path.realpath(sys.executable)
    words = [python, "-ISc", "import time; print('+', flush=True); time.sleep(100)"]

    def spawn():
        while True:
            os.posix_spawn(python, words, dict(os.environ))

    for _ in range(8):
        threading.Thread(target=spawn, daemon=True).start()
    time.sleep(60)
    return {"got": ["time"]}, []


def burn_in_children(request, blobs):
    """Attack: use CPU time in processes that end before anybody adds it up.
    Why it must fail: what ended children used stands in their parent's sum."""
    while True:
        pid = os.fork()
        if pid == 0:
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass
            os._exit(0)
        os.waitpid(pid, 0)


def ask_for_ever(request, blobs):
    """Attack: keep the parent busy with questions: processes that end as soon as they are there.
    Why it must fail: how many may be made in all is bounded too."""
    while True:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def give_children_away(request, blobs):
    """Attack: CLONE_PARENT makes the grader's process the parent, who never waits for it.
    Why it must fail: the flag is refused."""
    loot = Loot()
    loot.syscall("clone", (56, 220), 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)
    return loot.reply


def leave_the_group(request, blobs):
    """Attack: a session or group of its own, so that killing the group misses it.
    Why it must fail: setsid and setpgid are not on the list."""
    loot = Loot()
    loot.syscall("setsid", (112, 157))
    loot.syscall("setpgid", (109, 154), 0, 0)
    return loot.reply


def signal_others(request, blobs):
    """Attack: stop or kill the grader, the warm process, everybody.
    Why it must fail: a signal may go to the process itself only, in each of its six ways."""
    loot = Loot()
    for pid in (request["parent"], os.getppid(), 1, -1):
        loot.grab(f"kill {pid}", os.kill, pid, 0)
    loot.grab("kill group", os.killpg, os.getpgid(request["parent"]), 0) if _alive(request) else 0
    for pid in (request["parent"], os.getppid()):
        loot.syscall("tgkill", (234, 131), pid, pid, 0)
        loot.syscall("tkill", (200, 130), pid, 0)
        loot.syscall("sigqueue", (129, 138), pid, 0, 0)
        loot.syscall("pidfd_open", (434, 434), pid, 0)
        read, write = os.pipe()
        loot.grab("F_SETOWN", fcntl.fcntl, read, fcntl.F_SETOWN, pid)
        loot.grab("F_SETSIG", fcntl.fcntl, read, 10, signal.SIGKILL)
        owner = struct.pack("ii", 1, pid)
        loot.grab("F_SETOWN_EX", fcntl.fcntl, read, 15, owner)
        os.close(read)
        os.close(write)
    return loot.reply


def _alive(request):
    with contextlib.suppress(OSError):
        os.getpgid(request["parent"])
        return True
    return False


def starve_others(request, blobs):
    """Attack: lower the grader's limits and priority so that it dies or crawls.
    Why it must fail: the calls that take a pid are refused unless it is the caller's own."""
    loot = Loot()
    limits = struct.pack("QQ", 0, 0)
    for pid in (request["parent"], os.getppid()):
        loot.syscall("prlimit64", (302, 261), pid, resource.RLIMIT_CPU, limits, 0)
        loot.syscall("read prlimit64", (302, 261), pid, resource.RLIMIT_CPU, 0, limits)
        loot.syscall("setpriority", (141, 140), 0, pid, 19)
        loot.syscall("ioprio_set", (251, 30), 1, pid, 3 << 13)
        loot.syscall("sched_setaffinity", (203, 122), pid, 8, struct.pack("Q", 1))
        loot.syscall("sched_setscheduler", (144, 119), pid, 5, struct.pack("i", 0))
    return loot.reply


def raise_limits(request, blobs):
    """Attack: lift its own limits again.
    Why it must fail: the hard limits are set too, and prlimit64 only asks."""
    loot = Loot()
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    for name in ("CPU", "FSIZE", "NOFILE", "CORE", "DATA"):
        loot.grab(name, resource.setrlimit, getattr(resource, f"RLIMIT_{name}"), unlimited)
    return loot.reply


def read_others_memory(request, blobs):
    """Attack: find expected outputs in the memory of the parent or the warm process.
    Why it must fail: ptrace and process_vm_* are refused, and /proc is not readable."""
    loot = Loot()
    buffer = ctypes.create_string_buffer(64)
    for pid in (request["parent"], os.getppid()):
        for name in ("mem", "environ", "maps", "cmdline", "stack", "auxv"):
            loot.grab(name, Path(f"/proc/{pid}/{name}").read_bytes)
        loot.grab("fds", os.listdir, f"/proc/{pid}/fd")
        loot.syscall("attach", (101, 117), 16, pid, 0, 0)
        loot.syscall("seize", (101, 117), 0x4206, pid, 0, 0)
        loot.syscall("process_vm_readv", (310, 270), pid, buffer, 1, buffer, 1, 0)
        loot.syscall("process_vm_writev", (311, 271), pid, buffer, 1, buffer, 1, 0)
        loot.syscall("kcmp", (312, 272), pid, os.getpid(), 0, 0, 0)
        loot.syscall("pidfd_getfd", (438, 438), 3, 0, 0)
        loot.syscall("process_madvise", (440, 440), 3, 0, 0, 0, 0)
    return loot.reply


def look_for_secrets(request, blobs):
    """Attack: search environment, command line and open descriptors for the parent's secrets.
    Why it must fail: the environment is made anew, the request comes through a pipe, and every
    descriptor but the three standard ones and the reply pipe is closed."""
    loot = Loot()
    for name, value in os.environ.items():
        if "hunter2" in value:
            loot.got.append(f"{name}={value}")
    with contextlib.suppress(OSError):
        words = Path("/proc/self/cmdline").read_bytes()
        if b"canary" in words or b"hunter2" in words:
            loot.got.append(f"command line {words!r}")
    open_now = []
    for fd in range(1024):
        with contextlib.suppress(OSError):
            os.fstat(fd)
            open_now.append(fd)
    if len(open_now) > 4:
        loot.got.append(f"descriptors {open_now}")
    loot.grab("read standard input", lambda: os.read(0, 10) or 1 / 0) if os.read(0, 10) else 0
    return loot.reply


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


def type_into_the_terminal(request, blobs):
    """Attack: push characters into the instructor's terminal, to be run by their shell.
    Why it must fail: no controlling terminal, no /dev/tty, and the ioctl is refused."""
    loot = Loot()
    for path in ("/dev/tty", "/dev/console", "/dev/pts/0"):
        loot.grab(path, os.open, path, os.O_RDWR)
    for request_code in (0x5412, 0x541C):
        loot.grab(hex(request_code), fcntl.ioctl, 0, request_code, b"x")
    return loot.reply


def run_what_it_wrote(request, blobs):
    """Attack: write a program and execute it (the child may start programs).
    Why it must fail: Landlock lets nothing in the private directory be executed."""
    loot = Loot()
    script = os.open("script", os.O_WRONLY | os.O_CREAT, 0o755)
    os.write(script, b"#!/bin/sh\nexit 0\n")
    os.close(script)
    with contextlib.suppress(PermissionError):
        subprocess.run(["./script"], check=False)
        loot.got.append("ran a script")
    return loot.reply


def babble_on_the_channel(request, blobs):
    """Attack: write to the reply pipe beside the job, and go on after the job returned.
    Why it must fail: bytes that are no frame void the reply; they never become a verdict."""

    def babble():
        while True:
            for fd in range(3, 64):
                with contextlib.suppress(OSError):
                    os.write(fd, b"GRF1 not a frame at all")
            time.sleep(0.001)

    threading.Thread(target=babble, daemon=True).start()
    time.sleep(0.2)
    return {"got": ["a reply"]}, []


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


def outlive_the_cpu_limit(request, blobs):
    """Attack: catch the signal of the CPU limit and go on.
    Why it must fail: the hard limit one second later kills."""
    signal.signal(signal.SIGXCPU, lambda *_: None)
    while True:
        pass


def hide_memory(request, blobs):
    """Attack: fill shared mappings and say that their pages are not needed: they stay, and no
    resident size shows them.
    Why it must fail: memory is given out privately only, where such a page is gone."""
    loot = Loot()
    for name, fd in (("nothing", -1), ("zeros", os.open("/dev/zero", os.O_RDONLY))):
        for kind in (mmap.MAP_SHARED, 3):  # MAP_SHARED_VALIDATE
            for rights in (mmap.PROT_READ | mmap.PROT_WRITE, mmap.PROT_READ):
                flags = kind | (mmap.MAP_ANONYMOUS if fd < 0 else 0)
                loot.grab(f"share {name}", mmap.mmap, fd, 16 << 20, flags=flags, prot=rights)
    page = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    page.write(b"kept")
    page.madvise(mmap.MADV_DONTNEED)
    if page[:4] == b"kept":
        loot.got.append("a page that was given back")
    return loot.reply


def hide_memory_in_page_tables(request, blobs):
    """Attack: read one byte of every two megabytes of terabytes that were never written: each
    costs a page of page tables, and nothing becomes resident.
    Why it must fail: page tables are counted with what is resident."""
    step = 2 << 20
    while True:
        space = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
        KEPT.append(space)
        for at in range(0, 1 << 40, step):
            space[at]


KEPT = []


def hide_disk_in_files_without_a_name(request, blobs):
    """Attack: write files, remove their names and keep them open.
    Why it must fail: what was ever written is counted, not only what can be listed."""
    page = bytes(1 << 20)
    while True:
        fd = os.open("nameless", os.O_CREAT | os.O_RDWR)
        os.unlink("nameless")
        for _ in range(16):
            os.write(fd, page)
        KEPT.append(fd)
        if len(KEPT) > 100:
            os.close(KEPT.pop(0))


def write_without_writing(request, blobs):
    """Attack: fill a file by other means than writing: a shared mapping, an allocation.
    Why it must fail: both are refused, so that counting what is written counts everything."""
    loot = Loot()
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, 1 << 20)
    loot.grab("map it shared", mmap.mmap, fd, 1 << 20)
    loot.grab("map it to read", mmap.mmap, fd, 1 << 20, prot=mmap.PROT_READ)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fallocate(fd, 0, ctypes.c_long(0), ctypes.c_long(1 << 24)) == 0:
        loot.got.append("allocated")
    return loot.reply


def hold_others_up(request, blobs):
    """Attack: leases and flags on files of the toolkit, so that whoever opens them next waits.
    Why it must fail: of fcntl and ioctl only what concerns the caller is allowed."""
    loot = Loot()
    with Path(os.__file__).open("rb") as file:
        for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
            loot.grab("lease", fcntl.fcntl, file, 1024, kind)
        loot.grab("notify", fcntl.fcntl, os.open(".", os.O_RDONLY), 1026, 0x80000001)
        loot.grab("flags", fcntl.ioctl, file, 0x80086601, bytes(8))
        loot.grab("set flags", fcntl.ioctl, file, 0x40086602, struct.pack("l", 0x40))
    return loot.reply


def hide_memory_in_locks(request, blobs):
    """Attack: memory in the kernel, as locks on every other byte of a file.
    Why it must fail: byte-range locks are not among the fcntls that are allowed."""
    loot = Loot()
    with Path("locked").open("wb") as file:
        for at in range(1000, 0, -2):
            loot.grab("lock", fcntl.lockf, file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
    return loot.reply


def make_files_too_deep(request, blobs):
    """Attack: use up the inodes at a depth that no path reaches, so that nobody counts them.
    Why it must fail: such a depth is taken for what it is."""
    for _ in range(40):
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
    make_empty_files(request, blobs)


def make_files_unlisted(request, blobs):
    """Attack: use up the inodes in a folder that can be filled and not listed.
    Why it must fail: such a folder is taken for what it is."""
    os.mkdir("unlisted", 0o300)
    os.chdir("unlisted")
    make_empty_files(request, blobs)


def hide_memory_in_pipes(request, blobs):
    """Attack: memory in the kernel, as unread bytes in pipes.
    Why it must fail: the number of descriptors bounds it to a few MiB."""
    held = 0
    with contextlib.suppress(OSError):
        while True:
            _, write = os.pipe()
            os.set_blocking(write, False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(write, 1031, 1 << 20)
            with contextlib.suppress(BlockingIOError):
                while True:
                    held += os.write(write, bytes(1 << 16))
    return {"got": [f"{held} bytes"] if held > 256 << 20 else []}, []


def litter(request, blobs):
    """Attack: a tree that a clean-up trips over: deep, unreadable, with names made to mislead.
    Why it must fail: removal follows no link, needs no recursion and no permission."""
    for name in ("new\nline", "\u202ertl", "-rf", "*", " ", "quote'\"`$(x)", "\x1b[31m"):
        Path(name).write_text(name)
    os.mkdir("closed", 0o700)
    Path("closed/file").write_text("")
    os.mkdir("closed/inner", 0)
    os.mkdir("sealed", 0)
    for _ in range(1200):
        os.mkdir("d")
        os.chdir("d")
    return {"got": []}, []


def make_empty_files(request, blobs):
    """Attack: use up the inodes, with files that have no size.
    Why it must fail: the number of entries is watched too."""
    n = 0
    while True:
        n += 1
        os.close(os.open(f"{n}", os.O_CREAT | os.O_WRONLY))
