"""The attacks on sums that learn opens, against a noised one: they gain what epsilon allows.

A target is one document of two words that votes S times for one cell, the largest difference that a
document can make. It is there or not by a coin; the attacker knows all other documents, and guesses
by the likelihood ratio of what it can work out. Against a plain sum it would always be right. Under
epsilon no guess is right more often than e^epsilon/(1 + e^epsilon): its gain, how much oftener it
says yes when yes is right, is at most tanh(epsilon/2).
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from support.counts import Counting

from sottovoce.arrays import Flags, Floats, Integers
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.learn.documents import Documents
from sottovoce.learn.run.count import pair_places
from sottovoce.privacy.opened_noise import SharesLaw
from sottovoce.privacy.shares import NoiseShare
from sottovoce.release.audit import FixedKeystream

WORDS = tuple(f"w{at}" for at in range(140))
VOTES, EPSILON = 2, Fraction(1)
ALLOWED = math.tanh(float(EPSILON) / 2)
LOW, HIGH = np.triu_indices(len(WORDS))
TARGETS = LOW.size
# Five standard deviations of a gain that is measured on so many coins.
LUCK = 5 / math.sqrt(TARGETS)


@pytest.fixture(autouse=True)
def same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = count(10_000)
    monkeypatch.setattr(
        NoiseShare, "_make_source", staticmethod(lambda: FixedKeystream(next(seeds)))
    )


def coins(seed: int = 0) -> Flags:
    return np.random.default_rng(seed).integers(0, 2, TARGETS).astype(bool)


def texts(there: Flags) -> tuple[str, ...]:
    return tuple(f"{WORDS[i]} {WORDS[j]}" for i, j in zip(LOW[there], HIGH[there], strict=True))


def run_of(victim: Sequence[str], *, collude: int = 0, insider: Sequence[str] = ()) -> Counting:
    others = {"ben": ("unlisted",), "cy": ("unlisted",), "dee": tuple(insider) or ("unlisted",)}
    peers = {"ada": tuple(victim), **others}
    recipe = CountRecipe("pairs", VOTES, EPSILON, collude=collude)
    return Counting({name: Documents(own) for name, own in peers.items()}, recipe, WORDS)


def known_less(run: Counting, totals: Integers, colluding: Sequence[str]) -> Integers:
    """The opened sum less what colluding peers gave, noise and all."""
    given = run.spending._kept  # type: ignore[attr-defined] # what each peer drew
    for name in colluding:
        totals = totals - given[f"count {run.session.hex()} {name}"]
    return totals


def evidence(cells: Integers, shares: int, among: int) -> Floats:
    """The log likelihood ratio of a target in each cell, there against not there."""
    law = SharesLaw(EPSILON / VOTES, shares=shares, among=among)
    return np.log(law.probability(cells - VOTES)) - np.log(law.probability(cells))


def gain(score: Floats, there: Flags) -> float:
    yes = score > 0
    return float(yes[there].mean() - yes[~there].mean())


def reachable(shares: int, among: int) -> float:
    """The most that any guess could gain against this law."""
    law = SharesLaw(EPSILON / VOTES, shares=shares, among=among)
    cells = np.arange(-law.reach, law.reach + VOTES)
    more = law.probability(cells - VOTES) - law.probability(cells)
    return float(more[more > 0].sum())


def test_one_document_added_is_told_no_better_than_epsilon_allows() -> None:
    there = coins()
    run = run_of(texts(there))
    found = gain(evidence(run.run().totals, 4, 4), there)
    assert abs(found - reachable(4, 4)) < LUCK
    assert reachable(4, 4) < ALLOWED


def test_the_difference_of_two_counts_tells_no_more_than_the_first() -> None:
    there = coins(1)
    with_targets, without = run_of(texts(there)), run_of(("unlisted",))
    first, second = with_targets.run().totals, without.run().totals
    alone = gain(evidence(first, 4, 4), there)
    law = SharesLaw(EPSILON / VOTES, shares=8, among=4)
    difference = first - second
    both = np.log(law.probability(difference - VOTES)) - np.log(law.probability(difference))
    assert gain(both, there) < alone
    assert alone < ALLOWED


def test_an_insider_who_stuffs_and_takes_it_off_again_gains_nothing() -> None:
    there = coins(2)
    stuffed = texts(np.ones(TARGETS, bool)) * 3
    run = run_of(texts(there), collude=1, insider=stuffed)
    left = known_less(run, run.run().totals, ["dee"])
    # Exactly h = 3 shares are unknown: the promise is tight.
    found = gain(evidence(left, 3, 3), there)
    assert abs(found - reachable(3, 3)) < LUCK
    assert found < ALLOWED


def test_a_lying_insider_without_noise_gains_what_collude_allows_for() -> None:
    there = coins(3)
    run = run_of(texts(there), collude=1, insider=("unlisted",))
    kept = run.spending._kept  # type: ignore[attr-defined] # what each peer drew
    kept[f"count {run.session.hex()} dee"] = np.zeros(TARGETS, np.int64)
    assert gain(evidence(run.run().totals, 3, 3), there) < ALLOWED
    # The planted fault: nobody counted on it, and the shares are too small.
    trusting = run_of(texts(there), collude=0)
    for name in ("ben", "cy", "dee"):
        trusting.spending._kept[f"count {trusting.session.hex()} {name}"] = np.zeros(  # type: ignore[attr-defined] # likewise
            TARGETS, np.int64
        )
    assert gain(evidence(trusting.run().totals, 1, 4), there) > ALLOWED + LUCK


def test_words_that_a_coordinator_chose_for_documents_gain_no_more() -> None:
    """A list of nothing but the words of some documents, each of whose cells is its own."""
    words, scores = tuple(f"w{at:04}" for at in range(300)), []
    there = np.random.default_rng(4).integers(0, 2, (20, 150)).astype(bool)
    places = pair_places(np.arange(0, 300, 2), np.arange(1, 300, 2), len(words))
    for targets in there:
        own = tuple(f"{words[2 * at]} {words[2 * at + 1]}" for at in np.flatnonzero(targets))
        peers = {
            "ada": Documents(own),
            **{name: Documents(("unlisted",)) for name in ("ben", "cy")},
        }
        run = Counting(peers, CountRecipe("pairs", VOTES, EPSILON, collude=0), words)
        scores.append(evidence(run.run().totals[places], 3, 3))
    found = gain(np.concatenate(scores), there.ravel())
    assert abs(found - reachable(3, 3)) < 5 / math.sqrt(there.size)
