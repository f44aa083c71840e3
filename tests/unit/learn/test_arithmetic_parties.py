"""What the parties of secure arithmetic refuse, and by what name."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.paillier_keys import insecure_key_for_tests
from support.secure_arithmetic import KEY, hidden

from sottovoce.errors import (
    DamagedMessageError,
    EarlyMessageError,
    InputError,
    ParameterError,
    ReplayedMessageError,
    UnexpectedMessageError,
)
from sottovoce.learn.arithmetic.comparison import Bits, ComparisonPlan, ask_less
from sottovoce.learn.arithmetic.shown import Outline
from sottovoce.learn.arithmetic.sign import SharedNumbers, answer_positive, ask_positive
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import encrypt_integers
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.script import Pairing, ScriptedParty, run_together

OTHER_KEY = insecure_key_for_tests(512, number=1)
NUMBERS = np.array([3, -4, 5])
SIGNS = NUMBERS > 0


def pair_of_parties(
    pairing: Pairing | None = None,
) -> tuple[ScriptedParty[Bits], ScriptedParty[Bits]]:
    x, outline = hidden(NUMBERS, 10)
    pair = pairing or Pairing()
    answering = pair.answering(answer_positive(outline, KEY, told="ciphertext holder"))
    return pair.asking(ask_positive(x, outline, told="ciphertext holder")), answering


def as_other(message: Message, **changes: object) -> Message:
    return replace(message, **changes)  # type: ignore[arg-type] # fields of their own types


def test_one_party_cannot_play_both_parts() -> None:
    with pytest.raises(ParameterError, match="must be two parties"):
        Pairing(ciphertext_holder="a", key_holder="a")


def test_a_replayed_message_is_refused() -> None:
    asker, answerer = pair_of_parties()
    (masked,) = asker.start()
    answerer.start()
    answerer.receive(masked)
    for again in (masked, as_other(masked, payload={"array": 7})):
        with pytest.raises(ReplayedMessageError):
            answerer.receive(again)


def test_a_message_out_of_order_is_refused_and_taken_when_its_turn_comes() -> None:
    asker, answerer = pair_of_parties()
    (masked,) = asker.start()
    answerer.start()
    (bits,) = answerer.receive(masked)
    (tests,) = asker.receive(bits)
    waiting = pair_of_parties(Pairing(session=masked.session))[1]
    waiting.start()
    with pytest.raises(EarlyMessageError):
        waiting.receive(tests)
    (share,) = answerer.receive(tests)
    assert answerer.has_finished
    with pytest.raises(ReplayedMessageError):
        answerer.receive(tests)
    asker.receive(share)
    assert (asker.result == SIGNS).all()


def test_foreign_and_unexpected_messages_are_refused_by_name() -> None:
    asker, answerer = pair_of_parties()
    (masked,) = asker.start()
    answerer.start()
    with pytest.raises(UnexpectedMessageError):
        answerer.receive(as_other(masked, session=bytes(16)))
    with pytest.raises(UnexpectedMessageError):
        answerer.receive(as_other(masked, receiver="somebody"))
    with pytest.raises(UnexpectedMessageError):
        answerer.receive(as_other(masked, sender="somebody"))
    with pytest.raises(UnexpectedMessageError):
        answerer.receive(as_other(masked, kind="tests"))
    assert len(answerer.receive(masked)) == 1


def test_a_damaged_message_leaves_the_party_waiting_for_the_true_one() -> None:
    asker, answerer = pair_of_parties()
    (masked,) = asker.start()
    answerer.start()
    data = masked.item("array", bytes)
    foreign = data[: -KEY.public.ciphertext_bytes] + bytes(KEY.public.ciphertext_bytes)
    with pytest.raises(InputError, match="ciphertext must be between"):
        answerer.receive(as_other(masked, payload={"array": foreign}))
    with pytest.raises(DamagedMessageError):
        answerer.receive(as_other(masked, payload={"array": 7}))
    assert len(answerer.receive(masked)) == 1


def test_a_result_is_not_there_before_the_end() -> None:
    asker, _ = pair_of_parties()
    with pytest.raises(ValueError, match="has not finished"):
        _ = asker.result
    assert asker.time_out() == []


def test_messages_that_arrive_twice_or_late_change_nothing() -> None:
    for seed in range(5):
        asker, answerer = pair_of_parties()
        faults = Faults(duplicate=0.4, reorder=0.4, seed=seed)
        Exchange([asker, answerer], faults=faults).run()
        assert (asker.result == SIGNS).all()


def test_another_key_shape_or_bound_than_agreed_on_is_refused() -> None:
    other, of_other = hidden(NUMBERS, 10, OTHER_KEY)
    x, of_x = hidden(NUMBERS, 10)
    assert of_x == Outline.of(x)
    for given, outline, agreed, reason in (
        (other, of_other, of_other, "another key"),
        (x, of_x, Outline((2,), 10), r"must have shape \(2,\)"),
        (x, of_x, Outline((3,), 11), "another plan"),
    ):
        with pytest.raises(InputError, match=reason):
            run_together(
                ask_positive(given, outline, told="nobody"),
                answer_positive(agreed, KEY, told="nobody"),
            )
    for outline, reason in ((Outline((2,), 10), "shape"), (Outline((3,), 9), "4 bits")):
        with pytest.raises(InputError, match=reason):
            next(ask_positive(x, outline, told="nobody"))


def test_packed_arrays_must_be_unpacked_first() -> None:
    packed = encrypt_integers(NUMBERS, plan_slots(Program.start(9), key_bits=512), KEY)
    with pytest.raises(ParameterError, match="unpack the array first"):
        next(ask_positive(packed, Outline.of(packed), told="nobody"))


def test_an_overflow_is_refused_when_it_is_planned() -> None:
    """Both parties refuse before a message is sent."""
    x, outline = hidden([1], 1 << 450)
    with pytest.raises(ParameterError, match="longer key"):
        next(ask_positive(x, outline, told="nobody"))
    with pytest.raises(ParameterError, match="longer key"):
        next(answer_positive(outline, KEY, told="nobody"))


def test_the_party_to_be_told_must_be_one() -> None:
    x, outline = hidden(NUMBERS, 10)
    with pytest.raises(ParameterError, match="told must be one of"):
        run_together(
            ask_positive(x, outline, told="the press"),  # type: ignore[arg-type] # wrong on purpose
            answer_positive(outline, KEY, told="the press"),  # type: ignore[arg-type] # wrong on purpose
        )


def test_who_is_not_told_hears_nothing_of_the_sign() -> None:
    x, outline = hidden(NUMBERS, 10)
    for told, heard in (
        ("ciphertext holder", ["masked", "tests"]),
        ("nobody", ["masked", "tests"]),
    ):
        run = run_together(
            ask_positive(x, outline, told=told),  # type: ignore[arg-type] # a literal
            answer_positive(outline, KEY, told=told),  # type: ignore[arg-type] # a literal
        )
        assert [message.kind for message in run.shown] == heard


def test_a_share_that_is_no_bit_is_refused() -> None:
    x, outline = hidden(NUMBERS, 10)
    pair = Pairing()
    asker = pair.asking(ask_positive(x, outline, told="ciphertext holder"))
    answerer = pair.answering(answer_positive(outline, KEY, told="ciphertext holder"))
    (masked,), _ = asker.start(), answerer.start()
    (bits,) = answerer.receive(masked)
    (tests,) = asker.receive(bits)
    (share,) = answerer.receive(tests)
    for wrong in (np.full(3, 2, np.uint8), np.zeros(2, np.uint8)):
        with pytest.raises(DamagedMessageError, match="3 bits"):
            asker.receive(as_other(share, payload={"bits": wrong}))
    asker.receive(share)
    assert (asker.result == SIGNS).all()


def test_shares_need_a_modulus_with_slack() -> None:
    SharedNumbers(1, 1 << 75, 1 << 10)
    with pytest.raises(ParameterError, match="times the largest number"):
        SharedNumbers(1, (1 << 75) - 1, 1 << 10)
    with pytest.raises(ParameterError, match="residues"):
        SharedNumbers(1, 1 << 75, 1).checked(np.array([1 << 75], dtype=object))


def test_comparisons_without_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        ComparisonPlan(0, 3)
    for numbers in ([8], [-1], [1, 2]):
        with pytest.raises(ParameterError, match="1 numbers of 3 bits"):
            next(ask_less(np.array(numbers, dtype=object), ComparisonPlan(1, 3), KEY.public))


def test_a_failed_script_ends_its_party() -> None:
    asking = ask_positive(hidden(NUMBERS, 10)[0], Outline((3,), 9), told="nobody")
    asker = Pairing().asking(asking)
    with pytest.raises(InputError):
        asker.start()
    assert not asker.has_finished


def header(weights: list[int], make: Callable[[EncryptedArray], Any]) -> bytes:
    """The bytes before the ciphertexts of what is sent of privately weighted numbers."""
    plan = Outline((2,), 100).plan(512)
    array = encrypt_integers([7, -9], plan, KEY).combine([weights])
    said = next(make(array))
    data: bytes = said.payload["array"]
    size = 2 * KEY.public.bits // 8  # of a ciphertext
    return data[:-size]


AGREED = Outline((1,), 1 << 40)


def test_what_is_sent_does_not_depend_on_the_size_of_private_weights() -> None:
    sent = [
        header(weights, lambda array: ask_positive(array, AGREED, told="nobody"))
        for weights in ([3, -1234567], [1, 0])
    ]
    assert sent[0] == sent[1]


def test_the_header_under_an_arrays_own_outline_would_tell_the_weights() -> None:
    sent = [
        header(weights, lambda array: ask_positive(array, Outline.of(array), told="nobody"))
        for weights in ([3, -1234567], [1, 0])
    ]
    assert sent[0] != sent[1]


def test_weights_beyond_what_was_agreed_on_are_refused_before_anything_is_sent() -> None:
    with pytest.raises(InputError, match="41 bits were agreed on"):
        header([1 << 40, 1], lambda array: ask_positive(array, AGREED, told="nobody"))
