"""A virtual GPU: executes PTX through LLVM, warp by warp, and sees every access of every lane.

Knows nothing of grading and is usable alone::

    module = Module.from_ptx(ptx_text)
    run = launch(module.kernel("vec_add"), grid=4, block=256, args=[a, b, c, np.int32(n)])
    run.faults, run.metrics, run.ended
"""

from grader.vgpu.limits import LaunchError, Limits
from grader.vgpu.machine import launch
from grader.vgpu.memory import Memory, Pointer
from grader.vgpu.module import Kernel, Module
from grader.vgpu.ptx import PtxError
from grader.vgpu.records import Fault, Launch, Metrics, Place

__all__ = [
    "Fault",
    "Kernel",
    "Launch",
    "LaunchError",
    "Limits",
    "Memory",
    "Metrics",
    "Module",
    "Place",
    "Pointer",
    "PtxError",
    "launch",
]
