"""What to do about a pattern of wrong or missing elements, in the words of each language."""

from __future__ import annotations

import re

GLOBAL_INDEX = {
    "cuda-c": "blockIdx.x * blockDim.x + threadIdx.x",
    "metal": "the position in the grid ([[thread_position_in_grid]])",
    "triton": "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
}

ZERO = "every wrong element is zero"

ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"only the first block of \d+ is right",
        "The number of the block is not in the index: use {index}.",
    ),
    (
        r"negative where it should be 0",
        "Nothing keeps these numbers at 0: the result is max(value, 0).",
    ),
    (
        r"only the last element",
        "The last element is left out: check the end of the guard or loop (n, not n - 1) and "
        "that the number of blocks is rounded up.",
    ),
    (
        r"only the first element",
        "The first element is left out: indices start at 0, {index}.",
    ),
    (
        r"only the tail from (32768|65536) on",
        "{1} is where a number of 16 bits ends: keep the index in an int.",
    ),
    (
        r"only the tail from (\d+) on",
        "Nothing handles the elements from {1} on: use {index}, and where threads handle several "
        "elements let each step by the number of all threads.",
    ),
    (
        r"every second element",
        "The index goes up in steps of two: neighbouring threads take neighbouring elements.",
    ),
    (
        r"elements \d+ to \d+ of every (\d+)",
        "What is left out repeats every {1} elements: what the number of the block is multiplied "
        "by must be the size of the block, as in {index}.",
    ),
    (
        r"one in every (\d+) elements",
        "What is left out repeats every {1} elements: check the step of the index, and what the "
        "number of the block is multiplied by: its size, as in {index}.",
    ),
    (
        r"only the (rows|columns) from (\d+) on",
        "The {1} from {2} on are left out: check that index, and how far the grid or "
        "loop goes in that direction.",
    ),
    (
        r"only the first (row|column) is right",
        "The second {1} is already at the wrong place or nobody's: a row starts at its number "
        "times the stride of that buffer, and both numbers of the block belong into the indices.",
    ),
    (
        r"rows and columns are swapped",
        "Swap the two indices where the element is read or where it is written: element (row, "
        "column) stands at row * columns + column.",
    ),
    (
        r"the output is a copy of (\w+)",
        "The kernel stores {1} as it is: check the arithmetic before the store, and its types (a "
        "factor that became an integer is 0 or 1), or where it should land.",
    ),
    (
        r"the values are those of (.+)",
        "The kernel computes {1}: compare the operator with the statement.",
    ),
    (
        ZERO,
        "Zero is stored there: look for an integer division or conversion, a result that is never "
        "added to, or a comparison that is always false.",
    ),
    (
        r"NaN in the rows where all of (\w+) is far below 0",
        "Start the maximum at -infinity or with the first element: where it starts at 0 every "
        "exp(x - maximum) is 0, and 0/0 is NaN.",
    ),
    (
        r"NaN in the rows where an element of (\w+) is above (\d+)",
        "exp({2}) is about as large as a float32 gets, and infinity divided by infinity is NaN: "
        "subtract the row's maximum from {1} first.",
    ),
    (
        r"every wrong element is NaN",
        "A NaN comes from 0/0, infinity - infinity, the root or logarithm of a negative number, "
        "or memory that was never set.",
    ),
    (
        r"NaN is lost",
        "fmax, fmin and comparisons drop a NaN: test for it, or write the comparison so that NaN "
        "takes the branch that keeps it.",
    ),
    (r"the sign is flipped", "Swap the operands of the subtraction, or drop a minus."),
    (
        r"the fraction is cut off",
        "A value goes through an integer on the way: keep it in a floating-point variable.",
    ),
    (
        r"off by one",
        "The index that is read and the one that is written differ by one: use the same.",
    ),
    (
        r"the values are nearly right",
        "Compute in 32 bits: a half keeps 11 bits of a number. Look for half, float16 or a "
        "conversion to them on the way.",
    ),
    (
        r"infinity beyond 65504",
        "Half precision ends at 65504: keep sums and products in float and convert at the end.",
    ),
    (
        r"every wrong element is infinite",
        "Keep sums, products and exponentials in a wider type, or subtract the maximum before "
        "exp().",
    ),
    (
        r"right but for multiples of 2\^(\d+)",
        "A product or sum does not fit in {1} bits: widen an operand before it is multiplied, as "
        "in (long long)a * b.",
    ),
    (
        r"zero where all of (\w+) is (negative|positive)",
        "Start the reduction with its neutral element, -infinity for a maximum and infinity for a "
        "minimum, or with the first element of {1}.",
    ),
    (
        r"the sum of the first (.+) of (\w+) only",
        "Only the first {1} of {2} get into the result: every thread, warp and block has to add "
        "its part to it, and each thread all the elements that are its own.",
    ),
    (
        r"every element of (\w+) is added twice",
        "Two threads or rounds add the same element: let each element have one owner.",
    ),
    (
        r"every wrong element is (\S+) times",
        "Check what the result is multiplied or divided by, and whether it is added {1} times.",
    ),
    (
        r"every wrong element is (\S+) (more|less)",
        "The same is added everywhere: check the first value of the accumulator.",
    ),
    (
        r"only where (\w+) is (.+)$",
        "Follow the branch that an element takes whose {1} is {2}.",
    ),
)
"""A pattern and what to do; {1} and {2} are what the pattern caught, {index} the global index."""

