"""How many words' sums may be opened: the entropies, the share, and who is counted."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from sottovoce.learn.support import OpenedLimit, coin_bits, most_words, opened_bits, pair_bits


@pytest.mark.parametrize("documents", [10, 60, 300, 1000])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.4, 0.8, 1.0])
def test_a_pairs_bits_are_the_entropy_of_its_count(documents: int, share: float) -> None:
    one = round(share * documents)
    others = np.arange(0, documents + 1, max(1, documents // 20))
    exact = [hypergeom(documents, one, int(b)).entropy() / np.log(2) for b in others]
    np.testing.assert_allclose(pair_bits(documents, one, others), exact, atol=0.02)


def test_few_words_hold_few_bits_of_their_documents() -> None:
    """Up to 9 of them no more rows can differ than there are documents."""
    shares = opened_bits(1000, np.full(400, 100.0), [500.0]).shares
    assert shares[0] < 0.02
    assert np.all(np.diff(shares[:9]) > 0)
    again = int(np.flatnonzero(np.isinf(shares)).max()) + 1
    assert np.isinf(shares[9:again]).all()
    assert np.all(np.diff(shares[-100:]) > 0)


def test_words_that_most_documents_lack_are_opened_only_where_rows_cannot_tell_them_apart() -> None:
    """Most rows repeat and the order takes all bits; but the few that do not can be read."""
    assert most_words(3000, np.full(51, 90.0), [400.0]) == 11
    assert most_words(225, np.full(15, 30.0), [30.0]) <= 7
    assert most_words(3000, np.full(185, 120.0), [400.0]) > 150


def test_of_many_words_rho_is_the_plain_quotient() -> None:
    bits = opened_bits(1000, np.full(100, 100.0), [500.0])
    plain = (bits.pairs + bits.labels)[-1] / (bits.rows[-1] - bits.order)
    assert bits.rows[-1] > 2 * bits.order
    assert bits.shares[-1] == pytest.approx(plain)
    assert bits.rows[-1] == pytest.approx(100 * 1000 * float(coin_bits(np.array([0.1]))[0]))
    assert bits.pairs[-1] == pytest.approx(4950 * float(pair_bits(1000, 100.0, [100.0])[0]))


def test_more_words_of_the_same_kind_never_lower_rho() -> None:
    """The list twice has more, so that few words cannot be refused where many are opened."""
    for chance in (0.02, 0.1, 0.5):
        once = opened_bits(500, np.full(4, 500 * chance), [100.0]).shares[-1]
        twice = opened_bits(500, np.full(8, 500 * chance), [100.0]).shares[-1]
        assert once < twice


def test_the_number_of_words_rises_with_documents_and_with_the_share() -> None:
    chances = 0.5 / np.arange(1, 301) ** 0.7
    by_documents = [most_words(m, m * chances, [m / 2]) for m in (30, 100, 300, 1000, 3000)]
    assert by_documents == sorted(set(by_documents))
    by_share = [most_words(1000, 1000 * chances, [500], share) for share in (0.1, 0.3, 0.5)]
    assert by_share == sorted(set(by_share))
    assert most_words(1000, 1000 * chances, [500], np.inf) == 300


def test_words_like_those_of_complaints_are_as_many_as_section_seven_found() -> None:
    """Zipf's law stands in: from 7 to 21 documents for a word, more where there are more."""
    ratios = []
    for m in (1000, 5000):
        uses = m * np.minimum(0.5, 2.2 / np.arange(5, 1005))
        ratios.append(m / most_words(m, uses, [m * 0.4]))
    assert 7 < ratios[0] < ratios[1] < 21


def test_nothing_is_allowed_of_no_documents_and_nothing_fails() -> None:
    assert most_words(0, [0.0, 0.0], [0.0]) in (0, 2)
    assert most_words(0, [], []) == 0
    assert most_words(9, [9.0, 5.0, 3.0], [4.0]) < 3


def test_documents_of_the_largest_others_and_of_strangers_hide_nothing() -> None:
    stated = {"ada": 100, "ben": 300, "cy": 50, "dan": 200}
    assert OpenedLimit().documents(stated, "ada") == 100 + 50 + 200
    assert OpenedLimit().documents(stated, "ben") == 300 + 100 + 50
    assert OpenedLimit().documents(stated, "coordinator") == 100 + 50 + 200
    assert OpenedLimit(collude=2).documents(stated, "ada") == 100 + 50
    assert OpenedLimit(named=("ada", "cy", "dan")).documents(stated, "ada") == 100 + 50
    assert OpenedLimit(named=()).documents(stated, "ada") == 100


@pytest.mark.parametrize("lacking", [False, True])
def test_words_that_less_than_one_document_is_expected_to_use_are_not_free(
    *, lacking: bool
) -> None:
    """Of few documents, of all that use a word: a pair that one of them has was worth no bit."""
    for documents in (10, 50):
        uses = np.full(400, documents * 0.01)
        found = most_words(documents, documents - uses if lacking else uses, [documents / 2])
        assert found <= most_words(documents, np.full(400, 1.0), [documents / 2]) < 20
