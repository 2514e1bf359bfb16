"""Stands in for `grader/devices/cuda.py`: its children run here, on the virtual GPU.

What the parent asks and how it judges the answers is the product's own; only the child's card is
another. It says nothing about hardware.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from grader import sandbox
from grader.devices import hardware_child
from grader.sandbox import Exit, Frame, Reply
from tests.devices.virtual_card import VirtualCard

NAME = "cuda"
TITLE = "stand-in"
LANGUAGES = ("cuda-c", "triton")
CHECKS = False

reason: str | None = None
card: Callable[[], VirtualCard] = VirtualCard
asked: list[str] = []


def missing() -> str | None:
    return reason


def call(job: str, request: dict[str, Any], blobs: Sequence[bytes], **_: object) -> sandbox.Reply:
    asked.append(job)
    request = json.loads(json.dumps(request))
    frames: list[Frame] = []
    header: dict[str, Any] = {}
    if job == "facts_job":
        header = hardware_child.facts(card())
    else:
        does = {"run_job": hardware_child.run, "time_job": hardware_child.measure}[job]
        for said, data in does(card(), request, list(blobs)):
            frames.append(Frame(json.loads(json.dumps(said)), tuple(data)))
    return Reply(Exit("exited"), json.loads(json.dumps(header)), frames=tuple(frames))
