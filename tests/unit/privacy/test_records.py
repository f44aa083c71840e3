"""Records keep a guarantee exactly, and refuse to be bent."""

import json

import pytest

from sottovoce.errors import InputError
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy, NoGuarantee
from sottovoce.privacy.whole_document import Guarantee, WholeDocument, from_record, to_record

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
