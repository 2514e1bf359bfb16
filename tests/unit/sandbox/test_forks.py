"""Forks are asked about: what the parent hears, and what it hears when nobody is left."""

import os
import socket
import sys

import pytest

from grader.sandbox import forks
from grader.sandbox.confine import no_new_privileges

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or forks.missing() is not None,
    reason="forks cannot be asked about here",
)


@pytest.fixture
def child():
    """Starts a process that asks before it forks; yields its listener and its pid."""
    started = []

    def start(then):
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                no_new_privileges()
                forks.hand_over(forks.listen(), theirs.fileno())
                then()
            finally:
                os._exit(99)
        theirs.close()
        listener = forks.taken_over(ours.fileno())
        ours.close()
        started.append((pid, listener))
        return listener, pid

    yield start
    for pid, listener in started:
        os.close(listener)
        os.waitpid(pid, 0) if pid else None


def wait_for_question(listener):
    while (number := forks.asked(listener)) is None:
        pass
    return number


def fork_and_tell():
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status))


def test_a_fork_goes_on_when_it_is_allowed(child):
    listener, pid = child(fork_and_tell)
    forks.allow(listener, wait_for_question(listener))
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(OSError, match="pipe"):
        forks.asked(listener)


def test_a_fork_waits_until_then(child):
    listener, pid = child(fork_and_tell)
    number = wait_for_question(listener)
    assert os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    assert forks.asked(listener) is None  # one question, asked once
    os.kill(pid, 9)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    forks.allow(listener, number)  # an answer to the dead is no error


def test_a_second_listener_is_refused_and_said():
    """As in a container whose engine listens already."""
    pid = os.fork()
    if pid == 0:
        try:
            no_new_privileges()
            forks.listen()
            forks.listen()
        except OSError as error:
            os._exit(0 if "asking before each fork" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_no_listener_comes_from_a_child_that_died():
    ours, theirs = socket.socketpair()
    with ours:
        theirs.close()
        assert forks.taken_over(ours.fileno()) is None


def test_a_fresh_process_can_have_a_listener():
    assert forks._refused() is None
