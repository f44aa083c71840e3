"""The messages of two servers: what each checks for itself, whatever the other sends."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.rank_servers import description

from sottovoce.advisor.rank._opening import (
    PARTS,
    QUESTION,
    Message,
    Pool,
    answer,
    ask,
    demand,
    digest,
    joined,
    question_tag,
    yielded,
)
from sottovoce.advisor.rank._shares import split
from sottovoce.errors import ProtocolError

RULES = description("shares", epsilon="100", buckets=4)
KEY, NONCE = bytes(32), "ab" * 32
BUCKETS = [0, 1, 1, 3, 3, 3]
TOKENS = tuple(f"{place:032x}" for place in range(len(BUCKETS)))


def pools() -> tuple[Pool, Pool]:
    one, two = (Pool(RULES, "debt", 1, TOKENS, share) for share in split(BUCKETS, 4))
    return one, two


def recommitted(message: Message) -> Message:
    """The message of a server that had committed itself to just that."""
    about = {name: message[name] for name in (*QUESTION[:-1], *PARTS, "nonce")}
    return message | {"commitment": digest(about)}


def test_both_servers_accept_the_same_reports_and_open_their_sum() -> None:
    first, second = pools()
    answered = answer(second, KEY, ask(first, KEY, NONCE))
    demanded, chosen = demand(first, KEY, NONCE, answered)
    assert chosen == list(TOKENS)
    counts = joined(first.of(chosen).noised_sum(), yielded(second, KEY, demanded))
    assert counts == np.bincount(BUCKETS, minlength=4).tolist()


def test_no_message_holds_a_verdict_and_the_question_holds_no_part_of_the_check() -> None:
    first, second = pools()
    asked = ask(first, KEY, NONCE)
    assert set(asked) == set(QUESTION)
    answered = answer(second, KEY, asked)
    assert set(answered) == {"tokens", *PARTS}
    demanded, _ = demand(first, KEY, NONCE, answered)
    assert set(demanded) == {*QUESTION, *PARTS, "nonce", "accepted"}
    assert recommitted(demanded) == demanded


def test_a_commitment_without_its_nonce_cannot_be_tried_out() -> None:
    first, _ = pools()
    assert ask(first, KEY, NONCE)["commitment"] != ask(first, KEY, "cd" * 32)["commitment"]


Change = Callable[[Message], Message]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda m: m | {"masked": m["masked"][16:]}, "must be 6 numbers each"),
        (lambda m: m | {"sums": m["sums"][:16]}, "must be 6 numbers each"),
        (lambda m: m | {"squared": "no share"}, "hexadecimal"),
        (lambda m: m | {"tokens": [m["tokens"][0], *m["tokens"][:-1]]}, "twice"),
        (lambda m: m | {"squared": "0" * len(m["squared"])}, "disagree"),
        (lambda m: m | {"tokens": m["tokens"][::-1]}, "disagree"),
    ],
)
def test_the_second_server_opens_nothing_for_parts_that_do_not_fit(
    change: Change, why: str
) -> None:
    first, second = pools()
    demanded, _ = demand(first, KEY, NONCE, answer(second, KEY, ask(first, KEY, NONCE)))
    with pytest.raises(ProtocolError, match=why):
        yielded(second, KEY, recommitted(change(demanded)))


@pytest.mark.parametrize("name", PARTS)
def test_one_number_does_not_stand_for_all_in_an_answer(name: str) -> None:
    first, second = pools()
    answered = answer(second, KEY, ask(first, KEY, NONCE))
    with pytest.raises(ProtocolError, match="6 numbers each"):
        demand(first, KEY, NONCE, answered | {name: answered[name][:16]})


def test_fewer_reports_than_the_minimum_are_not_summed_by_either_server() -> None:
    first, second = (pool.of(TOKENS[:2]) for pool in pools())
    demanded, chosen = demand(first, KEY, NONCE, answer(second, KEY, ask(first, KEY, NONCE)))
    assert chosen == []
    assert yielded(second, KEY, demanded) == ""


def test_a_question_is_another_under_another_key_or_with_anything_else_in_it() -> None:
    first, _ = pools()
    asked = ask(first, KEY, NONCE)
    changes: list[dict[str, Any]] = [
        {"topic": "illness"},
        {"period": 2},
        {"description": "0" * 64},
        {"tokens": asked["tokens"][:-1]},
        {"commitment": "0" * 64},
    ]
    tags = {question_tag(KEY, asked | change) for change in [{}, *changes]}
    assert len({*tags, question_tag(bytes([1] * 32), asked)}) == len(changes) + 2
    assert question_tag(KEY, asked | {"nonce": NONCE}) == question_tag(KEY, asked)
