"""What the parties of secure arithmetic refuse, and by what name."""

from dataclasses import replace

import numpy as np
import pytest
from support.paillier_keys import insecure_key_for_tests
from support.secure_arithmetic import KEY

from sottovoce.errors import (
    DamagedMessageError,
    InputError,
    ParameterError,
)
from sottovoce.learn.modes.comparison import (
    Bits,
    ComparisonPlan,
    SharedNumbers,
    answer_less,
    ask_less,
)
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Pairing, ScriptedParty, run_together

OTHER_KEY = insecure_key_for_tests(512, number=1)
OWN, THEIRS = np.array([3, 4, 5], object), np.array([4, 4, 1], object)
PLAN = ComparisonPlan(3, 4)


def pair_of_parties(
    pairing: Pairing | None = None,
) -> tuple[ScriptedParty[Bits], ScriptedParty[Bits]]:
    pair = pairing or Pairing()
    answering = pair.answering(answer_less(THEIRS, PLAN, KEY))
    return pair.asking(ask_less(OWN, PLAN, KEY.public)), answering


def outcome(asker: ScriptedParty[Bits], answerer: ScriptedParty[Bits]) -> list[int]:
    """Where the key holder's number is the smaller one."""
    found: list[int] = (asker.result ^ answerer.result).tolist()
    return found


def as_other(message: Message, **changes: object) -> Message:
    return replace(message, **changes)  # type: ignore[arg-type] # fields of their own types


def test_a_damaged_message_leaves_the_party_waiting_for_the_true_one() -> None:
    asker, answerer = pair_of_parties()
    (bits,) = answerer.start()
    asker.start()
    data = bits.item("array", bytes)
    foreign = data[: -KEY.public.ciphertext_bytes] + bytes(KEY.public.ciphertext_bytes)
    with pytest.raises(InputError, match="ciphertext must be between"):
        asker.receive(as_other(bits, payload={"array": foreign}))
    with pytest.raises(DamagedMessageError):
        asker.receive(as_other(bits, payload={"array": 7}))
    assert len(asker.receive(bits)) == 1


def test_messages_that_arrive_twice_or_late_change_nothing() -> None:
    for seed in range(5):
        asker, answerer = pair_of_parties()
        faults = Faults(duplicate=0.4, reorder=0.4, seed=seed)
        Exchange([asker, answerer], faults=faults).run()
        assert outcome(asker, answerer) == [0, 0, 1]


@pytest.mark.parametrize(
    ("plan", "key", "reason"),
    [
        (PLAN, OTHER_KEY, "another key"),
        (ComparisonPlan(3, 5), KEY, r"bits must have shape \(3, 4\)"),
    ],
)
def test_another_key_or_plan_than_agreed_on_is_refused(
    plan: ComparisonPlan, key: PrivateKey, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        run_together(ask_less(OWN, PLAN, KEY.public), answer_less(THEIRS, plan, key))


def test_shares_need_a_modulus_with_slack() -> None:
    SharedNumbers(1, 1 << 75, 1 << 10)
    with pytest.raises(ParameterError, match="times the largest number"):
        SharedNumbers(1, (1 << 75) - 1, 1 << 10)
    with pytest.raises(ParameterError, match="residues"):
        SharedNumbers(1, 1 << 75, 1).check_share(np.array([1 << 75], dtype=object))


def test_comparisons_without_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        ComparisonPlan(0, 3)
    for numbers in ([8], [-1], [1, 2]):
        with pytest.raises(ParameterError, match="1 numbers of 3 bits"):
            next(ask_less(np.array(numbers, dtype=object), ComparisonPlan(1, 3), KEY.public))
