"""What a launch shares with the runtime, field by field as runtime/engine.h has them."""

from __future__ import annotations

import ctypes


class CSite(ctypes.Structure):
    """`Site` of runtime/engine.h."""

    _fields_ = (
        ("space", ctypes.c_uint8),
        ("elem_bytes", ctypes.c_uint8),
        ("flags", ctypes.c_uint16),
        ("vector", ctypes.c_uint32),
        ("block", ctypes.c_uint32),
        ("wait", ctypes.c_uint32),
    )


class CCallSite(ctypes.Structure):
    """`CallSite` of runtime/engine.h."""

    _fields_ = (
        ("site", ctypes.c_uint32),
        ("depth", ctypes.c_uint32),
        ("back", ctypes.c_uint32 * 12),
    )


class CFault(ctypes.Structure):
    """`Fault` of runtime/engine.h."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in (
            "kind", "severity", "site", "access", "space", "buffer", "size", "other_site",
            "other_access", "code",
        )),
        ("count", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("block", ctypes.c_uint32 * 3),
        ("thread", ctypes.c_uint32 * 3),
        ("other_block", ctypes.c_uint32),
        ("other_thread", ctypes.c_uint32),
        ("has_other", ctypes.c_uint32),
        ("lane_mask", ctypes.c_uint32),
        ("lanes", ctypes.c_uint64 * 32),
    )  # fmt: skip


_P, _U32, _U64, _I64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64


class CLaunch(ctypes.Structure):
    """`Launch` of runtime/engine.h."""

    _fields_ = (
        ("slots", _P), ("nslots", _U64), ("sites", _P), ("stats", _P), ("nsites", _U64),
        ("table", _P), ("nblocks", _U64), ("params", _P), ("params_size", _U64),
        ("grid", _U32 * 3), ("block", _U32 * 3),
        ("dynamic_shared", _U32), ("shared_bytes", _U32), ("local_bytes", _U32),
        ("register_bytes", _U32), ("zero_bytes", _U32), ("checks", _U32), ("reversed", _U32),
        ("resident", _U32),
        ("fuel", _I64), ("quantum", _I64),
        ("shared_arrays", _P), ("nshared", _U64), ("local_arrays", _P), ("nlocal", _U64),
        ("pd_offsets", _P), ("pd_list", _P),
        ("faults", _P), ("nfaults", _U64), ("max_faults", _U64),
        ("text", _P), ("text_size", _U64), ("text_capacity", _U64),
        ("counters", _P),
        ("ended", _U32), ("ended_site", _U32), ("ended_block", _U32 * 3),
        ("ended_thread", _U32 * 3),
        ("barriers", _U64), ("instructions", _U64),
        ("l2_tags", _P), ("l2_lines", _U64),
        ("heap_slot", _U64), ("heap_limit", _U64), ("heap", _P), ("nheap", _U64),
        ("heap_capacity", _U64), ("heap_next", _U64),
        ("l2_hits", _U64), ("dram_read_sectors", _U64), ("dram_write_sectors", _U64),
        ("stop", _U32), ("total_warps", _U32), ("threads_per_block", _U32), ("started", _U32),
        ("sync", _P), ("nsync", _U64), ("sync_capacity", _U64), ("grid_workspace", _U64),
        ("live_clock", _U64), ("arena", _P), ("arena_left", _U64), ("call_sites", _P),
        ("ncall_sites", _U64),
        ("exact", _U32 * 3), ("pad_exact", _U32), ("checked_reads", _P),
        ("origins", _P), ("norigins", _U64),
        ("lost_errors", _U64),
        ("heap_sites", _P), ("no_memory_site", _U32), ("heap_block_bytes", _U32),
        ("functions", _P), ("nfunctions", _U64),
        ("latencies", _U32 * 5), ("pad_latencies", _U32),
        ("chains", _U64), ("longest_chain", _U64), ("met", _P), ("most_met", _U32),
        ("l1_mask", _U32),
    )  # fmt: skip


STAT_FIELDS = (
    "requests", "lanes", "bytes", "sectors", "ideal", "wavefronts", "ideal_wavefronts", "serial",
    "l1_hits", "l2_sectors", "dram_sectors", "distinct", "shared_requests",
)  # fmt: skip
