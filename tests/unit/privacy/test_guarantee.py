"""Guarantees compare, compose and print as the mathematics says."""

from fractions import Fraction

import pytest

from sottovoce.errors import ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy, NoGuarantee
from sottovoce.privacy.whole_document import compose_disjoint, compose_overlapping


def test_the_rate_is_epsilon_per_word() -> None:
    guarantee = LimitedPrecision(n=2, epsilon="0.1", unit="document")
    assert guarantee.rate == Fraction(1, 20)
    assert guarantee.epsilon_at(10) == Fraction(1, 2)
    assert guarantee.state_at(10) == guarantee


def test_the_same_rate_at_another_n_is_the_same_guarantee() -> None:
    stated_twice = {LimitedPrecision(1, "0.5"), LimitedPrecision(4, 2)}
    assert len(stated_twice) == 1


def test_a_promise_to_a_user_covers_her_documents_and_not_the_reverse() -> None:
    to_user, to_document = LimitedPrecision(1, 1, "user"), LimitedPrecision(1, 1, "document")
    assert to_user < to_document
    assert not to_document <= to_user


def test_plain_local_privacy_costs_twice_the_length_cap() -> None:
    local = LocalPrivacy.at_rate("0.01", length_cap=100)
    assert local.epsilon == 2
    assert local.rate == Fraction(1, 100)
    assert local.for_user(3) == LocalPrivacy(6, 300, "user")


def test_limited_precision_never_promises_local_privacy() -> None:
    local = LocalPrivacy(2, 100)
    assert local < LimitedPrecision(1, 2)
    assert not LimitedPrecision(1, "1e-6") <= local
    assert not LimitedPrecision(1, "1e-6") >= local
    assert LocalPrivacy(2, 50) == local
    assert hash(LocalPrivacy(2, 50)) == hash(local)


def test_anything_promises_more_than_no_guarantee() -> None:
    nothing = NoGuarantee("a projection adds no noise.")
    assert LimitedPrecision(1, 1000) < nothing
    assert LocalPrivacy(1000, 1) < nothing
    assert not nothing <= LimitedPrecision(1, 1000)
    assert nothing == NoGuarantee("another reason.")
    assert hash(nothing) == hash(NoGuarantee("another reason."))
    assert "No epsilon" in nothing.in_words()
    assert "a projection" in str(nothing)


def test_rates_add_over_the_same_documents() -> None:
    both = compose_overlapping(LimitedPrecision(2, 1), LimitedPrecision(3, 1))
    assert both.rate == Fraction(1, 2) + Fraction(1, 3)
    assert both.n == 2


def test_the_largest_rate_counts_over_disjoint_documents() -> None:
    both = compose_disjoint(LimitedPrecision(2, 1), LimitedPrecision(3, 1))
    assert both.rate == Fraction(1, 2)


def test_only_guarantees_of_one_unit_compose() -> None:
    with pytest.raises(ParameterError, match="different units"):
        compose_overlapping(LimitedPrecision(1, 1, "user"), LimitedPrecision(1, 1))
    with pytest.raises(ParameterError, match="at least one"):
        compose_disjoint()


def test_a_user_with_several_documents_keeps_the_rate() -> None:
    per_user = LimitedPrecision(2, 1).for_user(5)
    assert per_user.n == 10
    assert per_user.epsilon == 5
    assert per_user.unit == "user"


def test_the_words_give_passages_half_of_n() -> None:
    text = LimitedPrecision(5, "1/3").in_words()
    assert "up to 5 words" in text
    assert "replacing a passage of up to 2 words" in text
    assert "e^0.333334" in text
    assert "AES-256" in text


def test_one_word_cannot_be_replaced_within_distance_one() -> None:
    text = LimitedPrecision(1, 1).in_words()
    assert "up to 1 word " in text
    assert "replacing" not in text


def test_the_one_line_form_names_what_was_promised() -> None:
    assert str(LimitedPrecision(2, 2)) == (
        "(N=2, epsilon=2) limited-precision local privacy per document, 1 nat per word"
    )
    assert str(LocalPrivacy(2, 9)) == "epsilon=2 local privacy per document of at most 9 words"
    assert "the released documents of a user" in LocalPrivacy(2, 9, "user").in_words()


@pytest.mark.parametrize(("n", "epsilon"), [(0, 1), (-1, 1), (1, 0), (1, "nan"), (1.5, 1)])
def test_bad_parameters_are_refused(n: int, epsilon: int) -> None:
    with pytest.raises(ParameterError):
        LimitedPrecision(n, epsilon)


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(ParameterError, match="unit must be"):
        LimitedPrecision(1, 1, "sentence")  # type: ignore[arg-type]  # the point of the test


def test_a_whole_document_is_said_to_be_less_protected_than_a_passage() -> None:
    promise = LimitedPrecision(2, 1)
    assert "epsilon of 28.5: no protection" in promise.whole_in_words(57)
    assert "as good as sure" in promise.whole_in_words(57)
    short = promise.whole_in_words(4)
    assert "epsilon of 2;" in short
    assert "88.08% sure" in short
    assert "of 1 counted word," in promise.whole_in_words(-3)
