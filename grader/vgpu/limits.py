"""What may be launched at all, and how a launch is refused."""

from __future__ import annotations

from dataclasses import dataclass


class LaunchError(Exception):
    """A launch CUDA would refuse: its message says what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one block and one grid may ask for (CUDA guide, compute capability 8.0)."""

    threads: int = 1024
    block: tuple[int, int, int] = (1024, 1024, 64)
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    shared_bytes: int = 163 * 1024
    static_shared_bytes: int = 48 * 1024
    multiprocessors: int = 108
    threads_per_multiprocessor: int = 2048
    blocks_per_multiprocessor: int = 32