IN_OTHER_WORDS: dict[str, dict[str, str]] = {
    "triton": {
        r"only the first block of \d+ is right": "The number of the program is not in the offsets: "
        "use {index}.",
        r"only the last element": "The last element is left out: check the end of the mask (< n, "
        "not < n - 1) or loop, and that the number of programs is rounded up.",
        r"only the tail from (32768|65536) on": "{1} is where a number of 16 bits ends: keep the "
        "offsets in tl.int32.",
        r"only the tail from (\d+) on": "No program stores the elements from {1} on: use {index}, "
        "let the mask end at n, and where a program handles several blocks let it step by "
        "tl.num_programs(0) * BLOCK.",
        r"every second element": "The offsets go up in steps of two: tl.arange(0, BLOCK) alone "
        "gives neighbours.",
        r"elements \d+ to \d+ of every (\d+)": "What is left out repeats every {1} elements: what "
        "the number of the program is multiplied by must be the size of its block, as in {index}.",
        r"one in every (\d+) elements": "What is left out repeats every {1} elements: check the "
        "step of the offsets, and what the number of the program is multiplied by: the size of "
        "its block, as in {index}.",
        r"only the first (row|column) is right": "The second {1} is already at the wrong place or "
        "nobody's: a row starts at its number times the stride of that tensor, and the numbers of "
        "the program belong into the offsets.",
        r"NaN is lost": "tl.maximum, tl.minimum and comparisons drop a NaN: say "
        "propagate_nan=tl.PropagateNan.ALL, or write the comparison so that NaN takes the branch "
        "that keeps it.",
        r"right but for multiples of 2\^(\d+)": "A product or sum does not fit in {1} bits: widen "
        "an operand before it is multiplied, as in a.to(tl.int64) * b.",
        r"the sum of the first (.+) of (\w+) only": "Only the first {1} of {2} get into the "
        "result: every program has to add its part to it, and a loop has to reach all "
        "blocks of a program.",
        r"every element of (\w+) is added twice": "Two programs or rounds add the same element: "
        "let each element have one owner.",
    },
    "metal": {
        r"only the first block of \d+ is right": "The number of the threadgroup is not in the "
        "index: use {index}.",
        r"only the last element": "The last element is left out: check the end of the guard or "
        "loop (n, not n - 1) and that the number of threadgroups is rounded up.",
        r"elements \d+ to \d+ of every (\d+)": "What is left out repeats every {1} elements: what "
        "the number of the threadgroup is multiplied by must be its size, as in {index}.",
        r"one in every (\d+) elements": "What is left out repeats every {1} elements: check the "
        "step of the index, and what the number of the threadgroup is multiplied by: its size, "
        "as in {index}.",
        r"right but for multiples of 2\^(\d+)": "A product or sum does not fit in {1} bits: widen "
        "an operand before it is multiplied, as in long(a) * b.",
        r"the sum of the first (.+) of (\w+) only": "Only the first {1} of {2} get into the "
        "result: every thread, SIMD-group and threadgroup has to add its part to it, and each "
        "thread all the elements that are its own.",
    },
}
"""What is said instead where a language has other words or other means."""


def described() -> tuple[tuple[str, str], ...]:
    """Every pattern and its advice as docs/messages.md shows them: a number is N, a name A."""
    found = []
    for expression, advice in ADVICE:
        said = advice.replace("{index}", "the global index")
        for number, group in enumerate(re.findall(r"\(([^()]+)\)", expression), 1):
            said = said.replace(f"{{{number}}}", _word(group))
        plain = re.sub(r"\(([^()]+)\)", lambda match: _word(match[1]), expression)
        found.append((re.sub(r"[\\$]", "", plain.replace(r"\d+", "N")), said))
    return tuple(found)


def _word(group: str) -> str:
    """What stands for a group of an expression."""
    kinds = {r"\d+": "N", r"\S+": "N", r"\w+": "A", ".+": "…"}
    return kinds.get(group) or group.replace("|", " or ")


def of_pattern(pattern: str, language: str | None) -> str | None:
    """What to do about a pattern; None for one that is not in the list."""
    for expression, advice in ADVICE:
        found = re.search(expression, pattern)
        if found is not None:
            text = IN_OTHER_WORDS.get(language or "", {}).get(expression, advice)
            text = text.replace("{index}", GLOBAL_INDEX.get(language or "", "a global index"))
            for number, part in enumerate(found.groups(), 1):
                text = text.replace(f"{{{number}}}", part)
            return text
    return None
