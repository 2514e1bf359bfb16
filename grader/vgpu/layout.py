"""Numbers shared by the generated code and the C runtime: offsets, windows, limits.

`runtime.c` asserts the same numbers with `_Static_assert`, so a mismatch is a compile error.
"""

from __future__ import annotations

LANES = 32

# Device addresses: the upper bits name a slot, so a wild pointer still says whose it was.
SLOT_BITS = 36
SLOT_MIDDLE = 1 << 35
SHARED_SLOT = 1
LOCAL_SLOT = 2
PARAM_SLOT = 3
FUNCTION_SLOT = 4
HOST_SLOT = 5
FIRST_VARIABLE_SLOT = 16
FIRST_BUFFER_SLOT = 8192
SHARED_BASE = SHARED_SLOT << SLOT_BITS
LOCAL_BASE = LOCAL_SLOT << SLOT_BITS
PARAM_BASE = PARAM_SLOT << SLOT_BITS
FUNCTION_BASE = FUNCTION_SLOT << SLOT_BITS

# Shared and local arrays lie apart inside their windows for the same reason.
ARRAY_STRIDE = 1 << 20
ARRAY_START = 1 << 18

# struct Warp
W_PC = 0
W_ADDR = 128
W_SCRATCH = 384
W_TID = 8576  # x, y, z: three rows of 32 u32
W_LIVE = 8960
W_WAITING = 8964
W_NEXT = 8968
W_MASK = 8972
W_PEND = 8976
W_EVENT = 8980
W_BUDGET = 8984
W_COUNTERS = 8992
W_PARAMS = 9000
W_VISITED = 9008
W_BLOCK = 9016
W_LAUNCH = 9024
W_CTAID = 9032  # x, y, z
W_NTID = 9044
W_NCTAID = 9056
W_WARPID = 9068
W_NWARPS = 9072
W_DYNAMIC_SHARED = 9076
W_SMID = 9080
W_RESULT = 9084
W_WAIT = 9088  # eight u32
W_CHAIN = 9120
W_REGS = 16384

# struct Counter, one per block: executions, active lanes summed, divergent branches.
COUNTER_BYTES = 24

# What malloc takes from: CUDA's default size, and each block's share of it at least.
HEAP_BYTES = 8 << 20
HEAP_BLOCK_BYTES = 64
HEAP_BLOCKS = HEAP_BYTES // HEAP_BLOCK_BYTES


def variable_address(index: int) -> int:
    """Generic address of the index-th module variable (`.global` or `.const`)."""
    return ((FIRST_VARIABLE_SLOT + index) << SLOT_BITS) + SLOT_MIDDLE


def function_address(index: int) -> int:
    """What a pointer to the index-th function of a module holds: the same in all its kernels."""
    return FUNCTION_BASE + index


def array_offset(index: int) -> int:
    """Offset of the index-th shared array or local depot inside its window."""
    return index * ARRAY_STRIDE + ARRAY_START
