"""Shares fit the law they claim, and their sums the two-sided geometric one (fixed keys)."""

from fractions import Fraction

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from sottovoce.privacy.audit.sums import audit_share, law_of_noise
from sottovoce.privacy.opened_noise import SharesLaw
from sottovoce.privacy.randomness import SystemKeystream
from sottovoce.privacy.sampler import two_sided_sampler
from sottovoce.privacy.shares import NoiseShare, ShareSampler
from sottovoce.release.audit import FixedKeystream

DRAWS = 1_000_000
FIFTIETH = Fraction(51, 50)
CASES = [("1/4", 1), ("1/4", 2), ("1/50", 4), ("1/10", 8), ("1", 3)]


def share_at(rate: str, among: int) -> NoiseShare:
    return NoiseShare(epsilon=rate, norm=1, among=among)


def total(rate: str, among: int, shares: int, seed: int, number: int = DRAWS) -> NDArray[np.int64]:
    """The sum of ``shares`` shares, each of a key of its own."""
    share = share_at(rate, among)
    drawn = [share.draw(number, FixedKeystream(seed + i)) for i in range(shares)]
    return np.asarray(np.sum(drawn, axis=0))


@pytest.mark.parametrize(("rate", "among"), CASES)
def test_shares_fit_their_law_and_none_2_percent_off(rate: str, among: int) -> None:
    draws = total(rate, among, 1, seed=1, number=2 * DRAWS)
    assert law_of_noise(draws, SharesLaw(rate, shares=1, among=among)).holds
    for other in (Fraction(rate) * FIFTIETH, Fraction(rate) / FIFTIETH):
        assert not law_of_noise(draws, SharesLaw(other, shares=1, among=among)).holds


@pytest.mark.parametrize(("shares", "among"), [(2, 2), (3, 3), (5, 3), (2, 4)])
def test_shares_together_fit_the_law_of_their_number_and_no_other(shares: int, among: int) -> None:
    draws = total("1/4", among, shares, seed=11)
    assert law_of_noise(draws, SharesLaw("1/4", shares=shares, among=among)).holds
    for off in (-1, 1):
        other = SharesLaw("1/4", shares=shares + off, among=among)
        assert not law_of_noise(draws, other).holds
    percent = SharesLaw("1/4", shares=51 * shares, among=50 * among)
    assert not law_of_noise(draws, percent).holds


def test_a_share_of_one_and_the_geometric_sampler_have_the_same_law() -> None:
    law = SharesLaw("1/4", shares=1, among=1)
    assert law_of_noise(two_sided_sampler(Fraction(1, 4)).draw(DRAWS, FixedKeystream(3)), law).holds
    assert law_of_noise(share_at("1/4", 1).draw(DRAWS, FixedKeystream(4)), law).holds


def test_so_few_draws_that_no_value_is_expected_often_say_so() -> None:
    finding = law_of_noise(np.zeros(20, np.int64), SharesLaw("1/4", shares=1, among=1))
    assert finding.holds
    assert "too few" in finding.detail


class KnownKey(NoiseShare):
    """A share that draws under the same key at every call."""

    _make_source = staticmethod(lambda: FixedKeystream(9))


def failing(share: NoiseShare) -> list[str]:
    report = audit_share(share, number=1 << 18)
    return [finding.name for finding in report.findings if not finding.holds]


def test_the_audit_of_a_sound_share_holds() -> None:
    for rate, among in [("1/4", 3), ("9", 8)]:
        assert failing(share_at(rate, among)) == []


def test_a_table_with_one_entry_off_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = ShareSampler(Fraction(1, 4), 3)
    sampler.table.boundaries[7] += np.uint64(1)
    monkeypatch.setattr("sottovoce.privacy.audit.sums.share_sampler", lambda *_: sampler)
    assert failing(share_at("1/4", 3)) == [f"table of {sampler.law}"]


def test_a_reused_key_is_caught() -> None:
    assert "fresh noise" in failing(KnownKey(epsilon=1, norm=4, among=3))


def test_a_keystream_that_begins_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, left = SystemKeystream._fill_piece, [0]

    def beginning_again(self: SystemKeystream, out: NDArray[np.uint8]) -> None:
        if left[0] < out.size:
            self._cipher = Cipher(AES(bytes(32)), CTR(bytes(16))).encryptor()
            left[0] = 1 << 19
        left[0] -= out.size
        sound(self, out)

    monkeypatch.setattr(SystemKeystream, "_fill_piece", beginning_again)
    assert "a keystream that never comes again" in failing(share_at("1/4", 3))


class Wrong(NoiseShare):
    """A share whose law is another than its parameters say."""

    other: NoiseShare

    def draw(self, number: int, source: object = None) -> NDArray[np.int64]:
        assert source is None
        return self.other.draw(number)


@pytest.mark.parametrize(
    "other",
    [share_at("51/200", 3), share_at("1/4", 4), share_at("1/4", 1)],
    ids=["a rate 2% off", "too small a share", "too large a share"],
)
def test_draws_of_another_law_are_caught(other: NoiseShare) -> None:
    share = Wrong(epsilon="1/4", norm=1, among=3)
    share.other = other
    assert "law of the noise" in failing(share)


def test_a_share_without_its_second_half_is_caught() -> None:
    class OneSided(NoiseShare):
        def draw(self, number: int, source: object = None) -> NDArray[np.int64]:
            assert source is None
            return self._sampler.draw(number, SystemKeystream())

    assert "law of the noise" in failing(OneSided(epsilon=1, norm=4, among=3))
