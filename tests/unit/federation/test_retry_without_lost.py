"""A training begins again without a lost peer: by itself while nobody has given anything."""

import pytest
from support.text_runs import GIVEN, made_terms

from sottovoce.federation.party._proposals import RetryWithoutLost
from sottovoce.learn.run.terms import RunTerms

TERMS = made_terms(text=GIVEN, recipe={"penalty": 0.1})
LOST = frozenset({"dee"})


def left(retry: RetryWithoutLost, terms: RunTerms = TERMS) -> tuple[str, ...] | None:
    following = retry(terms.to_bytes(), LOST)
    return None if following is None else RunTerms.from_bytes(following).peers


@pytest.mark.parametrize(("given", "peers"), [(True, None), (False, ("ada", "ben", "cy"))])
def test_what_was_given_decides_whether_a_training_goes_on_by_itself(
    given: bool, peers: tuple[str, ...] | None
) -> None:
    """What was opened with dee, less what is opened without, would be dee's own."""
    asked: list[bytes] = []

    def nothing_given(terms: RunTerms) -> bool:
        asked.append(terms.session)
        return not given

    assert left(RetryWithoutLost(always=False, nothing_given=nothing_given)) == peers
    assert asked == [TERMS.session]


def test_who_was_asked_to_begin_again_does_so_whatever_was_given() -> None:
    retry = RetryWithoutLost(always=False)
    assert left(retry) is None
    retry.allow(TERMS)
    assert left(retry) == ("ada", "ben", "cy")


def test_too_few_do_not_begin_again() -> None:
    few = made_terms(
        text=GIVEN,
        recipe={"penalty": 0.1},
        identities={name: public for name, public in TERMS.identities.items() if name != "cy"},
    )
    assert left(RetryWithoutLost(always=True), few) is None
