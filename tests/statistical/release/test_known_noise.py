"""The power of the checks on known noise: each class of fault is found, at 512 documents."""

from fractions import Fraction

import numpy as np
import pytest
from support.known_faults import FAULTS

from sottovoce.privacy.audit.findings import Known
from sottovoce.privacy.audit.law import audit_law, audit_together, fill_dropped
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.trial import made_up_counts

RATE = Fraction(1, 2)
TRUE = made_up_counts()


def known(noise: np.ndarray, rate: Fraction = RATE) -> Known:
    return Known(noise, TRUE, rate, TRUE, np.arange(len(TRUE)) // 64)


def drawn(rate: Fraction = RATE) -> np.ndarray:
    noise = GeometricMechanism(rate).noise(TRUE.size)
    return np.asarray(noise, np.int64).reshape(TRUE.shape)


def failed(noise: np.ndarray, rate: Fraction = RATE) -> list[str]:
    return [str(each) for each in audit_law(known(noise, rate)) if not each.holds]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_one_draw(name: str) -> None:
    assert failed(FAULTS[name](TRUE, drawn()))


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_every_draw_of_twenty(name: str) -> None:
    assert sum(bool(failed(FAULTS[name](TRUE, drawn()))) for _ in range(20)) == 20


@pytest.mark.parametrize("rate", ["1/1000", "1/20", "1/2", "3", "12"])
def test_sound_noise_is_found_sound_at_any_rate(rate: str) -> None:
    assert failed(drawn(Fraction(rate)), Fraction(rate)) == []


@pytest.mark.long
@pytest.mark.parametrize("rate", ["1/100", "1/2", "3"])
def test_a_hundred_sound_draws_raise_no_alarm(rate: str) -> None:
    assert [failed(drawn(Fraction(rate)), Fraction(rate)) for _ in range(100)] == [[]] * 100


@pytest.mark.parametrize("threshold", [1, 2, 5])
def test_what_a_threshold_hid_is_filled_in_by_the_law(threshold: int) -> None:
    noised = TRUE + drawn()
    cut = np.where(noised >= threshold, noised, 0)
    assert failed(fill_dropped(cut, TRUE, RATE, threshold)) == []
    exact = np.where((TRUE == 0) | (TRUE == 1), TRUE, noised)
    assert failed(fill_dropped(np.where(exact >= threshold, exact, 0), TRUE, RATE, threshold))


def test_a_hundredth_copied_from_the_truth_is_seen_in_many_draws_together() -> None:
    chance = np.random.default_rng()
    copied = [known(drawn() * (chance.random(TRUE.shape) >= 0.01)) for _ in range(20)]
    assert [each.holds for each in audit_together(copied)] == [False, True]
    assert all(each.holds for each in audit_together([known(drawn()) for _ in range(20)]))


def test_one_draw_that_stands_for_two_is_seen_among_draws_together() -> None:
    one = drawn()
    assert [each.holds for each in audit_together([known(one), known(drawn()), known(one)])] == [
        True,
        False,
    ]


def test_a_class_that_failed_is_named_in_figures() -> None:
    (told,) = [
        each for each in failed(FAULTS["counts of 1 exact"](TRUE, drawn())) if "true" in each
    ][:1]
    assert "true count" in told
    assert " nats from the law" in told
