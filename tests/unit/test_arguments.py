"""`--arg`: what a person writes, and the numbers it stands for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.arguments import DTYPES, array, numbers, parse, scalar
from grader.errors import UsageError


@pytest.mark.parametrize(
    ("spec", "name", "type_", "count", "content", "value"),
    [
        ("a:f32[1000]", "a", "f32", 1000, "random", 0),
        ("f32[0x10]", None, "f32", 16, "random", 0),
        ("out:f32[1000]=0", "out", "f32", 1000, "fill", 0.0),
        ("x:f64[3]=-1.5e3", "x", "f64", 3, "fill", -1500.0),
        ("n:i32=1000", "n", "i32", None, "scalar", 1000),
        ("u64=0xffffffffffffffff", None, "u64", None, "scalar", 2**64 - 1),
        ("alpha:f32=inf", "alpha", "f32", None, "scalar", float("inf")),
        ("c:f32[4]=undefined", "c", "f32", 4, "undefined", 0),
        ("a:f32@x.npy", "a", "f32", None, "file", 0),
        ("a:i8[7]@dir/x=y.npy", "a", "i8", 7, "file", 0),
    ],
)
def test_what_a_spec_says(
    spec: str, name: str | None, type_: str, count: int | None, content: str, *, value: float
) -> None:
    found = parse(spec)
    assert (found.name, found.type, found.count) == (name, type_, count)
    assert (found.content, found.value) == (content, value)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "expected [NAME:]TYPE[COUNT]"),
        ("a:f32[3", "expected [NAME:]TYPE[COUNT]"),
        ("a:float[3]", "expected a type of f16 bf16"),
        ("a:f32", "expected a count or a value, as in f32[1000] or f32=1000"),
        ("a:f32[]", "expected a whole number in [ ]"),
        ("a:f32[0]", "expected at least one element, found 0"),
        ("a:f32[-4]", "expected at least one element, found -4"),
        ("a:f32[99999999999]", "expected at most"),
        ("n:i32=1.5", "expected a whole number after =, found '1.5'"),
        ("n:i32=undefined", "expected a whole number after =, found 'undefined'"),
        ("n:u8=256", "expected a value from 0 to 255, found 256"),
        ("n:i32=2147483648", "expected a value from -2147483648 to 2147483647"),
        ("x:f32=one", "expected a number after =, found 'one'"),
    ],
)
def test_what_a_spec_cannot_say(spec: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(spec)
    assert caught.value.message.startswith(f"--arg {spec}")
    assert words in caught.value.message


@given(st.sampled_from(sorted(DTYPES)), st.integers(1, 2000), st.integers(0, 9))
def test_random_numbers_repeat_and_stay_in_range(type_: str, count: int, seed: int) -> None:
    spec = parse(f"{type_}[{count}]")
    values = array(spec, seed)
    assert values is not None
    assert values.dtype == DTYPES[type_]
    assert values.shape == (count,)
    assert np.array_equal(values, array(spec, seed))
    plain = np.array(numbers(type_, values), np.float64)
    if type_.startswith(("i", "u")):
        assert set(plain) <= set(range(-8, 9))
        assert type_.startswith("i") or plain.min() >= 0
    else:
        assert (np.abs(plain) <= 1).all()


def test_two_arguments_of_one_count_differ() -> None:
    spec = parse("f32[100]")
    assert not np.array_equal(array(spec, 0), array(spec, 1))  # type: ignore[arg-type]


def test_fills_and_scalars() -> None:
    filled = array(parse("i16[3]=-7"), 0)
    assert filled is not None
    assert filled.tolist() == [-7, -7, -7]
    assert filled.dtype == np.int16
    assert array(parse("f32[3]=undefined"), 0) is None
    assert scalar(parse("n:u64=18446744073709551615")) == np.uint64(2**64 - 1)
    assert scalar(parse("x:f16=0.1")) == np.float16(0.1)


@given(st.floats(-(2.0**127), 2.0**127, width=32))
def test_bf16_is_the_nearest_one(value: float) -> None:
    bits = int(scalar(parse(f"bf16={value!r}")))
    around = [
        float((np.array([b & 0xFFFF], np.uint32) << 16).view(np.float32)[0])
        for b in (bits - 1, bits, bits + 1)
    ]
    near = [abs(a - value) for a in around if np.isfinite(a)]
    assert abs(around[1] - value) == min(near)


def test_what_is_no_number_is_text() -> None:
    values = np.array([1.0, np.nan, np.inf, -np.inf], np.float32)
    assert numbers("f32", values) == [1.0, "nan", "inf", "-inf"]
    assert numbers("bf16", np.array([0x3F80, 0x7FC0], np.uint16)) == [1.0, "nan"]


def test_files(tmp_path: Path) -> None:
    good = tmp_path / "x.npy"
    np.save(good, np.arange(6, dtype=np.float32).reshape(2, 3))
    values = array(parse(f"a:f32@{good}"), 0)
    assert values is not None
    assert values.tolist() == [0, 1, 2, 3, 4, 5]
    pickled = tmp_path / "p.npy"
    np.save(pickled, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (tmp_path / "t.npy").write_text("text")
    for spec, words in [
        (f"a:f64@{good}", "expected float64 in"),
        (f"a:f32[5]@{good}", "expected 5 elements, found 6"),
        (f"a:f32@{tmp_path}/absent.npy", "No such file"),
        (f"a:f32@{pickled}", "is no .npy file"),
        (f"a:f32@{tmp_path}/t.npy", "is no .npy file"),
    ]:
        with pytest.raises(UsageError) as caught:
            array(parse(spec), 0)
        assert words in caught.value.message
