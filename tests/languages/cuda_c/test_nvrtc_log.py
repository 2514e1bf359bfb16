"""NVRTC's log becomes records."""

from __future__ import annotations

from grader.languages.nvrtc_log import messages, resources

LOG = """k.cu(7): error: no instance of overloaded function "f" matches the argument list
            argument types are: (float, int)
    \tf(1.0f, 2);
    \t^

k.cu(8): warning #186-D: pointless comparison of unsigned integer with zero
  if (z < 0) a[0] = 1;
        ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

k.cu(3): error: expression must have class type but it has type "float"
  return x.foo;
         ^
          detected during instantiation of "T g(T) [with T=float]" at line 7

At end of source: error: expected a "}"
a.h(1): catastrophic error: cannot open source file "x.h"

ptxas application ptx input, line 28; error   : Not a name of any known instruction: 'bogus'
ptxas fatal   : Ptx assembly aborted due to errors
2 errors detected in the compilation of "k.cu".
"""

PTXAS = """ptxas info    : 20 bytes gmem
ptxas info    : Compiling entry function '_Z1aPf' for 'sm_80'
ptxas info    : Function properties for _Z1aPf
ptxas         .     96 bytes stack frame, 80 bytes spill stores, 84 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 192 bytes smem, 380 bytes cmem[0]
ptxas info    : Compile time = 2.479 ms
ptxas info    : Compiling entry function 'b' for 'sm_80'
ptxas info    : Function properties for b
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers, 360 bytes cmem[0]
"""


def test_each_message_becomes_a_record() -> None:
    found = [
        (d.file, d.line, d.column, d.severity, d.message)
        for d in (message.diagnostic for message in messages(LOG, last_line=9))
    ]
    assert found == [
        (
            "k.cu",
            7,
            4,
            "error",
            'no instance of overloaded function "f" matches the argument list; '
            "argument types are: (float, int)",
        ),
        ("k.cu", 8, 7, "warning", "pointless comparison of unsigned integer with zero"),
        ("k.cu", 3, 8, "error", 'expression must have class type but it has type "float"'),
        ("", 9, None, "error", 'expected a "}"'),
        ("a.h", 1, None, "error", 'cannot open source file "x.h"'),
        ("ptx", 28, None, "error", "Not a name of any known instruction: 'bogus'"),
        ("ptx", None, None, "error", "Ptx assembly aborted due to errors"),
    ]


def test_warning_numbers_and_own_lines_are_kept() -> None:
    warning = messages(LOG)[1]
    assert warning.number == "#186-D"
    assert warning.lines[1] == "  if (z < 0) a[0] = 1;"


def test_resources_by_entry() -> None:
    used = resources(PTXAS)
    assert (used["_Z1aPf"].registers, used["_Z1aPf"].spill_bytes) == (32, 164)
    assert used["_Z1aPf"].shared_bytes == 192
    assert (used["b"].registers, used["b"].spill_bytes, used["b"].shared_bytes) == (4, 0, 0)
