"""The order of guarantees is a partial order, and composition respects it."""

from fractions import Fraction
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy, NoGuarantee, Unit
from sottovoce.privacy.whole_document import (
    Guarantee,
    WholeDocument,
    compose_counts,
    compose_disjoint,
    compose_overlapping,
)

UNITS = st.sampled_from(cast("list[Unit]", ["document", "user"]))
EPSILONS = st.fractions(min_value=Fraction(1, 50), max_value=5, max_denominator=50)
LIMITED = st.builds(LimitedPrecision, st.integers(1, 5), EPSILONS, UNITS)
LOCAL = st.builds(LocalPrivacy, EPSILONS, st.integers(1, 5), UNITS)
WHOLE = st.builds(
    WholeDocument,
    EPSILONS,
    parties=st.integers(4, 6),
    drop=st.integers(0, 1),
    collude=st.integers(0, 2),
    documents_per_user=st.one_of(st.none(), st.integers(1, 3)),
)
GUARANTEES = st.one_of(LIMITED, LOCAL, WHOLE, st.just(NoGuarantee("none.")))


@given(GUARANTEES, GUARANTEES)
def test_antisymmetric_and_hashed_alike(a: Guarantee, b: Guarantee) -> None:
    assert a <= a  # noqa: PLR0124 - reflexivity is the claim
    assert (a <= b <= a) == (a == b)
    assert (a < b) == (b > a) == (a <= b and a != b)
    if a == b:
        assert hash(a) == hash(b)


@given(GUARANTEES, GUARANTEES, GUARANTEES)
def test_transitive(a: Guarantee, b: Guarantee, c: Guarantee) -> None:
    if a <= b <= c:
        assert a <= c


@given(st.lists(EPSILONS, min_size=1, max_size=4))
def test_composition_promises_no_more_than_its_parts(rates: list[Fraction]) -> None:
    parts = [LimitedPrecision.at_rate(rate) for rate in rates]
    disjoint = compose_disjoint(*parts)
    assert all(part <= disjoint for part in parts)
    assert disjoint <= compose_overlapping(*parts)


@given(st.lists(WHOLE, min_size=1, max_size=4))
def test_counts_together_promise_no_more_than_any_of_them(parts: list[WholeDocument]) -> None:
    whole = compose_counts(*parts)
    assert all(part <= whole for part in parts)
