"""The reference vector addition launched by Triton itself, on torch tensors of a card."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def vec_add(path: Path, arrays: Mapping[str, np.ndarray]) -> Any:
    """A + B by the kernel `vec_add` in `path`."""
    import torch
    import triton

    spec = importlib.util.spec_from_file_location("reference_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    a, b = (torch.from_numpy(arrays[name].copy()).cuda() for name in "AB")
    c = torch.empty_like(a)
    n = a.numel()
    module.vec_add[(triton.cdiv(n, 1024),)](a, b, c, n, BLOCK=1024)
    return c.cpu().numpy()
