"""Runs what a student wrote, and what handles it, where it can reach and keep nothing.

::

    calls.py      call: one of our functions; run: a program             (parent)
    records.py    Limits, Exit, Reply
    channel.py    bounded frames over a pipe
    start.py      a fresh interpreter: environment, private directory    (parent)
    supervise.py  feeds it, measures it, ends it                         (parent)
    usage.py      resident memory, processes and disk of a group         (parent)
    removal.py    removes what it left behind                            (parent)
    paths.py      what every child may read                              (parent)
    warm.py       a process that imported already and forks children     (parent)
    layers.py     which layers hold on this machine                      (parent)
    child.py      reads its order, confines itself, does it              (child)
    confine.py    the layers a child puts on itself, in order            (child)
    landlock.py  seccomp.py  syscalls.py  capabilities.py                (child)
    forks.py      each new process waits for permission                   (both)
    bubblewrap.py  seatbelt.py    wrappers around the child              (parent)
    warm_child.py  that process                                          (child)
    archive.py    unpacks an archive in a child                          (both)
    probes.py     what a child tries in order to get past a layer        (child)

docs/threats.md says what each layer stops and what none does.
"""

from grader.sandbox.calls import call, run, warmed
from grader.sandbox.layers import Layer, demand, is_strong, layers
from grader.sandbox.records import Exit, Frame, Limits, Reply
from grader.sandbox.warm import Warm, WarmUnavailable

__all__ = [
    "Exit",
    "Frame",
    "Layer",
    "Limits",
    "Reply",
    "Warm",
    "WarmUnavailable",
    "call",
    "demand",
    "is_strong",
    "layers",
    "run",
    "warmed",
]
