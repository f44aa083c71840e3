"""What a noised sum promises a whole document, in figures and words."""

import json
from fractions import Fraction
from typing import Any

import pytest

from sottovoce.errors import InputError, ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy, NoGuarantee
from sottovoce.privacy.whole_document import (
    Guarantee,
    WholeDocument,
    compose_counts,
    from_record,
    to_record,
)

PROMISE = WholeDocument("1/3", parties=6, drop=1, collude=2)


def test_honest_peers_are_those_that_neither_drop_out_nor_collude() -> None:
    assert PROMISE.honest == 3


def test_replacing_is_removing_and_adding_and_copies_add_up() -> None:
    assert PROMISE.document_epsilon == Fraction(1, 3)
    assert PROMISE.replacing == Fraction(2, 3)
    assert PROMISE.in_ledger == LimitedPrecision(1, "2/3")
    assert PROMISE.at_peers(3) == WholeDocument(1, parties=6, drop=1, collude=2)


def test_a_bound_on_documents_promises_users_something_and_documents_less() -> None:
    """Without one of their documents, another of theirs may be counted."""
    bounded = WholeDocument("1/3", parties=6, collude=2, documents_per_user=5)
    assert bounded.document_epsilon == Fraction(2, 3)
    assert bounded.user_epsilon == Fraction(5, 3)
    assert PROMISE.user_epsilon is None
    assert not bounded <= PROMISE
    assert not bounded >= PROMISE
    assert "and all of one user by at most e^1.66667" in bounded.in_words()


@pytest.mark.parametrize(
    "weaker",
    [
        WholeDocument("1/2", parties=6, drop=1, collude=2),
        WholeDocument("1/3", parties=6, collude=1),
        NoGuarantee("none."),
    ],
    ids=str,
)
def test_more_epsilon_or_fewer_colluders_promise_less(weaker: Guarantee) -> None:
    assert weaker > PROMISE
    assert not weaker <= PROMISE


def test_whole_documents_and_passages_do_not_compare() -> None:
    for other in (LimitedPrecision(1, 1), LocalPrivacy("1/9", 9)):
        assert not other >= PROMISE
        assert not other <= PROMISE


def test_the_words_say_against_whom_and_what_replacing_and_copies_cost() -> None:
    words = WholeDocument(1, parties=4, collude=1).in_words()
    assert "Adding or removing one whole document" in words
    assert "at most e^1 (replacing one, its label included: e^2)" in words
    assert "everyone but more than 1 of the 4 peers colluding" in words
    assert "What k peers hold counts k times" in words
    assert "everyone but the 4 peers, who know" in WholeDocument(1, parties=4).in_words()


def test_counts_of_the_same_documents_add_up() -> None:
    one, two = WholeDocument(1, parties=4, collude=1), WholeDocument(2, parties=9, drop=6)
    both = compose_counts(one, two)
    assert both.epsilon == 3
    assert (both.parties, both.drop, both.collude) == (9, 6, 0)


def test_users_are_promised_something_by_counts_that_all_bound_them() -> None:
    few = WholeDocument(1, parties=3, documents_per_user=2)
    more = WholeDocument(1, parties=3, documents_per_user=5)
    assert compose_counts(few, more).user_epsilon == 10
    mixed = compose_counts(few, WholeDocument(1, parties=3))
    assert mixed.user_epsilon is None
    assert mixed.document_epsilon == 3
    with pytest.raises(ParameterError, match="at least one guarantee"):
        compose_counts()


@pytest.mark.parametrize(
    ("field", "value"),
    [("epsilon_replaced", "1"), ("epsilon_document", "1"), ("collude", 0), ("parties", 7)],
)
def test_a_record_keeps_all_of_it_and_refuses_to_be_bent(field: str, value: object) -> None:
    record = to_record(PROMISE)
    assert to_record(from_record(record)) == record
    changed = {**record, field: value}
    if field.startswith("epsilon"):
        with pytest.raises(InputError, match="contradicts itself"):
            from_record(changed)
    else:
        assert to_record(from_record(changed)) != record


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"epsilon": 0}, "epsilon must be > 0"),
        ({"parties": 0}, "parties must be > 0"),
        ({"drop": -1}, "drop must be > 0"),
        ({"collude": 1.5}, "collude must be a whole number"),
        ({"collude": 2, "drop": 1}, r"leave at least one honest peer, got 1 \+ 2 of 3"),
        ({"documents_per_user": 0}, "documents_per_user must be > 0"),
    ],
)
def test_an_impossible_promise_is_refused(wrong: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        WholeDocument(**{"epsilon": 1, "parties": 3, **wrong})


GUARANTEES: list[Guarantee] = [
    LimitedPrecision(3, "1/3"),
    LimitedPrecision(3, 0.1, "user"),
    LocalPrivacy("0.7", 9),
    WholeDocument("1/3", parties=2),
    WholeDocument(1, parties=9, drop=2, collude=3, documents_per_user=2),
    NoGuarantee("a reason."),
]


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_a_guarantee_survives_json(guarantee: Guarantee) -> None:
    assert from_record(json.loads(json.dumps(to_record(guarantee)))) == guarantee


def test_a_float_in_a_record_is_rounded_up() -> None:
    record = to_record(LimitedPrecision(1, "1/3"))
    assert record["epsilon"] == "1/3"
    assert record["epsilon_rounded_up"] == 0.33333333333333337


@pytest.mark.parametrize(
    ("field", "value"), [("epsilon", "1/4"), ("n", 4), ("nats_per_word", "1"), ("more", 1)]
)
def test_a_record_that_contradicts_itself_is_refused(field: str, value: object) -> None:
    with pytest.raises(InputError, match="contradicts itself"):
        from_record({**to_record(GUARANTEES[0]), field: value})


def test_an_incomplete_or_unknown_record_is_refused() -> None:
    with pytest.raises(InputError, match="lacks its field 'kind'"):
        from_record({})
    with pytest.raises(InputError, match="kind must be"):
        from_record({"kind": "absolute"})


def test_notebooks_show_the_promise_in_words() -> None:
    assert LimitedPrecision(2, 1)._repr_html_().startswith("<p>Adding or removing up to 2 words")
    assert "&lt;" in NoGuarantee("1 < 2.")._repr_html_()
