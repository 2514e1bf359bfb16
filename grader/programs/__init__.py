"""Whole CUDA programs on the virtual GPU: a `main()` with its kernels, or a host function.

::

    toolchain.py    the C and C++ library, built once                          (parent)
    build.py        both halves of a program, kept by content                  (parent)
    device_build.py the CUDA files' device code, linked where one needs another's
    run.py          a run, and what comes back of it, checked                  (parent)
    steps.py        the workflow's steps, read from the trace of calls         (parent)
    host_build.py   clang and lld on the host half                             (build child)
    host_source.py  the half of the source they take
    symbols.py      kernels by their symbol and their C++ name
    server.py       runs the program and answers its calls                     (run child)
    device.py       the CUDA runtime API: what each call does
    device_memory.py  launches.py  findings.py  errors.py  line_table.py
    headers/        cuda_runtime.h and its kin, as the host compiler sees them
    graph_calls.py  capture and graphs, the device's side       texture_calls.py
    runtime/        host.c: every call becomes a message                       (the program itself)
                    ending.c: how it died, and where
                    transfers.c  graphs.c  capture.c: graphs, the program's side

docs/programs.md says what is served and what is not.
"""
