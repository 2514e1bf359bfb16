"""The filter as a table and as a program, interpreted here for both architectures."""

import re
import struct
from pathlib import Path

import pytest

from grader.sandbox import seccomp
from grader.sandbox.syscalls import ABSENT, ALWAYS, DRIVER, FORKING, JUDGED, STARTING, UNSUPPORTED

ALLOW, KILL = seccomp.ALLOW, seccomp.KILL_PROCESS
REFUSE, NO_SUCH_CALL = seccomp.ERRNO | 1, seccomp.ERRNO | 38
PID = 4242
MACHINES = ["x86_64", "aarch64"]
TABLES = (ALWAYS, JUDGED, STARTING, FORKING, DRIVER, ABSENT, UNSUPPORTED)


def decide(machine, number, *arguments, audit=None, starting=False, forking=False, devices=False):
    """What `program`'s filter would answer to this call."""
    text = seccomp.program(machine, PID, starting=starting, forking=forking, devices=devices)
    return interpret(text, machine, number, *arguments, audit=audit)


def interpret(text, machine, number, *arguments, audit=None):
    """What the kernel's interpreter would return for this call (seccomp_data, 32-bit loads)."""
    expected_audit, _ = seccomp.ARCHITECTURES[machine]
    words = [word & (2**64 - 1) for word in arguments] + [0] * (6 - len(arguments))
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, audit or expected_audit, 0, *words)
    accumulator = at = 0
    while True:
        code, if_true, if_false, k = text[at]
        at += 1
        if code == seccomp.RETURN:
            return k
        if code == seccomp.LOAD:
            (accumulator,) = struct.unpack_from("<I", data, k)
            continue
        holds = {
            seccomp.JUMP_EQ: accumulator == k,
            seccomp.JUMP_GE: accumulator >= k,
            seccomp.JUMP_SET: bool(accumulator & k),
        }[code]
        at += if_true if holds else if_false


def number_of(machine, name):
    column = MACHINES.index(machine)
    for table in TABLES:
        if name in table:
            return table[name][column]
    raise KeyError(name)


def kernel_numbers(folder):
    """Numbers from the kernel's own headers, which the compiler wheel ships."""
    ziglang = pytest.importorskip("ziglang", reason="the headers come with the compiler's wheel")
    headers = Path(ziglang.__file__).parent / "lib/libc/include"
    text = (headers / folder / "asm/unistd_64.h").read_text()
    return {name: int(value) for name, value in re.findall(r"#define __NR_(\w+) (\d+)", text)}


@pytest.mark.parametrize(
    ("machine", "folder"), [("x86_64", "x86-linux-any"), ("aarch64", "aarch64-linux-any")]
)
def test_numbers_are_the_kernels(machine, folder):
    kernel = kernel_numbers(folder)
    aliases = {"newfstatat": "fstatat"} if machine == "aarch64" else {}
    for table in TABLES:
        for name, numbers in table.items():
            known = kernel.get(name, kernel.get(aliases.get(name, ""), None))
            assert numbers[MACHINES.index(machine)] == known, name


@pytest.mark.parametrize("machine", MACHINES)
def test_listed_calls_are_allowed_and_no_other(machine):
    listed = {
        number
        for table in TABLES
        for number in [numbers[MACHINES.index(machine)] for numbers in table.values()]
        if number is not None
    }
    for name in ("read", "openat", "mmap", "futex", "exit_group", "getrandom"):
        assert decide(machine, number_of(machine, name)) == ALLOW
    for number in range(600):
        if number not in listed:
            assert decide(machine, number) == REFUSE


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_ends_the_process(machine):
    assert decide(machine, 0, audit=0x40000003) == KILL


