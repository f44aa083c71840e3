"""The audit of a noised sum comes near a true epsilon, and above one that is not kept."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sottovoce.privacy.audit.findings import AuditReport
from sottovoce.privacy.audit.sums import audit_sum, audit_votes
from sottovoce.privacy.shares import NoiseShare
from sottovoce.release.audit import FixedKeystream

Totals = NDArray[np.int64]


class Peers:
    """Opens the sum of all votes and of a share from each peer, under fixed keys."""

    def __init__(self, *shares: NoiseShare) -> None:
        self._shares = shares
        self._sources = [FixedKeystream(100 + i) for i in range(len(shares))]

    def __call__(self, votes: csr_array) -> Totals:
        total = np.asarray(votes.sum(axis=0), np.int64)
        for share, source in zip(self._shares, self._sources, strict=True):
            total += share.draw(total.size, source)
        return total


def share_of(epsilon: str, norm: int, among: int) -> NoiseShare:
    return NoiseShare(epsilon=epsilon, norm=norm, among=among)


def bounds(report: AuditReport) -> list[float]:
    return [finding.tightness for finding in report.findings if finding.tightness is not None]


def failing(report: AuditReport) -> set[str]:
    return {finding.name for finding in report.findings if not finding.holds}


LAW, FRESH = "law of the noise", "fresh noise"
ONE, OVER = "a document in one cell", "a document over 2 cells"
SHARE = share_of("1", 4, 3)


@pytest.mark.parametrize(
    ("epsilon", "norm", "among"), [("0.5", 50, 4), ("1", 10, 8), ("2", 1, 2), ("4", 3, 1)]
)
def test_a_true_epsilon_is_nearly_reached_by_as_many_shares_as_are_counted_on(
    epsilon: str, norm: int, among: int
) -> None:
    share = share_of(epsilon, norm, among)
    report = audit_sum(share, Peers(*[share] * among))
    assert report.holds, str(report)
    assert all(0.9 <= bound <= 1 for bound in bounds(report))


def test_more_shares_hide_more() -> None:
    report = audit_sum(SHARE, Peers(*[SHARE] * 4), unknown=4)
    assert report.holds, str(report)
    assert max(bounds(report)) < 0.95


@pytest.mark.parametrize("among", [1, 3, 8])
def test_a_peer_without_noise_is_caught(among: int) -> None:
    share = share_of("1", 4, among)
    report = audit_sum(share, Peers(*[share] * (among - 1)))
    assert failing(report) >= {LAW, ONE, OVER}


@pytest.mark.parametrize(
    "wrong", [share_of("1", 4, 5), share_of("1", 3, 3), share_of("1.05", 4, 3)]
)
def test_shares_of_the_wrong_size_are_caught(wrong: NoiseShare) -> None:
    report = audit_sum(SHARE, Peers(*[wrong] * 3))
    assert failing(report) >= {LAW, ONE}


def test_too_much_noise_is_no_confirmation() -> None:
    """A lower bound far below the claim shows an experiment without power, or other noise."""
    report = audit_sum(SHARE, Peers(*[share_of("1", 5, 3)] * 3))
    assert failing(report) == {LAW, ONE, OVER}
    assert "too far below" in str(report)


def test_the_same_answer_again_tells_nothing_more() -> None:
    peers = Peers(*[SHARE] * 3)
    report = audit_sum(SHARE, lambda votes: np.stack([peers(votes)] * 3))
    assert report.holds, str(report)


def test_noise_that_is_drawn_again_without_paying_is_averaged_away_and_caught() -> None:
    peers = Peers(*[SHARE] * 3)
    report = audit_sum(SHARE, lambda votes: np.stack([peers(votes) for _ in range(3)]))
    assert failing(report) == {ONE, OVER}
    assert max(bounds(report)) > 2


def test_noise_of_another_run_is_caught() -> None:
    """Who opens two runs with the same noise has their exact difference."""

    def same_noise(votes: csr_array) -> Totals:
        return Peers(*[SHARE] * 3)(votes)

    assert FRESH in failing(audit_sum(SHARE, same_noise, trials=1 << 12))


Row = tuple[int, str]


def by_word(rows: Sequence[Row]) -> Totals:
    """One vote for each row, by its text alone."""
    return np.bincount([len(text) for _, text in rows], minlength=12).astype(np.int64)


def by_place(rows: Sequence[Row]) -> Totals:
    """The vote depends on how many rows stand before."""
    cells = [(len(text) + place) % 12 for place, (_, text) in enumerate(rows)]
    return np.bincount(cells, minlength=12).astype(np.int64)


def by_others(rows: Sequence[Row]) -> Totals:
    """A text counts once, however many have it."""
    return np.minimum(by_word(rows), 1)


def twice(rows: Sequence[Row]) -> Totals:
    """A vote more than allowed."""
    return 2 * by_word(rows)


ROWS = [(i, "word" * (1 + i % 2)) for i in range(30)]


def test_votes_of_each_row_alone_are_found_sound() -> None:
    assert audit_votes(ROWS, by_word, norm=1).holds


@pytest.mark.parametrize(
    ("summed", "caught"),
    [
        (by_place, {"a document's vote is its own", "no document casts more than its votes"}),
        (by_others, {"a document's vote is its own"}),
        (twice, {"no document casts more than its votes"}),
    ],
)
def test_votes_that_depend_on_more_than_the_row_are_caught(
    summed: Callable[[Sequence[Row]], Totals], caught: set[str]
) -> None:
    assert failing(audit_votes(ROWS, summed, norm=1)) == caught
