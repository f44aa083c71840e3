"""The noise bench compares at equal rate and says when a peer is absent."""

from fractions import Fraction

import pytest
from sottovoce_lab.bench import noise


def test_rows_compare_every_size_with_both_peers() -> None:
    rows = noise.noise_rows([1000, 2000], [Fraction(1)], opendp_samples=100, seconds=0)
    assert [row["case"].split(",")[1].strip() for row in rows] == ["1e+03 samples"] * 2 + [
        "2e+03 samples"
    ] * 2
    assert {row["bench"] for row in rows} == {"noise"}
    for row in rows:
        if row["theirs"] is not None:
            assert row["ratio"] == row["ours"] / row["theirs"]


def test_a_peer_that_is_timed_on_a_part_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "laplace_on_vectors", lambda _rate: lambda zeros: zeros)
    part, _ = noise.noise_rows([1000], [Fraction(1)], opendp_samples=100, seconds=0)
    assert part["peer"] == f"{noise.OPENDP_NAME}, timed on 100 samples"
    whole, _ = noise.noise_rows([1000], [Fraction(1)], opendp_samples=1000, seconds=0)
    assert whole["peer"] == noise.OPENDP_NAME