def test_x32_numbers_end_the_process():
    assert decide("x86_64", 0x40000000) == KILL
    assert decide("x86_64", -1) == KILL


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        ("clone", (0x3D0F00,), ALLOW),  # what pthread_create asks for
        ("clone", (17,), REFUSE),  # fork: SIGCHLD alone
        ("clone", (0x3D0F00 | 0x10000000,), REFUSE),  # a thread in a new user namespace
        ("clone3", (), NO_SUCH_CALL),
        ("memfd_create", (), NO_SUCH_CALL),
        ("fallocate", (3, 0, 0, 4096), seccomp.ERRNO | 95),
        ("kill", (PID, 9), ALLOW),
        ("kill", (PID + 1, 9), REFUSE),
        ("kill", (-1, 9), REFUSE),
        ("kill", (0, 9), REFUSE),
        ("tgkill", (PID, PID + 3, 6), ALLOW),
        ("tgkill", (1, 1, 6), REFUSE),
        ("ioctl", (0, 0x5413), ALLOW),  # TIOCGWINSZ
        ("ioctl", (0, 0x5412), REFUSE),  # TIOCSTI
        ("ioctl", (0, 0x100005412), REFUSE),  # the kernel cuts the command to 32 bits
        ("ioctl", (0, 0x40086602), REFUSE),  # FS_IOC_SETFLAGS
        ("fcntl", (3, 3), ALLOW),  # F_GETFL
        ("fcntl", (3, 6, 1), REFUSE),  # F_SETLK
        ("fcntl", (3, 37, 1), REFUSE),  # F_OFD_SETLK
        ("fcntl", (3, 1024, 1), REFUSE),  # F_SETLEASE
        ("fcntl", (3, 1026, 1), REFUSE),  # F_NOTIFY
        ("mmap", (0, 4096, 5, 0x02, 3, 0), ALLOW),  # a library
        ("mmap", (0, 4096, 3, 0x22, -1, 0), ALLOW),  # memory
        ("mmap", (0, 4096, 3, 0x21, -1, 0), REFUSE),  # memory that stays when it is given back
        ("mmap", (0, 4096, 1, 0x01, 3, 0), REFUSE),  # a file, shared
        ("mmap", (0, 4096, 3, 0x03, 3, 0), REFUSE),  # the same, MAP_SHARED_VALIDATE
        ("fcntl", (3, 8, 1), REFUSE),  # F_SETOWN
        ("prctl", (15,), ALLOW),  # PR_SET_NAME
        ("prctl", (1, 0), REFUSE),  # PR_SET_PDEATHSIG
        ("prlimit64", (0, 7, 0, 0x7FFF0000), ALLOW),
        ("prlimit64", (PID, 7, 0, 0x7FFF0000), ALLOW),
        ("prlimit64", (0, 7, 0x7FFF0000, 0), REFUSE),
        ("prlimit64", (0, 7, 0x7FFF00000000, 0), REFUSE),
        ("prlimit64", (PID + 1, 7, 0, 0), REFUSE),
        ("execve", (), REFUSE),
    ],
)
def test_arguments_are_judged(machine, name, arguments, verdict):
    assert decide(machine, number_of(machine, name), *arguments) == verdict


@pytest.mark.parametrize("machine", MACHINES)
def test_a_driver_may_be_spoken_to_where_ordered(machine):
    def speaking(name, *arguments):
        return decide(machine, number_of(machine, name), *arguments, devices=True)

    assert speaking("ioctl", 3, 0xC020462A) == ALLOW  # one of the NVIDIA driver's own
    assert speaking("mmap", 0, 4096, 3, 0x01, 3, 0) == ALLOW  # memory of the device
    for name in DRIVER:
        assert speaking(name) == ALLOW
        assert decide(machine, number_of(machine, name)) != ALLOW
    assert speaking("fcntl", 3, 1033, 1) == ALLOW  # F_ADD_SEALS
    assert decide(machine, number_of(machine, "fcntl"), 3, 1033, 1) == REFUSE
    assert speaking("fcntl", 3, 8, 1) == REFUSE  # F_SETOWN
    assert speaking("execve") == REFUSE
    assert speaking("clone", 17) == REFUSE
    assert speaking("kill", 1, 9) == REFUSE


@pytest.mark.parametrize("machine", MACHINES)
def test_programs_may_be_started_where_ordered(machine):
    def starting(name, *arguments, forking=True):
        number = number_of(machine, name)
        return decide(machine, number, *arguments, starting=True, forking=forking)

    assert starting("execve") == ALLOW
    assert starting("clone", 17) == ALLOW
    assert starting("clone", 17, forking=False) == REFUSE
    assert starting("clone", 17 | 0x20000000) == REFUSE
    assert starting("clone", 17 | 0x8000) == REFUSE  # CLONE_PARENT: a child of the grader's
    assert starting("kill", 1, 9) == REFUSE
    if machine == "x86_64":
        assert starting("fork") == starting("vfork") == ALLOW
        assert starting("fork", forking=False) == starting("vfork", forking=False) == REFUSE


@pytest.mark.parametrize("machine", MACHINES)
def test_what_makes_a_process_is_asked_about_and_nothing_else(machine):
    text = seccomp.asking(machine, 0x7FC00000)
    column = MACHINES.index(machine)
    clone = JUDGED["clone"][column]
    makers = {numbers[column] for numbers in FORKING.values()}
    for number in {*range(600)} - {clone}:
        asks = interpret(text, machine, number) == 0x7FC00000
        assert asks is (number in makers), number
    assert interpret(text, machine, clone, 17) == 0x7FC00000
    assert interpret(text, machine, clone, 0x4111) == 0x7FC00000  # vfork, as posix_spawn asks
    assert interpret(text, machine, clone, 0x3D0F00) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("starting", [False, True])
def test_every_jump_lands_in_the_program(machine, starting):
    text = seccomp.program(machine, PID, starting=starting, forking=starting)
    assert len(text) < 4096  # BPF_MAXINSNS
    for at, (code, if_true, if_false, _) in enumerate(text):
        if code not in (seccomp.RETURN, seccomp.LOAD):
            assert at + 1 + max(if_true, if_false) < len(text)
            assert max(if_true, if_false) < 256
    assert text[-1][0] == seccomp.RETURN
