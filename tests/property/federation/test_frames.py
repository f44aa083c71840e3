"""Whatever bytes come, a frame's parser gives a frame or refuses by name."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sottovoce.errors import BadFrameError, WrongVersionError
from sottovoce.federation.party.party import RunRequest, RunResponse
from sottovoce.federation.party.party import _read as read_body
from sottovoce.federation.transport.frames import (
    VERSION,
    Answer,
    Beat,
    Complaint,
    Frame,
    Header,
    Proposal,
    pack_frame,
    unpack_frame,
)

KINDS = (Header, Answer, Beat, Proposal, Complaint)
HEADER = Frame.make("message", bytes(16), "ann", "bob", 3, b"body").header
VALUES = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | st.binary()
FIELDS = st.sampled_from(Header.__struct_fields__)


def parsed(data: bytes) -> None:
    for kind in KINDS:
        with suppress(BadFrameError, WrongVersionError):
            unpack_frame(data, kind)  # type: ignore[type-var] # one of them
    for body in (RunRequest, RunResponse):
        with suppress(BadFrameError):
            read_body(data, body)  # type: ignore[type-var] # one of them


@given(st.binary(max_size=200))
@example(b"\x91" * 20_000)
@example(b"\x82\xa7version\x01\xa7why_not\xa1\xff")
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_refused_by_name(data: bytes) -> None:
    parsed(data)


@given(st.integers(0, 8 * len(pack_frame(HEADER)) - 1))
@settings(max_examples=200, deadline=None)
def test_a_flipped_bit_is_refused_or_gives_a_header(bit: int) -> None:
    damaged = bytearray(pack_frame(HEADER))
    damaged[bit // 8] ^= 1 << (bit % 8)
    parsed(bytes(damaged))


@given(st.dictionaries(FIELDS, VALUES, min_size=1))
@example({"sequence": 0})
@example({"kind": "abort"})
@example({"size": -1})
@settings(max_examples=200, deadline=None)
def test_fields_of_another_type_or_range_are_refused_by_name(changes: dict[str, object]) -> None:
    data = msgspec.msgpack.encode(msgspec.structs.asdict(HEADER) | changes)
    try:
        header = unpack_frame(data, Header)
    except (BadFrameError, WrongVersionError):
        return
    assert header.version == VERSION
    assert len(header.session) == 16
    assert header.size >= 0
    assert (header.sequence == 0) == (header.kind == "abort")


@pytest.mark.parametrize("kind", [Header, Answer, Beat])
def test_the_version_is_looked_at_before_anything_else(kind: type[Header]) -> None:
    with pytest.raises(WrongVersionError, match="got version 9"):
        unpack_frame(msgspec.msgpack.encode({"version": 9, "of": "which nothing is known"}), kind)
