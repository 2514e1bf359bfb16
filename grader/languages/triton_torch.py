"""Lets a script's `device="cuda"` tensors live in the host's memory, and `torch.cuda` answer.

Scripts around Triton kernels create tensors on the card, compare devices, synchronise and time
with events. With the virtual GPU the card's memory is the host's: the scripts run unchanged::

    with virtual_gpu() as gpu, cuda_in_host_memory(gpu):
        runpy.run_path("tutorial.py")
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

from grader.languages.triton_driver import DEVICE_PROPERTIES, VirtualDriver

CARD = torch.device("cuda", 0)
_HOST = torch.device("cpu")
_TENSOR: Any = torch.Tensor
_DEVICE, _IS_CUDA = _TENSOR.device.__get__, _TENSOR.is_cuda.__get__


class _HostMemory(TorchFunctionMode):
    """Every call of torch: `cuda` among its arguments becomes `cpu`; tensors say they are on it."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func == _DEVICE:
            return CARD
        if func == _IS_CUDA:
            return True
        if func is torch.Tensor.cuda:
            return args[0]
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        kwargs = {name: _on_host(value) for name, value in (kwargs or {}).items()}
        return func(*(_on_host(value) for value in args), **kwargs)


def _on_host(value: Any) -> Any:
    """`cuda` in any spelling as the host, a generator of the card as the host's; else as it is."""
    if isinstance(value, str) and value.partition(":")[0] == "cuda":
        return _HOST
    if isinstance(value, torch.device) and value.type == "cuda":
        return _HOST
    return value


def _empty_strided(size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(size, stride, dtype=dtype)


class _Philox:
    """The card's random generator as torch shows it: a seed and an offset, two 64-bit numbers."""

    def __init__(self) -> None:
        self.state = torch.zeros(2, dtype=torch.int64)

    def get_state(self) -> torch.Tensor:
        """Its 16 bytes."""
        return self.state.clone().view(torch.uint8)

    def set_state(self, state: torch.Tensor) -> None:
        """Take 16 bytes as the new state."""
        self.state = state.clone().view(torch.int64)

    def initial_seed(self) -> int:
        """The seed."""
        return int(self.state[0])


@contextlib.contextmanager
def cuda_in_host_memory(gpu: VirtualDriver) -> Iterator[None]:
    """Inside the block, `cuda` means the virtual GPU `gpu` and the host's memory."""
    properties = SimpleNamespace(
        name="virtual GPU (sm_80)",
        major=8,
        minor=0,
        total_memory=40 << 30,
        multi_processor_count=DEVICE_PROPERTIES["multiprocessor_count"],
        warp_size=DEVICE_PROPERTIES["warpSize"],
        max_threads_per_multi_processor=2_048,
        shared_memory_per_block=49_152,
        shared_memory_per_block_optin=DEVICE_PROPERTIES["max_shared_mem"],
        regs_per_multiprocessor=DEVICE_PROPERTIES["max_num_regs"],
        L2_cache_size=40 << 20,
        gcnArchName="",
    )

    class Event:
        """A moment of the virtual GPU's modelled clock."""

        def __init__(self, *_: Any, **__: Any) -> None:
            self.milliseconds = 0.0

        def record(self, stream: Any = None) -> None:
            self.milliseconds = gpu.milliseconds

        def synchronize(self) -> None:
            return None

        wait = synchronize

        def query(self) -> bool:
            return True

        def elapsed_time(self, end: Event) -> float:
            return end.milliseconds - self.milliseconds

    class Stream:
        """The one stream there is: launches end before they return."""

        cuda_stream = 0

        def __init__(self, *_: Any, **__: Any) -> None:
            self.device = CARD

        def __enter__(self) -> Stream:
            return self

        def __exit__(self, *exc: object) -> None:
            return None

        def synchronize(self) -> None:
            return None

        def wait_stream(self, stream: Any) -> None:
            return None

        wait_event = record_event = wait_stream

    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *_, **__: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "get_device_name": lambda *_: properties.name,
        "get_device_capability": lambda *_: (8, 0),
        "get_device_properties": lambda *_: properties,
        "synchronize": lambda *_: None,
        "empty_cache": lambda: None,
        "manual_seed": lambda seed: None,  # torch.manual_seed asks, and seeds the host itself
        "manual_seed_all": lambda seed: None,
        "memory_allocated": lambda *_: 0,
        "max_memory_allocated": lambda *_: 0,
        "reset_peak_memory_stats": lambda *_: None,
        "default_generators": (_Philox(),),
        "Event": Event,
        "Stream": Stream,
        "stream": lambda stream: contextlib.nullcontext(),
        "set_stream": lambda stream: None,
        "current_stream": lambda *_: Stream(),
        "default_stream": lambda *_: Stream(),
        "device": lambda *_: contextlib.nullcontext(),
        "device_of": lambda *_: contextlib.nullcontext(),
        "_DeviceGuard": lambda *_: contextlib.nullcontext(),
    }
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer))
        stack.enter_context(
            # What torch.compile's own output imports to make its tensors and launch its kernels.
            mock.patch.object(torch._C._dynamo.guards, "_empty_strided_cuda", _empty_strided)
        )
        stack.enter_context(
            mock.patch.object(torch._C, "_cuda_getCurrentRawStream", lambda *_: 0, create=True)
        )
        stack.enter_context(mock.patch.object(gpu, "torch_device", CARD))
        stack.enter_context(_HostMemory())
        yield
