"""Calls that make texture and surface objects of device memory.

An object's handle is the address of a buffer that says where its texels lie and how they are read:
the bytes of `Texture` in the engine's textures.c. Rules: CUDA Runtime API, cudaCreateTextureObject.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from grader.programs import errors as E
from grader.programs.calls import Answer, Request
from grader.programs.copies import Copies
from grader.programs.device_memory import DeviceMemory

_TEXTURE = struct.Struct("<3Q12I4f")
_WRAP, _CLAMP, _MIRROR = 0, 1, 2
_FLOAT = 2
_LINEAR_MEMORY, _PITCHED = 2, 3
PITCH_ALIGNMENT = 32
"""Bytes: cudaDeviceProp::texturePitchAlignment."""


class TextureCalls:
    """Texture and surface objects."""

    def __init__(self, memory: DeviceMemory, copies: Copies) -> None:
        self.memory = memory
        self.copies = copies
        self.calls: dict[str, Callable[[Request], Answer]] = {
            "cudaCreateTextureObject": self._create,
            "cudaCreateSurfaceObject": self._create,
            "cudaDestroyTextureObject": self._destroy,
            "cudaDestroySurfaceObject": self._destroy,
        }

    def _create(self, q: Request) -> Answer:
        resource, read_mode = q.numbers[:2]
        if len(q.payload) != _TEXTURE.size:
            raise ValueError(f"{q.api} with {len(q.payload)} bytes")
        values = list(_TEXTURE.unpack(q.payload))
        texels, pitch, slice_bytes, width, height, depth, channels, bits, kind = values[:9]
        linear, normalised, as_float = values[9:12]
        texel = channels * bits // 8
        if channels not in (1, 2, 4) or bits not in (8, 16, 32) or kind > _FLOAT:
            return Answer(E.INVALID_CHANNEL)
        if not texels or not width or (resource == _PITCHED and pitch % PITCH_ALIGNMENT):
            return Answer(E.INVALID_VALUE)
        if q.api == "cudaCreateTextureObject":
            if resource == _LINEAR_MEMORY:
                linear = values[9] = 0  # tex1Dfetch never filters
            if read_mode and kind != _FLOAT and bits == 32:
                return Answer(E.INVALID_NORMALISATION)
            if linear and kind != _FLOAT and not as_float:
                return Answer(E.INVALID_FILTER)
        size = (depth - 1) * slice_bytes + (height - 1) * pitch + width * texel
        if self.copies.inside(q, texels, size, "of") is None:
            return Answer(E.INVALID_VALUE)
        if not normalised:
            # CUDA: the modes that repeat are for normalised coordinates only, and become clamp.
            values[12:15] = [_CLAMP if m in (_WRAP, _MIRROR) else m for m in values[12:15]]
        found = self.memory.at(texels)
        if found is not None:
            q.note(buffer=found.name)
        data = np.frombuffer(_TEXTURE.pack(*values), np.uint8)
        return Answer(numbers=(self.memory.name_texels(data, found),))

    def _destroy(self, q: Request) -> Answer:
        return Answer() if self.memory.drop_texels(q.numbers[0]) else Answer(E.INVALID_VALUE)
