"""A peer gives sums of documents that it does not have, and would decide the classifier alone."""

from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.false_sums import Floats, Lie, peers_of, terms_of, trained, with_liar

from sottovoce.errors import FalseSummandError
from sottovoce.learn.modes.sums import check_total
from sottovoce.learn.sums import fixed
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.support import KeptFeatures

WIDTH = 12
CROSS = slice(2 + WIDTH, 2 + 2 * WIDTH)


def turned(sums: Floats) -> Floats:
    """As if every label were the other one."""
    crafted = sums.copy()
    crafted[1], crafted[CROSS] = -sums[1], -sums[CROSS]
    return crafted


def a_million_times(sums: Floats) -> Floats:
    return turned(sums) * 1e6


def all_against(sums: Floats) -> Floats:
    """The words' sums with the label, and no other, larger than all documents together."""
    crafted = turned(sums)
    crafted[CROSS] *= 1e5
    return crafted


def hidden_in_the_count(sums: Floats) -> Floats:
    """Of the right number of documents, and a million times their words."""
    crafted = a_million_times(sums)
    crafted[:2] = sums[:2]
    return crafted


LIES = (a_million_times, all_against, hidden_in_the_count)


def honest_theta() -> Floats:
    return trained(peers_of(3, 60, WIDTH))[0].coefficients


@pytest.mark.parametrize("lie", LIES)
def test_without_the_check_one_of_three_decides_the_classifier(lie: Lie) -> None:
    """The attack, on a training whose peers state no documents: the opposite is learnt."""
    peers = with_liar(peers_of(3, 60, WIDTH), "peer01", lie)
    model, _ = trained(peers, checked=False)
    honest = honest_theta()
    size = np.linalg.norm(model.coefficients) * np.linalg.norm(honest)
    assert model.coefficients @ honest < -0.8 * size


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("liar", ["peer00", "peer01", "peer02"])
def test_a_liar_ends_the_training_and_is_named(lie: Lie, liar: str) -> None:
    peers = with_liar(peers_of(3, 60, WIDTH), liar, lie)
    with pytest.raises(FalseSummandError, match=rf"^{liar}'s sums .* its 60 documents"):
        trained(peers)


def test_a_check_that_skips_one_peer_lets_its_lie_through() -> None:
    """Planted: what the test before would see of such a fault."""
    peers = with_liar(peers_of(3, 60, WIDTH), "peer01", a_million_times)
    unmasked = fixed.unmask_projections

    def skipping(*given: Any) -> dict[str, Ring]:  # noqa: ANN401 - as there
        return {name: left for name, left in unmasked(*given).items() if name != "peer01"}

    with (
        mock.patch.object(fixed, "unmask_projections", skipping),
        pytest.raises(FalseSummandError) as got,
    ):
        trained(peers)
    assert "peer01" not in str(got.value)


def test_honest_peers_train_to_the_same_classifier_with_and_without_the_check() -> None:
    peers = peers_of(3, 60, WIDTH)
    unchecked, _ = trained(peers, presence=False)
    np.testing.assert_array_equal(honest_theta(), unchecked.coefficients)


@pytest.mark.parametrize(
    ("change", "got"),
    [
        ({0: 1.0}, "those of 181"),
        ({2: -200.0}, "numbers that count no documents|a negative square"),
        ({2: 0.5}, "numbers that count no documents"),
        ({CROSS.start: 1.0}, "numbers that count no documents"),
        ({CROSS.stop + 1: -170.0}, "numbers that count no documents|a negative square"),
    ],
)
def test_a_total_of_no_documents_is_refused(change: dict[int, float], got: str) -> None:
    """One by one: the number, a word's count, a half, the label's parity, a pair."""

    def slightly(sums: Floats) -> Floats:
        crafted = sums.copy()
        for at, by in change.items():
            crafted[at] += by
        return crafted

    peers = with_liar(peers_of(3, 60, WIDTH), "peer01", slightly)
    with pytest.raises(FalseSummandError, match=f"180 documents that the peers state, got {got}"):
        trained(peers)


def test_rows_of_numbers_must_have_the_stated_number_and_no_negative_square() -> None:
    for lie in (a_million_times, all_against):
        peers = with_liar(peers_of(3, 60, WIDTH), "peer01", lie)
        with pytest.raises(FalseSummandError, match="the opened sums"):
            trained(peers, presence=False)


def test_two_hundred_honest_totals_are_never_refused() -> None:
    """Of one document to sixty, at several widths, with words that nearly all or few have."""
    for seed in range(200):
        width, each = 2 + seed % 7, 1 + 3 * (seed % 20)
        peers = peers_of(3, each, width, seed=seed, share=(0.05, 0.4, 0.97)[seed % 3])
        terms = terms_of(peers, allow_rare="a word of one document is that document")
        total = np.sum([data.sums(kept_all(width)) for data in peers.values()], axis=0)
        check_total(total, terms, kept_all(width), terms.peers)


def kept_all(width: int) -> KeptFeatures:
    return KeptFeatures(np.ones(width, bool))
