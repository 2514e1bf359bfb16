"""The channel takes what it sent and nothing else."""

import contextlib
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.sandbox.channel import (
    MAX_FRAMES,
    PREFIX,
    ChannelError,
    Kind,
    decoder,
    encode,
    read_frame,
    write_frame,
)

HEADERS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


def feed(stream, *, max_bytes=1 << 20, piece=7):
    """Every frame of a byte string, given to the decoder in small pieces; what is left over."""
    frames = decoder(max_bytes)
    wanted = next(frames)
    found = []
    while True:
        if not isinstance(wanted, int):
            found.append(wanted)
            wanted = frames.send(b"")
            continue
        take, stream = stream[: min(wanted, piece)], stream[min(wanted, piece) :]
        if not take:
            return found
        wanted = frames.send(take)


@given(st.lists(st.tuples(HEADERS, st.lists(st.binary(max_size=50), max_size=3)), max_size=3))
def test_round_trip(messages):
    stream = b"".join(piece for message in messages for piece in encode(Kind.EARLY, *message))
    found = feed(stream)
    assert [(kind, frame.header, list(frame.blobs)) for kind, frame in found] == [
        (Kind.EARLY, header, blobs) for header, blobs in messages
    ]


@given(st.binary(max_size=200))
def test_noise_is_refused_or_waits_for_more(noise):
    with contextlib.suppress(ChannelError):
        assert feed(noise) == []


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        (b"GET / HTTP/1.1\r\n", "not a frame"),
        (PREFIX.pack(b"GRF1", 9, 2, 0) + b"{}", "not a frame"),
        (PREFIX.pack(b"GRF1", 2, 2, 0) + b"[]", "not a JSON object"),
        (PREFIX.pack(b"GRF1", 2, 2, 0) + b"{\xff", "not JSON"),
        (PREFIX.pack(b"GRF1", 2, 90_000, 0) + b'{"a":' + b"[" * 89_995, "not JSON"),
        (PREFIX.pack(b"GRF1", 2, 9, 0) + b'{"a":NaN}', "not JSON"),
        (PREFIX.pack(b"GRF1", 2, 11, 0) + b'{"a":1e999}', "not JSON"),
        (PREFIX.pack(b"GRF1", 2, 506, 0) + b'{"a":' + b"9" * 500 + b"}", "not JSON"),
        (PREFIX.pack(b"GRF1", 2, 14, 0) + b'{"a":"\\ud800"}', "not JSON"),
        (PREFIX.pack(b"GRF1", 2, 11, 0) + b'{"a":"\xed\xa0\x80"}', "not JSON"),
        (PREFIX.pack(b"GRF1", 2, 28, 0) + '{"a":"\\ud800"}'.encode("utf-16-le"), "not JSON"),
        (
            PREFIX.pack(b"GRF1", 2, 30, 0) + b"\xff\xfe" + '{"a":"\\ud800"}'.encode("utf-16-le"),
            "JSON",
        ),
        (PREFIX.pack(b"GRF1", 2, 9 << 20, 0) + b'{"a":[' + b"0," * (9 << 19), "values"),
        (PREFIX.pack(b"GRF1", 2, 0xFFFFFFFF, 0), "header bytes"),
        (PREFIX.pack(b"GRF1", 2, 2, 0xFFFFFFFF), "blobs"),
        (PREFIX.pack(b"GRF1", 2, 2, 1) + (1 << 63).to_bytes(8, "little"), "bytes agreed"),
        (b"".join(encode(Kind.EARLY, {})) * (MAX_FRAMES + 1), "frames"),
    ],
)
def test_malformed_streams(stream, says):
    with pytest.raises(ChannelError, match=says):
        feed(stream, max_bytes=1 << 24, piece=1 << 16)


def test_the_sum_of_frames_is_bounded():
    one = b"".join(encode(Kind.EARLY, {}, [b"x" * 600]))
    assert len(feed(one, max_bytes=1000)) == 1
    with pytest.raises(ChannelError, match="1000 bytes agreed"):
        feed(one + one, max_bytes=1000)


def test_too_much_to_send():
    with pytest.raises(ChannelError, match="too big"):
        encode(Kind.LAST, {}, [b""] * 5000)


def test_blocking_side_reads_one_frame_and_not_a_byte_more():
    read, write = os.pipe()
    write_frame(write, Kind.REQUEST, {"a": 1}, [b"blob"])
    os.write(write, b"rest")
    os.close(write)
    frame = read_frame(read)
    assert (frame.header, frame.blobs) == ({"a": 1}, (b"blob",))
    assert os.read(read, 100) == b"rest"
    with pytest.raises(ChannelError, match="closed"):
        read_frame(read)
    os.close(read)


def test_what_json_lacks_is_not_sent():
    with pytest.raises(ValueError, match="JSON"):
        encode(Kind.LAST, {"a": float("nan")})


def test_pairs_of_surrogates_are_text():
    header = {"a": "\U0001f600"}
    assert feed(b"".join(encode(Kind.LAST, header)))[0][1].header == header


def test_numbers_survive():
    header = {"n": 2**63, "x": 0.1}
    assert feed(b"".join(encode(Kind.LAST, header)))[0][1].header == header
    assert json.loads(json.dumps(header)) == header
