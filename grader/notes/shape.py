"""What a quoted line looks like: does it compute an id, compare with a size, or add?

Used where no fact says what a line is: on files without a record, on generated kernels. A shape
never proves a claim; it can only say that a quote does not look like what it is called.
"""

from __future__ import annotations

import re

_ID = re.compile(
    r"blockIdx|threadIdx|block_idx|thread_position_in_grid|thread_position_in_threadgroup"
    r"|thread_index_in|threadgroup_position_in_grid|thread_rank\s*\(|this_grid\s*\("
    r"|program_id|tl\.arange|\bnv\s*\*|get_global_id|\bindex\s*\*=\s*\w+|\bbase\s*=\s*index\s*\*"
)
_SIZE = re.compile(
    r"(?:(?<![<-])<=?(?!<)|(?<![->])>=?(?!>))\s*\(?[\w.]+|\bremaining\b|\bsize--|\blen\b|\bmask\b"
)
_TEMPLATE = re.compile(
    r"^\s*(?:template\b|#\s*include|using\b|return\s+static_cast)|\w<[\w:, ]+>\s*\("
)
_COMPARE = re.compile(r"[\w)\]}]\s*(?:<=|>=|<|>)\s*[({]?\s*[\w.]+")  # braces: a generator's
_ADD = re.compile(
    r"[\w)\].]\s*\+\s*[\w(*]|\+=|\bf(?:unc|n)?\s*\(|\bOp\s*(?:\(\)|\{\})\s*\(|npyv_|_mm\d*_add|vadd|\badd\w*\s*\("
    r"|\bfma|addition|\bplus\b|ops\.add|\badd = register_pointwise|\bop\s*\("
)

WANTED = {
    "global_id": "a global id: block index times block size plus thread index, or the name the "
    "framework gives it (thread_position_in_grid, thread_rank(), tl.program_id)",
    "bounds_check": "a bounds check: an index compared with a size",
    "operation": "an addition: a sum of two operands, or the call of a functor",
}


def fits(fact: str, quote: str) -> bool:
    """Whether a quote has the shape of the fact it is called."""
    if fact == "global_id":
        return bool(_ID.search(quote))
    if fact == "bounds_check":
        plain = "\n".join(line for line in quote.split("\n") if not _TEMPLATE.search(line))
        return bool(_COMPARE.search(plain) or re.search(r"remaining|size--|--\s*>", plain)) or bool(
            "mask" in plain and _SIZE.search(plain) and "True" not in plain
        )
    return bool(_ADD.search(quote)) and not _ID.search(quote)
