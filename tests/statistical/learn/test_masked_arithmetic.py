"""What the key holder opens in secure arithmetic is uniform; a mask cut short is caught."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare
from sottovoce_lab.learn.paper import shown
from sottovoce_lab.learn.paper.shown import Outline
from support.paillier_keys import insecure_key_for_tests
from support.secure_arithmetic import hidden

from sottovoce.learn.modes import comparison
from sottovoce.learn.modes.comparison import ComparisonPlan
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid, as_grid
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.wire.stages import run_together

KEY = insecure_key_for_tests(256)
UNIFORM = comparison.uniform
# So many that masks short of their highest fiftieth, one range, escape once in a million runs.
DRAWS = 13_000
RANGES = 50
ACCEPTED = 1e-6
CAUGHT = 1e-12


def masked(value: int, bound: int, draws: int = DRAWS) -> tuple[Grid, Outline]:
    """What the key holder opens of one number, shown ``draws`` times."""
    outline = Outline((draws,), bound)
    one, _ = hidden([value], bound, KEY)
    many = one[np.zeros(draws, dtype=int)]
    run = run_together(shown.show(many, outline), shown.see(outline, KEY))
    return run.answered.integers, outline


def evenness(seen: Grid, outline: Outline) -> float:
    """The smaller p-value of two chi-square tests: of the lowest byte, and of equal ranges."""
    low = np.bincount([int(each) & 255 for each in seen], minlength=256)
    bound, last = outline.mask_bound, RANGES - 1
    places = [min(max(int(each) * RANGES // bound, 0), last) for each in seen]
    high = np.bincount(places, minlength=RANGES)
    return 2 * min(chisquare(low).pvalue, chisquare(high).pvalue)


@pytest.mark.parametrize("draws", [DRAWS, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("value", [7, -1000])
def test_masked_numbers_are_uniform_whatever_they_are(value: int, draws: int) -> None:
    assert evenness(*masked(value, 1000, draws)) > ACCEPTED


def test_masks_cut_to_eight_bits_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = comparison.uniform
    monkeypatch.setattr(shown, "uniform", lambda shape, _: honest(shape, 256))
    assert evenness(*masked(7, 1000, 1000)) < CAUGHT


def test_masks_short_of_their_highest_bits_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = comparison.uniform
    monkeypatch.setattr(shown, "uniform", lambda shape, bound: honest(shape, bound - bound // 50))
    assert evenness(*masked(7, 1000)) < CAUGHT


BITS = 4
PAIRS = 200
PLAN = ComparisonPlan(PAIRS, BITS)
ZEROS = PLAN.zeros


class Opened(NamedTuple):
    """What the key holder opens in a batch of comparisons: residues modulo p, and quotients."""

    residues: NDArray[np.int64]
    quotients: NDArray[np.float64]

    def evenness(self) -> dict[str, float]:
        """P-values: of each claim that the module makes about the key holder's view."""
        zeros = self.residues == 0
        found = zeros.any(axis=1)
        others = np.bincount(self.residues[~zeros], minlength=ZEROS.prime)[1:]
        high = np.clip(self.quotients.ravel() / ZEROS.blur_bound * 64, 0, 63).astype(int)
        return {
            "found": float(chisquare([found.sum(), (~found).sum()]).pvalue),
            "place": float(chisquare(zeros.sum(axis=0)).pvalue),
            "residues": float(chisquare(others).pvalue),
            "quotients": float(chisquare(np.bincount(high, minlength=64)).pvalue),
        }


def compared(own: int, theirs: int, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """The key holder's view of many comparisons of the same two numbers."""
    views: list[Grid] = []
    honest = comparison.open_integers

    def spied(array: EncryptedArray, key: PrivateKey) -> Grid:
        views.append(honest(array, key))
        return views[-1]

    monkeypatch.setattr(comparison, "open_integers", spied)
    numbers = (as_grid([each] * PAIRS, (PAIRS,)) for each in (own, theirs))
    mine, others = numbers
    run_together(
        comparison.ask_less(mine, PLAN, KEY.public), comparison.answer_less(others, PLAN, KEY)
    )
    view = views[0].reshape(PAIRS, ZEROS.each)
    quotients = (view // ZEROS.prime).astype(np.float64)
    return Opened((view % ZEROS.prime).astype(np.int64), quotients)


@pytest.mark.parametrize(("own", "theirs"), [(9, 3), (3, 9), (6, 6), (15, 0)])
def test_the_view_of_a_comparison_is_the_same_whatever_is_compared(
    own: int, theirs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = compared(own, theirs, monkeypatch)
    assert ((view.residues == 0).sum(axis=1) <= 1).all()
    assert min(view.evenness().values()) > ACCEPTED


FAULTS: dict[str, tuple[str, Callable[..., object]]] = {
    "found": ("_coins", lambda count: np.zeros(count, dtype=np.int64)),
    "place": ("permutation", lambda length: list(range(length))),
    "residues": ("uniform", lambda shape, bound: _cut(shape, bound, keep_blur=True)),
    "quotients": ("uniform", lambda shape, bound: _cut(shape, bound, keep_blur=False)),
}


def _cut(shape: tuple[int, ...], bound: int, *, keep_blur: bool) -> Grid:
    """Honest numbers, but no blinding factor, or a blur of 8 bits."""
    is_blur = bound == ZEROS.blur_bound
    if is_blur == keep_blur:
        return UNIFORM(shape, bound)
    return UNIFORM(shape, 256 if is_blur else 1)


@pytest.mark.parametrize("claim", FAULTS)
def test_a_comparison_that_leaks_is_caught(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, fault = FAULTS[claim]
    monkeypatch.setattr(comparison, name, fault)
    assert compared(9, 3, monkeypatch).evenness()[claim] < CAUGHT
