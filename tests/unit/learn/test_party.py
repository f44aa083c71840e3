"""Messages, inboxes and the in-process exchange."""

import numpy as np
import pytest

from sottovoce.errors import (
    DamagedMessageError,
    EarlyMessageError,
    LateMessageError,
    ParameterError,
    ProtocolError,
    ReplayedMessageError,
    UnexpectedMessageError,
)
from sottovoce.learn.wire.codec import decode_value, encode_value
from sottovoce.learn.wire.message import Inbox, Leakage, Learns, Message

SESSION = bytes(range(16))


def said(step: int = 1, sender: str = "a", **changes: object) -> Message:
    fields = {
        "session": SESSION, "sender": sender, "receiver": "b", "step": step, "kind": "ball",
        "payload": {"count": step},
    }  # fmt: skip
    return Message(**{**fields, **changes})  # type: ignore[arg-type] # the fields' own types


@pytest.mark.parametrize(
    "value", [1j, [1], {1}, object(), np.array([object()]), np.zeros((1,) * 5)]
)
def test_what_has_no_encoding_is_refused(value: object) -> None:
    with pytest.raises(ParameterError):
        encode_value(value)  # type: ignore[arg-type] # that is the point


def test_nesting_is_bounded_both_ways() -> None:
    deep: tuple[object, ...] = ()
    for _ in range(8):
        deep = (deep,)
    with pytest.raises(ParameterError, match="deep"):
        encode_value(deep)  # type: ignore[arg-type] # tuples of tuples
    with pytest.raises(DamagedMessageError, match="deep"):
        decode_value(b"\x05\x01\0\0\0" * 10 + b"\x05\0\0\0\0")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x09" + bytes(8),
        b"\x01\xff\0\0\0\0\0\0\0",
        b"\x05\xff\xff\xff\xff",
        b"\x04\x63\x01" + bytes(8),
        b"\x04\x07\x02" + b"\xff" * 16,
        b"\x04\x02\x01\x01\0\0\0\0\0\0\0\x07",
        b"\x03\x01\0\0\0\0\0\0\0\xff",
        b"\x06\x01\0\0\0\x01\x01\0\0\0\0\0\0\0\x07\x01\0\0\0\0\0\0\0\0",
        encode_value(1) + b"\0",
    ],
)
def test_bytes_that_hold_no_value_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedMessageError):
        decode_value(data)


def test_a_message_does_not_print_what_it_holds() -> None:
    assert "secret" not in repr(said(payload={"x": b"secret"}))


def test_any_flipped_bit_is_found() -> None:
    data = said().to_bytes()
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DamagedMessageError):
            Message.from_bytes(bytes(damaged))


def inbox(step: int = 2) -> Inbox:
    box = Inbox(SESSION, "b")
    box.expect(step, "ball", ["a", "c"])
    return box


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        (said(2, session=bytes(16)), UnexpectedMessageError),
        (said(2, receiver="c"), UnexpectedMessageError),
        (said(1), LateMessageError),
        (said(3), EarlyMessageError),
        (said(2, sender="d"), UnexpectedMessageError),
        (said(2, kind="bat"), UnexpectedMessageError),
    ],
)
def test_an_inbox_refuses_by_name_and_stays_as_it_was(
    message: Message, refusal: type[ProtocolError]
) -> None:
    box = inbox()
    with pytest.raises(refusal):
        box.take(message)
    assert box.missing == ("a", "c")
    assert not box.take(said(2))
    assert box.take(said(2, sender="c"))
    assert list(box.messages) == ["a", "c"]


def test_an_inbox_refuses_a_replay_in_the_same_step_and_after_it() -> None:
    box = inbox()
    box.take(said(2))
    with pytest.raises(ReplayedMessageError):
        box.take(said(2))
    box.expect(3, "ball", ["a"])
    with pytest.raises(ReplayedMessageError):
        box.take(said(2))
    box.close()
    with pytest.raises(LateMessageError):
        box.take(said(3))


def test_a_printed_leakage_statement_is_a_table_for_people_as_wide_as_their_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = " ".join(["how many rows there are"] * 4)
    leakage = Leakage("p", (Learns("every peer", told),), collusion="two peers: all")
    for columns in (60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        title, empty, *lines = str(leakage).splitlines()
        assert (title, empty) == ("Who learns what: p", "")
        assert "|" not in "".join(lines)
        assert columns - 25 < max(map(len, lines)) <= columns
        assert [line[:12] for line in lines if line[0] != " "] == ["every peer  ", "together    "]
        assert told in " ".join(line[12:] for line in lines)
